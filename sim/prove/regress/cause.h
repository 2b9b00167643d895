/* Finds out why characteristics moved, by experiments with single values put back. */
#ifndef ORCHARD_SIM_PROVE_REGRESS_CAUSE_H
#define ORCHARD_SIM_PROVE_REGRESS_CAUSE_H

#include "sim/prove/regress/compare.h"

/* Fills in `cause` of everything that moved. */
bool regress_find_causes(const struct regress_request *request, const struct baseline *baseline,
                         struct regress_comparison *comparison, struct orch_error *error);

#endif
