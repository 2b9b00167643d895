/* A run that did not finish: why, and what is recorded of it. */
#include "sim/base/format.h"
#include "sim/report/report.h"
#include "sim/report/run_parts.h"

#include <math.h>
#include <string.h>

enum { ROWS_MOST = 900 };

static bool faults_table(struct page *page, struct orch_db *db, int64_t run_id, struct orch_error *error)
{
    static const struct result_column columns[] = {{"time", "s", true}, {"on", NULL, false},      {"fault", NULL, false},
                                                   {"pc", NULL, false}, {"address", NULL, false}, {"what happened", NULL, false}};
    struct result_table *const t = result_table_create(columns, 6);
    sqlite3_stmt *const rows = db_query(
        db, error, "SELECT time_ns, part || ' ' || instance, fault, pc, address, text FROM fault WHERE run_id = ? ORDER BY seq",
        "i", run_id);
    int code = SQLITE_ERROR;
    char time[FORMAT_SIZE];
    while (rows && (code = db_step(db, rows, error)) == SQLITE_ROW) {
        const double seconds = db_column_number(rows, 0) * 1e-9;
        result_table_number(t, seconds, format_quantity(time, seconds, "s"));
        for (int i = 1; i < 6; i++)
            result_table_text(t, db_column_text(rows, i));
    }
    sqlite3_finalize(rows);
    if (result_table_rows(t))
        page_table(page, "Faults", t);
    result_table_free(t);
    return rows && code == SQLITE_DONE;
}

static void settings_table(struct page *page, sqlite3_stmt *row, const char *status, const char *why)
{
    static const struct result_column columns[] = {{"setting", NULL, false}, {"value", NULL, false}};
    static const char *const names[] = {"status", "error", "workload", "chip",    "device", "unit", "precision",
                                        "detail", "mode",  "options",  "version", "begun",  "ended"};
    struct result_table *const t = result_table_create(columns, 2);
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        result_table_text(t, names[i]);
        result_table_text(t, i == 0 ? status : i == 1 ? why : db_column_text(row, i));
    }
    page_table(page, "What was asked", t);
    result_table_free(t);
}

static const char *or_unknown(const char *text)
{
    return text ? text : "?";
}

static void say_what(struct page *page, const char *status, const char *why)
{
    page_callout(page, "This run is not whole: %s%s%.1000s. It has no result.",
                 strcmp(status, "running") == 0  ? "it is still being written"
                 : strcmp(status, "failed") == 0 ? "it failed"
                                                 : "it was interrupted",
                 why ? ": " : "", why ? why : "");
}

static bool what_was_recorded(struct page *page, struct orch_db *db, const struct report_run *run, struct orch_error *error)
{
    int64_t any;
    page_section(page, "Until then");
    if (!db_number(db, error, 0, &any,
                   "SELECT EXISTS (SELECT 1 FROM sample WHERE run_id = ?1) OR (SELECT count(*) FROM op WHERE run_id = ?1) > 1",
                   "i", run->r.run_id))
        return false;
    if (!any)
        page_paragraph(page, "Nothing was recorded: operations and samples are written when a run ends.");
    return run_part_series(page, db, run, ROWS_MOST, error) && run_part_ops(page, db, run, error);
}

bool report_partial_run(struct orch_db *db, int64_t run_id, struct page **page, struct orch_error *error)
{
    struct report_run run = {.chip = NULL};
    char title[256], sub[120], left[DB_END_SIZE];
    run_result_init(&run.r);
    run.r.run_id = run_id;
    sqlite3_stmt *const row = db_query(db, error,
                                       "SELECT status, error, workload, chip, device, unit, precision, detail, mode, options, "
                                       "version, started, finished FROM run WHERE id = ?",
                                       "i", run_id);
    bool ok = row && db_step(db, row, error) == SQLITE_ROW;
    if (ok) {
        const bool was_left = db_run_was_left(db, run_id, left);
        const char *const status = was_left ? "interrupted" : or_unknown(db_column_text(row, 0));
        const char *const why = was_left ? left : db_column_text(row, 1);
        snprintf(title, sizeof title, "%.160s on %.60s: not finished", or_unknown(db_column_text(row, 2)),
                 or_unknown(db_column_text(row, 3)));
        snprintf(sub, sizeof sub, "run %lld, %.16s", (long long)run_id, status);
        *page = page_create(title, sub);
        page_section(*page, "What happened");
        say_what(*page, status, why);
        ok = faults_table(*page, db, run_id, error);
        settings_table(*page, row, status, why);
        ok = ok && what_was_recorded(*page, db, &run, error);
        page_foot(*page, "Times, energies and temperatures are simulated, not measured.");
    }
    sqlite3_finalize(row);
    run_result_free(&run.r);
    return (ok && *page) || orch_no_memory(error);
}
