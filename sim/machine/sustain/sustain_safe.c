/* Finds the highest clocks that a machine can hold for ever. */
#include "sim/machine/sustain/sustain_internal.h"

#include <math.h>

static double top_mhz(const struct machine *m, enum power_domain d)
{
    const double last = m->opp[d].point[m->opp[d].count - 1].mhz;
    return d == POWER_P_CPU ? fmin(last, m->p_limit_mhz) : last;
}

/* Sets the domains that pace something to a share of their range and all others to the top. */
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

/* Mean die temperature in the end at these clocks; leakage and temperature are iterated until they agree. INFINITY for thermal
 * runaway. */
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
    if (!sustain_check(setup, error))
        return false;
    if (setup->profiles == 0)
        return orch_fail(error, ORCH_USAGE, "thermal-safe needs a workload");
    if (!machine_open(&m, setup, sustain_p_cores(setup), error))
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
