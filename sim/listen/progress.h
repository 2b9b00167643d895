/* The progress bar: one line on a terminal, for runs that take longer than about a second. On anything that is not a
 * terminal it stays silent.
 */
#ifndef ORCHARD_SIM_LISTEN_PROGRESS_H
#define ORCHARD_SIM_LISTEN_PROGRESS_H

#include "sim/base/event.h"

#include <stdio.h>

struct progress;

/* `out` is stderr; `quiet` silences it anyway. NULL when memory is short. */
struct progress *progress_create(FILE *out, bool quiet);
/* The same with the terminal question answered by the caller. */
struct progress *progress_create_for(FILE *out, bool terminal);
/* Wipes a line that is still there. */
void progress_free(struct progress *progress);
/* The listener's function; the context is the progress bar. It wants progress events. */
void progress_on_event(void *progress, const struct event *event);

#endif
