/* The warm-up of a GPU launch that is timed as a whole: most of its threadgroups are only executed, those that end it are timed
 * as well, or, where threadgroups are long and nobody asks for every instruction, none is. The pass behind it must be like a pass
 * behind a timed pass, and the results must be those of executing alone.
 *
 * A launch is warmed up in this way when it has at least eight waves of threadgroups and 2^20 instructions, and its data fit into
 * the SLC or are four times as large; the whole warm-up of any other launch is timed (sim/run/gpu/run_launch_warm.c).
 */
#include "isa/array_count.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <string.h>

#define BOUND           0.01
#define EXECUTED_EACH   0.03
#define EXECUTED_MEAN   0.01
#define SCATTERED_BYTES 65536 /* for launches of which nearly all data stay in the SLC */

static struct chip_db *db;

/* A workload on an M1. A smaller SLC than its 8 MiB makes a small workload exceed it. */
struct launch {
    const char *workload;
    const char *slc; /* NULL = 8 MiB */
};

#define SLC_2_MIB "slc_MB=2"

static struct outcome run_one(const struct launch *launch, enum run_mode mode, unsigned repeat)
{
    return run_gpu(db, "m1", launch->slc, launch->workload,
                   (struct run_request){.detail = "instr", .mode = mode, .repeat = repeat});
}

static const struct launch library[] = {
    {"elementwise:1800000,op=gelu", SLC_2_MIB}, /* seven times the SLC */
    {"transpose:1280x1280", SLC_2_MIB},         /* six times */
    {"gather:1000x512x14000", SLC_2_MIB},       /* fifteen times, one of its streams in random order */
    {"gemm:896x896x352", NULL},                 /* fits the SLC */
    {"reduce:51200x24,op=sum", NULL},           /* fits the SLC */
    {"softmax:1280x800", "slc_MB=4"},           /* twice the SLC: the whole warm-up is timed */
};

/* The first pass starts where the warm-up ended, the second one where a timed pass ended. */
static void test_state(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(library); i++) {
        const struct outcome once = run_one(&library[i], RUN_TIMING, 1), twice = run_one(&library[i], RUN_TIMING, 2);
        struct run_result one = once.result, two = twice.result;
        const bool ok = once.ok && twice.ok;
        const double off = ok ? (two.device_seconds - one.device_seconds) / one.device_seconds - 1 : 1;
        const double bytes = ok ? two.dram_bytes - 2 * one.dram_bytes : 0;
        CHECK(fabs(off) < BOUND, "%s: %+.2f %%", library[i].workload, 100 * off);
        CHECK(fabs(bytes) < BOUND * one.dram_bytes + SCATTERED_BYTES, "%s: DRAM %g and %g", library[i].workload, one.dram_bytes,
              two.dram_bytes);
        run_result_free(&one);
        run_result_free(&two);
    }
}

/* ---- warm-ups that are only executed ---- */

/* Their threadgroups divide evenly among the cores: where they do not, which core gets the last ones hangs on chance, and a timed
 * pass takes a tenth longer or shorter than the one before it. */
static const struct {
    const char *workload, *chip, *slc;
} executed[] = {
    {"gemm:128x768x768", "m1", NULL},         {"gemm:512x512x512", "m1", NULL},
    {"gemm:512x512x512", "m1-max", NULL},     {"gemm:512x512x512", "m1", SLC_2_MIB}, /* larger than the SLC */
    {"gemm:256x256x256,batch=8", "m1", NULL}, {"conv2d:c=64,h=32,w=32,k=128,r=3,s=3,pad=1", "m1", NULL},
};

static struct outcome run_plain(size_t i, const char *detail)
{
    const struct run_request request = {.detail = detail, .mode = RUN_TIMING, .unit = "gpu", .repeat = 1, .threads = 1};
    return run_on_set(db, executed[i].chip, executed[i].slc, executed[i].workload, request);
}

static void test_executed(void)
{
    double sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(executed); i++) {
        struct outcome whole = run_plain(i, "instr"), plain = run_plain(i, "sampled");
        const double off = whole.ok && plain.ok ? plain.result.device_seconds / whole.result.device_seconds - 1 : 1;
        CHECK(fabs(off) < EXECUTED_EACH, "%s on %s: %+.2f %%", executed[i].workload, executed[i].chip, 100 * off);
        CHECK(counter(&whole, "gpu.simdgroup_instructions") == counter(&plain, "gpu.simdgroup_instructions"), "%s",
              executed[i].workload);
        sum += fabs(off);
        run_result_free(&whole.result);
        run_result_free(&plain.result);
    }
    CHECK(sum / ARRAY_COUNT(executed) < EXECUTED_MEAN, "mean %.2f %%", 100 * sum / ARRAY_COUNT(executed));
}

/* ---- results ---- */

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

static void test_results(void)
{
    static const struct launch several[] = {
        {"reduce:51200x24,op=sum", NULL},
        {"gemm:512x512x1024,split=8", SLC_2_MIB}, /* two launches; the whole warm-up of the second one is timed */
        {"sort:512x256", NULL},                   /* many launches, which store where they load */
        {"scan:5200x300", SLC_2_MIB},
        {"elementwise:1800000,op=gelu", SLC_2_MIB},
        {"elementwise:1600000,op=gelu", NULL}, /* the whole warm-up is timed */
    };
    for (size_t i = 0; i < ARRAY_COUNT(several); i++) {
        struct outcome full = run_one(&several[i], RUN_FULL, 1), functional = run_one(&several[i], RUN_FUNCTIONAL, 1);
        if (full.ok && functional.ok)
            check_same(several[i].workload, &full.result, &functional.result);
        run_result_free(&full.result);
        run_result_free(&functional.result);
    }
}

static const struct suite_test tests[] = {
    {"a warm-up leaves the caches as a timed pass does", test_state},
    {"a warm-up that is only executed gives the time that a timed one gives", test_executed},
    {"results are those of executing alone", test_results},
};

int main(void)
{
    return example_chips_run("gpu_warm", tests, ARRAY_COUNT(tests), &db);
}
