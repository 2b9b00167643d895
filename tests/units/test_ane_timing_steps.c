/* What passes between descriptors: second sources and coefficients that come again or stay, loads that do not wait for each
 * other, and results that are handed over.
 */
#include "tests/support/suite.h"
#include "tests/units/ane_timing_example.h"

static bool near(double value, double expected, double tolerance)
{
    return fabs(value - expected) <= tolerance * fabs(expected);
}

/* channels x channels times pixels: a second source of channels x channels factors. */
static struct ane_task example_product(uint32_t channels, uint32_t height, uint32_t width)
{
    struct ane_task task = example_task(channels, height, width);
    task.ne_op = ANE_NE_MATMUL;
    task.second = example_memory(6);
    return task;
}

static void test_second_sources_come_for_each_tile(void)
{
    const struct ane_params params = example_params();
    const double image = 2048.0 * 16 * 64, factors = 2048.0 * 2048 * 2;
    struct ane_task product = example_product(2048, 16, 32);
    product.small_source = true;
    product.tile_height = 1; /* 16 tiles; 8 MiB of factors fit neither the engines (1 MiB) nor half of tile memory */
    const struct example_result r = example_run_tasks(&params, NULL, &product, 1);
    CU_ASSERT_EQUAL(r.task[0].source_bytes, (uint64_t)(image + 16 * factors));
    const double loads = (image + 16 * factors) / 64;
    CHECK(r.ns > loads && r.ns < 1.05 * loads, "%g ns, all loads %g", r.ns, loads);
    product = example_product(512, 64, 64); /* 512 KiB stay in the engines */
    product.tile_height = 4;
    CU_ASSERT_EQUAL(example_run_tasks(&params, NULL, &product, 1).task[0].source_bytes, 512 * 64 * 128 + 512 * 1024);
    product = example_product(704, 64, 64); /* 968 KiB: half a tile memory has them */
    product.tile_height = 4;
    CU_ASSERT_EQUAL(example_run_tasks(&params, NULL, &product, 1).task[0].source_bytes, 704 * 64 * 128 + 704 * 1408);
}

static void test_coefficients_that_are_there_stay(void)
{
    const struct ane_params params = example_params();
    struct ane_task task[8];
    for (unsigned i = 0; i < 8; i++) {
        task[i] = example_conv(512, 1, 64, 1); /* 32 KiB an engine, the same for all */
        task[i].source = task[i].result = example_place(ANE_PLACE_L2);
    }
    const struct example_result r = example_run_tasks(&params, NULL, task, 8);
    CU_ASSERT_EQUAL(r.task[0].coefficient_bytes, 512 * 512 * 2);
    for (unsigned i = 1; i < 8; i++)
        CU_ASSERT_EQUAL(r.task[i].coefficient_bytes + r.task[i].coefficient_passes, 0);
    for (unsigned i = 0; i < ANE_BANKS; i++)
        task[4].bank[i].base += 512 * 512 * 2; /* others in between */
    const struct example_result others = example_run_tasks(&params, NULL, task, 8);
    CHECK(others.task[3].coefficient_bytes == 0 && others.task[4].coefficient_bytes > 0 && others.task[5].coefficient_bytes > 0,
          "%llu, %llu, %llu bytes", (unsigned long long)others.task[3].coefficient_bytes,
          (unsigned long long)others.task[4].coefficient_bytes, (unsigned long long)others.task[5].coefficient_bytes);
    for (unsigned i = 0; i < 8; i++) {
        task[i] = example_conv(1024, 1, 64, 1); /* 128 KiB an engine: nothing stays */
        task[i].source = task[i].result = example_place(ANE_PLACE_L2);
    }
    CU_ASSERT_EQUAL(example_run_tasks(&params, NULL, task, 8).task[7].coefficient_bytes, 1024 * 1024 * 2);
}

/* The coefficients of the second task find no room before the first one has nearly ended, but its tile does. */
static void test_tiles_do_not_wait_for_coefficients(void)
{
    const struct ane_params params = example_params();
    struct ane_task task[2] = {example_conv(512, 32, 32, 3), example_conv(512, 32, 32, 3)};
    for (unsigned i = 0; i < 2; i++) {
        task[i].result = example_place(ANE_PLACE_L2);
        for (unsigned k = 0; k < ANE_BANKS; k++)
            task[i].bank[k].base += i << 24;
    }
    const double tile = 512.0 * 32 * 64 / 64, work = 512.0 * 512 * 9 * 1024 / 4096, first = 32768.0 * 16 / 64;
    const double ns = example_run_tasks(&params, NULL, task, 2).ns;
    CHECK(near(ns, tile + first + 2 * (work + 44), 0.01), "%g ns; %g, and %g with another tile", ns,
          tile + first + 2 * (work + 44), 2 * tile + first + 2 * (work + 44));
}

static void test_results_are_handed_over(void)
{
    struct ane_params params = example_params();
    struct ane_task task[3] = {example_element(16, 16, 64), example_element(16, 16, 64), example_element(16, 16, 64)};
    for (unsigned i = 0; i < 3; i++) {
        task[i].source = task[i].result = example_place(ANE_PLACE_L2);
        task[i].result.plane = 2048;
        task[i].source.base = 65536 * i;
        task[i].result.base = 65536 * (i + 1);
    }
    const double without = example_run_tasks(&params, NULL, task, 3).ns;
    params.handover_cycles = 300;
    const struct example_result r = example_run_tasks(&params, NULL, task, 3);
    CU_ASSERT_EQUAL(r.ns, without + 2 * 300);
    CU_ASSERT_EQUAL(r.by[ANE_STALL_TASK], 3 * 44 + 2 * 300);
    task[2].source.base = 4 * 65536; /* reads something else */
    CU_ASSERT_EQUAL(example_run_tasks(&params, NULL, task, 3).ns, without + 300);
    task[1].source = task[0].result = example_place(ANE_PLACE_CHAIN); /* rows are passed on */
    CHECK(example_run_tasks(&params, NULL, task, 3).ns <= without, "%g", example_run_tasks(&params, NULL, task, 3).ns);
}

static const struct suite_test tests[] = {
    {"second sources beyond the engines come for each tile", test_second_sources_come_for_each_tile},
    {"coefficients that are there are not loaded again", test_coefficients_that_are_there_stay},
    {"tiles do not wait for the room of coefficients", test_tiles_do_not_wait_for_coefficients},
    {"results in tile memory are handed over", test_results_are_handed_over},
};
SUITE_MAIN("ane timing steps", tests)
