/* Sweeps and their points. An open point has no row, since its settings follow from the specification. */
#include "sim/db/db_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN(name) ", " #name
#define MARK(name)   ", ?"
static const char insert_point[] =
    "INSERT INTO sweep_point (sweep_id, point, settings, status, error, method, bound_by_id, expected_error" DB_SWEEP_VALUE_TABLE(
        COLUMN) ") VALUES (?, ?, ?, ?, ?, ?, ?, ?" DB_SWEEP_VALUE_TABLE(MARK) ") ON CONFLICT (sweep_id, point) DO NOTHING";
static const char select_points[] =
    "SELECT point, settings, status, error, method, (SELECT text FROM name WHERE id = bound_by_id), "
    "expected_error" DB_SWEEP_VALUE_TABLE(COLUMN) " FROM sweep_point WHERE sweep_id = ? AND status <> 'open' ORDER BY point";
enum { FIRST_VALUE_MARK = 9, FIRST_VALUE_COLUMN = 7 };

static bool put_sweep(struct orch_db *db, const struct db_sweep *sweep, int64_t *id, struct orch_error *error)
{
    char now[32];
    db_timestamp(now, sizeof now);
    return db_exec(db, error,
                   "INSERT INTO sweep (hash, name, workload, specification, version, created) VALUES (?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT (hash) DO UPDATE SET name = coalesce(name, excluded.name)",
                   "tttttt", sweep->hash, sweep->name, sweep->workload, sweep->specification, sweep->version, now) &&
           db_number(db, error, 0, id, "SELECT id FROM sweep WHERE hash = ?", "t", sweep->hash);
}

bool db_put_sweep(struct orch_db *db, const struct db_sweep *sweep, int64_t *id, struct orch_error *error)
{
    if (!db_begin(db, error))
        return false;
    if (put_sweep(db, sweep, id, error))
        return db_commit(db, error);
    db_rollback(db);
    return false;
}

bool db_resolve_sweep(struct orch_db *db, const char *text, int64_t *id, struct orch_error *error)
{
    *id = 0;
    if (!db_number(db, error, 0, id,
                   "SELECT id FROM sweep WHERE ?1 = 'last' OR CAST(id AS TEXT) = ?1 OR name = ?1 OR "
                   "(length(?1) >= 4 AND substr(hash, 1, length(?1)) = ?1) "
                   "ORDER BY CAST(id AS TEXT) = ?1 DESC, name IS ?1 DESC, id DESC LIMIT 1",
                   "t", text))
        return false;
    return *id > 0 || orch_fail(error, ORCH_USAGE, "no sweep '%.80s' in %.300s", text, db->path);
}

static void bind_number(sqlite3_stmt *statement, int mark, double value)
{
    if (isnan(value))
        sqlite3_bind_null(statement, mark);
    else
        sqlite3_bind_double(statement, mark, value);
}

static bool put_point(struct orch_db *db, sqlite3_stmt *insert, int64_t sweep_id, const struct db_sweep_point *p,
                      struct orch_error *error)
{
    int64_t bound = 0;
    if (!db_name_id(db, p->bound_by, &bound, error))
        return false;
    sqlite3_reset(insert);
    sqlite3_bind_int64(insert, 1, sweep_id);
    sqlite3_bind_int64(insert, 2, p->point);
    sqlite3_bind_text(insert, 3, p->settings, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, p->status, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 5, p->error, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 6, p->method, -1, SQLITE_STATIC);
    if (bound)
        sqlite3_bind_int64(insert, 7, bound);
    else
        sqlite3_bind_null(insert, 7);
    bind_number(insert, 8, p->expected_error);
    for (int i = 0; i < DB_SWEEP_VALUE_COUNT; i++)
        bind_number(insert, FIRST_VALUE_MARK + i, p->value[i]);
    return db_step(db, insert, error) == SQLITE_DONE;
}

bool db_put_sweep_points(struct orch_db *db, int64_t sweep_id, const struct db_sweep_point *point, size_t count,
                         struct orch_error *error)
{
    if (!db_begin(db, error))
        return false;
    sqlite3_stmt *insert = db_query(db, error, insert_point, "");
    bool ok = insert != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = put_point(db, insert, sweep_id, &point[i], error);
    sqlite3_finalize(insert);
    if (ok)
        return db_commit(db, error);
    db_rollback(db);
    return false;
}

bool db_each_sweep_point(struct orch_db *db, int64_t sweep_id, db_sweep_point_sink *sink, void *context, struct orch_error *error)
{
    sqlite3_stmt *row = db_query(db, error, select_points, "i", sweep_id);
    int code = row ? SQLITE_ROW : SQLITE_ERROR;
    while (row && (code = db_step(db, row, error)) == SQLITE_ROW) {
        struct db_sweep_point p = {
            sqlite3_column_int64(row, 0), db_column_text(row, 1), db_column_text(row, 2),   db_column_text(row, 3),
            db_column_text(row, 4),       db_column_text(row, 5), db_column_number(row, 6), {0}};
        for (int i = 0; i < DB_SWEEP_VALUE_COUNT; i++)
            p.value[i] = db_column_number(row, FIRST_VALUE_COLUMN + i);
        if (!sink(context, &p, error))
            break;
    }
    sqlite3_finalize(row);
    return code == SQLITE_DONE;
}
