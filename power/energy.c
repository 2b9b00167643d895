#include "power/energy.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

const char *power_domain_name(enum power_domain domain)
{
    static const char *const names[] = {
#define X(enumerator, name, text) #name,
        POWER_DOMAIN_TABLE(X)
#undef X
    };
    return domain < POWER_DOMAIN_COUNT ? names[domain] : NULL;
}

double power_energy_sum(const struct power_energy *e)
{
    return e->dynamic_j + e->clock_j + e->leakage_j + e->wake_j;
}

/* The domain where an event burns: the one that reports it, or one of its own. */
static enum power_domain domain_of(enum activity_event event, enum power_domain from)
{
    if (event >= ACT_AMX_INSTRUCTIONS && event <= ACT_AMX_STORE_BYTES)
        return POWER_AMX;
    switch (event) {
    case ACT_SLC_READ_BYTES:
    case ACT_SLC_WRITE_BYTES: return POWER_SLC;
    case ACT_DRAM_READ_BYTES:
    case ACT_DRAM_WRITE_BYTES:
    case ACT_DRAM_ACTIVATES:
    case ACT_DRAM_REFRESHES: return POWER_DRAM;
    default: return from;
    }
}

static bool crosses_fabric(enum activity_event event)
{
    return event >= ACT_SLC_READ_BYTES && event <= ACT_DRAM_WRITE_BYTES;
}

void power_price(const struct power_params *params, const struct activity *activity, enum power_domain from,
                 double event_j[POWER_DOMAIN_COUNT])
{
    double fabric_bytes = 0;

    for (enum activity_event event = 0; event < ACT_COUNT; event++) {
        const enum power_domain domain = domain_of(event, from);
        const double count = (double)activity->count[event];
        const double scale = domain == POWER_E_CPU ? params->e_core_energy : 1;
        event_j[domain] += count * params->event_pj[event] * scale * 1e-12;
        if (crosses_fabric(event))
            fabric_bytes += count;
    }
    event_j[POWER_FABRIC] += fabric_bytes * params->fabric_pj_per_byte * 1e-12;
}

/* The leakage of one ungated slice, W. */
static double power_leakage_w(const struct power_params *params, enum power_domain domain, double volts, double celsius)
{
    const struct power_domain_params *const d = &params->domain[domain];

    if (d->leakage_w == 0 || volts <= 0)
        return 0;
    return d->leakage_w * pow(volts / d->volts, params->leakage_volt_exponent) *
           exp(params->leakage_per_k * (celsius - params->leakage_reference_c));
}

struct power_energy power_interval(const struct power_params *params, enum power_domain domain, const struct power_use *use,
                                   const struct power_point *point)
{
    const struct power_domain_params *const d = &params->domain[domain];
    const double square = point->volts * point->volts, hz = point->mhz * 1e6;
    const double nominal = d->volts > 0 ? square / (d->volts * d->volts) : 1;
    const double slice_s = use->running_s + d->idle_fraction * use->waiting_s;
    const double shared_s = use->any_running_s + d->idle_fraction * use->any_waiting_s;
    const double leaking_s = use->running_s + use->waiting_s + d->gated_fraction * use->gated_s;

    return (struct power_energy){
        .dynamic_j = use->event_j * nominal,
        .clock_j = (d->clock_nf * slice_s + d->shared_nf * shared_s) * 1e-9 * square * hz,
        .leakage_j = leaking_s * power_leakage_w(params, domain, point->volts, point->celsius),
        .wake_j = use->wakes * d->wake_uj * 1e-6,
    };
}
