/* The verb run, for the verb trace. */
#ifndef ORCHARD_SIM_API_VERB_RUN_H
#define ORCHARD_SIM_API_VERB_RUN_H

#include "sim/api/api.h"
#include "sim/trace/trace_recorder.h"

struct api_recording {
    const char *path;
    enum trace_level level;
    bool text;
};

/* Simulates as the verb run does. With a recording it simulates always anew, and writes what happens to a trace. Returns an exit
 * code. */
int verb_run_record(struct api_context *context, int words, const char *const *word, const struct api_recording *record);

#endif
