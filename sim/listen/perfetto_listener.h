/* The listener that writes a Chrome trace (reports/perfetto.h): one process per part of the chip, one track per instance, a
 * counter per series, and an arrow from each submission to its begin. Several runs may follow one another in one file.
 */
#ifndef ORCHARD_SIM_LISTEN_PERFETTO_LISTENER_H
#define ORCHARD_SIM_LISTEN_PERFETTO_LISTENER_H

#include "sim/base/error.h"
#include "sim/base/event.h"

struct perfetto_listener;

/* The file appears when the listener is closed, and only then (sim/base/output_file.h). NULL with *error on failure. */
struct perfetto_listener *perfetto_listener_open(const char *path, struct orch_error *error);
/* The function of the listener; its context is the listener. */
void perfetto_listener_on_event(void *listener, const struct event *event);
/* An issued instruction, which no event tells: those of recorded traces. They come in order of their beginnings; a core has a
 * track, and more when its instructions overlap. */
struct perfetto_instruction {
    uint64_t run, op;
    struct event_place place;
    double begin_ns, duration_ns;
    const char *name;
    uint64_t pc, operand;
};
void perfetto_listener_instruction(struct perfetto_listener *listener, const struct perfetto_instruction *instruction);
/* Completes the file. Frees the listener in any case. */
bool perfetto_listener_close(struct perfetto_listener *listener, struct orch_error *error);
/* Frees the listener and leaves no file; NULL is fine. */
void perfetto_listener_discard(struct perfetto_listener *listener);

#endif
