/* Execution vectors: one instruction or a straight program on a random state of one simdgroup. */
#include "sim/prove/check/agx_vectors_internal.h"
#include "sim/base/checksum.h"
#include "sim/base/splitmix64.h"
#include "units/gpu/gpu_core.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registers r0..r15 and uniforms u0..u127 have values; loads read 4 KiB of memory at 0x10000. */
enum { REGISTERS = 16, UNIFORMS = 128, CODE_BYTES = 1024, MEMORY_BYTES = 4096, LOAD_BASE = 1024 };
#define MEMORY_ADDRESS UINT64_C(0x10000)

struct agx_exec_bench {
    struct mem_space *space;
    uint16_t uniforms[AGX_UNIFORM_HALVES];
    struct gpu_lanes lanes;
    uint8_t code[CODE_BYTES + 2];
};

struct agx_exec_bench *agx_exec_bench_create(void)
{
    struct agx_exec_bench *const b = calloc(1, sizeof *b);
    if (b)
        b->space = mem_space_create(8 * MEM_PAGE_BYTES);
    if (b && b->space && mem_space_map(b->space, MEMORY_ADDRESS, MEMORY_BYTES, MEM_READ | MEM_WRITE))
        return b;
    agx_exec_bench_free(b);
    return NULL;
}

void agx_exec_bench_free(struct agx_exec_bench *b)
{
    if (!b)
        return;
    if (b->space)
        mem_space_free(b->space);
    free(b);
}

/* ---- random states: SplitMix64, and values that favour the interesting ones ---- */

static uint32_t float_value(uint32_t lo, uint32_t p)
{
    static const uint32_t special[16] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                         0x7fc00000, 0x00800000, 0x80800000, 0x007fffff, 0x7f7fffff, 0xff7fffff,
                                         0x3f800001, 0x33800000, 0x477fe000, 0x38800000};
    switch (p) {
    case 6:
    case 7:
    case 8: return (lo & 0x81ffffff) | 0x3e000000;
    case 9:
    case 10: return special[lo & 15];
    case 11: return lo & 0x807fffff;
    case 12: return (lo & 0x80ffffff) | 0x00800000;
    case 13: return (lo & 0x80ffffff) | 0x7e000000;
    case 14:
    case 15: return (lo & 0x87ffffff) | 0x38000000;
    default: return lo;
    }
}

static uint32_t half_value(uint32_t c)
{
    static const uint16_t special[16] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x0400,
                                         0x8400, 0x03ff, 0x7bff, 0xfbff, 0x3c01, 0x0001, 0x8001, 0x3800};
    const uint32_t l = c & 0xffff;
    switch (c >> 16 & 7) {
    case 4: return special[l & 15];
    case 5: return (l & 0x87ff) | 0x3800;
    case 6: return l & 0x83ff;
    case 7: return (l & 0x8fff) | 0x3000;
    default: return l;
    }
}

static uint32_t value(uint64_t x, char mode)
{
    const uint32_t lo = (uint32_t)x, hi = (uint32_t)(x >> 32);
    switch (mode) {
    case 's': return lo & 0x3f;
    case 'f': return float_value(lo, hi & 15);
    case 'h': return half_value(lo) | half_value(hi) << 16;
    default: return lo;
    }
}

static void fill_registers(struct agx_exec_bench *b, uint64_t *s, char mode)
{
    memset(&b->lanes, 0, sizeof b->lanes);
    for (unsigned r = 0; r < REGISTERS; r++)
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            b->lanes.word[r][lane] = value(splitmix64_next(s), mode);
}

static void fill_state(struct agx_exec_bench *b, uint64_t seed, char mode, bool nested)
{
    uint64_t s = seed;
    fill_registers(b, &s, mode);
    memset(b->uniforms, 0, sizeof b->uniforms);
    for (unsigned u = 0; u < UNIFORMS; u++) {
        const uint32_t word = value(splitmix64_next(&s), mode);
        b->uniforms[2 * u] = (uint16_t)word;
        b->uniforms[2 * u + 1] = (uint16_t)(word >> 16);
    }
    for (unsigned lane = 0; nested && lane < GPU_LANES; lane++)
        b->lanes.word[0][lane] = (b->lanes.word[0][lane] & 0xffff0000) | (uint32_t)(splitmix64_next(&s) >> 40 & 3);
}

static void fill_load_state(struct agx_exec_bench *b, uint64_t seed, uint32_t misalign)
{
    uint64_t s = seed;
    uint8_t *const memory = mem_at(b->space, MEMORY_ADDRESS, MEMORY_BYTES, MEM_WRITE);
    for (unsigned i = 0; i < MEMORY_BYTES / 8; i++) {
        const uint64_t x = splitmix64_next(&s);
        memcpy(memory + 8 * i, &x, sizeof x);
    }
    fill_registers(b, &s, 'i');
    memset(b->uniforms, 0, sizeof b->uniforms);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        b->lanes.word[12][lane] = (uint32_t)MEMORY_ADDRESS + LOAD_BASE + misalign;
        b->lanes.word[13][lane] = 0;
        b->lanes.word[14][lane] = (uint32_t)(splitmix64_next(&s) & 0x3f) - 16;
    }
}

/* ---- execution ---- */

/* Runs `count` instructions of b->code from b->lanes. On a fault returns false with its text. */
static bool execute(struct agx_exec_bench *b, const struct agx_checker *c, size_t bytes, unsigned count, struct unit_fault *fault)
{
    const uint32_t origin[3] = {0, 0, 0};
    b->code[bytes] = 0x88; /* the stop instruction */
    b->code[bytes + 1] = 0;
    struct gpu_program *const program = gpu_program_create(b->code, bytes + 2, 0, GPU_G13, fault);
    if (!program)
        return false;
    const struct gpu_launch launch = {.program = program,
                                      .uniforms = b->uniforms,
                                      .grid_threads = {GPU_LANES, 1, 1},
                                      .group_threads = {GPU_LANES, 1, 1},
                                      .space = b->space};
    const struct gpu_checks checks = {.reference = c->path == CHECK_AGX_REFERENCE};
    struct gpu_group *const group = gpu_group_create(&launch, &checks);
    bool ok = group != NULL;
    if (ok) {
        gpu_group_start(group, origin, 0);
        gpu_group_write_state(group, 0, &b->lanes);
        ok = gpu_group_run(group, 0, count, NULL, fault) != GPU_STEP_FAULT;
        gpu_group_read_state(group, 0, &b->lanes);
    } else {
        snprintf(fault->text, sizeof fault->text, "no memory");
    }
    gpu_group_free(group);
    gpu_program_free(program);
    return ok;
}

static uint64_t hash_state(const struct agx_exec_bench *b)
{
    uint64_t h = CHECKSUM_START;
    for (unsigned r = 0; r < REGISTERS; r++)
        h = checksum_add(h, b->lanes.word[r],
                         sizeof b->lanes.word[r]); /* the host is little-endian, which the whole program assumes */
    return checksum_add(h, &b->lanes.mask, sizeof b->lanes.mask);
}

/* ---- lines ---- */

/* Words that several formats have in common. */
struct line {
    uint64_t seed, hash, alternative, exec_in, exec_out;
    char mode;
    bool nested, has_alternative;
    const char *hex;
    size_t bytes;
    unsigned count;
};

static bool take_mode(struct agx_checker *c, char **text, char *mode)
{
    const char *const word = vector_word(text, ' ');
    *mode = word && strlen(word) == 1 ? word[0] : 0;
    return (*mode && strchr("isfh", *mode)) || vector_malformed(&c->in, "a mode i, s, f or h");
}

static bool take_code(struct agx_checker *c, char **text, struct line *l)
{
    l->hex = vector_word(text, ' ');
    return vector_bytes(l->hex, c->bench->code, CODE_BYTES, &l->bytes) ||
           vector_malformed(&c->in, "instructions in hex, at most 1024 bytes");
}

static bool take_hashes(struct agx_checker *c, char **text, struct line *l)
{
    const char *const hash = vector_word(text, ' '), *const other = vector_word(text, ' ');
    l->has_alternative = other && strcmp(other, "-") != 0;
    return (vector_hex(hash, &l->hash) && other && (!l->has_alternative || vector_hex(other, &l->alternative))) ||
           vector_malformed(&c->in, "a hash of the state and another or -");
}

/* The texts of expected destinations start with the register; names the first lane that differs. */
static void describe_difference(const struct agx_exec_bench *b, char *text, char *out, size_t size)
{
    snprintf(out, size, "registers or mask other than the destination differ");
    for (char *word; (word = vector_word(&text, ' ')) != NULL;) {
        char *equals = strchr(word, '='), *at = equals ? equals + 1 : NULL;
        const unsigned r = (unsigned)strtoul(word + 1, NULL, 10);
        const bool low = equals && equals[-1] == 'l', high = equals && equals[-1] == 'h';
        if (!equals || word[0] != 'r' || r >= REGISTERS || memchr(word, '_', (size_t)(equals - word)))
            continue;
        for (unsigned lane = 0; lane < GPU_LANES && *at; lane++) {
            const uint32_t want = (uint32_t)strtoul(at, &at, 16), word_got = b->lanes.word[r][lane];
            const uint32_t got = high ? word_got >> 16 : low ? word_got & 0xffff : word_got;
            if (*at == ',')
                at++;
            if (got == want)
                continue;
            snprintf(out, size, "%.*s lane %u is %08" PRIx32 ", expected %08" PRIx32, (int)(equals - word), word, lane, got,
                     want);
            return;
        }
    }
}

static bool judge(struct agx_checker *c, const struct line *l, bool ran, const struct unit_fault *fault, char *dests)
{
    const struct agx_exec_bench *const b = c->bench;
    char why[160];
    const uint64_t got = hash_state(b);
    if (!ran) {
        check_fail(c->report, "%s:%lu: %.60s: faults: %s", c->in.name, c->in.line_number, l->hex, fault->text);
        return true;
    }
    if (got == l->hash || (l->has_alternative && got == l->alternative)) {
        check_pass(c->report);
        return true;
    }
    describe_difference(b, dests, why, sizeof why);
    check_fail(c->report, "%s:%lu: %.60s: %s", c->in.name, c->in.line_number, l->hex, why);
    return true;
}

static bool take_seed(struct agx_checker *c, char **text, struct line *l)
{
    return vector_hex(vector_word(text, ' '), &l->seed) || vector_malformed(&c->in, "a seed in hex");
}

static bool take_mask(struct agx_checker *c, char **text, uint64_t *mask)
{
    return (vector_hex(vector_word(text, ' '), mask) && *mask <= UINT32_MAX) || vector_malformed(&c->in, "an execution mask");
}

/* seed mode r0lmode exec_in hex exec_out hash althash mnemonic dest */
bool agx_check_exec_single(struct agx_checker *c)
{
    struct line l = {.count = 1};
    struct unit_fault fault = {0};
    char *text = c->in.line;
    if (!take_seed(c, &text, &l) || !take_mode(c, &text, &l.mode))
        return false;
    const char *const nested = vector_word(&text, ' ');
    if (!nested || (strcmp(nested, "n") != 0 && strcmp(nested, "-") != 0))
        return vector_malformed(&c->in, "n or - for r0l");
    l.nested = nested[0] == 'n';
    if (!take_mask(c, &text, &l.exec_in) || !take_code(c, &text, &l) || !take_mask(c, &text, &l.exec_out) ||
        !take_hashes(c, &text, &l))
        return false;
    vector_word(&text, ' '); /* mnemonic */
    fill_state(c->bench, l.seed, l.mode, l.nested);
    c->bench->lanes.mask = (uint32_t)l.exec_in;
    const bool ran = execute(c->bench, c, l.bytes, 1, &fault);
    return judge(c, &l, ran, &fault, text);
}

/* seed mode count hex exec_out hash althash dest */
bool agx_check_exec_program(struct agx_checker *c)
{
    struct line l = {0};
    struct unit_fault fault = {0};
    char *text = c->in.line;
    if (!take_seed(c, &text, &l) || !take_mode(c, &text, &l.mode))
        return false;
    if (!vector_decimal(vector_word(&text, ' '), CODE_BYTES, &l.count) || l.count == 0)
        return vector_malformed(&c->in, "a number of instructions");
    if (!take_code(c, &text, &l) || !take_mask(c, &text, &l.exec_out) || !take_hashes(c, &text, &l))
        return false;
    fill_state(c->bench, l.seed, l.mode, false);
    c->bench->lanes.mask = UINT32_MAX;
    const bool ran = execute(c->bench, c, l.bytes, l.count, &fault);
    return judge(c, &l, ran, &fault, text);
}

/* seed misalign exec hex hash dests */
bool agx_check_exec_load(struct agx_checker *c)
{
    struct line l = {.count = 1};
    struct unit_fault fault = {0};
    unsigned misalign;
    char *text = c->in.line;
    if (!take_seed(c, &text, &l))
        return false;
    if (!vector_decimal(vector_word(&text, ' '), 63, &misalign))
        return vector_malformed(&c->in, "a misalignment of 0 to 63 bytes");
    if (!take_mask(c, &text, &l.exec_in) || !take_code(c, &text, &l))
        return false;
    if (!vector_hex(vector_word(&text, ' '), &l.hash))
        return vector_malformed(&c->in, "a hash of the state");
    fill_load_state(c->bench, l.seed, misalign);
    c->bench->lanes.mask = (uint32_t)l.exec_in;
    const bool ran = execute(c->bench, c, l.bytes, 1, &fault);
    return judge(c, &l, ran, &fault, text);
}
