#include "sim/prove/check/amx_vectors.h"

#include "isa/amx/amx_isa.h"
#include "isa/array_count.h"
#include "sim/prove/check/amx_vector_state.h"
#include "sim/prove/check/vector_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAM_MAX = 1024, GENERATIONS = 4 };

struct instruction {
    unsigned op;
    uint64_t operand;
};

/* A vector or program before it runs. */
struct vector {
    char kind[8];
    enum amx_gen gen;
    uint64_t seed;
    unsigned count;
    struct instruction code[PROGRAM_MAX];
};

struct checker {
    struct vector_file in;
    enum amx_path path;
    struct check_report *report;
    struct mem_space *space;
    uint64_t block; /* simulated address of the memory block */
    struct amx_core *core[GENERATIONS];
    struct amx_vector_state before, after, expected;
    struct vector vector;
    char title[160]; /* of the current case, for failures */
};

/* ---- lines and words ---------------------------------------------------------------------------------------- */

static bool malformed(struct checker *c, const char *expected)
{
    return vector_malformed(&c->in, expected);
}

static char *next_word(char **text)
{
    return vector_word(text, ' ');
}

/* ---- parts of a vector -------------------------------------------------------------------------------------- */

/* Checks that vectors may hold the instruction: any op but 17, inside the memory block. */
static bool check_instruction(struct checker *c, const struct instruction *instruction, enum amx_gen gen)
{
    struct amx_effect effect;
    const uint64_t offset = instruction->operand & amx_pointer_mask(instruction->op);
    if (instruction->op >= AMX_OP_COUNT || instruction->op == AMX_SETCLR)
        return malformed(c, "an op of 0..22 other than 17");
    amx_effect_of(instruction->op, instruction->operand, gen, &effect);
    if (offset > AMX_VECTOR_MEMORY_BYTES || offset + effect.memory_bytes > AMX_VECTOR_MEMORY_BYTES)
        return malformed(c, "an access inside the 1024-byte memory block");
    return true;
}

static bool parse_generation(struct checker *c, const char *word)
{
    if (!word || word[0] != 'M' || word[1] < '1' || word[1] > '4' || word[2])
        return malformed(c, "a generation M1, M2, M3 or M4");
    c->vector.gen = (enum amx_gen)(AMX_GEN_M1 + (word[1] - '1'));
    return true;
}

static bool parse_kind(struct checker *c, const char *word)
{
    if (!word || strlen(word) >= sizeof c->vector.kind)
        return malformed(c, "a kind of initial state such as R, F16 or S32");
    snprintf(c->vector.kind, sizeof c->vector.kind, "%s", word);
    return true;
}

static bool parse_hashes(struct checker *c, char **text, struct amx_vector_hashes *hashes)
{
    uint64_t *const into[] = {&hashes->x, &hashes->y, &hashes->z, &hashes->memory};
    for (size_t i = 0; i < 4; i++) {
        const char *const word = next_word(text);
        if (!word || strlen(word) != 16 || !vector_hex(word, into[i]))
            return malformed(c, "four hashes of 16 hex digits: X Y Z M");
    }
    return !next_word(text) || malformed(c, "nothing after the hash of M");
}

/* "name op version kind operand seed" */
static bool parse_head(struct checker *c, char **text)
{
    struct instruction *const instruction = c->vector.code;
    const char *const name = next_word(text);
    c->vector.count = 1;
    if (!name || !vector_decimal(next_word(text), 31, &instruction->op))
        return malformed(c, "a mnemonic and an op number");
    if (!parse_generation(c, next_word(text)) || !parse_kind(c, next_word(text)))
        return false;
    const char *const operand = next_word(text);
    if (!operand || strlen(operand) != 16 || !vector_hex(operand, &instruction->operand))
        return malformed(c, "an operand of 16 hex digits");
    if (!vector_hex(next_word(text), &c->vector.seed))
        return malformed(c, "a seed in hex");
    if (strcmp(name, amx_op_name(instruction->op, instruction->operand)) != 0)
        return malformed(c, "the mnemonic that belongs to op and operand");
    snprintf(c->title, sizeof c->title, "%s %u M%d %s %016" PRIx64 " %010" PRIx64, name, instruction->op, (int)c->vector.gen,
             c->vector.kind, instruction->operand, c->vector.seed);
    return check_instruction(c, instruction, c->vector.gen);
}

/* "op:operand" */
static bool parse_pair(struct checker *c, char *word, struct instruction *instruction)
{
    char *const colon = word ? strchr(word, ':') : NULL;
    if (!colon)
        return malformed(c, "as many op:operand pairs as the count says");
    *colon = '\0';
    if (!vector_decimal(word, 31, &instruction->op) || strlen(colon + 1) != 16 || !vector_hex(colon + 1, &instruction->operand))
        return malformed(c, "op:operand with a decimal op and 16 hex digits");
    return check_instruction(c, instruction, c->vector.gen);
}

/* "prog version kind seed count op:operand ..." */
static bool parse_program(struct checker *c, char **text)
{
    const char *const name = next_word(text);
    if (!name || strcmp(name, "prog") != 0)
        return malformed(c, "prog");
    if (!parse_generation(c, next_word(text)) || !parse_kind(c, next_word(text)))
        return false;
    if (!vector_hex(next_word(text), &c->vector.seed))
        return malformed(c, "a seed in hex");
    if (!vector_decimal(next_word(text), PROGRAM_MAX, &c->vector.count))
        return malformed(c, "an instruction count up to 1024");
    for (unsigned i = 0; i < c->vector.count; i++)
        if (!parse_pair(c, next_word(text), &c->vector.code[i]))
            return false;
    snprintf(c->title, sizeof c->title, "prog M%d %s %010" PRIx64 " of %u instructions", (int)c->vector.gen, c->vector.kind,
             c->vector.seed, c->vector.count);
    return true;
}

/* ---- execution ---------------------------------------------------------------------------------------------- */

static struct amx_core *core_of(struct checker *c, enum amx_gen gen)
{
    struct amx_core **core = &c->core[gen - AMX_GEN_M1];
    if (!*core)
        *core = amx_core_create(gen, c->space, c->path);
    if (!*core)
        orch_no_memory(c->in.error);
    return *core;
}

/* Executes from c->before. On a fault returns false, with the number of the instruction in *at. */
static bool execute(struct checker *c, struct amx_core *core, unsigned *at, struct unit_fault *fault)
{
    const struct vector *const vector = &c->vector;
    uint8_t *const memory = mem_at(c->space, c->block, AMX_VECTOR_MEMORY_BYTES, MEM_READ | MEM_WRITE);
    bool ok = true;
    amx_core_write_state(core, &c->before.registers);
    memcpy(memory, c->before.memory, AMX_VECTOR_MEMORY_BYTES);
    for (*at = 0; ok && *at < vector->count; *at += ok) {
        const struct instruction *const instruction = &vector->code[*at];
        const uint64_t base = amx_pointer_mask(instruction->op) ? c->block : 0;
        ok = amx_core_execute(core, instruction->op, instruction->operand + base, fault);
    }
    amx_core_finish(core);
    amx_core_read_state(core, &c->after.registers);
    memcpy(c->after.memory, memory, AMX_VECTOR_MEMORY_BYTES);
    return ok;
}

/* Runs the current vector. False on internal errors only; *ran tells whether there is a state to compare. */
static bool run_vector(struct checker *c, bool *ran)
{
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    struct amx_core *const core = core_of(c, c->vector.gen);
    unsigned at = 0;
    if (!core)
        return false;
    *ran = execute(c, core, &at, &fault);
    if (!*ran)
        check_fail(c->report, "%s:%lu: %s: instruction %u (%s) faults: %s", c->in.name, c->in.line_number, c->title, at,
                   amx_op_name(c->vector.code[at].op, c->vector.code[at].operand), fault.text);
    return true;
}

static bool check_hashes(struct checker *c, const struct amx_vector_hashes *want)
{
    struct amx_vector_hashes got;
    bool ran;
    if (!amx_vector_fill(c->vector.kind, c->vector.seed, &c->before))
        return malformed(c, "a kind of initial state such as R, F16 or S32");
    if (!run_vector(c, &ran))
        return false;
    if (!ran)
        return true;
    amx_vector_hash(&c->after, &got);
    if (memcmp(&got, want, sizeof got) == 0)
        check_pass(c->report);
    else
        check_fail(c->report, "%s:%lu: %s: differs in%s%s%s%s", c->in.name, c->in.line_number, c->title,
                   got.x != want->x ? " X" : "", got.y != want->y ? " Y" : "", got.z != want->z ? " Z" : "",
                   got.memory != want->memory ? " M" : "");
    return true;
}

static bool check_hash_line(struct checker *c, bool program)
{
    struct amx_vector_hashes want;
    char *text = c->in.line;
    if (!(program ? parse_program(c, &text) : parse_head(c, &text)) || !parse_hashes(c, &text, &want))
        return false;
    return check_hashes(c, &want);
}

/* ---- full states -------------------------------------------------------------------------------------------- */

static uint8_t *state_row(struct amx_vector_state *state, unsigned row, char *pool, unsigned *number)
{
    *pool = row < 8 ? 'X' : row < 16 ? 'Y' : row < 80 ? 'Z' : 'M';
    *number = row < 8 ? row : row < 16 ? row - 8 : row < 80 ? row - 16 : row - 80;
    uint8_t *const base = row < 8    ? state->registers.x
                          : row < 16 ? state->registers.y
                          : row < 80 ? state->registers.z[0]
                                     : state->memory;
    return base + 64 * (size_t)*number;
}

enum { STATE_ROWS = 8 + 8 + 64 + AMX_VECTOR_MEMORY_BYTES / 64 };

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "X0 <128 hex digits>" */
static bool parse_row(const char *line, char pool, unsigned number, uint8_t bytes[64])
{
    char prefix[16];
    const int length = snprintf(prefix, sizeof prefix, "%c%u ", pool, number);
    if (strncmp(line, prefix, (size_t)length) != 0 || strlen(line) != (size_t)length + 128)
        return false;
    for (unsigned i = 0; i < 64; i++) {
        const int high = hex_digit(line[(unsigned)length + 2 * i]), low = hex_digit(line[(unsigned)length + 2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool read_state(struct checker *c, const char *heading, struct amx_vector_state *state)
{
    char expected[48];
    bool ok;
    const char *line = vector_line(&c->in, &ok);
    snprintf(expected, sizeof expected, "the line \"%s\"", heading);
    if (!line || strcmp(line, heading) != 0)
        return ok && malformed(c, expected);
    for (unsigned row = 0; row < STATE_ROWS; row++) {
        char pool;
        unsigned number;
        uint8_t *const bytes = state_row(state, row, &pool, &number);
        snprintf(expected, sizeof expected, "%c%u and 64 bytes in hex", pool, number);
        line = vector_line(&c->in, &ok);
        if (!line || !parse_row(line, pool, number, bytes))
            return ok && malformed(c, expected);
    }
    return true;
}

/* Describes the first byte in which two states differ; false when they are equal. */
static bool first_difference(struct amx_vector_state *got, struct amx_vector_state *want, char *text, size_t size)
{
    for (unsigned row = 0; row < STATE_ROWS; row++) {
        char pool;
        unsigned number;
        const uint8_t *const a = state_row(got, row, &pool, &number), *const b = state_row(want, row, &pool, &number);
        for (unsigned i = 0; i < 64; i++)
            if (a[i] != b[i]) {
                snprintf(text, size, "%c%u byte %u is %02x, expected %02x", pool, number, i, a[i], b[i]);
                return true;
            }
    }
    return false;
}

/* "== name op version kind operand seed", then the states before and after. */
static bool check_full_state(struct checker *c)
{
    char *text = c->in.line, difference[80];
    const char *const mark = next_word(&text);
    bool ran;
    if (!mark || strcmp(mark, "==") != 0)
        return malformed(c, "== and a vector");
    if (!parse_head(c, &text))
        return false;
    if (next_word(&text))
        return malformed(c, "nothing after the seed");
    if (!amx_vector_fill(c->vector.kind, c->vector.seed, &c->expected))
        return malformed(c, "a kind of initial state such as R, F16 or S32");
    const unsigned long first_line = c->in.line_number;
    if (!read_state(c, "pre", &c->before))
        return false;
    const bool generated = !first_difference(&c->expected, &c->before, difference, sizeof difference);
    if (!read_state(c, "post", &c->expected) || !run_vector(c, &ran))
        return false;
    if (!ran)
        return true;
    if (!generated)
        check_fail(c->report, "%s:%lu: %s: state of this seed: %s", c->in.name, first_line, c->title, difference);
    else if (first_difference(&c->after, &c->expected, difference, sizeof difference))
        check_fail(c->report, "%s:%lu: %s: %s", c->in.name, first_line, c->title, difference);
    else
        check_pass(c->report);
    return true;
}

/* ---- files -------------------------------------------------------------------------------------------------- */

enum file_format { FORMAT_UNKNOWN, FORMAT_VECTORS, FORMAT_PROGRAMS, FORMAT_FULL_STATES };

static enum file_format format_of(const char *path)
{
    static const char *const stems[] = {"fma",    "fms",   "ldst",   "extr",   "mac16",    "matfp",
                                        "matint", "vecfp", "vecint", "genlut", "programs", "full_states"};
    for (size_t i = 0; i < ARRAY_COUNT(stems); i++)
        if (vector_stem_is(path, stems[i]))
            return i < 10 ? FORMAT_VECTORS : i == 10 ? FORMAT_PROGRAMS : FORMAT_FULL_STATES;
    return FORMAT_UNKNOWN;
}

bool check_amx_knows(const char *path)
{
    return format_of(path) != FORMAT_UNKNOWN;
}

static bool check_cases(struct checker *c, enum file_format format)
{
    unsigned long cases = 0;
    bool ok;
    while (vector_line(&c->in, &ok)) {
        ok = format == FORMAT_FULL_STATES ? check_full_state(c) : check_hash_line(c, format == FORMAT_PROGRAMS);
        if (!ok)
            return false;
        cases++;
    }
    if (ok && !cases)
        return orch_fail(c->in.error, ORCH_USAGE, "%s: no vectors in this file", c->in.name);
    return ok;
}

static void checker_free(struct checker *c)
{
    for (size_t i = 0; i < GENERATIONS; i++)
        if (c->core[i])
            amx_core_free(c->core[i]);
    if (c->space)
        mem_space_free(c->space);
    free(c);
}

/* The block lies within one of a few pages of simulated memory. */
static struct checker *checker_create(enum amx_path path, struct check_report *report)
{
    struct checker *const c =
        aligned_alloc(_Alignof(struct checker), sizeof *c); /* the alignment of the states is larger than that of malloc */
    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    c->path = path;
    c->report = report;
    c->space = mem_space_create(8 * MEM_PAGE_BYTES);
    c->block = c->space ? mem_space_alloc(c->space, AMX_VECTOR_MEMORY_BYTES, 256) : 0;
    if (c->block)
        return c;
    checker_free(c);
    return NULL;
}

bool check_amx_vectors_fd(int fd, const char *name, enum amx_path exec_path, struct check_report *report,
                          struct orch_error *error)
{
    const enum file_format format = format_of(name);
    if (format == FORMAT_UNKNOWN)
        return orch_fail(error, ORCH_USAGE,
                         "%s: no AMX vector file by its name; expected fma, fms, ldst, extr, mac16, matfp, "
                         "matint, vecfp, vecint, genlut, programs or full_states",
                         name);
    struct checker *const c = checker_create(exec_path, report);
    if (!c || !vector_file_open(&c->in, fd, name, error)) {
        if (c)
            checker_free(c);
        return orch_fail(error, ORCH_INTERNAL, "%s: no memory to check it", name);
    }
    const bool ok = check_cases(c, format);
    vector_file_close(&c->in);
    checker_free(c);
    return ok;
}

bool check_amx_vectors(const char *path, enum amx_path exec_path, struct check_report *report, struct orch_error *error)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return orch_fail(error, ORCH_USAGE, "%s: cannot be opened", path);
    const bool ok = check_amx_vectors_fd(fd, path, exec_path, report, error);
    close(fd);
    return ok;
}
