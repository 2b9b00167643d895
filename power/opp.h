/* Operating points: the clocks at which a domain can run, with the voltage that each needs. */
#ifndef ORCHARD_POWER_OPP_H
#define ORCHARD_POWER_OPP_H

#include "power/power_error.h"

#include <stdbool.h>
#include <stddef.h>

#define OPP_MAX 32

struct opp {
    double mhz, volts;
    double switch_us;    /* time of the transition to this point */
    bool volts_supposed; /* the voltage is not published, but supposed from a sibling */
};
/* Points in ascending order of their clock. */
struct opp_table {
    struct opp point[OPP_MAX];
    size_t count;
};

/* Checks that clocks rise, and that voltages are positive and do not fall. */
bool opp_check(const struct opp_table *table, const char *name, struct power_error *error);
/* The index of the highest point at or below mhz; 0 when all are above it. */
size_t opp_at_most(const struct opp_table *table, double mhz);
/* The voltage at any clock: straight lines between points, and the end points beyond them. */
double opp_volts(const struct opp_table *table, double mhz);
/* Fills in and marks voltages that are 0, with the shape of `model`: the same voltage at the same share of the highest clock. */
void opp_suppose_volts(struct opp_table *table, const struct opp_table *model);

#endif
