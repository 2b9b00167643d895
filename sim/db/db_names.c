/* Ids of repeated texts, and the metric dictionary inside the file. */
#include "sim/db/content_hash.h"
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

/* Id of a one-column key, inserted when it is new. Both statements take the text as their only argument. */
static bool id_of_text(struct orch_db *db, struct text_map *map, const char *select, const char *insert,
                       const char *text, int64_t *id, struct orch_error *error)
{
    *id = 0;
    if (!text)
        return true;
    *id = text_map_get(map, text, 0);
    if (*id)
        return true;
    if (!db_number(db, error, 0, id, select, "t", text))
        return false;
    if (*id == 0) {
        if (!db_exec(db, error, insert, "t", text))
            return false;
        *id = sqlite3_last_insert_rowid(db->sqlite);
    }
    return remember(db, map, text, *id, error);
}

bool db_name_id(struct orch_db *db, const char *text, int64_t *id, struct orch_error *error)
{
    return id_of_text(db, &db->names, "SELECT id FROM name WHERE text = ?", "INSERT INTO name (text) VALUES (?)", text,
                      id, error);
}

bool db_source_id(struct orch_db *db, const char *citation, int64_t *id, struct orch_error *error)
{
    return id_of_text(db, &db->sources, "SELECT id FROM source WHERE citation = ?",
                      "INSERT INTO source (citation) VALUES (?)", citation, id, error);
}

bool db_metric_id(struct orch_db *db, const char *kind, const char *name, const char *unit, int64_t *id,
                  struct orch_error *error)
{
    char key[320];
    snprintf(key, sizeof key, "%s/%s", kind, name);
    *id = text_map_get(&db->metrics, key, 0);
    if (*id)
        return true;
    if (!db_number(db, error, 0, id, "SELECT id FROM metric WHERE kind = ? AND name = ?", "tt", kind, name))
        return false;
    if (*id == 0) {
        if (!db_exec(db, error, "INSERT INTO metric (kind, name, unit, definition) VALUES (?, ?, ?, '')", "ttt", kind,
                     name, unit ? unit : ""))
            return false;
        *id = sqlite3_last_insert_rowid(db->sqlite);
    }
    return remember(db, &db->metrics, key, *id, error);
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

/* A reason that several units know gets the definitions of all of them. */
static bool define_entry(void *context, const struct metric_entry *e)
{
    struct define_context *c = context;
    char key[128];
    snprintf(key, sizeof key, "%s/%s", e->kind, e->name);
    if (text_map_get(&c->defined, key, 0))
        return db_exec(c->db, c->error,
                       "UPDATE metric SET definition = definition || '; ' || ? WHERE kind = ? AND name = ?", "ttt",
                       e->definition, e->kind, e->name);
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
