#include "sim/machine/sustain/sustain.h"

#include "isa/array_count.h"
#include "sim/machine/sustain/load.h"
#include "sim/machine/sustain/machine.h"
#include "sim/machine/sustain/steering.h"
#include "sim/machine/sustain/switching.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 100000 };
#define LONGEST_NEAR_S 0.1 /* steps near a temperature limit */

struct loop {
    const struct sustain_setup *setup;
    struct sustain_result *result;
    struct machine machine;
    struct governor governor;
    struct steering steering;
    struct battery battery;
    double time_s, end_s, tick_s, step_s, step_max_s;
    double sample_s, next_sample_s, sampled_s;
    struct sustain_sample sum; /* time-weighted since the last sample */
    double last_w;
    double last_mhz[POWER_DOMAIN_COUNT], last_pace[SUSTAIN_WORKLOADS];
    double worked_s;       /* time of the load so far */
    double tail_j, tail_s; /* of the last tenth of the load */
    size_t room;
};

static const enum power_domain clocked[] = {POWER_P_CPU, POWER_E_CPU, POWER_GPU, POWER_ANE};

static bool running(const struct loop *l)
{
    const double begin = l->setup->begin_s, end = l->setup->duration_s;
    return l->setup->profiles && l->time_s >= begin - 1e-12 && l->time_s < end - 1e-12;
}

static void demands(const struct loop *l, struct governor_demand demand[POWER_DOMAIN_COUNT])
{
    unsigned paced[POWER_DOMAIN_COUNT] = {0};

    memset(demand, 0, POWER_DOMAIN_COUNT * sizeof *demand);
    for (size_t i = 0; i < ARRAY_COUNT(clocked); i++) {
        const enum power_domain d = clocked[i];
        demand[d].table = &l->machine.opp[d];
        demand[d].limit_mhz = d == POWER_P_CPU ? l->machine.p_limit_mhz : 0;
        demand[d].asked_mhz = l->setup->asked_mhz[d];
        for (unsigned w = 0; running(l) && w < l->setup->profiles; w++) {
            const struct power_profile *const p = l->setup->profile[w];
            if (p->driver == d || p->slices[d])
                demand[d].running = 1;
            if (p->driver == d) /* the least bound of those that it paces; what waits for others does not scale either */
                demand[d].memory_bound =
                    fmin(paced[d]++ ? demand[d].memory_bound : 1,
                         1 - (1 - load_memory_bound(p, l->last_mhz[d] > 0 ? l->last_mhz[d] : p->mhz)) * l->last_pace[w]);
        }
    }
}

/* Clocks of domains that no governor steers: AMX with its P cluster, memory at its highest point while anything runs. */
static void follow_clocks(const struct loop *l, double mhz[POWER_DOMAIN_COUNT])
{
    static const enum power_domain memory[] = {POWER_SLC, POWER_FABRIC, POWER_DRAM, POWER_SOC};

    mhz[POWER_AMX] = mhz[POWER_P_CPU];
    for (size_t i = 0; i < ARRAY_COUNT(memory); i++) {
        const struct opp_table *const t = &l->machine.opp[memory[i]];
        mhz[memory[i]] = t->point[running(l) ? t->count - 1 : 0].mhz;
    }
}

static bool add_sample(struct loop *l, enum thermal_pressure pressure, double rpm, struct orch_error *error)
{
    struct sustain_result *const r = l->result;

    if (l->sampled_s <= 0)
        return true;
    if (r->samples == l->room) {
        l->room = l->room ? l->room * 2 : 1024;
        struct sustain_sample *const grown = realloc(r->sample, l->room * sizeof *grown);
        if (!grown)
            return orch_no_memory(error);
        r->sample = grown;
    }
    struct sustain_sample s = l->sum;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        s.watts[d] /= l->sampled_s;
        s.mhz[d] /= l->sampled_s;
        s.utilisation[d] /= l->sampled_s;
    }
    s.dram_gbps /= l->sampled_s * 1e9;
    s.time_s = l->time_s;
    s.mean_c = l->machine.mean_c;
    s.hottest_c = l->machine.hottest_c;
    s.case_c = machine_case_c(&l->machine);
    s.fan_rpm = rpm;
    s.pressure = pressure;
    s.battery_percent = battery_percent(&l->battery);
    double watts = 0;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        watts += s.watts[d];
    s.wall_w = battery_wall_w(&l->setup->device->battery, watts);
    r->sample[r->samples++] = s;
    memset(&l->sum, 0, sizeof l->sum);
    l->sampled_s = 0;
    return true;
}

static void account(struct loop *l, const struct load_step *step, const double mhz[POWER_DOMAIN_COUNT], double seconds)
{
    struct sustain_result *const r = l->result;
    double joules = 0;

    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        r->joules[d] += step->joules[d];
        l->sum.watts[d] += step->joules[d];
        l->sum.mhz[d] += mhz[d] * seconds;
        l->sum.utilisation[d] += step->utilisation[d] * seconds;
        joules += step->joules[d];
    }
    for (unsigned w = 0; running(l) && w < l->setup->profiles; w++) {
        r->repetitions[w] += step->repetitions[w];
        r->pace[w] += (step->pace[w] - r->pace[w]) * seconds / (l->worked_s + seconds); /* running mean */
        l->last_pace[w] = step->pace[w];
    }
    l->worked_s += running(l) ? seconds : 0;
    l->sum.dram_gbps += step->dram_bytes;
    l->sampled_s += seconds;
    l->last_w = joules / seconds;
    r->watts_peak = fmax(r->watts_peak, l->last_w);
    r->celsius_max = fmax(r->celsius_max, l->machine.hottest_c);
    if (l->time_s >= l->setup->duration_s * 0.9 && l->time_s < l->setup->duration_s) {
        l->tail_j += joules;
        l->tail_s += seconds;
    }
}

/* Steps grow while clocks and temperatures stand still, and fall back to the tick when they move or a limit is near. */
static void choose_step(struct loop *l, const struct governor_answer *answer, bool gpu_busy, double moved_k, double seconds)
{
    double change = 0;

    for (size_t i = 0; i < ARRAY_COUNT(clocked); i++) {
        const double now = answer->mhz[clocked[i]], before = l->last_mhz[clocked[i]];
        if (now > 0)
            change = fmax(change, fabs(now - before) / now);
    }
    /* Temperature may move by a quarter of a kelvin in a step, clocks by half a percent: the error that a late decision makes.
     * Where a limit decides, ten times less, and steps stay short. */
    const bool near = l->machine.hottest_c >= governor_first_limit_c(&l->governor, gpu_busy) - 1;
    const double finer = near ? 0.1 : 1;
    if (moved_k < 0.1 * finer && change < 2e-3 * finer)
        l->step_s = fmin(seconds * 2, near ? fmax(LONGEST_NEAR_S, l->tick_s) : l->step_max_s);
    else if (moved_k >= 0.25 * finer || change >= 5e-3 * finer)
        l->step_s = fmax(seconds / 4, l->tick_s);
}

static double step_length(const struct loop *l)
{
    double step = l->step_s;
    const double marks[] = {l->setup->begin_s, l->setup->duration_s, l->end_s, l->next_sample_s};

    for (size_t i = 0; i < ARRAY_COUNT(marks); i++)
        if (marks[i] > l->time_s + 1e-12)
            step = fmin(step, marks[i] - l->time_s);
    return step;
}

static bool low_power(const struct loop *l)
{
    const struct sustain_setup *const s = l->setup;
    return s->low_power ||
           (s->low_power_auto && s->on_battery && battery_percent(&l->battery) < s->device->governor.low_battery_percent);
}

/* Domains at work change their points; what that costs is taken from their time. */
static void charge_switching(struct loop *l, const struct governor_answer *answer, double seconds,
                             double duty[POWER_DOMAIN_COUNT], struct switching *s)
{
    double starts[POWER_DOMAIN_COUNT] = {0};
    unsigned works[POWER_DOMAIN_COUNT] = {0};

    *s = (struct switching){.changes = 0};
    for (unsigned w = 0; running(l) && w < l->setup->profiles; w++) {
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

static void note_answer(struct loop *l, const struct governor_answer *answer, bool saving, double seconds)
{
    struct sustain_result *const r = l->result;

    if (running(l) && answer->throttled) {
        r->throttled_s += seconds;
        if (isnan(r->onset_s))
            r->onset_s = l->time_s;
    }
    r->emergency |= answer->emergency;
    r->low_power_s += saving ? seconds : 0;
    r->steered_s += running(l) && l->steering.moved ? seconds : 0;
    memcpy(l->last_mhz, answer->mhz, sizeof l->last_mhz);
    if (running(l))
        memcpy(r->last_mhz, answer->mhz, sizeof r->last_mhz);
}

static bool one_step(struct loop *l, struct orch_error *error)
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
    load_busy(l->setup, running(l), busy);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        duty[d] = 1;
    charge_switching(l, &answer, seconds, duty, &switching);
    if (moving)
        steering_charge(&l->steering, &l->governor.params, seconds, duty);
    load_step(l->setup, &l->machine, running(l), answer.mhz, duty, l->machine.domain_c, seconds, &step);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        step.joules[d] *= 1 + switching.rail[d];
        watts[d] = step.joules[d] / seconds;
    }
    if (!machine_set_fan(&l->machine, rpm, error))
        return false;
    machine_step(&l->machine, watts, busy, seconds);
    account(l, &step, answer.mhz, seconds);
    double lasted = seconds;
    if (l->setup->on_battery && !battery_draw(&l->battery, l->last_w, seconds, &lasted))
        l->result->battery_empty = true;
    choose_step(l, &answer, demand[POWER_GPU].running > 0, fabs(l->machine.mean_c - before_k), seconds);
    note_answer(l, &answer, saving, seconds);
    l->time_s += lasted;
    l->result->steps++;
    if (l->time_s >= l->next_sample_s - 1e-12) {
        l->next_sample_s += l->sample_s;
        return add_sample(l, answer.pressure, rpm, error);
    }
    return true;
}

static bool check_setup(const struct sustain_setup *s, struct orch_error *error)
{
    if (!s->chip || !s->device)
        return orch_fail(error, ORCH_USAGE, "sustained operation needs a chip and a device");
    if (!(s->duration_s > 0) || !isfinite(s->duration_s) || s->duration_s > 1e7)
        return orch_fail(error, ORCH_USAGE, "the duration must be above 0 and at most 1e7 seconds");
    if (!(s->begin_s >= 0) || s->begin_s >= s->duration_s || !(s->end_s >= 0) || s->profiles > SUSTAIN_WORKLOADS)
        return orch_fail(error, ORCH_USAGE, "workloads must begin before the duration is over");
    if (!(s->battery_percent >= 0) || s->battery_percent > 100 || !(s->power_cap_w >= 0) || !(s->target_s >= 0))
        return orch_fail(error, ORCH_USAGE, "battery is 0 to 100 percent; power cap and target must not be negative");
    if (s->policy == GOVERNOR_PACE && !(s->target_s > 0))
        return orch_fail(error, ORCH_USAGE, "policy pace needs a target time");
    return true;
}

static unsigned active_p_cores(const struct sustain_setup *s)
{
    unsigned all = 0;

    for (unsigned w = 0; w < s->profiles; w++)
        all += s->profile[w]->slices[POWER_P_CPU];
    return all ? all : 1;
}

/* PACE: the lowest clock of every driver at which its workloads, each by itself, still meet the target. */
static void pace(struct sustain_setup *s, const struct machine *m)
{
    for (unsigned w = 0; s->policy == GOVERNOR_PACE && w < s->profiles; w++)
        s->asked_mhz[s->profile[w]->driver] = 0;
    for (unsigned w = 0; s->policy == GOVERNOR_PACE && w < s->profiles; w++) {
        const struct power_profile *const p = s->profile[w];
        const double left = s->target_s - p->fixed_s, work = (p->seconds - p->fixed_s) * p->mhz;
        const struct opp_table *const t = &m->opp[p->driver];
        const double mhz = left > 0 ? fmax(work / left, t->point[0].mhz) : t->point[t->count - 1].mhz;
        s->asked_mhz[p->driver] = fmax(s->asked_mhz[p->driver], mhz);
    }
}

static void finish(struct loop *l)
{
    struct sustain_result *const r = l->result;
    const struct thermal_balance e = machine_balance(&l->machine);
    const double watts = l->tail_s > 0 ? l->tail_j / l->tail_s : l->last_w;
    const double dies = l->machine.floorplan.dies;

    r->seconds = l->time_s;
    r->heat_in_j = e.in_j * dies;
    r->heat_out_j = e.out_j * dies;
    r->heat_stored_j = e.stored_j * dies;
    r->hours_left = battery_hours_left(&l->battery, watts);
    r->wall_w = battery_wall_w(&l->setup->device->battery, watts);
}

bool sustain_run(const struct sustain_setup *given, struct sustain_result *result, struct orch_error *error)
{
    struct sustain_setup setup = *given;
    struct loop l = {.setup = &setup, .result = result};
    bool ok;

    memset(result, 0, sizeof *result);
    result->onset_s = NAN;
    result->duty_least = 1;
    if (!check_setup(&setup, error) || !machine_open(&l.machine, &setup, active_p_cores(&setup), error))
        return false;
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
    while (ok && l.time_s < l.end_s - 1e-9 && !result->battery_empty)
        ok = one_step(&l, error);
    if (ok) {
        finish(&l);
        ok = add_sample(&l, result->samples ? result->sample[result->samples - 1].pressure : PRESSURE_NOMINAL, 0, error);
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

/* ---- the highest clocks for good ---- */

static double top_mhz(const struct machine *m, enum power_domain d)
{
    const double last = m->opp[d].point[m->opp[d].count - 1].mhz;
    return d == POWER_P_CPU ? fmin(last, m->p_limit_mhz) : last;
}

/* All that paces something at this share of its range, the rest at the top. */
static void clocks_at(const struct sustain_setup *setup, const struct machine *m, double share, double clocks[POWER_DOMAIN_COUNT])
{
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        clocks[d] = top_mhz(m, d);
    for (unsigned w = 0; w < setup->profiles; w++) {
        const enum power_domain d = setup->profile[w]->driver;
        const double lowest = m->opp[d].point[0].mhz;
        clocks[d] = lowest + share * (top_mhz(m, d) - lowest);
    }
    clocks[POWER_AMX] = clocks[POWER_P_CPU];
}

/* Mean die temperature for good at clocks: leakage and temperature are iterated until they agree. INFINITY: thermal runaway. */
static double steady_c(const struct sustain_setup *setup, struct machine *m, double share)
{
    double clocks[POWER_DOMAIN_COUNT], celsius[POWER_DOMAIN_COUNT], watts[POWER_DOMAIN_COUNT], mean = 0;
    struct load_step step;
    unsigned busy[POWER_DOMAIN_COUNT];

    load_busy(setup, true, busy);
    clocks_at(setup, m, share, clocks);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        celsius[d] = 60;
    for (int i = 0; i < 60; i++) {
        const double before = mean;
        load_step(setup, m, true, clocks, NULL, celsius, 1, &step);
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
            watts[d] = step.joules[d];
        mean = machine_steady_mean_c(m, watts, busy, celsius);
        if (mean > 400)
            return INFINITY;
        if (fabs(mean - before) < 1e-6)
            break;
    }
    return mean;
}

static double safe_target_c(const struct sustain_setup *setup)
{
    const struct governor_params *const g = &setup->device->governor;
    bool gpu = false;

    for (unsigned w = 0; w < setup->profiles; w++)
        gpu |= setup->profile[w]->driver == POWER_GPU;
    return (gpu ? g->target_gpu_c : g->target_c) - g->band_k;
}

bool sustain_safe_clocks(const struct sustain_setup *setup, double mhz[POWER_DOMAIN_COUNT], struct orch_error *error)
{
    struct machine m;
    double clocks[POWER_DOMAIN_COUNT], low = 0, high = 1;

    if (!check_setup(setup, error))
        return false;
    if (setup->profiles == 0)
        return orch_fail(error, ORCH_USAGE, "thermal-safe needs a workload");
    if (!machine_open(&m, setup, active_p_cores(setup), error))
        return false;
    const struct thermal_device *const cooling = &setup->device->thermal;
    const double target = safe_target_c(setup);
    const bool ok = machine_set_fan(&m, cooling->fan_points ? cooling->fan[cooling->fan_points - 1].rpm : 0, error);
    if (ok && steady_c(setup, &m, high) > target) {
        for (int i = 0; i < 40; i++) {
            const double middle = (low + high) / 2;
            if (steady_c(setup, &m, middle) > target)
                high = middle;
            else
                low = middle;
        }
        high = low;
    }
    clocks_at(setup, &m, high, clocks);
    for (unsigned w = 0; ok && w < setup->profiles; w++)
        mhz[setup->profile[w]->driver] = clocks[setup->profile[w]->driver];
    machine_close(&m);
    return ok;
}

bool sustain_safe_mhz(const struct sustain_setup *setup, double *mhz, struct orch_error *error)
{
    double clocks[POWER_DOMAIN_COUNT];

    if (!sustain_safe_clocks(setup, clocks, error))
        return false;
    *mhz = clocks[setup->profile[0]->driver];
    return true;
}
