#include "sim/serve/page_rows.h"

#include "sim/ask/sweep/sweep_spec.h"
#include "sim/base/format.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LATEST = 100, NEWER = 200, COLUMNS = 10, STATUS = 4 };

static const struct result_column columns[COLUMNS] = {
    {"run", NULL, true},     {"workload", NULL, false},  {"chip", NULL, false}, {"unit", NULL, false},
    {"status", NULL, false}, {"time", "s", true},        {"energy", "J", true}, {"precision", NULL, false},
    {"device", NULL, false}, {"begun, UTC", NULL, false}};

static const char *const filters[ROWS_FILTERS] = {"workload", "chip", "unit", "precision", "status"};

const char *rows_filter_name(size_t index)
{
    return filters[index];
}

static const char *field(const struct http_request *request, const char *name)
{
    const char *const value = request->query(request->carrier, name);
    return value && *value ? value : NULL;
}

/* A date of the database as people read it, in UTC: without the letters and the fraction. */
#define BEGUN(column) "replace(substr(" column ", 1, 19), 'T', ' ')"

/* A filter lets through what contains its text. */
static sqlite3_stmt *select_runs(const struct protocol_context *c, const struct http_request *r, int64_t after, bool newest)
{
    struct orch_error ignored = {0};
    return db_query(
        c->db, &ignored,
        newest
            ? "SELECT id, workload, chip, unit, status, seconds, joules, precision, device, " BEGUN(
                  "started") " FROM run WHERE "
                             "id > ? AND (?2 IS NULL OR instr(workload, ?2)) AND (?3 IS NULL OR instr(chip, ?3)) AND (?4 IS NULL "
                             "OR unit = ?4) AND (?5 IS NULL OR precision = ?5) AND (?6 IS NULL OR status = ?6) ORDER BY id DESC "
                             "LIMIT ?"
            : "SELECT id, workload, chip, unit, status, seconds, joules, precision, device, " BEGUN(
                  "started") " FROM run WHERE "
                             "id > ? AND (?2 IS NULL OR instr(workload, ?2)) AND (?3 IS NULL OR instr(chip, ?3)) AND (?4 IS NULL "
                             "OR unit = ?4) AND (?5 IS NULL OR precision = ?5) AND (?6 IS NULL OR status = ?6) ORDER BY id LIMIT "
                             "?",
        "ittttti", after, field(r, filters[0]), field(r, filters[1]), field(r, filters[2]), field(r, filters[3]),
        field(r, filters[4]), (int64_t)(newest ? LATEST : NEWER));
}

/* What a cell of a run shows; NULL = nothing. Who was killed had no time to say so. */
static const char *shown(struct orch_db *db, sqlite3_stmt *row, int column, char text[FORMAT_SIZE])
{
    const char *const unit = columns[column].unit;
    char why[DB_END_SIZE];
    if (column == STATUS && strcmp(db_column_text(row, column), "running") == 0 &&
        db_run_was_left(db, sqlite3_column_int64(row, 0), why))
        return "interrupted";
    if (unit)
        return isnan(db_column_number(row, column)) ? NULL
               : *unit == 's'                       ? format_duration(text, db_column_number(row, column))
                                                    : format_si(text, db_column_number(row, column), unit);
    return db_column_text(row, column);
}

struct result_table *rows_runs(const struct protocol_context *c, const struct http_request *request)
{
    struct result_table *const t = result_table_create(columns, COLUMNS);
    sqlite3_stmt *const rows = select_runs(c, request, 0, true);
    char text[FORMAT_SIZE];
    while (rows && db_step(c->db, rows, NULL) == SQLITE_ROW)
        for (int i = 0; i < COLUMNS; i++) {
            if (columns[i].unit)
                result_table_number(t, db_column_number(rows, i), shown(c->db, rows, i, text));
            else
                result_table_text(t, shown(c->db, rows, i, text));
        }
    sqlite3_finalize(rows);
    return t;
}

void rows_address(const struct http_request *request, struct text *to)
{
    text_put(to, "/runs.json?list=1");
    for (size_t i = 0; i < ROWS_FILTERS; i++) {
        const char *const value = field(request, filters[i]);
        if (value)
            text_printf(to, "&%s=", filters[i]);
        for (const char *v = value; v && *v; v++)
            text_printf(to, isalnum((unsigned char)*v) ? "%c" : "%%%02X", (unsigned char)*v);
    }
}

/* ---- what is going on ---- */

enum { NOW_COLUMNS = 12 };
static const struct result_column now_columns[NOW_COLUMNS] = {
    {"workload", NULL, false}, {"chip", NULL, false},    {"unit", NULL, false},      {"doing", NULL, false},
    {"done", NULL, true},      {"simulated", "s", true}, {"power", "W", true},       {"hottest", "C", true},
    {"DRAM", "GB/s", true},    {"host time", "s", true}, {"operations", NULL, true}, {"begun, UTC", NULL, false}};

struct now_cells {
    double number[NOW_COLUMNS];           /* NAN = not known */
    char shown[NOW_COLUMNS][FORMAT_SIZE]; /* of the numbers */
    const char *text[NOW_COLUMNS];
    char begun[24];
};

static void fill_now(struct now_cells *c, const struct db_progress *p)
{
    const double number[NOW_COLUMNS] = {NAN,          NAN,
                                        NAN,          NAN,
                                        p->fraction,  p->seconds > 0 ? p->seconds : NAN,
                                        p->watts,     p->celsius,
                                        p->dram_gbps, p->host_seconds,
                                        p->ops,       NAN};
    *c = (struct now_cells){.text = {p->workload, p->chip, p->unit, p->doing ? p->doing : p->kind, [NOW_COLUMNS - 1] = c->begun}};
    snprintf(c->begun, sizeof c->begun, "%.10s %.8s", p->started, strlen(p->started) > 11 ? p->started + 11 : "");
    memcpy(c->number, number, sizeof number);
    if (p->points > 0)
        snprintf(c->shown[4], FORMAT_SIZE, "%.0f of %.0f points", p->points_done, p->points);
    else
        snprintf(c->shown[4], FORMAT_SIZE, "%.0f %%", 100 * p->fraction);
    format_duration(c->shown[5], p->seconds);
    snprintf(c->shown[6], FORMAT_SIZE, "%.3g", p->watts);
    snprintf(c->shown[7], FORMAT_SIZE, "%.1f", p->celsius);
    snprintf(c->shown[8], FORMAT_SIZE, "%.3g", p->dram_gbps);
    format_duration(c->shown[9], p->host_seconds);
    snprintf(c->shown[10], FORMAT_SIZE, "%.0f", p->ops);
    for (int i = 0; i < NOW_COLUMNS; i++)
        if (!isnan(number[i]))
            c->text[i] = c->shown[i];
}

static void row_now(void *table, const struct db_progress *progress)
{
    struct now_cells cells;
    fill_now(&cells, progress);
    for (int i = 0; i < NOW_COLUMNS; i++) {
        if (now_columns[i].right)
            result_table_number(table, cells.number[i], cells.text[i]);
        else
            result_table_text(table, cells.text[i]);
    }
}

struct result_table *rows_now(const struct protocol_context *c)
{
    struct result_table *const t = result_table_create(now_columns, NOW_COLUMNS);
    db_visit_progress(c->db, row_now, t, NULL);
    return t;
}

/* A row of texts as JSON. */
static void put_texts(struct text *to, const char *const *text, size_t count)
{
    const char last = to->size ? to->data[to->size - 1] : 0;
    text_put(to, last == '[' ? "\n[" : ",\n[");
    for (size_t i = 0; i < count; i++) {
        text_put(to, i ? "," : "");
        text_json(to, text[i]);
    }
    text_put(to, "]");
}

static void json_now(void *to, const struct db_progress *progress)
{
    struct now_cells cells;
    fill_now(&cells, progress);
    put_texts(to, cells.text, NOW_COLUMNS);
}

static void begin_rows(struct http_reply *reply, const struct result_column *column, int count)
{
    reply_json(reply);
    text_put(&reply->body, "{\"numbers\":[");
    for (int i = 0; i < count; i++)
        text_printf(&reply->body, i ? ",%s" : "%s", column[i].right ? "true" : "false");
    text_put(&reply->body, "],\"rows\":[");
}

void rows_now_answer(const struct protocol_context *c, struct http_reply *reply)
{
    begin_rows(reply, now_columns, NOW_COLUMNS);
    db_visit_progress(c->db, json_now, &reply->body, NULL);
    text_put(&reply->body, "]}\n");
}

/* ---- newer runs ---- */

void rows_answer(const struct protocol_context *c, const struct http_request *request, struct http_reply *reply)
{
    const char *const after = field(request, "after");
    struct text *const to = &reply->body;
    begin_rows(reply, columns, COLUMNS);
    sqlite3_stmt *const rows = select_runs(c, request, after ? strtoll(after, NULL, 10) : 0, false);
    while (rows && db_step(c->db, rows, NULL) == SQLITE_ROW) {
        const char *cell[COLUMNS];
        char text[COLUMNS][FORMAT_SIZE];
        for (int i = 0; i < COLUMNS; i++)
            cell[i] = shown(c->db, rows, i, text[i]);
        put_texts(to, cell, COLUMNS);
    }
    sqlite3_finalize(rows);
    text_put(to, "]}\n");
}

/* ---- sweeps ---- */

enum { SWEEP_COLUMNS = 7 };
static const struct result_column sweep_columns[SWEEP_COLUMNS] = {
    {"sweep", NULL, true},  {"name", NULL, false},  {"workload", NULL, false},  {"points done", NULL, true},
    {"failed", NULL, true}, {"state", NULL, false}, {"begun, UTC", NULL, false}};

/* Points of the design that a sweep plans; 0 when its specification cannot be read. */
static uint64_t planned_points(const char *specification)
{
    struct orch_error ignored = {0};
    struct sweep_spec *const spec =
        specification ? sweep_spec_parse("specification", specification, strlen(specification), &ignored) : NULL;
    const uint64_t points = spec ? spec->points : 0;
    sweep_spec_free(spec);
    return points;
}

/* Points with larger numbers move one key alone, for a chart: nobody asked for them. */
static int64_t points_with(const struct protocol_context *c, int64_t sweep, uint64_t planned, const char *status)
{
    int64_t count = 0;
    db_number(c->db, NULL, 0, &count, "SELECT count(*) FROM sweep_point WHERE sweep_id = ? AND point < ? AND status = ?", "iit",
              sweep, (int64_t)planned, status);
    return count;
}

static void sweep_row(struct result_table *t, const struct protocol_context *c, sqlite3_stmt *row)
{
    char of[64];
    const uint64_t planned = planned_points(db_column_text(row, 3));
    const int64_t id = sqlite3_column_int64(row, 0);
    const int64_t done = points_with(c, id, planned, "done"), failed = points_with(c, id, planned, "failed");
    const bool whole = (uint64_t)(done + failed) >= planned;
    snprintf(of, sizeof of, "%lld of %llu", (long long)done, (unsigned long long)planned);
    result_table_number(t, (double)id, NULL);
    result_table_text(t, db_column_text(row, 1));
    result_table_text(t, db_column_text(row, 2));
    result_table_number(t, (double)done, of);
    result_table_number(t, (double)failed, NULL);
    result_table_text(t, whole ? "done" : "not finished");
    result_table_text(t, db_column_text(row, 4));
}

struct result_table *rows_sweeps(const struct protocol_context *c)
{
    struct result_table *const t = result_table_create(sweep_columns, SWEEP_COLUMNS);
    struct orch_error ignored = {0};
    sqlite3_stmt *const rows =
        db_query(c->db, &ignored,
                 "SELECT id, name, workload, specification, " BEGUN("created") " FROM sweep ORDER BY id DESC LIMIT 50", "");
    while (rows && db_step(c->db, rows, NULL) == SQLITE_ROW)
        sweep_row(t, c, rows);
    sqlite3_finalize(rows);
    return t;
}
