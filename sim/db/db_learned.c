/* What characteristics say of kernels on a chip as it is: for choices, which do not need whole timings. */
#include "sim/db/db_internal.h"

#include <math.h>
#include <string.h>

/* JSON is parsed for rows that hold alone, by a statement of its own. */
static const char rows_sql[] =
    "SELECT c.id, c.hash, c.base_hash, r.text, c.part, k.text, s.text, p.text FROM characteristic c "
    "JOIN name r ON r.id = c.reads_id JOIN name k ON k.id = c.kernel_id "
    "JOIN name s ON s.id = c.shape_id JOIN name p ON p.id = c.precision_id "
    "WHERE c.version = ? AND c.detail = ? AND c.part IN ('cpu', 'amx', 'gpu') ORDER BY c.reads_id, c.id";
static const char numbers_sql[] =
    "SELECT json_extract(timing, '$.result.flops'), json_extract(timing, '$.result.seconds'), "
    "json_extract(timing, '$.result.device_seconds'), json_extract(timing, '$.busy.e_cpu') IS NOT NULL FROM characteristic "
    "WHERE id = ? AND json_valid(timing)";

struct walk {
    struct orch_db *db;
    sqlite3_stmt *rows, *numbers;
    db_present_parameters *present;
    db_learned_visit *visit;
    void *context;
};

/* Whether it would be found under the hash that its question has on this chip. */
static bool holds(const struct walk *w)
{
    char hash[DB_HASH_SIZE];
    size_t count = 0;
    const struct db_parameter *const parameters = w->present(w->context, db_column_text(w->rows, 3), &count);
    if (!parameters)
        return false;
    db_characteristic_hash(db_column_text(w->rows, 2), parameters, count, hash);
    return strcmp(hash, db_column_text(w->rows, 1)) == 0;
}

static double number_or_nan(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? NAN : sqlite3_column_double(row, column);
}

static enum orch_part part_of(const char *name)
{
    enum orch_part part = PART_CPU;
    while (part < PART_COUNT && strcmp(orch_part_name(part), name) != 0)
        part++;
    return part;
}

/* A characteristic of an early version may have no timing: it is passed over. */
static bool visit_row(const struct walk *w, struct orch_error *error)
{
    sqlite3_bind_int64(w->numbers, 1, sqlite3_column_int64(w->rows, 0));
    const int code = db_step(w->db, w->numbers, error);
    bool ok = code == SQLITE_DONE;
    if (code == SQLITE_ROW) {
        struct db_learned l = {.part = part_of(db_column_text(w->rows, 4)),
                               .e_core = sqlite3_column_int(w->numbers, 3) != 0,
                               .kernel = db_column_text(w->rows, 5),
                               .shape = db_column_text(w->rows, 6),
                               .precision = db_column_text(w->rows, 7),
                               .flops = number_or_nan(w->numbers, 0)};
        l.seconds = number_or_nan(w->numbers, l.part == PART_GPU ? 2 : 1);
        ok = w->visit(w->context, &l, error);
    }
    sqlite3_reset(w->numbers);
    return ok;
}

bool db_visit_learned(struct orch_db *db, const char *version, const char *detail, db_present_parameters *present,
                      db_learned_visit *visit, void *context, struct orch_error *error)
{
    struct walk w = {db, NULL, NULL, present, visit, context};
    int code = SQLITE_ROW;
    w.rows = db_query(db, error, rows_sql, "tt", version, detail);
    w.numbers = w.rows ? db_query(db, error, numbers_sql, "i", (int64_t)0) : NULL;
    bool ok = w.numbers != NULL;
    while (ok && (code = db_step(db, w.rows, error)) == SQLITE_ROW)
        ok = !holds(&w) || visit_row(&w, error);
    sqlite3_finalize(w.rows);
    sqlite3_finalize(w.numbers);
    return ok && code == SQLITE_DONE;
}
