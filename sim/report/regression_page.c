/* The page about a regression check: what moved since the baseline, by how much, and why. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/report/report.h"
#include "sim/run/run_version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BARS_MAX = 24, VALUES_MAX = 2500 };

static double change_of(const struct regress_moved *m)
{
    return m->before != 0 ? m->after / m->before - 1 : (double)NAN;
}

static int by_change(const void *a, const void *b)
{
    const struct regress_moved *const x = *(const struct regress_moved *const *)a;
    const struct regress_moved *const y = *(const struct regress_moved *const *)b;
    const double s = isnan(change_of(x)) ? HUGE_VAL : fabs(change_of(x)), t = isnan(change_of(y)) ? HUGE_VAL : fabs(change_of(y));
    return s < t ? 1 : s > t ? -1 : x < y ? -1 : 1;
}

static struct result_table *moved_table(const struct regress_moved *const *order, size_t count)
{
    static const struct result_column columns[] = {
        {"chip", NULL, false}, {"characteristic", NULL, false}, {"unit", NULL, false},     {"before", NULL, true},
        {"now", NULL, true},   {"change", NULL, true},          {"tolerance", NULL, true}, {"cause", NULL, false}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE];
    for (size_t i = 0; i < count; i++) {
        const struct regress_moved *const m = order[i];
        result_table_text(t, m->chip);
        result_table_text(t, m->metric.name);
        result_table_text(t, m->metric.unit);
        result_table_number(t, m->before, NULL);
        result_table_number(t, m->after, NULL);
        result_table_number(t, change_of(m), format_share(text, change_of(m)));
        result_table_number(t, m->metric.tolerance, format_share(text, m->metric.tolerance));
        result_table_text(t, isnan(m->after) ? m->why : m->cause);
    }
    return t;
}

static bool moved_part(struct page *page, const struct regress_comparison *c)
{
    const struct regress_moved **const order = calloc(c->moved_count + 1, sizeof *order);
    struct chart_bar bar[BARS_MAX];
    char name[BARS_MAX][120], shown[BARS_MAX][FORMAT_SIZE];
    size_t bars = 0;
    for (size_t i = 0; order && i < c->moved_count; i++)
        order[i] = &c->moved[i];
    if (order)
        qsort(order, c->moved_count, sizeof *order, by_change);
    for (size_t i = 0; order && i < c->moved_count && bars < BARS_MAX; i++) {
        const double change = change_of(order[i]);
        if (isnan(change))
            continue;
        snprintf(name[bars], sizeof name[0], "%.40s %.60s", order[i]->chip, order[i]->metric.name);
        snprintf(shown[bars], sizeof shown[0], "%+.1f %%", 100 * change);
        bar[bars] = (struct chart_bar){name[bars], shown[bars], 100 * change, NAN, NAN, change < 0 ? 0 : 3};
        bars++;
    }
    struct result_table *const t = order ? moved_table(order, c->moved_count) : NULL;
    const struct chart_bars chart = {{.label = "change since the baseline", .unit = "%", .zero = true}, bar, bars};
    const struct page_figure figure = {
        .title = "What moved most",
        .caption = "Beyond its tolerance; the table has all, with the cause found by putting values of the chip back.",
        .draw = chart_bars,
        .chart = &chart,
        .table = t};
    if (bars)
        page_figure(page, &figure);
    else if (c->moved_count)
        page_table(page, "No longer modelled", t);
    else
        page_paragraph(page, "Nothing moved beyond its tolerance.");
    result_table_free(t);
    free(order);
    return order != NULL;
}

/* Adds the table of all characteristics of all chips asked for. */
static bool values_part(struct page *page, const struct regress_request *q, const struct regress_job *jobs,
                        const struct baseline *b)
{
    static const struct result_column columns[] = {
        {"characteristic", NULL, false}, {"unit", NULL, false}, {"chip", NULL, false},
        {"before", NULL, true},          {"now", NULL, true},   {"now over before", NULL, true}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    struct regress_metric m;
    size_t rows = 0;
    for (size_t i = 0; regress_metric_at(i, &m); i++)
        for (size_t k = 0; k < q->chip_count && rows < VALUES_MAX; k++) {
            const struct baseline_value *const before = baseline_find(b, q->chip[k], m.name);
            if (!jobs[k].value[i].wanted || !before)
                continue;
            result_table_text(t, m.name);
            result_table_text(t, m.unit);
            result_table_text(t, q->chip[k]);
            result_table_number(t, before->value, NULL);
            result_table_number(t, jobs[k].value[i].value, NULL);
            result_table_number(t, jobs[k].value[i].value / before->value, NULL);
            rows++;
        }
    page_table(page, "Characteristics", t);
    const bool ok = !result_table_failed(t);
    result_table_free(t);
    return ok;
}

static void cards(struct page *page, const struct regress_request *q, const struct baseline *b,
                  const struct regress_comparison *c)
{
    char value[3][FORMAT_SIZE], more[2][160];
    size_t gone = 0;
    for (size_t i = 0; i < c->moved_count; i++)
        gone += isnan(c->moved[i].after);
    snprintf(value[0], FORMAT_SIZE, "%zu", c->moved_count);
    snprintf(value[1], FORMAT_SIZE, "%zu", q->chip_count);
    snprintf(value[2], FORMAT_SIZE, "%zu", gone);
    snprintf(more[0], sizeof more[0], "recorded with %.60s", b->version);
    snprintf(more[1], sizeof more[1], "now %.60s", run_model_version());
    const struct page_card card[] = {
        {"moved beyond tolerance", value[0], more[1]}, {"chips", value[1], more[0]}, {"no longer modelled", value[2], NULL}};
    page_cards(page, card, 3);
}

bool report_regression(const struct regress_request *request, const struct baseline *baseline, const char *name,
                       struct page **page, struct orch_error *error)
{
    struct regress_job *jobs = NULL;
    struct regress_comparison c = {0};
    char title[160], sub[160];
    *page = NULL;
    bool ok = regress_run(request, &jobs, error) && regress_compare(request, jobs, baseline, &c, error);
    if (ok) {
        snprintf(title, sizeof title, "Regression against %.100s", name);
        snprintf(sub, sizeof sub, "baseline of %.32s, %zu values", baseline->created, baseline->values);
        *page = page_create(title, sub);
        page_section(*page, "Summary");
        cards(*page, request, baseline, &c);
        page_section(*page, "What moved");
        ok = moved_part(*page, &c);
        page_section(*page, "All values");
        ok = values_part(*page, request, jobs, baseline) && ok;
        ok = ok || orch_no_memory(error);
        page_foot(*page,
                  "Simulated chips are compared with themselves: how far they are from hardware is what orchard validate says.");
    }
    regress_comparison_free(&c);
    regress_jobs_free(jobs);
    if (!ok) {
        page_free(*page);
        *page = NULL;
    }
    return ok;
}
