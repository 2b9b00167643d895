#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/report/report.h"
#include "sim/report/sweep_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME = 200,
    CLOUD_MAX = 1000,
    POINTS_MAX = 600,
    FRONT_MAX = 300,
    KEY_TEXT = 64
}; /* the limits hold for the page, all workloads together */

/* Share of a limit that one workload may use. */
static size_t part_of(const struct sweep_data *data, size_t most)
{
    return most / (data->spec->workload_count ? data->spec->workload_count : 1) + 1;
}

/* Writes the setting of a point, "gpu_cores=20, chip=m2"; returns text. */
static const char *sweep_setting_text(const struct sweep_data *data, const struct sweep_point *point, char *text, size_t size)
{
    char value[KEY_TEXT];
    size_t used = 0;
    *text = 0;
    for (size_t k = 0; k < data->spec->key_count && used + 1 < size; k++) {
        const int n = snprintf(text + used, size - used, "%s%.40s=%s", k ? ", " : "", data->spec->key[k].name,
                               sweep_value_text(data, point, k, value, sizeof value));
        used += n > 0 ? (size_t)n : 0;
    }
    return text;
}

/* ---- Pareto front ---- */

struct cloud {
    struct chart_point *point;
    bool *front;
    char (*name)[NAME];
    size_t count;
    struct result_table *table; /* lists the points of the front */
};

static void add_point(struct cloud *c, const struct sweep_data *data, const struct sweep_point *p, bool front)
{
    const double seconds = p->answer.response[SWEEP_seconds], joules = p->answer.response[SWEEP_joules];
    char setting[NAME], time[FORMAT_SIZE], energy[FORMAT_SIZE];
    sweep_setting_text(data, p, setting, sizeof setting);
    format_quantity(time, seconds, "s");
    format_quantity(energy, joules, "J");
    snprintf(c->name[c->count], NAME, "%.120s: %.30s, %.30s", setting, time, energy);
    c->point[c->count] = (struct chart_point){seconds, joules, NAN, NAN, c->name[c->count]};
    c->front[c->count++] = front;
    if (!front)
        return;
    result_table_text(c->table, setting);
    result_table_number(c->table, seconds, time);
    result_table_number(c->table, joules, energy);
    result_table_number(c->table, p->answer.response[SWEEP_celsius_max], NULL);
}

/* Picks points of the front and of the others evenly, as many as the page can carry. */
static void fill(struct cloud *c, const struct sweep_data *data, size_t workload, const size_t *front, size_t fronts)
{
    size_t others = 0, seen = 0;
    for (size_t i = 0; i < data->point_count; i++)
        others += sweep_counts(data, &data->point[i], workload, SWEEP_joules);
    const size_t stride = others / part_of(data, CLOUD_MAX) + 1;
    const size_t front_stride = fronts / part_of(data, FRONT_MAX) + 1;
    for (size_t i = 0; i < fronts; i += front_stride)
        if (!isnan(data->point[front[i]].answer.response[SWEEP_joules]))
            add_point(c, data, &data->point[front[i]], true);
    for (size_t i = 0; i < data->point_count; i++) {
        bool in_front = false;
        if (!sweep_counts(data, &data->point[i], workload, SWEEP_joules) || seen++ % stride != 0)
            continue;
        for (size_t k = 0; k < fronts && !in_front; k++)
            in_front = front[k] == i;
        if (!in_front)
            add_point(c, data, &data->point[i], false);
    }
}

/* The axis is logarithmic when the points spread over more than a factor of four. */
static struct chart_axis spread_axis(const char *label, const char *unit, const struct cloud *c, bool energy)
{
    double low = HUGE_VAL, high = 0;
    for (size_t i = 0; i < c->count; i++) {
        const double value = energy ? c->point[i].y : c->point[i].x;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    return (struct chart_axis){.label = label, .unit = unit, .si = true, .log = high > 4 * low};
}

/* Energy over time, with the points that no other point beats. Nothing without energies. */
static bool sweep_part_pareto(struct page *page, const struct sweep_data *data, size_t workload, struct orch_error *error)
{
    static const struct result_column columns[] = {
        {"setting", NULL, false}, {"time", "s", true}, {"energy", "J", true}, {"hottest", "degC", true}};
    struct cloud c = {.point = calloc(data->point_count + 1, sizeof *c.point),
                      .front = calloc(data->point_count + 1, sizeof *c.front),
                      .name = calloc(data->point_count + 1, sizeof *c.name),
                      .table = result_table_create(columns, 4)};
    size_t *front = NULL, fronts = 0;
    bool ok = (c.point && c.front && c.name) || orch_no_memory(error);
    ok = ok && sweep_pareto(data, workload, &front, &fronts, error);
    if (ok)
        fill(&c, data, workload, front, fronts);
    const struct chart_pareto chart = {spread_axis("time", "s", &c, false), spread_axis("energy", "J", &c, true), c.point,
                                       c.front, c.count};
    char caption[240];
    snprintf(caption, sizeof caption,
             "Below: %s%zu points that no other point beats in time, energy and, where there is one, temperature%s.",
             fronts > part_of(data, FRONT_MAX) ? "some of the " : "the ", fronts,
             c.count < data->done ? "; of many points some are drawn" : "");
    const struct page_figure figure = {
        .title = "Energy over time", .caption = caption, .draw = chart_pareto, .chart = &chart, .table = c.table};
    if (ok && c.count > 1)
        page_figure(page, &figure);
    free(front);
    free(c.point);
    free(c.front);
    free(c.name);
    result_table_free(c.table);
    return ok;
}

/* ---- the points ---- */

static int by_seconds(const void *a, const void *b)
{
    const struct sweep_point *const x = *(const struct sweep_point *const *)a, *const y = *(const struct sweep_point *const *)b;
    const double s = x->answer.status == SWEEP_DONE ? x->answer.response[SWEEP_seconds] : HUGE_VAL;
    const double t = y->answer.status == SWEEP_DONE ? y->answer.response[SWEEP_seconds] : HUGE_VAL;
    return s < t ? -1 : s > t ? 1 : x->number < y->number ? -1 : 1;
}

static void point_row(struct result_table *t, const struct sweep_data *data, const struct sweep_point *p)
{
    const struct sweep_answer *const a = &p->answer;
    const double seconds = a->response[SWEEP_seconds], joules = a->response[SWEEP_joules];
    char text[FORMAT_SIZE], value[KEY_TEXT];
    result_table_number(t, (double)p->number, NULL);
    for (size_t k = 0; k < data->spec->key_count; k++)
        result_table_text(t, sweep_value_text(data, p, k, value, sizeof value));
    result_table_number(t, seconds, format_quantity(text, seconds, "s"));
    result_table_number(t, a->response[SWEEP_seconds_low], format_quantity(text, a->response[SWEEP_seconds_low], "s"));
    result_table_number(t, a->response[SWEEP_seconds_high], format_quantity(text, a->response[SWEEP_seconds_high], "s"));
    result_table_number(t, joules, format_quantity(text, joules, "J"));
    result_table_number(t, a->response[SWEEP_celsius_max], NULL);
    result_table_text(t, *a->bound_by ? a->bound_by : NULL);
    result_table_text(t, a->status == SWEEP_FAILED ? a->error : sweep_method_name(a->method));
}

/* The points, fastest first. */
static bool sweep_part_points(struct page *page, const struct sweep_data *data, size_t workload)
{
    struct result_column columns[SWEEP_KEYS_MAX + 8] = {{"point", NULL, true}};
    const struct sweep_point **const order = calloc(data->point_count + 1, sizeof *order);
    size_t count = 0, used = 1;
    for (size_t k = 0; k < data->spec->key_count; k++)
        columns[used++] = (struct result_column){data->spec->key[k].name, NULL, data->spec->key[k].numeric};
    static const struct result_column rest[] = {{"time", "s", true},   {"low", "s", true},        {"high", "s", true},
                                                {"energy", "J", true}, {"hottest", "degC", true}, {"bound by", NULL, false},
                                                {"how", NULL, false}};
    memcpy(columns + used, rest, sizeof rest);
    struct result_table *const t = result_table_create(columns, used + ARRAY_COUNT(rest));
    for (size_t i = 0; order && i < data->point_count; i++)
        if (data->point[i].role == SWEEP_POINT && data->point[i].workload == workload)
            order[count++] = &data->point[i];
    const size_t shown = part_of(data, POINTS_MAX);
    if (order)
        qsort(order, count, sizeof *order, by_seconds);
    for (size_t i = 0; order && i < count && i < shown; i++)
        point_row(t, data, order[i]);
    page_table(page, count > shown ? "The fastest points" : "Points, fastest first", t);
    if (count > shown)
        page_note(page, "%zu of %zu points; all: orchard db sql 'SELECT * FROM v_sweep WHERE sweep_id = %lld'", shown, count,
                  (long long)data->id);
    const bool ok = order && !result_table_failed(t);
    result_table_free(t);
    free(order);
    return ok;
}

/* ---- the page ---- */

/* Points without an answer, whatever the reason: nothing below is the whole picture. */
static void say_what_is_missing(struct page *page, const struct sweep_data *data)
{
    const uint64_t answered = data->done + data->failed;
    if (answered < data->spec->points)
        page_callout(
            page,
            "This sweep is not whole: %zu of %llu points are done, %zu failed, %llu have no answer yet. It was "
            "interrupted, is still going on, or other shards have the rest. All charts and shares below are of the points "
            "that are there; the command that began the sweep goes on where it stood.",
            data->done, (unsigned long long)data->spec->points, data->failed,
            (unsigned long long)(data->spec->points - answered));
    else if (data->failed)
        page_callout(page,
                     "%zu of %llu points failed; all charts and shares below are of the others. The tables of points say why.",
                     data->failed, (unsigned long long)data->spec->points);
}

static void summary(struct page *page, const struct sweep_data *data)
{
    char value[4][FORMAT_SIZE], more[4][120];
    snprintf(value[0], FORMAT_SIZE, "%zu of %llu", data->done, (unsigned long long)data->spec->points);
    snprintf(more[0], sizeof more[0], "%zu failed", data->failed);
    snprintf(value[1], FORMAT_SIZE, "%s", sweep_design_name(data->spec->design));
    snprintf(more[1], sizeof more[1], "%zu keys, %zu workload%s", data->spec->key_count, data->spec->workload_count,
             data->spec->workload_count == 1 ? "" : "s");
    snprintf(value[2], FORMAT_SIZE, "%zu", data->by_method[SWEEP_SIMULATED] + data->by_method[SWEEP_KNOWN]);
    snprintf(more[2], sizeof more[2], "%zu of them known from before", data->by_method[SWEEP_KNOWN]);
    snprintf(value[3], FORMAT_SIZE, "%zu", data->by_method[SWEEP_INTERPOLATED]);
    snprintf(more[3], sizeof more[3], "between simulated points, to %.3g %%", 100 * data->spec->tolerance);
    const struct page_card card[] = {{"points done", value[0], more[0]},
                                     {"design", value[1], more[1]},
                                     {"simulated", value[2], more[2]},
                                     {"interpolated", value[3], more[3]}};
    page_cards(page, card, 4);
}

static bool keys_table(struct page *page, const struct sweep_data *data)
{
    static const struct result_column columns[] = {{"key", NULL, false}, {"values", NULL, false}};
    struct result_table *const t = result_table_create(columns, 2);
    struct text values = {0};
    for (size_t k = 0; k < data->spec->key_count; k++) {
        const struct sweep_key *const key = &data->spec->key[k];
        values.size = 0;
        if (key->range)
            text_printf(&values, "%.6g to %.6g%s", key->low, key->high, key->log ? ", logarithmic" : "");
        for (size_t i = 0; !key->range && i < key->level_count; i++)
            text_printf(&values, "%s%s", i ? ", " : "", key->level[i]);
        result_table_text(t, key->name);
        result_table_text(t, values.size ? values.data : "");
    }
    page_table(page, "What varies", t);
    const bool ok = !values.failed && !result_table_failed(t);
    text_free(&values);
    result_table_free(t);
    return ok;
}

/* Adds the effects on one response, when enough points have it. */
static bool effects(struct page *page, const struct sweep_data *data, size_t workload, enum sweep_response response, bool curves,
                    struct orch_error *error)
{
    struct sweep_effects e;
    size_t points = 0;
    for (size_t i = 0; i < data->point_count; i++)
        points += sweep_counts(data, &data->point[i], workload, response);
    if (points == 0)
        return true;
    if (!sweep_effects_of(data, workload, response, &e, error))
        return false;
    const bool ok = sweep_part_tornado(page, data, &e) && (!curves || sweep_part_curves(page, data, &e));
    sweep_effects_free(&e);
    return ok || orch_no_memory(error);
}

static bool workload_parts(struct page *page, const struct sweep_data *data, size_t workload, struct orch_error *error)
{
    page_section(page, data->spec->workload[workload]);
    return effects(page, data, workload, SWEEP_seconds, true, error) &&
           effects(page, data, workload, SWEEP_joules, false, error) && sweep_part_pareto(page, data, workload, error) &&
           ((sweep_part_brush(page, data, workload) && sweep_part_points(page, data, workload)) || orch_no_memory(error));
}

static struct page *begin(const struct sweep_data *data)
{
    char title[240], sub[200];
    const char *const state = data->done + data->failed < data->spec->points ? ": not finished" : "";
    if (data->spec->name)
        snprintf(title, sizeof title, "Sweep %.150s%s", data->spec->name, state);
    else
        snprintf(title, sizeof title, "Sweep %lld of %.120s%s%s", (long long)data->id,
                 data->spec->workload_count ? data->spec->workload[0] : "", data->spec->workload_count > 1 ? " and more" : "",
                 state);
    snprintf(sub, sizeof sub, "sweep %lld, %.16s; simulated by orchard %.60s, %.24s", (long long)data->id, data->hash,
             data->version ? data->version : "?", data->created ? data->created : "?");
    return page_create(title, sub);
}

bool report_sweep(struct orch_db *db, const char *which, struct page **page, struct orch_error *error)
{
    struct sweep_data *const data = sweep_open(db, which, error);
    *page = NULL;
    if (!data)
        return false;
    *page = begin(data);
    page_section(*page, "Summary");
    say_what_is_missing(*page, data);
    summary(*page, data);
    bool ok = keys_table(*page, data) || orch_no_memory(error);
    for (size_t w = 0; ok && w < data->spec->workload_count; w++)
        ok = workload_parts(*page, data, w, error);
    page_foot(*page, "Share of the variance: first-order index, corrected for the scatter of few points. Everything is "
                     "simulated, not measured.");
    sweep_close(data);
    if (!ok) {
        page_free(*page);
        *page = NULL;
    }
    return ok;
}
