/* Numeric rules as parameters, tensors that overlap, and the names of execution paths. */
#include "tests/units/ane_exec_planar.h"

#include <math.h>

/* ---- rules as parameters ---- */

static uint16_t with_rules(const struct ane_numeric *rules, const char *path, bool mac, uint16_t x, uint16_t y, uint16_t offset)
{
    struct ane_example e;
    ane_example_open(&e);
    ane_core_free(e.core);
    e.core = ane_core_create(rules, EXAMPLE_L2);
    CU_ASSERT_TRUE(ane_core_use(e.core, path));
    struct ane_task *t = planar(&e, mac ? 2 : 1, 1, 1);
    t->source = ane_example_dram(&e, BAR_IN, 2, 1, 2);
    t->second = ane_example_dram(&e, BAR_SECOND, 1, 1, 2);
    t->result = ane_example_dram(&e, BAR_OUT, 1, 1, 1);
    t->pixel_offset = offset;
    ane_example_set_bits(&e, &t->source, 0, 0, offset, x);
    ane_example_set_bits(&e, &t->second, 0, 0, 0, y);
    if (mac) { /* x * 1 + y * 1 */
        t->engine = ANE_ENGINE_NE;
        t->ne_op = ANE_NE_MATMUL;
        t->channels_out = 1;
        ane_example_set_bits(&e, &t->source, 1, 0, 0, y);
        for (uint32_t i = 0; i < 2; i++)
            ane_example_set_bits(&e, &t->second, 0, 0, i, 0x3c00);
    }
    ane_example_must_run(&e, 1);
    const uint16_t bits = ane_example_bits(&e, &t->result, 0, 0, 0);
    ane_example_close(&e);
    return bits;
}

static void test_rules(void)
{
    static const char *const paths[] = {"reference", "portable", NULL};
    const struct ane_numeric m1 = *ane_numeric_default();
    for (int p = 0; p < 3; p++) {
        struct ane_numeric rules = m1;
        CU_ASSERT_EQUAL(with_rules(&m1, paths[p], true, 0x0200, 0x0200, 0), 0);
        rules.mac_flush_denormals = 0; /* as M5 */
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], true, 0x0200, 0x0200, 0), 0x0400);
        rules = m1;
        rules.mac_overflow = 1024;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], true, ane_half_bits(1000), ane_half_bits(23), 0), ane_half_bits(1023));
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], true, ane_half_bits(1000), ane_half_bits(24), 0), 0x7c00);
        rules.mac_overflow = INFINITY;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], true, ane_half_bits(40000), ane_half_bits(20000), 0), ane_half_bits(60000));
        rules = m1;
        rules.nan_to_infinity = 0;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x7c01, 0, 0), 0x7e00);
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x7c00, 0xfc00, 0), 0x7e00);
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x7c00, 0x3c00, 0), 0x7c00);
        rules = m1;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x8000, 0x8000, 0), 0);
        rules.negative_zero = 1;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x8000, 0x8000, 0), 0x8000);
        rules.width_crop_gain = 1; /* as H15 */
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, ane_half_bits(5000), 0, 1), ane_half_bits(5000));
        CU_ASSERT_EQUAL(with_rules(&m1, paths[p], false, ane_half_bits(5000), 0, 1), 0x7c00);
    }
}

/* A result that lies over its own source, shifted: rows in order, whatever the threads. */
static void test_overlap(void)
{
    enum { H = 80, W = 64 };
    uint16_t first[H * W];
    for (unsigned threads = 1; threads < 6; threads += 2) {
        struct ane_example e;
        uint64_t state = 3;
        ane_example_open(&e);
        struct ane_task *t = planar(&e, 1, H, W);
        ane_example_buffer(&e, BAR_IN, (H + 1) * 2 * W);
        t->source = t->result = ane_example_operand(ANE_PLACE_DRAM, BAR_IN, 0, 1, H, W);
        t->result.base = t->source.row;
        t->pe_bias = 0.5f;
        ane_example_fill(&e, &t->source, 1, H, W, 4, &state);
        ane_example_must_run(&e, threads);
        for (uint32_t i = 0; i < H * W; i++) {
            const uint16_t bits = ane_example_bits(&e, &t->result, 0, i / W, i % W);
            CU_ASSERT_TRUE(threads == 1 || bits == first[i]);
            first[i] = bits;
        }
        ane_example_close(&e);
    }
}

static void test_paths(void)
{
    struct ane_core *core = ane_core_create(NULL, 4096);
    CU_ASSERT_PTR_NOT_NULL_FATAL(core);
    CU_ASSERT_TRUE(ane_core_use(core, NULL));
    CU_ASSERT_TRUE(ane_core_use(core, "portable"));
    CU_ASSERT_TRUE(ane_core_use(core, "reference"));
    CU_ASSERT_FALSE(ane_core_use(core, "sse"));
    ane_core_free(core);
    ane_core_free(NULL);
}

static const struct suite_test tests[] = {
    {"rules as parameters", test_rules},
    {"overlapping tensors", test_overlap},
    {"names of paths", test_paths},
};
SUITE_MAIN("ane exec rules", tests)
