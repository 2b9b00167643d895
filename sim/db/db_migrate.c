/* Versions of the schema. PRAGMA user_version holds the version of a file; migrate_N.sql brings a file from version
 * N - 1 to N. schema.sql is always the newest, and a test compares both ways to get there.
 */
#include "sim/db/db_internal.h"

#include <string.h>

enum { SCHEMA_VERSION = 3 };

/* steps[n] leads from version n + 1 to n + 2. */
static const char *const steps[SCHEMA_VERSION - 1] = {db_migrate_2_sql, db_migrate_3_sql};

int db_schema_version(void)
{
    return SCHEMA_VERSION;
}

static bool read_number(struct orch_db *db, const char *sql, int *number, struct orch_error *error)
{
    int64_t wide = 0;
    sqlite3_stmt *statement = NULL;
    const int prepared = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);
    const int code = prepared == SQLITE_OK ? sqlite3_step(statement) : prepared;
    if (code == SQLITE_ROW)
        wide = sqlite3_column_int64(statement, 0);
    const bool ok = code == SQLITE_ROW || db_fail(db, error, "opening");
    sqlite3_finalize(statement);
    *number = (int)wide;
    return ok;
}

int db_file_version(struct orch_db *db)
{
    int version;
    return read_number(db, "PRAGMA user_version", &version, NULL) ? version : -1;
}

struct file_state {
    int application, version, objects;
};

/* All three from one snapshot: another process may be filling the file right now. */
static bool read_state(struct orch_db *db, struct file_state *state, struct orch_error *error)
{
    const bool own = sqlite3_get_autocommit(db->sqlite) && db_exec_patiently(db->sqlite, "BEGIN") == SQLITE_OK;
    const bool ok = read_number(db, "SELECT count(*) FROM sqlite_schema", &state->objects, error) &&
                    read_number(db, "PRAGMA application_id", &state->application, error) &&
                    read_number(db, "PRAGMA user_version", &state->version, error);
    if (own)
        sqlite3_exec(db->sqlite, "COMMIT", NULL, NULL, NULL);
    return ok;
}

static bool is_new(const struct file_state *s)
{
    return s->application == 0 && s->version == 0 && s->objects == 0;
}

static bool refuse_foreign(const struct orch_db *db, const struct file_state *s, struct orch_error *error)
{
    if (s->application != DB_APPLICATION_ID)
        return orch_fail(error, ORCH_USAGE, "database %s: an SQLite file, but not one of orchard", db->path);
    if (s->version > SCHEMA_VERSION)
        return orch_fail(error, ORCH_USAGE,
                         "database %s: written by a newer orchard (schema version %d, this one knows %d); update orchard "
                         "or use another " ORCH_OPTION("db"),
                         db->path, s->version, SCHEMA_VERSION);
    if (s->version < 1)
        return orch_fail(error, ORCH_USAGE, "database %s: has no valid schema version", db->path);
    return true;
}

bool db_require_current(struct orch_db *db, struct orch_error *error)
{
    struct file_state s;
    if (!read_state(db, &s, error))
        return false;
    if (is_new(&s))
        return orch_fail(error, ORCH_USAGE, "database %s: empty (fill it with `orchard db init`)", db->path);
    if (!refuse_foreign(db, &s, error))
        return false;
    if (s.version < SCHEMA_VERSION)
        return orch_fail(error, ORCH_USAGE,
                         "database %s: schema version %d, older than %d; `orchard db init` brings it up to date", db->path,
                         s.version, SCHEMA_VERSION);
    return true;
}

static bool drop_views(struct orch_db *db, struct orch_error *error)
{
    char drop[4096];
    size_t used = 0;
    sqlite3_stmt *views = db_query(db, error, "SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB 'v_*'", "");
    if (!views)
        return false;
    int code;
    while ((code = db_step(db, views, error)) == SQLITE_ROW && used < sizeof drop)
        used +=
            (size_t)snprintf(drop + used, sizeof drop - used, "DROP VIEW \"%s\";", (const char *)sqlite3_column_text(views, 0));
    sqlite3_finalize(views);
    if (used >= sizeof drop)
        return orch_fail(error, ORCH_INTERNAL, "database %s: too many views named v_*", db->path);
    return code == SQLITE_DONE && (used == 0 || db_run_sql(db, drop, error));
}

static bool stamp_version(struct orch_db *db, struct orch_error *error)
{
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", DB_APPLICATION_ID, SCHEMA_VERSION);
    return db_run_sql(db, sql, error);
}

static bool climb(struct orch_db *db, int version, struct orch_error *error)
{
    if (!drop_views(db, error))
        return false;
    for (; version < SCHEMA_VERSION; version++)
        if (!db_run_sql(db, steps[version - 1], error))
            return orch_fail_in(error, "from schema version %d to %d", version, version + 1);
    return true;
}

/* Inside a transaction: another process may have been faster. */
static bool upgrade_inside(struct orch_db *db, bool *changed, struct orch_error *error)
{
    struct file_state s;
    if (!read_state(db, &s, error))
        return false;
    if (!is_new(&s) && s.version == SCHEMA_VERSION)
        return true;
    *changed = true;
    if (is_new(&s) ? !db_run_sql(db, db_schema_sql, error) : !climb(db, s.version, error))
        return false;
    return db_run_sql(db, db_views_sql, error) && stamp_version(db, error);
}

bool db_upgrade(struct orch_db *db, bool *changed, struct orch_error *error)
{
    struct file_state s;
    *changed = false;
    if (!read_state(db, &s, error))
        return false;
    if (is_new(&s) && db->mode != DB_WRITE)
        return db_require_current(db, error);
    if (!is_new(&s) && !refuse_foreign(db, &s, error))
        return false;
    if (!is_new(&s) && s.version == SCHEMA_VERSION)
        return true;
    /* The one setting that lives in the file and cannot change inside a transaction. */
    if (db_exec_patiently(db->sqlite, "PRAGMA journal_mode = WAL") != SQLITE_OK)
        return db_fail(db, error, "opening");
    if (!db_begin(db, error))
        return false;
    if (upgrade_inside(db, changed, error))
        return db_commit(db, error);
    db_rollback(db);
    return false;
}
