#include "isa/array_count.h"
#include "sim/api/common.h"
#include "sim/cmd/help.h"
#include "sim/cmd/options.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct orchard_option verb_options[] = {
    {"unit", 'u', "UNIT", false, "where to run"},
    {"vary", 'L', "KEY=LIST", true, "what to vary"},
    {"cold", 0, NULL, false, "caches empty"},
    {0},
};
static const struct orchard_option *const tables[] = {api_common_options, cli_own_options, verb_options, NULL};

/* Splits at blanks; "_" is an empty word. */
static int split(char *line, char *words[16])
{
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word && count < 16; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return count;
}

static bool parse(const char *line, struct cli_args *args, struct orchard_error *error)
{
    static char copy[256];
    char *words[16];
    snprintf(copy, sizeof copy, "%s", line);
    *args = (struct cli_args){0};
    *error = (struct orchard_error){0};
    return cli_parse(args, tables, split(copy, words), words, false, NULL, error);
}

static void test_forms(void)
{
    static const char *const lines[] = {
        "gemm:8x8x8 --unit amx --cold -L a=1 -Lb=2",
        "--unit=amx -L a=1 gemm:8x8x8 -L b=2 --cold",
        "-uamx --cold --vary a=1 --vary=b=2 -- gemm:8x8x8",
    };
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        struct cli_args args;
        struct orchard_error error;
        CHECK(parse(lines[i], &args, &error), "%s: %s", lines[i], error.text);
        CHECK(args.words == 1 && strcmp(args.word[0], "gemm:8x8x8") == 0, "%s", lines[i]);
        CHECK(cli_value(&args, "unit") && strcmp(cli_value(&args, "unit"), "amx") == 0, "%s", lines[i]);
        CHECK(cli_has(&args, "cold") && !cli_has(&args, "json"), "%s", lines[i]);
        struct api_args given = {0};
        struct orch_error error_given = {0};
        CHECK(api_args_add(&given, api_common_options, verb_options, (const char *const *)args.option, &error_given), "%s: %s",
              lines[i], error_given.text);
        CHECK(api_count(&given, "vary") == 2 && strcmp(api_value_at(&given, "vary", 0), "a=1") == 0 &&
                  strcmp(api_value_at(&given, "vary", 1), "b=2") == 0,
              "%s", lines[i]);
        CU_ASSERT_PTR_NULL(api_value_at(&given, "vary", 2));
        CU_ASSERT_EQUAL(api_count(&given, "cold"), 1);
        api_args_free(&given);
        cli_args_free(&args);
    }
}

static void test_words(void)
{
    struct cli_args args;
    struct orchard_error error;
    CU_ASSERT_TRUE_FATAL(parse("- a -- --cold -u", &args, &error));
    CU_ASSERT_EQUAL_FATAL(args.words, 4);
    CU_ASSERT_STRING_EQUAL(args.word[0], "-");
    CU_ASSERT_STRING_EQUAL(args.word[2], "--cold");
    CU_ASSERT_PTR_NULL(args.word[4]);
    CU_ASSERT_FALSE(cli_has(&args, "cold"));
    cli_args_free(&args);
}

/* Behind a word and "--", everything is an argument of that program, whatever it looks like. */
static void test_rest(void)
{
    static const struct orchard_option with_args[] = {{"args", 0, "ARG", true, ""}, {0}};
    static const struct orchard_option *const own[] = {verb_options, with_args, NULL};
    char line[] = "a.elf --cold --args=1 -- --cold -x + b", *words[16];
    const int count = split(line, words);
    struct cli_args args = {0};
    struct orchard_error error = {0};
    CU_ASSERT_TRUE_FATAL(cli_parse(&args, own, count, words, false, NULL, &error));
    static const char *const expected[] = {"cold", "args=1", "args=--cold", "args=-x", "args=+", "args=b"};
    CU_ASSERT_EQUAL(args.words, 1);
    CU_ASSERT_EQUAL_FATAL(args.options, ARRAY_COUNT(expected));
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
        CU_ASSERT_STRING_EQUAL(args.option[i], expected[i]);
    cli_args_free(&args);
    CU_ASSERT_TRUE_FATAL(cli_parse(&args, own, 2, words + 3, false, NULL, &error)); /* no word stands in front */
    CU_ASSERT_EQUAL(args.words, 1);
    CU_ASSERT_EQUAL(args.options, 0);
    cli_args_free(&args);
}

static void test_errors(void)
{
    static const struct {
        const char *line, *expected;
    } rows[] = {
        {"--unti amx", "did you mean --unit?"},
        {"--unit", "needs a value: UNIT"},
        {"--cold=yes", "takes no value"},
        {"-x", "unknown option '-x'"},
        {"--uni amx", "--uni'"},
        {"--unit a --unit b", "twice"},
        {"--qqqqqqqq", "unknown option '--qqqqqqqq'"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct cli_args args;
        struct orchard_error error;
        CHECK(!parse(rows[i].line, &args, &error), "%s", rows[i].line);
        CHECK(error.code == ORCH_USAGE && strstr(error.text, rows[i].expected), "%s: %s", rows[i].line, error.text);
        CHECK(!strchr(error.text, '\n'), "one line: %s", error.text);
        cli_args_free(&args);
    }
}

/* What the library makes of the common options among these. */
static bool read_common(const struct cli_args *args, struct api_args *given, struct api_common *common, struct orch_error *error)
{
    *given = (struct api_args){0};
    *common = (struct api_common){0};
    *error = (struct orch_error){0};
    return api_args_add(given, api_common_options, verb_options, (const char *const *)args->option, error) &&
           api_common_read(common, given, error);
}

static void test_common_before_the_verb(void)
{
    char chip[] = "--chip", m2[] = "m2", json[] = "--json", run[] = "run", word[] = "x", set[] = "--set=a=1";
    char *argv[] = {chip, m2, json, run, word, set};
    struct cli_args args = {0};
    struct orchard_error error = {0};
    int used = 0;
    CU_ASSERT_TRUE(cli_parse(&args, tables, 6, argv, true, &used, &error));
    CU_ASSERT_EQUAL(used, 3);
    CU_ASSERT_TRUE(cli_parse(&args, tables, 6 - used - 1, argv + used + 1, false, NULL, &error));
    struct api_args given;
    struct api_common common;
    struct orch_error why;
    CU_ASSERT_TRUE_FATAL(read_common(&args, &given, &common, &why));
    CU_ASSERT_STRING_EQUAL(common.chips, "m2");
    CU_ASSERT_TRUE(common.json && common.chips_given && !common.color);
    CU_ASSERT_EQUAL_FATAL(common.set_count, 1);
    CU_ASSERT_STRING_EQUAL(common.sets[0], "a=1");
    CU_ASSERT_EQUAL(common.seed, 1);
    CU_ASSERT(common.threads >= 1);
    api_common_free(&common);
    api_args_free(&given);
    cli_args_free(&args);
}

static void test_numbers(void)
{
    static const char *const bad[] = {"--seed -1", "--seed 1x", "--threads 0", "--threads 9999",
                                      "--seed 99999999999999999999999"};
    struct cli_args args;
    struct api_args given;
    struct api_common common;
    struct orchard_error error;
    struct orch_error why;
    CU_ASSERT_TRUE(parse("--seed 0x10 --threads 3", &args, &error));
    CU_ASSERT_TRUE(read_common(&args, &given, &common, &why));
    CU_ASSERT_EQUAL(common.seed, 16);
    CU_ASSERT_EQUAL(common.threads, 3);
    api_common_free(&common);
    api_args_free(&given);
    cli_args_free(&args);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        CU_ASSERT_TRUE(parse(bad[i], &args, &error));
        CHECK(!read_common(&args, &given, &common, &why) && why.exit_code == ORCH_USAGE, "%s", bad[i]);
        CHECK(strncmp(why.text, bad[i], strlen(bad[i])) == 0 && strncmp(why.plain, bad[i] + 2, strlen(bad[i]) - 2) == 0,
              "%s: %s, %s", bad[i], why.text, why.plain);
        api_common_free(&common);
        api_args_free(&given);
        cli_args_free(&args);
    }
}

static void test_color(void)
{
    struct cli_args args;
    struct orchard_error error;
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    CU_ASSERT_TRUE(parse("x", &args, &error));
    CU_ASSERT_TRUE(cli_wants_color(&args, true));
    CU_ASSERT_FALSE(cli_wants_color(&args, false));
    setenv("NO_COLOR", "1", 1);
    CU_ASSERT_FALSE(cli_wants_color(&args, true));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    CU_ASSERT_FALSE(cli_wants_color(&args, true));
    setenv("TERM", "xterm", 1);
    cli_args_free(&args);
    CU_ASSERT_TRUE(parse("--no-color", &args, &error));
    CU_ASSERT_FALSE(cli_wants_color(&args, true));
    cli_args_free(&args);
}

static void test_database_path(void)
{
    setenv("ORCHARD_DB", "/tmp/x.db", 1);
    char *path = api_default_db();
    CU_ASSERT_STRING_EQUAL(path, "/tmp/x.db");
    free(path);
    unsetenv("ORCHARD_DB");
    setenv("XDG_DATA_HOME", "/data", 1);
    path = api_default_db();
    CU_ASSERT_STRING_EQUAL(path, "/data/orchard/orchard.db");
    free(path);
    setenv("XDG_DATA_HOME", "relative", 1);
    setenv("HOME", "/home/me", 1);
    path = api_default_db();
    CU_ASSERT_STRING_EQUAL(path, "/home/me/.local/share/orchard/orchard.db");
    free(path);
}

static void test_verbs(void)
{
    struct orchard_error error = {0};
    CU_ASSERT_PTR_EQUAL(orchard_verb_find("run", &error), orchard_verb_at(0));
    CU_ASSERT_STRING_EQUAL(orchard_verb_at(0)->name, "run");
    CU_ASSERT_PTR_NULL(orchard_verb_find("regres", &error));
    CHECK(strstr(error.text, "did you mean regress?") && error.code == ORCH_USAGE, "%s", error.text);
    CU_ASSERT_PTR_NULL(orchard_verb_find("zzz", &error));
    CHECK(!strstr(error.text, "did you mean"), "%s", error.text);
}

/* Options of the command line itself do not reach the library. */
static void test_own_options_are_dropped(void)
{
    struct cli_args args;
    struct orchard_error error;
    CU_ASSERT_TRUE(parse("--no-color --unit amx --help --version --cold", &args, &error));
    CU_ASSERT_TRUE(cli_has(&args, "help") && cli_has(&args, "version"));
    cli_drop_own(&args);
    CU_ASSERT_EQUAL_FATAL(args.options, 2);
    CU_ASSERT_STRING_EQUAL(args.option[0], "unit=amx");
    CU_ASSERT_STRING_EQUAL(args.option[1], "cold");
    CU_ASSERT_PTR_NULL(args.option[2]);
    cli_args_free(&args);
}

/* Help comes from the table: every option of it must be in the page. */
static void test_help_has_every_option(void)
{
    const struct orchard_verb verb = {"run", "X\nY", "runs", "More.", "orchard run x", verb_options, "ARGS", "args\n"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    help_verb(out, &verb);
    fclose(out);
    for (int t = 0; tables[t]; t++)
        for (const struct orchard_option *o = tables[t]; o->name; o++)
            CHECK(strstr(text, o->name) && strstr(text, o->text), "%s", o->name);
    CHECK(strstr(text, "orchard run X\n") && strstr(text, "orchard run Y\n") && strstr(text, "EXAMPLES"), "%s", text);
    CHECK(strstr(text, "\nARGS\nargs\n") != NULL, "%s", text);
    free(text);
}

/* The overview names every verb; every verb has what a page needs, and no two options of a page have one name or letter. */
static void test_every_verb_can_be_looked_up(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    help_overview(out);
    fclose(out);
    for (size_t i = 0; i < orchard_verb_count(); i++) {
        const struct orchard_verb *const v = orchard_verb_at(i);
        CHECK(strstr(text, v->name) && strstr(text, v->summary), "%s", v->name);
        CHECK(v->synopsis && v->text && v->examples, "%s", v->name);
        for (const struct orchard_option *o = v->options; o && o->name; o++) {
            for (const struct orchard_option *p = o + 1; p->name; p++)
                CHECK(strcmp(o->name, p->name) != 0 && (!o->letter || o->letter != p->letter), "%s: %s", v->name, o->name);
            for (const struct orchard_option *p = orchard_common_options(); p->name; p++)
                CHECK(strcmp(o->name, p->name) != 0 && (!o->letter || o->letter != p->letter), "%s: %s", v->name, o->name);
            for (const struct orchard_option *p = cli_own_options; p->name; p++)
                CHECK(strcmp(o->name, p->name) != 0 && (!o->letter || o->letter != p->letter), "%s: %s", v->name, o->name);
        }
    }
    CU_ASSERT_PTR_NULL(orchard_verb_at(orchard_verb_count()));
    free(text);
}

static const struct suite_test tests[] = {
    {"options are accepted in every form and order", test_forms},
    {"words may look like options", test_words},
    {"what stands behind a program and -- is given to it", test_rest},
    {"wrong options get one line and a suggestion", test_errors},
    {"common options may stand before the verb", test_common_before_the_verb},
    {"numbers are checked against their range", test_numbers},
    {"colour is used only where it is wanted", test_color},
    {"the database is found where it was asked for", test_database_path},
    {"verbs are found by name", test_verbs},
    {"options of the command line alone are dropped", test_own_options_are_dropped},
    {"help lists every option", test_help_has_every_option},
    {"every verb can be looked up", test_every_verb_can_be_looked_up},
};
SUITE_MAIN("cli", tests)
