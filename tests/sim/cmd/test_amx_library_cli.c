/* Rows of the AMX library from the command line: what a run says in each mode, that the block does the work, and what is refused.
 */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static struct cli_home home = {.name = "amx_library", .options = "-q"};

static const char *const workloads[] = {
    "elementwise:3000,op=gelu",      "softmax:5x300",          "layernorm:5x300", "rmsnorm:5x300",
    "conv2d:c=8,h=9,w=9,k=16,pad=1", "attention:h=2,s=40,d=16"};

static json_object *ask(const char *workload, const char *options)
{
    return cli_ask(&home, "run %s --unit amx --json --rerun %s", workload, options) ? cli_document(&home.outcome) : NULL;
}

/* Timing changes no value, and no generation has values of its own. */
static void test_modes_and_chips(void)
{
    static const char *const options[] = {"--chip m1", "--chip m1 --mode functional", "--chip m2", "--chip m3 --cold",
                                          "--chip m4"};
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        char first[64] = "";
        for (size_t k = 0; k < ARRAY_COUNT(options); k++) {
            json_object *const d = ask(workloads[i], options[k]);
            const char *const sum = d ? document_text(d, "/checksum/out") : "";
            if (k == 0)
                snprintf(first, sizeof first, "%s", sum);
            CHECK(!d || (first[0] && strcmp(sum, first) == 0), "%s %s: %s instead of %s", workloads[i], options[k], sum, first);
            CHECK(!d || document_number(d, "/counters/amx.instructions") > 100, "%s: the block has no work", workloads[i]);
            json_object_put(d);
        }
    }
    cli_home_remove(&home);
}

/* Several cores share a product and the blocks of their clusters: the same bytes, sooner where there are two blocks. Products of
 * one core, in-process, have other contents. */
static void test_cores(void)
{
    static const struct {
        const char *chip;
        unsigned cores;
        double least, most; /* how much faster than one core of m1 */
    } rows[] = {{"m1", 1, 1, 1}, {"m1", 4, 0.8, 1.3}, {"m1-max", 2, 1.6, 2.1}, {"m1-max", 8, 1.4, 2.3}};
    char first[64] = "";
    double one = 0;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!cli_ask(&home, "run gemm:512x512x512 --unit amx --json --rerun --chip %s --cores %u", rows[i].chip, rows[i].cores))
            return;
        json_object *const d = cli_document(&home.outcome);
        const char *const sum = d ? document_text(d, "/checksum/c") : "";
        const double seconds = d ? document_number(d, "seconds") : 0;
        if (i == 0)
            one = seconds;
        if (i == 1)
            snprintf(first, sizeof first, "%s", sum);
        CHECK(d && (i == 0 || (first[0] && strcmp(sum, first) == 0)), "%s %u cores: %s instead of %s", rows[i].chip,
              rows[i].cores, sum, first);
        CHECK(d && one / seconds >= rows[i].least && one / seconds <= rows[i].most, "%s %u cores: %.3g times as fast as one",
              rows[i].chip, rows[i].cores, one / seconds);
        json_object_put(d);
    }
    cli_home_remove(&home);
}

static void test_wrong_requests(void)
{
    static const struct cli_wrong rows[] = {
        {"run softmax:4x8 --unit amx --cores 200", 2, "cores"},
        {"run gemm:64x64x64 --unit amx --cores 2 --precision i8", 2, "f32 f64"},
        {"run softmax:4x8 --unit amx --home process", 2, "AArch64 program"},
        {"run softmax:4x8 --unit amx --entry main", 2, "--entry"},
        {"run softmax:4x8 --unit amx --precision i8", 2, "f32 f16 bf16"},
        {"run elementwise:8,op=log --unit amx", 2, "has the functions relu"},
        {"run reduce:4x8 --unit amx", 3, "no version for this unit"},
    };
    cli_all_wrong(&home, rows, ARRAY_COUNT(rows));
}

/* A kernel without a unit stays with the GPU. */
static void test_unit_is_asked_for(void)
{
    if (cli_ask(&home, "run softmax:5x300 --json --chip m1")) {
        json_object *const d = cli_document(&home.outcome);
        CHECK(d && strcmp(document_text(d, "unit"), "gpu") == 0, "%s", d ? document_text(d, "unit") : "nothing");
        json_object_put(d);
    }
    CHECK(!cli_ask(&home, "kernels show attention") || (home.outcome.code == 0 && strstr(home.outcome.out, "units: amx")),
          "%.300s", home.outcome.out);
    cli_home_remove(&home);
}

static const struct suite_test tests[] = {
    {"modes and chips have the same values", test_modes_and_chips},
    {"cores share a product", test_cores},
    {"wrong requests are reported", test_wrong_requests},
    {"the unit is asked for", test_unit_is_asked_for},
};
SUITE_MAIN("amx library", tests)
