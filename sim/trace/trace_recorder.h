/* The listener that writes the event stream as a trace (traces/README.md).
 *
 *     struct trace_recorder *r = trace_recorder_create("a.trace", &options, &error);
 *     event_bus_subscribe(bus, &(struct event_listener){trace_recorder_on_event, r, false});
 *     ... runs ...
 *     trace_recorder_finish(r, &error)
 *
 * Events tell what ran; how to ask for it again (options of each workload) the recorder is told before the run.
 */
#ifndef ORCHARD_SIM_TRACE_TRACE_RECORDER_H
#define ORCHARD_SIM_TRACE_TRACE_RECORDER_H

#include "sim/base/event.h"
#include "sim/scenario/together.h"

/* kernel: launches and their times; operator: everything on the event stream; instruction: also what was issued. */
enum trace_level { TRACE_LEVEL_KERNEL, TRACE_LEVEL_OPERATOR, TRACE_LEVEL_INSTRUCTION };
#define TRACE_LEVELS "kernel|operator|instruction"

struct trace_recorder_options {
    enum trace_level level;
    bool text;                   /* JSON lines */
    const char *chip, *workload; /* of the header; chip NULL = several */
};

struct trace_recorder;

struct trace_recorder *trace_recorder_create(const char *path, const struct trace_recorder_options *options,
                                             struct orch_error *error);
/* Of the next run: operator `i + 1` of it is parts[i]. Copied. */
bool trace_recorder_expect(struct trace_recorder *recorder, const struct together_part *parts, unsigned count,
                           struct orch_error *error);
void trace_recorder_on_event(void *recorder, const struct event *event);
/* For struct run_request: NULL unless the level is instruction, which is of one workload by itself. */
const struct unit_watch *trace_recorder_watch(struct trace_recorder *recorder);
/* Ends the file; tells the first trouble of writing it, too. */
bool trace_recorder_finish(struct trace_recorder *recorder, struct orch_error *error);
/* Without trace_recorder_finish before, nothing is left behind. */
void trace_recorder_free(struct trace_recorder *recorder);

#endif
