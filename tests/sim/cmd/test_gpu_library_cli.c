/* Kernels of the GPU library from the command line: one step and several, every mode, wrong requests. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct cli_home home = {.name = "gpu-library", .options = "-q"};

static const char *checksum(json_object *d, const char *output)
{
    json_object *all = NULL, *value = NULL;
    json_object_object_get_ex(d, "checksum", &all);
    return json_object_object_get_ex(all, output, &value) ? json_object_get_string(value) : "";
}

static double stalls_sum(json_object *d)
{
    json_object *stalls = NULL;
    double sum = 0;
    json_object_object_get_ex(d, "stalls", &stalls);
    json_object_object_foreach(stalls, reason, share)
    {
        (void)reason;
        sum += json_object_get_double(share);
    }
    return sum;
}

/* Split-K is two launches. Their sums must add up, and every mode gives the same values. */
static void test_steps_add_up(void)
{
    static const char *const modes[] = {"full", "functional", "timing"};
    char sums[3][64] = {""};
    for (int i = 0; i < 3 && cli_ask(&home, "run gemm:96x80x512,split=4 --unit gpu --json --chip m1 --mode %s", modes[i]); i++) {
        json_object *d = cli_document(&home.outcome), *placement = NULL;
        if (!d)
            break;
        snprintf(sums[i], sizeof sums[i], "%s", checksum(d, "c"));
        json_object_object_get_ex(d, "placement", &placement);
        CU_ASSERT_EQUAL(json_object_array_length(placement), 2);
        if (i != 1) {
            CU_ASSERT_DOUBLE_EQUAL(document_number(d, "flops"), 2.0 * 96 * 80 * 512, 0.5);
            CU_ASSERT_DOUBLE_EQUAL(stalls_sum(d), 1, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(document_number(d, "seconds"),
                                   document_number(d, "device_seconds") + document_number(d, "overhead_seconds"), 1e-12);
        }
        json_object_put(d);
    }
    CU_ASSERT_STRING_NOT_EQUAL(sums[0], "");
    CU_ASSERT_STRING_EQUAL(sums[0], sums[1]);
    CU_ASSERT_STRING_EQUAL(sums[2], "");
    cli_home_remove(&home);
}

/* Nothing but the chip differs, so the results are the same and the larger GPU is faster. */
static void test_chips_agree(void)
{
    static const char *const chips[] = {"m1", "m2-max", "m3-max"};
    char first[64] = "";
    double busy[3] = {0};
    for (int i = 0; i < 3 && cli_ask(&home, "run softmax:512x1000 --json --chip %s", chips[i]); i++) {
        json_object *d = cli_document(&home.outcome);
        if (!d)
            break;
        if (i == 0)
            snprintf(first, sizeof first, "%s", checksum(d, "out"));
        CU_ASSERT_STRING_EQUAL(checksum(d, "out"), first);
        busy[i] = document_number(d, "device_seconds");
        json_object_put(d);
    }
    CHECK(busy[1] < busy[0], "%g and %g s", busy[1], busy[0]);
    cli_home_remove(&home);
}

/* A copy of memory beyond every cache cannot beat DRAM, and must use most of it. */
static void test_streams_are_bound_by_dram(void)
{
    if (cli_ask(&home, "run copy:67108864 --json --chip m1 --mode timing")) {
        json_object *d = cli_document(&home.outcome);
        const double gbps = d ? 2 * 0x1p26 / document_number(d, "device_seconds") * 1e-9 : 0;
        CHECK(gbps > 0.6 * 68.25 && gbps < 68.25, "%g GB/s", gbps);
        json_object_put(d);
    }
    cli_home_remove(&home);
}

static void test_wrong_requests(void)
{
    static const struct cli_wrong rows[] = {
        {"run sort:10x10 --unit amx", 3, "the gpu, cpu have"},
        {"run sofmax:10x10", 2, "softmax"},
        {"run softmax:10 --unit gpu", 2, "RxC"},
        {"run gemm:8x8x8 --unit gpu --precision f63", 2, "f63"},
        {"run gemm:8x8x8 --unit gpu --cores 2", 2, "--cores"},
        {"run gemm:8x8x8 --unit gpu --detail op --mode functional", 2, "--detail op"},
        {"run gemm:8x8x8 --unit gpu --detail sampeld", 2, "sampled"},
    };
    cli_all_wrong(&home, rows, ARRAY_COUNT(rows));
}

static void test_kernels_are_listed(void)
{
    if (cli_ask(&home, "kernels list --json")) {
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "softmax") && strstr(home.outcome.out, "stream-triad"), "%.300s",
              home.outcome.out);
        CHECK(cli_ask(&home, "kernels show softmax") && home.outcome.code == 0 && strstr(home.outcome.out, "gpu"), "%.300s",
              home.outcome.out);
    }
    cli_home_remove(&home);
}

static const struct suite_test tests[] = {
    {"steps of a kernel add up in every mode", test_steps_add_up},   {"results do not depend on the chip", test_chips_agree},
    {"streams are bound by DRAM", test_streams_are_bound_by_dram},   {"wrong requests are reported", test_wrong_requests},
    {"the list has kernels of every unit", test_kernels_are_listed},
};
SUITE_MAIN("gpu_library", tests)
