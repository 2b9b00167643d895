/* What threadgroups execute, by their number or by their place in the grid. */
#include "isa/array_count.h"
#include "sim/workload/gpu/gpu_job.h"
#include "sim/workload/gpu/gpu_work.h"
#include "tests/sim/run_example.h"

#include <math.h>

static struct chip_db *db;

/* The sum of single threadgroups, at every end. */
static void check_sums(const struct gpu_work *work, uint64_t groups)
{
    double sum = 0;
    for (uint64_t i = 0; i <= groups; i++) {
        const double before = gpu_work_before(work, i);
        CHECK(fabs(before - sum) <= 1e-9 * (1 + sum), "before threadgroup %u: %g, not %g", (unsigned)i, before, sum);
        sum += gpu_work_of(work, i);
    }
}

static void test_number(void)
{
    const struct gpu_work work = {.number = {3, {4, 10, 90}, {7, 80, 120}}};
    check_sums(&work, 100);
    CU_ASSERT_DOUBLE_EQUAL(gpu_work_of(&work, 7), 43.5, 1e-9);
}

/* 5 x 4 x 3 threadgroups: more to do along the first axis, a detour at the end of the second one, less in the last layers. */
static void test_axes(void)
{
    struct gpu_work work = {.number = {1, {0}, {1}},
                            .axes = 3,
                            .extent = {5, 4, 3},
                            .axis = {{2, {0, 4}, {10, 50}}, {3, {0, 2, 3}, {0, 0, 7}}, {3, {0, 1, 2}, {0, -1, -3}}}};
    check_sums(&work, 60);
    CU_ASSERT_DOUBLE_EQUAL(gpu_work_of(&work, 2 + 5 * 3 + 20 * 1), 30 + 7 - 1, 1e-9);
    const double all = gpu_work_before(&work, 60);
    gpu_work_scale(&work, 2.5);
    CU_ASSERT_DOUBLE_EQUAL(gpu_work_before(&work, 60), 2.5 * all, 1e-9 * all);
}

/* A mask leaves less to do for the first rows of each head. The launch is timed from windows; executing it counts what there is.
 */
static void test_mask(void)
{
    static const char *const workload = "attention:b=4,h=8,s=1536,d=64,causal=1", *const count = "gpu.simdgroup_instructions";
    struct outcome executed = run_gpu(db, "m1", NULL, workload, (struct run_request){.mode = RUN_FUNCTIONAL});
    struct outcome timed = run_gpu(db, "m1", NULL, workload, (struct run_request){.mode = RUN_TIMING, .detail = "sampled"});
    CHECK(counter(&timed, count) == counter(&executed, count), "%g instructions, %g in the launch", counter(&timed, count),
          counter(&executed, count));
    run_result_free(&executed.result);
    run_result_free(&timed.result);
}

/* Threadgroups at the edges of a grid have fewer simdgroups: counted one by one. */
static void test_edges(void)
{
    static const struct gpu_launch launch[] = {
        {.grid_threads = {108, 9, 5}, .group_threads = {64, 4, 2}},
        {.grid_threads = {256, 1, 1}, .group_threads = {64, 1, 1}},
        {.grid_threads = {10, 3, 7}, .group_threads = {64, 8, 4}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(launch); i++) {
        const uint32_t *grid = launch[i].grid_threads, *size = launch[i].group_threads;
        double sum = 0, groups = 0;
        for (uint32_t z = 0; z < grid[2]; z += size[2])
            for (uint32_t y = 0; y < grid[1]; y += size[1])
                for (uint32_t x = 0; x < grid[0]; x += size[0]) {
                    const uint32_t left[3] = {grid[0] - x, grid[1] - y, grid[2] - z};
                    uint32_t threads = 1;
                    for (unsigned a = 0; a < 3; a++)
                        threads *= left[a] < size[a] ? left[a] : size[a];
                    sum += (threads + 31) / 32;
                    groups++;
                }
        CU_ASSERT_DOUBLE_EQUAL(gpu_job_mean_simdgroups(&launch[i]), sum / groups, 1e-12 * sum);
    }
}

static const struct suite_test tests[] = {
    {"threadgroups at edges have fewer simdgroups", test_edges},
    {"work by number is the sum of threadgroups", test_number},
    {"work by place is the sum of what axes add", test_axes},
    {"windows know what a mask leaves to do", test_mask},
};

int main(void)
{
    return example_chips_run("gpu_work", tests, ARRAY_COUNT(tests), &db);
}
