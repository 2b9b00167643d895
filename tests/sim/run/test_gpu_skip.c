/* Launches of which threadgroups are skipped, against the same launches of which every threadgroup is timed. */
#include "isa/array_count.h"
#include "tests/sim/run_example.h"

#include <math.h>

#define EACH_BOUND 0.025
#define MEAN_BOUND 0.012
static struct chip_db *db;

/* M1 has an SLC of 8 MiB. */
static const struct {
    const char *workload;
    bool cold;
} library[] = {
    {"elementwise:8388608,op=gelu", true},               /* the SLC fills on the way */
    {"elementwise:8388608,op=gelu", false},              /* and is full */
    {"layernorm:32768x512", false},                      /* stores behind loads: what is dirty in the SLC decides on writes */
    {"resize:n=2,c=32,h=256,w=256,oh=512,ow=512", true}, /* neighbours share lines, which are left in the SLC */
    {"transpose:4864x4864", false},                      /* lines written in parts */
};

static void test_library(void)
{
    double sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(library); i++) {
        const char *workload = library[i].workload;
        struct whole_and_sample both =
            run_gpu_both(db, "m1", workload, (struct run_request){.mode = RUN_TIMING, .cold = library[i].cold});
        CHECK(fabs(both.off) < EACH_BOUND, "%s: %+.2f %%", workload, 100 * both.off);
        static const char *const exact[] = {"gpu.simdgroup_instructions", "gpu.active_lane_instructions", "gpu.device_store"};
        for (size_t k = 0; k < ARRAY_COUNT(exact); k++)
            CHECK(fabs(counter(&both.sample, exact[k]) / counter(&both.whole, exact[k]) - 1) < 5e-3, "%s %s", workload, exact[k]);
        const char *const bytes = "activity.dram_read_bytes";
        CHECK(fabs(counter(&both.sample, bytes) / counter(&both.whole, bytes) - 1) < 2 * EACH_BOUND, "%s %s", workload, bytes);
        sum += fabs(both.off);
        free_both(&both);
    }
    CHECK(sum / ARRAY_COUNT(library) < MEAN_BOUND, "mean %.2f %%", 100 * sum / ARRAY_COUNT(library));
}

/* Where values steer, what a sample finds in the SLC is a matter of chance: several samples, by other values, are right in the
 * mean. */
static void test_chance(void)
{
    enum { SEEDS = 4 };
    double sum = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        const struct run_request request = {.mode = RUN_TIMING, .cold = true, .seed = seed};
        struct whole_and_sample both = run_gpu_both(db, "m1", "gather:3000x512x100000", request);
        CHECK(fabs(both.off) < EACH_BOUND, "seed %u: %+.2f %%", seed, 100 * both.off);
        sum += both.off;
        free_both(&both);
    }
    CHECK(fabs(sum / SEEDS) < MEAN_BOUND, "mean %+.2f %%", 100 * sum / SEEDS);
}

/* Twice the threadgroups at a steady pace take twice the time, however few of them are timed. */
static void test_growth(void)
{
    static const char *const workload[] = {"elementwise:16777216,op=gelu", "elementwise:33554432,op=gelu",
                                           "elementwise:67108864,op=gelu"};
    double seconds[3];
    for (size_t i = 0; i < ARRAY_COUNT(workload); i++) {
        const struct run_request request = {.mode = RUN_TIMING, .detail = "sampled"};
        struct outcome o = run_gpu(db, "m1", NULL, workload[i], request);
        seconds[i] = o.result.device_seconds;
        run_result_free(&o.result);
    }
    for (size_t i = 1; i < ARRAY_COUNT(workload); i++)
        CHECK(fabs(seconds[i] / seconds[i - 1] - 2) < 2 * EACH_BOUND, "%s: %g s, half of it %g s", workload[i], seconds[i],
              seconds[i - 1]);
}

static void test_full(void)
{
    check_full_results(db, "m1", "elementwise:8388608,op=gelu");
}

static const struct suite_test tests[] = {
    {"launches with skipped threadgroups have the time of the whole", test_library},
    {"samples of launches that values steer are right in the mean", test_chance},
    {"the time grows with the launch", test_growth},
    {"results do not depend on what is skipped", test_full},
};

int main(void)
{
    return example_chips_run("gpu_skip", tests, ARRAY_COUNT(tests), &db);
}
