/* Rows about caches and memory: pointer chases, and read, write, copy and triad streams of clpeak and whisper.cpp. The sources do
 * not always state sizes; those used here lie well inside the level that the row names. */
#include "isa/array_count.h"
#include "sim/prove/validate/program.h"

#include <stdlib.h>
#include <string.h>

#define KIB  UINT64_C(1024)
#define MIB  (1024 * KIB)
#define LINE 128

enum { COUNTER = 28, ORIGIN = 25, SPILL = 26, TEMPORARY = 27, IN_REGISTERS = 24, MAX_CHAINS = 32 };

uint64_t validate_scatter(uint64_t i, unsigned bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (unsigned round = 0; round < 3; round++) {
        i = i * UINT64_C(0x9E3779B97F4A7C15) & mask;
        i ^= i >> (bits / 2 + 1);
    }
    return i;
}

/* Chases follow indices of 32-bit words, as clpeak's do (krrishnarraj/clpeak src/cpu/latency.cpp, `cur = buf[cur]`): an index has
 * to be added to the address of the buffer, which takes a cycle more than a pointer that is loaded whole. */
static uint64_t index_of(uint64_t offset)
{
    return offset / 4;
}

static void emit_follow(struct emit *e, unsigned cursor)
{
    emit_word(e, emit_rd_rn_rm(0xb8605800, cursor, ORIGIN, cursor)); /* ldr w, [origin, w, uxtw #2] */
}

/* Links nodes 0 to count of lines scattered over 2^bits lines; the last leads back to the first. */
static bool link_nodes(struct validate_row *row, struct validate_program *program, unsigned bits, uint64_t count)
{
    program->patch = malloc(count * sizeof *program->patch);
    if (!program->patch)
        return validate_refuse(row, "out of memory");
    for (uint64_t i = 0; i < count; i++)
        program->patch[i] =
            (struct validate_patch){validate_scatter(i, bits) * LINE, index_of(validate_scatter((i + 1) % count, bits) * LINE)};
    program->patches = count;
    return true;
}

struct chase {
    uint64_t bytes; /* a power of two */
    unsigned chains;
    uint64_t steps; /* per chain */
    bool warm;      /* go round again and again; otherwise visit each node once, with cold caches */
};

static void emit_chase_step(struct emit *e, unsigned chains)
{
    for (unsigned c = 0; c < chains; c++) {
        if (c < IN_REGISTERS) {
            emit_follow(e, c);
            continue;
        }
        emit_ldr_x(e, TEMPORARY, SPILL, 8 * (c - IN_REGISTERS));
        emit_follow(e, TEMPORARY);
        emit_str_x(e, TEMPORARY, SPILL, 8 * (c - IN_REGISTERS));
    }
}

static bool plan_chase(struct validate_row *row, struct validate_program *program, struct chase chase)
{
    const uint64_t lines = chase.bytes / LINE;
    const unsigned bits = 63 - (unsigned)__builtin_clzll(lines);
    const uint64_t nodes = chase.warm ? lines : chase.chains * (chase.steps + 1);
    struct emit e = {0};
    emit_constant(&e, SPILL, VALIDATE_DATA_ADDR + chase.bytes);
    emit_constant(&e, ORIGIN, VALIDATE_DATA_ADDR);
    for (unsigned c = 0; c < chase.chains; c++) {
        const uint64_t first = index_of(validate_scatter(c * (nodes / chase.chains), bits) * LINE);
        emit_constant(&e, c < IN_REGISTERS ? c : TEMPORARY, first);
        if (c >= IN_REGISTERS)
            emit_str_x(&e, TEMPORARY, SPILL, 8 * (c - IN_REGISTERS));
    }
    const uint64_t loops = chase.steps / 8;
    const size_t top = emit_loop(&e, COUNTER, loops);
    for (unsigned i = 0; i < 8; i++)
        emit_chase_step(&e, chase.chains);
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    program->core = VALIDATE_P_CORE;
    program->threads = 1;
    program->warm = chase.warm;
    program->data_bytes = chase.bytes + 4096;
    program->measure = VALIDATE_NS_PER_WORK;
    program->work = (double)loops * 8 * chase.chains;
    if (!link_nodes(row, program, bits, nodes)) {
        emit_free(&e);
        return false;
    }
    return validate_take_code(row, program, &e);
}

/* ---- chases of clpeak over nodes of 64 bytes (src/cpu/latency.cpp) ---- */

#define NODE 64

/* Follows `count` indices round, from the first on. */
static bool plan_ring(struct validate_row *row, struct validate_program *program, uint64_t (*place)(uint64_t i), uint64_t count,
                      uint64_t span_bytes, bool warm)
{
    struct emit e = {0};
    emit_constant(&e, 0, index_of(place(0)));
    emit_constant(&e, ORIGIN, VALIDATE_DATA_ADDR);
    const uint64_t loops = count / 16;
    const size_t top = emit_loop(&e, COUNTER, loops);
    for (unsigned i = 0; i < 16; i++)
        emit_follow(&e, 0);
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    program->core = VALIDATE_P_CORE;
    program->threads = 1;
    program->warm = warm;
    program->data_bytes = span_bytes;
    program->measure = VALIDATE_NS_PER_WORK;
    program->work = (double)loops * 16;
    program->patch = malloc(count * sizeof *program->patch);
    if (!program->patch) {
        emit_free(&e);
        return validate_refuse(row, "out of memory");
    }
    for (uint64_t i = 0; i < count; i++)
        program->patch[i] = (struct validate_patch){place(i), index_of(place((i + 1) % count))};
    program->patches = count;
    return validate_take_code(row, program, &e);
}

static uint64_t next_node(uint64_t i)
{
    return i * NODE;
}

/* One node on each page, on some line of it. */
#define PAGE       (16 * KIB)
#define PAGES_BITS 14

static uint64_t node_of_page(uint64_t i)
{
    const uint64_t page = validate_scatter(i, PAGES_BITS);
    return page * PAGE + validate_scatter(page, PAGES_BITS) % (PAGE / NODE) * NODE;
}

/* ---- clpeak's branch that data decide (src/cpu/microarch.cpp): bytes below 128 are added to one sum, which is stored then,
 * others to another. Compilers select what is added and jump over the store alone, which they may not select. ---- */

enum { BRANCHES = 1 << 18, IS_BELOW = 3 << 12, ZERO = 31 };

static void emit_branches(struct emit *e)
{
    emit_constant(e, 0, VALIDATE_DATA_ADDR);
    emit_constant(e, 5, VALIDATE_DATA_ADDR + BRANCHES);
    const size_t top = emit_loop(e, COUNTER, BRANCHES);
    emit_word(e, 0x38401401);                                       /* ldrb w1, [x0], #1 */
    emit_word(e, 0x7102003f);                                       /* cmp w1, #128 */
    emit_word(e, emit_rd_rn_rm(0x9a800000 | IS_BELOW, 4, 1, ZERO)); /* csel */
    emit_word(e, emit_rd_rn_rm(0x9a800000 | IS_BELOW, 6, ZERO, 1));
    emit_word(e, emit_rd_rn_rm(0x8b000000, 2, 2, 4)); /* add */
    emit_word(e, emit_rd_rn_rm(0x8b000000, 3, 3, 6));
    emit_word(e, 0x54000042); /* b.hs: two words on */
    emit_str_x(e, 2, 5, 0);
    emit_loop_end(e, COUNTER, top);
    emit_exit(e);
}

static bool plan_branches(struct validate_row *row, struct validate_program *program, bool sorted)
{
    struct emit e = {0};
    emit_branches(&e);
    program->core = VALIDATE_P_CORE;
    program->threads = 1;
    program->warm = true;
    program->data_bytes = BRANCHES + 4096;
    program->measure = VALIDATE_NS_PER_WORK;
    program->work = BRANCHES;
    program->patches = BRANCHES / 8;
    program->patch = malloc(program->patches * sizeof *program->patch);
    if (!program->patch) {
        emit_free(&e);
        return validate_refuse(row, "out of memory");
    }
    for (uint64_t i = 0; i < BRANCHES; i += 8) {
        uint64_t word = 0;
        for (uint64_t b = 0; b < 8; b++)
            word = word << 8 | (sorted ? (i + b) * 256 / BRANCHES : validate_scatter(i + b, 18) >> 10);
        program->patch[i / 8] = (struct validate_patch){i, sorted ? __builtin_bswap64(word) : word};
    }
    return validate_take_code(row, program, &e);
}

/* Half of the random branches are mispredicted. */
static bool plan_mispredict(struct validate_row *row, struct validate_program *program)
{
    struct validate_program *const sorted = validate_less(program, 2);
    return (sorted || validate_refuse(row, "out of memory")) && plan_branches(row, sorted, true) &&
           plan_branches(row, program, false);
}

/* AnandTech's latencies, at a depth of 128 MB. */
static bool plan_chip_latency(struct validate_row *row, struct validate_program *program)
{
    struct validate_program *const m1 = validate_less(program, 1);
    const struct chase chase = {128 * MIB, 1, 16384, false};
    if (!m1)
        return validate_refuse(row, "out of memory");
    snprintf(m1->chip, sizeof m1->chip, "m1");
    return plan_chase(row, m1, chase) && plan_chase(row, program, chase);
}

/* Ends a loop of a P core that touches so often what lies at one place. */
static bool take_one_place(struct validate_row *row, struct validate_program *program, struct emit *e, double touches)
{
    emit_exit(e);
    program->core = VALIDATE_P_CORE;
    program->threads = 1;
    program->warm = true;
    program->data_bytes = 4096;
    program->measure = VALIDATE_NS_PER_WORK;
    program->work = touches;
    return validate_take_code(row, program, e);
}

/* clpeak's sum that goes through one place (src/cpu/microarch.cpp): a load, an addition and a store. */
static bool plan_store_forward(struct validate_row *row, struct validate_program *program)
{
    enum { TURNS = 500, TRIPS = 16 };
    struct emit e = {0};
    emit_constant(&e, ORIGIN, VALIDATE_DATA_ADDR);
    const size_t top = emit_loop(&e, COUNTER, TURNS);
    for (unsigned i = 0; i < TRIPS; i++) {
        emit_ldr_x(&e, 0, ORIGIN, 0);
        emit_add(&e, 0, 0, 1);
        emit_str_x(&e, 0, ORIGIN, 0);
    }
    emit_loop_end(&e, COUNTER, top);
    return take_one_place(row, program, &e, TURNS * TRIPS);
}

enum stream { STREAM_READ, STREAM_WRITE, STREAM_COPY, STREAM_TRIAD };

/* A turn handles 128 bytes of every array; x0 is the destination, x1 and x2 are sources. */
static void emit_stream_turn(struct emit *e, enum stream kind)
{
    for (unsigned i = 0; i < 4; i++) {
        const int offset = 32 * (int)i;
        const unsigned v = 4 * i;
        if (kind != STREAM_WRITE)
            emit_ldp_q(e, v, 1, offset);
        if (kind == STREAM_TRIAD) {
            emit_ldp_q(e, v + 2, 2, offset);
            emit_word(e, emit_rd_rn_rm(0x4e20cc00, v, v + 2, 31)); /* fmla: a = b + s * c */
            emit_word(e, emit_rd_rn_rm(0x4e20cc00, v + 1, v + 3, 31));
        }
        if (kind != STREAM_READ)
            emit_stp_q(e, v, 0, offset);
    }
}

static bool plan_stream(struct validate_row *row, struct validate_program *program, enum stream kind, uint64_t bytes,
                        unsigned sweeps)
{
    const uint64_t turns = bytes / LINE;
    struct emit e = {0};
    const size_t sweep = emit_loop(&e, 9, sweeps);
    for (unsigned array = 0; array < 3; array++)
        emit_constant(&e, array, VALIDATE_DATA_ADDR + array * bytes);
    const size_t top = emit_loop(&e, COUNTER, turns);
    emit_stream_turn(&e, kind);
    for (unsigned array = 0; array < 3; array++)
        emit_add(&e, array, array, LINE);
    emit_loop_end(&e, COUNTER, top);
    emit_loop_end(&e, 9, sweep);
    emit_exit(&e);
    static const double counted[] = {[STREAM_READ] = 1, [STREAM_WRITE] = 1, [STREAM_COPY] = 2, [STREAM_TRIAD] = 3};
    program->data_bytes = 3 * bytes;
    program->measure = VALIDATE_RATE_SUM;
    program->work = (double)bytes * sweeps * counted[kind];
    return validate_take_code(row, program, &e);
}

struct stream_row {
    const char *what;
    enum stream kind;
    uint64_t bytes;
    unsigned sweeps;
    bool warm; /* the data stay in the caches */
};

/* L1: clpeak (src/cpu/bandwidth.cpp) reads half of a P core's, which is all of an E core's, and writes a quarter, which fits
 * both; it copies one half of that quarter to the other. DRAM: the arrays of all threads together exceed the caches, and lines
 * that one sweep leaves dirty are written back during the next, as in a long run. A single thread starts with empty caches. */
static const struct stream_row streams[] = {
    {"L1 read ", STREAM_READ, 64 * KIB, 32, true},    {"L1 write ", STREAM_WRITE, 32 * KIB, 64, true},
    {"L1 copy ", STREAM_COPY, 16 * KIB, 128, true},   {"L2 read ", STREAM_READ, 2 * MIB, 2, true},
    {"DRAM read ", STREAM_READ, 8 * MIB, 1, false},   {"DRAM copy ", STREAM_COPY, 8 * MIB, 1, false},
    {"DRAM triad ", STREAM_TRIAD, 8 * MIB, 1, false},
};

static bool plan_stream_row(struct validate_row *row, struct validate_program *program)
{
    for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
        const size_t length = strlen(streams[i].what);
        if (strncmp(row->what, streams[i].what, length) != 0)
            continue;
        const char *const who = row->what + length;
        const bool one = strcmp(who, "one thread") == 0;
        if (!one && strcmp(who, "all threads") != 0)
            return false;
        program->core = one ? VALIDATE_P_CORE : VALIDATE_ANY_CORE;
        program->threads = one ? 1 : 0;
        const bool outside = !streams[i].warm;
        program->warm = !(outside && one);
        return plan_stream(row, program, streams[i].kind, streams[i].bytes * (outside && one ? 4 : 1), streams[i].sweeps);
    }
    return false;
}

/* ggml counts a copied byte once. */
static bool plan_memcpy(struct validate_row *row, struct validate_program *program, unsigned threads)
{
    program->core = VALIDATE_ANY_CORE;
    program->threads = threads;
    if (!plan_stream(row, program, STREAM_COPY, 16 * MIB, 1))
        return false;
    program->work /= 2;
    program->measure = VALIDATE_RATE;
    return true;
}

static bool plan_atomic(struct validate_row *row, struct validate_program *program)
{
    struct emit e = {0};
    emit_constant(&e, 1, VALIDATE_DATA_ADDR);
    emit_constant(&e, 2, 1);
    const size_t top = emit_loop(&e, COUNTER, 500);
    emit_repeat(&e, UINT32_C(0xf8200000) | 2 << 16 | 1 << 5 | 3, 16); /* ldadd x2, x3, [x1] */
    emit_loop_end(&e, COUNTER, top);
    return take_one_place(row, program, &e, 500 * 16);
}

static bool refuse_unclear(struct validate_row *row)
{
    static const struct {
        const char *what, *why;
    } unclear[] = {
        {"atomic add contended, all cores", "threads have address spaces of their own here"},
        {"CPU cluster bandwidth cap, fabric cap", "no value to compare with"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(unclear); i++)
        if (strcmp(row->what, unclear[i].what) == 0)
            return validate_refuse(row, "%s", unclear[i].why);
    return false;
}

bool validate_plan_memory(struct validate_row *row, struct validate_program *program)
{
    unsigned n;
    if (strcmp(row->what, "L1 latency") == 0)
        return plan_chase(row, program, (struct chase){16 * KIB, 1, 16384, true});
    if (strcmp(row->what, "L2 latency") == 0)
        return plan_chase(row, program, (struct chase){MIB, 1, 16384, true});
    if (strcmp(row->what, "DRAM latency random") == 0)
        return plan_chase(row, program, (struct chase){256 * MIB, 1, 16384, false});
    if (strcmp(row->what, "DRAM latency linear (prefetched)") == 0)
        return plan_ring(row, program, next_node, 32768, 32768 * NODE, false);
    if (strcmp(row->what, "TLB miss") == 0)
        return plan_ring(row, program, node_of_page, UINT64_C(1) << PAGES_BITS, PAGE << PAGES_BITS, true);
    if (strcmp(row->what, "branch, sorted data") == 0 || strcmp(row->what, "branch, random data") == 0)
        return plan_branches(row, program, strstr(row->what, "sorted") != NULL);
    if (strcmp(row->what, "branch mispredict penalty") == 0)
        return plan_mispredict(row, program);
    if (strcmp(row->what, "DRAM latency versus M1") == 0)
        return plan_chip_latency(row, program);
    if (strcmp(row->what, "store-to-load forward") == 0)
        return plan_store_forward(row, program);
    if (sscanf(row->what, "DRAM, %u chases", &n) == 1 && n >= 1 && n <= MAX_CHAINS)
        return plan_chase(row, program, (struct chase){256 * MIB, n, 2048, false});
    const bool wide = strcmp(row->what, "memcpy_threads") == 0 && sscanf(row->shape, "threads=%u", &n) == 1;
    if ((wide || sscanf(row->what, "memcpy_threads threads=%u", &n) == 1) && n >= 1 && n <= VALIDATE_MAX_THREADS)
        return plan_memcpy(row, program, n);
    if (strcmp(row->what, "atomic add uncontended") == 0)
        return plan_atomic(row, program);
    if (plan_stream_row(row, program) || row->why[0])
        return !row->why[0];
    return refuse_unclear(row);
}
