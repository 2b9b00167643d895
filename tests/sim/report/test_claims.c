/* Claims against answers that are known: verdicts of every kind, intervals, ratios, what cannot be modelled; and the table that
 * the project ships names questions that can be asked. */
#include "isa/array_count.h"
#include "sim/orchard.h"
#include "sim/report/claims.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run of 10 ms (8 to 20), 1 J (0.5 to 2), 4 Gflop; twice as long on m2. */
static json_object *known_answer(void *context, const char *verb, const char *workload, const char *const *options, char *why,
                                 size_t size)
{
    bool second = false;
    ++*(unsigned *)context;
    for (size_t i = 0; options[i]; i++)
        second |= strcmp(options[i], "chip=m2") == 0;
    if (strcmp(workload, "gone") == 0) {
        snprintf(why, size, "there is no %s to %s", workload, verb);
        return NULL;
    }
    return json_tokener_parse(
        second ? "{\"unit\":\"gpu\",\"chip\":\"m2\",\"seconds\":0.02,\"seconds_low\":0.016,\"seconds_high\":0.04,\"flops\":4e9,"
                 "\"gflops\":200,\"joules\":1,\"joules_low\":0.5,\"joules_high\":2,\"stalls\":{\"gpu.alu\":1}}"
               : "{\"unit\":\"gpu\",\"chip\":\"m1\",\"throttled_seconds\":0.003,\"celsius_max\":95,\"seconds\":0.01,\"seconds_"
                 "low\":0.008,\"seconds_high\":0.02,\"flops\":4e9,"
                 "\"gflops\":400,\"joules\":1,\"joules_low\":0.5,\"joules_high\":2,"
                 "\"stalls\":{\"gpu.memory\":0.3,\"gpu.alu\":0.7}}");
}

#define TABLE(claims)                                                                                                            \
    "{\"source\":\"a test\",\"questions\":{\"run\":{\"verb\":\"run\",\"workload\":\"x\",\"options\":[\"unit=gpu\"]},"            \
    "\"gone\":{\"verb\":\"run\",\"workload\":\"gone\",\"options\":[]}},\"claims\":[" claims "]}"
#define CLAIM(low, high, unit, how, answer)                                                                                      \
    "{\"topic\":\"t\",\"claim\":\"c\",\"low\":" low ",\"high\":" high ",\"unit\":\"" unit "\",\"how\":\"" how                    \
    "\",\"answer\":" answer "}"
#define SECONDS "{\"question\":\"run\",\"key\":\"seconds\"}"

struct expected {
    const char *table;
    enum claim_verdict verdict;
    double value, low, high;
    const char *reason; /* in it */
};

static bool near(double value, double expected)
{
    return fabs(value - expected) <= 1e-9 * fabs(expected);
}

/* A table with one row, of m1. */
static bool known_row(void *context, const struct claim_measurement *wanted, const char *chip, double *value, char *row,
                      size_t size)
{
    (void)context;
    if (strcmp(chip, "m1") != 0 || strcmp(wanted->workload, "w") != 0 || strcmp(wanted->precision, "f32") != 0 || wanted->shape)
        return false;
    *value = 0.012;
    snprintf(row, size, "ROW7");
    return true;
}

/* A measured row stands beside the answer of its chip; others, and claims that name none, have none. */
static void test_measured(void)
{
    static const char table[] =
        TABLE("{\"topic\":\"t\",\"claim\":\"c\",\"low\":1,\"high\":1,\"unit\":\"s\",\"how\":\"is\",\"chips\":[\"m1\",\"m2\"],"
              "\"measured\":{\"workload\":\"w\",\"precision\":\"f32\",\"unit\":\"s\"},\"answer\":" SECONDS
              "}," CLAIM("1", "1", "s", "is", SECONDS));
    struct orch_error error = {0};
    unsigned asked = 0;
    const struct claims_asker asker = {&asked, known_answer, NULL, known_row};
    struct claims *const c = claims_open(table, NULL, &error);
    CU_ASSERT_TRUE_FATAL(c && claims_ask(c, &asker, &error));
    const struct claim *const one = claims_at(c, 0), *const other = claims_at(c, 1);
    CU_ASSERT_EQUAL_FATAL(one->answers, 2);
    CHECK(one->answer[0].measured == 0.012 && strcmp(one->answer[0].measured_row, "ROW7") == 0, "%g of %s",
          one->answer[0].measured, one->answer[0].measured_row);
    CHECK(isnan(one->answer[1].measured) && isnan(other->answer[0].measured), "%g and %g", one->answer[1].measured,
          other->answer[0].measured);
    claims_close(c);
}

static void test_verdicts(void)
{
    static const struct expected rows[] = {
        {TABLE(CLAIM("0.009", "0.009", "s", "is", SECONDS)), CLAIM_PLAUSIBLE, 0.01, 0.008, 0.02, "gpu.alu 70 %"},
        {TABLE(CLAIM("0.005", "0.005", "s", "is", SECONDS)), CLAIM_IMPLAUSIBLE, 0.01, 0.008, 0.02,
         "alone takes 7.00 ms, more than"},
        {TABLE(CLAIM("0.03", "0.04", "s", "is", SECONDS)), CLAIM_IMPLAUSIBLE, 0.01, 0.008, 0.02, "3 times as large"},
        {TABLE(CLAIM("0.5", "0.5", "s", "at-most", SECONDS)), CLAIM_PLAUSIBLE, 0.01, 0.008, 0.02, "itself meets"},
        {TABLE(CLAIM("0.001", "0.001", "s", "at-most", SECONDS)), CLAIM_IMPLAUSIBLE, 0.01, 0.008, 0.02, "smaller than"},
        {TABLE(CLAIM("0.001", "0.001", "s", "at-least", SECONDS)), CLAIM_PLAUSIBLE, 0.01, 0.008, 0.02, "itself meets"},
        {TABLE(CLAIM("600", "600", "GFLOPS", "peak", "{\"question\":\"run\",\"key\":\"gflops\"}")), CLAIM_PLAUSIBLE, 400, 200,
         500, ""},
        {TABLE(CLAIM("700", "700", "GFLOPS", "peak", "{\"question\":\"run\",\"key\":\"gflops\"}")), CLAIM_IMPLAUSIBLE, 400, 200,
         500, ""},
        {TABLE(CLAIM("100", "100", "1/s", "is", "{\"scale\":1,\"over\":" SECONDS "}")), CLAIM_PLAUSIBLE, 100, 50, 125, ""},
        {TABLE(CLAIM("3e9", "3e9", "op/J", "is",
                     "{\"question\":\"run\",\"key\":\"flops\",\"over\":{\"question\":\"run\",\"key\":\"joules\"}}")),
         CLAIM_PLAUSIBLE, 4e9, 2e9, 8e9, ""},
        /* Both runs err in the same direction, so that the ratio of two chips is sharp. */
        {TABLE(
             CLAIM("1.5", "1.5", "1", "is",
                   "{\"question\":\"run\",\"key\":\"seconds\",\"chip\":\"m2\",\"over\":{\"question\":\"run\",\"key\":\"seconds\","
                   "\"chip\":\"m1\"}}")),
         CLAIM_IMPLAUSIBLE, 2, 2, 2, "m2: time goes to gpu.alu 100 %; m1: time goes to gpu.alu 70 %"},
        /* Only of the time of a run is what bounds it a share. */
        {TABLE(CLAIM("0", "0", "s", "at-most", "{\"question\":\"run\",\"key\":\"throttled_seconds\"}")), CLAIM_IMPLAUSIBLE, 0.003,
         0.003, 0.003, "gpu.memory 30 %; clocks were held down for 3.00 ms of 10.0 ms, at 95 degrees at most"},
        {TABLE(CLAIM("1", "1", "yes", "is", "{\"answers\":[\"m1\"],\"refuses\":[],\"question\":\"run\"}")), CLAIM_PLAUSIBLE, 1, 1,
         1, "m1 computes it"},
        {TABLE(CLAIM("1", "1", "yes", "is", "{\"answers\":[],\"refuses\":[\"m2\"],\"question\":\"run\"}")), CLAIM_IMPLAUSIBLE, 0,
         0, 0, "m2 computes it"},
        {TABLE(CLAIM("1", "1", "1", "is", "{\"question\":\"gone\",\"key\":\"seconds\"}")), CLAIM_NOT_MODELLED, NAN, NAN, NAN,
         "there is no gone to run"},
        {TABLE(CLAIM("1", "1", "1", "is", "{\"question\":\"run\",\"key\":\"colour\"}")), CLAIM_NOT_MODELLED, NAN, NAN, NAN,
         "has no colour"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        unsigned asked = 0;
        const struct claims_asker asker = {&asked, known_answer, NULL, NULL};
        struct orch_error error = {0};
        struct claims *const c = claims_open(rows[i].table, NULL, &error);
        CHECK(c && claims_ask(c, &asker, &error), "%zu: %s", i, error.text);
        const struct claim *const claim = c ? claims_at(c, 0) : NULL;
        if (!claim)
            continue;
        const struct claim_answer *const a = &claim->answer[0];
        CHECK(claim->verdict == rows[i].verdict, "%zu: %s: %s", i, claim_verdict_name(claim->verdict), a->reason);
        CHECK((isnan(rows[i].value) && isnan(a->value)) ||
                  (near(a->value, rows[i].value) && near(a->low, rows[i].low) && near(a->high, rows[i].high)),
              "%zu: %g (%g to %g)", i, a->value, a->low, a->high);
        CHECK(strstr(a->reason, rows[i].reason) != NULL, "%zu: %s", i, a->reason);
        claims_close(c);
    }
}

static void test_a_question_is_asked_once(void)
{
    static const char table[] = TABLE(CLAIM("1", "1", "s", "is", SECONDS) "," CLAIM("2", "2", "s", "is", SECONDS));
    unsigned asked = 0;
    const struct claims_asker asker = {&asked, known_answer, NULL, NULL};
    struct orch_error error = {0};
    struct claims *const c = claims_open(table, NULL, &error);
    CHECK(c && claims_ask(c, &asker, &error) && asked == 1, "%u times", asked);
    json_object *const document = claims_document(c);
    CHECK(json_object_get_int(json_object_object_get(document, "implausible")) == 2, "%s", json_object_to_json_string(document));
    CHECK(strcmp(claims_at(c, 0)->answer[0].command, "orchard run x --unit gpu --chip m1") == 0, "%s",
          claims_at(c, 0)->answer[0].command);
    json_object_put(document);
    claims_close(c);
}

/* Who reads a ratio can ask both of its questions again. */
static void test_both_commands_of_a_ratio(void)
{
    static const char table[] = TABLE(
        CLAIM("2", "2", "1", "is",
              "{\"question\":\"run\",\"key\":\"seconds\",\"chip\":\"m2\",\"over\":{\"question\":\"run\",\"key\":\"seconds\"}}"));
    unsigned asked = 0;
    const struct claims_asker asker = {&asked, known_answer, NULL, NULL};
    struct orch_error error = {0};
    struct claims *const c = claims_open(table, NULL, &error);
    CHECK(c && claims_ask(c, &asker, &error), "%s", error.text);
    const struct claim_answer *const a = c ? &claims_at(c, 0)->answer[0] : NULL;
    CHECK(a && strcmp(a->command, "orchard run x --unit gpu --chip m2") == 0 && strcmp(a->over, "orchard run x --unit gpu") == 0,
          "'%s' over '%s'", a ? a->command : "", a ? a->over : "");
    claims_close(c);
}

static void test_wrong_tables(void)
{
    static const char *const tables[] = {
        "", "[]", "{}", "{\"claims\":[]}", TABLE("{\"topic\":\"t\"}"), TABLE(CLAIM("1", "1", "s", "perhaps", SECONDS))};
    for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
        struct orch_error error = {0};
        struct claims *const c = claims_open(tables[i], NULL, &error);
        CHECK(!c && error.exit_code == ORCH_USAGE, "%zu: %s", i, error.text);
        claims_close(c);
    }
}

/* ---- the table of the project ---- */

/* Each question is one that the command line would take. */
static void check_question(const char *name, json_object *question)
{
    const char *option[16] = {NULL};
    struct orchard_error error;
    json_object *const list = json_object_object_get(question, "options");
    const char *const verb = json_object_get_string(json_object_object_get(question, "verb"));
    const char *const workload = json_object_get_string(json_object_object_get(question, "workload"));
    for (size_t i = 0; i < json_object_array_length(list) && i < 15; i++)
        option[i] = json_object_get_string(json_object_array_get_idx(list, i));
    CHECK(orchard_verb_find(verb, &error) != NULL, "%s: %s", name, error.text);
    CHECK((workload && strchr(workload, '+')) || orchard_check_options(NULL, verb, option, &error), "%s: %s", name, error.text);
}

static void test_the_table_of_the_project(void)
{
    struct orch_error error = {0};
    struct claims *const c = claims_open(NULL, NULL, &error);
    CHECK(c && claims_count(c) > 70, "%s", error.text);
    claims_close(c);
    size_t count[3] = {0};
    static const char *const only[] = {"GPT-2", "Decoders of", "nothing of the kind,GPT-2,,Decoders of"};
    for (int i = 0; i < 3; i++) {
        struct claims *const some = claims_open(NULL, only[i], &error);
        count[i] = some ? claims_count(some) : 0;
        claims_close(some);
    }
    CHECK(count[0] > 10 && count[1] == 5 && count[2] == count[0] + count[1], "%zu, %zu and %zu", count[0], count[1], count[2]);
    CHECK(!claims_open(NULL, ",", &error), "a list of nothing");
    json_object *const root = json_tokener_parse(report_claims), *const questions = json_object_object_get(root, "questions");
    json_object *const rows = json_object_object_get(root, "claims");
    json_object_object_foreach(questions, name, question)
    {
        check_question(name, question);
        char quoted[64];
        unsigned uses = 0;
        snprintf(quoted, sizeof quoted, "\"%.40s\"", name);
        for (size_t i = 0; i < json_object_array_length(rows); i++)
            uses += strstr(json_object_to_json_string(json_object_array_get_idx(rows, i)), quoted) != NULL;
        CHECK(uses > 0, "nobody asks %s", name);
    }
    json_object_put(root);
}

static const struct suite_test tests[] = {
    {"what was measured stands beside", test_measured},
    {"verdicts", test_verdicts},
    {"a question is asked once", test_a_question_is_asked_once},
    {"both commands of a ratio", test_both_commands_of_a_ratio},
    {"wrong tables", test_wrong_tables},
    {"the table of the project", test_the_table_of_the_project},
};
SUITE_MAIN("claims", tests)
