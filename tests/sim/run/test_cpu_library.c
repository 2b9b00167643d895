/* Kernels of the NEON library as runs: rates beside the published peak, samples beside whole runs, cores of both kinds, energy,
 * results that depend on nothing but the request. */
#include "isa/array_count.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdio.h>

static struct chip_db *db;

static struct outcome run_cpu(const char *chip, const char *workload, struct run_request request)
{
    request.unit = "cpu";
    struct outcome o = run_on(db, chip, workload, request);
    CHECK(o.ok, "%s on %s: %s", workload, chip, o.error.text);
    return o;
}

/* One P core has four pipes of four lanes: 102.5 GFLOPS in f32 at 3.204 GHz, of which clpeak measures 98 % (M1 Pro); twice that
 * in f16, four times in bytes by dot products. */
static void test_rates_of_products(void)
{
    static const struct {
        const char *workload, *precision;
        double peak, least;
    } rows[] = {{"gemm:256x264x256", "f32", 102.5, 0.85},       {"gemm:256x264x256", "bf16", 102.5, 0.85},
                {"gemm:256x264x256", "f16", 102.5, 0.85},       {"gemm:256x264x256,acc=f16", "f16", 205, 0.85},
                {"gemm:256x264x256", "i8", 410, 0.7},           {"conv2d:c=64,h=28,w=28,k=64,pad=1", "f32", 102.5, 0.8},
                {"attention:h=2,s=256,d=64", "f32", 102.5, 0.6}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct outcome o = run_cpu("m1", rows[i].workload, (struct run_request){.precision = rows[i].precision});
        CHECK(o.result.gflops > rows[i].least * rows[i].peak && o.result.gflops < rows[i].peak, "%s %s: %g GFLOPS",
              rows[i].workload, rows[i].precision, o.result.gflops);
        CHECK(o.result.joules > 0 && o.result.seconds_low < o.result.seconds && o.result.seconds_high > o.result.seconds, "%s",
              rows[i].workload);
        run_result_free(&o.result);
    }
}

/* A product with a vector streams its matrix: no faster than memory, and most of what one core gets from it. */
static void test_rate_of_gemv(void)
{
    struct outcome o = run_cpu("m1", "gemv:2048x2048", (struct run_request){.cold = true});
    CHECK(o.result.dram_gbps > 30 && o.result.dram_gbps < 68.3, "%g GB/s", o.result.dram_gbps);
    run_result_free(&o.result);
}

static void test_sample_is_near_the_whole(void)
{
    static const char *const workloads[] = {"gemm:320x320x320", "conv2d:c=64,h=28,w=28,k=64,pad=1", "softmax:1024x1000"};
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        struct outcome whole = run_cpu("m1", workloads[i], (struct run_request){.detail = "instr"});
        struct outcome sample = run_cpu("m1", workloads[i], (struct run_request){.detail = "sampled"});
        const double off = sample.result.seconds / whole.result.seconds - 1;
        CHECK(fabs(off) < 0.03 && checksum(&whole, whole.result.checksum.item[0].output) ==
                                      checksum(&sample, whole.result.checksum.item[0].output),
              "%s: a sample is off by %.2f %%", workloads[i], 100 * off);
        CU_ASSERT_STRING_EQUAL(sample.result.detail, "sampled");
        run_result_free(&whole.result);
        run_result_free(&sample.result);
    }
}

/* Cores of both kinds get shares by their rates, so that they end together: eight cores do what their pipes can. */
static void test_cores_of_both_kinds(void)
{
    const char *const workload = "gemm:768x192x256";
    struct outcome p = run_cpu("m1", workload, (struct run_request){.cores = 4});
    struct outcome both = run_cpu("m1", workload, (struct run_request){.cores = 8});
    struct outcome e = run_cpu("m1", workload, (struct run_request){.cores = 4, .core_choice = SOC_E_CORE});
    const double sum = p.result.gflops + e.result.gflops;
    CHECK(both.result.gflops > 0.85 * sum && both.result.gflops < 1.02 * sum, "P %g, E %g, both %g GFLOPS", p.result.gflops,
          e.result.gflops, both.result.gflops);
    CHECK(checksum(&p, "c") == checksum(&both, "c") && checksum(&p, "c") == checksum(&e, "c"), "the cores change the result");
    run_result_free(&p.result);
    run_result_free(&both.result);
    run_result_free(&e.result);
}

/* The same bytes in every mode, on every chip, and again; inputs are those of the GPU's kernels, and results close to theirs. */
static void test_results(void)
{
    static const char *const workloads[] = {"transpose:100x37",         "gather:50x33x20",  "pad:7x9,left=3,value=2",
                                            "elementwise:1000,op=relu", "pool:c=3,h=9,w=9", "elementwise:1000,op=add"};
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        struct outcome full = run_cpu("m1", workloads[i], (struct run_request){.seed = 4});
        struct outcome again =
            run_cpu("m3-max", workloads[i], (struct run_request){.seed = 4, .mode = RUN_FUNCTIONAL, .cores = 2});
        struct outcome gpu =
            run_on(db, "m1", workloads[i], (struct run_request){.unit = "gpu", .seed = 4, .mode = RUN_FUNCTIONAL});
        CHECK(checksum(&full, "out") && checksum(&full, "out") == checksum(&again, "out"), "%s: other bytes", workloads[i]);
        CHECK(gpu.ok && checksum(&full, "out") == checksum(&gpu, "out"), "%s: not those of the GPU", workloads[i]);
        run_result_free(&full.result);
        run_result_free(&again.result);
        run_result_free(&gpu.result);
    }
}

static const struct suite_test tests[] = {
    {"rates of products", test_rates_of_products},
    {"a product with a vector is bound by memory", test_rate_of_gemv},
    {"a sample is near the whole", test_sample_is_near_the_whole},
    {"cores of both kinds end together", test_cores_of_both_kinds},
    {"results depend on the request alone", test_results},
};

int main(void)
{
    return example_chips_run("cpu library", tests, ARRAY_COUNT(tests), &db);
}
