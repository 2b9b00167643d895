#include "sim/machine/sustain/sustain_internal.h"

#include "isa/array_count.h"
#include "sim/machine/sustain/switching.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 100000 };
#define LONGEST_NEAR_S 0.1 /* longest step near a temperature limit */

static const enum power_domain clocked[] = {POWER_P_CPU, POWER_E_CPU, POWER_GPU, POWER_ANE};

bool sustain_running(const struct sustain_loop *l)
{
    const double begin = l->setup->begin_s, end = l->setup->duration_s;
    return l->setup->profiles && l->time_s >= begin - 1e-12 && l->time_s < end - 1e-12;
}

static void demands(const struct sustain_loop *l, struct governor_demand demand[POWER_DOMAIN_COUNT])
{
    unsigned paced[POWER_DOMAIN_COUNT] = {0};
    memset(demand, 0, POWER_DOMAIN_COUNT * sizeof *demand);
    for (size_t i = 0; i < ARRAY_COUNT(clocked); i++) {
        const enum power_domain d = clocked[i];
        demand[d].table = &l->machine.opp[d];
        demand[d].limit_mhz = d == POWER_P_CPU ? l->machine.p_limit_mhz : 0;
        demand[d].asked_mhz = l->setup->asked_mhz[d];
        for (unsigned w = 0; sustain_running(l) && w < l->setup->profiles; w++) {
            const struct power_profile *const p = l->setup->profile[w];
            if (p->driver == d || p->slices[d])
                demand[d].running = 1;
            if (p->driver ==
                d) /* the least bound of the workloads that it paces; time that waits for others does not scale either */
                demand[d].memory_bound =
                    fmin(paced[d]++ ? demand[d].memory_bound : 1,
                         1 - (1 - load_memory_bound(p, l->last_mhz[d] > 0 ? l->last_mhz[d] : p->mhz)) * l->last_pace[w]);
        }
    }
}

/* Sets the clocks of domains without a governor: AMX follows its P cluster, memory is at its highest point while anything runs.
 */
static void follow_clocks(const struct sustain_loop *l, double mhz[POWER_DOMAIN_COUNT])
{
    static const enum power_domain memory[] = {POWER_SLC, POWER_FABRIC, POWER_DRAM, POWER_SOC};
    mhz[POWER_AMX] = mhz[POWER_P_CPU];
    for (size_t i = 0; i < ARRAY_COUNT(memory); i++) {
        const struct opp_table *const t = &l->machine.opp[memory[i]];
        mhz[memory[i]] = t->point[sustain_running(l) ? t->count - 1 : 0].mhz;
    }
}

/* Steps grow while clocks and temperatures stand still; they fall back to the tick when something moves or a limit is near. */
static void choose_step(struct sustain_loop *l, const struct governor_answer *answer, bool gpu_busy, double moved_k,
                        double seconds)
{
    double change = 0;
    for (size_t i = 0; i < ARRAY_COUNT(clocked); i++) {
        const double now = answer->mhz[clocked[i]], before = l->last_mhz[clocked[i]];
        if (now > 0)
            change = fmax(change, fabs(now - before) / now);
    }
    /* In a step the temperature may move by a quarter of a kelvin and clocks by half a percent, which bounds the error of late
     * decisions. Near a limit it is ten times less. */
    const bool near = l->machine.hottest_c >= governor_first_limit_c(&l->governor, gpu_busy) - 1;
    const double finer = near ? 0.1 : 1;
    if (moved_k < 0.1 * finer && change < 2e-3 * finer)
        l->step_s = fmin(seconds * 2, near ? fmax(LONGEST_NEAR_S, l->tick_s) : l->step_max_s);
    else if (moved_k >= 0.25 * finer || change >= 5e-3 * finer)
        l->step_s = fmax(seconds / 4, l->tick_s);
}

static double step_length(const struct sustain_loop *l)
{
    double step = l->step_s;
    const double marks[] = {l->setup->begin_s, l->setup->duration_s, l->end_s, l->next_sample_s};
    for (size_t i = 0; i < ARRAY_COUNT(marks); i++)
        if (marks[i] > l->time_s + 1e-12)
            step = fmin(step, marks[i] - l->time_s);
    return step;
}

static bool low_power(const struct sustain_loop *l)
{
    const struct sustain_setup *const s = l->setup;
    return s->low_power ||
           (s->low_power_auto && s->on_battery && battery_percent(&l->battery) < s->device->governor.low_battery_percent);
}

/* Changes of operating points cost the domains that work some of their time. */
static void charge_switching(struct sustain_loop *l, const struct governor_answer *answer, double seconds,
                             double duty[POWER_DOMAIN_COUNT], struct switching *s)
{
    double starts[POWER_DOMAIN_COUNT] = {0};
    unsigned works[POWER_DOMAIN_COUNT] = {0};
    *s = (struct switching){.changes = 0};
    for (unsigned w = 0; sustain_running(l) && w < l->setup->profiles; w++) {
        const struct power_profile *const p = l->setup->profile[w];
        works[p->driver]++;
        if (load_duty(l->setup, w, answer->mhz[p->driver], 1) < 1)
            starts[p->driver] += seconds / l->setup->target_s;
    }
    for (size_t i = 0; i < ARRAY_COUNT(clocked); i++) {
        const enum power_domain d = clocked[i];
        if (works[d])
            switching_add(s, d, &l->machine.opp[d], &l->governor.params, l->last_mhz[d], answer->mhz[d], starts[d], seconds);
        duty[d] = answer->duty[d] * (1 - s->lost[d]);
        if (works[d]) {
            l->result->clock_change_s += s->lost[d] * seconds;
            l->result->duty_least = fmin(l->result->duty_least, answer->duty[d]);
        }
    }
    l->result->clock_changes += s->changes;
}

static void note_answer(struct sustain_loop *l, const struct governor_answer *answer, bool saving, double seconds)
{
    struct sustain_result *const r = l->result;
    if (sustain_running(l) && answer->throttled) {
        r->throttled_s += seconds;
        if (isnan(r->onset_s))
            r->onset_s = l->time_s;
    }
    r->emergency |= answer->emergency;
    r->low_power_s += saving ? seconds : 0;
    r->steered_s += sustain_running(l) && l->steering.moved ? seconds : 0;
    memcpy(l->last_mhz, answer->mhz, sizeof l->last_mhz);
    if (sustain_running(l))
        memcpy(r->last_mhz, answer->mhz, sizeof r->last_mhz);
}

static bool one_step(struct sustain_loop *l, struct orch_error *error)
{
    struct governor_demand demand[POWER_DOMAIN_COUNT];
    struct governor_answer answer;
    struct switching switching;
    struct load_step step;
    unsigned busy[POWER_DOMAIN_COUNT];
    double watts[POWER_DOMAIN_COUNT], duty[POWER_DOMAIN_COUNT];
    const double seconds = step_length(l), before_k = l->machine.mean_c;
    const struct governor_sensors sensors = {l->machine.mean_c, l->machine.hottest_c, l->last_w, l->machine.gpu_c};
    const bool saving = low_power(l);
    const struct governor_limits limits = {l->setup->power_cap_w, saving};
    const double rpm = thermal_device_fan_rpm(&l->setup->device->thermal, l->machine.mean_c);
    const bool moving = steering_decide(&l->steering, &l->governor, saving, l->time_s);
    demands(l, demand);
    governor_tick(&l->governor, seconds, demand, &sensors, &limits, &answer);
    follow_clocks(l, answer.mhz);
    load_busy(l->setup, sustain_running(l), busy);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        duty[d] = 1;
    charge_switching(l, &answer, seconds, duty, &switching);
    if (moving)
        steering_charge(&l->steering, &l->governor.params, seconds, duty);
    load_step(l->setup, &l->machine, sustain_running(l), answer.mhz, duty, l->machine.domain_c, seconds, &step);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        step.joules[d] *= 1 + switching.rail[d];
        watts[d] = step.joules[d] / seconds;
    }
    if (!machine_set_fan(&l->machine, rpm, error))
        return false;
    machine_step(&l->machine, watts, busy, seconds);
    sustain_account(l, &step, answer.mhz, seconds);
    double lasted = seconds;
    if (l->setup->on_battery && !battery_draw(&l->battery, l->last_w, seconds, &lasted))
        l->result->battery_empty = true;
    choose_step(l, &answer, demand[POWER_GPU].running > 0, fabs(l->machine.mean_c - before_k), seconds);
    note_answer(l, &answer, saving, seconds);
    l->time_s += lasted;
    l->result->steps++;
    if (l->time_s >= l->next_sample_s - 1e-12) {
        l->next_sample_s += l->sample_s;
        return sustain_sample(l, answer.pressure, rpm, error);
    }
    return true;
}

bool sustain_check(const struct sustain_setup *s, struct orch_error *error)
{
    if (!s->chip || !s->device)
        return orch_fail(error, ORCH_USAGE, "sustained operation needs a chip and a device");
    if (!(s->duration_s > 0) || !isfinite(s->duration_s) || s->duration_s > 1e7)
        return orch_fail(error, ORCH_USAGE, "the duration must be above 0 and at most 1e7 seconds");
    if (!(s->begin_s >= 0) || s->begin_s >= s->duration_s || !(s->end_s >= 0) || s->profiles > SUSTAIN_WORKLOADS)
        return orch_fail(error, ORCH_USAGE, "workloads must begin before the duration is over");
    if (!(s->battery_percent >= 0) || s->battery_percent > 100 || !(s->power_cap_w >= 0) || !(s->target_s >= 0))
        return orch_fail(error, ORCH_USAGE, "battery is 0 to 100 percent; power cap and target must not be negative");
    if (governor_policy_row(s->policy)->asked == GOVERNOR_ASKED_BY_TARGET && !(s->target_s > 0))
        return orch_fail(error, ORCH_USAGE, "policy %s needs a target time", governor_policy_name(s->policy));
    return true;
}

unsigned sustain_p_cores(const struct sustain_setup *s)
{
    unsigned all = 0;
    for (unsigned w = 0; w < s->profiles; w++)
        all += s->profile[w]->slices[POWER_P_CPU];
    return all ? all : 1;
}

/* Finds the lowest clock of every driver at which each of its workloads, alone, still meets the target. */
static void pace(struct sustain_setup *s, const struct machine *m)
{
    for (unsigned w = 0; w < s->profiles; w++)
        s->asked_mhz[s->profile[w]->driver] = 0;
    for (unsigned w = 0; w < s->profiles; w++) {
        const struct power_profile *const p = s->profile[w];
        const double left = s->target_s - p->fixed_s, work = (p->seconds - p->fixed_s) * p->mhz;
        const struct opp_table *const t = &m->opp[p->driver];
        const double mhz = left > 0 ? fmax(work / left, t->point[0].mhz) : t->point[t->count - 1].mhz;
        s->asked_mhz[p->driver] = fmax(s->asked_mhz[p->driver], mhz);
    }
}

/* Tells how far it is, and what the latest sample says. */
static void tell(const struct sustain_loop *l)
{
    const struct work_progress *const progress = l->setup->progress;
    const struct sustain_result *const r = l->result;
    if (!work_progress_due(progress))
        return;
    if (r->samples && progress->state) {
        const struct sustain_sample *const s = &r->sample[r->samples - 1];
        struct work_state state = {0, s->hottest_c, s->dram_gbps, 0};
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
            state.watts += s->watts[d];
        for (size_t i = 0; i < ARRAY_COUNT(clocked); i++)
            state.utilisation = fmax(state.utilisation, s->utilisation[clocked[i]]);
        progress->state(progress->context, &state);
    }
    work_progress_tell(progress, "sustaining", l->time_s / l->end_s, l->time_s * 1e9);
}

bool sustain_run(const struct sustain_setup *given, struct sustain_result *result, struct orch_error *error)
{
    struct sustain_setup setup = *given;
    struct sustain_loop l = {.setup = &setup, .result = result};
    bool ok;
    memset(result, 0, sizeof *result);
    result->onset_s = NAN;
    result->duty_least = 1;
    if (!sustain_check(&setup, error) || !machine_open(&l.machine, &setup, sustain_p_cores(&setup), error))
        return false;
    if (governor_policy_row(setup.policy)->asked == GOVERNOR_ASKED_BY_TARGET)
        pace(&setup, &l.machine);
    governor_init(&l.governor, &setup.device->governor, setup.policy);
    if (l.machine.gpu_control_known)
        governor_set_gpu(&l.governor, &l.machine.gpu_control);
    steering_init(&l.steering, &setup);
    battery_set(&l.battery, &setup.device->battery, setup.battery_percent);
    l.end_s = fmax(setup.duration_s, setup.end_s);
    l.tick_s = l.step_s = setup.device->governor.tick_ms * 1e-3;
    l.step_max_s = fmax(setup.step_max_s > 0 ? setup.step_max_s : 1, l.tick_s);
    l.sample_s = fmax(setup.sample_s > 0 ? setup.sample_s : l.end_s / 600, l.end_s / SAMPLES_MAX);
    l.next_sample_s = l.sample_s;
    ok = true;
    while (ok && l.time_s < l.end_s - 1e-9 && !result->battery_empty) {
        ok = one_step(&l, error);
        tell(&l);
    }
    if (ok) {
        sustain_finish(&l);
        ok = sustain_sample(&l, result->samples ? result->sample[result->samples - 1].pressure : PRESSURE_NOMINAL, 0, error);
    }
    machine_close(&l.machine);
    if (!ok)
        sustain_result_free(result);
    return ok;
}

void sustain_result_free(struct sustain_result *result)
{
    free(result->sample);
    result->sample = NULL;
    result->samples = 0;
}
