/* What the keys of a sweep do: tornado, response curves, table of main effects. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/report/sweep_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWINGS_MAX = 24, PANELS_MAX = 12, LEVELS_MAX = 64, BARS_MAX = 24, TEXT = FORMAT_SIZE };

/* Writes a value of a key, a number or the name of a level; returns text. */
static const char *sweep_key_text(const struct sweep_key *key, double value, char *text, size_t size)
{
    if (isnan(value))
        snprintf(text, size, "\xe2\x80\x93");
    else if (key->numeric)
        snprintf(text, size, "%.6g", value);
    else if (value >= 0 && (size_t)value < key->level_count)
        snprintf(text, size, "%s", key->level[(size_t)value]);
    else
        snprintf(text, size, "?");
    return text;
}

static struct chart_axis response_axis(enum sweep_response response)
{
    const char *const unit = sweep_response_unit(response);
    const bool si = strcmp(unit, "s") == 0 || strcmp(unit, "J") == 0 || strcmp(unit, "W") == 0;
    return (struct chart_axis){.label = sweep_response_name(response), .unit = unit, .si = si};
}

/* What is left of an effect by rounding is none. */
static void digits_cell(struct result_table *t, double effect)
{
    char text[FORMAT_SIZE];
    const double rounded = fabs(effect) < 1e-9 ? 0 : effect;
    result_table_number(t, rounded, isnan(rounded) ? NULL : format_digits(text, rounded, 3));
}

/* ---- tornado ---- */

static struct result_table *tornado_table(const struct sweep_data *data, const struct sweep_effects *e)
{
    const char *const unit = sweep_response_unit(e->response);
    const struct result_column columns[] = {{"key", NULL, false},           {"where least", NULL, false},
                                            {"response there", unit, true}, {"where greatest", NULL, false},
                                            {"response there", unit, true}, {"greatest over least", NULL, true}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char text[TEXT];
    for (size_t i = 0; i < e->count; i++) {
        const struct sweep_effect *const f = &e->effect[i];
        const struct sweep_key *const key = &data->spec->key[f->key];
        result_table_text(t, key->name);
        result_table_text(t, sweep_key_text(key, f->low_value, text, sizeof text));
        result_table_number(t, f->low_response, format_quantity(text, f->low_response, unit));
        result_table_text(t, sweep_key_text(key, f->high_value, text, sizeof text));
        result_table_number(t, f->high_response, format_quantity(text, f->high_response, unit));
        result_table_number(t, f->high_response / f->low_response, format_digits(text, f->high_response / f->low_response, 4));
    }
    return t;
}

bool sweep_part_tornado(struct page *page, const struct sweep_data *data, const struct sweep_effects *e)
{
    struct chart_swing swing[SWINGS_MAX];
    char text[SWINGS_MAX][2][TEXT], title[96], caption[200], base[FORMAT_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < e->count && count < SWINGS_MAX; i++) {
        const struct sweep_effect *const f = &e->effect[i];
        const struct sweep_key *const key = &data->spec->key[f->key];
        if (isnan(f->low_response) || isnan(f->high_response))
            continue;
        sweep_key_text(key, f->low_value, text[count][0], TEXT);
        sweep_key_text(key, f->high_value, text[count][1], TEXT);
        swing[count] = (struct chart_swing){key->name, text[count][0], text[count][1], f->low_response, f->high_response};
        count++;
    }
    if (count == 0 || isnan(e->base))
        return true;
    struct result_table *const t = tornado_table(data, e);
    const struct chart_tornado chart = {response_axis(e->response), e->base, swing, count};
    snprintf(title, sizeof title, "What each key alone does to %s", sweep_response_name(e->response));
    snprintf(caption, sizeof caption,
             "Blue: the setting where it is least, orange-red: where it is greatest; the line is the base, %s.",
             format_quantity(base, e->base, sweep_response_unit(e->response)));
    const struct page_figure figure = {.title = title, .caption = caption, .draw = chart_tornado, .chart = &chart, .table = t};
    page_figure(page, &figure);
    const bool ok = !result_table_failed(t);
    result_table_free(t);
    return ok;
}

/* ---- response curves ---- */

static struct result_table *levels_table(const struct sweep_data *data, const struct sweep_effects *e)
{
    const char *const unit = sweep_response_unit(e->response);
    const struct result_column columns[] = {{"key", NULL, false}, {"value", NULL, false}, {"points", NULL, true},
                                            {"mean", unit, true}, {"least", unit, true},  {"greatest", unit, true}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char low[TEXT], high[TEXT], text[2 * TEXT + 8];
    for (size_t i = 0; i < e->count; i++)
        for (size_t k = 0; k < e->effect[i].level_count; k++) {
            const struct sweep_level *const l = &e->effect[i].level[k];
            const struct sweep_key *const key = &data->spec->key[e->effect[i].key];
            sweep_key_text(key, l->low, low, sizeof low);
            if (l->low == l->high)
                snprintf(text, sizeof text, "%s", low);
            else
                snprintf(text, sizeof text, "%s \xe2\x80\x93 %s", low, sweep_key_text(key, l->high, high, sizeof high));
            result_table_text(t, key->name);
            result_table_text(t, text);
            result_table_number(t, (double)l->count, NULL);
            result_table_number(t, l->mean, format_quantity(text, l->mean, unit));
            result_table_number(t, l->lowest, format_quantity(text, l->lowest, unit));
            result_table_number(t, l->highest, format_quantity(text, l->highest, unit));
        }
    return t;
}

/* Draws a panel for each numeric key. */
static bool numeric_curves(struct page *page, const struct sweep_data *data, const struct sweep_effects *e,
                           const struct result_table *t)
{
    struct chart_panel panel[PANELS_MAX];
    struct chart_series series[PANELS_MAX];
    struct chart_point(*const point)[LEVELS_MAX] = calloc(PANELS_MAX, sizeof *point);
    char title[96];
    size_t panels = 0;
    for (size_t i = 0; point && i < e->count && panels < PANELS_MAX; i++) {
        const struct sweep_effect *const f = &e->effect[i];
        const struct sweep_key *const key = &data->spec->key[f->key];
        size_t count = 0;
        if (!key->numeric)
            continue;
        for (size_t k = 0; k < f->level_count && count < LEVELS_MAX; k++)
            if (f->level[k].count)
                point[panels][count++] = (struct chart_point){(f->level[k].low + f->level[k].high) / 2, f->level[k].mean,
                                                              f->level[k].lowest, f->level[k].highest, NULL};
        series[panels] =
            (struct chart_series){"mean; whiskers: least and greatest", 0, SVG_CIRCLE, false, true, false, point[panels], count};
        panel[panels] =
            (struct chart_panel){key->name,
                                 {.label = key->name, .unit = "", .log = key->log && key->low > 0, .whole = key->whole},
                                 &series[panels],
                                 1};
        panels++;
    }
    snprintf(title, sizeof title, "%s over each key", sweep_response_name(e->response));
    const struct chart_curves chart = {response_axis(e->response), panel, panels};
    const struct page_figure figure = {.title = title,
                                       .caption = "All points of the sweep, whatever the other keys are.",
                                       .draw = chart_curves,
                                       .chart = &chart,
                                       .table = t};
    if (panels)
        page_figure(page, &figure);
    free(point);
    return point != NULL;
}

static struct result_table *bars_table(const struct chart_bar *bar, size_t bars, const char *unit)
{
    const struct result_column columns[] = {
        {"setting", NULL, false}, {"mean", unit, true}, {"least", unit, true}, {"greatest", unit, true}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE];
    for (size_t i = 0; i < bars; i++) {
        result_table_text(t, bar[i].name);
        result_table_number(t, bar[i].value, bar[i].shown);
        result_table_number(t, bar[i].low, format_quantity(text, bar[i].low, unit));
        result_table_number(t, bar[i].high, format_quantity(text, bar[i].high, unit));
    }
    return t;
}

/* Draws a bar per level for keys that have no numbers. */
static void level_bars(struct page *page, const struct sweep_data *data, const struct sweep_effects *e)
{
    struct chart_bar bar[BARS_MAX];
    char name[BARS_MAX][2 * TEXT + 8], shown[BARS_MAX][FORMAT_SIZE], text[TEXT];
    size_t bars = 0;
    for (size_t i = 0; i < e->count; i++) {
        const struct sweep_effect *const f = &e->effect[i];
        const struct sweep_key *const key = &data->spec->key[f->key];
        for (size_t k = 0; !key->numeric && k < f->level_count && bars < BARS_MAX; k++) {
            if (!f->level[k].count)
                continue;
            snprintf(name[bars], sizeof name[0], "%.40s = %s", key->name,
                     sweep_key_text(key, f->level[k].low, text, sizeof text));
            format_quantity(shown[bars], f->level[k].mean, sweep_response_unit(e->response));
            bar[bars] = (struct chart_bar){name[bars],         shown[bars],         f->level[k].mean,
                                           f->level[k].lowest, f->level[k].highest, (unsigned)i};
            bars++;
        }
    }
    struct chart_axis axis = response_axis(e->response);
    char title[96];
    axis.zero = true;
    snprintf(title, sizeof title, "Mean %s by level", sweep_response_name(e->response));
    const struct chart_bars chart = {axis, bar, bars};
    struct result_table *const table = bars_table(bar, bars, sweep_response_unit(e->response));
    const struct page_figure figure = {
        .title = title, .caption = "Whiskers: least and greatest.", .draw = chart_bars, .chart = &chart, .table = table};
    if (bars)
        page_figure(page, &figure);
    result_table_free(table);
}

static void effects_table(struct page *page, const struct sweep_data *data, const struct sweep_effects *e)
{
    static const struct result_column columns[] = {{"key", NULL, false},
                                                   {"share of the variance", NULL, true},
                                                   {"elasticity", NULL, true},
                                                   {"standardised coefficient", NULL, true}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE], title[96];
    for (size_t i = 0; i < e->count; i++) {
        result_table_text(t, data->spec->key[e->effect[i].key].name);
        result_table_number(t, e->effect[i].first_order, format_share(text, e->effect[i].first_order));
        digits_cell(t, e->effect[i].elasticity);
        digits_cell(t, e->effect[i].coefficient);
    }
    snprintf(title, sizeof title, "Main effects on %s", sweep_response_name(e->response));
    page_table(page, title, t);
    page_note(page, "Share of the variance: %s.", sweep_effects_estimate(e));
    page_note(page,
              "Elasticity: relative change of the response per relative change of the key, from a regression over all numeric "
              "keys%s%s.",
              isnan(e->explained) ? "" : " that explains a share of ",
              isnan(e->explained) ? "" : format_share(text, e->explained));
    result_table_free(t);
}

bool sweep_part_curves(struct page *page, const struct sweep_data *data, const struct sweep_effects *e)
{
    struct result_table *const t = levels_table(data, e);
    const bool ok = numeric_curves(page, data, e, t) && !result_table_failed(t);
    level_bars(page, data, e);
    effects_table(page, data, e);
    result_table_free(t);
    return ok;
}
