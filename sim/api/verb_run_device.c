#include "sim/api/verb_run_device.h"
#include "sim/api/verb_run_network.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/listen/run_json.h"
#include "sim/run/language/language_model.h"
#include "sim/run/language/language_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const options[] = {"device",    "duration", "ambient", "policy", "power-mode",
                                      "power-cap", "target",   "battery", "steer",  "steer-to"};

/* "fixed|performance|..." */
#define CHOICE(enumerator, name, ...) "|" name
static const char *const policies = &(GOVERNOR_POLICIES(CHOICE))[1];

bool verb_run_wants_device(const struct api_context *context)
{
    for (size_t i = 0; i < ARRAY_COUNT(options); i++) {
        const char *const value = api_value(&context->args, options[i]);
        if (value && !(strcmp(options[i], "policy") == 0 && verb_run_is_routing(value)))
            return true;
    }
    return false;
}

static bool read_options(const struct api_context *context, struct run_sustained_request *q, struct orch_error *error)
{
    const struct api_args *const a = &context->args;
    enum { HIGH, BALANCED, LOW, AUTO };
    unsigned policy = GOVERNOR_PERFORMANCE, mode = BALANCED, steering = STEER_NEVER, unit = 0;

    const char *const named = api_value(a, "policy");
    if ((!(named && verb_run_is_routing(named)) && !api_chosen(a, "policy", policies, &policy, error)) ||
        !api_chosen(a, "power-mode", "high|balanced|low|auto", &mode, error) ||
        !api_chosen(a, "steer", "never|hot|low-power|always", &steering, error) ||
        !api_chosen(a, "steer-to", "cpu|amx|gpu|ane", &unit, error))
        return false;
    if (mode == BALANCED && api_has(a, "power-mode") && !api_has(a, "policy"))
        policy = GOVERNOR_BALANCED;
    q->policy = (enum governor_policy)policy;
    q->low_power = mode == LOW;
    q->low_power_auto = mode == AUTO;
    q->steer_unit = api_value(a, "steer-to");
    q->steering = q->steer_unit && !api_has(a, "steer") ? STEER_HOT : (enum sustain_steering)steering;
    q->device = api_value(a, "device");
    if (!q->device)
        return orch_fail(error, ORCH_USAGE,
                         "heat, limits and battery belong to a machine: give " ORCH_OPTION("device") ", as in " ORCH_OPTION(
                             "device") " macbook-air");
    q->ambient_c = q->battery_percent = NAN;
    if (!api_quantity(a, "ambient", "C", -40, 60, &q->ambient_c, error) ||
        !api_number(a, "battery", 0, 100, &q->battery_percent, error) ||
        !api_quantity(a, "duration", "s", 1e-6, 1e7, &q->duration_s, error) ||
        !api_quantity(a, "power-cap", "W", 0.1, 1e4, &q->power_cap_w, error) ||
        !api_quantity(a, "target", "s", 1e-9, 1e7, &q->target_s, error))
        return false;
    if (governor_policy_row(q->policy)->kind == GOVERNOR_TIMED && !(q->target_s > 0))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("policy") " %s needs " ORCH_OPTION("target") " SECONDS",
                         governor_policy_name(q->policy));
    return true;
}

/* ---- JSON: a column per quantity ---- */

static struct json_object *column(const struct sustain_result *s, size_t offset, double scale)
{
    struct json_object *const list = json_object_new_array();

    for (size_t i = 0; i < s->samples; i++) {
        double value;
        memcpy(&value, (const char *)&s->sample[i] + offset, sizeof value);
        json_object_array_add(list, json_number(value * scale));
    }
    return list;
}

static struct json_object *by_domain(const struct sustain_result *s, size_t offset)
{
    struct json_object *const object = json_object_new_object();

    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        json_object_object_add(object, power_domain_name(d), column(s, offset + d * sizeof(double), 1));
    return object;
}

static struct json_object *series_json(const struct sustain_result *s)
{
    struct json_object *const o = json_object_new_object(), *const pressure = json_object_new_array();

    json_object_object_add(o, "time_s", column(s, offsetof(struct sustain_sample, time_s), 1));
    json_object_object_add(o, "watts", by_domain(s, offsetof(struct sustain_sample, watts)));
    json_object_object_add(o, "mhz", by_domain(s, offsetof(struct sustain_sample, mhz)));
    json_object_object_add(o, "utilisation", by_domain(s, offsetof(struct sustain_sample, utilisation)));
    json_object_object_add(o, "mean_celsius", column(s, offsetof(struct sustain_sample, mean_c), 1));
    json_object_object_add(o, "hottest_celsius", column(s, offsetof(struct sustain_sample, hottest_c), 1));
    json_object_object_add(o, "case_celsius", column(s, offsetof(struct sustain_sample, case_c), 1));
    json_object_object_add(o, "fan_rpm", column(s, offsetof(struct sustain_sample, fan_rpm), 1));
    json_object_object_add(o, "dram_gbps", column(s, offsetof(struct sustain_sample, dram_gbps), 1));
    json_object_object_add(o, "battery_percent", column(s, offsetof(struct sustain_sample, battery_percent), 1));
    json_object_object_add(o, "wall_watts", column(s, offsetof(struct sustain_sample, wall_w), 1));
    for (size_t i = 0; i < s->samples; i++)
        json_object_array_add(pressure, json_object_new_string(thermal_pressure_name(s->sample[i].pressure)));
    json_object_object_add(o, "pressure", pressure);
    return o;
}

static struct json_object *parts_json(const struct run_sustained *run, const struct sustain_result *s)
{
    struct json_object *const list = json_object_new_array();

    for (unsigned i = 0; i < run_sustained_parts(run); i++) {
        const struct run_sustained_part p = run_sustained_part(run, s, i);
        struct json_object *const o = json_object_new_object();
        json_add_text(o, "workload", p.workload);
        json_add_text(o, "unit", p.unit);
        json_add_number(o, "repetitions", p.repetitions);
        json_add_number(o, "seconds", p.seconds);
        json_add_number(o, "seconds_alone", p.seconds_alone);
        json_add_number(o, "slowdown", p.slowdown);
        json_add_number(o, "sharing_slowdown", p.sharing_slowdown);
        json_add_number(o, "dram_gbps", p.dram_gbps);
        json_object_array_add(list, o);
    }
    return list;
}

static struct json_object *device_json(const struct run_sustained *run, const struct sustain_result *s)
{
    struct json_object *const o = json_object_new_object(), *const clocks = json_object_new_object();

    json_add_number(o, "repetitions", s->repetitions[0]);
    json_add_number(o, "throttle_onset_seconds", s->onset_s);
    json_add_number(o, "wall_watts", s->wall_w);
    json_add_number(o, "battery_hours_left", isinf(s->hours_left) ? NAN : s->hours_left);
    json_add_bool(o, "battery_empty", s->battery_empty);
    json_add_bool(o, "emergency", s->emergency);
    json_add_number(o, "clock_changes", s->clock_changes);
    json_add_number(o, "clock_change_seconds", s->clock_change_s);
    json_add_number(o, "low_power_seconds", s->low_power_s);
    json_add_number(o, "moved_seconds", s->steered_s);
    json_add_number(o, "least_duty", s->duty_least);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        json_add_number(clocks, power_domain_name(d), s->last_mhz[d]);
    json_object_object_add(o, "final_mhz", clocks);
    json_object_object_add(o, "concurrent", parts_json(run, s));
    json_object_object_add(o, "samples", series_json(s));
    return o;
}

/* ---- text ---- */

enum { LINES = 12 };

/* A language model says tokens a second beside clocks. */
static void print_series(struct api_context *context, const struct run_sustained *run, const struct run_result *r,
                         const struct sustain_result *s)
{
    static const struct table_column columns[] = {
        {"time", "s", true, 0},  {"chip", "W", true, 0},  {"P", "MHz", true, 0},        {"E", "MHz", true, 0},
        {"GPU", "MHz", true, 0}, {"ANE", "MHz", true, 0}, {"mean", "C", true, 0},       {"hottest", "C", true, 0},
        {"case", "C", true, 0},  {"fan", "rpm", true, 0}, {"pressure", NULL, false, 0}, {"tokens", "1/s", true, 0},
    };
    const double generated = run_values_get(&r->counters, DEVICE_TOKENS_COOL);
    const bool tokens = generated > 0;
    static const enum power_domain clocked[] = {POWER_P_CPU, POWER_E_CPU, POWER_GPU, POWER_ANE};
    struct table *const t = table_create(columns, ARRAY_COUNT(columns) - !tokens);

    for (size_t line = 0; line < LINES && s->samples; line++) {
        const size_t i = (s->samples - 1) * line / (LINES - 1);
        const struct sustain_sample *const p = &s->sample[i];
        double watts = 0;
        if (line && i == (s->samples - 1) * (line - 1) / (LINES - 1))
            continue;
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
            watts += p->watts[d];
        table_row(t);
        table_cell(t, "%.4g", p->time_s);
        table_cell(t, "%.2f", watts);
        for (size_t k = 0; k < ARRAY_COUNT(clocked); k++)
            table_cell(t, p->utilisation[clocked[k]] > 0 ? "%.0f" : "-", p->mhz[clocked[k]]);
        table_cell(t, "%.1f", p->mean_c);
        table_cell(t, "%.1f", p->hottest_c);
        table_cell(t, "%.1f", p->case_c);
        table_cell(t, "%.0f", p->fan_rpm);
        table_cell(t, "%s", thermal_pressure_name(p->pressure));
        if (tokens)
            table_cell(t, "%.3g", generated * run_sustained_pace(run, p));
    }
    api_table(context, t);
}

static void print_parts(struct api_context *context, const struct run_sustained *run, const struct sustain_result *s)
{
    static const struct table_column columns[] = {
        {"workload", NULL, false, 48}, {"unit", NULL, false, 0},     {"repetitions", NULL, true, 0}, {"alone", NULL, true, 0},
        {"in all", NULL, true, 0},     {"slow-down", NULL, true, 0}, {"by sharing", NULL, true, 0},  {"DRAM", "GB/s", true, 0},
    };
    struct table *const t = table_create(columns, ARRAY_COUNT(columns));

    for (unsigned i = 0; i < run_sustained_parts(run); i++) {
        const struct run_sustained_part p = run_sustained_part(run, s, i);
        char text[FORMAT_SIZE];
        table_row(t);
        table_cell(t, "%s", p.workload);
        table_cell(t, "%s", p.unit);
        table_cell(t, "%s", format_digits(text, p.repetitions, 5));
        table_cell(t, "%s", format_si(text, p.seconds_alone, "s"));
        table_cell(t, "%s", format_si(text, p.seconds, "s"));
        table_cell(t, "%.3f", p.slowdown);
        table_cell(t, "%.3f", p.sharing_slowdown);
        table_cell(t, "%s", format_digits(text, p.dram_gbps, 3));
    }
    api_table(context, t);
}

static void print_battery(struct api_context *context, const struct run_sustained_request *q, const struct sustain_result *s)
{
    char text[FORMAT_SIZE];
    if (q->machine->battery.capacity_wh <= 0)
        return;
    if (s->battery_empty)
        fprintf(context->out, "; the battery is empty after %s", format_duration(text, s->seconds));
    else
        fprintf(context->out, "; %s battery lasts %s", isnan(q->battery_percent) ? "a full" : "what is left in the",
                format_duration(text, 3600 * s->hours_left));
}

static bool print_text(struct api_context *context, const struct run_sustained_request *q, const struct run_sustained *run,
                       const struct run_result *r, const struct sustain_result *s, struct orch_error *error)
{
    char text[FORMAT_SIZE], more[FORMAT_SIZE];

    if (!api_summary(context, r, 8, 4, error))
        return false;
    fprintf(context->out, "\n%s, %s, policy %s: ", q->machine->name, r->chip, governor_policy_name(q->policy));
    if (q->parts)
        fprintf(context->out, "%u workloads for %s\n", q->parts, format_duration(text, s->seconds));
    else
        fprintf(context->out, "%s repetitions in %s\n", format_digits(text, s->repetitions[0], 5),
                format_duration(more, s->seconds));
    if (q->parts)
        print_parts(context, run, s);
    print_series(context, run, r, s);
    if (isnan(s->onset_s))
        fprintf(context->out, "never below the wanted clocks");
    else
        fprintf(context->out, "clocks fall after %s; %s below the wanted clocks", format_duration(text, s->onset_s),
                format_duration(more, s->throttled_s));
    fprintf(context->out, "; %.1f W at the wall", s->wall_w);
    print_battery(context, q, s);
    if (run_values_get(&r->counters, DEVICE_TOKENS) > 0)
        fprintf(context->out, "; %.0f tokens were generated, with all prompts %.3g a second and %s each",
                run_values_get(&r->counters, DEVICE_TOKENS), run_values_get(&r->counters, DEVICE_TOKENS) / s->seconds,
                format_si(text, run_values_get(&r->counters, DEVICE_TOKEN_JOULES), "J"));
    if (s->clock_change_s > 0)
        fprintf(context->out, "; %.3g clock changes cost %.3g s", s->clock_changes, s->clock_change_s);
    if (s->low_power_s > 0)
        fprintf(context->out, "; %s in low-power mode", format_duration(text, s->low_power_s));
    if (q->steering != STEER_NEVER)
        fprintf(context->out, "; %s on the %s", format_duration(text, s->steered_s), q->steer_unit ? q->steer_unit : "E cores");
    if (s->duty_least < 1)
        fprintf(context->out, "; at work %.0f %% of the time at least", 100 * s->duty_least);
    fprintf(context->out, "%s\n", s->emergency ? "; emergency throttle" : "");
    return true;
}

/* ---- one run ---- */

struct sustained {
    struct run_sustained *run;
    struct sustain_result *series;
};

static bool execute(void *subject, struct event_bus *bus, uint64_t number, struct run_result *result, struct orch_error *error)
{
    const struct sustained *const s = subject;
    return run_sustained_execute(s->run, bus, number, result, s->series, error);
}

static bool show(struct api_context *context, const struct run_sustained_request *q, const struct run_sustained *run,
                 const struct run_result *result, const struct sustain_result *series, struct json_object *rows,
                 struct orch_error *error)
{
    if (api_wants_document(context)) {
        struct json_object *const document = run_json(result, NULL);
        json_object_object_add(document, "device_run", device_json(run, series));
        json_object_array_add(rows, document);
    }
    return !api_wants_text(context) || print_text(context, q, run, result, series, error);
}

/* "thermal" is the policy that does most in this machine. */
static bool choose_policy(struct api_context *context, struct run_sustained_request *q, struct orch_error *error)
{
    struct run_sustained_choice choice;
    if (!q->run.policy || strcmp(q->run.policy, RUN_NETWORK_POLICY_THERMAL) != 0)
        return true;
    if (q->parts)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("policy") " " RUN_NETWORK_POLICY_THERMAL ": of one network");
    if (!run_sustained_policy(q, &choice, error))
        return false;
    q->run.policy = choice.policy;
    api_note(context, "policy %s does most in this time: %.6g repetitions, %.6g by cost", choice.policy, choice.repetitions,
             choice.by_time);
    return true;
}

bool verb_run_in_device(const struct api_record *record, const struct run_request *request, uint64_t number,
                        struct json_object *rows, struct orch_error *error)
{
    struct api_context *const context = record->context;
    struct run_sustained_request q = {
        .run = *request, .db = api_chip_db(context, error), .overrides = {context->common.sets, context->common.set_count}};
    struct together_part part[TOGETHER_PARTS];
    char *storage = NULL;
    struct device_list devices = {0};
    struct sustain_result series = {0};
    struct run_result result;

    if (language_model_is(request->workload) && request->language && request->language->prompt_text)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("prompt-text") ": in a machine a language model repeats by its shapes alone; " ORCH_OPTION(
                             "mode") " timing " ORCH_OPTION("prompt") " N is a prompt of N tokens");
    if (!q.db || !read_options(context, &q, error) || !device_list_load(NULL, &devices, error))
        return false;
    if (together_is(request->workload) && !request->steps && !run_network_are_joint(request->workload, request->unit)) {
        q.part = part;
        q.text = request->workload;
        if (!together_parse(q.text, request, part, &q.parts, &storage, error)) {
            device_list_free(&devices);
            free(storage);
            return false;
        }
    }
    q.machine = device_find(&devices, q.device, chip_id(request->chip), error);
    struct run_sustained *const run = q.machine && choose_policy(context, &q, error) ? run_sustained_prepare(&q, error) : NULL;
    run_result_init(&result);
    const bool ok = run &&
                    api_record_run(record, request->chip, execute, &(struct sustained){run, &series}, number, &result, error) &&
                    show(context, &q, run, &result, &series, rows, error);
    sustain_result_free(&series);
    run_result_free(&result);
    run_sustained_free(run);
    device_list_free(&devices);
    free(storage);
    return ok;
}
