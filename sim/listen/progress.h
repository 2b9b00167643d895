/* The progress bar: one line on a terminal, for runs that take longer than about a second. Nothing is written to a stream that is
 * not a terminal.
 */
#ifndef ORCHARD_SIM_LISTEN_PROGRESS_H
#define ORCHARD_SIM_LISTEN_PROGRESS_H

#include "sim/base/event.h"

#include <stdio.h>

struct progress;

/* `out` is stderr; `quiet` silences even a terminal. NULL when memory has run out. */
struct progress *progress_create(FILE *out, bool quiet);
/* The same, but the caller says whether `out` is a terminal. */
struct progress *progress_create_for(FILE *out, bool terminal);
/* Wipes the line when it is still there, and frees the bar. */
void progress_free(struct progress *progress);
/* The function of the listener, which must ask for progress events; its context is the progress bar. */
void progress_on_event(void *progress, const struct event *event);

#endif
