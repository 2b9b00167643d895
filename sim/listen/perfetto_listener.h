/* The listener that writes a Chrome trace (reports/perfetto.h): a process per part of the chip, a track per instance, counters
 * for every series, arrows from submission to begin. Several runs may follow one another into one file.
 */
#ifndef ORCHARD_SIM_LISTEN_PERFETTO_LISTENER_H
#define ORCHARD_SIM_LISTEN_PERFETTO_LISTENER_H

#include "sim/base/error.h"
#include "sim/base/event.h"

struct perfetto_listener;

/* The file appears when it is closed, and only then. */
struct perfetto_listener *perfetto_listener_open(const char *path, struct orch_error *error);
/* The listener's function. */
void perfetto_listener_on_event(void *listener, const struct event *event);
/* Completes the file; frees the listener in any case. */
bool perfetto_listener_close(struct perfetto_listener *listener, struct orch_error *error);
/* Without a file. NULL is fine. */
void perfetto_listener_discard(struct perfetto_listener *listener);

#endif
