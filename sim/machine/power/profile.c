#include "sim/machine/power/profile.h"

double power_profile_seconds(const struct power_profile *profile, double mhz)
{
    return profile->fixed_s + (profile->seconds - profile->fixed_s) * profile->mhz / mhz;
}

void power_profile_add(struct power_profile *to, const struct power_profile *p, double times, double stretch)
{
    to->seconds += times * stretch * p->seconds;
    to->flops += times * p->flops;
    to->dram_bytes += times * p->dram_bytes;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        to->slices[d] = p->slices[d] > to->slices[d] ? p->slices[d] : to->slices[d];
        to->running_s[d] += times * stretch * p->running_s[d];
        to->waiting_s[d] += times * stretch * p->waiting_s[d];
        to->shared_running_s[d] += times * stretch * p->shared_running_s[d];
        to->shared_waiting_s[d] += times * stretch * p->shared_waiting_s[d];
        to->event_j[d] += times * p->event_j[d];
    }
}
