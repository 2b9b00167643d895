/* What may have been meant by a workload that there is not. */
#ifndef ORCHARD_SIM_RUN_WORKLOAD_HINT_H
#define ORCHARD_SIM_RUN_WORKLOAD_HINT_H

#include "sim/base/error.h"

/* Whether some unit has a kernel of the name that `workload` begins with ("gemm", "gemm:512x512x512"). */
bool workload_has_kernel(const char *workload);
/* Refuses a name that no kernel has, with the form of the nearest. Returns false. */
bool workload_unknown_kernel(const char *workload, struct orch_error *error);
/* Refuses a path that could not be opened for the reason `why`: it may name a kernel without a shape, a published model, or a
 * file of nearly that name. Returns false. */
bool workload_no_file(const char *path, const char *why, struct orch_error *error);
/* Refuses a published model that there is not, with the nearest. Returns false. */
bool workload_unknown_model(const char *name, struct orch_error *error);

#endif
