/* Transactions and statements, and what SQLite's errors mean to a user. */
#include "isa/array_count.h"
#include "sim/db/db_internal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

/* Why the system or the file made a statement fail; what is not here, and not damage either, is a mistake of ours. */
struct cause {
    int code;
    const char *text;
};

/* By primary result code. */
static const struct cause causes[] = {
    {SQLITE_FULL, "the disk is full"},
    {SQLITE_IOERR, "reading or writing failed"},
    {SQLITE_READONLY, "the file or its folder cannot be written"},
    {SQLITE_PERM, "permission denied"},
    {SQLITE_CANTOPEN, "cannot be opened"},
    {SQLITE_CORRUPT, "the database is damaged or cut off: restore a copy or use another " ORCH_OPTION("db")},
    {SQLITE_NOTADB, "not a database; name another file with " ORCH_OPTION("db")},
    {SQLITE_BUSY, "another process keeps the database locked"},
    {SQLITE_LOCKED, "another process keeps the database locked"},
    {SQLITE_AUTH, "only statements that read are allowed"},
    {SQLITE_TOOBIG, "a value is too large"},
    {SQLITE_NOLFS, "the file is too large for this file system"},
};

static const char *cause_of(int code)
{
    for (size_t i = 0; i < ARRAY_COUNT(causes); i++)
        if (causes[i].code == (code & 0xff))
            return causes[i].text;
    return NULL;
}

/* Errors whose reason may be that the content of the file is not what orchard wrote. */
static bool may_be_damage(int code)
{
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH: return true;
    default: return false;
    }
}

bool db_fail(struct orch_db *db, struct orch_error *error, const char *doing)
{
    char message[200];
    const int code = sqlite3_extended_errcode(db->sqlite);
    const char *const cause = cause_of(code);
    const int system = sqlite3_system_errno(db->sqlite);
    const bool disk = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_IOERR;
    snprintf(message, sizeof message, "%s", sqlite3_errmsg(db->sqlite));
    if (error && may_be_damage(code) && db_blame_file(db, doing, error))
        return false;
    if (strncmp(message, "malformed database schema", 25) == 0) /* not even `db check` can open it */
        return orch_fail(error, ORCH_USAGE, "database %s: %s: damaged: %.120s; restore a copy or use another " ORCH_OPTION("db"),
                         db->path, doing, message);
    if (cause && disk && system)
        return orch_fail(error, ORCH_USAGE, "database %s: %s: %s (%s)", db->path, doing, cause, strerror(system));
    if (cause)
        return orch_fail(error, ORCH_USAGE, "database %s: %s: %s", db->path, doing, cause);
    return orch_fail(error, ORCH_INTERNAL, "database %s: %s: %s", db->path, doing, message);
}

static double monotonic_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int db_exec_patiently(sqlite3 *sqlite, const char *sql)
{
    const double give_up = monotonic_seconds() + DB_BUSY_SECONDS;
    for (long pause_ns = 1000000;; pause_ns = pause_ns < 50000000 ? pause_ns * 2 : pause_ns) {
        const int code = sqlite3_exec(sqlite, sql, NULL, NULL, NULL);
        if ((code & 0xff) != SQLITE_BUSY || monotonic_seconds() > give_up)
            return code;
        nanosleep(&(struct timespec){0, pause_ns}, NULL);
    }
}

bool db_begin(struct orch_db *db, struct orch_error *error)
{
    if (db->in_transaction)
        return orch_fail(error, ORCH_INTERNAL, "database %s: a transaction inside a transaction", db->path);
    if (db->mode == DB_READ)
        return orch_fail(error, ORCH_INTERNAL, "database %s: opened for reading only", db->path);
    if (db_exec_patiently(db->sqlite, "BEGIN IMMEDIATE") != SQLITE_OK)
        return db_fail(db, error, "starting to write");
    db->in_transaction = true;
    return true;
}

bool db_commit(struct orch_db *db, struct orch_error *error)
{
    if (db_exec_patiently(db->sqlite, "COMMIT") != SQLITE_OK) {
        db_fail(db, error, "writing");
        db_rollback(db);
        return false;
    }
    db->in_transaction = false;
    return true;
}

void db_rollback(struct orch_db *db)
{
    if (!db->in_transaction)
        return;
    if (!sqlite3_get_autocommit(db->sqlite))
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    db->in_transaction = false;
    /* The ids that were given out inside the transaction are void. */
    text_map_clear(&db->names);
    text_map_clear(&db->sources);
    text_map_clear(&db->metrics);
}

bool db_run_sql(struct orch_db *db, const char *sql, struct orch_error *error)
{
    if (sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        return db_fail(db, error, "changing the database");
    return true;
}

static int bind_one(sqlite3_stmt *statement, int index, char type, va_list *arguments)
{
    if (type == 'd') {
        const double number = va_arg(*arguments, double);
        return isnan(number) ? sqlite3_bind_null(statement, index) : sqlite3_bind_double(statement, index, number);
    }
    if (type == 't')
        return sqlite3_bind_text(statement, index, va_arg(*arguments, const char *), -1, SQLITE_TRANSIENT);
    const int64_t number = va_arg(*arguments, int64_t);
    return type == 'n' && number == 0 ? sqlite3_bind_null(statement, index) : sqlite3_bind_int64(statement, index, number);
}

static sqlite3_stmt *prepare(struct orch_db *db, struct orch_error *error, const char *sql, const char *types, va_list *arguments)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);
    for (int i = 0; code == SQLITE_OK && types[i]; i++)
        code = bind_one(statement, i + 1, types[i], arguments);
    if (code == SQLITE_OK)
        return statement;
    db_fail(db, error, "preparing a statement");
    sqlite3_finalize(statement);
    return NULL;
}

sqlite3_stmt *db_query(struct orch_db *db, struct orch_error *error, const char *sql, const char *types, ...)
{
    va_list arguments;
    va_start(arguments, types);
    sqlite3_stmt *statement = prepare(db, error, sql, types, &arguments);
    va_end(arguments);
    return statement;
}

int db_step(struct orch_db *db, sqlite3_stmt *statement, struct orch_error *error)
{
    const int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        db_fail(db, error, sqlite3_stmt_readonly(statement) ? "reading" : "writing");
    return code;
}

double db_column_number(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(row, column);
}

const char *db_column_text(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}

bool db_exec(struct orch_db *db, struct orch_error *error, const char *sql, const char *types, ...)
{
    va_list arguments;
    va_start(arguments, types);
    sqlite3_stmt *statement = prepare(db, error, sql, types, &arguments);
    va_end(arguments);
    if (!statement)
        return false;
    int code;
    do
        code = db_step(db, statement, error);
    while (code == SQLITE_ROW);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE;
}

bool db_number(struct orch_db *db, struct orch_error *error, int64_t absent, int64_t *number, const char *sql, const char *types,
               ...)
{
    va_list arguments;
    va_start(arguments, types);
    sqlite3_stmt *statement = prepare(db, error, sql, types, &arguments);
    va_end(arguments);
    if (!statement)
        return false;
    const int code = db_step(db, statement, error);
    *number = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : absent;
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

void db_timestamp(char *text, size_t size)
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    char seconds[24];
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, size, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
}
