/* What --explain says of networks: every kernel, and what was left to others and why. */
#include "sim/run/network/run_network.h"

#include "sim/base/format.h"
#include "sim/run/network/run_network_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void show_number(FILE *out, const struct run_result *r, const char *counter, size_t place, const char *unit)
{
    char name[60], text[FORMAT_SIZE];
    snprintf(name, sizeof name, "network.kernel%zu.%s", place, counter);
    const double number = run_values_get(&r->counters, name);
    fprintf(out, " ");
    format_right(out, isnan(number) ? "" : format_si(text, number, unit), 10);
}

static void show_operators(FILE *out, bool overlap, const struct run_result *r)
{
    fprintf(out, "operators    unit%s, time, energy, kernel, what limits it\n", overlap ? ", beginning" : "");
    for (size_t k = 0; k < r->placement.count; k++) {
        const struct run_placement *const p = &r->placement.item[k];
        fprintf(out, "  %-36.36s %-9s", p->op, strcmp(p->unit, RUN_NETWORK_REFERENCE) == 0 ? "fallback" : p->unit);
        if (overlap)
            show_number(out, r, "begin_seconds", k + 1, "s");
        show_number(out, r, "seconds", k + 1, "s");
        show_number(out, r, "joules", k + 1, "J");
        fprintf(out, "  %s; %s\n", p->kernel, p->why);
    }
}

/* ---- what others took ---- */

/* Why the unit did not compute it: all of the text for the reference, what stands before "; bound by" for cores. */
static size_t reason_of(const struct run_placement *p)
{
    const char *const end = strstr(p->why, "; bound by");
    if (strcmp(p->unit, RUN_NETWORK_REFERENCE) == 0)
        return strlen(p->why);
    return end && strncmp(p->why, "the library of the ", 19) == 0 ? (size_t)(end - p->why) : 0;
}

static bool same_reason(const struct run_placement *a, const struct run_placement *b)
{
    const size_t length = reason_of(a);
    return length == reason_of(b) && strcmp(a->unit, b->unit) == 0 && strncmp(a->why, b->why, length) == 0;
}

/* "  3 on cpu, 12.1 us: the library of the ane lacks it (Gather, ScatterND)", once for each reason. */
static void show_reason(FILE *out, const struct run_result *r, size_t first)
{
    const struct run_placement *const p = &r->placement.item[first];
    char name[60], time[FORMAT_SIZE], ops[200] = "";
    double seconds = 0;
    unsigned count = 0;
    for (size_t k = first; k < r->placement.count; k++) {
        const struct run_placement *const other = &r->placement.item[k];
        const int length = (int)strcspn(other->op, " ");
        char op[40];
        if (!same_reason(p, other))
            continue;
        snprintf(name, sizeof name, RUN_NETWORK_SECONDS, k + 1);
        const double own = run_values_get(&r->counters, name);
        seconds += isnan(own) ? 0 : own;
        count++;
        snprintf(op, sizeof op, "%s%.*s", ops[0] ? ", " : "", length < 36 ? length : 36, other->op);
        if (!strstr(ops, op + (ops[0] ? 2 : 0)) && strlen(ops) + strlen(op) < sizeof ops)
            strcat(ops, op);
    }
    fprintf(out, "  %u by %s%s%s: %.*s (%s)\n", count, p->unit, seconds > 0 ? ", " : "",
            seconds > 0 ? format_quantity(time, seconds, "s") : "", (int)reason_of(p), p->why, ops);
}

static void show_fallbacks(FILE *out, const struct run_result *r)
{
    bool some = false;
    for (size_t k = 0; k < r->placement.count; k++) {
        const struct run_placement *const p = &r->placement.item[k];
        bool new = reason_of(p) > 0;
        for (size_t i = 0; new &&i < k; i++)
            new = !same_reason(&r->placement.item[i], p);
        if (!new)
            continue;
        fprintf(out, "%s", some ? "" : "fallbacks    kernels and operators that the unit does not compute\n");
        some = true;
        show_reason(out, r, k);
    }
    if (!some)
        fprintf(out, "fallbacks    none: every operator has kernels of the units that were chosen for it\n");
}

/* ---- what was chosen from ---- */

static void show_choice(FILE *out, const struct run_network *n, const struct run_result *r)
{
    static const char *const units[] = {"cpu", "amx", "gpu", "ane", "auto"};
    const bool halves = n->mixed || (n->request->precision && strcmp(n->request->precision, "f16") == 0);
    fprintf(out, "predicted   ");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        char name[60], text[FORMAT_SIZE];
        snprintf(name, sizeof name, RUN_NETWORK_PREDICTED, units[i]);
        const double seconds = run_values_get(&r->counters, name);
        if (!isnan(seconds))
            fprintf(out, " %s%s %s%s", strcmp(units[i], "auto") == 0 ? "as chosen" : "all on ",
                    strcmp(units[i], "auto") == 0 ? "" : units[i], format_quantity(text, seconds, "s"),
                    strcmp(units[i], "auto") == 0 ? "" : ",");
    }
    fprintf(out, " (policy %s)\n", network_plan_policy(n->request));
    if (!halves)
        fprintf(out, "             the Neural Engine takes no part: it has no f32; --precision f16 or mixed asks for it\n");
}

void run_network_explain(FILE *out, const struct run_network *n, const struct run_result *r)
{
    show_operators(out, n->overlaps, r);
    show_fallbacks(out, r);
    if (n->automatic)
        show_choice(out, n, r);
}
