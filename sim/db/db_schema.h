/* Compares the schema of a file with the one that this version expects: tables, columns, references, indexes, views, triggers. */
#ifndef ORCHARD_SIM_DB_DB_SCHEMA_H
#define ORCHARD_SIM_DB_DB_SCHEMA_H

#include "sim/db/db.h"

enum db_schema_kind {
    DB_SCHEMA_TABLE,
    DB_SCHEMA_COLUMN,
    DB_SCHEMA_REFERENCE,
    DB_SCHEMA_INDEX,
    DB_SCHEMA_VIEW,
    DB_SCHEMA_TRIGGER
};

struct db_schema_difference {
    enum db_schema_kind kind;
    const char *object;        /* table or view */
    const char *part;          /* column, index or trigger of the table; else "" */
    const char *has, *expects; /* in words of SQL; has = NULL: it is missing; expects = NULL: it should not be there */
};

/* True for what orchard can make anew without loss: views and indexes. */
bool db_schema_restorable(const struct db_schema_difference *difference);
/* Writes the difference as one line: "table checksum: column output is missing". */
void db_schema_describe(const struct db_schema_difference *difference, char *text, size_t size);

/* Calls `visit` for each difference: tables first, then columns and so on, by name; it returns false to stop. Tables, views and
 * non-unique indexes that somebody added do no harm and are no difference. False with *error when the file cannot be examined. */
typedef bool db_schema_visit(void *context, const struct db_schema_difference *difference);
bool db_schema_compare(struct orch_db *db, db_schema_visit *visit, void *context, struct orch_error *error);

/* A database in memory with the expected schema; sqlite3_close after use. NULL with *error. */
sqlite3 *db_schema_expected(struct orch_error *error);

/* db_restore.c */

/* The first difference and how many others there are, as one line of at most `size` bytes; false when there is none or the file
 * cannot be examined. *restorable: all of them are. */
bool db_schema_differs(struct orch_db *db, char *text, size_t size, bool *restorable);
/* ORCH_USAGE with the file, the difference and the remedy. */
bool db_refuse_schema(const struct orch_db *db, const char *difference, bool restorable, struct orch_error *error);
/* Refuses a file whose schema differs: ORCH_USAGE with the file, the table and the remedy. */
bool db_require_schema(struct orch_db *db, struct orch_error *error);
/* Makes views and indexes anew that are missing or differ; own transaction, none when nothing differs. What cannot be made anew
 * is left to db_require_schema. */
bool db_restore_schema(struct orch_db *db, struct orch_error *error);

#endif
