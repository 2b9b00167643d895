/* Compiled sources against independent yardsticks: the code that an optimising compiler made of twelve kernels (the kernels next
 * to the checkout), and the library's own gemm, which is written by hand. Needs clang 16. */
#include "sim/base/npy.h"
#include "sim/prove/check/gpu_sources.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 512 };

static struct cli_home home = {.name = "quality", .options = "-q"};

static bool missing_clang(void)
{
    if (system("command -v clang-16 >/dev/null 2>&1") == 0)
        return false;
    suite_skip("clang-16 is not installed");
    return true;
}

/* ---- the twelve ---- */

static void test_reference(void)
{
    const struct check_gpu_options options = {2, false, false};
    const struct compile_request how = {.optimise = 2, .fresh = true};
    const char *const shared = suite_shared("kernels/agx");
    struct check_report report = {.passed = 0};
    struct check_source_rows rows = {.count = 0};
    struct orch_error error = {.exit_code = 0};
    if (!shared) {
        suite_skip("the complete kernels are not here");
        return;
    }
    if (missing_clang())
        return;
    check_gpu_sources(shared, NULL, 0, &options, &how, &report, &rows, &error);
    CHECK(report.failed == 0 && rows.count >= 12, "%s%s", error.text, report.failures.count ? report.failures.text[0] : "");
    for (size_t i = 0; i < rows.count; i++) {
        const struct check_source_row *const r = &rows.row[i];
        const double ratio = r->reference ? (double)r->instructions / (double)r->reference : 0;
        CHECK(r->right, "%s is wrong", r->name);
        CHECK(ratio <= 1.15, "%s executes %.3f of the reference's instructions", r->name, ratio);
        CHECK(r->reference_halves && 4 * r->register_halves <= 5 * r->reference_halves,
              "%s: %u register halves, the reference %u", r->name, r->register_halves, r->reference_halves);
    }
    CHECK(check_source_mean(&rows) <= 1.05, "geometric mean %.3f", check_source_mean(&rows));
    check_source_rows_free(&rows);
    check_report_free(&report);
}

/* ---- gemm ---- */

/* Small whole numbers: every sum is exact in whatever order. */
static void write_operand(const char *name, float *value, uint64_t seed)
{
    char path[128];
    struct orch_error error = {.exit_code = 0};
    struct npy_array array = {.type = NPY_F32, .dims = 2, .shape = {SIZE, SIZE}, .data = (const uint8_t *)value};
    for (size_t i = 0; i < SIZE * SIZE; i++)
        value[i] = (float)((int)(suite_random(&seed) >> 60) - 8);
    snprintf(path, sizeof path, "%s/%s.npy", home.folder, name);
    CHECK(npy_measure(&array) && npy_save(path, &array, &error), "%s", error.text);
}

static double seconds_of(const char *what)
{
    json_object *const document = cli_document(&home.outcome);
    const double seconds = document ? document_number(document, "device_seconds") : 0;
    CHECK(seconds > 0, "%s: %s", what, home.outcome.err);
    json_object_put(document);
    return seconds;
}

static void check_product(const float *a, const float *b)
{
    static float sum[SIZE];
    struct npy_array c;
    char path[128];
    struct orch_error error = {.exit_code = 0};
    snprintf(path, sizeof path, "%s/c.npy", home.folder);
    CHECK(npy_load(path, &c, &error), "%s", error.text);
    if (error.exit_code)
        return;
    unsigned wrong = c.bytes == sizeof sum * SIZE ? 0 : 1;
    for (size_t row = 0; row < SIZE && !wrong; row++) {
        memset(sum, 0, sizeof sum);
        for (size_t k = 0; k < SIZE; k++)
            for (size_t column = 0; column < SIZE; column++)
                sum[column] += a[row * SIZE + k] * b[k * SIZE + column];
        wrong += memcmp(sum, c.data + row * sizeof sum, sizeof sum) != 0;
    }
    CHECK(wrong == 0, "the product is wrong");
    npy_release(&c);
}

/* At 2048 it is 1.03 on m1-max-32; the prologue weighs more here. */
static void test_gemm(void)
{
    static const char line[] =
        "run %s/tests/examples/gpu/gemm.metal --grid 1024x8 --group 128 --args in:$/a.npy --args in:$/b.npy "
        "--args out:f32:512x512:$/c.npy --args u32:1:fill:512 --args u32:1:fill:512 --chip m1 --json";
    if (missing_clang())
        return;
    static float a[SIZE * SIZE], b[SIZE * SIZE];
    cli_home_open(&home);
    write_operand("a", a, 1);
    write_operand("b", b, 2);
    if (!cli_ask(&home, "run gemm:512x512x512 --unit gpu --precision f32 --chip m1 --json"))
        return;
    const double library = seconds_of("the library's");
    cli_ask(&home, line, ORCHARD_SOURCE_DIR);
    const double compiled = seconds_of("the source's");
    CHECK(compiled <= 1.07 * library, "compiled: %.3f us, the library: %.3f us", 1e6 * compiled, 1e6 * library);
    check_product(a, b);
}

static const struct suite_test tests[] = {
    {"compiled kernels need hardly more instructions and registers than the reference's code", test_reference},
    {"gemm in Metal computes the product, about as fast as the library's", test_gemm},
};

int main(void)
{
    const int code = suite_run("source quality", tests, ARRAY_COUNT(tests));
    return cli_home_remove(&home) ? code : 1;
}
