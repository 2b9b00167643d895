/* Tools as processes: input, outputs, how they end, and what ends them. */
#include "sim/compile/process.h"
#include "tests/support/suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct process_limits usual = {5, 5, UINT64_C(1) << 30, UINT64_C(1) << 20};

static bool run(const char *script, const char *input, const struct process_limits *limits, struct process_result *r,
                struct orch_error *error)
{
    const char *const words[] = {"-c", script, NULL};
    const struct process_request q = {
        .program = "/bin/sh", .word = words, .input = input, .input_bytes = strlen(input), .limits = *limits};
    *error = (struct orch_error){0};
    return process_run(&q, r, error);
}

static void test_streams(void)
{
    struct process_result r;
    struct orch_error error;
    CU_ASSERT_TRUE(run("cat; echo wrong >&2; exit 3", "some text", &usual, &r, &error));
    CU_ASSERT_EQUAL(r.code, 3);
    CU_ASSERT_EQUAL(r.signal, 0);
    CU_ASSERT_FALSE(r.timed_out);
    CU_ASSERT_EQUAL(r.out_bytes, 9);
    CU_ASSERT_STRING_EQUAL((const char *)r.out, "some text");
    CU_ASSERT_STRING_EQUAL((const char *)r.errors, "wrong\n");
    process_result_free(&r);
}

/* More than any pipe holds, in both directions at once. */
static void test_large_streams(void)
{
    struct process_result r;
    struct orch_error error;
    char *const text = malloc(900001);
    memset(text, 'x', 900000);
    text[900000] = 0;
    CU_ASSERT_TRUE(run("cat", text, &usual, &r, &error));
    CU_ASSERT_EQUAL(r.out_bytes, 900000);
    CU_ASSERT_TRUE(r.out && memcmp(r.out, text, 900000) == 0);
    process_result_free(&r);
    free(text);
}

static void test_surroundings(void)
{
    struct process_result r;
    struct orch_error error;
    setenv("ORCHARD_SECRET", "kept", 1);
    CU_ASSERT_TRUE(run("pwd; echo \"[$ORCHARD_SECRET]\"; echo $LC_ALL", "", &usual, &r, &error));
    CU_ASSERT_STRING_EQUAL((const char *)r.out, "/\n[]\nC\n");
    process_result_free(&r);
    unsetenv("ORCHARD_SECRET");
}

static void test_limits(void)
{
    static const struct {
        const char *script;
        struct process_limits limits;
        bool timed_out;
        int signal; /* 0 = ends by itself, with an error */
    } rows[] = {
        {"sleep 20", {5, 1, UINT64_C(1) << 30, 1 << 20}, true, SIGKILL},
        {"while :; do :; done", {1, 20, UINT64_C(1) << 30, 1 << 20}, false, SIGKILL},
        {"cat /dev/zero", {5, 5, UINT64_C(1) << 30, 1 << 16}, false, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct process_result r;
        struct orch_error error;
        CHECK(run(rows[i].script, "", &rows[i].limits, &r, &error), "%s: %s", rows[i].script, error.text);
        CHECK(r.timed_out == rows[i].timed_out, "%s", rows[i].script);
        CHECK(!rows[i].signal || r.signal == rows[i].signal || r.signal == SIGXCPU, "%s: signal %d", rows[i].script, r.signal);
        CHECK(r.code != 0, "%s: code %d", rows[i].script, r.code);
        CHECK(r.out_bytes <= rows[i].limits.output_bytes, "%s: %zu bytes", rows[i].script, r.out_bytes);
        process_result_free(&r);
    }
}

static void test_missing(void)
{
    static const char *const words[] = {NULL};
    const struct process_request q = {.program = "/nonexistent/tool", .word = words, .input = "", .limits = usual};
    struct process_result r;
    struct orch_error error = {0};
    CU_ASSERT_FALSE(process_run(&q, &r, &error));
    CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, "/nonexistent/tool"), "%s", error.text);
    process_result_free(&r);
}

static const struct suite_test tests[] = {
    {"input and outputs", test_streams},           {"large input and output", test_large_streams},
    {"folder and environment", test_surroundings}, {"limits", test_limits},
    {"a program that is not there", test_missing},
};
SUITE_MAIN("process", tests)
