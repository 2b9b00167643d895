/* orchard run, for orchard trace record. */
#ifndef ORCHARD_SIM_API_VERB_RUN_H
#define ORCHARD_SIM_API_VERB_RUN_H

#include "sim/api/api.h"
#include "sim/trace/trace_recorder.h"

struct api_recording {
    const char *path;
    enum trace_level level;
    bool text;
};

/* Simulates as verb_run does, always anew, and writes down what happens. */
int verb_run_record(struct api_context *context, int words, const char *const *word, const struct api_recording *record);

#endif
