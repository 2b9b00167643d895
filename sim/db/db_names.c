/* The ids of repeated texts, and the metric dictionary in the file. */
#include "sim/base/content_hash.h"
#include "sim/db/db_internal.h"
#include "sim/db/metric_table.h"

#include <stdlib.h>
#include <string.h>

static bool remember(struct orch_db *db, struct text_map *map, const char *text, int64_t id, struct orch_error *error)
{
    if (text_map_add(map, text, id))
        return true;
    return orch_fail(error, ORCH_INTERNAL, "database %s: out of memory", db->path);
}

static const char *const kept_sql[DB_KEPT_COUNT] = {
    [DB_KEPT_NAME_GET] = "SELECT id FROM name WHERE text = ?",
    [DB_KEPT_NAME_ADD] = "INSERT INTO name (text) VALUES (?)",
    [DB_KEPT_SOURCE_GET] = "SELECT id FROM source WHERE citation = ?",
    [DB_KEPT_SOURCE_ADD] = "INSERT INTO source (citation) VALUES (?)",
    [DB_KEPT_METRIC_GET] = "SELECT id FROM metric WHERE kind = ? AND name = ?",
    [DB_KEPT_METRIC_ADD] = "INSERT INTO metric (kind, name, unit, definition) VALUES (?, ?, ?, '')",
};

/* Runs a kept statement with texts. *id becomes the id that it selects (0 = none) or inserts. */
static bool run_kept(struct orch_db *db, enum db_kept which, const char *const texts[], int count, int64_t *id,
                     struct orch_error *error)
{
    sqlite3_stmt *statement = db->kept[which];
    if (!statement) {
        if (sqlite3_prepare_v3(db->sqlite, kept_sql[which], -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
            return db_fail(db, error, "preparing a statement");
        db->kept[which] = statement;
    }
    for (int i = 0; i < count; i++)
        if (sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC) != SQLITE_OK)
            return db_fail(db, error, "binding a text");
    const int code = db_step(db, statement, error);
    if (code == SQLITE_ROW)
        *id = sqlite3_column_int64(statement, 0);
    else
        *id = sqlite3_stmt_readonly(statement) ? 0 : sqlite3_last_insert_rowid(db->sqlite);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

/* Finds the id of a row whose key is its only text, and inserts the row when it is new. */
static bool id_of_text(struct orch_db *db, struct text_map *map, enum db_kept get, enum db_kept insert, const char *text,
                       int64_t *id, struct orch_error *error)
{
    *id = 0;
    if (!text)
        return true;
    *id = text_map_get(map, text, 0);
    if (*id)
        return true;
    return run_kept(db, get, &text, 1, id, error) && (*id || run_kept(db, insert, &text, 1, id, error)) &&
           remember(db, map, text, *id, error);
}

bool db_name_id(struct orch_db *db, const char *text, int64_t *id, struct orch_error *error)
{
    return id_of_text(db, &db->names, DB_KEPT_NAME_GET, DB_KEPT_NAME_ADD, text, id, error);
}

bool db_source_id(struct orch_db *db, const char *citation, int64_t *id, struct orch_error *error)
{
    return id_of_text(db, &db->sources, DB_KEPT_SOURCE_GET, DB_KEPT_SOURCE_ADD, citation, id, error);
}

bool db_metric_id(struct orch_db *db, const char *kind, const char *name, const char *unit, int64_t *id, struct orch_error *error)
{
    const char *const texts[] = {kind, name, unit ? unit : ""};
    char key[320];
    snprintf(key, sizeof key, "%s/%s", kind, name);
    *id = text_map_get(&db->metrics, key, 0);
    if (*id)
        return true;
    return run_kept(db, DB_KEPT_METRIC_GET, texts, 2, id, error) &&
           (*id || run_kept(db, DB_KEPT_METRIC_ADD, texts, 3, id, error)) && remember(db, &db->metrics, key, *id, error);
}

static const char define_sql[] =
    "INSERT INTO metric (kind, name, unit, definition, higher_is_better) VALUES (?, ?, ?, ?, iif(?5 < 0, NULL, ?5)) "
    "ON CONFLICT (kind, name) DO UPDATE SET unit = excluded.unit, definition = excluded.definition, "
    "higher_is_better = excluded.higher_is_better";

bool db_define_metric(struct orch_db *db, const char *kind, const char *name, const char *unit, const char *definition,
                      int higher_is_better, struct orch_error *error)
{
    return db_exec(db, error, define_sql, "tttti", kind, name, unit, definition, (int64_t)higher_is_better);
}

static bool hash_entry(void *context, const struct metric_entry *e)
{
    struct content_hash *h = context;
    content_hash_add_text(h, e->kind);
    content_hash_add_text(h, e->name);
    content_hash_add_text(h, e->unit);
    content_hash_add_text(h, e->definition);
    content_hash_add_number(h, e->higher_is_better);
    return true;
}

struct define_context {
    struct orch_db *db;
    struct orch_error *error;
    struct text_map defined; /* stall reasons seen so far */
};

/* A stall reason that several units have gets the definitions of all of them. */
static bool define_entry(void *context, const struct metric_entry *e)
{
    struct define_context *c = context;
    char key[128];
    snprintf(key, sizeof key, "%s/%s", e->kind, e->name);
    if (text_map_get(&c->defined, key, 0))
        return db_exec(c->db, c->error, "UPDATE metric SET definition = definition || '; ' || ? WHERE kind = ? AND name = ?",
                       "ttt", e->definition, e->kind, e->name);
    return text_map_add(&c->defined, key, 1) &&
           db_define_metric(c->db, e->kind, e->name, e->unit, e->definition, e->higher_is_better, c->error);
}

static bool write_dictionary(struct orch_db *db, const char *hash, struct orch_error *error)
{
    struct define_context c = {db, error, {0}};
    const bool ok = metric_table_visit(define_entry, &c);
    text_map_clear(&c.defined);
    return ok && db_exec(db, error,
                         "INSERT INTO meta (key, value) VALUES ('metric_hash', ?) "
                         "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                         "t", hash);
}

static bool has_dictionary(struct orch_db *db, const char *hash, bool *same, struct orch_error *error)
{
    int64_t count;
    if (!db_number(db, error, 0, &count, "SELECT count(*) FROM meta WHERE key = 'metric_hash' AND value = ?", "t", hash))
        return false;
    *same = count > 0;
    return true;
}

bool db_sync_metrics(struct orch_db *db, struct orch_error *error)
{
    struct content_hash h;
    char hash[CONTENT_HASH_SIZE];
    bool same;
    content_hash_begin(&h);
    metric_table_visit(hash_entry, &h);
    content_hash_end(&h, hash);
    if (!has_dictionary(db, hash, &same, error))
        return false;
    if (same)
        return true;
    if (!db_begin(db, error))
        return false;
    if (write_dictionary(db, hash, error))
        return db_commit(db, error);
    db_rollback(db);
    return false;
}
