/* The option profile of the verb run. */
#ifndef ORCHARD_SIM_API_VERB_RUN_PROFILE_H
#define ORCHARD_SIM_API_VERB_RUN_PROFILE_H

#include "sim/api/api.h"
#include "sim/run/run.h"

/* Sets the request's profile, and whether machine code is listed as well. The workload of the request is known; a trace that is
 * being recorded has no room for a profile. */
bool verb_run_profile_read(const struct api_context *context, bool recording, struct run_request *request, bool *assembly,
                           struct orch_error *error);
/* Lists the profile of a result; nothing when it has none. */
bool verb_run_profile_show(const struct api_context *context, const struct run_result *result, bool assembly,
                           struct orch_error *error);

#endif
