/* Rows about caches and memory: pointer chases, and read, write, copy and triad streams of clpeak and whisper.cpp. The sources do
 * not always state sizes; those used here lie well inside the level that the row names. */
#include "isa/array_count.h"
#include "sim/prove/validate/program.h"

#include <stdlib.h>
#include <string.h>

#define KIB  UINT64_C(1024)
#define MIB  (1024 * KIB)
#define LINE 128

enum { COUNTER = 28, SPILL = 26, TEMPORARY = 27, IN_REGISTERS = 24, MAX_CHAINS = 32 };

uint64_t validate_scatter(uint64_t i, unsigned bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (unsigned round = 0; round < 3; round++) {
        i = i * UINT64_C(0x9E3779B97F4A7C15) & mask;
        i ^= i >> (bits / 2 + 1);
    }
    return i;
}

/* Links nodes 0 to count of lines scattered over 2^bits lines; the last leads back to the first. */
static bool link_nodes(struct validate_row *row, struct validate_program *program, unsigned bits, uint64_t count)
{
    program->patch = malloc(count * sizeof *program->patch);
    if (!program->patch)
        return validate_refuse(row, "out of memory");
    for (uint64_t i = 0; i < count; i++)
        program->patch[i] = (struct validate_patch){validate_scatter(i, bits) * LINE,
                                                    VALIDATE_DATA_ADDR + validate_scatter((i + 1) % count, bits) * LINE};
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
            emit_ldr_x(e, c, c, 0);
            continue;
        }
        emit_ldr_x(e, TEMPORARY, SPILL, 8 * (c - IN_REGISTERS));
        emit_ldr_x(e, TEMPORARY, TEMPORARY, 0);
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
    for (unsigned c = 0; c < chase.chains; c++) {
        const uint64_t first = VALIDATE_DATA_ADDR + validate_scatter(c * (nodes / chase.chains), bits) * LINE;
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

/* DRAM: the arrays of all threads together exceed the caches, and lines that one sweep leaves dirty are written back during the
 * next, as in a long run. A single thread starts with empty caches. */
static const struct stream_row streams[] = {
    {"L1 read ", STREAM_READ, 32 * KIB, 64, true},  {"L1 write ", STREAM_WRITE, 32 * KIB, 64, true},
    {"L2 read ", STREAM_READ, 2 * MIB, 2, true},    {"DRAM read ", STREAM_READ, 8 * MIB, 1, false},
    {"DRAM copy ", STREAM_COPY, 8 * MIB, 1, false}, {"DRAM triad ", STREAM_TRIAD, 8 * MIB, 1, false},
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
    emit_exit(&e);
    program->core = VALIDATE_P_CORE;
    program->threads = 1;
    program->warm = true;
    program->data_bytes = 4096;
    program->measure = VALIDATE_NS_PER_WORK;
    program->work = 500 * 16;
    return validate_take_code(row, program, &e);
}

static bool refuse_unclear(struct validate_row *row)
{
    static const struct {
        const char *what, *why;
    } unclear[] = {
        {"DRAM latency linear (prefetched)", "the step of the chase is not stated"},
        {"TLB miss", "a difference of two chases whose sizes are not stated"},
        {"atomic add contended, all cores", "threads have address spaces of their own here"},
        {"branch mispredict penalty", "a difference of two loops that the source does not show"},
        {"store-to-load forward", "what one operation is remains open (one cycle is less than a round trip)"},
        {"DRAM latency versus M1", "a difference between two chips"},
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
