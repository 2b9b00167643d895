/* Moves work from the P cores to the E cores and back: background work, and what comes before and after the work of another unit.
 * Only workloads that have a profile for both kinds of cores can move. */
#ifndef ORCHARD_SIM_MACHINE_SUSTAIN_STEERING_H
#define ORCHARD_SIM_MACHINE_SUSTAIN_STEERING_H

#include "sim/machine/sustain/sustain.h"

struct steering {
    struct sustain_setup *setup; /* its profiles are exchanged */
    const struct power_profile *here[SUSTAIN_WORKLOADS];
    double since_s;
    bool moved;
};

void steering_init(struct steering *steering, struct sustain_setup *setup);
/* Called before the governor decides; the governor knows how the P cores fared last time. Returns whether work moved, there or
 * back. */
bool steering_decide(struct steering *steering, const struct governor *governor, bool low_power, double time_s);
/* A move takes its time from the work of the cores in this step. */
void steering_charge(const struct steering *steering, const struct governor_params *params, double seconds,
                     double duty[POWER_DOMAIN_COUNT]);

#endif
