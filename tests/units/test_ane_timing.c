/* Neural Engine timing against closed forms. Cycles are nanoseconds (example_params). */
#include "isa/array_count.h"
#include "tests/support/suite.h"
#include "tests/units/ane_timing_example.h"

#include <stdio.h>
#include <string.h>

#define LANES (16.0 * 256)

static bool near(double value, double expected, double share)
{
    return fabs(value - expected) <= share * expected;
}

static struct example_result run_one(const struct ane_task *task)
{
    const struct ane_params params = example_params();
    return example_run_tasks(&params, NULL, task, 1);
}

static void test_big_convolution_fills_all_lanes(void)
{
    struct ane_task conv = example_conv(256, 128, 128, 3);
    conv.tile_height = 8;
    const struct example_result r = run_one(&conv);
    const double macs = 256.0 * 256 * 9 * 128 * 128;
    CHECK(near(r.ns, macs / LANES, 0.02), "%g ns, %g with all lanes busy", r.ns, macs / LANES);
    CU_ASSERT_EQUAL(r.task[0].macs, (uint64_t)macs);
    CHECK(r.task[0].mac_utilisation > 0.98 && r.task[0].mac_utilisation <= 1, "%g", r.task[0].mac_utilisation);
    CU_ASSERT_EQUAL(r.task[0].engines_used, 16);
}

static void test_coefficients_bound_a_product_with_one_line(void)
{
    struct ane_task gemv = example_conv(4096, 1, 1, 1);
    gemv.small_source = true;
    const struct example_result r = run_one(&gemv);
    const double bytes = 4096.0 * 4096 * 2, ends = 2 * 4096 * 64; /* the vectors, 64 bytes a row */
    CHECK(near(r.ns, (bytes + ends) / 64, 0.001), "%g ns for %g bytes at 64 GB/s", r.ns, bytes + ends);
    CU_ASSERT_EQUAL(r.task[0].coefficient_bytes, (uint64_t)bytes);
    CU_ASSERT_EQUAL(r.task[0].coefficient_passes, 1);
    CHECK(r.by[ANE_STALL_COEFFICIENTS] > 0.9 * r.ns - r.by[ANE_STALL_MAC] - r.by[ANE_STALL_UTILISATION], "%g",
          r.by[ANE_STALL_COEFFICIENTS]);
}

static void test_coefficients_beyond_their_memory_stream_once_per_tile(void)
{
    /* 512 x 512: 32 KiB an engine, stays; 1024 x 1024: 128 KiB, comes again for each of 64 / 4 tiles. */
    struct ane_task small = example_conv(512, 64, 64, 1), large = example_conv(1024, 64, 64, 1);
    small.tile_height = large.tile_height = 4;
    CU_ASSERT_EQUAL(run_one(&small).task[0].coefficient_passes, 1);
    const struct example_result r = run_one(&large);
    CU_ASSERT_EQUAL(r.task[0].coefficient_passes, 16);
    CU_ASSERT_EQUAL(r.task[0].coefficient_bytes, 16u * 1024 * 1024 * 2);
    large.tile_height = 64;
    CU_ASSERT_EQUAL(run_one(&large).task[0].coefficient_passes, 1);
    large.tile_height = 60; /* a rest is a tile too */
    CU_ASSERT_EQUAL(run_one(&large).task[0].coefficient_passes, 2);
}

/* Work alone: operands in tile memory, no coefficients to wait for. */
static double work_of(struct ane_task task)
{
    const struct ane_params params = example_params();
    task.source = task.result = example_place(ANE_PLACE_L2);
    memset(task.bank, 0, sizeof task.bank);
    return example_run_tasks(&params, NULL, &task, 1).ns - params.task_cycles;
}

static void test_small_sources_share_the_lanes_among_channels(void)
{
    static const struct {
        uint32_t width, channels;
        bool small;
        double cycles; /* per input channel */
    } rows[] = {
        {256, 64, false, 4},                     /* 256 pixels, 64 / 16 channels an engine */
        {64, 64, false, 4},                      /* a quarter of the lanes */
        {64, 64, true, 1},                       /* 64 pixels of 4 channels */
        {32, 128, true, 1},                      /* 32 pixels of 8 */
        {33, 128, true, 2},                      /* as 64 pixels of 4 */
        {1, 64, true, 1},    {512, 16, true, 2}, /* plain work units are best: one channel an engine */
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct ane_task conv = example_conv(rows[i].channels, 1, rows[i].width, 1);
        conv.small_source = rows[i].small;
        const double cycles = work_of(conv);
        CHECK(cycles == rows[i].cycles * rows[i].channels, "%u pixels, %u channels, small %d: %g cycles", rows[i].width,
              rows[i].channels, rows[i].small, cycles);
    }
}

static void test_fewer_engines_take_longer(void)
{
    struct ane_task conv = example_conv(64, 16, 16, 1);
    const double all = work_of(conv);
    conv.engines = 4;
    CU_ASSERT_EQUAL(work_of(conv), 4 * all);
    conv.engines = 64; /* there are 16 */
    CU_ASSERT_EQUAL(work_of(conv), all);
}

static void test_groups_do_the_work_of_their_channels(void)
{
    struct ane_task conv = example_conv(256, 16, 16, 3);
    const double dense = work_of(conv);
    conv.groups = 4; /* each 64 of 64 channels */
    CU_ASSERT_EQUAL(work_of(conv), dense / 4);
    conv.groups = 256;
    conv.depthwise = true;
    conv.kernel_width = conv.kernel_height = 5; /* 25 taps of 256 / 16 channels an engine */
    CU_ASSERT_EQUAL(work_of(conv), 25 * 16);
    conv.kernel_width = conv.kernel_height = 1;
    /* One tap: tile memory gives 1024 bytes a cycle, two bytes in and two out per element. */
    CU_ASSERT_EQUAL(work_of(conv), 256 * 256 * 4 / 1024);
}

/* tinygrad extra/accel/ane compiler_perf_all.csv: mac_cycles_per_WU 4, post_cycles_per_WU 1, single buffering 5, double 4. */
static void test_three_channels_take_what_the_compiler_says(void)
{
    struct ane_task conv = example_conv(3, 1, 1, 1);
    conv.small_source = true;
    conv.engines = 4;
    CU_ASSERT_EQUAL(work_of(conv), 4);
    conv.double_buffer = false;
    CU_ASSERT_EQUAL(work_of(conv), 5);
}

static void test_transposed_convolutions_skip_the_zeros(void)
{
    struct ane_task conv = example_conv(64, 32, 32, 4);
    const double plain = work_of(conv);
    conv.step_x = conv.step_y = 2;
    CU_ASSERT_EQUAL(work_of(conv), plain / 4);
}

static void test_int8_doubles_where_the_engine_can(void)
{
    struct ane_params params = example_params();
    struct ane_task conv = example_conv(256, 64, 64, 3);
    conv.source.format = ANE_I8;
    conv.kernel_format = ANE_KERNEL_I8;
    const double once = example_run_tasks(&params, NULL, &conv, 1).ns;
    params.int8_rate = 2;
    const double twice = example_run_tasks(&params, NULL, &conv, 1).ns;
    CHECK(near(once, 2 * twice, 0.05), "%g and %g", once, twice);
    conv.source.format = ANE_F16; /* 8-bit weights alone: traffic, not arithmetic */
    CHECK(near(example_run_tasks(&params, NULL, &conv, 1).ns, once, 0.05), "%g", once);
}

static void test_copies_use_both_directions(void)
{
    /* 4 x 512 x 1024 fp16: 4 MiB each way; together 1.5 times one direction's 64 GB/s. */
    struct ane_task copy = example_element(4, 512, 1024);
    copy.tile_height = 16;
    const double bytes = 4.0 * 512 * 1024 * 2, ns = run_one(&copy).ns;
    CHECK(near(ns, 2 * bytes / 96, 0.03), "%g ns, %g expected", ns, 2 * bytes / 96);
    copy.result = example_place(ANE_PLACE_L2);
    CHECK(near(run_one(&copy).ns, bytes / 64, 0.01), "one way: %g", run_one(&copy).ns);
}

static void test_rows_move_in_units_of_64_bytes(void)
{
    const struct ane_task task = example_element(8, 16, 8); /* rows of 16 bytes */
    const struct example_result r = run_one(&task);
    CU_ASSERT_EQUAL(r.task[0].source_bytes, 8 * 16 * 64);
    CU_ASSERT_EQUAL(r.task[0].result_bytes, 8 * 16 * 64);
}

static void test_results_in_tile_memory_do_not_travel(void)
{
    struct ane_task task[2] = {example_element(16, 64, 64), example_planar(16, 64, 64)};
    task[0].result = task[1].source = example_place(ANE_PLACE_L2);
    const struct ane_params params = example_params();
    const struct example_result kept = example_run_tasks(&params, NULL, task, 2);
    CU_ASSERT_EQUAL(kept.task[0].result_bytes + kept.task[1].source_bytes, 0);
    task[0].result = task[1].source = example_memory(3);
    const struct example_result moved = example_run_tasks(&params, NULL, task, 2);
    CU_ASSERT_EQUAL(moved.task[0].result_bytes, 16 * 64 * 64 * 2);
    CHECK(moved.ns > kept.ns + 1000, "%g and %g", moved.ns, kept.ns);
}

static void test_tasks_on_a_ring_work_side_by_side(void)
{
    const struct ane_params params = example_params();
    struct ane_task task[2] = {example_element(1, 1024, 1024), example_planar(1, 1024, 1024)};
    task[0].engines = 1;
    task[0].source = task[1].result = task[0].result = task[1].source = example_place(ANE_PLACE_L2);
    const double apart = example_run_tasks(&params, NULL, task, 2).ns;
    task[0].result = task[1].source = example_place(ANE_PLACE_CHAIN);
    const double together = example_run_tasks(&params, NULL, task, 2).ns;
    const double planar = 1024.0 * 1024 / 16, mac = 1024.0 * 1024 / 256;
    CU_ASSERT_EQUAL(together, planar + 44);
    CU_ASSERT_EQUAL(apart, planar + mac + 2 * 44);
}

static void test_planar_engine_counts_elements(void)
{
    struct ane_task sum = example_planar(1, 1, 1024);
    sum.pe_reduce = ANE_REDUCE_SUM;
    sum.groups = 128;
    sum.tile_height = 1;
    sum.source = sum.result = example_place(ANE_PLACE_L2);
    CU_ASSERT_EQUAL(run_one(&sum).ns, 44 + 128 * 1024 / 16);
    struct ane_task pool = example_planar(16, 32, 32);
    pool.pe_reduce = ANE_POOL_MAX;
    pool.kernel_width = pool.kernel_height = 3;
    pool.source = pool.result = example_place(ANE_PLACE_L2);
    CU_ASSERT_EQUAL(run_one(&pool).ns, 44 + 16 * 32 * 32 * 9 / 16);
}

static void test_products_of_two_tensors_read_the_second(void)
{
    struct ane_task product = example_task(64, 1, 256);
    product.ne_op = ANE_NE_MATMUL;
    product.second = example_memory(6);
    const struct example_result r = run_one(&product);
    CU_ASSERT_EQUAL(r.task[0].macs, 64 * 64 * 256);
    CU_ASSERT_EQUAL(r.task[0].source_bytes, 64 * 512 + 64 * 128); /* 64 rows of 64 factors */
}

static void test_next_coefficients_come_early_when_there_is_room(void)
{
    /* 256 x 256 x 3 x 3: 73 KB an engine against 64: half of it can wait beside the former one's last half. */
    const struct ane_params params = example_params();
    struct ane_task task[8];
    for (unsigned i = 0; i < 8; i++) {
        task[i] = example_conv(256, 32, 32, 3);
        task[i].source = task[i].result = example_place(ANE_PLACE_L2);
    }
    const double work = 256.0 * 256 * 9 * 1024 / LANES, first = 32768.0 * 16 / 64;
    CHECK(near(example_run_tasks(&params, NULL, task, 8).ns, 8 * (work + 44) + first, 0.002), "%g",
          example_run_tasks(&params, NULL, task, 8).ns);
}

static void test_idle_engines_wake_up(void)
{
    struct ane_params params = example_params();
    params.wake_us = 500;
    params.wake_after_us = 1000;
    params.deep_wake_us = 250000;
    params.deep_wake_after_us = 3000000;
    params.request_us = 100;
    const struct ane_task task = example_element(1, 1, 16);
    struct ane_timing *timing = ane_timing_create(&params, NULL);
    double by[ANE_STALL_COUNT];
    const double first = ane_timing_tasks(timing, &task, 1, 0, 5e9, NULL, by) - 5e9;
    CHECK(by[ANE_STALL_WAKE] == 0 && first >= 100e3, "the first request finds it awake: %g", first);
    double now = 5e9 + first;
    CHECK(near(ane_timing_tasks(timing, &task, 1, 0, now, NULL, by) - now, first, 1e-9) && by[ANE_STALL_WAKE] == 0,
          "back to back");
    now += first + 250e3;
    CHECK(near(ane_timing_tasks(timing, &task, 1, 0, now, NULL, by) - now, first + 125e3, 1e-9), "a quarter of the idle time");
    now += first + 125e3 + 1001e3;
    CHECK(near(ane_timing_tasks(timing, &task, 1, 0, now, NULL, by) - now, first + 500e3, 1e-9), "wake");
    CU_ASSERT_EQUAL(by[ANE_STALL_WAKE], 500e3);
    now += first + 500e3 + 3.1e9;
    CHECK(near(ane_timing_tasks(timing, &task, 1, 0, now, NULL, by) - now, first + 250e6, 1e-9), "deep wake");
    ane_timing_free(timing);
}

static void test_two_engines_overlap_and_one_does_not(void)
{
    struct ane_params params = example_params();
    params.request_us = 10;
    struct ane_task conv = example_conv(256, 64, 64, 3);
    conv.tile_height = 8;
    struct ane_timing *timing = ane_timing_create(&params, NULL);
    const double a = ane_timing_tasks(timing, &conv, 1, 0, 0, NULL, NULL);
    const double b = ane_timing_tasks(timing, &conv, 1, 1, 0, NULL, NULL);
    CU_ASSERT_EQUAL(a, b);
    CHECK(near(ane_timing_tasks(timing, &conv, 1, 0, 0, NULL, NULL), 2 * a, 1e-9), "one after the other");
    CU_ASSERT(isnan(ane_timing_tasks(timing, &conv, 1, 2, 0, NULL, NULL)));
    ane_timing_restart(timing);
    CU_ASSERT_EQUAL(ane_timing_tasks(timing, &conv, 1, 0, 0, NULL, NULL), a);
    ane_timing_free(timing);
}

static struct ane_task random_task(uint64_t *seed)
{
    const uint32_t channels = 1 + (uint32_t)(suite_random(seed) % 300), height = 1 + (uint32_t)(suite_random(seed) % 40);
    const uint32_t width = 1 + (uint32_t)(suite_random(seed) % 80), kind = (uint32_t)(suite_random(seed) % 4);
    struct ane_task task = kind == 0   ? example_conv(channels, height, width, 1 + (uint32_t)(suite_random(seed) % 5))
                           : kind == 1 ? example_element(channels, height, width)
                           : kind == 2 ? example_planar(channels, height, width)
                                       : example_conv(channels, height, width, 1);
    task.tile_height = 1 + (uint32_t)(suite_random(seed) % height);
    task.small_source = suite_random(seed) % 2;
    task.double_buffer = suite_random(seed) % 2;
    static const enum ane_place places[] = {ANE_PLACE_DRAM, ANE_PLACE_L2, ANE_PLACE_CHAIN};
    task.source.place = places[suite_random(seed) % 3];
    task.result.place = places[suite_random(seed) % 3];
    task.source.bar = (uint8_t)(3 + suite_random(seed) % 3);
    task.result.bar = (uint8_t)(3 + suite_random(seed) % 3);
    return task;
}

static void test_reasons_add_up(void)
{
    struct ane_params params = example_params();
    params.request_us = 3;
    uint64_t seed = 7;
    for (unsigned round = 0; round < 2000; round++) {
        struct ane_task task[8];
        const size_t count = 1 + suite_random(&seed) % 8;
        for (size_t i = 0; i < count; i++)
            task[i] = random_task(&seed);
        const struct example_result r = example_run_tasks(&params, NULL, task, count);
        double sum = 0, tasks = 0;
        for (int k = 0; k < ANE_STALL_COUNT; k++) {
            CHECK(r.by[k] >= -1e-9 * r.ns, "round %u: %s %g", round, ane_stall_name((enum ane_stall)k), r.by[k]);
            sum += r.by[k];
        }
        CHECK(near(sum, r.ns, 1e-9), "round %u: %g of %g", round, sum, r.ns);
        for (size_t i = 0; i < count; i++)
            tasks += r.task[i].cycles;
        CHECK(near(tasks, r.ns - 3000, 1e-9), "round %u: tasks %g of %g", round, tasks, r.ns - 3000);
        const double lanes = r.by[ANE_STALL_MAC];
        double macs = 0;
        for (size_t i = 0; i < count; i++)
            macs += (double)r.task[i].macs;
        CHECK(lanes <= macs / LANES * (1 + 1e-9), "round %u", round);
    }
}

static void test_activity_counts(void)
{
    const struct ane_params params = example_params();
    struct ane_timing *timing = ane_timing_create(&params, NULL);
    struct ane_task task[2] = {example_conv(64, 32, 32, 3), example_planar(64, 32, 32)};
    task[0].nonlinear = ANE_TABLE;
    task[0].result = task[1].source = example_place(ANE_PLACE_CHAIN);
    ane_timing_tasks(timing, task, 2, 0, 0, NULL, NULL);
    struct activity a = {0};
    ane_timing_take_activity(timing, &a);
    const uint64_t pixels = 32 * 32, elements = 64 * pixels;
    CU_ASSERT_EQUAL(a.count[ACT_ANE_F16_MACS], 64 * 9 * elements);
    CU_ASSERT_EQUAL(a.count[ACT_ANE_INT8_MACS], 0);
    CU_ASSERT_EQUAL(a.count[ACT_ANE_TABLE_LOOKUPS], elements);
    CU_ASSERT_EQUAL(a.count[ACT_ANE_PLANAR_OPS], elements);
    CU_ASSERT_EQUAL(a.count[ACT_ANE_COEFFICIENT_BYTES], 64 * 64 * 9 * 2);
    CU_ASSERT_EQUAL(a.count[ACT_ANE_DMA_BYTES], 2 * 2 * elements + 64 * 64 * 9 * 2);
    CU_ASSERT_EQUAL(a.count[ACT_ANE_TASKS], 2);
    /* Tile memory: image in by DMA, out to the engines, ring in and out, result in, out by DMA. */
    CU_ASSERT_EQUAL(a.count[ACT_ANE_TILE_READ_BYTES], 3 * 2 * elements);
    CU_ASSERT_EQUAL(a.count[ACT_ANE_TILE_WRITE_BYTES], 3 * 2 * elements);
    memset(&a, 0, sizeof a);
    ane_timing_take_activity(timing, &a);
    CU_ASSERT_EQUAL(a.count[ACT_ANE_TASKS], 0);
    ane_timing_free(timing);
}

static void test_impossible_engines_are_refused(void)
{
    struct ane_params params = example_params();
    params.dma_GBps = 0;
    CU_ASSERT_PTR_NULL(ane_timing_create(&params, NULL));
    CU_ASSERT_PTR_NULL(ane_stall_name(ANE_STALL_COUNT));
    CU_ASSERT_STRING_EQUAL(ane_stall_name(ANE_STALL_TILE_DMA), "tile_dma");
}

static const struct suite_test tests[] = {
    {"a big convolution fills all lanes", test_big_convolution_fills_all_lanes},
    {"coefficients bound a product with one line", test_coefficients_bound_a_product_with_one_line},
    {"coefficients beyond their memory stream once per tile", test_coefficients_beyond_their_memory_stream_once_per_tile},
    {"small sources share the lanes among channels", test_small_sources_share_the_lanes_among_channels},
    {"fewer engines take longer", test_fewer_engines_take_longer},
    {"groups do the work of their channels", test_groups_do_the_work_of_their_channels},
    {"three channels take what the compiler says", test_three_channels_take_what_the_compiler_says},
    {"transposed convolutions skip the zeros", test_transposed_convolutions_skip_the_zeros},
    {"int8 doubles where the engine can", test_int8_doubles_where_the_engine_can},
    {"copies use both directions", test_copies_use_both_directions},
    {"rows move in units of 64 bytes", test_rows_move_in_units_of_64_bytes},
    {"results in tile memory do not travel", test_results_in_tile_memory_do_not_travel},
    {"tasks on a ring work side by side", test_tasks_on_a_ring_work_side_by_side},
    {"the planar engine counts elements", test_planar_engine_counts_elements},
    {"products of two tensors read the second", test_products_of_two_tensors_read_the_second},
    {"next coefficients come early when there is room", test_next_coefficients_come_early_when_there_is_room},
    {"idle engines wake up", test_idle_engines_wake_up},
    {"two engines overlap and one does not", test_two_engines_overlap_and_one_does_not},
    {"reasons add up", test_reasons_add_up},
    {"activity counts", test_activity_counts},
    {"impossible engines are refused", test_impossible_engines_are_refused},
};
SUITE_MAIN("ane timing", tests)
