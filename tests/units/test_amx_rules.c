/* Rules of the AMX unit that the golden vectors hardly touch, each on the reference and on the fast path.
 * Expected values are worked out by hand from the rules of corsix/amx (Instructions.md, setclr.md, vecfp.md, matint.md,
 * vecint.md, genlut.md). */
#include "isa/array_count.h"
#include "tests/support/suite.h"
#include "units/amx/amx_core.h"

#include <inttypes.h>
#include <string.h>

struct machine {
    struct mem_space *space;
    struct amx_core *core;
    uint64_t block; /* one mapped page */
    struct amx_state before, after;
};

static bool execute(struct machine *m, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    *fault = (struct unit_fault){.kind = UNIT_FAULT_NONE};
    return amx_core_execute(m->core, op, operand, fault);
}

/* Starts from m->before, runs one line of assembler text, leaves the result in m->after. */
static void run(struct machine *m, const char *line)
{
    uint32_t word;
    uint64_t operand;
    bool has_operand;
    struct isa_error error = {.text = ""};
    struct unit_fault fault;
    CHECK(amx_asm_line(line, &word, &operand, &has_operand, &error), "%s: %s", line, error.text);
    amx_core_write_state(m->core, &m->before);
    CHECK(execute(m, amx_word_op(word), operand, &fault), "%s: %s", line, fault.text);
    amx_core_read_state(m->core, &m->after);
}

static void fill_state(struct amx_state *state, uint64_t seed)
{
    for (size_t i = 0; i < sizeof *state; i += 8) {
        const uint64_t r = suite_random(&seed);
        memcpy((uint8_t *)state + i, &r, 8);
    }
}

static void on_path(enum amx_path path, enum amx_gen gen, void (*test)(struct machine *))
{
    static struct machine m;
    memset(&m, 0, sizeof m);
    m.space = mem_space_create(8 * MEM_PAGE_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m.space);
    m.block = mem_space_alloc(m.space, MEM_PAGE_BYTES, 256);
    m.core = amx_core_create(gen, m.space, path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m.core);
    test(&m);
    amx_core_free(m.core);
    mem_space_free(m.space);
}

static void on_paths(enum amx_gen gen, void (*test)(struct machine *))
{
    on_path(AMX_PATH_REFERENCE, gen, test);
    on_path(AMX_PATH_FAST, gen, test);
    on_path(AMX_PATH_PORTABLE, gen, test);
}

static bool unchanged(const struct machine *m)
{
    return memcmp(&m->before, &m->after, sizeof m->before) == 0;
}

/* ---- set, clr, undefined instructions ----------------------------------------------------------------------- */

static void set_and_clr(struct machine *m)
{
    static const struct amx_state zero;
    struct unit_fault fault;
    CU_ASSERT_FALSE(amx_core_enabled(m->core));
    CU_ASSERT(!execute(m, AMX_FMA32, 0, &fault) && fault.kind == UNIT_FAULT_UNDEFINED);
    CU_ASSERT(!execute(m, AMX_SETCLR, 1, &fault) && fault.kind == UNIT_FAULT_UNDEFINED);
    CU_ASSERT(execute(m, AMX_SETCLR, 0, &fault));
    CU_ASSERT(amx_core_enabled(m->core));
    amx_core_read_state(m->core, &m->after);
    CU_ASSERT_EQUAL(memcmp(&m->after, &zero, sizeof zero), 0);
    fill_state(&m->before, 1);
    amx_core_write_state(m->core, &m->before);
    CU_ASSERT(!execute(m, AMX_SETCLR, 0, &fault) && fault.kind == UNIT_FAULT_UNDEFINED); /* enabled already */
    for (unsigned immediate = 2; immediate < 32; immediate++)
        CU_ASSERT(!execute(m, AMX_SETCLR, immediate, &fault) && fault.kind == UNIT_FAULT_UNDEFINED);
    amx_core_read_state(m->core, &m->after);
    CU_ASSERT(unchanged(m));
    CU_ASSERT(execute(m, AMX_SETCLR, 1, &fault));
    CU_ASSERT_FALSE(amx_core_enabled(m->core));
    CU_ASSERT(!execute(m, AMX_LDX, m->block, &fault) && fault.kind == UNIT_FAULT_UNDEFINED);
    CU_ASSERT(execute(m, AMX_SETCLR, 0, &fault));
    amx_core_read_state(m->core, &m->after);
    CU_ASSERT_EQUAL(memcmp(&m->after, &zero, sizeof zero), 0);
}

static void undefined_ops(struct machine *m)
{
    struct unit_fault fault;
    fill_state(&m->before, 2);
    amx_core_write_state(m->core, &m->before);
    for (unsigned op = AMX_OP_COUNT; op < 32; op++)
        CHECK(!execute(m, op, 0, &fault) && fault.kind == UNIT_FAULT_UNDEFINED && fault.text[0], "op %u", op);
    amx_core_read_state(m->core, &m->after);
    CU_ASSERT(unchanged(m));
}

/* ---- memory faults ------------------------------------------------------------------------------------------ */

static void expect_memory_fault(struct machine *m, unsigned op, uint64_t flags, uint64_t address, enum unit_fault_kind kind)
{
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    uint8_t bytes[1024];
    const uint8_t *block = mem_at(m->space, m->block, sizeof bytes, MEM_READ);
    CU_ASSERT_PTR_NOT_NULL(block);
    if (!block)
        return;
    memcpy(bytes, block, sizeof bytes);
    CHECK(!execute(m, op, flags | address, &fault) && fault.kind == kind, "%s: kind %d", amx_op_name(op, flags), (int)fault.kind);
    CHECK(fault.address >= address && fault.address < address + 256, "%s: address %" PRIx64, amx_op_name(op, flags),
          fault.address);
    amx_core_read_state(m->core, &m->after);
    CHECK(unchanged(m) && memcmp(bytes, block, sizeof bytes) == 0, "%s changes state", amx_op_name(op, flags));
}

static void memory_faults(struct machine *m)
{
    static const unsigned paired[] = {AMX_LDX, AMX_LDY, AMX_STX, AMX_STY, AMX_LDZ, AMX_STZ};
    static const unsigned any[] = {AMX_LDX, AMX_LDY, AMX_STX, AMX_STY, AMX_LDZ, AMX_STZ, AMX_LDZI, AMX_STZI};
    const uint64_t pair = UINT64_C(1) << 62, quad = pair | UINT64_C(1) << 60, outside = m->block + MEM_PAGE_BYTES;
    fill_state(&m->before, 3);
    amx_core_write_state(m->core, &m->before);
    for (size_t i = 0; i < 6; i++) {
        expect_memory_fault(m, paired[i], pair, m->block + 64, UNIT_FAULT_ALIGNMENT);
        expect_memory_fault(m, paired[i], pair, m->block + 1, UNIT_FAULT_ALIGNMENT);
    }
    expect_memory_fault(m, AMX_LDX, quad, m->block + 64, UNIT_FAULT_ALIGNMENT);
    for (size_t i = 0; i < 8; i++) {
        expect_memory_fault(m, any[i], 0, outside, UNIT_FAULT_UNMAPPED);
        expect_memory_fault(m, any[i], 0, outside - 63, UNIT_FAULT_UNMAPPED); /* last byte only */
    }
    expect_memory_fault(m, AMX_LDX, quad, outside - 128, UNIT_FAULT_UNMAPPED);
    mem_space_protect(m->space, m->block, MEM_PAGE_BYTES, MEM_READ);
    expect_memory_fault(m, AMX_STZ, 0, m->block, UNIT_FAULT_PERMISSION);
    mem_space_protect(m->space, m->block, MEM_PAGE_BYTES, MEM_READ | MEM_WRITE);
    struct unit_fault fault;
    CU_ASSERT(execute(m, AMX_LDX, quad | (m->block + 128), &fault)); /* 128-byte alignment is enough for four */
    CU_ASSERT(execute(m, AMX_LDX, m->block + 1, &fault));            /* single transfers need none */
}

/* ---- zero-writing masks and the like ------------------------------------------------------------------------ */

static void run_pair(struct machine *m, const char *line, const char *like)
{
    struct amx_state first;
    run(m, line);
    memcpy(&first, &m->after, sizeof first);
    run(m, like);
    CHECK(memcmp(&first, &m->after, sizeof first) == 0, "%s differs from %s", line, like);
    CHECK(!unchanged(m), "%s does nothing", like);
}

/* Every enabled element becomes 0, nothing else changes: rows = bit set of Z rows. */
static void expect_zero_rows(struct machine *m, const char *line, uint64_t rows)
{
    run(m, line);
    for (unsigned row = 0; row < 64; row++)
        if (rows >> row & 1)
            memset(m->before.z[row], 0, 64);
    CHECK(unchanged(m), "%s", line);
}

static void write_zero(struct machine *m)
{
    const uint64_t every4 = UINT64_C(0x1111111111111111), every2 = UINT64_C(0x5555555555555555);
    fill_state(&m->before, 4);
    expect_zero_rows(m, "vecint {alu=shift_sat, z=9, mask_n=3}", UINT64_C(1) << 9);
    expect_zero_rows(m, "vecint {alu=shift_sat, lanes=3, z=10, mask_n=3, shift=5}", UINT64_C(1) << 10);
    expect_zero_rows(m, "matint {alu=shift_sat, lanes=4, z=1, mask_n=3}", every4 << 1);
    fill_state(&m->before, 5);
    expect_zero_rows(m, "matint {alu=shift_sat, z=1, mask_n=3, mask_y}", every2 << 1);
    expect_zero_rows(m, "matint {alu=popcount, lanes=4, z=2, mask_n=3}", every4 << 2);
    fill_state(&m->before, 6);
    expect_zero_rows(m, "matint {alu=popcount, lanes=3, mask_n=3}", UINT64_MAX);
    fill_state(&m->before, 7);
    expect_zero_rows(m, "matfp {lanes=f32, z=3, ymask_n=3}", every4 << 3);
    expect_zero_rows(m, "vecfp {lanes=f64, z=5, mask_n=3}", 1 << 5);
}

static void special_masks_that_enable(struct machine *m)
{
    fill_state(&m->before, 8);
    run_pair(m, "matint {alu=shift_sat, lanes=10, shift=3, saturate, mask_n=4}",
             "matint {alu=shift_sat, lanes=10, shift=3, saturate}");
    run_pair(m, "matint {alu=shift_sat, lanes=3, shift=9, mask_n=5, mask_y}", "matint {alu=shift_sat, lanes=3, shift=9}");
    run_pair(m, "vecint {alu=shift_sat, lanes=9, shift=3, z=7, mask_n=4}", "vecint {alu=shift_sat, lanes=9, shift=3, z=7}");
    run_pair(m, "vecint {alu=shift_sat, lanes=9, shift=3, z=7, mask_n=5}", "vecint {alu=shift_sat, lanes=9, shift=3, z=7}");
    run_pair(m, "vecint {alu=shift_sat, lanes=9, shift=3, z=7, mask=bcast_y, mask_n=1}",
             "vecint {alu=shift_sat, lanes=9, shift=3, z=7}");
}

/* N = 4 and 5 replace the masked operand by zero; the same as running with that operand's register zeroed. */
static void zeroed_operands(struct machine *m)
{
    static const char *const alus[] = {"alu=mla8, lanes=10", "alu=mla8", "alu=popcount, lanes=4", "alu=popcount, lanes=3",
                                       "alu=popcount"};
    for (size_t i = 0; i < ARRAY_COUNT(alus); i++)
        for (unsigned n = 4; n <= 5; n++)
            for (unsigned on_y = 0; on_y < 2; on_y++) {
                char line[96];
                struct amx_state zeroed;
                fill_state(&m->before, 9);
                snprintf(line, sizeof line, "matint {%s, mask_n=%u%s}", alus[i], n, on_y ? ", mask_y" : "");
                run(m, line);
                memcpy(&zeroed, &m->after, sizeof zeroed);
                memset(on_y ? m->before.y : m->before.x, 0, 64);
                snprintf(line, sizeof line, "matint {%s}", alus[i]);
                run(m, line);
                CHECK(memcmp(zeroed.z, m->after.z, sizeof zeroed.z) == 0, "%s n=%u y=%u", alus[i], n, on_y);
            }
}

static void reserved_bits_do_nothing(struct machine *m)
{
    static const char *const lines[] = {
        "matint {alu_high=1}",
        "matint {alu_high=1, alu=mla8}",
        "matint {alu_high=2, indexed}",
        "matint {alu_high=4}",
        "matint {alu=shift_sat, alu_high=1, shift=3}",
        "vecint {alu=shift_sat, alu_high=1, shift=3}",
        "vecint {alu=shift_sat, alu_high=2, shift=3}",
        "vecint {alu=shift_sat, alu_high=4, shift=3}",
        "vecint {alu=shift_sat, alu_high=1, mask_n=3}",
        "vecfp {lanes=f32, alu_high=1}",
        "matfp {lanes=f32, alu_high=4}",
        "matfp {lanes=f32, alu=10}",
        "vecfp {lanes=f32, alu=6, mask_n=3}",
        "matint {alu=7}",
        "matint {alu=10}",
        "vecint {alu=8}",
    };
    fill_state(&m->before, 10);
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        run(m, lines[i]);
        CHECK(unchanged(m), "%s", lines[i]);
    }
}

/* ---- floating point ----------------------------------------------------------------------------------------- */

static uint64_t lane_of(const uint8_t *bytes, unsigned size)
{
    uint64_t lane = 0;
    memcpy(&lane, bytes, size);
    return lane;
}

/* x and z in lane 0; expected result of `line` in Z row 0. */
static void expect_lane(struct machine *m, const char *line, unsigned size, uint64_t x, uint64_t y, uint64_t z, uint64_t expected)
{
    memset(&m->before, 0, sizeof m->before);
    memcpy(m->before.x, &x, size);
    memcpy(m->before.y, &y, size);
    memcpy(m->before.z[0], &z, size);
    run(m, line);
    const uint64_t got = lane_of(m->after.z[0], size);
    CHECK(got == expected, "%s x=%" PRIx64 " y=%" PRIx64 " z=%" PRIx64 ": %" PRIx64 ", expected %" PRIx64, line, x, y, z, got,
          expected);
}

/* min and max order -0 below +0 whichever operand holds it; a NaN gives the default NaN. */
static void min_and_max(struct machine *m)
{
    static const struct {
        const char *lanes;
        unsigned size;
        uint64_t minus_zero, signalling, quiet;
    } formats[] = {
        {"bf16", 2, 0x8000, 0xff81, 0x7fc0},
        {"2", 2, 0x8000, 0xfc01, 0x7e00},
        {"f32", 4, UINT64_C(0x80000000), UINT64_C(0xff800001), UINT64_C(0x7fc00000)},
        {"f64", 8, UINT64_C(1) << 63, UINT64_C(0xfff0000000000001), UINT64_C(0x7ff8000000000000)},
    };
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        const uint64_t minus = formats[i].minus_zero, nan = formats[i].signalling, quiet = formats[i].quiet;
        const unsigned size = formats[i].size;
        char least[48], most[48];
        snprintf(least, sizeof least, "vecfp {lanes=%s, alu=min}", formats[i].lanes);
        snprintf(most, sizeof most, "vecfp {lanes=%s, alu=max}", formats[i].lanes);
        expect_lane(m, least, size, 0, 0, minus, minus);
        expect_lane(m, least, size, minus, 0, 0, minus);
        expect_lane(m, most, size, 0, 0, minus, 0);
        expect_lane(m, most, size, minus, 0, 0, 0);
        expect_lane(m, most, size, minus, 0, minus, minus);
        expect_lane(m, least, size, nan, 0, 0, quiet);
        expect_lane(m, most, size, 0, 0, nan, quiet);
    }
}

/* Products that lie halfway between two results, and a Z far below that decides: (1 + a)(1 + b) + tiny. Rounding twice
 * loses the decision and goes to the even neighbour below. */
static void one_rounding(struct machine *m)
{
    /* f32: (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, plus or minus 2^-70 (lost in f64) */
    expect_lane(m, "vecfp {lanes=f32}", 4, 0x3f800800, 0x3f800800, 0x1c800000, 0x3f801001);
    expect_lane(m, "vecfp {lanes=f32}", 4, 0x3f800800, 0x3f800800, 0x9c800000, 0x3f801000);
    expect_lane(m, "fma32 {vector}", 4, 0x3f800800, 0x3f800800, 0x1c800000, 0x3f801001);
    expect_lane(m, "fma32 {}", 4, 0x3f800800, 0x3f800800, 0x1c800000, 0x3f801001);
    expect_lane(m, "matfp {lanes=f32}", 4, 0x3f800800, 0x3f800800, 0x1c800000, 0x3f801001);
    /* f16: (1 + 2^-5)(1 + 2^-6) = 1 + 2^-5 + 2^-6 + 2^-11, plus 2^-24 (lost in f32) */
    expect_lane(m, "vecfp {lanes=2}", 2, 0x3c20, 0x3c10, 0x0001, 0x3c31);
    expect_lane(m, "vecfp {lanes=2}", 2, 0x3c20, 0x3c10, 0x8001, 0x3c30);
    expect_lane(m, "fma16 {}", 2, 0x3c20, 0x3c10, 0x0001, 0x3c31);
    expect_lane(m, "matfp {lanes=2}", 2, 0x3c20, 0x3c10, 0x0001, 0x3c31);
    /* bf16: (1 + 2^-3)(1 + 2^-5) = 1 + 2^-3 + 2^-5 + 2^-8, plus or minus 2^-60 (lost in f64) */
    expect_lane(m, "vecfp {lanes=bf16}", 2, 0x3f90, 0x3f84, 0x2180, 0x3f95);
    expect_lane(m, "vecfp {lanes=bf16}", 2, 0x3f90, 0x3f84, 0xa180, 0x3f94);
    expect_lane(m, "matfp {lanes=bf16}", 2, 0x3f90, 0x3f84, 0x2180, 0x3f95);
    expect_lane(m, "matfp {lanes=bf16}", 2, 0x3f90, 0x3f84, 0xa180, 0x3f94);
    /* f64: (1 + 2^-27)^2 = 1 + 2^-26 + 2^-54 (below half a unit), less 1: exact only when fused */
    expect_lane(m, "fma64 {}", 8, UINT64_C(0x3ff0000002000000), UINT64_C(0x3ff0000002000000), UINT64_C(0xbff0000000000000),
                UINT64_C(0x3e50000001000000));
}

/* fms without z is fma(-x, y, -0): a zero product changes sign; copies keep payloads. */
static void signs_and_copies(struct machine *m)
{
    const uint64_t minus = UINT64_C(0x80000000);
    expect_lane(m, "fms32 {vector, skip_z}", 4, 0, 0x3f800000, 1, minus);
    expect_lane(m, "fms32 {vector, skip_z}", 4, minus, 0x3f800000, 1, 0);
    expect_lane(m, "fma32 {vector, skip_z}", 4, minus, 0x3f800000, 1, minus);
    expect_lane(m, "fms32 {vector, skip_z, skip_y, skip_x}", 4, 1, 1, 1, minus);
    expect_lane(m, "fma32 {vector, skip_z, skip_y, skip_x}", 4, 1, 1, 1, 0);
    expect_lane(m, "fma32 {vector, skip_z, skip_y}", 4, 0x7f800001, 1, 1, 0x7f800001);
    expect_lane(m, "fms32 {vector, skip_z, skip_y}", 4, 0x7f800001, 1, 1, UINT64_C(0xff800001));
    expect_lane(m, "fma32 {vector, skip_z, skip_y, x_f16}", 4, 0xfc01, 1, 1, 0x7fc00000);
    expect_lane(m, "fms32 {vector, skip_z, skip_y, x_f16}", 4, 0x7c01, 1, 1, 0x7fc00000);
    expect_lane(m, "fma32 {vector, skip_x, skip_y}", 4, 1, 1, 0x7f800001, 0x7f800001);
    expect_lane(m, "fma32 {vector}", 4, 0x7f800001, 1, 1, 0x7fc00000);
}

/* ---- genlut ------------------------------------------------------------------------------------------------- */

/* Table in Y register 1 (f32 lanes), sources in X register 0, indices into X register 2. -0 equals +0, so the
 * first lane above it is the first lane above zero. */
static void genlut_zeros(struct machine *m)
{
    static const float table[16] = {-1.0f, 0.0f, 1.0f, 2.0f,  3.0f,  4.0f,  5.0f,  6.0f,
                                    7.0f,  8.0f, 9.0f, 10.0f, 11.0f, 12.0f, 13.0f, 14.0f};
    static const float source[16] = {-0.0f, 0.0f, -2.0f, 14.0f, 100.0f, 0.5f, -0.5f};
    static const uint8_t expected[8] = {0x11, 0xff, 0x1f, 0x10, 0x11, 0x11, 0x11, 0x11};
    static const uint8_t zero[56];
    fill_state(&m->before, 11);
    memcpy(m->before.y + 64, table, sizeof table);
    memcpy(m->before.x, source, sizeof source);
    run(m, "genlut {mode=gen_f32, table_y, table=1, reg=2}");
    CU_ASSERT_EQUAL(memcmp(m->after.x + 128, expected, sizeof expected), 0);
    CU_ASSERT_EQUAL(memcmp(m->after.x + 136, zero, sizeof zero), 0);
    const uint32_t minus_zero = UINT32_C(0x80000000);
    memcpy(m->before.y + 64 + 4, &minus_zero, 4); /* -0 in the table is not above +0 either */
    run(m, "genlut {mode=gen_f32, table_y, table=1, reg=2}");
    CU_ASSERT_EQUAL(memcmp(m->after.x + 128, expected, sizeof expected), 0);
}

#define ON_PATHS(name, gen)                                                                                                      \
    static void test_##name(void)                                                                                                \
    {                                                                                                                            \
        on_paths(gen, name);                                                                                                     \
    }
ON_PATHS(set_and_clr, AMX_GEN_M1)
ON_PATHS(undefined_ops, AMX_GEN_M1)
ON_PATHS(memory_faults, AMX_GEN_M2)
ON_PATHS(write_zero, AMX_GEN_M1)
ON_PATHS(special_masks_that_enable, AMX_GEN_M1)
ON_PATHS(zeroed_operands, AMX_GEN_M3)
ON_PATHS(reserved_bits_do_nothing, AMX_GEN_M4)
ON_PATHS(min_and_max, AMX_GEN_M2)
ON_PATHS(one_rounding, AMX_GEN_M2)
ON_PATHS(signs_and_copies, AMX_GEN_M1)
ON_PATHS(genlut_zeros, AMX_GEN_M1)

static const struct suite_test tests[] = {
    {"set zeroes, clr disables, both fault out of turn", test_set_and_clr},
    {"ops above 22 are undefined", test_undefined_ops},
    {"memory faults leave state and memory alone", test_memory_faults},
    {"mask number 3 writes zeros", test_write_zero},
    {"mask numbers 4 and 5 enable all lanes in place", test_special_masks_that_enable},
    {"mask numbers 4 and 5 zero an operand of matint", test_zeroed_operands},
    {"reserved encodings do nothing", test_reserved_bits_do_nothing},
    {"min and max of zeros and NaNs", test_min_and_max},
    {"sums of products round once", test_one_rounding},
    {"zero signs and copied NaNs", test_signs_and_copies},
    {"genlut takes -0 for +0", test_genlut_zeros},
};
SUITE_MAIN("amx rules", tests)
