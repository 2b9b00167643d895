/* What no answer about a GPU launch may say: more than pipes, caches and DRAM can do; or that more of a machine is slower. Over
 * the library of kernels, on small and large chips. */
#include "isa/array_count.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHIPS "m1", "m1-max", "m2-ultra", "m3-max"

static struct chip_db *db;

static const char *const library[] = {
    "copy:6M",
    "stream-triad:12M",
    "gemm:384x384x384",
    "gemm:1000x300x70",
    "gemm:64x64x64,batch=50",
    "gemv:2000x3000",
    "attention:b=1,h=4,s=256,d=64",
    "rope:b=1,h=8,s=512,d=64",
    "elementwise:1000000,op=gelu",
    "reduce:2000x700",
    "reduce:2000x700,axis=0",
    "softmax:1000x1000",
    "layernorm:1000x768",
    "rmsnorm:500x4096",
    "groupnorm:n=1,c=32,h=56,w=56",
    "batchnorm:n=1,c=64,h=56,w=56",
    "conv2d:c=32,h=28,w=28,k=64",
    "conv2d:c=64,h=28,w=28,k=64,r=1,s=1,pad=0",
    "pool:c=32,h=56,w=56,r=3,s=3,stride=2",
    "globalpool:n=4,c=256,h=28,w=28",
    "resize:c=16,h=64,w=64,oh=128,ow=128",
    "transpose:1000x1500",
    "concat:500x700x300",
    "gather:2000x256x3000",
    "sort:16x2000",
    "scan:500x3000",
};

/* ---- limits ---- */

static double key(const struct chip *chip, const char *name)
{
    double value = 0;
    struct orch_error error = {0};
    CHECK(chip_number(chip, name, &value, &error), "%s", error.text);
    return value;
}

static double counted(const struct run_result *r, const char *name)
{
    const double value = run_values_get(&r->counters, name);
    return isnan(value) ? 0 : value;
}

/* Cores run ahead of one another, so that links take requests that are so late (units/mem/mem_queue.h). */
#define LATE_NS 50

struct limit {
    const char *name;
    double ns;
};

/* The least times of what a run counted, each at the full rate of one part of the machine. */
static size_t limits(const struct chip *chip, const struct run_result *r, struct limit limit[8])
{
    double dies = 1;
    chip_number(chip, "dies", &dies, NULL);
    const double cycles = key(chip, "gpu.cores") * key(chip, "gpu.clock_ghz"); /* of all cores, per ns */
    const double flops =
        counted(r, "activity.gpu_f32_flops") + counted(r, "activity.gpu_matrix_f32_flops") + counted(r, "activity.gpu_f16_flops");
    const struct limit all[] = {
        {"issue",
         counted(r, "gpu.simdgroup_instructions") / cycles / key(chip, "gpu.schedulers") / key(chip, "gpu.issue_per_cycle")},
        {"arithmetic", flops / cycles / key(chip, "gpu_f32_flop_per_cycle_per_core")},
        {"L1", (counted(r, "activity.gpu_l1_read_bytes") + counted(r, "activity.gpu_l1_write_bytes")) / cycles /
                   key(chip, "gpu.l1_bytes_per_cycle")},
        {"SLC", (counted(r, "traffic.gpu.fabric_read_bytes") + counted(r, "traffic.gpu.fabric_write_bytes")) /
                    key(chip, "mem.slc_gbps") / dies},
        {"DRAM", r->dram_bytes / key(chip, "memory_peak_GBps")},
        {"launch", counted(r, "gpu.threadgroups") * key(chip, "gpu.group_launch_cycles") / cycles},
    };
    memcpy(limit, all, sizeof all);
    return ARRAY_COUNT(all);
}

static void check_limits(const char *chip_name, const char *workload, const char *detail, bool cold)
{
    struct chip *chip = example_chip(db, chip_name, NULL);
    struct outcome o =
        run_gpu(db, chip_name, NULL, workload, (struct run_request){.detail = detail, .mode = RUN_TIMING, .cold = cold});
    struct limit limit[8];
    const size_t count = o.ok ? limits(chip, &o.result, limit) : 0;
    for (size_t i = 0; i < count; i++)
        CHECK(limit[i].ns <= 1e9 * o.result.device_seconds + LATE_NS, "%s on %s: %s takes %g us, the whole %g us", workload,
              chip_name, limit[i].name, 1e-3 * limit[i].ns, 1e6 * o.result.device_seconds);
    run_result_free(&o.result);
    chip_close(chip);
}

static void test_limits(void)
{
    static const char *const chips[] = {CHIPS};
    for (size_t c = 0; c < ARRAY_COUNT(chips); c++)
        for (size_t i = 0; i < ARRAY_COUNT(library); i++)
            check_limits(chips[c], library[i], "instr", i % 2 == 1);
}

/* Answers that follow from windows, or from leaps over laps, keep the limits, too. */
static void test_limits_of_samples(void)
{
    static const char *const large[] = {"gemm:2048x2048x2048", "attention:b=1,h=16,s=2048,d=64", "softmax:81920x512",
                                        "conv2d:n=16,c=64,h=56,w=56,k=128", "gemm:512x512x20480"};
    for (size_t i = 0; i < ARRAY_COUNT(large); i++)
        check_limits("m1", large[i], "sampled", true);
}

/* ---- more of a machine ---- */

/* Launches of which each step waits for DRAM, and which are over after a few refreshes. A refresh of all banks keeps such a step
 * waiting when it happens to fall into one, 0.3 us each, whatever the machine has more of: over eight latencies of the fabric
 * conv2d takes 27.0 to 29.5 us on M1 with eight cores and 27.0 to 29.5 with ten; without refresh it takes 28.6 to 29.2 and 27.5
 * to 28.0. What more of a machine does to them is seen without refresh. */
static bool ends_by_phase_of_refresh(const char *chip_name, const char *workload)
{
    return strcmp(chip_name, "m1") == 0 && strcmp(workload, "conv2d:c=32,h=28,w=28,k=64") == 0;
}

static double seconds(const char *chip_name, const char *more, const char *workload)
{
    const char *set[2];
    size_t sets = 0;
    if (more)
        set[sets++] = more;
    if (ends_by_phase_of_refresh(chip_name, workload))
        set[sets++] = "dram.refresh=0";
    struct outcome o =
        run_on_sets(db, chip_name, set, sets, workload,
                    (struct run_request){.unit = "gpu", .threads = 1, .detail = "instr", .mode = RUN_TIMING, .cold = true});
    CHECK(o.ok, "%s on %s: %s", workload, chip_name, o.error.text);
    const double result = o.ok ? o.result.device_seconds : NAN;
    run_result_free(&o.result);
    return result;
}

/* The order in which requests meet changes with everything, and with it the end of a launch by a few latencies of DRAM. */
#define LATENCIES_S 0.3e-6

/* What more of a machine slows by more than that, and why. */
static const struct slower {
    const char *workload, *chip, *set;
    double bound;
} slower[] = {
    /* 48 rows of the matrix at a time lie in more rows of DRAM than 40 do: a fifth more activates for as many bytes. */
    {"softmax:1000x1000", "m3-max", "gpu_cores=48", 1.05},
};

static double bound_of(const char *workload, const char *chip, const char *set, double before)
{
    for (size_t i = 0; i < ARRAY_COUNT(slower); i++)
        if (!strcmp(slower[i].workload, workload) && !strcmp(slower[i].chip, chip) && !strcmp(slower[i].set, set))
            return slower[i].bound * before;
    return 1.01 * before + LATENCIES_S;
}

static void test_more(void)
{
    static const struct {
        const char *chip, *more[3];
    } chips[] = {{"m1", {"gpu_cores=10", "gpu_max_mhz=1400", "memory_peak_GBps=85"}},
                 {"m3-max", {"gpu_cores=48", "gpu_max_mhz=1600", "memory_peak_GBps=500"}}};
    for (size_t c = 0; c < ARRAY_COUNT(chips); c++)
        for (size_t i = c; i < ARRAY_COUNT(library); i += 2) {
            const double before = seconds(chips[c].chip, NULL, library[i]);
            for (size_t k = 0; k < ARRAY_COUNT(chips[c].more); k++) {
                const double after = seconds(chips[c].chip, chips[c].more[k], library[i]);
                CHECK(after <= bound_of(library[i], chips[c].chip, chips[c].more[k], before), "%s on %s: %g us, with %s %g us",
                      library[i], chips[c].chip, 1e6 * before, chips[c].more[k], 1e6 * after);
            }
        }
}

static const struct suite_test tests[] = {
    {"no kernel is faster than a part of the machine", test_limits},
    {"no sampled launch is faster than a part of the machine", test_limits_of_samples},
    {"more cores, clock or bandwidth slow nothing down", test_more},
};

int main(void)
{
    return example_chips_run("gpu_limits", tests, ARRAY_COUNT(tests), &db);
}
