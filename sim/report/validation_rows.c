#include "isa/list_grow.h"
#include "sim/report/validation_rows.h"
#include "isa/array_count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- from the database ---- */

static bool take(struct validation_rows *rows, sqlite3_stmt *from)
{
    struct validation_row *const grown = list_grow(rows->row, rows->count, &rows->room, sizeof *grown);
    if (!grown)
        return false;
    rows->row = grown;
    struct validation_row *const r = &rows->row[rows->count++];
    *r = (struct validation_row){.measured = db_column_number(from, 10),
                                 .predicted = db_column_number(from, 11),
                                 .low = sqlite3_column_double(from, 12),
                                 .high = sqlite3_column_double(from, 13),
                                 .ape = db_column_number(from, 14),
                                 .fitted = sqlite3_column_int(from, 15) != 0};
    char **const texts[] = {&r->label,     &r->chip,       &r->unit,   &r->workload,   &r->shape,
                            &r->condition, &r->value_unit, &r->source, &r->unmodelled, &r->version};
    for (int i = 0; i < 10; i++) {
        const char *const text = db_column_text(from, i);
        *texts[i] = text ? strdup(text) : NULL;
        if (text && !*texts[i])
            return false;
    }
    return true;
}

#define ROWS_SQL                                                                                                                 \
    "SELECT m.label, m.chip, m.unit, m.workload, m.shape, m.condition, m.value_unit, s.citation, v.unmodelled, v.version, "      \
    "m.value, "                                                                                                                  \
    "v.predicted, v.predicted_low, v.predicted_high, v.ape, v.fitted FROM measurement m JOIN source s ON s.id = m.source_id "    \
    "JOIN validation v ON v.id = (SELECT w.id FROM validation w WHERE w.measurement_id = m.id AND (?1 IS NULL OR "               \
    "substr(w.version, 1, length(?1)) = ?1) ORDER BY w.created DESC, w.id DESC LIMIT 1) "                                        \
    "WHERE ?2 IS NULL OR CASE ?3 WHEN 0 THEN substr(m.label, 1, length(?2)) = ?2 ELSE instr(m.label, ':') = 0 END "              \
    "ORDER BY m.label, m.id"

/* `prefix` is that of labels, "amx-timing:"; NULL reads all. */
static bool read_rows(struct orch_db *db, const char *version, const char *prefix, struct validation_rows *rows,
                      struct orch_error *error)
{
    sqlite3_stmt *const from = db_query(db, error, ROWS_SQL, "tti", version, prefix, (int64_t)rows->by_label);
    int code = SQLITE_ERROR;
    bool stored = true;
    while (from && stored && (code = db_step(db, from, error)) == SQLITE_ROW)
        stored = take(rows, from) || orch_no_memory(error);
    sqlite3_finalize(from);
    return from && stored && code == SQLITE_DONE;
}

/* Turns "folder/amx-timing.csv" into "amx-timing:" when there are scores of such a file. */
static bool file_prefix(struct orch_db *db, const char *which, char *prefix, size_t size, bool *is_file, struct orch_error *error)
{
    const char *const slash = strrchr(which, '/'), *const base = slash ? slash + 1 : which;
    const char *const dot = strstr(base, ".csv");
    int64_t scores;
    snprintf(prefix, size, "%.*s", (int)(dot ? (size_t)(dot - base) : strlen(base)), base);
    if (!db_number(db, error, 0, &scores, "SELECT count(*) FROM validation_score WHERE file IN (?1, ?1 || '.csv')", "t", prefix))
        return false;
    strncat(prefix, ":", size - strlen(prefix) - 1);
    *is_file = scores > 0;
    return true;
}

bool validation_rows_read(struct orch_db *db, const char *which, struct validation_rows *rows, struct orch_error *error)
{
    char prefix[256];
    bool is_file = false;
    *rows = (struct validation_rows){0};
    if (which && !file_prefix(db, which, prefix, sizeof prefix, &is_file, error))
        return false;
    if (!read_rows(db, is_file ? NULL : which, is_file ? prefix : NULL, rows, error))
        return false;
    if (is_file && rows->count == 0) { /* the rows of some tables have identifiers of their own */
        rows->by_label = true;
        if (!read_rows(db, NULL, prefix, rows, error))
            return false;
    }
    if (rows->count)
        return true;
    return which ? orch_fail(error, ORCH_USAGE, "no validation of '%.200s' in %s: neither a file of measurements nor a version",
                             which, db_path(db))
                 : orch_fail(error, ORCH_USAGE, "no validation in %s; orchard validate FILE.csv makes one", db_path(db));
}

void validation_rows_free(struct validation_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct validation_row *const r = &rows->row[i];
        char *const texts[] = {r->label,     r->chip,       r->unit,   r->workload,   r->shape,
                               r->condition, r->value_unit, r->source, r->unmodelled, r->version};
        for (size_t k = 0; k < ARRAY_COUNT(texts); k++)
            free(texts[k]);
    }
    free(rows->row);
    *rows = (struct validation_rows){0};
}

/* ---- scores ---- */

static bool scored(const struct validation_row *r)
{
    return !isnan(r->ape) && r->measured > 0 && r->predicted > 0;
}

/* Scores the rows that have this value in the column; NULL column = all rows. */
static bool score_where(const struct validation_rows *rows, validation_column *column, const char *name, bool fitted,
                        struct score *score, size_t *all, struct orch_error *error)
{
    struct score_pair *const pair = calloc(rows->count + 1, sizeof *pair);
    size_t count = 0;
    *all = 0;
    for (size_t i = 0; pair && i < rows->count; i++) {
        const struct validation_row *const r = &rows->row[i];
        if (r->fitted != fitted || (column && strcmp(column(r), name) != 0))
            continue;
        ++*all;
        if (scored(r))
            pair[count++] = (struct score_pair){r->predicted, r->measured, r->low, r->high};
    }
    const bool ok = (pair && score_pairs(pair, count, score)) || orch_no_memory(error);
    free(pair);
    return ok;
}

bool validation_score_of(const struct validation_rows *rows, bool fitted, struct score *score, size_t *all,
                         struct orch_error *error)
{
    return score_where(rows, NULL, NULL, fitted, score, all, error);
}

static int by_rows(const void *a, const void *b)
{
    const struct validation_part *const x = a, *const y = b;
    return x->rows != y->rows ? (x->rows < y->rows ? 1 : -1) : strcmp(x->name, y->name);
}

bool validation_parts_by(const struct validation_rows *rows, validation_column *column, struct validation_part **parts,
                         size_t *count, struct orch_error *error)
{
    struct validation_part *const list = calloc(rows->count + 1, sizeof *list);
    bool ok = list || orch_no_memory(error);
    *count = 0;
    for (size_t i = 0; ok && i < rows->count; i++) {
        size_t k = 0;
        if (rows->row[i].fitted)
            continue;
        while (k < *count && strcmp(list[k].name, column(&rows->row[i])) != 0)
            k++;
        if (k == *count)
            list[(*count)++].name = column(&rows->row[i]);
    }
    for (size_t k = 0; ok && k < *count; k++)
        ok = score_where(rows, column, list[k].name, false, &list[k].score, &list[k].rows, error);
    if (ok)
        qsort(list, *count, sizeof *list, by_rows);
    *parts = list;
    return ok;
}
