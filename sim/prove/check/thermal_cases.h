/* The thermal models against HotSpot's output: a folder of cases in the form of sim/machine/thermal/thermal_case.h. */
#ifndef ORCHARD_SIM_PROVE_CHECK_THERMAL_CASES_H
#define ORCHARD_SIM_PROVE_CHECK_THERMAL_CASES_H

#include "sim/base/check.h"
#include "sim/base/error.h"

/* Bounds: HotSpot's printed digits and the tolerances of its own solvers. */
#define THERMAL_BLOCK_STEADY_K 1e-4
#define THERMAL_BLOCK_TRACE_K  0.01
#define THERMAL_GRID_K         0.1

/* Every folder of `folder` with a floorplan.flp (or `folder` itself); with names, only those. A case that cannot be read fails.
 */
bool check_thermal_cases(const char *folder, const char *const *names, size_t name_count, struct check_report *report,
                         struct orch_error *error);

#endif
