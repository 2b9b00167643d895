/* What processes are doing now, for others to see. */
#include "sim/db/db_internal.h"

#include <math.h>

enum { DEAD_AT_ONCE = 64, TEXTS = 8, NUMBERS = 11 };

static const char insert_sql[] =
    "INSERT INTO progress (kind, workload, chip, unit, precision, doing, host, process, fraction, seconds, host_seconds, ops, "
    "op_seconds, points, points_done, watts, celsius, dram_gbps, utilisation, started, renewed, id) VALUES (?, ?, ?, ?, ?, ?, ?, "
    "?, "
    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?20, ?20, ?21)";
static const char renew_sql[] =
    "UPDATE progress SET kind = ?, workload = ?, chip = ?, unit = ?, precision = ?, doing = ?, host = ?, process = ?, fraction = "
    "?, seconds = ?, host_seconds = ?, ops = ?, op_seconds = ?, points = ?, points_done = ?, watts = ?, celsius = ?, dram_gbps = "
    "?, "
    "utilisation = ?, renewed = ?20 WHERE id = ?21";

static bool bind(sqlite3_stmt *statement, const struct db_progress *p, int64_t id)
{
    char host[256], process[256], now[32];
    const double number[NUMBERS] = {p->fraction,    p->seconds, p->host_seconds, p->ops,       p->op_seconds, p->points,
                                    p->points_done, p->watts,   p->celsius,      p->dram_gbps, p->utilisation};
    const char *const text[TEXTS] = {p->kind, p->workload ? p->workload : "", p->chip, p->unit, p->precision, p->doing, host,
                                     process};
    int code = SQLITE_OK;
    db_host_name(host, sizeof host);
    db_process_identity(process, sizeof process);
    db_timestamp(now, sizeof now);
    for (int i = 0; i < TEXTS; i++)
        code |= sqlite3_bind_text(statement, i + 1, text[i], -1, SQLITE_TRANSIENT);
    for (int i = 0; i < NUMBERS; i++)
        if (isfinite(number[i])) /* what is not bound is NULL */
            code |= sqlite3_bind_double(statement, TEXTS + 1 + i, number[i]);
    code |= sqlite3_bind_text(statement, TEXTS + NUMBERS + 1, now, -1, SQLITE_TRANSIENT);
    if (id)
        code |= sqlite3_bind_int64(statement, TEXTS + NUMBERS + 2, id);
    return code == SQLITE_OK;
}

void db_put_progress(struct orch_db *db, int64_t *id, const struct db_progress *progress)
{
    sqlite3_stmt *statement = NULL;
    if (db->in_transaction || db->mode == DB_READ)
        return;
    sqlite3_busy_timeout(db->sqlite, 0);
    if (sqlite3_prepare_v2(db->sqlite, *id ? renew_sql : insert_sql, -1, &statement, NULL) == SQLITE_OK &&
        bind(statement, progress, *id) && sqlite3_step(statement) == SQLITE_DONE && *id == 0)
        *id = sqlite3_last_insert_rowid(db->sqlite);
    sqlite3_finalize(statement);
    sqlite3_busy_timeout(db->sqlite, DB_BUSY_SECONDS * 1000);
}

void db_end_progress(struct orch_db *db, int64_t *id)
{
    if (*id)
        db_exec(db, NULL, "DELETE FROM progress WHERE id = ?", "i", *id);
    *id = 0;
}

bool db_visit_progress(struct orch_db *db, db_progress_visit *visit, void *context, struct orch_error *error)
{
    sqlite3_stmt *const rows = db_query(
        db, error,
        "SELECT process, host, kind, workload, chip, unit, precision, doing, started, renewed, id, fraction, seconds, "
        "host_seconds, ops, op_seconds, points, points_done, watts, celsius, dram_gbps, utilisation FROM progress ORDER BY id",
        "");
    int code = SQLITE_DONE;
    while (rows && (code = db_step(db, rows, error)) == SQLITE_ROW) {
        const struct db_progress p = {.kind = db_column_text(rows, 2),
                                      .workload = db_column_text(rows, 3),
                                      .chip = db_column_text(rows, 4),
                                      .unit = db_column_text(rows, 5),
                                      .precision = db_column_text(rows, 6),
                                      .doing = db_column_text(rows, 7),
                                      .started = db_column_text(rows, 8),
                                      .renewed = db_column_text(rows, 9),
                                      .id = sqlite3_column_int64(rows, 10),
                                      .fraction = db_column_number(rows, 11),
                                      .seconds = db_column_number(rows, 12),
                                      .host_seconds = db_column_number(rows, 13),
                                      .ops = db_column_number(rows, 14),
                                      .op_seconds = db_column_number(rows, 15),
                                      .points = db_column_number(rows, 16),
                                      .points_done = db_column_number(rows, 17),
                                      .watts = db_column_number(rows, 18),
                                      .celsius = db_column_number(rows, 19),
                                      .dram_gbps = db_column_number(rows, 20),
                                      .utilisation = db_column_number(rows, 21)};
        if (!db_process_gone(db_column_text(rows, 0), db_column_text(rows, 1)))
            visit(context, &p);
    }
    sqlite3_finalize(rows);
    return rows && code == SQLITE_DONE;
}

bool db_clean_progress(struct orch_db *db, struct orch_error *error)
{
    int64_t dead[DEAD_AT_ONCE];
    size_t count = 0;
    int code = SQLITE_DONE;
    sqlite3_stmt *const rows = db_query(db, error, "SELECT id, process, host FROM progress", "");
    while (rows && (code = db_step(db, rows, error)) == SQLITE_ROW)
        if (count < DEAD_AT_ONCE && db_process_gone(db_column_text(rows, 1), db_column_text(rows, 2)))
            dead[count++] = sqlite3_column_int64(rows, 0);
    sqlite3_finalize(rows);
    bool ok = rows && code == SQLITE_DONE;
    for (size_t i = 0; ok && i < count; i++)
        ok = db_exec(db, error, "DELETE FROM progress WHERE id = ?", "i", dead[i]);
    return ok;
}
