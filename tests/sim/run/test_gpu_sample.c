/* A sample of a launch stands for the whole: over kernels of the library, whatever their data find in the caches. Also which
 * threadgroups make a sample, and what their times say.
 */
#include "isa/array_count.h"
#include "sim/workload/gpu/gpu_sample.h"
#include "sim/chip/chip.h"
#include "sim/run/run.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEAN_BOUND      0.03
#define EACH_BOUND      0.05
#define SCATTERED_BYTES 65536 /* for launches of which nearly all data stay in the SLC */

static struct chip_db *db;

/* ---- the choice of threadgroups, and what their times say ---- */

static void test_choice(void)
{
    static const uint64_t waves[] = {12, 13, 24, 32, 63, 64, 128, 255, 256, 10000}, wave_of[] = {1, 24, 208};
    static const uint64_t warm_of[] = {0, 10, 1000000000};
    for (unsigned i = 0; i < 90; i++) {
        const uint64_t wave = wave_of[i / 10 % 3], groups = waves[i % 10] * wave + (i % 2 ? wave - 1 : 0), warm = warm_of[i / 30];
        struct gpu_sample s;
        gpu_sample_choose(groups, wave, i % 3 * groups / 4, warm, &s);
        uint64_t end = 0, timed = 0;
        for (unsigned k = 0; k < s.stretches; k++) {
            const struct gpu_stretch *t = &s.stretch[k];
            CHECK(t->warm_first >= end && t->first >= t->warm_first && t->first - t->warm_first <= warm, "%u: stretch %u", i, k);
            CHECK(t->count > t->lead && (k == 0 || t->lead == wave), "%u: stretch %u", i, k);
            end = t->first + t->count;
            timed += t->count;
        }
        CHECK(s.stretch[0].first == 0 && end == groups, "%u: from %llu to %llu", i, (unsigned long long)s.stretch[0].first,
              (unsigned long long)end);
        CHECK(timed == s.groups_timed && timed < groups, "%u: %llu timed", i, (unsigned long long)timed);
    }
    CU_ASSERT_FALSE(gpu_sample_worthwhile(100, 10, INFINITY));
    CU_ASSERT_FALSE(gpu_sample_worthwhile(200, 10, 1e6));
    CU_ASSERT_TRUE(gpu_sample_worthwhile(200, 10, 1e9));
    CU_ASSERT_TRUE(gpu_sample_worthwhile(400, 10, 1e6));
    CU_ASSERT_FALSE(gpu_sample_worthwhile(400, 0, 1e9));
}

/* A launch whose threadgroups take `first` ns at its beginning and evenly more up to `last` ns, with 7 instructions each. */
static void test_scale(void)
{
    const uint64_t groups = 10000, wave = 100;
    const double first = 2, last = 4;
    struct gpu_sample s;
    struct gpu_part part = {.ns = 0};
    double uncertainty, whole_ns = 0;
    gpu_sample_choose(groups, wave, 0, 0, &s);
    uint64_t at = 0;
    for (unsigned k = 0; k < s.stretches; k++)
        for (at = s.stretch[k].first; at <= s.stretch[k].first + s.stretch[k].count; at++) {
            const struct gpu_mark mark = {.ns = part.ns, .work = part.work};
            if (at == s.stretch[k].first + s.stretch[k].lead)
                s.progress[k].lead = mark;
            if (at == s.stretch[k].first + s.stretch[k].count) {
                s.progress[k].end = mark;
                break;
            }
            part.ns += first + (last - first) * (double)at / (double)groups;
            part.work += 7;
        }
    for (uint64_t i = 0; i < groups; i++)
        whole_ns += first + (last - first) * (double)i / (double)groups;
    const struct gpu_part whole = gpu_sample_scale(&s, part, NULL, false, &uncertainty);
    CU_ASSERT_DOUBLE_EQUAL(whole.work, 7.0 * (double)groups, 1);
    CHECK(fabs(whole.ns / whole_ns - 1) < 0.02, "%g against %g", whole.ns, whole_ns);
    CHECK(uncertainty > 0.01 && uncertainty < 0.2, "%g", uncertainty);
}

/* ---- kernels of the library ---- */

static bool run_one(const char *workload, const char *detail, enum run_mode mode, struct run_result *result)
{
    struct orch_error error = {0};
    struct chip *chip = chip_open(db, "m1", NULL, &error);
    const struct run_request request = {
        .chip = chip, .workload = workload, .unit = "gpu", .detail = detail, .mode = mode, .threads = 1};
    run_result_init(result);
    struct run *run = chip ? run_prepare(&request, &error) : NULL;
    const bool ok = run && run_execute(run, NULL, 1, result, &error) && strcmp(result->detail, detail) == 0;
    CHECK(ok, "%s at %s: %s", workload, detail, error.text[0] ? error.text : result->detail ? result->detail : "");
    run_free(run);
    chip_close(chip);
    return ok;
}

/* M1 has an SLC of 8 MiB. */
static const char *const library[] = {
    "stream-triad:16M", /* six times the SLC */
    "copy:16M",
    "layernorm:8192x512",
    "reduce:25600x48,op=sum",                  /* fits the SLC */
    "scan:2368x1000",                          /* rows that share lines */
    "pool:c=256,h=112,w=112,r=2,s=2,stride=2", /* somewhat larger than the SLC */
    "gather:1000x512x8000",                    /* random lines of a table that stays in the SLC, next to a stream */
};

static void test_library(void)
{
    double sum = 0;
    unsigned count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(library); i++) {
        struct run_result whole, part;
        bool ok = run_one(library[i], "instr", RUN_TIMING, &whole);
        ok = run_one(library[i], "sampled", RUN_TIMING, &part) && ok;
        const double off = ok ? part.device_seconds / whole.device_seconds - 1 : 1;
        CHECK(fabs(off) < EACH_BOUND, "%s: %+.1f %%", library[i], 100 * off);
        CHECK(ok && fabs(part.dram_bytes - whole.dram_bytes) < 0.1 * whole.dram_bytes + SCATTERED_BYTES, "%s: DRAM %g against %g",
              library[i], part.dram_bytes, whole.dram_bytes);
        sum += fabs(off);
        count++;
        run_result_free(&whole);
        run_result_free(&part);
    }
    CHECK(sum / count < MEAN_BOUND, "mean %.1f %%", 100 * sum / count);
}

/* --mode full gives the results and counts of every threadgroup. The data stay in the SLC. */
static void test_full(void)
{
    static const char workload[] = "reduce:25600x48,op=sum";
    struct run_result whole, part;
    bool ok = run_one(workload, "instr", RUN_FULL, &whole);
    ok = run_one(workload, "sampled", RUN_FULL, &part) && ok;
    CU_ASSERT_TRUE(ok && whole.checksum.count > 0);
    CU_ASSERT_EQUAL(whole.checksum.count, part.checksum.count);
    for (size_t i = 0; ok && i < whole.checksum.count; i++)
        CU_ASSERT_EQUAL(whole.checksum.item[i].fnv1a64, part.checksum.item[i].fnv1a64);
    CU_ASSERT_EQUAL(run_values_get(&whole.counters, "gpu.simdgroup_instructions"),
                    run_values_get(&part.counters, "gpu.simdgroup_instructions"));
    CU_ASSERT_EQUAL(whole.flops, part.flops);
    CHECK(ok && fabs(part.device_seconds / whole.device_seconds - 1) < EACH_BOUND, "%g against %g", part.device_seconds,
          whole.device_seconds);
    run_result_free(&whole);
    run_result_free(&part);
}

static const struct suite_test tests[] = {
    {"stretches lie in the grid and end it", test_choice},
    {"the time between stretches follows their pace", test_scale},
    {"samples of library kernels have the time of the whole", test_library},
    {"results do not depend on the sample", test_full},
};

int main(void)
{
    struct orch_error error = {0};
    db = chip_db_open(NULL, &error);
    if (!db)
        return 70;
    const int code = suite_run("gpu_sample", tests, ARRAY_COUNT(tests));
    chip_db_close(db);
    return code;
}
