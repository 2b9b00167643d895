/* Questions and their answers: documents, paths in them, errors. */
#include "tests/sim/api/ask_session.h"
#include "tests/support/cli_binary.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- answers ---- */

static void test_a_run(void)
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    struct orchard_answer *a = orchard_run(&session, "gemm:64x64x64", LIST("unit=amx", "chip=m1"), &error);
    CHECK(a != NULL, "%s", error.text);
    if (!a)
        return;
    CU_ASSERT_EQUAL(orchard_answer_code(a), 0);
    const double seconds = orchard_answer_number(a, "seconds");
    CU_ASSERT(seconds > 0 && seconds < 1e-3);
    CU_ASSERT(orchard_answer_number(a, "seconds_low") <= seconds && orchard_answer_number(a, "seconds_high") >= seconds);
    CU_ASSERT_EQUAL(orchard_answer_number(a, "flops"), 2.0 * 64 * 64 * 64);
    CU_ASSERT_STRING_EQUAL(orchard_answer_text(a, "unit"), "amx");
    CU_ASSERT_STRING_EQUAL(orchard_answer_text(a, "placement[0].unit"), "amx");
    CU_ASSERT(orchard_answer_number(a, "joules_by.amx") > 0);
    CU_ASSERT(orchard_answer_number(a, "counters.amx.fma32") > 0); /* a dot within the name */
    double sum = 0;
    for (size_t i = 0; orchard_answer_key(a, "stalls", i); i++) {
        char path[128];
        snprintf(path, sizeof path, "stalls.%s", orchard_answer_key(a, "stalls", i));
        sum += orchard_answer_number(a, path);
    }
    CU_ASSERT_DOUBLE_EQUAL(sum, 1, 1e-9);
    CU_ASSERT(orchard_answer_has(a, "device") && !orchard_answer_text(a, "device")); /* null */
    CU_ASSERT(orchard_answer_json(a)[0] == '{' && orchard_answer_output(a)[0] == 0);
    orchard_answer_free(a);
}

static void test_paths_that_lead_nowhere(void)
{
    static const char *const paths[] = {"nothing",      "seconds.x",   "seconds[0]", "placement[9]",
                                        "placement[x]", "placement[0", "[0]",        "placement[0]unit",
                                        ".seconds",     "seconds.",    "stalls..x",  "placement[-1]"};
    const struct orchard_session session = silent();
    struct orchard_answer *a = orchard_run(&session, "gemm:64x64x64", LIST("unit=amx", "chip=m1"), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        CHECK(!orchard_answer_has(a, paths[i]), "%s", paths[i]);
        CHECK(isnan(orchard_answer_number(a, paths[i])) && !orchard_answer_text(a, paths[i]), "%s", paths[i]);
        CHECK(orchard_answer_count(a, paths[i]) == 0 && !orchard_answer_key(a, paths[i], 0), "%s", paths[i]);
    }
    CU_ASSERT(orchard_answer_count(a, "") > 20 && strcmp(orchard_answer_key(a, "", 0), "run_id") == 0);
    CU_ASSERT_PTR_NULL(orchard_answer_key(a, "placement", 0)); /* a list has no keys */
    CU_ASSERT_PTR_NULL(orchard_answer_key(a, "", 1000));
    orchard_answer_free(a);
    orchard_answer_free(NULL);
}

static void test_several_chips(void)
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    struct orchard_answer *a = orchard_run(&session, "gemm:128x128x128", LIST("unit=amx", "chip=m1,m2"), &error);
    CHECK(a != NULL, "%s", error.text);
    if (!a)
        return;
    CU_ASSERT_EQUAL(orchard_answer_count(a, ""), 2);
    CU_ASSERT(orchard_answer_number(a, "[0].seconds") > orchard_answer_number(a, "[1].seconds"));
    CU_ASSERT(strncmp(orchard_answer_text(a, "[1].chip"), "m2", 2) == 0);
    orchard_answer_free(a);
}

/* A verb that answers one chip after the other: the answer is the list of its documents. */
/* Each part that the list of chips has, once. */
static void test_all_chips(void)
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    struct orchard_answer *all = NULL, *list = NULL;
    CU_ASSERT_EQUAL(orchard_ask(&session, "capabilities", NULL, LIST("chip=all"), &all, &error), 0);
    CU_ASSERT_EQUAL(orchard_ask(&session, "chips", NULL, NULL, &list, NULL), 0);
    CHECK(all && list, "%s", error.text);
    const size_t count = all ? orchard_answer_count(all, "") : 0;
    CHECK(count > 20 && list && count == orchard_answer_count(list, ""), "%zu chips", count);
    orchard_answer_free(all);
    orchard_answer_free(list);
}

static void test_several_documents(void)
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    struct orchard_answer *a;
    CU_ASSERT_EQUAL(orchard_ask(&session, "tune", LIST("gemm:64x64x64"), LIST("unit=amx", "chip=m1,m2", "dry-run"), &a, &error),
                    0);
    CHECK(a != NULL, "%s", error.text);
    if (!a)
        return;
    CU_ASSERT(orchard_answer_count(a, "") == 2 && orchard_answer_json(a)[0] == '[');
    CU_ASSERT(orchard_answer_number(a, "[1].speedup") >= 1 && strncmp(orchard_answer_text(a, "[1].chip"), "m2", 2) == 0);
    orchard_answer_free(a);
}

/* Bytes and all: the command line prints what the library answers. */
static void test_documents_are_those_of_the_command_line(void)
{
    static const struct {
        const char *line, *verb, *words[4], *options[3];
    } rows[] = {{"chips show m1 --set gpu_cores=7 --json", "chips", {"show", "m1"}, {"set=gpu_cores=7"}},
                {"kernels show gemm --json", "kernels", {"show", "gemm"}, {0}},
                {"capabilities --chip m1,m3 --json", "capabilities", {0}, {"chip=m1,m3"}},
                {"chips diff m1 m2 --json", "chips", {"diff", "m1", "m2"}, {0}}};
    static struct cli_outcome outcome;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct orchard_answer *a;
        if (!cli_run_or_skip(rows[i].line, &outcome))
            return;
        CU_ASSERT_EQUAL(orchard_ask(NULL, rows[i].verb, rows[i].words, rows[i].options, &a, NULL), outcome.code);
        CU_ASSERT_PTR_NOT_NULL_FATAL(a);
        const char *const json = orchard_answer_json(a);
        CHECK(strncmp(outcome.out, json, strlen(json)) == 0 && strcmp(outcome.out + strlen(json), "\n") == 0, "%s", rows[i].line);
        orchard_answer_free(a);
    }
}

/* The text for people and the answer, of one question. */
static void test_text_and_answer(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct orchard_session session = silent();
    struct orchard_answer *a;
    session.text = out;
    CU_ASSERT_EQUAL(orchard_ask(&session, "run", LIST("gemm:64x64x64"), LIST("unit=amx"), &a, NULL), 0);
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT(strstr(text, "gemm:64x64x64") && strstr(text, "Gflop/s") && !strchr(text, '{'));
    CU_ASSERT(orchard_answer_number(a, "seconds") > 0);
    orchard_answer_free(a);
    free(text);
    text = NULL;
    session.text = open_memstream(&text, &size);
    CU_ASSERT_EQUAL(orchard_ask(&session, "chips", LIST("show", "m1"), LIST("json"), &a, NULL), 0);
    fclose(session.text);
    CHECK(strncmp(text, orchard_answer_json(a), strlen(orchard_answer_json(a))) == 0, "%.60s", text);
    orchard_answer_free(a);
    free(text);
}

static void test_output_without_document(void)
{
    struct orchard_answer *a;
    struct orchard_error error;
    CU_ASSERT_EQUAL(orchard_ask(NULL, "isa", LIST("table", "amx"), NULL, &a, &error), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT(strstr(orchard_answer_output(a), "fma32") && !orchard_answer_json(a));
    CU_ASSERT(!orchard_answer_has(a, "") && orchard_answer_count(a, "") == 0);
    orchard_answer_free(a);
    CU_ASSERT_EQUAL(orchard_ask(NULL, "isa", LIST("table", "amx"), NULL, NULL, &error), 0); /* nobody listens */
    const struct orchard_session session = silent();
    CU_ASSERT_EQUAL(orchard_ask(&session, "db", LIST("sql", "SELECT 2 AS two"), NULL, &a, &error), 0);
    CHECK(a && orchard_answer_number(a, "[0].two") == 2, "%s", a ? orchard_answer_json(a) : error.text);
    orchard_answer_free(a);
}

/* ---- errors ---- */

static void test_errors_name_fields(void)
{
    static const struct {
        const char *verb, *word, *option;
        int code;
        bool words;
        const char *plain, *dashes;
    } rows[] = {
        {"rnu", "x", NULL, 2, false, "unknown command 'rnu'; did you mean run?", "unknown command 'rnu'; did you mean run?"},
        {"run", "gemm:8x8x8", "unti=amx", 2, false, "unknown option 'unti'; did you mean unit?",
         "unknown option '--unti'; did you mean --unit?"},
        {"run", "gemm:8x8x8", "unit", 2, false, "option unit needs a value: UNIT", "option --unit needs a value: UNIT"},
        {"run", "gemm:8x8x8", "cold=yes", 2, false, "option cold takes no value", "option --cold takes no value"},
        {"run", "gemm:8x8x8", "cores=99", 2, false, "cores 99: expected a whole number from 1 to 64",
         "--cores 99: expected a whole number from 1 to 64"},
        {"run", "gemm:8x8x8", "mode=fast", 2, false, "unknown mode 'fast'; did you mean timing? (full|functional|timing)",
         "unknown --mode 'fast'; did you mean timing? (full|functional|timing)"},
        {"run", "gemm:8x8x8", "unit=ame", 2, false, "unit ame: no such choice; did you mean amx?",
         "--unit ame: no such choice; did you mean amx?"},
        {"run", "gemm:8x8x8", "set=nokey=1", 2, false, "set: unknown key 'nokey'", "--set: unknown key 'nokey'"},
        {"run", "gemm:8x8x8", "seed=-1", 2, false, "seed -1: expected", "--seed -1: expected"},
        {"sweep", "gemm:8x8x8", "list=foo", 2, false, "list: ", "-L: "},
        {"build", "gemm:8x8x8", NULL, 2, true, "build needs output OUT", "build needs -o OUT"},
        {"compare", "1", NULL, 2, true, "two to 16 runs to compare", "two to 16 runs to compare"},
    };
    struct orchard_session plain = silent(), dashes = silent();
    dashes.dashes = true;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct orchard_error error;
        struct orchard_answer *a;
        const char *options[] = {rows[i].option, NULL};
        CHECK(orchard_ask(&plain, rows[i].verb, LIST(rows[i].word), options, &a, &error) == rows[i].code, "%zu", i);
        CHECK(!a && error.code == rows[i].code && error.words == rows[i].words, "%zu: %d", i, error.code);
        CHECK(strncmp(error.text, rows[i].plain, strlen(rows[i].plain)) == 0, "%s, not %s", error.text, rows[i].plain);
        orchard_ask(&dashes, rows[i].verb, LIST(rows[i].word), options, NULL, &error);
        CHECK(strncmp(error.text, rows[i].dashes, strlen(rows[i].dashes)) == 0, "%s, not %s", error.text, rows[i].dashes);
        CU_ASSERT(orchard_ask(&plain, rows[i].verb, LIST(rows[i].word), options, NULL, NULL) == rows[i].code);
    }
}

static void test_options_twice(void)
{
    struct orchard_error error;
    const struct orchard_session session = {.options = LIST("seed=3", "set=gpu_cores=7")};
    CU_ASSERT_FALSE(orchard_check_options(NULL, "run", LIST("unit=amx", "unit=gpu"), &error));
    CU_ASSERT_STRING_EQUAL(error.text, "option unit is given twice");
    CU_ASSERT_TRUE(orchard_check_options(&session, "run", LIST("seed=4", "set=a=1", "set=b=2", "cold", "cold"), &error));
    CU_ASSERT_FALSE(orchard_check_options(&session, NULL, LIST("unit=amx"), &error));
    CHECK(strncmp(error.text, "unknown option 'unit'", 21) == 0, "%s", error.text);
    CU_ASSERT_FALSE(orchard_check_options(NULL, "nosuch", NULL, &error));
}

static void test_exit_code_of_a_check(void)
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    struct orchard_answer *a =
        orchard_whatif(&session, "gemm:64x64x64", "seconds<1e-9", LIST("gpu_cores=7:8"), LIST("unit=gpu", "chip=m1"), &error);
    CHECK(a != NULL && error.code == 0, "%s", error.text);
    if (!a)
        return;
    CU_ASSERT_EQUAL(orchard_answer_code(a), 1);
    CU_ASSERT_EQUAL(orchard_answer_number(a, "joint.reached"), 0);
    CU_ASSERT(orchard_answer_has(a, "single.gpu_cores.answers.seconds"));
    orchard_answer_free(a);
}

/* ---- the other common questions ---- */

static void test_a_trace(void)
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    const char *const path = in_folder("t.trace");
    struct orchard_answer *recorded = orchard_trace_record(&session, "gemm:64x64x64", path, LIST("unit=gpu", "chip=m1"), &error);
    CHECK(recorded != NULL, "%s", error.text);
    struct orchard_answer *replayed = orchard_trace_replay(&session, path, LIST("chip=m1"), &error);
    CHECK(replayed != NULL, "%s", error.text);
    if (recorded && replayed) {
        CU_ASSERT_EQUAL(orchard_answer_number(replayed, "replay.launches"), 1);
        CU_ASSERT_DOUBLE_EQUAL(orchard_answer_number(replayed, "seconds"), orchard_answer_number(recorded, "seconds"), 1e-6);
    }
    orchard_answer_free(recorded);
    orchard_answer_free(replayed);
    CU_ASSERT_PTR_NULL(orchard_trace_replay(&session, in_folder("nothing"), NULL, &error));
    CU_ASSERT_EQUAL(error.code, 2);
}

static void test_a_validation_and_a_report(void)
{
    const struct orchard_session session = silent();
    struct orchard_error error;
    const char *const table = in_folder("rows.csv");
    FILE *out = fopen(table, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs("chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n"
          "M1 Max,fma16 in matrix mode Z=f16[32][32],\"1 thread(s), 1 Z accumulators per thread, no loads or "
          "stores\",1453.0,GFLOPS,"
          "measured,github corsix/amx fma.md,m1_max_8p2e_32g\n",
          out);
    fclose(out);
    struct orchard_answer *a = orchard_validate(&session, LIST(table), NULL, &error);
    CHECK(a != NULL, "%s", error.text);
    CU_ASSERT(a && orchard_answer_number(a, "rows") == 1);
    orchard_answer_free(a);
    const char *const page = in_folder("page.html");
    CHECK(orchard_report(&session, page, NULL, NULL, &error), "%s", error.text);
    CU_ASSERT_EQUAL(access(page, R_OK), 0);
    CU_ASSERT_FALSE(orchard_report(&session, page, LIST("nosuchrun"), NULL, &error));
    CU_ASSERT_EQUAL(error.code, 2);
    CU_ASSERT_FALSE(orchard_report(&session, page, LIST("nosuchrun"), NULL, NULL));
}

static const struct suite_test tests[] = {
    {"a run by its numbers", test_a_run},
    {"paths that lead nowhere", test_paths_that_lead_nowhere},
    {"several chips are a list", test_several_chips},
    {"all stands for each chip", test_all_chips},
    {"several documents are a list", test_several_documents},
    {"documents are those of the command line", test_documents_are_those_of_the_command_line},
    {"text and answer of one question", test_text_and_answer},
    {"output that has no document", test_output_without_document},
    {"errors name fields, or options", test_errors_name_fields},
    {"options given twice", test_options_twice},
    {"a goal that is not reached", test_exit_code_of_a_check},
    {"a trace and its replay", test_a_trace},
    {"a validation and a report", test_a_validation_and_a_report},
    {"files are deleted", test_nothing_is_left},
};
SUITE_MAIN("ask", tests)
