#include "sim/sustain/load.h"

#include <math.h>
#include <string.h>

void load_busy(const struct sustain_setup *setup, bool running, unsigned busy[POWER_DOMAIN_COUNT])
{
    memset(busy, 0, POWER_DOMAIN_COUNT * sizeof *busy);
    for (unsigned w = 0; running && w < setup->profiles; w++)
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
            busy[d] += setup->profile[w]->slices[d];
}

/* Work that starts at fixed times, and work that repeats without a pause. */
static bool has_starts(const struct sustain_setup *setup)
{
    return setup->target_s > 0 && (setup->policy == GOVERNOR_RACE_TO_IDLE || setup->policy == GOVERNOR_PACE);
}

double load_duty(const struct sustain_setup *setup, unsigned workload, double mhz)
{
    const double needed = power_profile_seconds(setup->profile[workload], mhz);
    return has_starts(setup) && needed < setup->target_s ? needed / setup->target_s : 1;
}

double load_memory_bound(const struct power_profile *profile, double mhz)
{
    return profile->fixed_s / power_profile_seconds(profile, mhz);
}

/* Domains that are never gated: memory answers whenever anybody asks. */
static bool always_on(enum power_domain domain)
{
    return domain == POWER_SLC || domain == POWER_FABRIC || domain == POWER_DRAM || domain == POWER_SOC;
}

static void add_workload(const struct sustain_setup *setup, const struct machine *m, unsigned w, const double mhz[POWER_DOMAIN_COUNT],
                         double seconds, struct power_use use[POWER_DOMAIN_COUNT], struct load_step *step)
{
    const struct power_profile *const p = setup->profile[w];
    const double once = power_profile_seconds(p, mhz[p->driver]), duty = load_duty(setup, w, mhz[p->driver]);
    const double repetitions = seconds * duty / once, share = seconds * duty / p->seconds;

    step->repetitions[w] = repetitions;
    step->dram_bytes += p->dram_bytes * repetitions;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        use[d].event_j += p->event_j[d] * repetitions;
        use[d].running_s += fmin(p->running_s[d] * share, (double)m->slices[d] * seconds);
        use[d].waiting_s += p->waiting_s[d] * share;
        use[d].any_running_s = fmax(use[d].any_running_s, p->shared_running_s[d] * share);
        use[d].any_waiting_s = fmax(use[d].any_waiting_s, p->shared_waiting_s[d] * share);
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
               const double celsius[POWER_DOMAIN_COUNT], double seconds, struct load_step *step)
{
    struct power_use use[POWER_DOMAIN_COUNT] = {{0}};

    memset(step, 0, sizeof *step);
    for (unsigned w = 0; running && w < setup->profiles; w++)
        add_workload(setup, m, w, mhz, seconds, use, step);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        finish_use(m, d, seconds, &use[d]);
        const struct power_point point = {opp_volts(&m->opp[d], mhz[d]), mhz[d], celsius[d]};
        const struct power_energy e = power_interval(&m->power, d, &use[d], &point);
        step->joules[d] = power_energy_sum(&e);
        step->utilisation[d] = use[d].running_s / (m->slices[d] * seconds);
    }
}
