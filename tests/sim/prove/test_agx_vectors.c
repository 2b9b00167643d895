/* The reader of GPU golden vectors: the files that are there pass, altered lines fail and say where, malformed ones are refused.
 * The lines of exec-* come from applegpu's emulator (dougallj/applegpu, commit 4c5bae6).
 */
#define _GNU_SOURCE
#include "isa/array_count.h"
#include "sim/prove/check/agx_vectors.h"
#include "tests/support/suite.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POP                                                                                                                      \
    "eca929f1c720ec75 i n 1c0169a0 520600000000 1c0169a0 eaee7c88a857b10e - pop_exec r0l="                                       \
    "0003,0002,0001,0002,0002,0000,0002,0000,0000,0003,0001,0000,0001,0000,0000,0002,0000,0001,0003,0003,0001,0003,"             \
    "0002,0001,0002,0001,0000,0000,0000,0002,0002,0001\n"
#define FMUL16 "3aa69b2bc250e1ba f - 0262823e 16b48c706500 0262823e ce97eb9631062bc5 c241bfc61475a945 fmul16 r13l=7089,3ac3\n"
#define PROGRAM                                                                                                                  \
    "94756ac49b0fffb8 f 9 620000005255c4022500d2a50eb00c0cc2bb56268800c25ade4eed00f2051004ef2950a44900d6a40d4713095"             \
    "23c1570020b cabd1d3f 99317d787fe4dd3c - r0l=0000,0000,0000,0000,0000,0000,0003,0003,0000,0003,0000,0000,0000,0"             \
    "003,0003,0003,0000,0003,0000,0000,0000,0000,0003,0000,0003,0000,0003,0000,0003,0003,0000,0000\n"
#define LOAD                                                                                                                     \
    "c2e4f12e7ad03ebf 1 ffffffff 851078451dc020ff 572d3072d4da8dab r2l=806c,806c,806c,806c,806c,806c,806c,806c,806c"             \
    ",806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c,806c"             \
    ",806c\n"

static void check_text(const char *name, const char *text, enum check_agx_path path, struct check_report *report,
                       struct orch_error *error)
{
    const int fd = memfd_create("vectors", MFD_CLOEXEC);
    CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    lseek(fd, 0, SEEK_SET);
    *report = (struct check_report){0};
    *error = (struct orch_error){0};
    check_agx_vectors_fd(fd, name, path, report, error);
    close(fd);
}

static void test_golden(void)
{
    static const struct {
        const char *file;
        unsigned long least;
    } rows[] = {{"agx/encode.txt.gz", 1900}, {"agx/compiler_words.txt.gz", 472}, {"agx/mesa_words.txt.gz", 555}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct check_report report = {0};
        struct orch_error error = {0};
        CHECK(check_agx_vectors(suite_golden(rows[i].file), CHECK_AGX_FAST, &report, &error), "%s", error.text);
        CHECK(report.failed == 0, "%s: %s", rows[i].file, report.failures.count ? report.failures.text[0] : "");
        CHECK(report.passed >= rows[i].least, "%s: %lu passed", rows[i].file, report.passed);
        check_report_free(&report);
    }
}

static void test_executes(void)
{
    static const struct {
        const char *name, *text;
    } rows[] = {{"exec-single.txt", POP}, {"exec-single.txt", FMUL16}, {"exec-program.txt", PROGRAM}, {"exec-load.txt", LOAD}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        for (int path = 0; path < 2; path++) {
            struct check_report report;
            struct orch_error error;
            check_text(rows[i].name, rows[i].text, (enum check_agx_path)path, &report, &error);
            CHECK(report.passed == 1 && report.failed == 0, "%s: %s%s", rows[i].name, error.text,
                  report.failures.count ? report.failures.text[0] : "");
            check_report_free(&report);
        }
}

/* Changes one letter of a hash or of the code. */
static void test_notices(void)
{
    static const struct {
        const char *name, *text, *says;
    } rows[] = {
        {"exec-single.txt", "eca929f1c720ec75 i n 1c0169a0 520600000000 1c0169a0 eaee7c88a857b10f - pop_exec r0l=0003\n",
         "differ"},
        {"exec-single.txt", "eca929f1c720ec75 i n 1c0169a0 520e00000000 1c0169a0 eaee7c88a857b10e - pop_exec r0l=0003\n",
         "r0l lane"},
        {"exec-single.txt", "eca929f1c720ec75 i n 1c0169a1 520600000000 1c0169a0 000000000000000e - pop_exec r1=0\n", ""},
        {"exec-single.txt", "eca929f1c720ec75 i n 1c0169a0 ffffffffffff 1c0169a0 eaee7c88a857b10e - none r0l=0\n", "faults"},
        {"encode.txt", "5206\t0\tpop_exec\t6\t1\tA\tn=0\tpop_exec r0l, 0\n", "fields"},
        {"encode.txt", "8800\t0\ttrap\t2\t1\tA\t\ttrap\n", "mnemonic"},
        {"mesa-words.tsv", "8800\t2\tret\t\tsame-length\tstop\n", "operation"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct check_report report;
        struct orch_error error;
        check_text(rows[i].name, rows[i].text, CHECK_AGX_FAST, &report, &error);
        CHECK(report.failed == 1 && report.passed == 0, "row %zu: %s", i, error.text);
        CHECK(report.failures.count && strstr(report.failures.text[0], rows[i].says) && strstr(report.failures.text[0], ":1: "),
              "row %zu: %s", i, report.failures.count ? report.failures.text[0] : "");
        check_report_free(&report);
    }
}

static void test_refuses(void)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"exec-single.txt", ""},
        {"exec-single.txt", "# only a heading\n"},
        {"exec-single.txt", "xyz\n"},
        {"exec-single.txt", "1 q n 1 8800 1 1 - x y\n"},
        {"exec-single.txt", "1 i m 1 8800 1 1 - x y\n"},
        {"exec-single.txt", "1 i n 1ffffffff 8800 1 1 - x y\n"},
        {"exec-single.txt", "1 i n 1 880 1 1 - x y\n"},
        {"exec-single.txt", "1 i n 1 8800 1 1\n"},
        {"exec-program.txt", "1 i 0 8800 1 1 - y\n"},
        {"exec-program.txt", "1 i 2000 8800 1 1 - y\n"},
        {"exec-load.txt", "1 64 1 8800 1 r0=0\n"},
        {"encode.txt", "zz\t0\n"},
        {"encode.txt", "8800\t0\tstop\n"},
        {"compiler-words.txt", "8800\t0\tstop\t2\n"},
        {"mesa-words.tsv", "8800\t3\tstop\n"},
        {"other.txt", "8800\n"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct check_report report;
        struct orch_error error;
        check_text(rows[i].name, rows[i].text, CHECK_AGX_FAST, &report, &error);
        CHECK(error.exit_code == ORCH_USAGE && report.passed + report.failed == 0, "row %zu: exit code %d, %s", i,
              error.exit_code, error.text);
        check_report_free(&report);
    }
}

/* The complete sets, where they are present. */
static void test_all(void)
{
    const char *folder = suite_shared("vectors/agx");
    if (!folder) {
        suite_skip("the complete vectors are not here");
        return;
    }
    char pattern[4096];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.[gt]*", folder);
    CU_ASSERT_EQUAL_FATAL(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct check_report report = {0};
        struct orch_error error = {0};
        if (!check_agx_knows(found.gl_pathv[i]))
            continue;
        CHECK(check_agx_vectors(found.gl_pathv[i], CHECK_AGX_FAST, &report, &error), "%s", error.text);
        CHECK(report.failed == 0 && report.passed > 400, "%s: %s", found.gl_pathv[i],
              report.failures.count ? report.failures.text[0] : "");
        check_report_free(&report);
    }
    globfree(&found);
}

static const struct suite_test tests[] = {
    {"golden instruction words pass", test_golden},
    {"execution vectors pass, by vectors and by lanes", test_executes},
    {"altered lines fail and say what differs", test_notices},
    {"malformed files are refused", test_refuses},
    {"complete sets pass", test_all},
};
SUITE_MAIN("agx_vectors", tests)
