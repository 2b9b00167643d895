/* The interval of an answer: how it grows with what is not known, and elasticities of parameters against what physics says. */
#include "sim/ask/study/uncertainty.h"
#include "sim/run/interval.h"
#include "tests/sim/chip_example.h"

#include <math.h>
#include <string.h>

static void test_interval(void)
{
    const struct residual r = {"gpu", "gemm", -0.3, 0.6, 0.1, 100, 5}, shifted = {"ane", "", 0.2, 0.9, 0.1, 100, 5},
                          doubted = {"gpu", "", -0.3, 0.6, 1.0, 100, 5};
    const struct interval usual = interval_of(&r, 0.1, 0.1);
    CHECK(fabs(log(usual.low) + 0.3) < 1e-12 && fabs(log(usual.high) - 0.6) < 1e-12,
          "parameters as uncertain as usual: the residual's spread");
    double last = 0;
    for (double sd = 0; sd < 1; sd += 0.05) {
        const struct interval i = interval_of(&r, sd, sd);
        CHECK(i.low < 1 && i.high > 1 && log(i.high / i.low) > last, "deviation %g: %g .. %g", sd, i.low, i.high);
        CHECK(i.parameters >= 0 && i.parameters <= 1, "%g", i.parameters);
        last = log(i.high / i.low);
    }
    const struct interval one_side = interval_of(&shifted, 0.1, 0.1);
    CHECK(one_side.low < 1 && one_side.high > 1, "the prediction is inside its interval");
    const struct interval known = interval_of(&doubted, 1, 1);
    CHECK(fabs(log(known.high) - 0.6) < 1e-12 && known.belief < 1, "measurements do not bear so much out: %g", known.high);
}

struct machine {
    struct chip_db *db;
    struct chip *chip;
    struct study_base base;
    struct study *study;
};

static void open_machine(struct machine *m, const char *workload, const char *unit)
{
    static const char *const sets[] = {"gpu.submit_us=0", "gpu.round_trip_us=0"}; /* without the overheads of a submission */
    struct orch_error error = {0};
    m->db = example_chips();
    m->base = (struct study_base){.chips = m->db,
                                  .sets = {sets, 2},
                                  .chip = "m1",
                                  .ambient_c = NAN,
                                  .request = {.workload = workload, .unit = unit, .mode = RUN_TIMING, .seed = 1}};
    m->chip = chip_open(m->db, "m1", &m->base.sets, &error);
    m->study = study_create(&m->base, NULL, &error);
    CU_ASSERT_FATAL(m->chip && m->study);
}

static void close_machine(struct machine *m)
{
    study_free(m->study);
    chip_close(m->chip);
    chip_db_close(m->db);
}

static double elasticity(struct machine *m, const char *key)
{
    const struct study_setting as_is = {NULL, NULL, 0};
    struct orch_error error = {0};
    double e = NAN;
    CHECK(uncertainty_elasticity(m->study, m->chip, &as_is, key, 0.05, &e, &error), "%s: %s", key, error.text);
    return e;
}

static void test_clock_bound(void)
{
    struct machine m;
    open_machine(&m, "gemm:128x128x128", "gpu");
    CHECK(fabs(elasticity(&m, "gpu_max_mhz") + 1) < 0.02, "a product in caches: %.3f", elasticity(&m, "gpu_max_mhz"));
    close_machine(&m);
    open_machine(&m, "gemm:128x128x128", "amx");
    const double core = elasticity(&m, "p_max_mhz"), block = elasticity(&m, "amx.clock_ghz");
    CHECK(core < -0.1 && block < -0.1 && fabs(core + block + 1) < 0.02, "%.3f of the core, %.3f of its block: together -1", core,
          block);
    close_machine(&m);
}

static void test_stream(void)
{
    struct machine m;
    open_machine(&m, "stream-triad:3M", "gpu");
    CHECK(fabs(elasticity(&m, "memory_peak_GBps") + 1) < 0.1, "bandwidth: %.3f", elasticity(&m, "memory_peak_GBps"));
    CHECK(fabs(elasticity(&m, "gpu_max_mhz")) < 0.1, "clock: %.3f", elasticity(&m, "gpu_max_mhz"));
    close_machine(&m);
}

static double share_of(const struct interval_shares *shares, const char *key)
{
    for (size_t i = 0; i < shares->count; i++)
        if (strcmp(shares->item[i].key, key) == 0)
            return shares->item[i].share;
    return NAN;
}

/* For the latency of DRAM, which one core waits for, the hypercube finds what moving it alone finds. The same seed gives the same
 * interval. */
static void test_hypercube(void)
{
    struct machine m;
    struct orch_error error = {0};
    open_machine(&m, "copy:8M", "cpu");
    const double alone = elasticity(&m, "dram.latency_ns");
    struct uncertainty u = {.chips = m.db, .sets = m.base.sets, .runs = 16, .seed = 3};
    const struct run_uncertainty hook = uncertainty_as_run(&u);
    struct run_request request = m.base.request;
    request.chip = m.chip;
    double low[2], high[2];
    for (int again = 0; again < 2; again++) {
        struct interval_shares shares = {.count = 0};
        interval_share_add(&shares, "dram.latency_ns", 0.2);
        interval_share_add(&shares, "mem.slc_latency_ns", 0.3);
        interval_share_add(&shares, "gpu.l2_latency_cycles", 0.4);
        CHECK(hook.sample(hook.context, &request, &shares, &low[again], &high[again], &error), "%s", error.text);
        CHECK(fabs(share_of(&shares, "dram.latency_ns") - alone) < 0.1, "%.3f together with others, %.3f alone",
              share_of(&shares, "dram.latency_ns"), alone);
        CHECK(share_of(&shares, "gpu.l2_latency_cycles") < 0.1, "%.3f of a latency", share_of(&shares, "gpu.l2_latency_cycles"));
    }
    CHECK(low[0] == low[1] && high[0] == high[1], "one seed, one answer");
    const double expected = 0.15 * alone; /* it is known to 15 % */
    CHECK(alone > 0.1 && fabs(low[0] / expected - 1) < 0.4 && fabs(high[0] / expected - 1) < 0.4,
          "%.3f down, %.3f up, about %.3f expected", low[0], high[0], expected);
    close_machine(&m);
}

/* The value lies inside its interval, the cheap estimate names a parameter of the DRAM first, and a residual is reported. */
static void test_run(void)
{
    struct machine m;
    struct orch_error error = {0};
    struct run_result r;
    const char *first = NULL;
    bool residual = false;
    open_machine(&m, "stream-triad:3M", "gpu");
    struct run_request request = m.base.request;
    request.chip = m.chip;
    struct run *run = run_prepare(&request, &error);
    run_result_init(&r);
    CHECK(run && run_execute(run, NULL, 1, &r, &error), "%s", error.text);
    CHECK(r.seconds_low > 0 && r.seconds_low < r.seconds && r.seconds < r.seconds_high, "%g in %g .. %g", r.seconds,
          r.seconds_low, r.seconds_high);
    for (size_t i = 0; i < r.assumptions.count; i++) {
        const struct run_assumption *a = &r.assumptions.item[i];
        residual |= strcmp(a->kind, "residual") == 0 && strstr(a->effect, "published measurements") != NULL;
        if (!first && strstr(a->effect, "decides") && strstr(a->effect, "of the interval"))
            first = a->key;
    }
    CHECK(residual, "how far runs of this kind were from hardware");
    /* The peak is known; how many writes one turn of the bus drains is a guess. */
    CHECK(first && strcmp(first, "dram.write_high") == 0, "%s decides most", first ? first : "nothing");
    run_result_free(&r);
    run_free(run);
    close_machine(&m);
}

static const struct suite_test tests[] = {
    {"an interval grows with what is not known", test_interval},
    {"a kernel in the caches scales with its clock", test_clock_bound},
    {"a stream scales with the bandwidth of DRAM", test_stream},
    {"the hypercube agrees with one parameter at a time", test_hypercube},
    {"a run has an interval with its reasons", test_run},
};
SUITE_MAIN("uncertainty", tests)
