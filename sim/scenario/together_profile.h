/* Concurrent workloads for sustained operation: a profile of each workload, taken alone but at the clocks that it has beside the
 * others, and what the workloads share. */
#ifndef ORCHARD_SIM_SCENARIO_TOGETHER_PROFILE_H
#define ORCHARD_SIM_SCENARIO_TOGETHER_PROFILE_H

#include "sim/run/run_profile.h"
#include "sim/scenario/together.h"
#include "sim/machine/sustain/sustain.h"

struct together_profiles {
    struct power_profile profile[TOGETHER_PARTS];
    struct sustain_sharing sharing; /* points into this struct */
    struct fair_resource resource[FAIR_RESOURCES_MAX];
    enum power_domain clocked_by[FAIR_RESOURCES_MAX];
    double bytes[TOGETHER_PARTS][FAIR_RESOURCES_MAX];
};

/* Simulates every workload at two clocks, and all of them together once, whose result goes to *whole (which must be initialised).
 * Emits no events. CPU programs share mean rates, too. */
bool together_profiles(struct together *together, const struct chip_db *db, const struct chip_overrides *overrides,
                       struct together_profiles *profiles, struct run_result *whole, struct orch_error *error);

#endif
