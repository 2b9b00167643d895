/* Checks the thermal models against output of HotSpot: a folder of cases in the form of sim/machine/thermal/thermal_case.h. */
#ifndef ORCHARD_SIM_PROVE_CHECK_THERMAL_CASES_H
#define ORCHARD_SIM_PROVE_CHECK_THERMAL_CASES_H

#include "sim/base/check.h"
#include "sim/base/error.h"

/* Bounds: the digits that HotSpot prints, and the tolerances of its solvers. */
#define THERMAL_BLOCK_STEADY_K 1e-4
#define THERMAL_BLOCK_TRACE_K  0.01
#define THERMAL_GRID_K         0.1

/* Checks every folder of `folder` with a floorplan.flp (or `folder` itself), or only those named. A case that cannot be read
 * fails. */
bool check_thermal_cases(const char *folder, const char *const *names, size_t name_count, struct check_report *report,
                         struct orch_error *error);

#endif
