/* orchard run, for orchard trace record. */
#ifndef ORCHARD_SIM_API_VERB_RUN_H
#define ORCHARD_SIM_API_VERB_RUN_H

#include "sim/api/api.h"
#include "sim/trace/trace_recorder.h"

struct cmd_recording {
    const char *path;
    enum trace_level level;
    bool text;
};

/* Simulates as cmd_run does, always anew, and writes down what happens. */
int cmd_run_record(struct cmd_context *context, int argc, char **argv, const struct cmd_recording *record);

#endif
