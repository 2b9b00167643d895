/* Rows about AMX loads, stores and enabling: zhen8838 (M2 Pro; loops of test_amx.cpp in the author's leetcode repository) and
 * eugenehp/amx-rs (amx_bench.rs). Operand bits as in corsix/amx ldst.md. */
#include "isa/amx/amx_isa.h"
#include "sim/prove/validate/program.h"

#include <string.h>

#define PAIR       (UINT64_C(1) << 62)
#define FOUR       (UINT64_C(1) << 60)
#define Z_ROW(row) ((uint64_t)(row) << 56)

enum { LINE_ROWS = 1024, ROW_BYTES = 256, ARRAY_BYTES = 2 * LINE_ROWS * ROW_BYTES, SWEEPS = 12 };

static uint64_t width_bits(unsigned registers)
{
    return registers == 4 ? PAIR | FOUR : registers == 2 ? PAIR : 0;
}

static uint64_t memory(uint64_t offset)
{
    return VALIDATE_DATA_ADDR + offset;
}

/* What the author's other figures say against the row. The first loop of each of his tests runs while the clock rises from
 * idle: in the comments of test_amx.cpp one and the same loop takes 37.0, 95.9 and 166.6 ms for 0.66, 2.62 and 5.24 GB, 17 to
 * 25 ms more than its length explains, and this row took 57 ms. */
static const char *doubt_of_loads(bool both, unsigned x, unsigned y, bool alternating)
{
    if (!both)
        return x == 1 && !alternating ? "first loop of its test, 57 ms of which some 18 while the clock rises: two widths of "
                                        "the same loop and the other order load at 1.7 to 2.0 per ns, this row at 1.4"
                                      : NULL;
    if (y == 2)
        return "pairs of Y 20 % slower than single and four registers beside them, pairs of X not: unexplained";
    if (alternating && (x == 4 || y == 4))
        return "four registers out of four places 256 KiB apart are slower than out of two: unexplained";
    return NULL;
}

/* A sweep of 1024 loads of X (and Y) over rows of 256 bytes; "alternating" takes rows of two halves in turn. */
static bool plan_load_sweep(struct validate_row *row, struct validate_program *program)
{
    unsigned threads, x = 0, y = 0;
    const bool both = sscanf(row->condition, "%u thread, %u register(s) per ldx, %u per ldy", &threads, &x, &y) == 3;
    if (!both && sscanf(row->condition, "%u thread, %u register(s) per ldx,", &threads, &x) != 2)
        return validate_refuse(row, "the condition does not say how wide the loads are");
    const bool alternating = strstr(row->condition, "alternating between two regions") != NULL;
    struct emit e = {0};
    emit_amx_enable(&e, true);
    const size_t sweep = emit_loop(&e, 9, SWEEPS);
    emit_constant(&e, 1, memory(0) | width_bits(x));
    emit_constant(&e, 2, memory(ARRAY_BYTES) | width_bits(y));
    emit_constant(&e, 3, memory(ARRAY_BYTES / 2) | width_bits(x));
    emit_constant(&e, 4, memory(ARRAY_BYTES + ARRAY_BYTES / 2) | width_bits(y));
    const size_t top = emit_loop(&e, 0, alternating ? LINE_ROWS / 2 : LINE_ROWS);
    for (unsigned half = 0; half < (alternating ? 2u : 1u); half++) {
        emit_amx(&e, AMX_LDX, half ? 3 : 1);
        emit_add(&e, half ? 3 : 1, half ? 3 : 1, ROW_BYTES);
        if (both) {
            emit_amx(&e, AMX_LDY, half ? 4 : 2);
            emit_add(&e, half ? 4 : 2, half ? 4 : 2, ROW_BYTES);
        }
    }
    emit_loop_end(&e, 0, top);
    emit_loop_end(&e, 9, sweep);
    emit_amx_enable(&e, false);
    emit_exit(&e);
    program->data_bytes = 2 * ARRAY_BYTES;
    program->warm = true;
    program->work = (double)SWEEPS * LINE_ROWS * 64 * (x + y);
    program->note = doubt_of_loads(both, x, y, alternating);
    return validate_take_code(row, program, &e);
}

/* Pairs of loads from one address, from consecutive addresses, or a page of 16 KiB apart. */
static bool plan_load_pairs(struct validate_row *row, struct validate_program *program)
{
    enum { LOADS = 4096 };
    unsigned stride = 0;
    if (strstr(row->condition, "consecutive"))
        stride = 128;
    else if (strstr(row->condition, "stride larger than L1D"))
        stride = 16384;
    else if (!strstr(row->condition, "same 128 bytes"))
        return validate_refuse(row, "the condition does not give the addresses");
    struct emit e = {0};
    emit_amx_enable(&e, true);
    const size_t sweep = emit_loop(&e, 9, 4);
    emit_constant(&e, 1, memory(0) | PAIR);
    const size_t top = emit_loop(&e, 0, LOADS);
    emit_amx(&e, AMX_LDX, 1);
    emit_add(&e, 1, 1, stride);
    emit_loop_end(&e, 0, top);
    emit_loop_end(&e, 9, sweep);
    emit_amx_enable(&e, false);
    emit_exit(&e);
    program->data_bytes = stride ? (uint64_t)LOADS * stride : 128;
    program->warm = true;
    program->work = 4.0 * LOADS * 128;
    return validate_take_code(row, program, &e);
}

static bool plan_store_z(struct validate_row *row, struct validate_program *program)
{
    enum { CALLS = 200 };
    unsigned accumulators, width;
    if (sscanf(row->condition, "1 thread, %u accumulators, %u row(s) per stz", &accumulators, &width) != 2 ||
        accumulators * width > 4)
        return validate_refuse(row, "the condition does not say how wide the stores are");
    const uint64_t stride = strstr(row->condition, "large target") ? 2048 : 256;
    struct emit e = {0};
    emit_amx_enable(&e, true);
    const size_t top = emit_loop(&e, 0, CALLS);
    for (unsigned z = 0; z < accumulators; z++)
        for (unsigned m = 0; m < 16; m++) {
            emit_constant(&e, 1, memory(m * stride + 64 * z * width) | Z_ROW(m * 4 + z * width) | width_bits(width));
            emit_amx(&e, AMX_STZ, 1);
        }
    emit_loop_end(&e, 0, top);
    emit_amx_enable(&e, false);
    emit_exit(&e);
    program->data_bytes = 16 * stride;
    program->warm = true;
    program->work = (double)CALLS * accumulators * 16 * 64 * width;
    return validate_take_code(row, program, &e);
}

/* 32 x 8192 x 32: two quad loads and eight fma32 for each two values of k, then the stores. */
static bool plan_packed_gemm(struct validate_row *row, struct validate_program *program)
{
    enum { K = 8192, PANEL = K * 128 };
    struct emit e = {0};
    emit_amx_enable(&e, true);
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t k = i / 4, m = i / 2 % 2, n = i % 2;
        emit_constant(&e, 10 + i, (k * 128 + m * 64) | (k * 128 + n * 64) << 10 | (m * 2 + n) << 20);
    }
    emit_constant(&e, 1, memory(0) | PAIR | FOUR);
    emit_constant(&e, 2, memory(PANEL) | PAIR | FOUR);
    const size_t top = emit_loop(&e, 0, K / 2);
    emit_amx(&e, AMX_LDY, 1);
    emit_amx(&e, AMX_LDX, 2);
    emit_add(&e, 1, 1, 256);
    emit_add(&e, 2, 2, 256);
    for (unsigned i = 0; i < 8; i++)
        emit_amx(&e, AMX_FMA32, 10 + i);
    emit_loop_end(&e, 0, top);
    for (unsigned m = 0; m < 32; m++) {
        emit_constant(&e, 1, memory(2 * PANEL + m * 128) | PAIR | Z_ROW(m % 16 * 4 + m / 16 * 2));
        emit_amx(&e, AMX_STZ, 1);
    }
    emit_amx_enable(&e, false);
    emit_exit(&e);
    program->data_bytes = 2 * PANEL + 32 * 128;
    program->warm = true;
    program->work = 2.0 * 32 * 32 * K;
    return validate_take_code(row, program, &e);
}

/* A short body, repeated: set + clr, or ldx + stx of one 64-byte buffer. */
static bool plan_small_loop(struct validate_row *row, struct validate_program *program, bool enabling)
{
    enum { TIMES = 2000 };
    if (strcmp(row->condition, "Single P-core") == 0)
        program->core = VALIDATE_P_CORE;
    else if (strcmp(row->condition, "Single E-core") == 0)
        program->core = VALIDATE_E_CORE, program->background = strstr(row->source, "amx-rs") != NULL;
    else
        return validate_refuse(row, "the condition does not say which core ran it");
    struct emit e = {0};
    emit_amx_enable(&e, true);
    emit_constant(&e, 1, memory(0));
    if (enabling)
        emit_amx_enable(&e, false);
    const size_t top = emit_loop(&e, 0, TIMES);
    if (enabling) {
        emit_amx_enable(&e, true);
        emit_amx_enable(&e, false);
    } else {
        emit_amx(&e, AMX_LDX, 1);
        emit_amx(&e, AMX_STX, 1);
    }
    emit_loop_end(&e, 0, top);
    if (!enabling)
        emit_amx_enable(&e, false);
    emit_exit(&e);
    program->data_bytes = 128;
    program->warm = true;
    program->work = TIMES;
    program->measure = strncmp(row->unit, "ns", 2) == 0 ? VALIDATE_NS_PER_WORK : VALIDATE_RATE;
    return validate_take_code(row, program, &e);
}

bool validate_plan_amx_memory(struct validate_row *row, struct validate_program *program)
{
    program->threads = 1;
    program->core = VALIDATE_P_CORE;
    program->measure = VALIDATE_RATE;
    if (strcmp(row->what, "ldx only") == 0 || strcmp(row->what, "ldx + ldy alternating") == 0)
        return plan_load_sweep(row, program);
    if (strncmp(row->what, "ldx pair func", 13) == 0)
        return plan_load_pairs(row, program);
    if (strcmp(row->what, "stz, 16 rows per f32 accumulator") == 0)
        return plan_store_z(row, program);
    if (strncmp(row->what, "sgemm 32x8192x32 on packed data", 31) == 0)
        return plan_packed_gemm(row, program);
    if (strcmp(row->what, "set + clr") == 0)
        return plan_small_loop(row, program, true);
    if (strcmp(row->what, "ldx + stx") == 0)
        return plan_small_loop(row, program, false);
    return false;
}
