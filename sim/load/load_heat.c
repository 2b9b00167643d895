#include "sim/load/load_heat.h"

#include "isa/array_count.h"
#include "sim/load/load.h"
#include "sim/machine/sustain/load.h"
#include "sim/machine/sustain/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Die temperatures move by less than a kelvin in this time, and machines' governors decide slowly compared with it. */
#define STEP_S 0.25

static const enum power_domain clocked[] = {POWER_P_CPU, POWER_E_CPU, POWER_GPU, POWER_ANE};
static const enum power_domain memory[] = {POWER_SLC, POWER_FABRIC, POWER_DRAM, POWER_SOC};

struct load_heat {
    struct load_heat_setup setup;
    struct sustain_setup machine_setup;
    struct machine machine;
    struct governor governor;
    struct battery battery;
    double mhz[POWER_DOMAIN_COUNT];
    struct power_profile work;                                      /* of this step, all together */
    bool used[POWER_DOMAIN_COUNT];                                  /* so far */
    double bound[POWER_DOMAIN_COUNT], driven_s[POWER_DOMAIN_COUNT]; /* seconds that a domain paced; of them fixed */
    double time_s, last_w;
    double read_j, read_s; /* since the last window */
    struct load_heat_summary sum;
};

/* The clocks that the governor gives when so much runs. */
static void decide(struct load_heat *h, double seconds)
{
    struct governor_demand demand[POWER_DOMAIN_COUNT] = {{0}};
    struct governor_answer answer;
    const struct governor_sensors sensors = {h->machine.mean_c, h->machine.hottest_c, h->last_w, h->machine.gpu_c};
    const struct governor_limits limits = {h->setup.power_cap_w, h->setup.low_power};
    for (size_t i = 0; i < ARRAY_COUNT(clocked); i++) {
        const enum power_domain d = clocked[i];
        demand[d].table = &h->machine.opp[d];
        demand[d].limit_mhz = d == POWER_P_CPU ? h->machine.p_limit_mhz : 0;
        demand[d].running = h->used[d] || h->time_s <= 0 ? 1 : 0;
        demand[d].memory_bound = h->driven_s[d] > 0 ? h->bound[d] / h->driven_s[d] : 0;
    }
    governor_tick(&h->governor, seconds, demand, &sensors, &limits, &answer);
    for (size_t i = 0; i < ARRAY_COUNT(clocked); i++) {
        /* Domains that had nothing to do yet will begin at their limit. */
        const enum power_domain d = clocked[i];
        const struct opp_table *const t = &h->machine.opp[d];
        h->mhz[d] = demand[d].running > 0 ? answer.mhz[d]
                    : d == POWER_P_CPU    ? h->machine.p_limit_mhz
                                          : t->point[t->count - 1].mhz;
        h->mhz[d] *= demand[d].running > 0 ? answer.duty[d] : 1;
    }
    h->mhz[POWER_AMX] = h->mhz[POWER_P_CPU];
    h->sum.pressure = answer.pressure;
    if (answer.throttled && h->time_s > 0) {
        h->sum.throttled_s += seconds;
        if (isnan(h->sum.onset_s))
            h->sum.onset_s = h->time_s;
    }
}

struct load_heat *load_heat_open(const struct load_heat_setup *setup, struct orch_error *error)
{
    struct load_heat *const h = calloc(1, sizeof *h);
    if (!h) {
        orch_no_memory(error);
        return NULL;
    }
    h->setup = *setup;
    h->sum.onset_s = NAN;
    h->machine_setup = (struct sustain_setup){.chip = setup->chip,
                                              .device = setup->device,
                                              .ambient_c = setup->ambient_c,
                                              .start_c = NAN,
                                              .policy = setup->policy,
                                              .low_power = setup->low_power};
    if (!machine_open(&h->machine, &h->machine_setup, setup->p_cores ? setup->p_cores : 1, error)) {
        free(h);
        return NULL;
    }
    governor_init(&h->governor, &setup->device->governor, setup->policy);
    if (h->machine.gpu_control_known)
        governor_set_gpu(&h->governor, &h->machine.gpu_control);
    battery_set(&h->battery, &setup->device->battery, isnan(setup->battery_percent) ? 100 : setup->battery_percent);
    decide(h, setup->device->governor.tick_ms * 1e-3);
    return h;
}

void load_heat_close(struct load_heat *h)
{
    if (!h)
        return;
    machine_close(&h->machine);
    free(h);
}

double load_heat_mhz(const struct load_heat *h, enum power_domain domain)
{
    return h->mhz[domain];
}

double load_heat_step_s(const struct load_heat *h)
{
    return fmax(STEP_S, h->setup.device->governor.tick_ms * 1e-3);
}

void load_heat_add(struct load_heat *h, const struct power_profile *p, double repetitions)
{
    const double once = power_profile_seconds(p, h->mhz[p->driver]), stretch = p->seconds > 0 ? once / p->seconds : 1;
    power_profile_add(&h->work, p, repetitions, stretch);
    h->driven_s[p->driver] += repetitions * once;
    h->bound[p->driver] += repetitions * p->fixed_s;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        h->used[d] |= p->slices[d] > 0;
}

/* Joules of a part of the step, with work or without. */
static void add_joules(struct load_heat *h, bool working, double seconds, double joules[POWER_DOMAIN_COUNT])
{
    struct load_step step;
    if (seconds <= 0)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(memory); i++) {
        const struct opp_table *const t = &h->machine.opp[memory[i]];
        h->mhz[memory[i]] = t->point[working ? t->count - 1 : 0].mhz;
    }
    h->work.driver = POWER_GPU;
    h->work.seconds = seconds; /* at the clocks of this step, so that it is one repetition of all that was done */
    h->work.mhz = h->mhz[POWER_GPU];
    h->work.fixed_s = 0;
    h->machine_setup.profile[0] = &h->work;
    h->machine_setup.profiles = working ? 1 : 0;
    load_step(&h->machine_setup, &h->machine, working, h->mhz, NULL, h->machine.domain_c, seconds, &step);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        joules[d] += step.joules[d];
}

bool load_heat_step(struct load_heat *h, double seconds, struct orch_error *error)
{
    double joules[POWER_DOMAIN_COUNT] = {0}, watts[POWER_DOMAIN_COUNT], all = 0, lasted = seconds;
    if (seconds <= 0)
        return true;
    const double worked = fmin(h->work.seconds, seconds);
    add_joules(h, true, worked, joules);
    add_joules(h, false, seconds - worked, joules);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        watts[d] = joules[d] / seconds;
        h->sum.joules[d] += joules[d];
        all += joules[d];
    }
    if (!machine_set_fan(&h->machine, thermal_device_fan_rpm(&h->setup.device->thermal, h->machine.mean_c), error))
        return false;
    machine_step(&h->machine, watts, h->work.slices, seconds);
    h->last_w = all / seconds;
    h->read_j += all;
    h->read_s += seconds;
    h->sum.watts_peak = fmax(h->sum.watts_peak, h->last_w);
    h->sum.celsius_max = fmax(h->sum.celsius_max, h->machine.hottest_c);
    h->time_s += seconds;
    if (!isnan(h->setup.battery_percent) && !battery_draw(&h->battery, h->last_w, seconds, &lasted))
        h->sum.battery_empty = true;
    decide(h, seconds);
    memset(&h->work, 0, sizeof h->work);
    memset(h->bound, 0, sizeof h->bound);
    memset(h->driven_s, 0, sizeof h->driven_s);
    return true;
}

double load_heat_joules(const struct load_heat *h)
{
    double all = 0;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        all += h->sum.joules[d];
    return all;
}

void load_heat_read(struct load_heat *h, struct load_window *w)
{
    double share = 1;
    for (size_t i = 0; i < ARRAY_COUNT(clocked); i++) {
        const struct opp_table *const t = &h->machine.opp[clocked[i]];
        const double limit = clocked[i] == POWER_P_CPU ? h->machine.p_limit_mhz : t->point[t->count - 1].mhz;
        if (limit > 0)
            share = fmin(share, h->mhz[clocked[i]] / limit);
    }
    w->watts = h->read_s > 0 ? h->read_j / h->read_s : NAN;
    w->celsius = h->machine.mean_c;
    w->clock_share = share;
    h->read_j = h->read_s = 0;
}

struct load_heat_summary load_heat_summary(const struct load_heat *h)
{
    struct load_heat_summary s = h->sum;
    const double watts = h->time_s > 0 ? load_heat_joules(h) / h->time_s : 0;
    s.celsius_last = h->machine.mean_c;
    s.wall_w = battery_wall_w(&h->setup.device->battery, watts);
    s.battery_hours = h->setup.device->battery.capacity_wh > 0 ? battery_hours_left(&h->battery, watts) : NAN;
    return s;
}
