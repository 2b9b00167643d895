/* How the score of each file changed from version to version. */
#include "isa/array_count.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/prove/validate/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The score of one file for one version, over rows from which no parameter was taken. */
struct point {
    char file[96], file_hash[40], version[VALIDATION_VERSION_SIZE], created[32];
    int64_t rows, modelled;
    double mape, median, symmetric, bias, within25, coverage;
};

struct points {
    struct point *item;
    size_t count;
};

static void copy_text(char *to, size_t size, sqlite3_stmt *row, int column)
{
    const char *const text = db_column_text(row, column);
    snprintf(to, size, "%s", text ? text : "");
}

static struct point read_point(sqlite3_stmt *row)
{
    struct point p = {.rows = sqlite3_column_int64(row, 4),
                      .modelled = sqlite3_column_int64(row, 5),
                      .mape = db_column_number(row, 6),
                      .median = db_column_number(row, 7),
                      .symmetric = db_column_number(row, 8),
                      .bias = db_column_number(row, 9),
                      .within25 = db_column_number(row, 10),
                      .coverage = db_column_number(row, 11)};
    copy_text(p.file, sizeof p.file, row, 0);
    copy_text(p.file_hash, sizeof p.file_hash, row, 1);
    copy_text(p.version, sizeof p.version, row, 2);
    copy_text(p.created, sizeof p.created, row, 3);
    return p;
}

static bool read_points(struct orch_db *db, const char *file, struct points *points, struct orch_error *error)
{
    sqlite3_stmt *const row =
        db_query(db, error,
                 "SELECT file, file_hash, version, created, rows, modelled, mape, median_ape, symmetric, bias, within25, "
                 "interval_coverage FROM validation_score WHERE grouping = '' AND fitted = 0 AND (?1 IS NULL OR file = ?1) "
                 "ORDER BY file, created, id",
                 "t", file);
    int code = SQLITE_ERROR;
    *points = (struct points){0};
    while (row && (code = db_step(db, row, error)) == SQLITE_ROW) {
        struct point *const grown = realloc(points->item, (points->count + 1) * sizeof *grown);
        if (!grown) {
            orch_no_memory(error);
            break;
        }
        points->item = grown;
        grown[points->count++] = read_point(row);
    }
    sqlite3_finalize(row);
    if (code == SQLITE_DONE && points->count == 0)
        code = orch_fail(error, ORCH_USAGE, file ? "no validation of %s is recorded" : "no validation is recorded%s",
                         file ? file : "");
    if (code == SQLITE_DONE)
        return true;
    free(points->item);
    return false;
}

/* The previous validation of the same file; NULL for the first. */
static const struct point *before(const struct points *points, size_t i)
{
    return i && strcmp(points->item[i - 1].file, points->item[i].file) == 0 ? &points->item[i - 1] : NULL;
}

/* Scores over different rows are not compared: then the measurements changed, not the model. */
static const char *direction(const struct point *last, const struct point *now)
{
    if (!last)
        return "";
    if (strcmp(last->file_hash, now->file_hash) != 0)
        return "other measurements";
    if (fabs(now->symmetric - last->symmetric) < 5e-5 && now->modelled == last->modelled)
        return "same";
    if (now->modelled != last->modelled)
        return now->modelled > last->modelled ? "more rows modelled" : "fewer rows modelled";
    return now->symmetric < last->symmetric ? "better" : "worse";
}

/* ---- groups that moved ---- */

enum { MOVED_MOST = 5 };
#define MOVED_SQL                                                                                                                \
    "SELECT n.grouping, n.grp, o.symmetric, n.symmetric, n.modelled FROM validation_score n JOIN validation_score o ON "         \
    "o.file = n.file AND o.file_hash = n.file_hash AND o.grouping = n.grouping AND o.grp = n.grp AND o.fitted = 0 AND "          \
    "o.version = ?2 "                                                                                                            \
    "WHERE n.file = ?1 AND n.version = ?3 AND n.fitted = 0 AND n.grouping <> '' AND abs(n.symmetric - o.symmetric) > 1e-4 "      \
    "ORDER BY abs(n.symmetric - o.symmetric) * n.modelled DESC, n.grouping, n.grp LIMIT ?4"

static sqlite3_stmt *moved(struct orch_db *db, const struct point *last, const struct point *now, struct orch_error *error)
{
    return db_query(db, error, MOVED_SQL, "ttti", now->file, last->version, now->version, (int64_t)MOVED_MOST);
}

static bool print_moved(struct orch_db *db, const struct point *last, const struct point *now, FILE *out,
                        struct orch_error *error)
{
    sqlite3_stmt *const row = moved(db, last, now, error);
    int code = SQLITE_ERROR;
    while (row && (code = db_step(db, row, error)) == SQLITE_ROW)
        fprintf(out, "  %s %s %s: %.1f %% -> %.1f %% over %lld rows\n", now->file, db_column_text(row, 0), db_column_text(row, 1),
                100 * sqlite3_column_double(row, 2), 100 * sqlite3_column_double(row, 3),
                (long long)sqlite3_column_int64(row, 4));
    sqlite3_finalize(row);
    return code == SQLITE_DONE;
}

/* ---- text ---- */

static const struct table_column columns[] = {
    {"file", NULL, false, 40},   {"version", NULL, false, 0}, {"when", NULL, false, 16},     {"rows", NULL, true, 0},
    {"modelled", NULL, true, 0}, {"MAPE", "%", true, 0},      {"symmetric", "%", true, 0},   {"median", "%", true, 0},
    {"bias", "%", true, 0},      {"in 25 %", "%", true, 0},   {"in interval", "%", true, 0}, {"change", NULL, false, 0},
};

static bool add_share(struct table *table, double share)
{
    return isnan(share) ? table_cell(table, "-") : table_cell(table, "%.1f", 100 * share);
}

static bool add_row(struct table *table, const struct point *last, const struct point *p)
{
    const double shares[] = {p->mape, p->symmetric, p->median, p->bias, p->within25, p->coverage};
    bool ok = table_row(table) && table_cell(table, "%s", p->file) && table_cell(table, "%s", p->version) &&
              table_cell(table, "%.16s", p->created) && table_cell(table, "%lld", (long long)p->rows) &&
              table_cell(table, "%lld", (long long)p->modelled);
    for (size_t i = 0; ok && i < ARRAY_COUNT(shares); i++)
        ok = add_share(table, shares[i]);
    return ok && table_cell(table, "%s", direction(last, p));
}

bool validation_history_text(struct orch_db *db, const char *file, FILE *out, struct orch_error *error)
{
    struct points points;
    if (!read_points(db, file, &points, error))
        return false;
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    bool ok = table != NULL;
    for (size_t i = 0; ok && i < points.count; i++)
        ok = add_row(table, before(&points, i), &points.item[i]);
    if (ok)
        table_print(table, out, false);
    else
        orch_no_memory(error);
    for (size_t i = 0; ok && i < points.count; i++) {
        const struct point *const last = before(&points, i);
        const bool newest = i + 1 == points.count || !before(&points, i + 1);
        ok = !last || !newest || print_moved(db, last, &points.item[i], out, error);
    }
    table_free(table);
    free(points.item);
    return ok;
}

/* ---- JSON ---- */

static struct json_object *point_json(const struct point *last, const struct point *p)
{
    struct json_object *const o = json_object_new_object();
    json_add_text(o, "file", p->file);
    json_add_text(o, "file_hash", p->file_hash);
    json_add_text(o, "version", p->version);
    json_add_text(o, "created", p->created);
    json_add_count(o, "rows", (uint64_t)p->rows);
    json_add_count(o, "modelled", (uint64_t)p->modelled);
    json_add_number(o, "mape", p->mape);
    json_add_number(o, "symmetric_error", p->symmetric);
    json_add_number(o, "median_ape", p->median);
    json_add_number(o, "bias", p->bias);
    json_add_number(o, "within25", p->within25);
    json_add_number(o, "interval_coverage", p->coverage);
    json_add_text(o, "change", last ? direction(last, p) : NULL);
    return o;
}

static struct json_object *moved_json(struct orch_db *db, const struct point *last, const struct point *now,
                                      struct orch_error *error)
{
    struct json_object *const list = json_object_new_array();
    sqlite3_stmt *const row = moved(db, last, now, error);
    while (row && db_step(db, row, error) == SQLITE_ROW) {
        struct json_object *const o = json_object_new_object();
        json_add_text(o, "grouping", db_column_text(row, 0));
        json_add_text(o, "group", db_column_text(row, 1));
        json_add_number(o, "symmetric_error_before", sqlite3_column_double(row, 2));
        json_add_number(o, "symmetric_error", sqlite3_column_double(row, 3));
        json_add_count(o, "modelled", (uint64_t)sqlite3_column_int64(row, 4));
        json_object_array_add(list, o);
    }
    sqlite3_finalize(row);
    return list;
}

struct json_object *validation_history_json(struct orch_db *db, const char *file, struct orch_error *error)
{
    struct points points;
    if (!read_points(db, file, &points, error))
        return NULL;
    struct json_object *const o = json_object_new_object(), *const list = json_object_new_array();
    for (size_t i = 0; i < points.count; i++) {
        const struct point *const last = before(&points, i);
        struct json_object *const p = point_json(last, &points.item[i]);
        if (last)
            json_object_object_add(p, "moved", moved_json(db, last, &points.item[i], error));
        json_object_array_add(list, p);
    }
    json_object_object_add(o, "history", list);
    free(points.item);
    return o;
}
