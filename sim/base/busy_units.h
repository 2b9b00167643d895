/* How long each unit was at work in a run whose kernels are on several. */
#ifndef ORCHARD_SIM_BASE_BUSY_UNITS_H
#define ORCHARD_SIM_BASE_BUSY_UNITS_H

#include "sim/base/run_result.h"

struct busy_unit {
    const char *unit;
    double share; /* of the run's time */
};

/* Fills in those that worked for a thousandth of the time or more; 0 = one unit has it all, or nobody counted. */
int busy_units(const struct run_result *result, struct busy_unit busy[PART_COUNT]);

#endif
