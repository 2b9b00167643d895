#include "sim/machine/sustain/steering.h"

#include <math.h>
#include <string.h>

void steering_init(struct steering *s, struct sustain_setup *setup)
{
    *s = (struct steering){.setup = setup, .since_s = -INFINITY};
    memcpy(s->here, setup->profile, sizeof s->here);
}

static bool wanted(const struct steering *s, const struct governor *g, bool low_power)
{
    switch (s->setup->steering) {
    case STEER_HOT: /* back only when the P cores would get their full clock */
        return s->moved ? g->temperature_share < 1 || g->sensor_share < 1
                        : fmin(g->temperature_share, g->sensor_share) < g->params.steer_share;
    case STEER_LOW_POWER: return low_power;
    case STEER_ALWAYS: return true;
    default: return false;
    }
}

bool steering_decide(struct steering *s, const struct governor *g, bool low_power, double time_s)
{
    bool any = false;
    if (s->setup->steering == STEER_NEVER || wanted(s, g, low_power) == s->moved || time_s < s->since_s + g->params.steer_hold_s)
        return false;
    for (unsigned w = 0; w < s->setup->profiles; w++) {
        const struct power_profile *const there = s->setup->moved[w];
        if (there)
            s->setup->profile[w] = s->moved ? s->here[w] : there;
        any |= there != NULL;
    }
    if (any) {
        s->moved = !s->moved;
        s->since_s = time_s;
    }
    return any;
}

void steering_charge(const struct steering *s, const struct governor_params *params, double seconds,
                     double duty[POWER_DOMAIN_COUNT])
{
    for (unsigned w = 0; w < s->setup->profiles; w++)
        if (s->setup->moved[w])
            duty[s->setup->profile[w]->driver] *= fmax(0, 1 - params->steer_us * 1e-6 / seconds);
}
