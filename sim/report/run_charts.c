/* Charts of where time and energy of runs went, and of how close they came to the roof. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/chip/chip_peaks.h"
#include "sim/base/format.h"
#include "sim/machine/power/run_energy.h"
#include "sim/report/matrix.h"
#include "sim/report/run_parts.h"
#include "sim/run/run_explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 64, ROOFS_MAX = 32 };

/* ---- stacks of named shares ---- */

struct stack {
    struct matrix all, shown; /* all names; only the largest, the rest joined */
    const char **rows, **texts;
    char (*text)[FORMAT_SIZE];
};

typedef const char *quantity_text(double value, char text[FORMAT_SIZE]);

static const char *share_text(double value, char text[FORMAT_SIZE])
{
    return format_share(text, value);
}

static const char *joules_text(double value, char text[FORMAT_SIZE])
{
    return format_quantity(text, value, "J");
}

static bool stack_build(struct stack *s, const struct report_run *runs, size_t count, const struct run_values *const *values,
                        quantity_text *text)
{
    *s = (struct stack){0};
    if (!matrix_build(&s->all, values, count) || !matrix_build(&s->shown, values, count) || !matrix_fold(&s->shown, SVG_COLOURS))
        return false;
    const size_t cells = count * s->shown.columns;
    s->rows = calloc(count + 1, sizeof *s->rows);
    s->texts = calloc(cells + 1, sizeof *s->texts);
    s->text = calloc(cells + 1, sizeof *s->text);
    if (!s->rows || !s->texts || !s->text)
        return false;
    for (size_t i = 0; i < count; i++)
        s->rows[i] = count == 1 ? "" : runs[i].label;
    for (size_t i = 0; i < cells; i++)
        s->texts[i] = text(s->shown.value[i], s->text[i]);
    return true;
}

static void stack_free(struct stack *s)
{
    matrix_free(&s->all);
    matrix_free(&s->shown);
    free(s->rows);
    free(s->texts);
    free(s->text);
}

/* Makes a table with a row per name and a column per run. */
static struct result_table *stack_table(const struct stack *s, const struct report_run *runs, size_t count, const char *first,
                                        const char *unit, quantity_text *text, bool meanings)
{
    struct result_column columns[RUNS_MAX + 2] = {{first, NULL, false}};
    char cell[FORMAT_SIZE];
    for (size_t i = 0; i < count; i++)
        columns[i + 1] = (struct result_column){count == 1 ? (*unit == '1' ? "share" : "energy") : runs[i].label,
                                                *unit == '1' ? NULL : unit, true};
    columns[count + 1] = (struct result_column){"meaning", NULL, false};
    struct result_table *const t = result_table_create(columns, count + 1 + meanings);
    for (size_t k = 0; k < s->all.columns; k++) {
        result_table_text(t, s->all.column[k]);
        for (size_t i = 0; i < count; i++)
            result_table_number(t, s->all.value[i * s->all.columns + k], text(s->all.value[i * s->all.columns + k], cell));
        if (meanings)
            result_table_text(t, run_reason_meaning(s->all.column[k]));
    }
    return t;
}

static bool stack_figure(struct page *page, const struct report_run *runs, size_t count, const struct run_values *const *values,
                         const struct page_figure *like, const struct chart_axis *axis, const char *first, quantity_text *text)
{
    struct stack s;
    bool ok = stack_build(&s, runs, count, values, text);
    if (ok && s.shown.columns) {
        const struct chart_stack chart = {*axis,           s.rows,        count,  (const char *const *)s.shown.column,
                                          s.shown.columns, s.shown.value, s.texts};
        struct result_table *const table = stack_table(&s, runs, count, first, axis->unit, text, *axis->unit == '1');
        struct page_figure figure = *like;
        figure.draw = chart_stack;
        figure.chart = &chart;
        figure.table = table;
        page_figure(page, &figure);
        ok = !result_table_failed(table);
        result_table_free(table);
    }
    stack_free(&s);
    return ok;
}

bool run_part_stalls(struct page *page, const struct report_run *runs, size_t count)
{
    const struct run_values *values[RUNS_MAX];
    const struct page_figure figure = {.title = "Time by reason",
                                       .caption = "Shares of the critical path: what was waited for, or worked at, how long."};
    const struct chart_axis axis = {.label = "share of the time", .unit = "1", .low = 0, .high = 1};
    size_t reasons = 0;
    for (size_t i = 0; i < count && i < RUNS_MAX; i++) {
        values[i] = &runs[i].r.stalls;
        reasons += values[i]->count;
    }
    return reasons == 0 || stack_figure(page, runs, count, values, &figure, &axis, "reason", share_text);
}

/* ---- energy ---- */

static const char *const energy_kinds[] = {"dynamic", "clock", "leakage"};
enum { ENERGY_KINDS = 3 };

/* Reads joules[domain * 3 + kind] from the counters; false when the run has none of them, or when they are not the parts of its
 * joules: counters may add up kernels that a run puts together. */
static bool energy_by_kind(const struct run_result *r, double joules[POWER_DOMAIN_COUNT * ENERGY_KINDS])
{
    double sum = 0;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        for (int k = 0; k < ENERGY_KINDS; k++) {
            char name[64];
            snprintf(name, sizeof name, "energy.%s.%s", power_domain_name(d), energy_kinds[k]);
            const double value = run_values_get(&r->counters, name);
            joules[d * ENERGY_KINDS + (unsigned)k] = isnan(value) ? 0 : value;
            sum += isnan(value) ? 0 : value;
        }
    return sum > 0 && fabs(sum - r->joules) <= 0.01 * r->joules;
}

static bool energy_figure(struct page *page, const double joules[POWER_DOMAIN_COUNT * ENERGY_KINDS], const char *what)
{
    static const struct result_column columns[] = {
        {"part", NULL, false}, {"dynamic", "J", true}, {"clock", "J", true}, {"leakage", "J", true}, {"sum", "J", true}};
    const char *rows[POWER_DOMAIN_COUNT], *texts[POWER_DOMAIN_COUNT * ENERGY_KINDS];
    char text[POWER_DOMAIN_COUNT * ENERGY_KINDS][FORMAT_SIZE], cell[FORMAT_SIZE];
    struct result_table *const t = result_table_create(columns, 5);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        double sum = 0;
        rows[d] = power_domain_name(d);
        result_table_text(t, rows[d]);
        for (unsigned k = 0; k < ENERGY_KINDS; k++) {
            const unsigned i = d * ENERGY_KINDS + k;
            texts[i] = format_quantity(text[i], joules[i], "J");
            sum += joules[i];
            result_table_number(t, joules[i], texts[i]);
        }
        result_table_number(t, sum, format_quantity(cell, sum, "J"));
    }
    const struct chart_stack chart = {
        {.label = "energy", .unit = "J", .si = true}, rows, POWER_DOMAIN_COUNT, energy_kinds, ENERGY_KINDS, joules, texts};
    const struct page_figure figure = {
        .title = "Energy by part", .caption = what, .draw = chart_stack, .chart = &chart, .table = t};
    page_figure(page, &figure);
    const bool ok = !result_table_failed(t);
    result_table_free(t);
    return ok;
}

bool run_part_energy(struct page *page, const struct report_run *runs, size_t count)
{
    const struct run_values *values[RUNS_MAX];
    const struct page_figure figure = {.title = "Energy by part"};
    const struct chart_axis axis = {.label = "energy", .unit = "J", .si = true};
    double joules[POWER_DOMAIN_COUNT * ENERGY_KINDS];
    size_t parts = 0;
    if (count == 1 && energy_by_kind(&runs[0].r, joules) && !runs[0].r.device)
        return energy_figure(page, joules,
                             "dynamic: what happened; clock: clock trees and control; leakage: by voltage and temperature");
    for (size_t i = 0; i < count && i < RUNS_MAX; i++) {
        values[i] = &runs[i].r.joules_by;
        parts += values[i]->count;
    }
    return parts == 0 || stack_figure(page, runs, count, values, &figure, &axis, "part", joules_text);
}

/* ---- roofline ---- */

struct roofline {
    struct chart_roof roof[ROOFS_MAX];
    char name[ROOFS_MAX][96];
    size_t roofs;
    struct chart_point point[2 * RUNS_MAX];
    char text[2 * RUNS_MAX][224];
    struct chart_series series[2 * RUNS_MAX];
    size_t points;
    bool without_dram; /* at least one run has no DRAM traffic */
    struct result_table *table;
};

static void add_roof(struct roofline *f, const char *chip, const struct chip_peak *p, double bandwidth, unsigned colour,
                     bool dashed)
{
    char name[96], peak[FORMAT_SIZE], dram[FORMAT_SIZE];
    snprintf(name, sizeof name, "%.24s %.8s %.16s: %s, DRAM %s", chip, p->unit, p->precision,
             format_quantity(peak, p->value, "flop/s"), format_quantity(dram, bandwidth, "B/s"));
    for (size_t i = 0; i < f->roofs; i++)
        if (strcmp(f->name[i], name) == 0)
            return;
    if (f->roofs == ROOFS_MAX)
        return;
    memcpy(f->name[f->roofs], name, sizeof name);
    f->roof[f->roofs] = (struct chart_roof){f->name[f->roofs], p->value, bandwidth, colour, dashed};
    f->roofs++;
}

/* Adds the roofs of the run's unit and type and returns the peak; NAN when the chip has none. */
static double add_roofs(struct roofline *f, const struct report_run *run, unsigned colour, bool others, double *bandwidth)
{
    struct chip_peaks peaks = {.count = 0};
    double own = NAN;
    *bandwidth = NAN;
    if (run->chip)
        chip_peaks(run->chip, &peaks);
    for (unsigned i = 0; i < peaks.count; i++)
        if (strcmp(peaks.peak[i].unit, "dram") == 0)
            *bandwidth = peaks.peak[i].value;
    for (unsigned i = 0; i < peaks.count && isfinite(*bandwidth); i++) {
        const struct chip_peak *const p = &peaks.peak[i];
        if (!p->supported || !run->r.unit || strcmp(p->unit, run->r.unit) != 0)
            continue;
        const bool match = chip_peak_is_of(p, run->r.precision);
        if (match && isnan(own))
            own = p->value;
        if (match || others)
            add_roof(f, run->r.chip, p, *bandwidth, match ? colour : 7, !match);
    }
    return own;
}

/* A run without DRAM traffic is drawn far to the right, at 16 times the intensity where the roofs meet. */
static void add_point(struct roofline *f, const struct report_run *run, unsigned colour, double edge, bool busy, const char *name)
{
    const struct run_result *const r = &run->r;
    const bool traffic = r->dram_bytes > 0;
    const double rate = r->flops / (busy ? r->device_seconds : r->seconds), x = traffic ? r->flops / r->dram_bytes : 16 * edge;
    char shown[FORMAT_SIZE], at[48] = "without DRAM traffic";
    const size_t i = f->points;
    if (!(rate > 0) || !(x > 0) || i == ARRAY_COUNT(f->point))
        return;
    if (traffic)
        snprintf(at, sizeof at, "at %.4g flop/byte", x);
    snprintf(f->text[i], sizeof f->text[i], "%.130s: %s %s", name, format_quantity(shown, rate, "flop/s"), at);
    f->point[i] = (struct chart_point){x, rate, busy ? (double)NAN : r->flops / r->seconds_high,
                                       busy ? (double)NAN : r->flops / r->seconds_low, f->text[i]};
    f->series[i] = (struct chart_series){name, colour, busy ? SVG_DIAMOND : SVG_CIRCLE, busy, false, false, &f->point[i], 1};
    f->points++;
    f->without_dram = f->without_dram || !traffic;
}

static void add_row(struct roofline *f, const struct report_run *run, double peak, double bandwidth)
{
    const struct run_result *const r = &run->r;
    const double intensity = r->dram_bytes > 0 ? r->flops / r->dram_bytes : (double)NAN;
    const double roof = fmin(peak, isnan(intensity) ? HUGE_VAL : intensity * bandwidth), rate = r->flops / r->seconds;
    const double busy = r->device_seconds > 0 ? r->flops / r->device_seconds : (double)NAN;
    char text[FORMAT_SIZE];
    result_table_text(f->table, run->label);
    result_table_number(f->table, intensity, NULL); /* an empty cell when there is no DRAM traffic */
    result_table_number(f->table, rate, format_quantity(text, rate, "flop/s"));
    result_table_number(f->table, busy, format_quantity(text, busy, "flop/s"));
    result_table_number(f->table, roof, format_quantity(text, roof, "flop/s"));
    result_table_number(f->table, busy / roof, format_share(text, busy / roof));
}

bool run_part_roofline(struct page *page, const struct report_run *runs, size_t count)
{
    static const struct result_column columns[] = {{"run", NULL, false},     {"operations per byte", "flop/byte", true},
                                                   {"rate", "flop/s", true}, {"rate while busy", "flop/s", true},
                                                   {"roof", "flop/s", true}, {"of the roof, busy", NULL, true}};
    struct roofline *const f = calloc(1, sizeof *f);
    if (!f)
        return false;
    f->table = result_table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        const struct run_result *const r = &runs[i].r;
        double bandwidth;
        if (!(r->flops > 0) || !(r->seconds > 0))
            continue;
        const double peak = add_roofs(f, &runs[i], (unsigned)i, count == 1, &bandwidth);
        if (isnan(peak))
            continue;
        add_point(f, &runs[i], (unsigned)i, peak / bandwidth, false, count == 1 ? "this run, overheads included" : runs[i].label);
        if (count == 1 && r->device_seconds > 0 && r->device_seconds < 0.95 * r->seconds)
            add_point(f, &runs[i], (unsigned)i, peak / bandwidth, true, "while the unit was busy");
        add_row(f, &runs[i], peak, bandwidth);
    }
    const struct chart_roofline chart = {"flop/s", f->roof, f->roofs, f->series, f->points};
    char caption[400];
    snprintf(
        caption, sizeof caption,
        "Peaks of all units of the kind together, and of the DRAM. Right of the edge arithmetic can be the limit, left of it "
        "bandwidth. Whiskers: 90 %% interval.%s",
        f->without_dram ? " A run without DRAM traffic stands right of the edge." : "");
    const struct page_figure figure = {
        .title = "Roofline", .draw = chart_roofline, .chart = &chart, .table = f->table, .caption = caption};
    if (f->points)
        page_figure(page, &figure);
    result_table_free(f->table);
    free(f);
    return true;
}
