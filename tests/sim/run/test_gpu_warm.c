/* A warm-up whose threadgroups are mostly executed only leaves what a timed pass leaves: the pass behind it is like the pass
 * behind that one. And it gives the results. */
#include "isa/array_count.h"
#include "sim/chip/chip.h"
#include "sim/run/run.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

#define BOUND           0.01
#define SCATTERED_BYTES 65536 /* where nearly everything stays in the SLC */

static struct chip_db *db;

static bool run_one(const char *workload, enum run_mode mode, unsigned repeat, struct run_result *result)
{
    struct orch_error error = {0};
    struct chip *chip = chip_open(db, "m1", NULL, &error);
    const struct run_request request = {
        .chip = chip, .workload = workload, .unit = "gpu", .detail = "instr", .mode = mode, .threads = 1, .repeat = repeat};
    run_result_init(result);
    struct run *run = chip ? run_prepare(&request, &error) : NULL;
    const bool ok = run && run_execute(run, NULL, 1, result, &error);
    CHECK(ok, "%s: %s", workload, error.text);
    run_free(run);
    chip_close(chip);
    return ok;
}

/* M1: an SLC of 8 MiB. */
static const char *const library[] = {
    "stream-triad:32M",       /* beyond the SLC */
    "softmax:2560x800",       /* twice the SLC: all of the warm-up is timed */
    "reduce:12800x96,op=sum", /* fits the SLC */
    "gemm:1024x1024x256",     "transpose:2560x1280", "gather:1000x512x8000",
};

/* The second of two passes begins where a timed one ended. */
static void test_state(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(library); i++) {
        struct run_result one, two;
        bool ok = run_one(library[i], RUN_TIMING, 1, &one);
        ok = run_one(library[i], RUN_TIMING, 2, &two) && ok;
        const double off = ok ? (two.device_seconds - one.device_seconds) / one.device_seconds - 1 : 1;
        const double bytes = ok ? two.dram_bytes - 2 * one.dram_bytes : 0;
        CHECK(fabs(off) < BOUND, "%s: %+.2f %%", library[i], 100 * off);
        CHECK(fabs(bytes) < BOUND * one.dram_bytes + SCATTERED_BYTES, "%s: DRAM %g and %g", library[i], one.dram_bytes,
              two.dram_bytes);
        run_result_free(&one);
        run_result_free(&two);
    }
}

static void check_same(const char *workload, const struct run_result *a, const struct run_result *b)
{
    CHECK(a->checksum.count > 0 && a->checksum.count == b->checksum.count, "%s", workload);
    for (size_t i = 0; i < a->checksum.count && i < b->checksum.count; i++)
        CHECK(a->checksum.item[i].fnv1a64 == b->checksum.item[i].fnv1a64, "%s: %s", workload, a->checksum.item[i].output);
    static const char *const counters[] = {"gpu.simdgroup_instructions", "gpu.active_lane_instructions", "gpu.threadgroups"};
    for (unsigned i = 0; i < ARRAY_COUNT(counters); i++)
        CHECK(run_values_get(&a->counters, counters[i]) == run_values_get(&b->counters, counters[i]), "%s: %s", workload,
              counters[i]);
}

/* Steps of several, one that stores where it loads, one whose warm-up is all timed. */
static void test_results(void)
{
    static const char *const several[] = {"reduce:12800x96,op=sum", "gemm:512x512x1024,split=8", "sort:512x512", "scan:64x50000",
                                          "elementwise:1600000,op=gelu"};
    for (size_t i = 0; i < ARRAY_COUNT(several); i++) {
        struct run_result full, functional;
        bool ok = run_one(several[i], RUN_FULL, 1, &full);
        ok = run_one(several[i], RUN_FUNCTIONAL, 1, &functional) && ok;
        if (ok)
            check_same(several[i], &full, &functional);
        run_result_free(&full);
        run_result_free(&functional);
    }
}

static const struct suite_test tests[] = {
    {"the start state is that of a timed pass", test_state},
    {"results are those of executing alone", test_results},
};

int main(void)
{
    struct orch_error error = {0};
    db = chip_db_open(NULL, &error);
    if (!db)
        return 70;
    const int code = suite_run("gpu_warm", tests, ARRAY_COUNT(tests));
    chip_db_close(db);
    return code;
}
