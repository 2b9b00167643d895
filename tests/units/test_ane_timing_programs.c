/* Neural Engine timing of the public programs (eiln/ane: one channel of 2560 rows of 1600 values; tinygrad). */
#include "isa/array_count.h"
#include "tests/isa/ane_golden.h"
#include "tests/units/ane_timing_example.h"

#include <string.h>

#define IMAGE (UINT64_C(2560) * 3200) /* bytes: rows of 1600 fp16 values are whole units of 64 bytes */
#define TABLE 128                     /* bytes of an activation table */

struct timed {
    bool read;
    size_t tasks;
    double ns, by[ANE_STALL_COUNT];
    struct activity activity;
};

static struct timed time_program(const char *file)
{
    struct timed t = {0};
    size_t size = 0;
    uint8_t *bytes = ane_golden_read(file, &size);
    struct ane_program program;
    struct isa_error error = {0};
    if (!bytes)
        return t;
    CHECK(ane_program_parse(bytes, size, &program, &error), "%s: %s", file, error.text);
    free(bytes);
    if (error.text[0])
        return t;
    const struct ane_params params = example_params();
    struct ane_timing *timing = ane_timing_create(&params, NULL);
    t.read = true;
    t.tasks = program.count;
    t.ns = ane_timing_request(timing, &program, 0, 0, NULL, t.by);
    ane_timing_take_activity(timing, &t.activity);
    ane_timing_free(timing);
    ane_program_free(&program);
    return t;
}

static void test_reasons_add_up_for_all(void)
{
    for (size_t i = 0; i < ANE_GOLDENS; i++) {
        const struct timed t = time_program(ane_goldens[i].file);
        double sum = 0;
        for (int k = 0; k < ANE_STALL_COUNT; k++)
            sum += t.by[k];
        CHECK(t.read && t.ns > 0 && fabs(sum - t.ns) < 1e-9 * t.ns, "%s: %g ns, reasons %g", ane_goldens[i].file, t.ns, sum);
        CHECK(t.activity.count[ACT_ANE_TASKS] == t.tasks, "%s", ane_goldens[i].file);
    }
}

static void test_images_move_as_often_as_descriptors_say(void)
{
    static const struct {
        const char *file;
        uint64_t images, tables, planar_images, looked_up;
    } rows[] = {
        {"eiln/activation_relu.bin.gz", 2, 0, 0, 0},    {"eiln/unary_exp.bin.gz", 2, 1, 0, 1},
        {"eiln/unary_abs.bin.gz", 2, 0, 1, 0},          {"eiln/binary_add.bin.gz", 3, 0, 1, 0},
        {"eiln/unary_sigmoid.bin.gz", 2, 1, 1, 1},      /* table, then + 0.5: a ring between them */
        {"eiln/activation_softmax.bin.gz", 6, 1, 4, 1}, /* largest, exp(x - it) to memory, sum, product */
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct timed t = time_program(rows[i].file);
        const uint64_t *count = t.activity.count;
        CHECK(count[ACT_ANE_DMA_BYTES] == rows[i].images * IMAGE + rows[i].tables * TABLE, "%s: %llu bytes", rows[i].file,
              (unsigned long long)count[ACT_ANE_DMA_BYTES]);
        CHECK(count[ACT_ANE_PLANAR_OPS] == rows[i].planar_images * IMAGE / 2, "%s: %llu operations", rows[i].file,
              (unsigned long long)count[ACT_ANE_PLANAR_OPS]);
        CHECK(count[ACT_ANE_TABLE_LOOKUPS] == rows[i].looked_up * IMAGE / 2, "%s", rows[i].file);
        CHECK(count[ACT_ANE_F16_MACS] == 0, "%s", rows[i].file);
    }
}

/* One channel keeps one engine busy: 256 pixels a cycle, less than the DMA takes. */
static void test_single_passes_run_at_the_speed_of_the_dma(void)
{
    const double copy = 2.0 * (double)IMAGE / 96;
    const struct timed t = time_program("eiln/unary_exp.bin.gz");
    CHECK(fabs(t.ns / copy - 1) < 0.15, "%g ns, streams alone %g", t.ns, copy);
    /* Two descriptors on a ring: the planar engine's 16 elements a cycle, not the sum of both. */
    const double planar = (double)IMAGE / 2 / 16;
    const struct timed s = time_program("eiln/unary_sigmoid.bin.gz");
    CHECK(fabs(s.ns / planar - 1) < 0.02, "%g ns, planar engine alone %g", s.ns, planar);
}

static void test_convolution_of_tinygrad(void)
{
    const struct timed t = time_program("tinygrad/golden.23664c99bd.hwx.gz");
    CU_ASSERT_EQUAL(t.activity.count[ACT_ANE_F16_MACS], 9);
    CU_ASSERT_EQUAL(t.activity.count[ACT_ANE_COEFFICIENT_BYTES], 3 * 64); /* compiler_perf_all.csv counts 192 read, too */
    CU_ASSERT_EQUAL(t.activity.count[ACT_ANE_DMA_BYTES], 3 * 64 + 2 * 3 * 64);
}

static const struct suite_test tests[] = {
    {"reasons add up for all", test_reasons_add_up_for_all},
    {"images move as often as descriptors say", test_images_move_as_often_as_descriptors_say},
    {"single passes run at the speed of the DMA", test_single_passes_run_at_the_speed_of_the_dma},
    {"convolution of tinygrad", test_convolution_of_tinygrad},
};
SUITE_MAIN("ane timing programs", tests)
