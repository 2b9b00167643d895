/* Regression of characteristics: baselines as text and in the database, what moved, and why. */
#include "isa/array_count.h"
#include "sim/prove/regress/baseline.h"
#include "sim/prove/regress/metric.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli_home home = {.name = "regress", .options = "-q"};

static char *text_of(const struct baseline *b, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    CU_ASSERT_FATAL(out != NULL);
    CU_ASSERT(baseline_write(b, out));
    fclose(out);
    return text;
}

/* Two chips and two characteristics, with shared and different values, added in no order. */
static void fill(struct baseline *b)
{
    *b = (struct baseline){.version = "0.1.0+1", .created = "2026-01-31T12:00:00.000Z"};
    baseline_add_value(b, "m2", "mem.dram_read", 90.25, 1e-3);
    baseline_add_value(b, "m1", "mem.dram_read", 58.5, 1e-3);
    baseline_add_value(b, "m2", "amx.peak_f32", 1.0 / 3, 2e-3);
    baseline_add_value(b, "m1", "amx.peak_f32", 1500, 2e-3);
    baseline_add_parameter(b, "m2", "p_cores", "4");
    baseline_add_parameter(b, "m1", "p_cores", "4");
    baseline_add_parameter(b, "m1", "process_node", "5 nm \"N5\"");
    baseline_add_parameter(b, "m1", "amx.clock_ghz", "[2.9,2.7]");
    baseline_add_parameter(b, "m2", "amx.clock_ghz", "3.1");
    baseline_sort(b);
}

static void test_text_gives_back_what_was_written(void)
{
    struct baseline b, got = {0};
    struct orch_error error = {0};
    size_t size, again_size;
    fill(&b);
    char *text = text_of(&b, &size);
    CHECK(baseline_read_text(&got, "t", text, size, &error), "%s", error.text);
    CU_ASSERT_EQUAL(got.values, 4);
    CU_ASSERT_EQUAL(got.parameters, 5);
    CU_ASSERT_STRING_EQUAL(got.version, b.version);
    const struct baseline_value *v = baseline_find(&got, "m2", "amx.peak_f32");
    CU_ASSERT(v && fabs(v->value - 1.0 / 3) < 1e-10 && v->tolerance == 2e-3);
    CU_ASSERT_STRING_EQUAL(baseline_parameter_of(&got, "m1", "amx.clock_ghz"), "[2.9,2.7]");
    CU_ASSERT_STRING_EQUAL(baseline_parameter_of(&got, "m1", "process_node"), "5 nm \"N5\"");
    CU_ASSERT_STRING_EQUAL(baseline_parameter_of(&got, "m2", "p_cores"), "4");
    CU_ASSERT_PTR_NULL(baseline_parameter_of(&got, "m2", "process_node"));
    CU_ASSERT(baseline_has_chip(&got, "m2") && !baseline_has_chip(&got, "m3"));
    char *again = text_of(&got, &again_size);
    CU_ASSERT(size == again_size && memcmp(text, again, size) == 0);
    free(text);
    free(again);
    baseline_free(&b);
    baseline_free(&got);
}

/* A text is refused wherever it is truncated, and the file is named. */
static void test_every_truncation_is_refused(void)
{
    struct baseline b;
    size_t size;
    fill(&b);
    char *text = text_of(&b, &size);
    for (size_t cut = 0; cut + 1 < size; cut++) { /* the last newline may be missing */
        struct baseline got = {0};
        struct orch_error error = {0};
        CHECK(!baseline_read_text(&got, "cut.baseline", text, cut, &error), "%zu of %zu bytes", cut, size);
        CHECK(error.exit_code == ORCH_USAGE && strncmp(error.text, "cut.baseline", 12) == 0, "%s", error.text);
        CU_ASSERT_EQUAL(got.values, 0);
    }
    free(text);
    baseline_free(&b);
}

static void test_wrong_lines_are_named(void)
{
    static const char head[] = "{\"orchard_baseline\":1,\"version\":\"v\",\"created\":\"c\",\"characteristics\":1,\"values\":1,"
                               "\"chip_sets\":0,\"parameters\":0}\n";
    static const char known[] = "{\"characteristic\":\"a\",\"tolerance\":0.1}\n";
    static const struct {
        const char *line, *said;
    } wrong[] = {
        {"{\"value\":\"a\",\"chip\":\"m1\",\"is\":\"3\"}", "t:3: is: expected a number, got \"3\""},
        {"{\"value\":\"a\",\"is\":3}", "t:3: chip: is missing; expected a string"},
        {"{\"value\":\"a\",\"chip\":\"m1\",\"is\":1e999}", "t:3: is: expected a finite number, got 1e999"},
        {"{\"value\":\"b\",\"chip\":\"m1\",\"is\":3}", "t:3: a value of a characteristic that was not declared"},
        {"{\"value\":\"a\",\"chip\":\"m1\",\"is\":3} x", "t:3: cut off, or not JSON"},
        {"{\"other\":3}", "t:3: a line of no known kind"},
        {"{\"parameter\":\"p_cores\",\"chip_set\":0,\"is\":3}", "t:3: chip_set: a set of chips that is not there"},
        {"{\"chip_set\":1,\"chips\":[]}", "t:3: chip_set: a set of chips out of order"},
    };
    char text[1024];
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        struct baseline b = {0};
        struct orch_error error = {0};
        snprintf(text, sizeof text, "%s%s%s\n", head, known, wrong[i].line);
        CU_ASSERT(!baseline_read_text(&b, "t", text, strlen(text), &error));
        CHECK(strcmp(error.text, wrong[i].said) == 0, "%s", error.text);
    }
    struct baseline b = {0};
    struct orch_error error = {0};
    CU_ASSERT(!baseline_read_text(&b, "t", "{\"orchard_baseline\":9}\n", 23, &error));
    CHECK(strstr(error.text, "format 9") != NULL, "%s", error.text);
    CU_ASSERT(!baseline_read_text(&b, "t", "PK\n", 3, &error));
    CHECK(strstr(error.text, "not a baseline of orchard") != NULL, "%s", error.text);
}

static void test_names_of_characteristics_differ(void)
{
    struct regress_metric a, b;
    for (size_t i = 0; regress_metric_at(i, &a); i++) {
        CHECK(a.unit && a.unit[0] && a.tolerance > 0 && strlen(a.name) + 1 < sizeof a.name, "%s", a.name);
        for (size_t j = i + 1; regress_metric_at(j, &b); j++)
            CHECK(strcmp(a.name, b.name) != 0, "%s", a.name);
    }
    CU_ASSERT(regress_metric_count() >= 80);
}

/* ---- the command ---- */

#define ONLY "--only amx.peak,cpu_p.fma,ane.gemm,amx.gemm_f32 --chip m1,m2"

static void test_unchanged_chips_pass(void)
{
    if (!cli_ask(&home, "regress record before " ONLY))
        return;
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    if (cli_ask(&home, "regress check before " ONLY " --threads 2"))
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, " passed, 0 failed"), "%s%s", home.outcome.out,
              home.outcome.err);
    if (cli_ask(&home, "regress record before -o $/before.baseline " ONLY) &&
        cli_ask(&home, "regress check $/before.baseline " ONLY))
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, " passed, 0 failed"), "%s%s", home.outcome.out,
              home.outcome.err);
    if (cli_ask(&home, "regress check before --only amx.peak_f32 --chip m1"))
        CU_ASSERT_STRING_EQUAL(home.outcome.out, "1 passed, 0 failed\n");
    if (cli_ask(&home, "db check"))
        CHECK(home.outcome.code == 0, "%s", home.outcome.out);
}

/* The peak of AMX is 512 operations per array_f32_cycles: a quarter more cycles make it a fifth less. */
static void test_a_change_is_caught_with_its_key(void)
{
    if (!cli_ask(&home, "regress check before " ONLY " --set amx.array_f32_cycles=1.25 --set ane.wake_us=77 --json"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 1);
    json_object *d = json_tokener_parse(home.outcome.out), *moved = document_at(d, "moved");
    unsigned peaks = 0;
    for (size_t i = 0; moved && i < json_object_array_length(moved); i++) {
        json_object *m = json_object_array_get_idx(moved, i);
        const char *name = document_text(m, "characteristic");
        CHECK(strcmp(document_text(m, "cause"), "amx.array_f32_cycles 1 -> 1.25") == 0, "%s: %s", name,
              document_text(m, "cause"));
        CHECK(strncmp(name, "amx.", 4) == 0, "%s", name);
        if (strcmp(name, "amx.peak_f32") == 0) {
            peaks++;
            CU_ASSERT_DOUBLE_EQUAL(document_number(m, "change"), -0.2, 1e-3);
        }
    }
    CU_ASSERT_EQUAL(peaks, 2);
    CU_ASSERT_EQUAL(document_number(d, "failed"), (double)(moved ? json_object_array_length(moved) : 0));
    json_object_put(d);
    if (cli_ask(&home, "regress check before --only amx.peak_f32 --chip m1 --set amx.array_f32_cycles=1.25"))
        CHECK(strstr(home.outcome.out, "amx.array_f32_cycles 1 -> 1.25") && strstr(home.outcome.out, "0 passed, 1 failed"), "%s",
              home.outcome.out);
}

/* A wrong number in the text, while the chips are as they were: no key is blamed, and the model is the same. */
static void test_a_wrong_number_in_the_text_is_caught(void)
{
    char command[512];
    if (!cli_ask(&home, "regress record x -o $/peak.baseline --only amx.peak_f32 --chip m1"))
        return;
    snprintf(command, sizeof command, "sed -i '/\"value\"/s/\"is\":1[0-9.]*}/\"is\":1400}/' %s/peak.baseline", home.folder);
    CU_ASSERT_EQUAL(system(command), 0);
    if (cli_ask(&home, "regress check $/peak.baseline --chip m1 --only amx.peak_f32"))
        CHECK(home.outcome.code == 1 && strstr(home.outcome.out, "the baseline or a machine's file was changed"), "%s",
              home.outcome.out);
    snprintf(command, sizeof command, "sed -i 's/\"version\":\"[^\"]*\"/\"version\":\"0.0.9+7\"/' %s/peak.baseline", home.folder);
    CU_ASSERT_EQUAL(system(command), 0);
    if (cli_ask(&home, "regress check $/peak.baseline --chip m1 --only amx.peak_f32"))
        CHECK(home.outcome.code == 1 && strstr(home.outcome.out, "code: model version 0.0.9+7 -> "), "%s", home.outcome.out);
}

static void test_wrong_use_is_reported(void)
{
    static const struct {
        const char *arguments, *said;
    } wrong[] = {
        {"regress", "record or check?"},
        {"regress list", "(record|check)"},
        {"regress check befor", "did you mean before?"},
        {"regress check $/none.baseline", "No such file"},
        {"regress check before --only gpx.", "no characteristic begins with 'gpx.'"},
        {"regress check before --chip m3", "the baseline has none of these chips"},
        {"regress check before --chip m9", "m9"},
        {"regress check before --set amx.array_f32_cycles=no", "no"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
        if (cli_ask(&home, "%s", wrong[i].arguments))
            CHECK(home.outcome.code == 2 && strstr(home.outcome.err, wrong[i].said), "%s: %d %s", wrong[i].arguments,
                  home.outcome.code, home.outcome.err);
}

/* A characteristic that the baseline does not have yet is skipped with a reason. One that is no longer measured fails. */
static void test_other_characteristics_are_reported(void)
{
    char command[512];
    if (!cli_ask(&home, "regress record x -o $/other.baseline --only amx.peak_f32,amx.peak_f64 --chip m1"))
        return;
    snprintf(command, sizeof command, "sed -i 's/amx.peak_f64/amx.peak_f65/' %s/other.baseline", home.folder);
    CU_ASSERT_EQUAL(system(command), 0);
    if (cli_ask(&home, "regress check $/other.baseline --chip m1 --only amx.peak_f"))
        CHECK(home.outcome.code == 1 && strstr(home.outcome.out, "amx.peak_f64: not in the baseline") &&
                  strstr(home.outcome.out, "amx.peak_f65: in the baseline, but not measured any more"),
              "%s", home.outcome.out);
}

static void test_folder_is_removed(void)
{
    CU_ASSERT(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"a baseline survives being written and read", test_text_gives_back_what_was_written},
    {"every truncation of a text is refused", test_every_truncation_is_refused},
    {"wrong lines are refused by number", test_wrong_lines_are_named},
    {"every characteristic has a name of its own", test_names_of_characteristics_differ},
    {"unchanged chips pass", test_unchanged_chips_pass},
    {"a change is caught, and its key is named", test_a_change_is_caught_with_its_key},
    {"a wrong number in the text is caught", test_a_wrong_number_in_the_text_is_caught},
    {"wrong use is reported", test_wrong_use_is_reported},
    {"new and missing characteristics are reported", test_other_characteristics_are_reported},
    {"the folder is removed", test_folder_is_removed},
};
SUITE_MAIN("regress", tests)
