/* What the cores get from memory, against published runs of STREAM. */
#include "isa/array_count.h"
#include "sim/run/run.h"
#include "tests/support/suite.h"

#include <math.h>

/* GB/s as STREAM counts them: two arrays read, one written. Where the ports of the clusters are the limit, cold arrays of 6 MiB
 * show it. Where DRAM is the limit, arrays must be larger than all caches, and what is written must go back.
 */
static double triad_gbps(const char *chip_name, unsigned cores, bool cold)
{
    const double array_bytes = cold ? 6291456.0 : 16777216.0;
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct chip *chip = db ? chip_open(db, chip_name, NULL, &error) : NULL;
    const struct run_request request = {
        .chip = chip, .workload = cold ? "stream-triad:6M" : "stream-triad:16M", .unit = "cpu", .cores = cores, .cold = cold};
    struct run *run = chip ? run_prepare(&request, &error) : NULL;
    struct run_result result;

    run_result_init(&result);
    const bool ok = run && run_execute(run, NULL, 1, &result, &error);
    CHECK(ok, "%s: %s", chip_name, error.text);
    const double gbps = ok ? 3 * array_bytes / result.seconds * 1e-9 : NAN;
    run_result_free(&result);
    run_free(run);
    chip_close(chip);
    chip_db_close(db);
    return gbps;
}

/* Triad by so many threads; more threads than there are P clusters gain nothing. M1: arXiv 2502.05317 (59 GB/s) and AnandTech
 * 16252 (58 GB/s on one core); M1 Max and M2 Max: EntityFX/anybench, results/apple-arm-m1-max-perf-high and -m2-max-perf-auto,
 * gcc and clang -O3.
 */
static void test_stream_as_published(void)
{
    static const struct {
        const char *chip;
        unsigned cores;
        double gbps;
        bool cold;
    } published[] = {
        {"m1", 1, 58, false},       {"m1", 4, 59, false},    {"m1-max", 1, 82.1, true},  {"m1-max", 4, 152, true},
        {"m1-max", 8, 152.2, true}, {"m2-max", 1, 91, true}, {"m2-max", 8, 184.2, true},
    };
    for (size_t i = 0; i < ARRAY_COUNT(published); i++) {
        const double gbps = triad_gbps(published[i].chip, published[i].cores, published[i].cold);
        CHECK(fabs(gbps / published[i].gbps - 1) <= 0.1, "%s, %u cores: %.1f GB/s, published %.1f", published[i].chip,
              published[i].cores, gbps, published[i].gbps);
    }
}

static const struct suite_test tests[] = {
    {"STREAM triad is as fast as published", test_stream_as_published},
};
SUITE_MAIN("cpu bandwidth", tests)
