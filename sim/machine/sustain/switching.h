/* The cost of changing operating points. Until the transition to the target is over, the domain works at the slower of the two
 * clocks and the higher of the two voltages, and for a part of that time it stands still. */
#ifndef ORCHARD_SIM_MACHINE_SUSTAIN_SWITCHING_H
#define ORCHARD_SIM_MACHINE_SUSTAIN_SWITCHING_H

#include "sim/machine/sustain/sustain.h"

struct switching {
    double lost[POWER_DOMAIN_COUNT]; /* share of the time in which the domain does nothing, all costs together */
    double rail[POWER_DOMAIN_COUNT]; /* additional energy of the domain, relative: its rail rises early and falls late */
    double changes;                  /* changes of all domains */
};
/* A domain goes from one mean clock to another and holds it for `seconds`, alternating between the points around it. It starts
 * `starts` times from its lowest point, after having waited. */
void switching_add(struct switching *s, enum power_domain domain, const struct opp_table *table,
                   const struct governor_params *params, double from_mhz, double to_mhz, double starts, double seconds);

#endif
