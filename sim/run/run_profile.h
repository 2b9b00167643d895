/* The profile of a workload (sim/machine/power/profile.h) by simulating it at two clocks of the domain that paces it. */
#ifndef ORCHARD_SIM_RUN_RUN_PROFILE_H
#define ORCHARD_SIM_RUN_RUN_PROFILE_H

#include "sim/machine/power/profile.h"
#include "sim/run/run.h"

/* Opens the chip once more with every clock of a domain scaled: cores with their AMX blocks, GPU, or Neural Engine. `overrides`
 * are those that the chip was opened with. Close with chip_close; NULL with *error. */
struct chip *run_chip_at_share(const struct chip_db *db, const struct chip *chip, const struct chip_overrides *overrides,
                               enum power_domain driver, double share, struct orch_error *error);

/* Completes the profile of a run at one clock: fixed_s comes from the same run at a lower clock. That run computes no values
 * where the unit needs none. Time in which cores wait for one another is taken out. */
bool run_profile_split(const struct run_request *request, const struct chip_db *db, const struct chip_overrides *overrides,
                       struct power_profile *profile, struct orch_error *error);

/* Simulates the request as it is (into *result, initialised) and at a lower clock, without events. */
bool run_profile(const struct run_request *request, const struct chip_db *db, const struct chip_overrides *overrides,
                 struct power_profile *profile, struct run_result *result, struct orch_error *error);

#endif
