/* Stores chips: one row per effective value, with its kind and source. */
#include "sim/chip/chip.h"
#include "sim/db/db_internal.h"

void db_chip_hash_text(uint64_t hash, char *text, size_t size)
{
    snprintf(text, size, "%016llx", (unsigned long long)hash);
}

/* Numbers are stored as numbers, everything else as the text of the chip file. */
static bool put_value(struct orch_db *db, int64_t chip_id, const struct chip_value *v, struct orch_error *error)
{
    const bool number = v->key->type == CHIP_INT || v->key->type == CHIP_REAL;
    const char *source = v->source && *v->source ? v->source : NULL;
    int64_t key, source_id;
    return db_name_id(db, v->key->name, &key, error) && db_source_id(db, source, &source_id, error) &&
           db_exec(db, error,
                   number ? "INSERT INTO chip_value (chip_id, key_id, unit, kind, uncertainty, source_id, origin, value) "
                            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
                          : "INSERT INTO chip_value (chip_id, key_id, unit, kind, uncertainty, source_id, origin, value) "
                            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?9)",
                   number ? "iittdntd" : "iittdntdt", chip_id, key, v->key->unit, chip_kind_name(v->kind), v->uncertainty,
                   source_id, v->origin, v->number, v->json);
}

static bool put_values(struct orch_db *db, int64_t chip_id, const struct chip *chip, struct orch_error *error)
{
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_value *v = chip_value_at(chip, i);
        if (v && v->known && !put_value(db, chip_id, v, error))
            return false;
    }
    return true;
}

static const char *text_value(const struct chip *chip, const char *key)
{
    const struct chip_value *v = chip_value(chip, key);
    return v && v->known ? v->json : NULL;
}

static bool put_inside(struct orch_db *db, const struct chip *chip, const char *hash, int64_t *id, struct orch_error *error)
{
    int64_t values;
    if (!db_exec(db, error,
                 "INSERT INTO chip (hash, chip, name, family, modified) VALUES (?, ?, ?, ?, ?) "
                 "ON CONFLICT (hash) DO UPDATE SET name = excluded.name, family = excluded.family",
                 "tttti", hash, chip_id(chip), chip_name(chip), text_value(chip, "family"), (int64_t)chip_modified(chip)) ||
        !db_number(db, error, 0, id, "SELECT id FROM chip WHERE hash = ?", "t", hash) ||
        !db_number(db, error, 0, &values, "SELECT count(*) FROM chip_value WHERE chip_id = ?", "i", *id))
        return false;
    return values > 0 || put_values(db, *id, chip, error);
}

bool db_put_chip(struct orch_db *db, const struct chip *chip, int64_t *id, struct orch_error *error)
{
    char hash[24];
    db_chip_hash_text(chip_hash(chip), hash, sizeof hash);
    if (!db_number(db, error, 0, id,
                   "SELECT c.id FROM chip c WHERE c.hash = ? AND EXISTS (SELECT 1 FROM chip_value v WHERE v.chip_id = c.id)", "t",
                   hash))
        return false;
    if (*id)
        return true;
    if (!db_begin(db, error))
        return false;
    if (put_inside(db, chip, hash, id, error))
        return db_commit(db, error);
    db_rollback(db);
    return false;
}
