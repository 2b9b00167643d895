/* The listener that lets others see a run while it is going on: a row of table progress, which `orchard serve` shows.
 *
 * Runs that take less than a moment leave no trace. The row is renewed at most once a second, without ever waiting for another
 * process, and goes with the end of the run; the row of a process that was killed is recognised by its process.
 */
#ifndef ORCHARD_SIM_LISTEN_PROGRESS_WRITER_H
#define ORCHARD_SIM_LISTEN_PROGRESS_WRITER_H

#include "sim/base/event.h"
#include "sim/db/db.h"

struct progress_writer;

/* The caller keeps the database, which must outlive the writer. NULL when memory has run out. */
struct progress_writer *progress_writer_create(struct orch_db *db);
/* Removes what is still there. */
void progress_writer_free(struct progress_writer *writer);
/* The function of the listener, which asks for progress; its context is the writer. */
void progress_writer_on_event(void *writer, const struct event *event);

#endif
