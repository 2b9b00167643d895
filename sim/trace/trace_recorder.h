/* The listener that writes the event stream as a trace (traces/README.md).
 *
 *     struct trace_recorder *r = trace_recorder_create("a.trace", &options, &error);
 *     event_bus_subscribe(bus, &(struct event_listener){trace_recorder_on_event, r, false});
 *     ... runs ...
 *     trace_recorder_finish(r, &error)
 *
 * Events say what ran. How to ask for it again (the options of each workload) has to be given to the recorder before the run.
 */
#ifndef ORCHARD_SIM_TRACE_TRACE_RECORDER_H
#define ORCHARD_SIM_TRACE_TRACE_RECORDER_H

#include "sim/base/event.h"
#include "sim/scenario/together.h"

/* Levels: kernel has launches and their times; operator has everything on the event stream; instruction also what was issued. */
enum trace_level { TRACE_LEVEL_KERNEL, TRACE_LEVEL_OPERATOR, TRACE_LEVEL_INSTRUCTION };
#define TRACE_LEVELS "kernel|operator|instruction"

struct trace_recorder_options {
    enum trace_level level;
    bool text;                   /* write JSON lines instead of the binary format */
    const char *chip, *workload; /* written into the header; chip NULL = several chips */
};

struct trace_recorder;

struct trace_recorder *trace_recorder_create(const char *path, const struct trace_recorder_options *options,
                                             struct orch_error *error);
/* Announces the next run: its operator `i + 1` is parts[i], which is copied. */
bool trace_recorder_expect(struct trace_recorder *recorder, const struct together_part *parts, unsigned count,
                           struct orch_error *error);
void trace_recorder_on_event(void *recorder, const struct event *event);
/* The watch to pass in struct run_request; NULL unless the level is instruction, which records one workload at a time. */
const struct unit_watch *trace_recorder_watch(struct trace_recorder *recorder);
/* Completes the file; also reports the first error that writing met. */
bool trace_recorder_finish(struct trace_recorder *recorder, struct orch_error *error);
/* Removes what was written unless trace_recorder_finish was called before. */
void trace_recorder_free(struct trace_recorder *recorder);

#endif
