/* What it costs to change operating points: the domain works at the slower of the two clocks, at the higher of the two voltages,
 * until the target's transition is over, and stands still for a part of that.
 */
#ifndef ORCHARD_SIM_MACHINE_SUSTAIN_SWITCHING_H
#define ORCHARD_SIM_MACHINE_SUSTAIN_SWITCHING_H

#include "sim/machine/sustain/sustain.h"

struct switching {
    double lost[POWER_DOMAIN_COUNT]; /* share of the time in which the domain does nothing, all told */
    double rail[POWER_DOMAIN_COUNT]; /* energy of the domain on top of its own, relative: its rail is up early and down late */
    double changes;                  /* of all domains */
};
/* A domain goes from one mean clock to another, then holds it for `seconds`, alternating between the points around it; `starts`
 * times it comes from its lowest point, having waited. */
void switching_add(struct switching *s, enum power_domain domain, const struct opp_table *table,
                   const struct governor_params *params, double from_mhz, double to_mhz, double starts, double seconds);

#endif
