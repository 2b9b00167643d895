/* Traces as workloads of the verb run. */
#ifndef ORCHARD_SIM_API_VERB_TRACE_H
#define ORCHARD_SIM_API_VERB_TRACE_H

#include "sim/api/api.h"

/* Whether the file there is a trace. */
bool verb_trace_is_file(const char *path);
/* Whether a trace of that name is written as JSON lines. */
bool verb_trace_is_text(const char *path);
/* Replays on the chips of the option chip, records, and answers. Returns an exit code. */
int verb_trace_replay(struct api_context *context, const char *path);

#endif
