/* Key numbers of runs: cards of one, or bars and a table of several. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/base/busy_units.h"
#include "sim/base/format.h"
#include "sim/report/run_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CARDS_MAX = 16 + PART_COUNT };

struct cards {
    struct page_card card[CARDS_MAX];
    char value[CARDS_MAX][FORMAT_SIZE], more[CARDS_MAX][FORMAT_SIZE * 2];
    size_t count;
};

/* Begins a card with empty texts; returns its number. */
static size_t add(struct cards *c, const char *label)
{
    const size_t i = c->count < CARDS_MAX ? c->count++ : CARDS_MAX - 1;
    c->value[i][0] = c->more[i][0] = 0;
    c->card[i] = (struct page_card){label, c->value[i], NULL};
    return i;
}

static void add_quantity(struct cards *c, const char *label, double value, const char *unit)
{
    if (!isnan(value))
        format_quantity(c->value[add(c, label)], value, unit);
}

static char *ends_text(char text[FORMAT_SIZE], double value, const char *unit)
{
    return unit ? format_quantity(text, value, unit) : format_duration(text, value);
}

/* Writes "34 µs – 36 µs (90 %)", whose last blank does not break, below the value of card `i`; without a unit the values are
 * seconds. */
static void interval(struct cards *c, size_t i, double least, double most, const char *unit)
{
    char low[FORMAT_SIZE], high[FORMAT_SIZE];
    if (!(isfinite(least) && isfinite(most) && most > least))
        return;
    snprintf(c->more[i], sizeof c->more[i], "%s \xe2\x80\x93 %s (90\xc2\xa0%%)", ends_text(low, least, unit),
             ends_text(high, most, unit));
    c->card[i].more = c->more[i];
}

static void time_card(struct cards *c, const struct run_result *r)
{
    const size_t i = add(c, "simulated time");
    format_duration(c->value[i], r->seconds);
    interval(c, i, r->seconds_low, r->seconds_high, NULL);
}

static void energy_cards(struct cards *c, const struct run_result *r)
{
    char peak[FORMAT_SIZE];
    if (!isnan(r->joules)) {
        const size_t i =
            add(c, run_assumption_find(&r->assumptions, RUN_ENERGY_ADOPTED) ? "energy, priced as on another chip" : "energy");
        format_quantity(c->value[i], r->joules, "J");
        interval(c, i, r->joules_low, r->joules_high, "J");
    }
    if (!isnan(r->watts_avg)) {
        const size_t i = add(c, "power, average");
        format_quantity(c->value[i], r->watts_avg, "W");
        if (!isnan(r->watts_peak)) {
            snprintf(c->more[i], sizeof c->more[i], "%s peak", format_quantity(peak, r->watts_peak, "W"));
            c->card[i].more = c->more[i];
        }
    }
    if (!isnan(r->celsius_max)) {
        const size_t i = add(c, "hottest block");
        snprintf(c->value[i], sizeof c->value[i],
                 "%.1f \xc2\xb0"
                 "C",
                 r->celsius_max);
        if (r->throttled_seconds > 0) {
            snprintf(c->more[i], sizeof c->more[i], "%s below the wanted clock", format_duration(peak, r->throttled_seconds));
            c->card[i].more = c->more[i];
        }
    }
    const double hours = run_values_get(&r->counters, "device.battery_hours_left");
    if (hours == 0)
        format_duration(c->value[add(c, "the battery is empty after")], r->seconds);
    else if (isfinite(hours))
        format_duration(c->value[add(c, "the battery lasts")], hours * 3600);
}

/* Busy is what the unit's time was taken by; how much of it did work is a share of something that the card names. */
static void share_cards(struct cards *c, const struct run_result *r)
{
    const double occupied = r->device_seconds / r->seconds;
    struct busy_unit unit[PART_COUNT];
    const int units = busy_units(r, unit);
    for (int k = 0; k < units; k++) {
        const size_t i = add(c, "busy");
        format_share(c->value[i], unit[k].share);
        snprintf(c->more[i], sizeof c->more[i], "%s, share of the time", unit[k].unit);
        c->card[i].more = c->more[i];
    }
    if (!units && isfinite(occupied) && r->unit) {
        const size_t i = add(c, "busy");
        format_share(c->value[i], fmin(occupied, 1));
        snprintf(c->more[i], sizeof c->more[i], "%s, share of the time", r->unit);
        c->card[i].more = c->more[i];
    }
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        if (r->utilisation[i] >= 0.005)
            format_share(c->value[add(c, orch_part_share_name((enum orch_part)i))], r->utilisation[i]);
}

static void one_run(struct page *page, const struct run_result *r)
{
    struct cards c = {.count = 0};
    char text[FORMAT_SIZE];
    time_card(&c, r);
    add_quantity(&c, "rate", isnan(r->gflops) || r->gflops == 0 ? (double)NAN : r->gflops * 1e9, "flop/s");
    if (!isnan(r->tokens_per_second))
        snprintf(c.value[add(&c, "tokens per second")], FORMAT_SIZE, r->tokens_per_second < 1000 ? "%.4g" : "%.0f",
                 r->tokens_per_second);
    if (!isnan(r->dram_bytes)) {
        const size_t i = add(&c, "DRAM traffic");
        format_volume(c.value[i], r->dram_bytes);
        snprintf(c.more[i], sizeof c.more[i], "%s", format_quantity(text, r->dram_gbps * 1e9, "B/s"));
        c.card[i].more = c.more[i];
    }
    energy_cards(&c, r);
    share_cards(&c, r);
    if (r->bound_by)
        snprintf(c.value[add(&c, "bound by")], FORMAT_SIZE, "%s", r->bound_by);
    page_cards(page, c.card, c.count);
}

/* ---- several ---- */

static struct result_table *table_of(const struct report_run *runs, size_t count)
{
    static const struct result_column columns[] = {
        {"run", NULL, true},       {"workload", NULL, false}, {"chip", NULL, false}, {"unit", NULL, false},
        {"device", NULL, false},   {"time", "s", true},       {"low", "s", true},    {"high", "s", true},
        {"rate", "flop/s", true},  {"DRAM", "B/s", true},     {"energy", "J", true}, {"power", "W", true},
        {"hottest", "degC", true}, {"bound by", NULL, false},
    };
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        const struct run_result *const r = &runs[i].r;
        char text[FORMAT_SIZE];
        result_table_number(t, (double)r->run_id, NULL);
        result_table_text(t, r->workload);
        result_table_text(t, r->chip);
        result_table_text(t, r->unit);
        result_table_text(t, r->device);
        result_table_number(t, r->seconds, format_duration(text, r->seconds));
        result_table_number(t, r->seconds_low, format_duration(text, r->seconds_low));
        result_table_number(t, r->seconds_high, format_duration(text, r->seconds_high));
        result_table_number(t, r->gflops * 1e9, format_quantity(text, r->gflops * 1e9, "flop/s"));
        result_table_number(t, r->dram_gbps * 1e9, format_quantity(text, r->dram_gbps * 1e9, "B/s"));
        result_table_number(t, r->joules, format_quantity(text, r->joules, "J"));
        result_table_number(t, r->watts_avg, format_quantity(text, r->watts_avg, "W"));
        result_table_number(t, r->celsius_max, NULL);
        result_table_text(t, r->bound_by);
    }
    return t;
}

static void several_runs(struct page *page, const struct report_run *runs, size_t count)
{
    struct chart_bar *const bar = calloc(count, sizeof *bar);
    char(*const shown)[FORMAT_SIZE] = calloc(count, sizeof *shown);
    struct result_table *const table = table_of(runs, count);
    for (size_t i = 0; bar && shown && i < count; i++)
        bar[i] = (struct chart_bar){runs[i].label,          format_duration(shown[i], runs[i].r.seconds),
                                    runs[i].r.seconds,      runs[i].r.seconds_low,
                                    runs[i].r.seconds_high, (unsigned)i};
    const struct chart_bars bars = {
        {.label = "simulated time", .unit = "s", .si = true, .zero = true}, bar, bar && shown ? count : 0};
    const struct page_figure figure = {
        .title = "Time of each run", .caption = "Whiskers: 90 % interval.", .draw = chart_bars, .chart = &bars, .table = table};
    page_figure(page, &figure);
    result_table_free(table);
    free(bar);
    free(shown);
}

void run_part_summary(struct page *page, const struct report_run *runs, size_t count)
{
    if (count == 1)
        one_run(page, &runs[0].r);
    else
        several_runs(page, runs, count);
}
