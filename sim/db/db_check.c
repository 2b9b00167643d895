/* Checks that everything in the file is as it should be. */
#include "isa/array_count.h"
#include "sim/base/check.h"
#include "sim/db/db_internal.h"
#include "sim/db/db_schema.h"

#include <string.h>

/* A query that finds what is wrong: each row is a fault, and its first column names it. */
struct finding {
    const char *what, *sql;
};

#define WITHOUT_OP(table)                                                                                                        \
    {                                                                                                                            \
        "op of every row of " #table,                                                                                            \
            "SELECT 'run ' || t.run_id || ' op ' || t.op FROM " #table " t WHERE t.op > 0 AND NOT EXISTS "                       \
            "(SELECT 1 FROM op o WHERE o.run_id = t.run_id AND o.op = t.op) LIMIT 5"                                             \
    }

static const struct finding integrity = {"pages and indexes",
                                         "SELECT replace(integrity_check, char(10), ' ') FROM pragma_integrity_check "
                                         "WHERE integrity_check <> 'ok' LIMIT 5"};

static const struct finding findings[] = {
    {"foreign keys", "SELECT \"table\" || ' row ' || coalesce(rowid, '?') || ' -> ' || parent "
                     "FROM pragma_foreign_key_check LIMIT 5"},
    {"finished runs have their time", "SELECT 'run ' || id FROM run WHERE status = 'done' AND finished IS NULL LIMIT 5"},
    {"interrupted runs are empty", "SELECT 'run ' || id FROM run r WHERE status = 'interrupted' AND "
                                   "EXISTS (SELECT 1 FROM op o WHERE o.run_id = r.id) LIMIT 5"},
    WITHOUT_OP(activity),
    WITHOUT_OP(stall),
    WITHOUT_OP(counter),
    {"every metric has a unit and a definition", "SELECT kind || ' ' || name FROM metric WHERE definition = '' LIMIT 20"},
    {"stall fractions of a run sum to 1",
     "SELECT 'run ' || t.run_id || ': ' || sum(t.value) FROM stall t JOIN run r ON r.id = t.run_id "
     "WHERE t.op = 0 AND r.status = 'done' GROUP BY t.run_id HAVING abs(sum(t.value) - 1) > 1e-6 LIMIT 5"},
    {"intervals hold their value", "SELECT 'run ' || id FROM run WHERE seconds < seconds_low * (1 - 1e-9) OR "
                                   "seconds > seconds_high * (1 + 1e-9) LIMIT 5"},
    {"every chip value has a source", "SELECT c.chip || ' ' || n.text FROM chip_value v JOIN chip c ON c.id = v.chip_id "
                                      "JOIN name n ON n.id = v.key_id "
                                      "WHERE v.source_id IS NULL AND coalesce(v.origin, '') <> '--set' LIMIT 5"},
};

/* Joins the rows of a query with "; ". */
static bool collect(struct orch_db *db, const char *sql, char *text, size_t size, struct orch_error *error)
{
    sqlite3_stmt *rows = db_query(db, error, sql, "");
    size_t used = 0;
    int code = SQLITE_ERROR;
    text[0] = 0;
    if (!rows)
        return false;
    while ((code = db_step(db, rows, error)) == SQLITE_ROW && used < size) {
        const char *row = db_column_text(rows, 0);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "; " : "", row ? row : "?");
    }
    sqlite3_finalize(rows);
    return code == SQLITE_DONE || code == SQLITE_ROW;
}

static const char unfinished_sql[] = "SELECT id, coalesce(process, ''), coalesce(host, '') FROM run WHERE status = 'running'";

/* A run whose writer is alive is left alone; one whose writer is dead should have been cleaned up. */
static void check_unfinished(struct orch_db *db, struct check_report *report)
{
    struct orch_error trouble = {0};
    unsigned long dead = 0;
    sqlite3_stmt *rows = db_query(db, &trouble, unfinished_sql, "");
    int code = rows ? SQLITE_ROW : SQLITE_ERROR;
    while (rows && (code = db_step(db, rows, &trouble)) == SQLITE_ROW) {
        const long long id = sqlite3_column_int64(rows, 0);
        const char *process = db_column_text(rows, 1);
        const char *host = db_column_text(rows, 2);
        if (!db_process_gone(process, host))
            check_skip(report, "run %lld is being written by process %.40s on %.80s", id, process, host);
        else if (dead++ == 0)
            check_fail(report, "no unfinished runs: the writer of run %lld is dead", id);
    }
    sqlite3_finalize(rows);
    if (code != SQLITE_DONE)
        check_fail(report, "no unfinished runs: %s", trouble.text);
    else if (dead == 0)
        check_pass(report);
}

/* ---- the schema ---- */

struct schema_findings {
    struct check_report *report;
    unsigned differences;
};

static bool take_difference(void *context, const struct db_schema_difference *difference)
{
    struct schema_findings *const f = context;
    char text[240];
    db_schema_describe(difference, text, sizeof text);
    check_fail(f->report, "%s%s", text, db_schema_restorable(difference) ? " (`orchard db init` makes it anew)" : "");
    f->differences++;
    return true;
}

/* Each difference is a failure of its own. Returns whether there is any. */
static bool check_schema(struct orch_db *db, struct check_report *report)
{
    struct schema_findings f = {report, 0};
    struct orch_error trouble = {0};
    if (!db_schema_compare(db, take_difference, &f, &trouble))
        check_fail(report, "schema: %s", trouble.text);
    else if (f.differences == 0)
        check_pass(report);
    return f.differences > 0;
}

/* False when the query does not even fit the schema of the file. */
static bool answerable(struct orch_db *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    const int code = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);
    sqlite3_finalize(statement);
    return (code & 0xff) != SQLITE_ERROR;
}

/* ---- everything ---- */

struct damage_findings {
    struct check_report *report;
    unsigned count;
};

static bool take_damage(void *context, const char *text)
{
    struct damage_findings *const d = context;
    check_fail(d->report, "%s: %s", integrity.what, text);
    d->count++;
    return true;
}

/* The check of the whole file is the quick one; only when it fails, each table is asked for by itself, so that all are named. */
static void check_integrity(struct orch_db *db, struct check_report *report)
{
    struct damage_findings d = {report, 0};
    struct orch_error trouble = {0};
    char found[600];
    const bool asked = collect(db, integrity.sql, found, sizeof found, &trouble);
    if (asked && !found[0]) {
        check_pass(report);
        return;
    }
    db_visit_damage(db, "main", take_damage, &d);
    if (d.count == 0)
        check_fail(report, "%s: %s", integrity.what, asked ? found : trouble.text);
}

static void check_finding(struct orch_db *db, const struct finding *finding, struct check_report *report)
{
    struct orch_error trouble = {0};
    char found[600];
    if (!collect(db, finding->sql, found, sizeof found, &trouble))
        check_fail(report, "%s: %s", finding->what, trouble.text);
    else if (found[0])
        check_fail(report, "%s: %s", finding->what, found);
    else
        check_pass(report);
}

bool db_check(struct orch_db *db, struct check_report *report, struct orch_error *error)
{
    const bool differs = check_schema(db, report);
    check_integrity(db, report);
    for (size_t i = 0; i < ARRAY_COUNT(findings); i++) {
        if (differs && !answerable(db, findings[i].sql))
            check_skip(report, "%s: not checked, the schema differs", findings[i].what);
        else
            check_finding(db, &findings[i], report);
    }
    if (differs && !answerable(db, unfinished_sql))
        check_skip(report, "no unfinished runs: not checked, the schema differs");
    else
        check_unfinished(db, report);
    if (report->passed + report->failed == 0)
        return orch_fail(error, ORCH_INTERNAL, "database %s: nothing was checked", db->path);
    return true;
}
