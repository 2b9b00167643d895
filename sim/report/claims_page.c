/* Claims and what the simulator says to each: the page and the document. */
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/report/claims_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 120 };

const char *claim_verdict_name(enum claim_verdict verdict)
{
    static const char *const names[CLAIM_VERDICTS] = {"plausible", "implausible", "not modelled"};
    return names[verdict];
}

/* ---- the document ---- */

static json_object *answer_json(const struct claim_answer *a)
{
    json_object *const o = json_object_new_object();
    json_add_text(o, "chip", *a->chip ? a->chip : NULL);
    json_add_number(o, "value", a->value);
    json_add_number(o, "low", a->low);
    json_add_number(o, "high", a->high);
    json_add_number(o, "measured", a->measured);
    json_add_text(o, "measured_row", isnan(a->measured) ? NULL : a->measured_row);
    json_add_text(o, "verdict", claim_verdict_name(a->verdict));
    json_add_text(o, "reason", a->reason);
    json_add_text(o, "command", *a->command ? a->command : NULL);
    json_add_text(o, "over", *a->over ? a->over : NULL);
    return o;
}

static json_object *claim_json(const struct claim *c)
{
    json_object *const o = json_object_new_object(), *const answers = json_object_new_array();
    json_add_text(o, "topic", c->topic);
    json_add_text(o, "claim", c->text);
    json_add_number(o, "claimed_low", c->claimed_low);
    json_add_number(o, "claimed_high", c->claimed_high);
    json_add_text(o, "unit", c->unit);
    json_add_text(o, "how", claim_how_name(c->how));
    json_add_text(o, "note", c->note);
    json_add_text(o, "verdict", claim_verdict_name(c->verdict));
    for (size_t i = 0; i < c->answers; i++)
        json_object_array_add(answers, answer_json(&c->answer[i]));
    json_object_object_add(o, "answers", answers);
    return o;
}

json_object *claims_document(const struct claims *c)
{
    json_object *const o = json_object_new_object(), *const list = json_object_new_array();
    json_add_text(o, "source", claims_source(c));
    json_add_count(o, "plausible", claims_with(c, CLAIM_PLAUSIBLE));
    json_add_count(o, "implausible", claims_with(c, CLAIM_IMPLAUSIBLE));
    json_add_count(o, "not_modelled", claims_with(c, CLAIM_NOT_MODELLED));
    for (size_t i = 0; i < claims_count(c); i++)
        json_object_array_add(list, claim_json(claims_at(c, i)));
    json_object_object_add(o, "claims", list);
    return o;
}

/* ---- the chart ---- */

struct cloud {
    struct chart_point *point[CLAIM_VERDICTS];
    size_t count[CLAIM_VERDICTS];
    char (*name)[2 * TEXT];
    size_t names;
    struct result_table *table;
};

/* The answer in units of the claim, with its interval. */
static void add_point(struct cloud *cloud, const struct claim *c, size_t number, const struct claim_answer *a)
{
    const double claimed = c->claimed_low > 0 ? sqrt(c->claimed_low * c->claimed_high) : NAN;
    if (!isfinite(a->value) || !isfinite(claimed) || a->value <= 0)
        return;
    char *const name = cloud->name[cloud->names++];
    snprintf(name, sizeof cloud->name[0], "%.100s%s%.20s: %.3g of the claim", c->text, *a->chip ? ", " : "", a->chip,
             a->value / claimed);
    cloud->point[a->verdict][cloud->count[a->verdict]++] =
        (struct chart_point){(double)number, a->value / claimed, a->low / claimed, a->high / claimed, name};
    result_table_number(cloud->table, (double)number, NULL);
    result_table_text(cloud->table, c->text);
    result_table_text(cloud->table, a->chip);
    result_table_number(cloud->table, a->value / claimed, NULL);
    result_table_number(cloud->table, a->low / claimed, NULL);
    result_table_number(cloud->table, a->high / claimed, NULL);
}

static bool chart_part(struct page *page, const struct claims *c)
{
    static const struct result_column columns[] = {{"number", NULL, true}, {"claim", NULL, false},
                                                   {"chip", NULL, false},  {"answer over claim", NULL, true},
                                                   {"low", NULL, true},    {"high", NULL, true}};
    const size_t most = claims_count(c) * CLAIM_CHIPS;
    struct cloud cloud = {.name = calloc(most, sizeof *cloud.name), .table = result_table_create(columns, 6)};
    bool ok = cloud.name != NULL;
    for (int v = 0; v < CLAIM_VERDICTS; v++) {
        cloud.point[v] = calloc(most, sizeof *cloud.point[v]);
        ok = ok && cloud.point[v];
    }
    for (size_t i = 0; ok && i < claims_count(c); i++)
        for (size_t k = 0; k < claims_at(c, i)->answers; k++)
            add_point(&cloud, claims_at(c, i), i + 1, &claims_at(c, i)->answer[k]);
    const struct chart_series series[] = {
        {claim_verdict_name(CLAIM_PLAUSIBLE), 0, SVG_CIRCLE, false, false, false, cloud.point[0], cloud.count[0]},
        {claim_verdict_name(CLAIM_IMPLAUSIBLE), 3, SVG_DIAMOND, true, false, false, cloud.point[1], cloud.count[1]}};
    const struct chart_xy chart = {.x = {.label = "number of the claim", .unit = "", .whole = true},
                                   .y = {.label = "answer over claim", .unit = "", .log = true},
                                   .series = series,
                                   .count = 2,
                                   .height = 360};
    const struct page_figure figure = {.title = "Answers over claims",
                                       .caption = "At 1 the answer is what is claimed. Whiskers: 90 % interval of the answer.",
                                       .draw = chart_xy,
                                       .chart = &chart,
                                       .table = cloud.table};
    if (ok)
        page_figure(page, &figure);
    for (int v = 0; v < CLAIM_VERDICTS; v++)
        free(cloud.point[v]);
    free(cloud.name);
    result_table_free(cloud.table);
    return ok;
}

/* ---- the tables ---- */

/* Ends that would be written with the same digits are no interval. */
#define EQUAL_DIGITS 1.002

static void interval_text(char *text, size_t size, const struct claim *c, const struct claim_answer *a)
{
    char low[FORMAT_SIZE], high[FORMAT_SIZE], value[TEXT];
    const double scale = strcmp(c->unit, "op/J") == 0 ? 1e-12 : 1;
    claim_quantity(value, sizeof value, a->value, c->unit);
    if (!(isfinite(a->low) && a->low * EQUAL_DIGITS < a->high))
        snprintf(text, size, "%s", value);
    else if (strcmp(c->unit, "s") == 0)
        format_seconds(text, a->value, a->low, a->high);
    else
        snprintf(text, size, "%s (%s\xe2\x80\x93%s)", value, format_digits(low, scale * a->low, 3),
                 format_digits(high, scale * a->high, 3));
}

static void measured_text(char *text, size_t size, const struct claim *c, const struct claim_answer *a)
{
    char value[TEXT];
    claim_quantity(value, sizeof value, a->measured, c->unit);
    snprintf(text, size, "%s (%s)", value, a->measured_row);
}

static void claim_rows(struct result_table *t, const struct claim *c, size_t number)
{
    char said[4 * TEXT], text[160];
    snprintf(said, sizeof said, "%.200s%s%.200s%s", c->text, c->note ? " (" : "", c->note ? c->note : "", c->note ? ")" : "");
    for (size_t i = 0; i < c->answers; i++) {
        const struct claim_answer *const a = &c->answer[i];
        result_table_number(t, (double)number, NULL);
        result_table_text(t, said);
        result_table_text(t, *a->chip ? a->chip : NULL);
        interval_text(text, sizeof text, c, a);
        result_table_number(t, a->value, isnan(a->value) ? NULL : text);
        measured_text(text, sizeof text, c, a);
        result_table_number(t, a->measured, isnan(a->measured) ? NULL : text);
        result_table_text(t, claim_verdict_name(a->verdict));
        result_table_text(t, a->reason);
    }
}

/* A section for each topic; claims of one stand together. */
static void topics(struct page *page, const struct claims *c)
{
    static const struct result_column columns[] = {{"number", NULL, true}, {"claim", NULL, false},   {"chip", NULL, false},
                                                   {"answer", NULL, true}, {"measured", NULL, true}, {"verdict", NULL, false},
                                                   {"reason", NULL, false}};
    for (size_t i = 0; i < claims_count(c);) {
        const char *const topic = claims_at(c, i)->topic;
        struct result_table *const t = result_table_create(columns, sizeof columns / sizeof *columns);
        for (; i < claims_count(c) && strcmp(claims_at(c, i)->topic, topic) == 0; i++)
            claim_rows(t, claims_at(c, i), i + 1);
        page_section(page, topic);
        page_table(page, "Claims and answers", t);
        result_table_free(t);
    }
}

/* The commands that give the same answers. */
static void commands(struct page *page, const struct claims *c)
{
    static const struct result_column columns[] = {
        {"number", NULL, true}, {"chip", NULL, false}, {"command", NULL, false}, {"over the answer of", NULL, false}};
    struct result_table *const t = result_table_create(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < claims_count(c); i++)
        for (size_t k = 0; k < claims_at(c, i)->answers; k++) {
            const struct claim_answer *const a = &claims_at(c, i)->answer[k];
            if (!*a->command)
                continue;
            result_table_number(t, (double)i + 1, NULL);
            result_table_text(t, *a->chip ? a->chip : NULL);
            result_table_text(t, a->command);
            result_table_text(t, *a->over ? a->over : NULL);
        }
    page_section(page, "Commands");
    page_table(page, "What each claim was asked by", t);
    result_table_free(t);
}

bool claims_page(const struct claims *c, const char *version, struct page **page, struct orch_error *error)
{
    char value[CLAIM_VERDICTS][24], sub[200];
    snprintf(sub, sizeof sub, "asked anew of orchard %.60s", version);
    *page = page_create("Claims and what the simulator says", sub);
    page_section(*page, "Summary");
    struct page_card card[CLAIM_VERDICTS];
    static const char *const more[] = {"the interval of an answer meets the claim", "no chip that was asked comes near",
                                       "the simulator cannot say"};
    for (enum claim_verdict v = 0; v < CLAIM_VERDICTS; v++) {
        snprintf(value[v], sizeof value[v], "%zu of %zu", claims_with(c, v), claims_count(c));
        card[v] = (struct page_card){claim_verdict_name(v), value[v], more[v]};
    }
    page_cards(*page, card, CLAIM_VERDICTS);
    page_paragraph(
        *page,
        "Each claim is asked by a command, listed below, of the estimator that every run uses. Plausible means no more than "
        "that the 90 %% interval of the answer meets the claim: a wide interval refutes little. A peak is plausible when a "
        "good program may reach %.0f %% of it and stays below.",
        100 * CLAIM_PEAK_SHARE);
    const bool ok = chart_part(*page, c);
    topics(*page, c);
    commands(*page, c);
    page_foot(*page, "Source of the claims: %s. Answers are simulated, not measured.", claims_source(c));
    return (ok && *page) || orch_no_memory(error);
}
