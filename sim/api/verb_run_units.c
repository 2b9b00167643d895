#include "sim/api/verb_run_units.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/run/language/language_model.h"
#include "sim/run/language/language_options.h"
#include "sim/run/network/run_network.h"
#include "sim/workload/kernel_info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *verb_run_units_read(const struct api_args *args, const char *workload, struct verb_run_units *units)
{
    const char *const unit = api_value(args, "unit");
    const bool kernel = kernel_is_workload(workload) && !strchr(workload, '+');
    units->tokens = language_model_is(workload);
    units->every = unit && (kernel || units->tokens || run_is_network(workload)) && strcmp(unit, "all") == 0;
    units->fastest = unit && (kernel || units->tokens) && strcmp(unit, "auto") == 0;
    const char *const policy = api_value(args, "policy");
    units->policies = policy && run_is_network(workload) && strcmp(policy, "all") == 0;
    return units->every ? NULL : unit;
}

/* Each unit in its own precision: cores and blocks compute networks in f32 alone, the Neural Engine in f16; files of language
 * models say theirs. */
static void list_for_network(struct verb_run_units *u)
{
    static const enum orch_part parts[] = {PART_CPU, PART_AMX, PART_GPU, PART_ANE};
    for (u->count = 0; u->count < ARRAY_COUNT(parts); u->count++)
        u->unit[u->count] = orch_part_name(parts[u->count]);
}

/* False: no unit has it. */
static bool find_all(struct api_context *context, const struct run_request *q, struct verb_run_units *u)
{
    if (u->tokens || run_is_network(q->workload)) {
        list_for_network(u);
        return true;
    }
    u->count = unit_choice_list(q, u->unit);
    if (u->count == 0)
        return false;
    u->precision = unit_choice_precision(q, u->unit, u->count);
    if (!u->told && !q->precision && u->precision && strcmp(u->precision, "f32") != 0)
        api_note(context, "in %s, which more units have than f32 (" ORCH_OPTION("precision") ")", u->precision);
    u->told = true;
    return true;
}

static bool find(struct api_context *context, const struct run_request *q, struct verb_run_units *u, struct orch_error *error)
{
    u->count = 1;
    u->unit[0] = q->unit;
    u->precision = q->precision;
    u->why[0] = 0;
    if (u->every && find_all(context, q, u))
        return true;
    /* There is nothing to choose among fewer than two; who asks for what nobody has is told by whoever reads the request. */
    const bool chosen_inside = q->policy && run_is_network_policy(q->policy); /* by operators, not as a whole */
    if (u->every || !u->fastest || chosen_inside || unit_choice_list(q, u->unit) < 2) {
        u->count = 1;
        u->unit[0] = q->unit;
        return true;
    }
    if (!unit_choice_make(q, &u->choice, error))
        return false;
    u->unit[0] = u->choice.unit;
    snprintf(u->why, sizeof u->why, "the fastest, as predicted: %s", u->choice.text);
    api_note(context, "%s on %s: %s", q->workload, u->choice.unit, u->why);
    return true;
}

/* A run for each policy: "cost|size|...". */
static bool each_policy(struct run_request *q, bool (*run)(void *own, struct orch_error *error), void *own,
                        struct orch_error *error)
{
    bool ok = true;
    for (const char *at = run_network_policies; ok && *at; at += *at == '|') {
        char name[24];
        const size_t length = strcspn(at, "|");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        q->policy = name;
        ok = run(own, error);
        at += length;
    }
    return ok;
}

/* Units in a row that refuse a workload for the same reason. */
struct refusal {
    char units[40];
    struct orch_error why;
};

static void tell_refusal(struct api_context *context, const struct refusal *r)
{
    if (r->units[0])
        api_note(context, "%s: %s", r->units, r->why.text);
}

static void add_refusal(struct api_context *context, struct refusal *r, const char *unit, const struct orch_error *why)
{
    if (r->units[0] && strcmp(r->why.text, why->text) != 0) {
        tell_refusal(context, r);
        r->units[0] = 0;
    }
    const size_t length = strlen(r->units);
    snprintf(r->units + length, sizeof r->units - length, "%s%s", length ? ", " : "", unit);
    r->why = *why;
}

bool verb_run_units_each(struct api_context *context, struct verb_run_units *u, struct run_request *q,
                         bool (*run)(void *own, struct orch_error *error), void *own, struct orch_error *error)
{
    const struct run_request asked = *q;
    unsigned done = 0;
    struct refusal refusal = {.units = ""};
    if (u->policies) {
        const bool ok = each_policy(q, run, own, error);
        *q = asked;
        return ok;
    }
    if (!find(context, q, u, error))
        return false;
    for (unsigned i = 0; i < u->count; i++) {
        struct orch_error why = {0};
        q->unit = u->unit[i];
        q->precision = u->precision;
        q->unit_why = u->why[0] ? u->why : NULL;
        const bool ok = run(own, &why);
        const bool may_miss = u->every && api_leaves_out(&why);
        done += ok;
        if (!ok && (!may_miss || (done == 0 && i + 1 == u->count))) {
            if (strcmp(refusal.why.text, why.text) != 0) /* else the error tells it for all */
                tell_refusal(context, &refusal);
            *error = why;
            return false;
        }
        if (!ok)
            add_refusal(context, &refusal, q->unit, &why);
    }
    tell_refusal(context, &refusal);
    *q = asked;
    return true;
}

/* ---- the table ---- */

struct table *verb_run_table_create(const struct verb_run_units *units)
{
    static const struct table_column of_policies[] = {
        {"chip", NULL, false, 0},     {"policy", NULL, false, 0}, {"time", "simulated", true, 0}, {"GFLOPS", NULL, true, 0},
        {"DRAM", "GB/s", true, 0},    {"energy", NULL, true, 0},  {"bound by", NULL, false, 0},   {"kernel", NULL, false, 40},
        {"host time", NULL, true, 0}, {"run", NULL, true, 0},
    };
    static const struct table_column of_chips[] = {
        {"chip", NULL, false, 0},     {"time", "simulated", true, 0}, {"GFLOPS", NULL, true, 0},    {"DRAM", "GB/s", true, 0},
        {"bound by", NULL, false, 0}, {"kernel", NULL, false, 40},    {"host time", NULL, true, 0}, {"run", NULL, true, 0},
    };
    static const struct table_column of_units[] = {
        {"chip", NULL, false, 0},     {"unit", NULL, false, 0},  {"time", "simulated", true, 0}, {"GFLOPS", NULL, true, 0},
        {"DRAM", "GB/s", true, 0},    {"energy", NULL, true, 0}, {"bound by", NULL, false, 0},   {"kernel", NULL, false, 40},
        {"host time", NULL, true, 0}, {"run", NULL, true, 0},
    };
    static const struct table_column of_tokens[] = {
        {"chip", NULL, false, 0},     {"unit", NULL, false, 0},       {"tokens/s", NULL, true, 0}, {"first token", NULL, true, 0},
        {"J/token", NULL, true, 0},   {"time", "simulated", true, 0}, {"DRAM", "GB/s", true, 0},   {"bound by", NULL, false, 0},
        {"host time", NULL, true, 0}, {"run", NULL, true, 0},
    };
    if (units->every && units->tokens)
        return table_create(of_tokens, ARRAY_COUNT(of_tokens));
    if (units->policies)
        return table_create(of_policies, ARRAY_COUNT(of_policies));
    return units->every ? table_create(of_units, ARRAY_COUNT(of_units)) : table_create(of_chips, ARRAY_COUNT(of_chips));
}

/* Of a language model: what people ask of it first. */
static void tokens_line(struct table *table, const struct run_result *r)
{
    const double joules = run_values_get(&r->counters, LANGUAGE_TOKEN_JOULES);
    char text[FORMAT_SIZE];
    table_row(table);
    table_cell(table, "%s", r->chip);
    table_cell(table, "%s %s", r->unit, r->precision);
    table_cell(table, "%s", format_digits(text, r->tokens_per_second, 4));
    table_cell(table, "%s", format_si(text, r->prefill_seconds, "s"));
    table_cell(table, "%s", format_digits(text, joules > 0 ? joules : NAN, 3));
    table_cell(table, "%s", format_seconds(text, r->seconds, r->seconds_low, r->seconds_high));
    table_cell(table, "%s", format_digits(text, r->dram_gbps, 3));
    table_cell(table, "%s", r->bound_by);
    table_cell(table, "%s", format_si(text, r->host_seconds, "s"));
    table_cell(table, "%lld", (long long)r->run_id);
}

static size_t name_length(const char *kernel)
{
    return strcspn(kernel, " ,");
}

static bool same_kernel(const char *a, const char *b)
{
    return a && b && name_length(a) == name_length(b) && strncmp(a, b, name_length(a)) == 0;
}

/* Adds the seconds of each operator of a network to the first one with the same kernel. Returns their sum. */
static double add_by_kernel(const struct run_result *r, double *seconds)
{
    double all = 0;
    for (size_t i = 0; i < r->placement.count; i++) {
        char counter[48];
        snprintf(counter, sizeof counter, RUN_NETWORK_SECONDS, i + 1);
        const double its = fmax(0, run_values_get(&r->counters, counter)); /* NAN: it took no time of its own */
        size_t first = 0;
        while (first < i && !same_kernel(r->placement.item[first].kernel, r->placement.item[i].kernel))
            first++;
        seconds[first] += its;
        all += its;
    }
    return all;
}

/* A run's kernel; of a network the one that takes the most time, and its share of it. */
static void name_kernel(const struct run_result *r, char *text, size_t size)
{
    const size_t count = r->placement.count;
    double *const seconds = count > 1 ? calloc(count, sizeof *seconds) : NULL;
    const double all = seconds ? add_by_kernel(r, seconds) : 0;
    size_t most = 0;
    for (size_t i = 0; seconds && i < count; i++)
        most = seconds[i] > seconds[most] ? i : most;
    const char *const kernel = count ? r->placement.item[most].kernel : NULL;
    if (kernel && all > 0)
        snprintf(text, size, "%.*s (%.0f %%)", (int)name_length(kernel), kernel, 100 * seconds[most] / all);
    else if (count > 2)
        snprintf(text, size, "%zu kernels", count);
    else
        snprintf(text, size, "%s", kernel ? kernel : "");
    free(seconds);
}

void verb_run_table_line(struct table *table, const struct run_result *r, const struct verb_run_units *u,
                         const struct run_request *q)
{
    if (u->every && u->tokens) {
        tokens_line(table, r);
        return;
    }
    const bool units = u->every || u->policies;
    char seconds[FORMAT_SIZE], rate[FORMAT_SIZE], dram[FORMAT_SIZE], host[FORMAT_SIZE], energy[FORMAT_SIZE], kernel[160];
    table_row(table);
    table_cell(table, "%s", r->chip);
    if (units)
        table_cell(table, "%s %s", u->policies && q->policy ? q->policy : r->unit, r->precision);
    table_cell(table, "%s", format_seconds(seconds, r->seconds, r->seconds_low, r->seconds_high));
    table_cell(table, "%s", format_digits(rate, r->gflops, 4));
    table_cell(table, "%s", format_digits(dram, r->dram_gbps, 3));
    if (units)
        table_cell(table, "%s", format_si(energy, r->joules, "J"));
    table_cell(table, "%s", r->bound_by);
    name_kernel(r, kernel, sizeof kernel);
    table_cell(table, "%s", kernel[0] ? kernel : NULL);
    table_cell(table, "%s", format_si(host, r->host_seconds, "s"));
    table_cell(table, "%lld", (long long)r->run_id);
}
