/* What the verb loadtest answers: as a run, as a document, as text. */
#include "sim/api/verb_loadtest.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/listen/run_json.h"

#include <math.h>
#include <string.h>

struct totals {
    double arrived, done, rejected, waiting, samples, batches, tokens, queued_s, began;
    struct load_times *slowest; /* of the model with the longest tail */
};

static struct totals totals_of(struct load_result *r)
{
    struct totals all = {.slowest = &r->model[0].latency};
    for (unsigned m = 0; m < r->models; m++) {
        struct load_model_result *const one = &r->model[m];
        all.arrived += (double)one->arrived;
        all.done += (double)one->done;
        all.rejected += (double)one->rejected;
        all.waiting += (double)one->waiting;
        all.samples += (double)one->samples;
        all.batches += (double)one->batches;
        all.tokens += (double)one->tokens;
        all.queued_s += one->queued_s;
        all.began += (double)one->began;
        if (load_percentile(&one->latency, 0.99) > load_percentile(all.slowest, 0.99))
            all.slowest = &one->latency;
    }
    return all;
}

/* ---- as a run ---- */

static bool add_counters(const struct loadtest *t, struct run_result *r)
{
    struct load_result *const l = (struct load_result *)&t->result;
    const struct totals all = totals_of(l);
    struct run_values *const c = &r->counters;
    bool ok = run_values_add(c, "load.requests", all.arrived) && run_values_add(c, "load.done", all.done) &&
              run_values_add(c, "load.rejected", all.rejected) && run_values_add(c, "load.unfinished", all.waiting) &&
              run_values_add(c, "load.samples", all.samples) &&
              run_values_add(c, "load.inferences_per_second", all.samples / l->seconds) &&
              run_values_add(c, "load.latency_p50", load_percentile(all.slowest, 0.5)) &&
              run_values_add(c, "load.latency_p95", load_percentile(all.slowest, 0.95)) &&
              run_values_add(c, "load.latency_p99", load_percentile(all.slowest, 0.99)) &&
              run_values_add(c, "load.waiting", l->waiting) &&
              run_values_add(c, "load.batch", all.batches > 0 ? all.samples / all.batches : NAN);
    if (ok && isfinite(l->joules))
        ok = run_values_add(c, "load.joules_per_inference", l->joules / all.samples);
    return ok;
}

static bool add_placement(const struct loadtest *t, struct run_result *r)
{
    bool ok = true;
    for (unsigned g = 0; ok && g < t->setup.groups; g++) {
        char why[96];
        snprintf(why, sizeof why, "%u instance%s", t->setup.group[g].count, t->setup.group[g].count == 1 ? "" : "s");
        ok = run_placement_add(&r->placement, t->setup.model[t->setup.group[g].model].name, t->unit[g], "instances", why);
    }
    return ok;
}

bool loadtest_fill(const struct loadtest *t, struct run_result *r)
{
    const struct load_result *const l = &t->result;
    const struct totals all = totals_of((struct load_result *)l);
    r->seconds = r->seconds_low = r->seconds_high = l->seconds;
    r->host_seconds = t->host_seconds;
    r->joules = l->joules;
    r->watts_avg = l->joules / l->seconds;
    r->device_seconds = 0;
    for (enum orch_part p = 0; p < PART_DRAM; p++) {
        r->device_seconds += l->busy_s[p];
        r->utilisation[p] = l->busy_s[p] / l->seconds;
    }
    if (all.tokens > 0)
        r->tokens_per_second = all.tokens / l->seconds;
    if (t->heat.device) {
        r->watts_peak = t->heated.watts_peak;
        r->celsius_max = t->heated.celsius_max;
        r->throttled_seconds = t->heated.throttled_s;
    }
    return run_result_set_text(&r->chip, chip_id(t->request.chip)) &&
           (!t->heat.device || run_result_set_text(&r->device, t->heat.device->id)) &&
           run_result_set_text(&r->workload, t->words) && run_result_set_text(&r->unit, t->unit[0]) &&
           run_result_set_text(&r->precision, t->service[0].precision) && run_result_set_text(&r->detail, "op") &&
           run_result_set_text(&r->mode, "timing") && add_placement(t, r) &&
           run_assumption_add(
               &r->assumptions, "service", "inferred",
               "times of batches are those of single runs at detail op, and lie on lines between the sizes that were "
               "simulated") &&
           run_assumption_add(&r->assumptions, "sharing", "inferred",
                              "units that work at the same time do not slow each other down; instances of one unit take turns") &&
           (!t->heat.device ||
            run_assumption_add(&r->assumptions, RUN_THERMAL, t->heat.device->thermal_kind, t->heat.device->thermal_source)) &&
           add_counters(t, r);
}

/* ---- as a document ---- */

static json_object *times_json(struct load_times *times)
{
    json_object *const o = json_object_new_object();
    json_add_number(o, "mean", load_mean(times));
    json_add_number(o, "p50", load_percentile(times, 0.5));
    json_add_number(o, "p90", load_percentile(times, 0.9));
    json_add_number(o, "p95", load_percentile(times, 0.95));
    json_add_number(o, "p99", load_percentile(times, 0.99));
    json_add_number(o, "most", load_percentile(times, 1));
    json_add_count(o, "count", times->count);
    return o;
}

static json_object *model_json(struct loadtest *t, unsigned m)
{
    struct load_model_result *const r = &t->result.model[m];
    json_object *const o = json_object_new_object(), *const sizes = json_object_new_object();
    json_add_text(o, "model", t->name[m]);
    json_add_text(o, "workload", t->entry[m].workload);
    json_add_count(o, "requests", r->arrived);
    json_add_count(o, "done", r->done);
    json_add_count(o, "rejected", r->rejected);
    json_add_count(o, "unfinished", r->waiting);
    json_add_number(o, "inferences_per_second", (double)r->samples / t->result.seconds);
    json_add_number(o, "tokens_per_second", t->setup.model[m].language ? (double)r->tokens / t->result.seconds : NAN);
    json_object_object_add(o, "latency_seconds", times_json(&r->latency));
    if (t->setup.model[m].language) {
        json_object_object_add(o, "first_token_seconds", times_json(&r->first_token));
        json_object_object_add(o, "token_seconds", times_json(&r->each_token));
    }
    json_add_number(o, "queue_seconds", r->began ? r->queued_s / (double)r->began : NAN);
    json_add_number(o, "batch",
                    r->batches ? (double)(t->setup.model[m].language ? r->tokens - r->done : r->samples) / (double)r->batches
                               : NAN);
    for (unsigned n = 1; n <= r->most; n++) {
        char name[16];
        snprintf(name, sizeof name, "%u", n);
        if (r->by_size[n])
            json_add_count(sizes, name, r->by_size[n]);
    }
    json_object_object_add(o, "batches_by_size", sizes);
    return o;
}

static json_object *services_json(const struct loadtest *t)
{
    json_object *const list = json_object_new_array();
    for (unsigned g = 0; g < t->setup.groups; g++)
        for (unsigned i = 0; i < t->service[g].points; i++) {
            const struct service_point *const p = &t->service[g].point[i];
            json_object *const o = json_object_new_object();
            json_add_text(o, "model", t->name[t->setup.group[g].model]);
            json_add_text(o, "unit", t->unit[g]);
            json_add_count(o, t->service[g].language ? "tokens" : "batch", p->size);
            json_add_number(o, "seconds", p->seconds);
            json_add_number(o, "seconds_low", p->seconds_low);
            json_add_number(o, "seconds_high", p->seconds_high);
            json_add_number(o, "joules", p->joules);
            if (t->service[g].language)
                json_add_number(o, "prompt_seconds", t->service[g].prompt[0][i].device_s);
            json_object_array_add(list, o);
        }
    return list;
}

static json_object *windows_json(const struct load_result *r)
{
    json_object *const list = json_object_new_array();
    for (unsigned i = 0; i < r->windows; i++) {
        const struct load_window *const w = &r->window[i];
        json_object *const o = json_object_new_object();
        json_add_number(o, "begin_s", w->begin_s);
        json_add_count(o, "arrived", w->arrived);
        json_add_count(o, "done", w->done);
        json_add_number(o, "waiting", w->waiting);
        json_add_number(o, "latency_seconds", w->done ? w->latency_sum_s / (double)w->done : NAN);
        json_add_number(o, "watts", w->watts);
        json_add_number(o, "celsius", w->celsius);
        json_add_number(o, "lowest_clock", w->clock_share);
        json_object_array_add(list, o);
    }
    return list;
}

json_object *loadtest_json(struct loadtest *t, const struct run_result *r)
{
    static const char *const scenarios[] = {"open", "single-stream", "multi-stream", "offline"};
    json_object *const document = run_json(r, NULL), *const o = json_object_new_object(), *const models = json_object_new_array();
    const struct totals all = totals_of(&t->result);
    json_add_text(o, "scenario", t->server ? "server" : scenarios[t->setup.scenario]);
    json_add_text(o, "arrivals", t->arrivals_text);
    json_add_number(o, "rate", t->setup.scenario == LOAD_OPEN ? t->arrivals.rate : NAN);
    json_add_number(o, "limit_seconds", t->server ? t->limit_s : NAN);
    json_add_number(o, "inferences_per_second", all.samples / t->result.seconds);
    json_add_number(o, "joules_per_inference", all.samples > 0 ? t->result.joules / all.samples : NAN);
    json_add_number(o, "joules_per_token", all.tokens > 0 ? t->result.joules / all.tokens : NAN);
    json_add_number(o, "idle_watts", t->heat.device ? NAN : t->setup.idle_w);
    json_add_number(o, "waiting", t->result.waiting);
    json_add_count(o, "waiting_most", t->result.waiting_most);
    json_add_number(o, "battery_hours_left", t->heat.device ? t->heated.battery_hours : NAN);
    for (unsigned m = 0; m < t->setup.models; m++)
        json_object_array_add(models, model_json(t, m));
    json_object_object_add(o, "models", models);
    json_object_object_add(o, "services", services_json(t));
    json_object_object_add(o, "windows", windows_json(&t->result));
    json_object_object_add(document, "load", o);
    return document;
}

/* ---- as text ---- */

static void models_text(struct loadtest *t)
{
    static const struct table_column columns[] = {{"model", NULL, false, 40}, {"done", NULL, true, 0},     {"of", NULL, true, 0},
                                                  {"1/s", NULL, true, 0},     {"tokens/s", NULL, true, 0}, {"p50", NULL, true, 0},
                                                  {"p90", NULL, true, 0},     {"p95", NULL, true, 0},      {"p99", NULL, true, 0},
                                                  {"queued", NULL, true, 0},  {"batch", NULL, true, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (unsigned m = 0; m < t->setup.models; m++) {
        static const double shares[] = {0.5, 0.9, 0.95, 0.99};
        struct load_model_result *const r = &t->result.model[m];
        const bool language = t->setup.model[m].language;
        char text[FORMAT_SIZE];
        table_row(table);
        table_cell(table, "%s", t->name[m]);
        table_cell(table, "%llu", (unsigned long long)r->done);
        table_cell(table, "%llu", (unsigned long long)r->arrived);
        table_cell(table, "%.4g", (double)r->samples / t->result.seconds);
        table_cell(table, language ? "%.4g" : "-", (double)r->tokens / t->result.seconds);
        for (size_t i = 0; i < ARRAY_COUNT(shares); i++)
            table_cell(table, "%s", format_si(text, load_percentile(&r->latency, shares[i]), "s"));
        table_cell(table, "%s", format_si(text, r->began ? r->queued_s / (double)r->began : NAN, "s"));
        table_cell(table, "%.3g", r->batches ? (double)(language ? r->tokens - r->done : r->samples) / (double)r->batches : NAN);
    }
    api_table(t->context, table);
}

static void tokens_text(struct loadtest *t, FILE *out)
{
    for (unsigned m = 0; m < t->setup.models; m++) {
        struct load_model_result *const r = &t->result.model[m];
        char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
        if (!t->setup.model[m].language)
            continue;
        fprintf(out, "%s: first token p50 %s, p99 %s; each token %s in the median\n", t->name[m],
                format_si(a, load_percentile(&r->first_token, 0.5), "s"),
                format_si(b, load_percentile(&r->first_token, 0.99), "s"),
                format_si(c, load_percentile(&r->each_token, 0.5), "s"));
    }
}

/* The number by which MLPerf judges the scenario. */
static void verdict_text(struct loadtest *t, FILE *out)
{
    struct load_model_result *const r = &t->result.model[0];
    char text[FORMAT_SIZE];
    switch (t->setup.scenario) {
    case LOAD_SINGLE_STREAM:
        fprintf(out, "single stream: 90 %% of the samples within %s\n", format_si(text, load_percentile(&r->latency, 0.9), "s"));
        break;
    case LOAD_MULTI_STREAM:
        fprintf(out, "multi stream: 99 %% of the queries of %d samples within %s\n", LOAD_MULTI_SAMPLES,
                format_si(text, load_percentile(&r->latency, 0.99), "s"));
        break;
    case LOAD_OFFLINE: fprintf(out, "offline: %.5g samples a second\n", (double)r->samples / t->result.seconds); break;
    case LOAD_OPEN:
        if (t->server)
            fprintf(out, "server: %.5g requests a second, 99 %% within %s; the limit of %g ms %s\n", t->arrivals.rate,
                    format_si(text, load_percentile(&r->latency, 0.99), "s"), 1e3 * t->limit_s,
                    load_percentile(&r->latency, 0.99) <= t->limit_s ? "holds" : "is not kept");
        break;
    }
}

static void heat_text(const struct loadtest *t, FILE *out)
{
    const struct load_heat_summary *const h = &t->heated;
    fprintf(out, "%s: %.1f C at the end, %.1f C at most, %.2f W at most", t->heat.device->name, h->celsius_last, h->celsius_max,
            h->watts_peak);
    if (isnan(h->onset_s))
        fprintf(out, "; never below the wanted clocks");
    else
        fprintf(out, "; clocks fall after %.1f s, %.1f s below the wanted ones", h->onset_s, h->throttled_s);
    if (isfinite(h->battery_hours))
        fprintf(out, "; the battery lasts %.1f h", h->battery_hours);
    fprintf(out, "\n");
}

void loadtest_text(struct loadtest *t, const struct run_result *r)
{
    FILE *const out = t->context->out;
    const struct totals all = totals_of(&t->result);
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    fprintf(out, "%s on %s, %s for %.6g s%s\n", t->words, chip_id(t->request.chip),
            t->arrivals_text && t->setup.scenario == LOAD_OPEN ? t->arrivals_text : "a scenario of MLPerf", t->result.seconds,
            t->heat.device ? "" : " at fixed clocks");
    models_text(t);
    tokens_text(t, out);
    fprintf(out, "queue: %.3g requests wait in the mean, %llu at most; %.0f turned away, %.0f undone at the end\n",
            t->result.waiting, (unsigned long long)t->result.waiting_most, all.rejected, all.waiting);
    if (isfinite(t->result.joules))
        fprintf(out, "energy: %s an inference, %s in all, %.3g W in the mean",
                format_si(a, t->result.joules / fmax(all.samples, 1), "J"), format_si(b, t->result.joules, "J"),
                t->result.joules / t->result.seconds);
    if (isfinite(t->result.joules) && !t->heat.device)
        fprintf(out, " (%.3g W without work)", t->setup.idle_w);
    if (isfinite(t->result.joules))
        fprintf(out, "\n");
    fprintf(out, "busy:");
    for (enum orch_part p = 0; p < PART_DRAM; p++)
        if (t->result.busy_s[p] > 0)
            fprintf(out, " %s %.1f %%", orch_part_name(p), 100 * t->result.busy_s[p] / t->result.seconds);
    fprintf(out, "\n");
    if (t->heat.device)
        heat_text(t, out);
    verdict_text(t, out);
    fprintf(out, "run %lld, %s of host time\n", (long long)r->run_id, format_si(a, t->host_seconds, "s"));
}
