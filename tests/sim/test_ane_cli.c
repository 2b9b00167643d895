/* The Neural Engine as a user meets it: run and its document, build, isa ane, kernels, capabilities, the database, exit codes. */
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[] = "/tmp/orchard-ane-cli-XXXXXX";
static struct cli_outcome outcome;

/* False when there is no binary to test. */
static bool orchard(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool orchard(const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line, sizeof line - 80, format, args);
    va_end(args);
    snprintf(line + n, 80, " -q --db %s/runs.db", folder);
    return cli_run_or_skip(line, &outcome);
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

static const char *text(json_object *d, const char *key)
{
    json_object *value = NULL;
    CHECK(json_object_object_get_ex(d, key, &value), "%s is missing", key);
    const char *found = json_object_get_string(value);
    return found ? found : "";
}

static json_object *member(json_object *d, const char *key)
{
    json_object *value = NULL;
    json_object_object_get_ex(d, key, &value);
    return value;
}

/* Of the only output. */
static void read_checksum(json_object *d, char out[64])
{
    out[0] = 0;
    json_object_object_foreach(member(d, "checksum"), name, value)
    {
        (void)name;
        snprintf(out, 64, "%s", json_object_get_string(value));
    }
}

static void test_document(void)
{
    static const char *const keys[] = {"run_id",      "chip",        "workload",   "unit",     "precision",   "detail",    "mode",
                                       "seconds_low", "seconds_high", "host_seconds", "cycles", "dram_bytes", "placement", "assumptions"};
    if (!orchard("run gemm:256x256x256 --unit ane --json"))
        return;
    json_object *d = document();
    double sum = 0;
    for (size_t i = 0; d && i < sizeof keys / sizeof keys[0]; i++)
        CHECK(json_object_object_get_ex(d, keys[i], NULL), "%s", keys[i]);
    if (!d)
        return;
    json_object_object_foreach(member(d, "stalls"), reason, share)
    {
        CHECK(strncmp(reason, "ane.", 4) == 0, "%s", reason);
        sum += json_object_get_double(share);
    }
    CU_ASSERT_DOUBLE_EQUAL(sum, 1, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(number(d, "seconds"), number(d, "device_seconds") + number(d, "overhead_seconds"), 1e-12);
    CU_ASSERT_EQUAL(number(d, "macs"), 256.0 * 256 * 256);
    CU_ASSERT_EQUAL(number(d, "native_mac_share"), 1);
    CU_ASSERT_STRING_EQUAL(text(d, "unit"), "ane");
    CU_ASSERT_STRING_EQUAL(text(d, "precision"), "f16");
    CU_ASSERT_STRING_EQUAL(text(d, "bound_by"), "ane.request");
    CU_ASSERT(json_object_get_double(member(member(d, "utilisation"), "ane")) > 0);
    json_object_put(d);
    if (orchard("db check"))
        CHECK(outcome.code == 0, "%s", outcome.out);
}

static void test_explain(void)
{
    if (!orchard("run %s --explain --mode timing", suite_golden("ane/eiln/activation_softmax.bin.gz")))
        return;
    static const char *const said[] = {"max of rows", "2560 rows of 1600", "exp2", "4096000", "sum of rows, reciprocal", "mul", "limit"};
    CU_ASSERT_EQUAL(outcome.code, 0);
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        CHECK(strstr(outcome.out, said[i]) != NULL, "%s is not in %s", said[i], outcome.out);
}

/* A built program is a program like any other: the same numbers from the file, from text and back, in both containers. */
static void test_build(void)
{
    static const char *const kernels[] = {"conv2d:c=20,h=10,w=12,k=24,pad=1,bias=1,act=relu", "conv-stack:layers=2,c=16,h=5,w=9", "pool:c=4,h=8,w=9"};
    static const char *const files[] = {"built.hwx", "built.bin"};
    for (int k = 0; k < 3 && orchard("run %s --unit ane --json --seed 3", kernels[k]); k++) {
        char first[64], again[64];
        json_object *d = document();
        if (!d)
            return;
        read_checksum(d, first);
        json_object_put(d);
        for (int i = 0; i < 2; i++) {
            orchard("build %s --unit ane --seed 3 -o %s/%s", kernels[k], folder, files[i]);
            CHECK(outcome.code == 0, "%s", outcome.err);
            orchard("isa disasm ane %s/%s", folder, files[i]);
            CU_ASSERT_EQUAL(outcome.code, 0);
            orchard("run %s/%s --seed 3 --json --mode functional", folder, files[i]);
            d = document();
            read_checksum(d, again);
            json_object_put(d);
            CHECK(first[0] && strcmp(first, again) == 0, "%s in %s: %s and %s", kernels[k], files[i], first, again);
            orchard("isa check ane %s/%s", folder, files[i]);
            CHECK(outcome.code == 0, "%s%s", outcome.out, outcome.err);
        }
    }
}

static bool same_files(const char *a, const char *b)
{
    char command[512];
    snprintf(command, sizeof command, "cmp -s %s/%s %s/%s", folder, a, folder, b);
    return system(command) == 0;
}

static void test_listing_assembles_back(void)
{
    char path[128];
    if (!orchard("build conv2d:c=8,h=6,w=6,k=8 --unit ane -o %s/one.hwx", folder) || !orchard("isa disasm ane %s/one.hwx", folder))
        return;
    snprintf(path, sizeof path, "%s/one.s", folder);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(outcome.out, f);
    fclose(f);
    orchard("isa asm ane %s/one.s -o %s/two.hwx", folder, folder);
    CHECK(outcome.code == 0, "%s", outcome.err);
    CU_ASSERT(same_files("one.hwx", "two.hwx"));
    orchard("isa disasm ane %s/one.hwx --json", folder);
    json_object *d = document();
    CU_ASSERT(d && json_object_array_length(d) > 20);
    json_object_put(d);
    orchard("isa table ane");
    CHECK(outcome.code == 0 && strstr(outcome.out, "Common.Cin"), "%.200s", outcome.out);
}

static void test_check(void)
{
    char files[1024] = "";
    static const char *const names[] = {"tinygrad/conv.ff52f832dc.hwx.gz", "tinygrad/golden.1dcaecacc4.hwx.gz", "tinygrad/relu.da873cd556.hwx.gz",
                                        "tinygrad/sum.6ca449afd2.hwx.gz", "eiln/unary_sqrt.bin.gz"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[96];
        snprintf(name, sizeof name, "ane/%s", names[i]);
        snprintf(files + strlen(files), sizeof files - strlen(files), " %s", suite_golden(name));
    }
    if (!orchard("isa check ane%s", files))
        return;
    CU_ASSERT_EQUAL(outcome.code, 0);
    CHECK(strstr(outcome.out, "computes conv2d") && strstr(outcome.out, "computes add") && strstr(outcome.out, "\n5 passed, 0 failed\n"),
          "%s", outcome.out);
    orchard("isa check ane%s --json", files);
    json_object *d = document();
    CU_ASSERT_EQUAL(number(d, "passed"), 5);
    CU_ASSERT_EQUAL(json_object_array_length(member(d, "files")), 5);
    json_object_put(d);
}

/* A bit that the descriptor keeps but that belongs to no task is noticed; so is a wrong weight. */
static void test_check_notices(void)
{
    char path[128];
    uint8_t bytes[1 << 16];
    if (!orchard("build conv2d:c=8,h=6,w=6,k=8 --unit ane -o %s/good.hwx", folder))
        return;
    snprintf(path, sizeof path, "%s/good.hwx", folder);
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    CU_ASSERT_FATAL(size > 0x4280);
    bytes[0x4000 + 0x0c] ^= 1; /* Exceptions: a header field that no task sets */
    snprintf(path, sizeof path, "%s/bad.hwx", folder);
    f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fwrite(bytes, 1, size, f);
    fclose(f);
    orchard("isa check ane %s/bad.hwx", folder);
    CHECK(outcome.code != 0, "%s", outcome.out);
}

static void test_lists(void)
{
    if (!orchard("kernels show conv-stack"))
        return;
    CHECK(outcome.code == 0 && strstr(outcome.out, "units: ane"), "%s", outcome.out);
    orchard("kernels list --json");
    json_object *d = document();
    unsigned on_ane = 0;
    for (size_t i = 0; d && i < json_object_array_length(d); i++)
        on_ane += strcmp(text(json_object_array_get_idx(d, i), "units"), "ane") == 0;
    CU_ASSERT(on_ane >= 10);
    json_object_put(d);
    orchard("capabilities --chip m1,m3 --json");
    d = document();
    for (int i = 0; d && i < 2; i++) {
        json_object *units = member(json_object_array_get_idx(d, (size_t)i), "units");
        bool found = false;
        for (size_t k = 0; k < json_object_array_length(units); k++) {
            json_object *u = json_object_array_get_idx(units, k);
            if (strcmp(text(u, "unit"), "ane") != 0)
                continue;
            found = json_object_get_boolean(member(u, "runs_programs"));
            CHECK(strstr(json_object_to_json_string(member(u, i ? "features" : "features_missing")), "sine and cosine") != NULL, "chip %d", i);
        }
        CU_ASSERT(found);
    }
    json_object_put(d);
}

static void test_several_chips(void)
{
    if (!orchard("run conv-stack:layers=4,c=128,h=32,w=32 --unit ane --json --chip m1,m2,m4"))
        return;
    json_object *d = document();
    char sum[3][64];
    double busy[3] = {0};
    for (size_t i = 0; d && i < 3; i++) {
        json_object *r = json_object_array_get_idx(d, i);
        read_checksum(r, sum[i]);
        busy[i] = number(r, "device_seconds");
    }
    CU_ASSERT_STRING_EQUAL(sum[0], sum[1]);
    CHECK(busy[0] > busy[1] && busy[1] > busy[2], "%g %g %g s", busy[0], busy[1], busy[2]);
    json_object_put(d);
}

static void test_exit_codes(void)
{
    static const struct {
        const char *arguments;
        int code;
        const char *says;
    } rows[] = {
        {"build model.onnx --unit ane -o x.hwx", 3, "networks are not read yet"},
        {"build conv2d:c=8,h=6,w=6,k=8 --unit gpu -o x.hwx", 3, "gpu"},
        {"build conv2d:c=8,h=6,w=6,k=8 --unit ane", 2, "-o OUT"},
        {"build conv2d:c=8,h=64,w=64,k=8,r=31,s=31 --unit ane -o x.hwx", 3, "29x29"},
        {"build sotfmax:4x4 --unit ane -o x.hwx", 2, "softmax"},
        {"run conv2d:c=8,h=64,w=64,k=8,r=31,s=31 --unit ane", 3, "29x29"},
        {"run gemm:8x8x8 --unit ane --input q=x.npy", 2, "has no input 'q'"},
        {"run gemm:8x8x8 --unit ane --sanitize", 2, "--sanitize"},
        {"run nothing.hwx", 2, "nothing.hwx"},
        {"isa disasm ane nothing.hwx", 2, "nothing.hwx"},
        {"isa check ane Makefile-that-is-not-there", 2, "Makefile"},
        {"isa asm ane nothing.s", 2, "-o OUT"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && orchard("%s", rows[i].arguments); i++)
        CHECK(outcome.code == rows[i].code && strstr(outcome.err, rows[i].says) && !outcome.out[0], "%s: exit %d: %s", rows[i].arguments,
              outcome.code, outcome.err);
}

int main(void)
{
    static const struct suite_test tests[] = {
        {"the document of a run", test_document},
        {"explain tells descriptors", test_explain},
        {"built programs run like their kernels", test_build},
        {"listings assemble back", test_listing_assembles_back},
        {"checks of program files", test_check},
        {"checks notice changes", test_check_notices},
        {"kernels and capabilities", test_lists},
        {"several chips", test_several_chips},
        {"exit codes", test_exit_codes},
    };
    char command[96];
    if (!mkdtemp(folder))
        return 1;
    const int code = suite_run("ane_cli", tests, sizeof tests / sizeof tests[0]);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) ? 1 : code;
}
