/* The listener that records runs in the performance database.
 *
 *     struct db_writer *w = db_writer_create(db);
 *     event_bus_subscribe(bus, &(struct event_listener){db_writer_on_event, w, false});
 *     ... the run ...
 *     if (db_writer_result(w, run_number, &run_id, &error)) ...
 *
 * The row of a run is written with status 'running' when the run begins. Its other rows are gathered in memory and written in one
 * transaction at run_end, or in chunks when there are more than DB_WRITER_CHUNK. When the process dies before that, in whatever
 * way, the next process that opens the file for writing (or `orchard db prune`) empties the run and marks it 'interrupted'. A run
 * is complete exactly when its status is 'done'. A run that failed is recorded with its error and with what happened until then.
 */
#ifndef ORCHARD_SIM_LISTEN_DB_WRITER_H
#define ORCHARD_SIM_LISTEN_DB_WRITER_H

#include "sim/db/db.h"
#include "sim/base/event.h"

enum { DB_WRITER_CHUNK = 1 << 17 };

struct db_writer;

/* The caller keeps the database, which must outlive the writer. NULL when memory has run out. */
struct db_writer *db_writer_create(struct orch_db *db);
/* Runs that have no run_end are emptied and marked 'interrupted'. */
void db_writer_free(struct db_writer *writer);
/* Sets how many rows make a chunk, instead of DB_WRITER_CHUNK. */
void db_writer_set_chunk(struct db_writer *writer, size_t rows);
/* The function of the listener; its context is the writer. */
void db_writer_on_event(void *writer, const struct event *event);
/* After run_end: the id of the row of run `run` (see struct event), or false with the error that kept it from being written. */
bool db_writer_result(const struct db_writer *writer, uint64_t run, int64_t *run_id, struct orch_error *error);

#endif
