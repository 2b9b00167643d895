#include "sim/machine/sustain/load.h"

#include <math.h>
#include <string.h>

/* ---- sharing ---- */

/* Sets the capacities of the resources at these clocks. */
static void set_resources(const struct sustain_sharing *s, const double mhz[POWER_DOMAIN_COUNT], struct fair_resource *resource)
{
    for (unsigned j = 0; j < s->resources; j++) {
        const enum power_domain d = s->clocked_by[j];
        resource[j] = s->resource[j];
        if (d < POWER_DOMAIN_COUNT && s->mhz[d] > 0)
            resource[j].capacity_gbps *= mhz[d] / s->mhz[d];
    }
}

/* The share of its speed alone, at these clocks, that sharing leaves each workload. */
static void load_paces(const struct sustain_setup *setup, const double mhz[POWER_DOMAIN_COUNT], double pace[SUSTAIN_WORKLOADS])
{
    const struct sustain_sharing *const s = setup->sharing;
    struct fair_resource resource[FAIR_RESOURCES_MAX];
    double load[SUSTAIN_WORKLOADS][FAIR_RESOURCES_MAX];
    struct fair_flow flow[SUSTAIN_WORKLOADS] = {{0}};
    struct fair_rate rate[SUSTAIN_WORKLOADS];
    unsigned of[SUSTAIN_WORKLOADS], count = 0;
    for (unsigned w = 0; w < setup->profiles; w++)
        pace[w] = 1;
    if (!s || setup->profiles < 2)
        return;
    set_resources(s, mhz, resource);
    for (unsigned w = 0; w < setup->profiles; w++) {
        const struct sustain_demand *const d = &s->demand[w];
        const double once = power_profile_seconds(setup->profile[w], mhz[setup->profile[w]->driver]);
        double most = 0;
        for (unsigned j = 0; j < s->resources; j++)
            most = fmax(most, d->bytes[j]);
        if (most <= 0)
            continue;
        for (unsigned j = 0; j < s->resources; j++)
            load[count][j] = d->bytes[j] / most;
        flow[count] = (struct fair_flow){most / (once * 1e9) * load_duty(setup, w, mhz[setup->profile[w]->driver], 1),
                                         load[count],
                                         d->weight,
                                         d->priority,
                                         d->latency_ns,
                                         d->requesters};
        of[count++] = w;
    }
    fair_share(resource, s->resources, flow, count, rate);
    for (unsigned k = 0; k < count; k++)
        pace[of[k]] = fmin(1, rate[k].gbps / flow[k].demand_gbps);
}

/* ---- work ---- */

void load_busy(const struct sustain_setup *setup, bool running, unsigned busy[POWER_DOMAIN_COUNT])
{
    memset(busy, 0, POWER_DOMAIN_COUNT * sizeof *busy);
    for (unsigned w = 0; running && w < setup->profiles; w++)
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
            busy[d] += setup->profile[w]->slices[d];
}

/* Whether work starts at fixed times instead of repeating without a pause. */
static bool has_starts(const struct sustain_setup *setup)
{
    return setup->target_s > 0 && governor_policy_row(setup->policy)->kind == GOVERNOR_TIMED;
}

double load_duty(const struct sustain_setup *setup, unsigned workload, double mhz, double pace)
{
    const double needed = power_profile_seconds(setup->profile[workload], mhz) / pace;
    return has_starts(setup) && needed < setup->target_s ? needed / setup->target_s : 1;
}

double load_memory_bound(const struct power_profile *profile, double mhz)
{
    return profile->fixed_s / power_profile_seconds(profile, mhz);
}

/* Domains that are never gated: memory has to answer at any time. */
static bool always_on(enum power_domain domain)
{
    return domain == POWER_SLC || domain == POWER_FABRIC || domain == POWER_DRAM || domain == POWER_SOC;
}

static void add_workload(const struct sustain_setup *setup, const struct machine *m, unsigned w,
                         const double mhz[POWER_DOMAIN_COUNT], const double *domain_duty, double seconds,
                         struct power_use use[POWER_DOMAIN_COUNT], struct load_step *step)
{
    const struct power_profile *const p = setup->profile[w];
    const double may = domain_duty ? domain_duty[p->driver] : 1;
    const double once = power_profile_seconds(p, mhz[p->driver]) / step->pace[w];
    const double duty = fmin(load_duty(setup, w, mhz[p->driver], step->pace[w]), may);
    const double repetitions = seconds * duty / once, share = seconds * duty / p->seconds;
    step->repetitions[w] = repetitions;
    step->dram_bytes += p->dram_bytes * repetitions;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        const double at_work =
            p->running_s[d] * share * (always_on(d) ? step->pace[w] : 1); /* memory works only while data move */
        use[d].event_j += p->event_j[d] * (p->own_mhz[d] > 0 ? share * step->pace[w] * mhz[d] / p->own_mhz[d] : repetitions);
        use[d].running_s += fmin(at_work, (double)m->slices[d] * seconds);
        use[d].waiting_s +=
            p->waiting_s[d] * share + (1 - may) * p->slices[d] * seconds; /* the pauses are too short for gating */
        use[d].any_running_s = fmax(use[d].any_running_s, p->shared_running_s[d] * share);
        use[d].any_waiting_s =
            fmax(use[d].any_waiting_s, p->shared_waiting_s[d] * share + (p->slices[d] ? (1 - may) * seconds : 0));
    }
}

static void finish_use(const struct machine *m, enum power_domain d, double seconds, struct power_use *use)
{
    const double all = m->slices[d] * seconds;
    use->seconds = seconds;
    use->running_s = fmin(use->running_s, all);
    if (always_on(d))
        use->waiting_s = all - use->running_s;
    use->waiting_s = fmin(use->waiting_s, all - use->running_s);
    use->gated_s = all - use->running_s - use->waiting_s;
    if (always_on(d))
        use->any_waiting_s = seconds - fmin(use->any_running_s, seconds);
}

void load_step(const struct sustain_setup *setup, const struct machine *m, bool running, const double mhz[POWER_DOMAIN_COUNT],
               const double *duty, const double celsius[POWER_DOMAIN_COUNT], double seconds, struct load_step *step)
{
    struct power_use use[POWER_DOMAIN_COUNT] = {{0}};
    memset(step, 0, sizeof *step);
    load_paces(setup, mhz, step->pace);
    for (unsigned w = 0; running && w < setup->profiles; w++)
        add_workload(setup, m, w, mhz, duty, seconds, use, step);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        finish_use(m, d, seconds, &use[d]);
        const struct power_point point = {opp_volts(&m->opp[d], mhz[d]), mhz[d], celsius[d]};
        const struct power_energy e = power_interval(&m->power, d, &use[d], &point);
        step->joules[d] = power_energy_sum(&e);
        step->utilisation[d] = use[d].running_s / (m->slices[d] * seconds);
    }
}
