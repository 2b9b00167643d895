/* Operating points: the clocks a domain can run at, with the voltage that each one needs. */
#ifndef ORCHARD_POWER_OPP_H
#define ORCHARD_POWER_OPP_H

#include "power/power_error.h"

#include <stdbool.h>
#include <stddef.h>

#define OPP_MAX 32

struct opp {
    double mhz, volts;
    double switch_us;    /* transition to this point */
    bool volts_supposed; /* not published: from the shape of a sibling */
};
/* Points in rising order of their clock. */
struct opp_table {
    struct opp point[OPP_MAX];
    size_t count;
};

/* Clocks rise, voltages are positive and do not fall. */
bool opp_check(const struct opp_table *table, const char *name, struct power_error *error);
/* Index of the highest point at or below mhz; 0 when all are above. */
size_t opp_at_most(const struct opp_table *table, double mhz);
/* Voltage at any clock: straight lines between points, the end points beyond them. */
double opp_volts(const struct opp_table *table, double mhz);
/* Fills voltages that are 0 with the shape of `model`: same voltage at the same share of the highest clock, and marks them. */
void opp_suppose_volts(struct opp_table *table, const struct opp_table *model);

#endif
