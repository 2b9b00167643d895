/* Rows on their way into the database: gathered in memory while a run is on, written in one transaction.
 *
 * A row is a table and its cells. Texts and metrics are kept as numbers of the buffer's own and turned into ids of the
 * file when they are written, so that gathering touches no file and locks nobody out.
 */
#ifndef ORCHARD_SIM_DB_ROW_BUFFER_H
#define ORCHARD_SIM_DB_ROW_BUFFER_H

#include "sim/db/db.h"

enum row_table {
    ROW_OP,
    ROW_ACTIVITY,
    ROW_STALL,
    ROW_COUNTER,
    ROW_SAMPLE,
    ROW_TRANSFER,
    ROW_DVFS_CHANGE,
    ROW_FAULT,
    ROW_PART,
    ROW_PLACEMENT,
    ROW_ASSUMPTION,
    ROW_CHECKSUM,
    ROW_TABLE_COUNT
};

struct row_buffer;

/* NULL when memory is short. */
struct row_buffer *row_buffer_create(void);
void row_buffer_free(struct row_buffer *buffer);

/* Adds a row; one argument per column after run_id, by the letters of row_buffer.c: i int64_t, d double (NAN = NULL),
 * t text, n text kept in table name, m metric as three texts (kind, name, unit). False when memory is short. */
bool row_buffer_add(struct row_buffer *buffer, enum row_table table, ...);
size_t row_buffer_count(const struct row_buffer *buffer);

/* Writes all rows under a run (inside the caller's transaction) and keeps them: after a commit call row_buffer_clear. */
bool row_buffer_write(struct row_buffer *buffer, struct orch_db *db, int64_t run_id, struct orch_error *error);
void row_buffer_clear(struct row_buffer *buffer);

#endif
