/* Rows on their way into the database: gathered in memory during a run and written in one transaction.
 *
 * A row consists of a table and its cells. Texts and metrics have numbers of the buffer's own, which become ids of the file when
 * the rows are written; so gathering touches no file and keeps nobody from writing.
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
    ROW_PROFILE_KERNEL,
    ROW_PROFILE_FILE,
    ROW_PROFILE_TEXT,
    ROW_PROFILE_INSTRUCTION,
    ROW_PROFILE_STALL,
    ROW_PROFILE_WARNING,
    ROW_TABLE_COUNT
};

struct row_buffer;

/* NULL when memory has run out. */
struct row_buffer *row_buffer_create(void);
void row_buffer_free(struct row_buffer *buffer);

/* Adds a row; one argument per column after run_id, by the letters of row_buffer.c: i int64_t, d double (NAN = NULL),
 * t text, n text that is kept in table name, m metric as three texts (kind, name, unit). False when memory has run out. */
bool row_buffer_add(struct row_buffer *buffer, enum row_table table, ...);
size_t row_buffer_count(const struct row_buffer *buffer);

/* Writes all rows under a run, inside the caller's transaction, and keeps them: call row_buffer_clear after the commit. */
bool row_buffer_write(struct row_buffer *buffer, struct orch_db *db, int64_t run_id, struct orch_error *error);
void row_buffer_clear(struct row_buffer *buffer);

#endif
