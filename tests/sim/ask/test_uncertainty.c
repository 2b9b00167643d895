/* Intervals: spreads of residuals and how well they cover sources that they do not know, against draws from known distributions
 * and an implementation of the same statistics elsewhere; parameters and their elasticities, against what physics says.
 */
#include "isa/array_count.h"
#include "sim/run/interval.h"
#include "sim/ask/study/uncertainty.h"
#include "sim/prove/validate/residual_fit.h"
#include "tests/sim/chip_example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- residuals ---- */

/* Drawn by Python's random (seed 20251121): six sources with offsets of deviation 0.1 and rows of deviation 0.2 about them, four
 * without offsets, 0.05 about 0.1. */
static const double first_unit[6][10] = {
    {-0.025, -0.328, -0.305, -0.036, -0.068, -0.052, -0.086, 0.003, 0.003, -0.212},
    {-0.264, -0.256, -0.437, -0.081, -0.173, -0.186, -0.174, 0.059, -0.348, -0.147},
    {0.028, 0.200, -0.213, 0.244, 0.052, -0.174, -0.035, 0.058, -0.215, 0.064},
    {-0.232, -0.144, -0.364, -0.096, -0.016, -0.389, -0.120, 0.019, 0.015, -0.199},
    {-0.079, -0.057, 0.117, 0.321, 0.239, 0.225, 0.003, 0.145, 0.094, 0.079},
    {-0.105, -0.125, -0.017, 0.181, -0.304, -0.076, 0.088, -0.003, -0.233, -0.117},
};
static const double second_unit[4][5] = {{0.159, 0.028, 0.079, 0.017, 0.043},
                                         {0.095, 0.040, 0.039, 0.121, 0.066},
                                         {0.107, 0.117, 0.207, 0.197, 0.185},
                                         {0.107, 0.043, 0.041, 0.076, 0.222}};
enum { DRAWN = 80 };

static void fill_drawn(struct residual_sample samples[DRAWN])
{
    static const char *const sources[] = {"s0", "s1", "s2", "s3", "s4", "s5", "t0", "t1", "t2", "t3"};
    for (size_t i = 0; i < 60; i++)
        samples[i] = (struct residual_sample){"gpu", "gemm", sources[i / 10], first_unit[i / 10][i % 10], 0};
    for (size_t i = 0; i < 20; i++)
        samples[60 + i] = (struct residual_sample){"cpu", "stream", sources[6 + i / 5], second_unit[i / 5][i % 5], 0};
}

/* Expected numbers: the Python of the draws, which knows nothing of this code. */
static void test_drawn_table(void)
{
    static const struct {
        const char *part, *work;
        double low, high;
        unsigned rows, sources;
    } expected[] = {{"", "", -0.34400930, 0.23598199, 80, 10},
                    {"gpu", "gemm", -0.37588296, 0.25814950, 60, 6},
                    {"gpu", "", -0.37588296, 0.25814950, 60, 6},
                    {"cpu", "stream", 0.03130495, 0.24820355, 20, 4}};
    struct residual_sample samples[DRAWN];
    struct residual_table table;
    bool inside[DRAWN];
    unsigned known = 0, crossed = 0;
    fill_drawn(samples);
    CU_ASSERT_FATAL(residual_fit(samples, DRAWN, &table));
    CHECK(table.count == 5, "%zu groups", table.count);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        const struct residual *r = residual_in(table.group, table.count, expected[i].part, expected[i].work);
        CHECK(r && fabs(r->low - expected[i].low) < 1e-7 && fabs(r->high - expected[i].high) < 1e-7 &&
                  r->rows == expected[i].rows && r->sources == expected[i].sources,
              "%s %s: %.8f .. %.8f", expected[i].part, expected[i].work, r ? r->low : NAN, r ? r->high : NAN);
    }
    CHECK(residual_cross_validate(samples, DRAWN, inside), "memory");
    for (size_t i = 0; i < DRAWN; i++) {
        known += residual_inside(&table, &samples[i]);
        crossed += inside[i];
    }
    CHECK(known == 77 && crossed == 74, "%u rows inside by all sources, %u by the others", known, crossed);
}

static double normal(uint64_t *state)
{
    const double u = ((double)(suite_random(state) >> 11) + 1) / 9007199254740993.0,
                 v = (double)(suite_random(state) >> 11) / 9007199254740992.0;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Many sources of one known distribution: nine tenths of the rows of a source that is left out are inside. */
static void test_coverage(void)
{
    enum { SOURCES = 40, ROWS = 50 };
    static char names[SOURCES][8];
    struct residual_sample *samples = calloc(SOURCES * ROWS, sizeof *samples);
    bool *inside = calloc(SOURCES * ROWS, sizeof *inside);
    uint64_t state = 7;
    unsigned count = 0;
    for (size_t i = 0; i < SOURCES * ROWS; i++) {
        snprintf(names[i / ROWS], sizeof names[0], "%zu", i / ROWS);
        samples[i] = (struct residual_sample){"amx", "gemm", names[i / ROWS], 0.1 + 0.3 * normal(&state), 0};
    }
    CHECK(residual_cross_validate(samples, SOURCES * ROWS, inside), "memory");
    for (size_t i = 0; i < SOURCES * ROWS; i++)
        count += inside[i];
    /* sqrt(1 + 1/39) times wider than 1.645 deviations about 0.1: 90.4 %; three standard errors are 2 %. */
    CHECK(fabs((double)count / (SOURCES * ROWS) - 0.904) < 0.02, "%u of %d inside", count, SOURCES * ROWS);
    free(samples);
    free(inside);
}

/* Few rows, or rows of one source only, have no group of their own. */
static void test_fallback(void)
{
    struct residual_sample samples[DRAWN];
    struct residual_table table;
    fill_drawn(samples);
    for (size_t i = 0; i < 11; i++)
        samples[i].work = "attention";
    for (size_t i = 60; i < DRAWN; i++)
        samples[i].source = "one";
    CU_ASSERT_FATAL(residual_fit(samples, DRAWN, &table));
    const struct residual *few = residual_in(table.group, table.count, "gpu", "attention"),
                          *one = residual_in(table.group, table.count, "cpu", "stream");
    CHECK(few && strcmp(few->part, "gpu") == 0 && !*few->work, "eleven rows stand for themselves");
    CHECK(one && !*one->part && one->rows == DRAWN, "one source stands for itself");
}

/* ---- the interval ---- */

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

/* ---- elasticities ---- */

struct machine {
    struct chip_db *db;
    struct chip *chip;
    struct study_base base;
    struct study *study;
};

static void open_machine(struct machine *m, const char *workload, const char *unit)
{
    static const char *const sets[] = {"gpu.submit_us=0", "gpu.round_trip_us=0"}; /* the GPU without the way there */
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

/* The hypercube finds for the efficiency of DRAM what the cheap estimate says and what moving it alone says; the same for the
 * same seed. */
static void test_hypercube(void)
{
    struct machine m;
    struct orch_error error = {0};
    open_machine(&m, "stream-triad:3M", "gpu");
    const double alone = elasticity(&m, "dram.efficiency_mixed");
    struct uncertainty u = {.chips = m.db, .sets = m.base.sets, .runs = 16, .seed = 3};
    const struct run_uncertainty hook = uncertainty_as_run(&u);
    struct run_request request = m.base.request;
    request.chip = m.chip;
    double low[2], high[2];
    for (int again = 0; again < 2; again++) {
        struct interval_shares shares = {.count = 0};
        interval_share_add(&shares, "dram.efficiency_mixed", 0.6);
        interval_share_add(&shares, "dram.efficiency_stream", 0.3);
        interval_share_add(&shares, "gpu.l2_latency_cycles", 0.4);
        CHECK(hook.sample(hook.context, &request, &shares, &low[again], &high[again], &error), "%s", error.text);
        CHECK(fabs(share_of(&shares, "dram.efficiency_mixed") + alone) < 0.1, "%.3f together with others, %.3f alone",
              share_of(&shares, "dram.efficiency_mixed"), alone);
        CHECK(share_of(&shares, "gpu.l2_latency_cycles") < 0.1, "%.3f of a latency", share_of(&shares, "gpu.l2_latency_cycles"));
    }
    CHECK(low[0] == low[1] && high[0] == high[1], "one seed, one answer");
    const double expected = hypot(0.15 * alone, 0.15 * 0.3); /* both known to 15 % */
    CHECK(fabs(low[0] / expected - 1) < 0.4 && fabs(high[0] / expected - 1) < 0.4, "%.3f down, %.3f up, about %.3f expected",
          low[0], high[0], expected);
    close_machine(&m);
}

/* In a run: the value is inside, the cheap estimate names the bandwidth first among parameters, and a residual is told. */
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
    CHECK(first && strcmp(first, "dram.efficiency_mixed") == 0, "%s decides most", first ? first : "nothing");
    run_result_free(&r);
    run_free(run);
    close_machine(&m);
}

static const struct suite_test tests[] = {
    {"spreads of drawn residuals, as worked out elsewhere", test_drawn_table},
    {"intervals cover nine of ten rows of unknown sources", test_coverage},
    {"groups with too few rows or sources fall back", test_fallback},
    {"an interval grows with what is not known", test_interval},
    {"a kernel in caches goes with its clock", test_clock_bound},
    {"a stream goes with the bandwidth of DRAM", test_stream},
    {"the hypercube agrees with one parameter at a time", test_hypercube},
    {"the interval of a run", test_run},
};
SUITE_MAIN("uncertainty", tests)
