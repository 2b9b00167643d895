/* Streams of CPU cores: the results of the GPU kernels of the same name, whatever the size and the number of cores; double
 * precision against the operation itself; rates of published measurements; refusals.
 */
#include "isa/array_count.h"
#include "sim/base/checksum.h"
#include "tests/sim/run_example.h"
#include "units/cpu/cpu_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct chip_db *db;

static uint64_t checksum_of(const struct outcome *o)
{
    return o->result.checksum.count ? o->result.checksum.item[0].fnv1a64 : 0;
}

static void test_results_are_those_of_the_gpu(void)
{
    static const char *const workloads[] = {"copy:4096", "stream-scale:65540,s=0.37", "stream-add:12",
                                            "stream-triad:70000,s=-3.25", "stream-triad:132"};
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        struct outcome gpu =
            run_on(db, "m1", workloads[i], (struct run_request){.unit = "gpu", .mode = RUN_FUNCTIONAL, .seed = 5});
        CHECK(gpu.ok, "%s: %s", workloads[i], gpu.error.text);
        for (unsigned cores = 1; cores <= 7; cores += 2) {
            const struct run_request on_cpu = {.unit = "cpu", .mode = RUN_FUNCTIONAL, .cores = cores, .seed = 5};
            struct outcome cpu = run_on(db, "m1", workloads[i], on_cpu);
            CHECK(cpu.ok && checksum_of(&cpu) == checksum_of(&gpu), "%s on %u cores: %s %llx, gpu %llx", workloads[i], cores,
                  cpu.error.text, (unsigned long long)checksum_of(&cpu), (unsigned long long)checksum_of(&gpu));
            run_result_free(&cpu.result);
        }
        run_result_free(&gpu.result);
    }
}

static double generated(uint64_t *state)
{
    return -1 + 2 * ((double)(cpu_random(state) >> 11) * 0x1p-53);
}

static void test_double_precision_is_fused(void)
{
    enum { COUNT = 1003 };
    uint64_t a = 12 * 9, b = 12 * 9 + 1, checksum = CHECKSUM_START;
    for (int i = 0; i < COUNT; i++) {
        const double x = generated(&a), y = generated(&b), z = fma(0.1, y, x);
        checksum = checksum_add(checksum, &z, sizeof z);
    }
    struct outcome o =
        run_on(db, "m1", "stream-triad:8024,s=0.1",
               (struct run_request){.unit = "cpu", .precision = "f64", .mode = RUN_FUNCTIONAL, .cores = 3, .seed = 9});
    CHECK(o.ok && checksum_of(&o) == checksum, "%s %llx", o.error.text, (unsigned long long)checksum_of(&o));
    run_result_free(&o.result);
}

/* clpeak on M1 Pro (krrishnarraj/clpeak results/Apple/M1_Pro.xml): triad on all threads 141.3 GB/s, copy 174.7. The copy is long,
 * so that its beginning, when the SLC takes what is written, does not count. */
static void test_rates_of_m1_pro(void)
{
    static const struct {
        const char *workload;
        double gbps;
    } rows[] = {{"stream-triad:16M", 141.3}, {"copy:48M", 174.7}};
    for (size_t i = 0; i < 2; i++) {
        struct outcome o = run_on(db, "m1-pro", rows[i].workload, (struct run_request){.unit = "cpu", .cores = 8});
        CHECK(o.ok && fabs(o.result.dram_gbps / rows[i].gbps - 1) < 0.1, "%s: %s %g GB/s", rows[i].workload, o.error.text,
              o.result.dram_gbps);
        run_result_free(&o.result);
    }
}

static void refused(const char *workload, struct run_request request, int exit_code, const char *words)
{
    struct outcome o = run_on(db, "m1", workload, request);
    CHECK(!o.ok && o.error.exit_code == exit_code && strstr(o.error.text, words), "%s: %d, %s", workload, o.error.exit_code,
          o.error.text);
    run_result_free(&o.result);
}

static void test_refusals(void)
{
    refused("stream-triad:1M", (struct run_request){.unit = "cpu", .precision = "f16"}, ORCH_USAGE, "f32 f64");
    refused("stream-triad:1003", (struct run_request){.unit = "cpu"}, ORCH_USAGE, "no whole number");
    refused("copy:1M", (struct run_request){.unit = "cpu", .entry = "main"}, ORCH_USAGE, "--entry");
    refused("copy:1M", (struct run_request){.unit = "cpu", .cores = 9}, ORCH_USAGE, "4 P and 4 E");
    refused("copy:1M,s=2", (struct run_request){.unit = "cpu"}, ORCH_USAGE, "s");
}

static const struct suite_test tests[] = {
    {"results are those of the GPU", test_results_are_those_of_the_gpu},
    {"double precision is fused", test_double_precision_is_fused},
    {"M1 Pro streams at its measured rates", test_rates_of_m1_pro},
    {"wrong requests are refused", test_refusals},
};

int main(void)
{
    return example_chips_run("cpu kernel", tests, ARRAY_COUNT(tests), &db);
}
