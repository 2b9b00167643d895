/* Stores published measurements and the predictions that belong to them. */
#include "isa/array_count.h"
#include "sim/base/content_hash.h"
#include "sim/db/db_internal.h"

#include <math.h>

static void hash_measurement(const struct db_measurement *m, char hash[CONTENT_HASH_SIZE])
{
    const char *const texts[] = {m->label,  m->chip,       m->unit,      m->workload, m->precision, m->shape,
                                 m->metric, m->value_unit, m->condition, m->kind,     m->source,    m->note};
    const double numbers[] = {m->value, m->watts, m->flops, m->min_bytes};
    struct content_hash h;
    content_hash_begin(&h);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        content_hash_add_text(&h, texts[i]);
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        content_hash_add_number(&h, numbers[i]);
    content_hash_end(&h, hash);
}

bool db_put_measurement(struct orch_db *db, const struct db_measurement *m, int64_t *id, struct orch_error *error)
{
    char hash[CONTENT_HASH_SIZE];
    int64_t source;
    hash_measurement(m, hash);
    if (!db_number(db, error, 0, id, "SELECT id FROM measurement WHERE hash = ?", "t", hash))
        return false;
    if (*id)
        return true;
    if (!m->source || !*m->source)
        return orch_fail(error, ORCH_USAGE, "a measurement without a source: %s", m->workload ? m->workload : "?");
    if (!db_source_id(db, m->source, &source, error) ||
        !db_exec(db, error,
                 "INSERT INTO measurement (hash, label, chip, unit, workload, precision, shape, metric, value, value_unit, "
                 "watts, condition, kind, source_id, flops, min_bytes, note) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 "ttttttttdtdttiddt", hash, m->label, m->chip, m->unit, m->workload, m->precision, m->shape, m->metric, m->value,
                 m->value_unit, m->watts, m->condition, m->kind, source, m->flops, m->min_bytes, m->note))
        return false;
    *id = sqlite3_last_insert_rowid(db->sqlite);
    return true;
}

/* Identifies one prediction: the measurement by its content, the chip and the version. */
static bool hash_validation(struct orch_db *db, const struct db_validation *v, char hash[CONTENT_HASH_SIZE], double *measured,
                            struct orch_error *error)
{
    sqlite3_stmt *row = db_query(db, error, "SELECT hash, value FROM measurement WHERE id = ?", "i", v->measurement_id);
    if (!row)
        return false;
    const int code = db_step(db, row, error);
    if (code == SQLITE_ROW) {
        struct content_hash h;
        content_hash_begin(&h);
        content_hash_add_text(&h, db_column_text(row, 0));
        content_hash_add_text(&h, v->chip_hash);
        content_hash_add_text(&h, v->version);
        content_hash_end(&h, hash);
        *measured = sqlite3_column_double(row, 1);
    } else if (code == SQLITE_DONE) {
        orch_fail(error, ORCH_INTERNAL, "database %s: no measurement %lld", db->path, (long long)v->measurement_id);
    }
    sqlite3_finalize(row);
    return code == SQLITE_ROW;
}

bool db_put_validation(struct orch_db *db, const struct db_validation *v, struct orch_error *error)
{
    char hash[CONTENT_HASH_SIZE], now[32];
    double measured;
    if (!hash_validation(db, v, hash, &measured, error))
        return false;
    const double ape = measured != 0 ? fabs(v->predicted - measured) / fabs(measured) : (double)NAN;
    db_timestamp(now, sizeof now);
    return db_exec(db, error,
                   "INSERT INTO validation (hash, measurement_id, run_id, version, predicted, predicted_low, "
                   "predicted_high, ape, fitted, unmodelled, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT (hash) DO UPDATE SET run_id = excluded.run_id, predicted = excluded.predicted, "
                   "predicted_low = excluded.predicted_low, predicted_high = excluded.predicted_high, "
                   "ape = excluded.ape, fitted = excluded.fitted, unmodelled = excluded.unmodelled, "
                   "created = excluded.created",
                   "tintddddit"
                   "t",
                   hash, v->measurement_id, v->run_id, v->version, v->predicted, v->low, v->high, ape, (int64_t)v->fitted,
                   v->unmodelled, now);
}
