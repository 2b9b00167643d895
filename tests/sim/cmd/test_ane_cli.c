/* The Neural Engine on the command line: run and its document, build, isa ane, kernels, capabilities, the database, exit codes.
 */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct cli_home home = {.name = "ane-cli", .options = "-q"};

/* Checksum of the only output. */
static void read_checksum(json_object *d, char out[64])
{
    out[0] = 0;
    json_object_object_foreach(document_at(d, "checksum"), name, value)
    {
        (void)name;
        snprintf(out, 64, "%s", json_object_get_string(value));
    }
}

static void test_document(void)
{
    static const char *const keys[] = {"run_id", "chip",       "workload",    "unit",         "precision",
                                       "detail", "mode",       "seconds_low", "seconds_high", "host_seconds",
                                       "cycles", "dram_bytes", "placement",   "assumptions"};
    if (!cli_ask(&home, "run gemm:256x256x256 --unit ane --json"))
        return;
    json_object *d = cli_document(&home.outcome);
    double sum = 0;
    for (size_t i = 0; d && i < ARRAY_COUNT(keys); i++)
        CHECK(json_object_object_get_ex(d, keys[i], NULL), "%s", keys[i]);
    if (!d)
        return;
    json_object_object_foreach(document_at(d, "stalls"), reason, share)
    {
        CHECK(strncmp(reason, "ane.", 4) == 0, "%s", reason);
        sum += json_object_get_double(share);
    }
    CU_ASSERT_DOUBLE_EQUAL(sum, 1, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(document_number(d, "seconds"),
                           document_number(d, "device_seconds") + document_number(d, "overhead_seconds"), 1e-12);
    CU_ASSERT_EQUAL(document_number(d, "macs"), 256.0 * 256 * 256);
    CU_ASSERT_EQUAL(document_number(d, "native_mac_share"), 1);
    CU_ASSERT_STRING_EQUAL(document_text(d, "unit"), "ane");
    CU_ASSERT_STRING_EQUAL(document_text(d, "precision"), "f16");
    CU_ASSERT_STRING_EQUAL(document_text(d, "bound_by"), "ane.request");
    CU_ASSERT(json_object_get_double(document_at(document_at(d, "utilisation"), "ane")) > 0);
    json_object_put(d);
    if (cli_ask(&home, "db check"))
        CHECK(home.outcome.code == 0, "%s", home.outcome.out);
}

static void test_explain(void)
{
    if (!cli_ask(&home, "run %s --explain --mode timing", suite_golden("ane/eiln/activation_softmax.bin.gz")))
        return;
    static const char *const said[] = {"max of rows", "2560 rows of 1600", "exp2", "4096000", "sum of rows, reciprocal", "mul",
                                       "limit"};
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    for (size_t i = 0; i < ARRAY_COUNT(said); i++)
        CHECK(strstr(home.outcome.out, said[i]) != NULL, "%s is not in %s", said[i], home.outcome.out);
}

/* A built program is a program like any other: the file, its listing and both containers give the same numbers. */
static void test_build(void)
{
    static const char *const kernels[] = {"conv2d:c=20,h=10,w=12,k=24,pad=1,bias=1,act=relu", "conv-stack:layers=2,c=16,h=5,w=9",
                                          "pool:c=4,h=8,w=9"};
    static const char *const files[] = {"built.hwx", "built.bin"};
    for (int k = 0; k < 3 && cli_ask(&home, "run %s --unit ane --json --seed 3", kernels[k]); k++) {
        char first[64], again[64];
        json_object *d = cli_document(&home.outcome);
        if (!d)
            return;
        read_checksum(d, first);
        json_object_put(d);
        for (int i = 0; i < 2; i++) {
            cli_ask(&home, "build %s --unit ane --seed 3 -o $/%s", kernels[k], files[i]);
            CHECK(home.outcome.code == 0, "%s", home.outcome.err);
            cli_ask(&home, "isa disasm ane $/%s", files[i]);
            CU_ASSERT_EQUAL(home.outcome.code, 0);
            cli_ask(&home, "run $/%s --seed 3 --json --mode functional", files[i]);
            d = cli_document(&home.outcome);
            read_checksum(d, again);
            json_object_put(d);
            CHECK(first[0] && strcmp(first, again) == 0, "%s in %s: %s and %s", kernels[k], files[i], first, again);
            cli_ask(&home, "isa check ane $/%s", files[i]);
            CHECK(home.outcome.code == 0, "%s%s", home.outcome.out, home.outcome.err);
        }
    }
}

static bool same_files(const char *a, const char *b)
{
    char command[512];
    snprintf(command, sizeof command, "cmp -s %s/%s %s/%s", home.folder, a, home.folder, b);
    return system(command) == 0;
}

static void test_listing_assembles_back(void)
{
    char path[128];
    if (!cli_ask(&home, "build conv2d:c=8,h=6,w=6,k=8 --unit ane -o $/one.hwx") || !cli_ask(&home, "isa disasm ane $/one.hwx"))
        return;
    snprintf(path, sizeof path, "%s/one.s", home.folder);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(home.outcome.out, f);
    fclose(f);
    cli_ask(&home, "isa asm ane $/one.s -o $/two.hwx");
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    CU_ASSERT(same_files("one.hwx", "two.hwx"));
    cli_ask(&home, "isa disasm ane $/one.hwx --json");
    json_object *d = cli_document(&home.outcome);
    CU_ASSERT(d && json_object_array_length(d) > 20);
    json_object_put(d);
    cli_ask(&home, "isa table ane");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "Common.Cin"), "%.200s", home.outcome.out);
}

static void test_check(void)
{
    char files[1024] = "";
    static const char *const names[] = {"tinygrad/conv.ff52f832dc.hwx.gz", "tinygrad/golden.1dcaecacc4.hwx.gz",
                                        "tinygrad/relu.da873cd556.hwx.gz", "tinygrad/sum.6ca449afd2.hwx.gz",
                                        "eiln/unary_sqrt.bin.gz"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char name[96];
        snprintf(name, sizeof name, "ane/%s", names[i]);
        snprintf(files + strlen(files), sizeof files - strlen(files), " %s", suite_golden(name));
    }
    if (!cli_ask(&home, "isa check ane%s", files))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    CHECK(strstr(home.outcome.out, "computes conv2d") && strstr(home.outcome.out, "computes add") &&
              strstr(home.outcome.out, "\n5 passed, 0 failed\n"),
          "%s", home.outcome.out);
    cli_ask(&home, "isa check ane%s --json", files);
    json_object *d = cli_document(&home.outcome);
    CU_ASSERT_EQUAL(document_number(d, "passed"), 5);
    CU_ASSERT_EQUAL(json_object_array_length(document_at(d, "files")), 5);
    json_object_put(d);
}

/* The check notices a bit that the descriptor keeps but that belongs to no task, and a wrong weight. */
static void test_check_notices(void)
{
    char path[128];
    uint8_t bytes[1 << 16];
    if (!cli_ask(&home, "build conv2d:c=8,h=6,w=6,k=8 --unit ane -o $/good.hwx"))
        return;
    snprintf(path, sizeof path, "%s/good.hwx", home.folder);
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    CU_ASSERT_FATAL(size > 0x4280);
    bytes[0x4000 + 0x0c] ^= 1; /* Exceptions: a header field that no task sets */
    snprintf(path, sizeof path, "%s/bad.hwx", home.folder);
    f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fwrite(bytes, 1, size, f);
    fclose(f);
    cli_ask(&home, "isa check ane $/bad.hwx");
    CHECK(home.outcome.code != 0, "%s", home.outcome.out);
}

static void test_lists(void)
{
    if (!cli_ask(&home, "kernels show conv-stack"))
        return;
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "units: ane"), "%s", home.outcome.out);
    cli_ask(&home, "kernels list --json");
    json_object *d = cli_document(&home.outcome);
    unsigned on_ane = 0;
    for (size_t i = 0; d && i < json_object_array_length(d); i++)
        on_ane += strcmp(document_text(json_object_array_get_idx(d, i), "units"), "ane") == 0;
    CU_ASSERT(on_ane >= 10);
    json_object_put(d);
    cli_ask(&home, "capabilities --chip m1,m3 --json");
    d = cli_document(&home.outcome);
    for (int i = 0; d && i < 2; i++) {
        json_object *units = document_at(json_object_array_get_idx(d, (size_t)i), "units");
        bool found = false;
        for (size_t k = 0; k < json_object_array_length(units); k++) {
            json_object *u = json_object_array_get_idx(units, k);
            if (strcmp(document_text(u, "unit"), "ane") != 0)
                continue;
            found = json_object_get_boolean(document_at(u, "runs_programs"));
            CHECK(strstr(json_object_to_json_string(document_at(u, i ? "features" : "features_missing")), "sine and cosine") !=
                      NULL,
                  "chip %d", i);
        }
        CU_ASSERT(found);
    }
    json_object_put(d);
}

static void test_several_chips(void)
{
    if (!cli_ask(&home, "run conv-stack:layers=4,c=128,h=32,w=32 --unit ane --json --chip m1,m2,m4"))
        return;
    json_object *d = cli_document(&home.outcome);
    char sum[3][64];
    double busy[3] = {0};
    for (size_t i = 0; d && i < 3; i++) {
        json_object *r = json_object_array_get_idx(d, i);
        read_checksum(r, sum[i]);
        busy[i] = document_number(r, "device_seconds");
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
        {"build model.onnx --unit ane -o x.hwx", 2, "model.onnx: No such file"},
        {"build conv2d:c=8,h=6,w=6,k=8 --unit gpu -o no/folder", 2, "No such file"},
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
    for (size_t i = 0; i < ARRAY_COUNT(rows) && cli_ask(&home, "%s", rows[i].arguments); i++)
        CHECK(home.outcome.code == rows[i].code && strstr(home.outcome.err, rows[i].says) && !home.outcome.out[0],
              "%s: exit %d: %s", rows[i].arguments, home.outcome.code, home.outcome.err);
}

int main(void)
{
    static const struct suite_test tests[] = {
        {"the document of a run has the engine's numbers", test_document},
        {"--explain lists descriptors", test_explain},
        {"built programs run like their kernels", test_build},
        {"listings assemble back", test_listing_assembles_back},
        {"program files are checked", test_check},
        {"checks notice altered files", test_check_notices},
        {"kernels and capabilities list the Neural Engine", test_lists},
        {"one command runs several chips", test_several_chips},
        {"wrong use and unmodelled requests have exit codes", test_exit_codes},
    };
    const int code = suite_run("ane_cli", tests, ARRAY_COUNT(tests));
    return cli_home_remove(&home) ? code : 1;
}
