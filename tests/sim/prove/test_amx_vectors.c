/* Golden vectors of the AMX unit on all three execution paths, and how the reader treats bad files. The source of the vectors is
 * named in tests/golden/amx/README.md.
 */
#include "isa/array_count.h"
#include "sim/prove/check/amx_vector_state.h"
#include "sim/prove/check/amx_vectors.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned long cases;
} files[] = {
    {"ldst", 4566},  {"extr", 8423},   {"fma", 2102},   {"fms", 2104},    {"mac16", 2447},   {"vecint", 6080},
    {"vecfp", 3418}, {"matint", 3682}, {"matfp", 2744}, {"genlut", 2122}, {"programs", 600}, {"full_states", 10},
};

static void check_all(enum amx_path path)
{
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        struct check_report report = {.passed = 0};
        struct orch_error error = {.text = ""};
        char name[64];
        snprintf(name, sizeof name, "amx/%s.txt.gz", files[i].name);
        CHECK(check_amx_vectors(suite_golden(name), path, &report, &error), "%s", error.text);
        CHECK(check_holds(&report) && report.passed == files[i].cases, "%s: %lu passed, %lu failed, first: %s", name,
              report.passed, report.failed, report.failures.count ? report.failures.text[0] : "none");
        check_report_free(&report);
    }
}

static void test_reference(void)
{
    check_all(AMX_PATH_REFERENCE);
}

static void test_fast(void)
{
    check_all(AMX_PATH_FAST);
}

static void test_portable(void)
{
    check_all(AMX_PATH_PORTABLE);
}

/* Hashes of the states of seed 1, as published with the vectors. */
static void test_initial_states(void)
{
    static const struct {
        const char *kind;
        struct amx_vector_hashes hashes;
    } published[] = {
#define ROW(kind, x, y, z, m) {kind, {UINT64_C(0x##x), UINT64_C(0x##y), UINT64_C(0x##z), UINT64_C(0x##m)}},
        ROW("R", ab2870c14a697fda, 5ee5b555a7d5903d, c435bc3431af4469,
            d33b94528968f0ec) ROW("F16", 1996b3c185e3ece2, 9b6df539e982a40d, e71f79c436228939, ebde122d299a8184)
            ROW("BF16", c4d021988d622b6c, 88f8f311524e2952, 8ccfa83037d048f1,
                30e0026f0ddba4fb) ROW("F32", b6fa31720188f077, 13c609466eba96c9, 288182d165ab4f6f, 9fc54db3f8361191)
                ROW("F64", 0498e822b9e62cea, e20d585dc9941b40, 357ac0c2ffdc8c90, 9d2c77ef27dbd8c7) ROW(
                    "I8", dbc1cff96fe2637a, a2b0a06765c6cc9d, 933406f887234109,
                    9b978cbe0a58f7dc) ROW("I16", e10a7132aa7fa38b, e9c884f3505170b6, 1015d4391a5d687a, e2dd5ec6beff3a02)
                    ROW("S16", e9099e4c0346d989, 789d746988d9a57c, 2d5bf5fd5180aebe, ef50bef3f42f4109) ROW(
                        "SB16", fb77da45c83cacac, be27b916155bb396, 94bf2d6fee01a0cb,
                        7e9489182831b4a9) ROW("S32", 3f01be1737dd100c, a7d4871fa836744f, 92fb8ed5e63b6d98, 4863c09b8be63ce7)
                        ROW("S64", 7fada317954040aa, c92ae3ad8186817f, 62a8e5ec16dc0a65, f2bd5812ad31e367) ROW(
                            "GF16", 84ba1a22429b4c36, c0a4358ea81e285d, e71f79c436228939,
                            ebde122d299a8184) ROW("GBF16", 5064c9ac058741ac, d191a05302a712b6, 8ccfa83037d048f1, 30e0026f0ddba4fb)
                            ROW("GF32", df1b42ceef59f3eb, b7f004d2c527e641, 288182d165ab4f6f, 9fc54db3f8361191) ROW(
                                "GF64", cd55c795f7c9c0b6, adc3f96716c0c5dc, 357ac0c2ffdc8c90, 9d2c77ef27dbd8c7)
                                ROW("GI16", aa245c3c92b28de2, b80a7cb5deb96a9d, c435bc3431af4469, d33b94528968f0ec)
                                    ROW("GI32", 43070cf97ffa7822, eac020b796470f05, c435bc3431af4469, d33b94528968f0ec)
                                        ROW("GU16", e8aaf22b725308ce, 318fa6594503e9f5, c435bc3431af4469, d33b94528968f0ec)
                                            ROW("GU32", 8920158ecec8ca7e, a13640b5769973d9, c435bc3431af4469, d33b94528968f0ec)
#undef ROW
    };
    static struct amx_vector_state state;
    for (size_t i = 0; i < ARRAY_COUNT(published); i++) {
        struct amx_vector_hashes hashes;
        CHECK(amx_vector_fill(published[i].kind, 1, &state), "%s", published[i].kind);
        amx_vector_hash(&state, &hashes);
        CHECK(memcmp(&hashes, &published[i].hashes, sizeof hashes) == 0, "%s", published[i].kind);
    }
    CU_ASSERT_FALSE(amx_vector_fill("F8", 1, &state));
}

/* Checks a file that holds `text`. True when it could be read. */
static bool check_text(const char *name, const char *text, struct check_report *report, struct orch_error *error)
{
    char path[] = "/tmp/orchard_vectors_XXXXXX";
    const int fd = mkstemp(path);
    *error = (struct orch_error){.text = ""};
    CU_ASSERT_FATAL(fd >= 0);
    const ssize_t written = write(fd, text, strlen(text));
    CU_ASSERT_EQUAL(written, (ssize_t)strlen(text));
    lseek(fd, 0, SEEK_SET);
    const bool ok = check_amx_vectors_fd(fd, name, AMX_PATH_REFERENCE, report, error);
    close(fd);
    unlink(path);
    return ok;
}

static void expect_malformed(const char *name, const char *text, const char *message)
{
    struct check_report report = {.passed = 0};
    struct orch_error error;
    CHECK(!check_text(name, text, &report, &error), "%s: %s", name, text);
    CHECK(strstr(error.text, message) != NULL && error.exit_code == ORCH_USAGE, "\"%s\" has no \"%s\"", error.text, message);
    check_report_free(&report);
}

#define HASHES "d45bf5147231755c 043357821cf1b455 2d8ebac60060aeef 4e38c836acba4d6c\n"

static void test_malformed_lines(void)
{
    expect_malformed("fma.txt", "", "fma.txt: no vectors");
    expect_malformed("fma.txt", "\n", "fma.txt:1: expected a mnemonic");
    expect_malformed("fma.txt", "fma64 10 M5 R e4d92bf591728076 123c3ea876 " HASHES, "fma.txt:1: expected a generation");
    expect_malformed("fma.txt", "fma64 10 M1 Q e4d92bf591728076 123c3ea876 " HASHES, "expected a kind");
    expect_malformed("fma.txt", "fma32 10 M1 R e4d92bf591728076 123c3ea876 " HASHES, "the mnemonic that belongs");
    expect_malformed("fma.txt", "fma64 10 M1 R e4d92bf59172807 123c3ea876 " HASHES, "16 hex digits");
    expect_malformed("fma.txt", "fma64 10 M1 R e4d92bf591728076 zz " HASHES, "a seed in hex");
    expect_malformed("fma.txt", "fma64 10 M1 R e4d92bf591728076 1 0 0 0 0\n", "four hashes");
    expect_malformed("fma.txt", "fma64 10 M1 R e4d92bf591728076 1 d45bf5147231755c\n", "four hashes");
    expect_malformed("fma.txt", "? 23 M1 R e4d92bf591728076 1 " HASHES, "an op of 0..22");
    expect_malformed("fma.txt", "set 17 M1 R 0000000000000000 1 " HASHES, "an op of 0..22");
    expect_malformed("ldst.txt", "ldx 0 M1 R 00000000000003c1 1 " HASHES, "inside the 1024-byte memory block");
    expect_malformed("ldst.txt", "ldx 0 M1 R 0000000000000400 1 " HASHES, "inside the 1024-byte memory block");
    expect_malformed("programs.txt", "prog M1 R 1 2 10:0000000000000000 " HASHES, "op:operand");
    expect_malformed("full_states.txt", "== fma64 10 M1 R e4d92bf591728076 1\npost\n",
                     "full_states.txt:2: expected the line \"pre\"");
    expect_malformed("full_states.txt", "== fma64 10 M1 R e4d92bf591728076 1\npre\nX0 00\n", "full_states.txt:3: expected X0");
    expect_malformed("other.txt", "x", "no AMX vector file by its name");
}

/* The second vector of fma.txt.gz passes; with one digit of the Z hash changed it fails. */
static void test_wrong_hash_fails(void)
{
    static const char line[] = "fma64 10 M1 R e4d92bf591728076 123c3ea876 " HASHES;
    char wrong[sizeof line];
    struct check_report report = {.passed = 0};
    struct orch_error error;
    memcpy(wrong, line, sizeof line);
    char *digit = strstr(wrong, "2d8ebac6");
    CU_ASSERT_PTR_NOT_NULL_FATAL(digit);
    *digit = '3';
    CU_ASSERT(check_text("fma.txt", line, &report, &error) && check_holds(&report));
    CU_ASSERT(check_text("fma.txt", wrong, &report, &error));
    CU_ASSERT_FALSE(check_holds(&report));
    CU_ASSERT_EQUAL(report.failed, 1);
    CHECK(report.failures.count == 1 &&
              strcmp(report.failures.text[0], "fma.txt:1: fma64 10 M1 R e4d92bf591728076 123c3ea876: differs in Z") == 0,
          "%s", report.failures.count ? report.failures.text[0] : "no text");
    check_report_free(&report);
}

static void test_cut_gzip(void)
{
    char path[] = "/tmp/orchard_vectors_XXXXXX";
    char bytes[4096];
    struct check_report report = {.passed = 0};
    struct orch_error error = {.text = ""};
    FILE *whole = fopen(suite_golden("amx/fma.txt.gz"), "rb");
    const int fd = mkstemp(path);
    CU_ASSERT_FATAL(whole != NULL && fd >= 0);
    CU_ASSERT_EQUAL(fread(bytes, 1, sizeof bytes, whole), sizeof bytes);
    CU_ASSERT_EQUAL(write(fd, bytes, sizeof bytes), (ssize_t)sizeof bytes);
    lseek(fd, 0, SEEK_SET);
    CU_ASSERT_FALSE(check_amx_vectors_fd(fd, "fma.txt.gz", AMX_PATH_REFERENCE, &report, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    fclose(whole);
    close(fd);
    unlink(path);
    check_report_free(&report);
}

static void test_report_text(void)
{
    struct check_report report = {.passed = 0};
    char *text = NULL;
    size_t size = 0;
    CU_ASSERT_FALSE(check_holds(&report)); /* nothing ran */
    for (unsigned i = 0; i < CHECK_FAILURES_KEPT + 5; i++)
        check_fail(&report, "case %u", i);
    check_pass(&report);
    check_skip(&report, "no device");
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    check_print_details(&report, out);
    check_print_closing(&report, out);
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "failed: case 99\nfailed: 5 more not listed\nskipped: no device\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n1 passed, 105 failed, 1 skipped\n"));
    struct json_object *json = check_report_json(&report);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    CU_ASSERT_EQUAL(json_object_get_int64(json_object_object_get(json, "failed")), 105);
    CU_ASSERT_EQUAL(json_object_array_length(json_object_object_get(json, "failures")), CHECK_FAILURES_KEPT);
    json_object_put(json);
    free(text);
    check_report_free(&report);
}

static const struct suite_test tests[] = {
    {"the reference path reproduces the golden vectors", test_reference},
    {"the fast path reproduces the golden vectors", test_fast},
    {"the portable path reproduces the golden vectors", test_portable},
    {"initial states hash as published", test_initial_states},
    {"malformed lines are refused with their place", test_malformed_lines},
    {"a wrong hash fails and names the state", test_wrong_hash_fails},
    {"a truncated gzip file is refused", test_cut_gzip},
    {"the report counts, lists and closes", test_report_text},
};
SUITE_MAIN("amx vectors", tests)
