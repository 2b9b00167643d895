/* The kernels of a network on its units, one after another, as a timeline and a table. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/report/run_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES_MAX = 8 };

struct kernels {
    const char *lane[LANES_MAX];
    size_t lanes, count;
    struct chart_interval *interval;
    char (*name)[160];
    double now_s, whole_s;
    bool overlap;
};

static double counted(const struct run_result *r, size_t place, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "network.kernel%zu.%s", place + 1, what);
    return run_values_get(&r->counters, name);
}

static unsigned lane_of(struct kernels *k, const char *unit)
{
    size_t i = 0;
    while (i < k->lanes && strcmp(k->lane[i], unit) != 0)
        i++;
    if (i == k->lanes && i < LANES_MAX)
        k->lane[k->lanes++] = unit;
    return (unsigned)(i < LANES_MAX ? i : LANES_MAX - 1);
}

static void take(struct kernels *k, struct result_table *t, const struct run_result *r, size_t place)
{
    const struct run_placement *const p = &r->placement.item[place];
    const double seconds = counted(r, place, "seconds"), joules = counted(r, place, "joules");
    char text[FORMAT_SIZE];
    if (isnan(seconds))
        return;
    const double begin = counted(r, place, "begin_seconds"); /* where units work at the same time */
    const unsigned lane = lane_of(k, p->unit);
    k->now_s = isnan(begin) ? k->now_s : begin;
    k->overlap |= !isnan(begin);
    snprintf(k->name[k->count], sizeof k->name[0], "%.50s, %.70s: %s", p->op, p->kernel, format_quantity(text, seconds, "s"));
    k->interval[k->count] = (struct chart_interval){lane, lane, k->now_s, k->now_s + seconds, k->name[k->count]};
    k->count++;
    result_table_text(t, p->op);
    result_table_text(t, p->unit);
    result_table_text(t, p->kernel);
    result_table_number(t, k->now_s, format_quantity(text, k->now_s, "s"));
    result_table_number(t, seconds, format_quantity(text, seconds, "s"));
    result_table_number(t, seconds / k->whole_s, format_share(text, seconds / k->whole_s));
    result_table_number(t, joules, isnan(joules) ? "" : format_quantity(text, joules, "J"));
    result_table_text(t, p->why);
    k->now_s += seconds;
}

static void draw(struct page *page, const struct kernels *k, struct result_table *t)
{
    char caption[200], text[FORMAT_SIZE];
    if (k->overlap)
        snprintf(caption, sizeof caption,
                 "%zu kernels on units that work at the same time; gaps are command buffers and waiting.", k->count);
    else
        snprintf(caption, sizeof caption,
                 "%zu kernels, one after another; of the whole time %s are command buffers and requests, which are not drawn.",
                 k->count, format_quantity(text, fmax(0, k->whole_s - k->now_s), "s"));
    const struct chart_timeline chart = {
        {.label = "simulated time", .unit = "s", .si = true, .zero = true}, k->lane, k->lanes, k->interval, k->count};
    const struct page_figure figure = {
        .title = "The network on its units", .caption = caption, .draw = chart_timeline, .chart = &chart, .table = t};
    page_figure(page, &figure);
}

bool run_part_is_network(const struct report_run *run)
{
    size_t timed = 0;
    for (size_t i = 0; i < run->r.placement.count && timed < 2; i++)
        timed += !isnan(counted(&run->r, i, "seconds"));
    return timed > 1;
}

bool run_part_network(struct page *page, const struct report_run *run, struct orch_error *error)
{
    static const struct result_column columns[] = {{"operator", NULL, false}, {"on", NULL, false},      {"kernel", NULL, false},
                                                   {"begin", "s", true},      {"time", "s", true},      {"share", NULL, true},
                                                   {"energy", "J", true},     {"bound by", NULL, false}};
    const struct run_result *const r = &run->r;
    const size_t places = r->placement.count;
    struct kernels k = {.interval = calloc(places + 1, sizeof *k.interval), .name = calloc(places + 1, sizeof *k.name)};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    const bool ok = (k.interval && k.name && t) || orch_no_memory(error);
    k.whole_s = r->seconds;
    for (size_t i = 0; ok && i < places; i++)
        take(&k, t, r, i);
    if (ok && k.count > 1)
        draw(page, &k, t);
    result_table_free(t);
    free(k.interval);
    free(k.name);
    return ok;
}
