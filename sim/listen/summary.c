#include "sim/listen/summary.h"

#include "sim/base/busy_units.h"
#include "sim/base/format.h"
#include "sim/base/returned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_WIDTH = 10, BAR_WIDTH = 30, STALLS_MAX = 8 };
#define STALL_MIN 0.005 /* reasons below half a percent share one line */

struct page {
    FILE *out;
    const struct run_result *r;
    const struct summary_options *options;
};

static void label(const struct page *p, const char *text)
{
    fprintf(p->out, "  %-*s", LABEL_WIDTH, text);
}

static void print_title(const struct page *p)
{
    const struct run_result *const r = p->r;
    char name[400];
    snprintf(name, sizeof name, "%s", r->workload ? r->workload : "run");
    format_printable(name);
    fprintf(p->out, "%s%s%s", p->options->colour ? "\033[1m" : "", name, p->options->colour ? "\033[0m" : "");
    if (r->precision)
        fprintf(p->out, " %s", r->precision);
    fprintf(p->out, " on %s", r->chip ? r->chip : "?");
    if (r->unit)
        fprintf(p->out, " %s", r->unit);
    if (r->device)
        fprintf(p->out, " in %s", r->device);
    if (r->detail)
        fprintf(p->out, " (%s%s%s)", r->detail, r->mode ? ", " : "", r->mode ? r->mode : "");
    fputc('\n', p->out);
}

static void print_time(const struct page *p)
{
    const struct run_result *const r = p->r;
    char text[FORMAT_SIZE];
    label(p, "time");
    const bool exact = r->seconds_low == r->seconds && r->seconds_high == r->seconds;
    fputs(exact && r->seconds >= 120 ? format_duration(text, r->seconds)
                                     : format_interval(text, r->seconds, r->seconds_low, r->seconds_high, "s"),
          p->out);
    if (!isnan(r->device_seconds))
        fprintf(p->out, ", %s busy", format_duration(text, r->device_seconds));
    if (!isnan(r->overhead_seconds))
        fprintf(p->out, ", %s overhead", format_duration(text, r->overhead_seconds));
    if (!isnan(r->cycles))
        fprintf(p->out, ", %s cycles", format_count(text, r->cycles));
    fputs("  [simulated]\n", p->out);
}

/* Four digits, and never an exponent. */
static char *rate_text(char text[FORMAT_SIZE], double rate)
{
    return format_count(text, rate < 1e4 ? rate : 10 * round(rate / 10));
}

/* How fast a language model speaks, what a token costs, and how often a draft guessed right. */
static void print_tokens(const struct page *p)
{
    const struct run_result *const r = p->r;
    const double joules = run_values_get(&r->counters, RUN_TOKEN_JOULES);
    const double proposed = run_values_get(&r->counters, RUN_DRAFT_PROPOSED);
    char text[FORMAT_SIZE];
    const double without = run_values_get(&r->counters, RUN_DRAFT_WITHOUT);
    label(p, "tokens");
    fprintf(p->out, "%s tokens/s", rate_text(text, r->tokens_per_second));
    fprintf(p->out, ", prefill %s", format_quantity(text, r->prefill_seconds, "s"));
    if (joules > 0)
        fprintf(p->out, ", %s a token", format_quantity(text, joules, "J"));
    if (proposed > 0)
        fprintf(p->out, ", %.0f of %.0f tokens of the draft accepted", run_values_get(&r->counters, RUN_DRAFT_ACCEPTED),
                proposed);
    if (proposed > 0 && without > 0)
        fprintf(p->out, ", %s tokens/s without it", rate_text(text, without));
    fputc('\n', p->out);
}

static void print_rates(const struct page *p)
{
    const struct run_result *const r = p->r;
    char text[FORMAT_SIZE];
    if (!isnan(r->gflops)) {
        label(p, "rate");
        fprintf(p->out, "%s", format_quantity(text, r->gflops * 1e9, "flop/s"));
        fprintf(p->out, ", %s\n", format_quantity(text, r->flops, "flop"));
    }
    if (!isnan(r->tokens_per_second))
        print_tokens(p);
    if (!isnan(r->dram_bytes)) {
        label(p, "DRAM");
        fprintf(p->out, "%s", format_volume(text, r->dram_bytes));
        fprintf(p->out, " at %s\n", format_quantity(text, r->dram_gbps * 1e9, "B/s"));
    }
}

static void print_energy(const struct page *p)
{
    const struct run_result *const r = p->r;
    char text[FORMAT_SIZE];
    if (!isnan(r->joules)) {
        label(p, "energy");
        fputs(format_interval(text, r->joules, r->joules_low, r->joules_high, "J"), p->out);
        fprintf(p->out, ", %s average", format_quantity(text, r->watts_avg, "W"));
        fprintf(p->out, ", %s peak", format_quantity(text, r->watts_peak, "W"));
        for (size_t i = 0; i < r->joules_by.count; i++)
            fprintf(p->out, "%s %s %s", i ? "," : ";", r->joules_by.item[i].name,
                    format_quantity(text, r->joules_by.item[i].value, "J"));
        fputs(run_assumption_find(&r->assumptions, RUN_ENERGY_ADOPTED) ? "  [priced as on another chip]\n" : "\n", p->out);
    }
    if (!isnan(r->celsius_max)) {
        label(p, "heat");
        fprintf(p->out, "%.1f °C at most", r->celsius_max);
        if (r->throttled_seconds > 0)
            fprintf(p->out, ", throttled for %s", format_duration(text, r->throttled_seconds));
        const struct run_assumption *const thermal = run_assumption_find(&r->assumptions, RUN_THERMAL);
        fputs(thermal && strcmp(thermal->kind, "guess") == 0 ? "  [no curve of this machine is published]\n" : "\n", p->out);
    }
}

/* Occupied is not used: a GPU at work for the whole time may issue in a tenth of its slots. Each share has a name of its own. */
static void print_utilisation(const struct page *p)
{
    const struct run_result *const r = p->r;
    const double occupied = r->device_seconds / r->seconds;
    struct busy_unit unit[PART_COUNT];
    const int units = busy_units(r, unit);
    char text[FORMAT_SIZE];
    bool any = isfinite(occupied) && r->unit;
    if (any) {
        label(p, "busy");
        for (int i = 0; i < units; i++)
            fprintf(p->out, "%s%s %s", i ? ", " : "", unit[i].unit, format_share(text, unit[i].share));
        if (!units)
            fprintf(p->out, "%s %s", r->unit, format_share(text, fmin(occupied, 1)));
        fputs(" of the time", p->out);
    }
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++) {
        if (isnan(r->utilisation[i]))
            continue;
        if (!any)
            label(p, "used");
        fprintf(p->out, "%s%s %s", any ? ", " : "", orch_part_share_name((enum orch_part)i),
                format_share(text, r->utilisation[i]));
        any = true;
    }
    if (any)
        fputc('\n', p->out);
}

static int by_value(const void *a, const void *b)
{
    const struct run_named_value *const x = a, *const y = b;
    return x->value < y->value ? 1 : x->value > y->value ? -1 : strcmp(x->name, y->name);
}

/* A sorted copy, largest first; NULL when the list is empty or memory has run out. */
static struct run_named_value *sorted(const struct run_values *values)
{
    if (values->count == 0)
        return NULL;
    struct run_named_value *const copy = malloc(values->count * sizeof *copy);
    if (copy) {
        memcpy(copy, values->item, values->count * sizeof *copy);
        qsort(copy, values->count, sizeof *copy, by_value);
    }
    return copy;
}

static void print_stall(const struct page *p, bool first, int width, const char *name, double share)
{
    char text[FORMAT_SIZE], bar[BAR_WIDTH + 1];
    const int length = (int)lround(fmin(fmax(share, 0), 1) * BAR_WIDTH);
    memset(bar, '#', (size_t)length);
    bar[length] = 0;
    label(p, first ? "stalls" : "");
    fprintf(p->out, "%-*s %8s%s%s\n", width, name, format_share(text, share), *bar ? "  " : "", bar);
}

static void print_stalls(const struct page *p)
{
    if (p->r->bound_by) {
        label(p, "bound by");
        fprintf(p->out, "%s\n", p->r->bound_by);
    }
    struct run_named_value *const stalls = sorted(&p->r->stalls);
    double rest = 0;
    size_t shown = 0;
    int width = 16;
    while (stalls && shown < p->r->stalls.count && shown < STALLS_MAX && stalls[shown].value >= STALL_MIN) {
        const int length = (int)strlen(stalls[shown++].name);
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < shown; i++)
        print_stall(p, i == 0, width, stalls[i].name, stalls[i].value);
    for (size_t i = shown; stalls && i < p->r->stalls.count; i++)
        rest += stalls[i].value;
    if (rest >= STALL_MIN / 5)
        print_stall(p, false, width, "other", rest);
    free(stalls);
}

static void print_counters(const struct page *p)
{
    char text[FORMAT_SIZE];
    const struct run_values *const c = &p->r->counters;
    for (size_t i = 0; i < c->count && i < p->options->counters_max; i++) {
        label(p, i ? "" : "counters");
        fprintf(p->out, "%-32s %s\n", c->item[i].name, format_count(text, c->item[i].value));
    }
    if (p->options->counters_max && c->count > p->options->counters_max) {
        label(p, "");
        fprintf(p->out, "and %zu more\n", c->count - p->options->counters_max);
    }
}

/* Names in networks and files come from others. */
static const char *or_dash(const char *text, char clean[200])
{
    snprintf(clean, 200, "%s", text ? text : "-");
    format_printable(clean);
    return clean;
}

static void print_placement(const struct page *p)
{
    const struct run_placements *const list = &p->r->placement;
    for (size_t i = 0; i < list->count && i < p->options->placements_max; i++) {
        const struct run_placement *const x = &list->item[i];
        char counter[48], seconds[FORMAT_SIZE];
        snprintf(counter, sizeof counter, RUN_COUNTER_STEP, (unsigned)i + 1);
        const double step = run_values_get(&p->r->counters, counter);
        label(p, i ? "" : "placement");
        char op[200], unit[200];
        fprintf(p->out, "%-24s %-5s ", or_dash(x->op, op), or_dash(x->unit, unit));
        if (!isnan(step)) {
            format_right(p->out, format_si(seconds, step, "s"), 8);
            fputs("  ", p->out);
        }
        fprintf(p->out, "%-20s %s\n", or_dash(x->kernel, op), or_dash(x->why, unit));
    }
    if (p->options->placements_max && list->count > p->options->placements_max) {
        label(p, "");
        fprintf(p->out, "and %zu more\n", list->count - p->options->placements_max);
    }
}

static void print_assumptions(const struct page *p)
{
    for (size_t i = 0; i < p->r->assumptions.count; i++) {
        const struct run_assumption *const a = &p->r->assumptions.item[i];
        label(p, i ? "" : "assumes");
        char key[200], kind[200];
        fprintf(p->out, "%s (%s)%s%s\n", or_dash(a->key, key), or_dash(a->kind, kind), a->effect ? ": " : "",
                a->effect ? a->effect : "");
    }
}

static void print_checksums(const struct page *p)
{
    bool first = true;
    for (size_t i = 0; i < p->r->checksum.count; i++) {
        if (returned_is(p->r->checksum.item[i].output))
            continue;
        label(p, first ? "checksum" : "");
        fprintf(p->out, "%s %016llx\n", p->r->checksum.item[i].output, (unsigned long long)p->r->checksum.item[i].fnv1a64);
        first = false;
    }
}

/* What a program or function ended with. */
static void print_program(const struct page *p)
{
    const double status = run_values_get(&p->r->counters, "program.exit_code");
    char type[100], value[400];
    if (status > 0) {
        label(p, "status");
        fprintf(p->out, "%.0f: the program ended with an exit status that is not 0\n", status);
    }
    if (returned_get(p->r, type, sizeof type, value, sizeof value)) {
        label(p, "returned");
        fprintf(p->out, "%s (%s)\n", value, type);
    }
}

/* The buffers of a GPU launch whose description says what they should hold. */
static void print_outputs(const struct page *p)
{
    const double expected = run_values_get(&p->r->counters, "gpu.outputs_expected");
    const double right = run_values_get(&p->r->counters, "gpu.outputs_as_expected");
    if (isnan(expected))
        return;
    label(p, "outputs");
    fprintf(p->out, "%.0f of %.0f as expected%s\n", right, expected, right < expected ? ": WRONG" : "");
}

static void print_end(const struct page *p)
{
    char text[FORMAT_SIZE];
    const struct run_result *const r = p->r;
    if (!isnan(r->host_seconds)) {
        label(p, "host time");
        fprintf(p->out, "%s\n", format_quantity(text, r->host_seconds, "s"));
    }
    label(p, "run");
    if (r->run_id > 0)
        fprintf(p->out, "%lld (see why: orchard explain %lld)\n", (long long)r->run_id, (long long)r->run_id);
    else
        fputs("not recorded\n", p->out);
}

bool summary_print(FILE *out, const struct run_result *result, const struct summary_options *options)
{
    const struct page p = {out, result, options};
    print_title(&p);
    print_time(&p);
    print_rates(&p);
    print_energy(&p);
    print_utilisation(&p);
    print_stalls(&p);
    print_placement(&p);
    print_counters(&p);
    print_assumptions(&p);
    print_program(&p);
    print_checksums(&p);
    print_outputs(&p);
    print_end(&p);
    return !ferror(out);
}
