/* Baselines in the performance database. */
#include "sim/base/suggest.h"
#include "sim/prove/regress/baseline.h"

#include <stdlib.h>
#include <string.h>

static bool put_rows(struct orch_db *db, int64_t id, const struct baseline *b, struct orch_error *error)
{
    int64_t key;
    for (size_t i = 0; i < b->values; i++) {
        const struct baseline_value *const v = &b->value[i];
        if (!db_name_id(db, v->name, &key, error) ||
            !db_exec(db, error, "INSERT INTO baseline_value (baseline_id, chip, key_id, value, tolerance) VALUES (?, ?, ?, ?, ?)",
                     "itndd", id, v->chip, key, v->value, v->tolerance))
            return false;
    }
    for (size_t i = 0; i < b->parameters; i++) {
        const struct baseline_parameter *const p = &b->parameter[i];
        if (!db_name_id(db, p->key, &key, error) ||
            !db_exec(db, error, "INSERT INTO baseline_parameter (baseline_id, chip, key_id, value) VALUES (?, ?, ?, ?)", "itnt",
                     id, p->chip, key, p->json))
            return false;
    }
    return true;
}

bool baseline_put(struct orch_db *db, const char *name, const struct baseline *b, struct orch_error *error)
{
    if (!db_begin(db, error))
        return false;
    const bool ok = db_exec(db, error, "DELETE FROM baseline WHERE name = ?", "t", name) &&
                    db_exec(db, error, "INSERT INTO baseline (name, version, created) VALUES (?, ?, ?)", "ttt", name, b->version,
                            b->created) &&
                    put_rows(db, sqlite3_last_insert_rowid(db_handle(db)), b, error);
    if (ok)
        return db_commit(db, error);
    db_rollback(db);
    return false;
}

static const char *text_at(sqlite3_stmt *row, int column)
{
    const char *const text = db_column_text(row, column);
    return text ? text : "";
}

static bool get_values(struct orch_db *db, int64_t id, struct baseline *b, struct orch_error *error)
{
    sqlite3_stmt *const row =
        db_query(db, error,
                 "SELECT v.chip, n.text, v.value, v.tolerance FROM baseline_value v JOIN name n ON n.id = v.key_id "
                 "WHERE v.baseline_id = ?",
                 "i", id);
    int code = row ? SQLITE_ROW : SQLITE_ERROR;
    while (code == SQLITE_ROW && (code = db_step(db, row, error)) == SQLITE_ROW)
        if (!baseline_add_value(b, text_at(row, 0), text_at(row, 1), sqlite3_column_double(row, 2),
                                sqlite3_column_double(row, 3))) {
            orch_no_memory(error);
            code = SQLITE_NOMEM;
        }
    sqlite3_finalize(row);
    return code == SQLITE_DONE;
}

static bool get_parameters(struct orch_db *db, int64_t id, struct baseline *b, struct orch_error *error)
{
    sqlite3_stmt *const row = db_query(db, error,
                                       "SELECT p.chip, n.text, p.value FROM baseline_parameter p JOIN name n ON n.id = p.key_id "
                                       "WHERE p.baseline_id = ?",
                                       "i", id);
    int code = row ? SQLITE_ROW : SQLITE_ERROR;
    while (code == SQLITE_ROW && (code = db_step(db, row, error)) == SQLITE_ROW)
        if (!baseline_add_parameter(b, text_at(row, 0), text_at(row, 1), text_at(row, 2))) {
            orch_no_memory(error);
            code = SQLITE_NOMEM;
        }
    sqlite3_finalize(row);
    return code == SQLITE_DONE;
}

bool baseline_get(struct orch_db *db, const char *name, struct baseline *b, bool *found, struct orch_error *error)
{
    *found = false;
    sqlite3_stmt *const row = db_query(db, error, "SELECT id, version, created FROM baseline WHERE name = ?", "t", name);
    if (!row)
        return false;
    const int code = db_step(db, row, error);
    int64_t id = 0;
    if (code == SQLITE_ROW) {
        id = sqlite3_column_int64(row, 0);
        snprintf(b->version, sizeof b->version, "%s", text_at(row, 1));
        snprintf(b->created, sizeof b->created, "%s", text_at(row, 2));
    }
    sqlite3_finalize(row);
    if (code == SQLITE_DONE)
        return true;
    *found = code == SQLITE_ROW && get_values(db, id, b, error) && get_parameters(db, id, b, error);
    baseline_sort(b);
    return *found;
}

bool baseline_unknown(struct orch_db *db, const char *name, struct orch_error *error)
{
    enum { NAMES = 64, NAME_SIZE = 80 };
    struct suggest nearest;
    char kept[NAMES][NAME_SIZE], phrase[160];
    suggest_start(&nearest, name);
    sqlite3_stmt *const row = db_query(db, error, "SELECT name FROM baseline ORDER BY name", "");
    for (size_t n = 0; row && n < NAMES && sqlite3_step(row) == SQLITE_ROW; n++) {
        snprintf(kept[n], sizeof kept[n], "%s", text_at(row, 0));
        suggest_offer(&nearest, kept[n]);
    }
    sqlite3_finalize(row);
    return orch_fail(error, ORCH_USAGE, "no baseline '%.80s' in %s%s; orchard regress record makes one", name, db_path(db),
                     suggest_phrase(&nearest, phrase, sizeof phrase));
}
