/* From a rule to a library whose launches are the rule's. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_FRAMEWORKS_FRAMEWORK_RUN_H
#define ORCHARD_SIM_WORKLOAD_GPU_FRAMEWORKS_FRAMEWORK_RUN_H

#include "sim/workload/gpu/frameworks/framework_plan.h"

bool framework_plan_run(const struct framework_choice *choice, struct gpu_library *library,
                        bool (*rule)(struct framework_plan *plan), struct orch_error *error);

#endif
