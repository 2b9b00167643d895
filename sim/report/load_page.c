#include "sim/report/load_page.h"

#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/run/run_version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BARS = 40 };

/* ---- all together ---- */

static void summary(struct page *page, const struct load_page *d)
{
    const struct load_result *const r = d->result;
    struct page_card card[4 + LOAD_MODELS];
    char value[4 + LOAD_MODELS][FORMAT_SIZE], more[4 + LOAD_MODELS][160];
    unsigned cards = 0;
    uint64_t done = 0, arrived = 0, rejected = 0, waiting = 0, samples = 0;
    for (unsigned m = 0; m < r->models; m++) {
        done += r->model[m].done;
        arrived += r->model[m].arrived;
        rejected += r->model[m].rejected;
        waiting += r->model[m].waiting;
        samples += r->model[m].samples;
    }
    snprintf(value[cards], FORMAT_SIZE, "%.4g /s", (double)done / r->seconds);
    snprintf(more[cards], sizeof more[0], "%llu of %llu requests in %.6g s; %llu turned away, %llu undone at the end",
             (unsigned long long)done, (unsigned long long)arrived, r->seconds, (unsigned long long)rejected,
             (unsigned long long)waiting);
    card[cards] = (struct page_card){"requests done", value[cards], more[cards]};
    cards++;
    for (unsigned m = 0; m < r->models; m++) {
        struct load_times *const t = &d->result->model[m].latency;
        char a[FORMAT_SIZE], b[FORMAT_SIZE];
        format_si(value[cards], load_percentile(t, 0.99), "s");
        snprintf(more[cards], sizeof more[0], "%.60s; median %s, 95 %% within %s", d->setup->model[m].name,
                 format_si(a, load_percentile(t, 0.5), "s"), format_si(b, load_percentile(t, 0.95), "s"));
        card[cards] = (struct page_card){"latency, 99 % within", value[cards], more[cards]};
        cards++;
    }
    if (isfinite(r->joules) && samples) {
        format_si(value[cards], r->joules / (double)samples, "J");
        snprintf(more[cards], sizeof more[0], "%.4g W in the mean, chip and memory, idle time included", r->joules / r->seconds);
        card[cards] = (struct page_card){"energy of an inference", value[cards], more[cards]};
        cards++;
    }
    page_cards(page, card, cards);
}

/* ---- latency over rate ---- */

static struct result_table *rate_table(const struct load_page *d)
{
    static const struct result_column columns[] = {
        {"requests asked", "1/s", true}, {"done", "1/s", true},        {"p50", "s", true}, {"p95", "s", true}, {"p99", "s", true},
        {"mean batch", NULL, true},      {"energy", "J/request", true}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    for (unsigned i = 0; i < d->rates; i++) {
        const struct load_rate *const p = &d->rate[i];
        const double numbers[] = {p->rate, p->done_rate, p->p50_s, p->p95_s, p->p99_s, p->batch, p->joules};
        for (size_t k = 0; k < ARRAY_COUNT(numbers); k++)
            result_table_number(t, numbers[k], NULL);
    }
    return t;
}

static void latency_over_rate(struct page *page, const struct load_page *d)
{
    static const char *const names[] = {"median", "95 %", "99 %"};
    struct chart_point *const point = calloc(3 * (size_t)d->rates + 1, sizeof *point);
    struct chart_series series[3];
    struct result_table *const table = rate_table(d);
    for (unsigned k = 0; point && k < 3; k++) {
        for (unsigned i = 0; i < d->rates; i++) {
            const struct load_rate *const p = &d->rate[i];
            point[k * d->rates + i] = (struct chart_point){p->rate,
                                                           k == 0   ? p->p50_s
                                                           : k == 1 ? p->p95_s
                                                                    : p->p99_s,
                                                           NAN, NAN, NULL};
        }
        series[k] = (struct chart_series){.name = names[k],
                                          .colour = k,
                                          .mark = (enum svg_mark)(SVG_CIRCLE + k),
                                          .line = true,
                                          .point = &point[k * d->rates],
                                          .points = d->rates};
    }
    const struct chart_xy chart = {.x = {.label = "requests", .unit = "1/s", .zero = true},
                                   .y = {.label = "latency", .unit = "s", .si = true, .log = true},
                                   .series = series,
                                   .count = 3};
    const struct page_figure figure = {
        .title = "Latency over rate",
        .caption = "Random arrivals at each rate, clocks as they are at the start; on the right, what the "
                   "instances cannot do any more waits longer and longer.",
        .draw = chart_xy,
        .chart = &chart,
        .table = table};
    if (point && d->rates)
        page_figure(page, &figure);
    free(point);
    result_table_free(table);
}

/* ---- batch sizes ---- */

static void batch_sizes(struct page *page, const struct load_page *d, unsigned m)
{
    static const struct result_column columns[] = {
        {"samples in a batch", NULL, true}, {"batches", NULL, true}, {"share", NULL, true}};
    const struct load_model_result *const r = &d->result->model[m];
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    struct chart_bar bar[BATCH_BARS];
    char name[BATCH_BARS][24], shown[BATCH_BARS][FORMAT_SIZE], title[160];
    unsigned bars = 0;
    for (unsigned n = 1; r->batches && n <= r->most; n++) {
        if (!r->by_size[n])
            continue;
        const double share = (double)r->by_size[n] / (double)r->batches;
        char text[FORMAT_SIZE];
        result_table_number(t, n, NULL);
        result_table_number(t, (double)r->by_size[n], NULL);
        result_table_number(t, share, format_share(text, share));
        if (bars == BATCH_BARS)
            continue;
        snprintf(name[bars], sizeof name[0], "%u", n);
        format_share(shown[bars], share);
        bar[bars] = (struct chart_bar){name[bars], shown[bars], 100 * share, NAN, NAN, m % SVG_COLOURS};
        bars++;
    }
    snprintf(title, sizeof title, "Batch sizes of %.80s", d->setup->model[m].name);
    const struct chart_bars chart = {
        {.label = d->setup->model[m].language ? "steps" : "batches", .unit = "%", .zero = true}, bar, bars};
    const struct page_figure figure = {
        .title = title, .caption = "By samples that ran together.", .draw = chart_bars, .chart = &chart, .table = t};
    if (bars)
        page_figure(page, &figure);
    result_table_free(t);
}

/* ---- over time ---- */

static struct result_table *time_table(const struct load_page *d, const enum orch_part *part, unsigned parts)
{
    struct result_column columns[16] = {{"time", "s", true},        {"waiting", "requests", true}, {"arrived", "1/s", true},
                                        {"done", "1/s", true},      {"mean latency", "s", true},   {"longest", "s", true},
                                        {"mean batch", NULL, true}, {"power", "W", true},          {"temperature", "degC", true},
                                        {"lowest clock", "1", true}};
    for (unsigned i = 0; i < parts; i++)
        columns[10 + i] = (struct result_column){orch_part_name(part[i]), "1", true};
    struct result_table *const t = result_table_create(columns, 10 + parts);
    for (unsigned i = 0; i < d->result->windows; i++) {
        const struct load_window *const w = &d->result->window[i];
        const double numbers[] = {w->begin_s + w->seconds,
                                  w->waiting,
                                  (double)w->arrived / w->seconds,
                                  (double)w->done / w->seconds,
                                  w->done ? w->latency_sum_s / (double)w->done : NAN,
                                  w->done ? w->latency_most_s : NAN,
                                  w->batches ? (double)w->samples / (double)w->batches : NAN,
                                  w->watts,
                                  w->celsius,
                                  w->clock_share};
        for (size_t k = 0; k < ARRAY_COUNT(numbers); k++)
            result_table_number(t, numbers[k], NULL);
        for (unsigned k = 0; k < parts; k++)
            result_table_number(t, w->busy[part[k]], NULL);
    }
    return t;
}

struct curve {
    const char *title, *caption, *label, *unit;
    bool si;
    double (*value)(const struct load_window *w);
};

static double waiting_of(const struct load_window *w)
{
    return w->waiting;
}

static double latency_of(const struct load_window *w)
{
    return w->done ? w->latency_sum_s / (double)w->done : NAN;
}

static double batch_of(const struct load_window *w)
{
    return w->batches ? (double)w->samples / (double)w->batches : NAN;
}

static double watts_of(const struct load_window *w)
{
    return w->watts;
}

static double celsius_of(const struct load_window *w)
{
    return w->celsius;
}

static void over_time(struct page *page, const struct load_page *d, const struct curve *c)
{
    struct chart_point *const point = calloc(LOAD_WINDOWS, sizeof *point);
    const struct load_result *const r = d->result;
    unsigned known = 0;
    for (unsigned i = 0; point && i < r->windows; i++) {
        const struct load_window *const w = &r->window[i];
        point[i] = (struct chart_point){w->begin_s + w->seconds / 2, c->value(w), NAN, NAN, NULL};
        known += isfinite(point[i].y);
    }
    const struct chart_series series = {.colour = 0, .line = true, .point = point, .points = r->windows};
    const struct chart_lines chart = {
        {.label = "time", .unit = "s"}, {.label = c->label, .unit = c->unit, .si = c->si, .zero = true}, &series, 1};
    const struct page_figure figure = {.title = c->title, .caption = c->caption, .draw = chart_lines, .chart = &chart};
    if (point && known > 1)
        page_figure(page, &figure);
    free(point);
}

static void time_part(struct page *page, const struct load_page *d)
{
    static const struct curve curves[] = {
        {"Queue", "Requests that wait for an instance, in the mean of each part of the time.", "waiting", "requests", false,
         waiting_of},
        {"Latency over time", "Mean of the requests that were done in each part of the time.", "latency", "s", true, latency_of},
        {"Batch size over time", "Samples that ran together, in the mean.", "samples", "", false, batch_of},
        {"Power", "Chip and memory.", "power", "W", true, watts_of},
        {"Temperature", "Mean of the die.", "temperature", "degC", false, celsius_of}};
    enum orch_part part[PART_DRAM];
    unsigned parts = 0;
    for (enum orch_part p = 0; p < PART_DRAM; p++)
        if (d->result->busy_s[p] > 0)
            part[parts++] = p;
    struct result_table *const table = time_table(d, part, parts);
    page_fold(page, "Table over time: queues, latency, batches, power, and the share of its time that each unit worked", table);
    for (size_t i = 0; i < ARRAY_COUNT(curves); i++)
        over_time(page, d, &curves[i]);
    result_table_free(table);
}

struct page *load_page(const struct load_page *d)
{
    struct page *const page = page_create(d->title, d->subtitle);
    page_section(page, "Summary");
    summary(page, d);
    page_section(page, "Latency over rate");
    if (d->rates)
        latency_over_rate(page, d);
    else
        page_paragraph(page, "Only of open load: requests of this scenario come when the ones before are done.");
    page_section(page, "Batches");
    for (unsigned m = 0; m < d->result->models; m++)
        batch_sizes(page, d, m);
    page_section(page, "Over time");
    time_part(page, d);
    page_section(page, "What it rests on");
    page_paragraph(page, "%s", d->limits);
    page_foot(page, "Simulated by orchard %s.", run_model_version());
    return page;
}
