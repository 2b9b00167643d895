/* Kernels of the GPU library as users run them: one step and several, every detail and mode, wrong requests. */
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct cli_outcome outcome;

/* False when there is no binary to test. */
static bool orchard(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool orchard(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line, sizeof line - 80, format, args);
    va_end(args);
    snprintf(line + n, 80, " -q --db /tmp/orchard-gpu-library-%ld.db", (long)getpid());
    return cli_run_or_skip(line, &outcome);
}

static void remove_database(void)
{
    static const char *const tails[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char path[96];
        snprintf(path, sizeof path, "/tmp/orchard-gpu-library-%ld.db%s", (long)getpid(), tails[i]);
        unlink(path);
    }
}

static json_object *document(void)
{
    json_object *d = outcome.code == 0 ? json_tokener_parse(outcome.out) : NULL;
    CHECK(d != NULL, "exit %d: %.300s", outcome.code, outcome.err);
    return d;
}

static double number(json_object *d, const char *key)
{
    json_object *value = NULL;
    CHECK(json_object_object_get_ex(d, key, &value), "%s is missing", key);
    return json_object_get_double(value);
}

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

/* Split-K is two launches: the sums of both must add up, and the values are those of any mode. */
static void test_steps_add_up(void)
{
    static const char *const modes[] = {"full", "functional", "timing"};
    char sums[3][64] = {""};
    for (int i = 0; i < 3 && orchard("run gemm:96x80x512,split=4 --unit gpu --json --chip m1 --mode %s", modes[i]); i++) {
        json_object *d = document(), *placement = NULL;
        if (!d)
            break;
        snprintf(sums[i], sizeof sums[i], "%s", checksum(d, "c"));
        json_object_object_get_ex(d, "placement", &placement);
        CU_ASSERT_EQUAL(json_object_array_length(placement), 2);
        if (i != 1) {
            CU_ASSERT_DOUBLE_EQUAL(number(d, "flops"), 2.0 * 96 * 80 * 512, 0.5);
            CU_ASSERT_DOUBLE_EQUAL(stalls_sum(d), 1, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(number(d, "seconds"), number(d, "device_seconds") + number(d, "overhead_seconds"), 1e-12);
        }
        json_object_put(d);
    }
    CU_ASSERT_STRING_NOT_EQUAL(sums[0], "");
    CU_ASSERT_STRING_EQUAL(sums[0], sums[1]);
    CU_ASSERT_STRING_EQUAL(sums[2], "");
    remove_database();
}

/* Nothing but the chip differs, so the results are the same and the larger GPU is faster. */
static void test_chips_agree(void)
{
    static const char *const chips[] = {"m1", "m2-max", "m3-max"};
    char first[64] = "";
    double busy[3] = {0};
    for (int i = 0; i < 3 && orchard("run softmax:512x1000 --json --chip %s", chips[i]); i++) {
        json_object *d = document();
        if (!d)
            break;
        if (i == 0)
            snprintf(first, sizeof first, "%s", checksum(d, "out"));
        CU_ASSERT_STRING_EQUAL(checksum(d, "out"), first);
        busy[i] = number(d, "device_seconds");
        json_object_put(d);
    }
    CHECK(busy[1] < busy[0], "%g and %g s", busy[1], busy[0]);
    remove_database();
}

/* A copy of memory beyond every cache cannot beat DRAM, and must use most of it. */
static void test_streams_are_bound_by_dram(void)
{
    if (orchard("run copy:268435456 --json --chip m1 --mode timing")) {
        json_object *d = document();
        const double gbps = d ? 2 * 0x1p28 / number(d, "device_seconds") * 1e-9 : 0;
        CHECK(gbps > 0.6 * 68.25 && gbps < 68.25, "%g GB/s", gbps);
        json_object_put(d);
    }
    remove_database();
}

static void test_wrong_requests(void)
{
    static const struct {
        const char *arguments;
        int code;
        const char *says;
    } rows[] = {
        {"run softmax:10x10 --unit amx", 3, "the gpu has"},
        {"run sofmax:10x10", 2, "softmax"},
        {"run softmax:10 --unit gpu", 2, "RxC"},
        {"run gemm:8x8x8 --unit gpu --precision f63", 2, "f63"},
        {"run gemm:8x8x8 --unit gpu --cores 2", 2, "--cores"},
        {"run gemm:8x8x8 --unit gpu --detail op", 3, "--detail op"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && orchard("%s", rows[i].arguments); i++)
        CHECK(outcome.code == rows[i].code && strstr(outcome.err, rows[i].says), "%s: exit %d: %s", rows[i].arguments, outcome.code,
              outcome.err);
    remove_database();
}

static void test_kernels_are_listed(void)
{
    if (orchard("kernels list --json")) {
        CHECK(outcome.code == 0 && strstr(outcome.out, "softmax") && strstr(outcome.out, "stream-triad"), "%.300s", outcome.out);
        CHECK(orchard("kernels show softmax") && outcome.code == 0 && strstr(outcome.out, "gpu"), "%.300s", outcome.out);
    }
    remove_database();
}

static const struct suite_test tests[] = {
    {"steps of a kernel add up in every mode", test_steps_add_up},
    {"results do not depend on the chip", test_chips_agree},
    {"streams are bound by DRAM", test_streams_are_bound_by_dram},
    {"wrong requests are told", test_wrong_requests},
    {"the list has kernels of every unit", test_kernels_are_listed},
};
SUITE_MAIN("gpu_library", tests)
