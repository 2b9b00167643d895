#include "sim/api/verb_db_runs.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns that are printed, in this order. */
enum { RUN, STARTED, WORKLOAD, CHIP, DEVICE, UNIT, PRECISION, SECONDS, SECONDS_LOW, SECONDS_HIGH, JOULES, BOUND_BY, STATUS };
#define COLUMNS                                                                                                                  \
    "run_id, started, workload, chip, device, unit, precision, seconds, seconds_low, seconds_high, joules, bound_by, status"

bool verb_db_runs_read(int words, const char *const *word, unsigned *most, struct orch_error *error)
{
    char *end = NULL;
    const unsigned long long number = words == 1 ? strtoull(word[0], &end, 10) : VERB_DB_RUNS;
    if (words > 1 || (words == 1 && (*end || strchr(word[0], '-') || number < 1 || number > VERB_DB_RUNS_MOST)))
        return orch_fail(error, ORCH_USAGE, "runs takes one number at most, how many of the newest: 1 to %d; got '%.40s'",
                         VERB_DB_RUNS_MOST, word[words - 1]);
    *most = (unsigned)number;
    return true;
}

void verb_db_runs_query(unsigned most, char *sql, size_t size)
{
    snprintf(sql, size, "SELECT " COLUMNS " FROM v_run_summary ORDER BY run_id DESC LIMIT %u", most);
}

/* Runs that failed early do not know all of it. */
static const char *known(sqlite3_stmt *row, int column)
{
    const char *const text = db_column_text(row, column);
    return text ? text : "";
}

static void print_run(struct table *table, sqlite3_stmt *row)
{
    char seconds[FORMAT_SIZE], joules[FORMAT_SIZE];
    const char *const started = known(row, STARTED), *const device = known(row, DEVICE), *const status = known(row, STATUS);
    const bool done = strcmp(status, "done") == 0;
    table_row(table);
    table_cell(table, "%s", db_column_text(row, RUN));
    table_cell(table, "%.10s %.5s", started, strlen(started) > 11 ? started + 11 : "");
    table_cell(table, "%s", db_column_text(row, WORKLOAD));
    table_cell(table, "%s%s%s", known(row, CHIP), *device ? " in " : "", device);
    table_cell(table, "%s %s", known(row, UNIT), known(row, PRECISION));
    table_cell(table, "%s",
               format_seconds(seconds, db_column_number(row, SECONDS), db_column_number(row, SECONDS_LOW),
                              db_column_number(row, SECONDS_HIGH)));
    const double energy = db_column_number(row, JOULES);
    table_cell(table, "%s", isnan(energy) ? "-" : format_si(joules, energy, "J"));
    table_cell(table, "%s", done ? db_column_text(row, BOUND_BY) : status);
}

bool verb_db_runs_print(struct api_context *context, struct orch_db *db, unsigned most, struct orch_error *error)
{
    static const struct table_column columns[] = {
        {"run", NULL, true, 0},   {"began", "UTC", false, 0},     {"workload", NULL, false, 48}, {"chip", NULL, false, 0},
        {"unit", NULL, false, 0}, {"time", "simulated", true, 0}, {"energy", NULL, true, 0},     {"bound by", NULL, false, 0}};
    sqlite3_stmt *const rows = db_query(db, error,
                                        "SELECT * FROM (SELECT " COLUMNS " FROM v_run_summary ORDER BY run_id DESC LIMIT ?) "
                                        "ORDER BY run_id",
                                        "i", (int64_t)most);
    struct table *const table = rows ? table_create(columns, ARRAY_COUNT(columns)) : NULL;
    int code = rows ? SQLITE_ROW : SQLITE_ERROR;
    while (table && (code = db_step(db, rows, error)) == SQLITE_ROW)
        print_run(table, rows);
    sqlite3_finalize(rows);
    if (code != SQLITE_DONE) {
        table_free(table);
        return table || !rows ? false : orch_no_memory(error);
    }
    if (table_rows(table) == 0) {
        table_free(table);
        api_note(context, "%s: no runs yet", db_path(db));
        return true;
    }
    api_table(context, table);
    return true;
}
