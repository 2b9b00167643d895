/* One kernel source, two homes: in-process and as an AArch64 program. Both give the same bits, the same AMX instructions and,
 * unless the in-process answer calls itself approximate, the same time within 3 %.
 */
#include "sim/run/run.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#ifndef ORCHARD_BUILD_DIR
#define ORCHARD_BUILD_DIR "build"
#endif

static const char *programs(void)
{
    static const char *const folder = ORCHARD_BUILD_DIR "/programs";
    struct stat st;
    return stat(ORCHARD_BUILD_DIR "/programs/amx_kernels.elf", &st) == 0 ? folder : NULL;
}

struct answer {
    struct run_result result;
    bool ok;
};

static struct answer run_at(const struct chip *chip, const char *workload, const char *precision, const char *home)
{
    struct answer a = {.ok = false};
    struct orch_error error = {0};
    const struct run_request request = {
        .chip = chip, .workload = workload, .precision = precision, .home = home, .programs = programs(), .seed = 3};
    run_result_init(&a.result);
    struct run *run = run_prepare(&request, &error);
    a.ok = run && run_execute(run, NULL, 1, &a.result, &error);
    CHECK(a.ok, "%s %s at %s: %s", workload, precision, home, error.text);
    run_free(run);
    return a;
}

static void compare(const char *chip_name, const char *workload, const char *precision)
{
    struct orch_error error = {0};
    if (!programs()) {
        suite_skip("the AArch64 cross compiler is not installed");
        return;
    }
    struct chip_db *db = chip_db_open(NULL, &error);
    struct chip *chip = db ? chip_open(db, chip_name, NULL, &error) : NULL;
    CHECK(chip != NULL, "%s: %s", chip_name, error.text);
    if (!chip)
        return;
    struct answer process = run_at(chip, workload, precision, "process"), elf = run_at(chip, workload, precision, "elf");
    if (process.ok && elf.ok) {
        const double a = process.result.seconds, b = elf.result.seconds;
        CHECK(process.result.checksum.item[0].fnv1a64 == elf.result.checksum.item[0].fnv1a64, "%s %s: results differ", workload,
              precision);
        CU_ASSERT_EQUAL(run_values_get(&process.result.counters, "amx.instructions"),
                        run_values_get(&elf.result.counters, "amx.instructions"));
        const bool approximate = run_values_get(&process.result.counters, "run.approximate") == 1;
        CHECK(approximate || fabs(a / b - 1) <= 0.03, "%s %s on %s: %.4g us in-process, %.4g us as a program (%+.1f %%)",
              workload, precision, chip_name, a * 1e6, b * 1e6, 100 * (a / b - 1));
    }
    run_result_free(&process.result);
    run_result_free(&elf.result);
    chip_close(chip);
    chip_db_close(db);
}

static void test_sgemm(void)
{
    compare("m1", "gemm:512x512x512", "f32");
    compare("m2", "gemm:512x544x576", "f32");
}

static void test_other_types(void)
{
    compare("m1", "gemm:512x512x512", "f64");
    compare("m1", "gemm:512x512x512", "f16");
    compare("m1", "gemm:512x512x512,acc=f16", "f16");
    compare("m1", "gemm:512x512x512", "i16");
    compare("m2", "gemm:512x512x512", "i8");
    compare("m3", "gemm:512x512x512", "bf16");
}

/* Calls that are marked approximate must give the same bits, too. */
static void test_edges_and_options(void)
{
    compare("m1", "gemm:33x65x17", "f32");
    compare("m1", "gemm:65x70x33,ta=1,tb=1,alpha=0.5,beta=2", "f32");
    compare("m2", "gemm:40x50x30,batch=4", "f64");
}

static void test_gemv(void)
{
    compare("m1", "gemv:512x512", "f32");
    compare("m2", "gemv:100x300", "f64");
}

static const struct suite_test tests[] = {
    {"sgemm is the same in both homes", test_sgemm},
    {"the other element types are the same in both homes", test_other_types},
    {"edges, transposes, scales and batches are the same in both homes", test_edges_and_options},
    {"gemv is the same in both homes", test_gemv},
};
SUITE_MAIN("kernel_homes", tests)
