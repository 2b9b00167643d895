/* Launches of which threadgroups are skipped, against the same launches of which every threadgroup is timed. */
#include "isa/array_count.h"
#include "sim/base/splitmix64.h"
#include "sim/workload/gpu/gpu_places.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <string.h>

#define EACH_BOUND 0.025
#define MEAN_BOUND 0.012
#define LEFT_BOUND 0.005
static struct chip_db *db;

/* M1 has an SLC of 8 MiB. */
static const struct {
    const char *workload;
    bool cold;
    const char *kernels, *precision; /* NULL = the library's own, f32 */
} library[] = {
    {"elementwise:8388608,op=gelu", true, NULL, NULL},  /* the SLC fills on the way */
    {"elementwise:8388608,op=gelu", false, NULL, NULL}, /* and is full */
    {"layernorm:32768x512", false, NULL, NULL},         /* stores behind loads: what is dirty in the SLC decides on writes */
    {"resize:n=2,c=32,h=256,w=256,oh=512,ow=512", true, NULL, NULL}, /* neighbours share lines, which are left in the SLC */
    {"transpose:4864x4864", false, NULL, NULL},                      /* lines written in parts */
    {"gemv:24576x2048", true, "ggml", "f16"}, /* long threadgroups that only read: few waves tell the pace */
    {"conv2d:n=1,c=12,h=64,w=64,k=8,r=3,s=3", true, "mlx@0.7.0", NULL}, /* every other threadgroup has a third of the threads */
    {"rmsnorm:256x4096", false, "ggml@2024-01", NULL}, /* as large as the SLC; threadgroups of one thread take longer to begin */
};

static void test_library(void)
{
    double sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(library); i++) {
        const char *workload = library[i].workload;
        const struct run_request request = {
            .mode = RUN_TIMING, .cold = library[i].cold, .kernels = library[i].kernels, .precision = library[i].precision};
        struct whole_and_sample both = run_gpu_both(db, "m1", workload, request);
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

/* A launch that reads each line once finds none of them in the SLC, though the same launch, the warm-up, left the last ones
 * there: what is skipped displaces them. */
static void test_left_behind(void)
{
    const char *const workload = "reduce:16384x1024,op=sum", *const bytes = "activity.dram_read_bytes";
    struct whole_and_sample both = run_gpu_both(db, "m1", workload, (struct run_request){.mode = RUN_TIMING});
    CHECK(both.sample.result.detail && strcmp(both.sample.result.detail, "sampled") == 0, "%s", workload);
    CHECK(fabs(counter(&both.sample, bytes) / counter(&both.whole, bytes) - 1) < LEFT_BOUND, "%s: %.0f bytes, not %.0f", workload,
          counter(&both.sample, bytes), counter(&both.whole, bytes));
    CHECK(fabs(both.off) < LEFT_BOUND, "%s: %+.2f %%", workload, 100 * both.off);
    free_both(&both);
}

/* ---- how far skips may go ---- */

enum { WAVES = 4 };

/* Normally distributed, of so much standard deviation: the sum of twelve. */
static double noise(uint64_t *state, double deviation)
{
    double sum = -6;
    for (unsigned i = 0; i < 12; i++)
        sum += (double)splitmix64_next(state) * 0x1p-64;
    return deviation * sum;
}

/* Times a place of some waves that scatter by so much; `lasting` is what they have in common. */
static double time_place(struct gpu_places *places, struct gpu_places *waves, double deviation, double lasting, uint64_t *state)
{
    const double common = noise(state, lasting);
    double mean = 0;
    for (unsigned i = 0; i < WAVES; i++) {
        const double wave = 1 + common + noise(state, deviation);
        gpu_places_add(waves, wave);
        mean += wave / WAVES;
    }
    gpu_places_add(places, mean);
    return mean;
}

/* What a launch of some hundred places is off by of which places stand for as much as they may each: half of what is skipped
 * before them, and half of what is skipped behind them, which is three times what the launch has come at most. */
static double off_of_launch(double deviation, double lasting, unsigned *timed, uint64_t *state)
{
    struct gpu_places places = {.changes = 0}, waves = {.changes = 0};
    const double place = 1.0 / 200;
    double sum = 0, skipped = 0;
    for (double at = 0; at < 1; at += skipped) {
        const double pace = time_place(&places, &waves, deviation, lasting, state);
        const double before = skipped, share = gpu_places_share_of_parts(&places, &waves, WAVES);
        at += place;
        skipped = fmax(0, fmin(1 - at, fmin(3 * at, share)));
        sum += (pace - 1) * (place + (before + skipped) / 2);
        ++*timed;
    }
    return sum;
}

/* Over many launches the standard error is the one percent that is wanted, and what does not scatter needs few places. */
static void test_share(void)
{
    static const struct {
        double deviation, lasting;
        double most_timed; /* places */
    } cases[] = {{0.001, 0, 6}, {0.01, 0, 12}, {0.04, 0, 60}, {0.002, 0.01, 30}, {0.01, 0.03, 100}};
    enum { LAUNCHES = 400 };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        uint64_t state = i;
        unsigned timed = 0;
        double squares = 0;
        for (unsigned k = 0; k < LAUNCHES; k++)
            squares += pow(off_of_launch(cases[i].deviation, cases[i].lasting, &timed, &state), 2) / LAUNCHES;
        CHECK(sqrt(squares) < 0.0125, "waves by %g, places by %g: %.2f %% off", cases[i].deviation, cases[i].lasting,
              100 * sqrt(squares));
        CHECK(timed < cases[i].most_timed * LAUNCHES, "waves by %g, places by %g: %g places", cases[i].deviation,
              cases[i].lasting, (double)timed / LAUNCHES);
    }
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
    {"what an earlier run left in the SLC is displaced by what is skipped", test_left_behind},
    {"skips go as far as the mean of all paces is sure", test_share},
};

int main(void)
{
    return example_chips_run("gpu_skip", tests, ARRAY_COUNT(tests), &db);
}
