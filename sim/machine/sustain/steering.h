/* Work that goes from the P cores to the E cores and back: background work, and what comes before and after the work of another
 * unit. Only workloads with a profile of both kinds of cores can move.
 */
#ifndef ORCHARD_SIM_MACHINE_SUSTAIN_STEERING_H
#define ORCHARD_SIM_MACHINE_SUSTAIN_STEERING_H

#include "sim/machine/sustain/sustain.h"

struct steering {
    struct sustain_setup *setup; /* of which profiles are exchanged */
    const struct power_profile *here[SUSTAIN_WORKLOADS];
    double since_s;
    bool moved;
};

void steering_init(struct steering *steering, struct sustain_setup *setup);
/* Before the governor's decision, which tells how the P cores fared last time. True: moved, or moved back. */
bool steering_decide(struct steering *steering, const struct governor *governor, bool low_power, double time_s);
/* A move takes its time from what the cores do in the step. */
void steering_charge(const struct steering *steering, const struct governor_params *params, double seconds,
                     double duty[POWER_DOMAIN_COUNT]);

#endif
