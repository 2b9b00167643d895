/* One memory of a core for registers, threadgroup memory and L1, as Apple9 has it. Latencies: Chips and Cheese (M1). */
#include "isa/array_count.h"
#include "tests/units/gpu_timing_example.h"

#include <math.h>

/* Apple9: threadgroups leave the L1 what they do not need of one memory. 512 lines of a chase take 64 KiB. */
static void test_shared_pool(void)
{
    static const struct {
        double pool, ns;
    } rows[] = {{0, 76.3}, {32 * 1024, 76.3}, {128 * 1024, 43}};
    const char *text = "device_load 0, i32, x, r4, u0_u1, r4, unsigned\nwait 0\niadd r4, r4, 0\nstop";
    struct gpu_params params = example_gpu(1);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        double cycles[2];
        params.pool_bytes = rows[i].pool;
        for (unsigned k = 0; k < 2; k++) {
            const struct example_launch launch = {
                .text = text, .cores = 1, .simds = 1, .groups = 1, .loops = 1024 + 2000 * k, .footprint = 512};
            cycles[k] = example_run_with(&params, &launch).cycles;
        }
        const double ns = (cycles[1] - cycles[0]) / 2000 / 1.278;
        CHECK(fabs(ns - rows[i].ns) <= 0.06 * rows[i].ns, "a pool of %.0f bytes: %.1f ns instead of %.1f", rows[i].pool, ns,
              rows[i].ns);
    }
}

static void test_what_is_left(void)
{
    struct gpu_params params = example_gpu(1);
    params.pool_bytes = 282624;
    const struct gpu_timing_launch launch = {.simdgroups_per_group = 4, .register_halves = 64, .threadgroup_memory_bytes = 1024};
    CU_ASSERT_DOUBLE_EQUAL(gpu_timing_pool_left(&params, &launch, 10), 282624 - 10 * (4 * 32 * 64 * 2 + 1024), 0);
}

static const struct suite_test tests[] = {
    {"a chase through what is left", test_shared_pool},
    {"what is left", test_what_is_left},
};
SUITE_MAIN("gpu_pool", tests)
