#include "sim/scenario/run_sustained_internal.h"

#include "sim/base/json_out.h"
#include "sim/run/language/language_options.h"
#include "sim/run/run_profile.h"
#include "sim/run/run_progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double or_none(double x)
{
    return isnan(x) ? -1 : x;
}

/* Every option that decides the answer, those of the workload included. Databases find runs by this text. */
static bool write_options(struct run_sustained *r, const char *base)
{
    enum { DIGITS = 9 };
    const struct run_sustained_request *const q = r->request;
    char machine[20];
    json_object *const o = json_object_new_object();
    snprintf(machine, sizeof machine, "%016" PRIx64, q->machine->hash);
    json_add_digits(o, "ambient_c", or_none(q->ambient_c), DIGITS);
    json_object_object_add(o, "base", json_tokener_parse(base));
    json_add_digits(o, "battery", or_none(q->battery_percent), DIGITS);
    json_add_digits(o, "duration", q->duration_s, DIGITS);
    if (q->low_power_auto && !q->low_power)
        json_add_text(o, "low_power", "auto");
    else
        json_add_bool(o, "low_power", q->low_power);
    json_add_text(o, "machine", machine);
    json_add_text(o, "policy", governor_policy_name(q->policy));
    json_add_digits(o, "power_cap", q->power_cap_w, DIGITS);
    json_add_count(o, "steering", q->steering);
    if (q->steer_unit)
        json_add_text(o, "steer_unit", q->steer_unit);
    json_add_digits(o, "target", q->target_s, DIGITS);
    r->options = json_line(o);
    return r->options != NULL;
}

struct run_sustained *run_sustained_prepare(const struct run_sustained_request *q, struct orch_error *error)
{
    struct run_sustained *const r = calloc(1, sizeof *r);

    if (!r) {
        orch_no_memory(error);
        return NULL;
    }
    r->request = q;
    if (q->parts)
        r->together = together_prepare(q->part, q->parts, q->text, error);
    else
        r->base = run_prepare(&q->run, error);
    if (!r->base && !r->together) {
        free(r);
        return NULL;
    }
    r->begin = *(r->base ? run_begin_event(r->base) : together_begin_event(r->together));
    r->begin.device = q->machine->id;
    if (!write_options(r, r->begin.options)) {
        run_sustained_free(r);
        orch_no_memory(error);
        return NULL;
    }
    r->begin.options = r->options;
    return r;
}

void run_sustained_free(struct run_sustained *run)
{
    if (!run)
        return;
    run_free(run->base);
    together_free(run->together);
    free(run->options);
    free(run);
}

static void emit(struct event_bus *bus, struct event *event, uint64_t number, double seconds)
{
    event->run = number;
    event->time_ns = seconds * 1e9;
    if (bus)
        event_bus_emit(bus, event);
}

static void sample(struct event_bus *bus, uint64_t number, double seconds, const char *series, const char *unit,
                   enum orch_part part, uint32_t instance, double value)
{
    struct event e = {.kind = EVENT_SAMPLE, .sample = {series, unit, {part, instance}, value}};
    emit(bus, &e, number, seconds);
}

/* P and E clusters are instances 0 and 1 of the CPU. */
static const struct {
    enum orch_part part;
    uint32_t instance;
} place_of[POWER_DOMAIN_COUNT] = {
    [POWER_P_CPU] = {PART_CPU, 0},     [POWER_E_CPU] = {PART_CPU, 1}, [POWER_AMX] = {PART_AMX, 0},
    [POWER_GPU] = {PART_GPU, 0},       [POWER_ANE] = {PART_ANE, 0},   [POWER_SLC] = {PART_SLC, 0},
    [POWER_FABRIC] = {PART_FABRIC, 0}, [POWER_DRAM] = {PART_DRAM, 0}, [POWER_SOC] = {PART_SOC, 0},
};

static void emit_series(const struct sustain_result *series, struct event_bus *bus, uint64_t number)
{
    for (size_t i = 0; i < series->samples; i++) {
        const struct sustain_sample *const s = &series->sample[i];
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
            const enum orch_part part = place_of[d].part;
            const uint32_t instance = place_of[d].instance;
            sample(bus, number, s->time_s, "power", "W", part, instance, s->watts[d]);
            if (d == POWER_P_CPU || d == POWER_E_CPU || d == POWER_GPU || d == POWER_ANE)
                sample(bus, number, s->time_s, "clock", "MHz", part, instance, s->mhz[d]);
            if (part < PART_DRAM)
                sample(bus, number, s->time_s, "utilisation", "1", part, instance, s->utilisation[d]);
        }
        sample(bus, number, s->time_s, "temperature", "degC", PART_SOC, 0, s->mean_c);
        sample(bus, number, s->time_s, "temperature", "degC", PART_SOC, 1, s->hottest_c);
        sample(bus, number, s->time_s, "temperature", "degC", PART_SOC, 2, s->case_c);
        sample(bus, number, s->time_s, "bandwidth", "GB/s", PART_DRAM, 0, s->dram_gbps);
        sample(bus, number, s->time_s, "pressure", "1", PART_SOC, 0, s->pressure);
        sample(bus, number, s->time_s, "battery", "1", PART_SOC, 0, s->battery_percent / 100);
    }
}

unsigned run_sustained_parts(const struct run_sustained *run)
{
    return run->request->parts ? run->request->parts : 1;
}

struct run_sustained_part run_sustained_part(const struct run_sustained *run, const struct sustain_result *s, unsigned number)
{
    const struct power_profile *const p = &run->profiles.profile[number];
    const double times = s->repetitions[number];
    struct run_sustained_part part = {
        .workload = run->request->run.workload,
        .unit = run->begin.unit,
        .repetitions = times,
        .seconds = times > 0 ? s->seconds / times : NAN,
        .seconds_alone = p->seconds,
        .sharing_slowdown = s->pace[number] > 0 ? 1 / s->pace[number] : NAN,
        .dram_gbps = s->seconds > 0 ? p->dram_bytes * times / s->seconds * 1e-9 : NAN,
    };

    part.slowdown = part.seconds / part.seconds_alone;
    if (run->together) {
        const struct run_result *const alone = &together_outcome(run->together, number)->alone;
        part.workload = alone->workload;
        part.unit = alone->unit;
    }
    return part;
}

/* ---- from the answer of one repetition to that of the whole time ---- */

static double known(double x)
{
    return isnan(x) ? 0 : x;
}

static void scale_one(const struct power_profile *p, const struct sustain_result *s, struct run_result *r)
{
    const double times = s->repetitions[0], stretch = s->seconds > 0 && p->seconds > 0 ? s->seconds / (times * p->seconds) : 1;

    r->device_seconds *= times * stretch;
    r->overhead_seconds *= times;
    r->flops *= times;
    r->macs *= times;
    r->dram_bytes *= times;
}

/* Of the steps, in the mean of the whole time. */
static void slow_tokens(const struct power_profile *p, const struct sustain_result *s, struct run_result *r)
{
    const double stretch = s->seconds / (s->repetitions[0] * p->seconds);
    if (isnan(r->tokens_per_second) || !(stretch > 0))
        return;
    r->tokens_per_second /= stretch;
    r->prefill_seconds *= stretch;
}

static void scale_parts(const struct run_sustained *run, const struct sustain_result *s, struct run_result *r)
{
    r->device_seconds = s->seconds;
    r->flops = r->macs = r->dram_bytes = 0;
    for (unsigned i = 0; i < run->request->parts; i++) {
        const struct run_result *const alone = &together_outcome(run->together, i)->alone;
        r->flops += known(alone->flops) * s->repetitions[i];
        r->macs += known(alone->macs) * s->repetitions[i];
        r->dram_bytes += known(alone->dram_bytes) * s->repetitions[i];
    }
}

static bool add_counters(const struct run_sustained *run, const struct sustain_result *s, struct run_result *r)
{
    const enum power_domain driver = run->profiles.profile[0].driver;
    bool ok = run_values_add(&r->counters, "device.repetitions", s->repetitions[0]) &&
              run_values_add(&r->counters, "device.wall_watts", s->wall_w) &&
              (run->request->machine->battery.capacity_wh == 0 ||
               run_values_add(&r->counters, "device.battery_hours_left", s->hours_left)) &&
              (isnan(s->onset_s) || run_values_add(&r->counters, "device.throttle_onset", s->onset_s)) &&
              run_values_add(&r->counters, "device.clock_changes", s->clock_changes) &&
              run_values_add(&r->counters, "device.clock_change_time", s->clock_change_s) &&
              run_values_add(&r->counters, "device.low_power_time", s->low_power_s) &&
              run_values_add(&r->counters, "device.moved_time", s->steered_s) &&
              run_values_add(&r->counters, "device.last_clock", s->last_mhz[driver]) &&
              run_values_add(&r->counters, "device.last_temperature", s->samples ? s->sample[s->samples - 1].mean_c : NAN);

    const double generated = run_values_get(&r->counters, LANGUAGE_GENERATED_TOKENS) * s->repetitions[0];
    if (ok && !run->together && generated > 0) {
        double joules = 0;
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
            joules += s->joules[d];
        ok = run_values_add(&r->counters, DEVICE_TOKENS, generated) &&
             run_values_add(&r->counters, DEVICE_TOKEN_JOULES, joules / generated) &&
             run_values_add(&r->counters, DEVICE_TOKENS_COOL, r->tokens_per_second);
    }
    for (unsigned i = 0; ok && i < run->request->parts; i++) {
        char name[64];
        snprintf(name, sizeof name, "device.%u.repetitions", i + 1);
        ok = run_values_add(&r->counters, name, s->repetitions[i]);
        snprintf(name, sizeof name, "device.%u.slowdown", i + 1);
        ok = ok && run_values_add(&r->counters, name, run_sustained_part(run, s, i).slowdown);
    }
    return ok;
}

/* Counters of all repetitions, as flops and joules are. What becomes of the energy by cause while clocks and temperatures change
 * is not known: joules_by has the whole. */
static void scale_counters(const struct run_sustained *run, const struct sustain_result *s, struct run_result *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->counters.count; i++) {
        struct run_named_value *const c = &r->counters.item[i];
        if (strncmp(c->name, "energy.", 7) == 0) {
            free(c->name);
            continue;
        }
        if (run_counter_is_sum(c->name) && run->together) {
            c->value = 0;
            for (unsigned k = 0; k < run->request->parts; k++)
                c->value +=
                    known(run_values_get(&together_outcome(run->together, k)->alone.counters, c->name)) * s->repetitions[k];
        } else if (run_counter_is_sum(c->name)) {
            c->value *= s->repetitions[0];
        }
        r->counters.item[kept++] = *c;
    }
    r->counters.count = kept;
}

static bool scale_result(const struct run_sustained *run, const struct sustain_result *s, struct run_result *r,
                         struct orch_error *error)
{
    const struct device *const machine = run->request->machine;
    double joules = 0;

    if (run->together)
        scale_parts(run, s, r);
    else
        scale_one(&run->profiles.profile[0], s, r);
    r->seconds = r->seconds_low = r->seconds_high = s->seconds;
    r->cycles = NAN; /* clocks change */
    r->gflops = r->flops / r->seconds * 1e-9;
    r->dram_gbps = r->dram_bytes / r->seconds * 1e-9;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        joules += s->joules[d];
    r->joules_low *= joules / r->joules;
    r->joules_high *= joules / r->joules;
    r->joules = joules;
    r->watts_avg = joules / r->seconds;
    r->watts_peak = s->watts_peak;
    r->celsius_max = s->celsius_max;
    r->throttled_seconds = s->throttled_s;
    for (size_t i = 0; i < r->joules_by.count; i++)
        r->joules_by.item[i].value = 0;
    bool ok = true;
    for (enum power_domain d = 0; ok && d < POWER_DOMAIN_COUNT; d++)
        ok = run_values_add(&r->joules_by, orch_part_name(place_of[d].part), s->joules[d]);
    scale_counters(run, s, r);
    ok = ok && add_counters(run, s, r) && run_sustained_tell_move(run, r) && run_result_set_text(&r->device, machine->id) &&
         run_assumption_add(&r->assumptions, RUN_THERMAL, machine->thermal_kind, machine->thermal_source) &&
         run_assumption_add(&r->assumptions, "device.governor", machine->governor_kind, machine->governor_source);
    if (ok && !run->together)
        slow_tokens(&run->profiles.profile[0], s, r);
    return ok || orch_no_memory(error);
}

double run_sustained_pace(const struct run_sustained *run, const struct sustain_sample *sample)
{
    const struct power_profile *const p = &run->profiles.profile[0];
    return p->seconds / power_profile_seconds(p, sample->mhz[p->driver]);
}

/* ---- the whole ---- */

static double longest_s(const struct run_sustained *run)
{
    double most = 0;

    for (unsigned i = 0; i < run_sustained_parts(run); i++)
        most = fmax(most, run->profiles.profile[i].seconds);
    return most;
}

static bool sustain(const struct run_sustained *run, struct sustain_result *series, struct orch_error *error)
{
    const struct run_sustained_request *const q = run->request;
    const enum governor_asked asked = governor_policy_row(q->policy)->asked;
    const unsigned repeat = q->run.repeat ? q->run.repeat : 1;
    struct sustain_setup setup = {
        .chip = q->run.chip,
        .device = q->machine,
        .ambient_c = q->ambient_c,
        .start_c = NAN,
        .profiles = run_sustained_parts(run),
        .sharing = run->together ? &run->profiles.sharing : NULL,
        /* Repetitions stand for the time they take at the clock of the run; a throttled machine gets fewer of them done. */
        .duration_s = q->duration_s > 0 ? q->duration_s : fmax(repeat * longest_s(run), 1e-6),
        .policy = q->policy,
        .target_s = q->target_s,
        .power_cap_w = q->power_cap_w,
        .low_power = q->low_power,
        .low_power_auto = q->low_power_auto,
        .steering = q->steering,
        .on_battery = !isnan(q->battery_percent),
        .battery_percent = isnan(q->battery_percent) ? 100 : q->battery_percent,
        .progress = run->progress,
    };

    for (unsigned i = 0; i < setup.profiles; i++) {
        const struct power_profile *const p = &run->profiles.profile[i];
        setup.profile[i] = p;
        setup.moved[i] = run->may_move[i] ? &run->moved[i] : NULL;
        if (asked == GOVERNOR_ASKED_BY_RUN)
            setup.asked_mhz[p->driver] = p->mhz;
    }
    if (asked == GOVERNOR_ASKED_BY_HEAT && !sustain_safe_clocks(&setup, setup.asked_mhz, error))
        return false;
    return sustain_run(&setup, series, error);
}

static bool simulate_all(struct run_sustained *run, struct run_result *result, struct orch_error *error)
{
    const struct run_sustained_request *const q = run->request;
    struct run_request once = q->run;

    if (!run->together && once.one_buffer)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("buffers") " one: in a machine each repetition has a command buffer of its own");
    once.repeat = 1;
    once.progress = run->progress;
    if (run->together)
        together_tell(run->together, run->progress);
    return run->together ? together_profiles(run->together, q->db, &q->overrides, &run->profiles, result, error)
                         : run_profile(&once, q->db, &q->overrides, &run->profiles.profile[0], result, error);
}

static bool simulate(struct run_sustained *run, struct run_result *result, struct orch_error *error)
{
    return simulate_all(run, result, error) && (run->request->steering == STEER_NEVER || run_sustained_move(run, error));
}

bool run_sustained_execute(struct run_sustained *run, struct event_bus *bus, uint64_t number, struct run_result *result,
                           struct sustain_result *series, struct orch_error *error)
{
    struct orch_error own = {0};
    struct event begin = {.kind = EVENT_RUN_BEGIN, .run_begin = run->begin};

    struct run_progress told;

    memset(series, 0, sizeof *series);
    emit(bus, &begin, number, 0);
    run->progress = run_progress_begin(&told, bus, number, run->begin.program_name);
    bool ok = simulate(run, result, &own) && sustain(run, series, &own);
    if (run->together)
        together_tell(run->together, NULL);
    run->progress = NULL;
    if (ok)
        emit_series(series, bus, number);
    ok = ok && scale_result(run, series, result, &own);
    struct event end = {.kind = EVENT_RUN_END,
                        .run_end = {.status = ok                                  ? EVENT_RUN_DONE
                                              : own.exit_code == ORCH_INTERRUPTED ? EVENT_RUN_INTERRUPTED
                                                                                  : EVENT_RUN_FAILED,
                                    .error = ok ? NULL : own.text,
                                    .result = ok ? result : NULL}};
    emit(bus, &end, number, ok ? series->seconds : 0);
    if (!ok) {
        sustain_result_free(series);
        if (error)
            *error = own;
    }
    return ok;
}
