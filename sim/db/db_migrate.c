/* Versions of the schema. PRAGMA user_version holds the version of a file, and migrate_N.sql brings a file from version N - 1 to
 * N. schema.sql always describes the newest version; a test checks that migrating leads to the same schema.
 */
#include "sim/db/db_internal.h"
#include "sim/db/db_schema.h"

#include <stdlib.h>
#include <string.h>

enum { SCHEMA_VERSION = 8 };

/* steps[n] leads from version n + 1 to n + 2. */
static const char *const steps[SCHEMA_VERSION - 1] = {db_migrate_2_sql, db_migrate_3_sql, db_migrate_4_sql, db_migrate_5_sql,
                                                      db_migrate_6_sql, db_migrate_7_sql, db_migrate_8_sql};

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

/* Reads all three from one snapshot, since another process may be filling the file at this moment. */
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
        return orch_fail(error, ORCH_USAGE, "database %s: an SQLite file, but not one of orchard: use another " ORCH_OPTION("db"),
                         db->path);
    if (s->version > SCHEMA_VERSION)
        return orch_fail(error, ORCH_USAGE,
                         "database %s: written by a newer orchard (schema version %d, this one knows %d); update orchard "
                         "or use another " ORCH_OPTION("db"),
                         db->path, s->version, SCHEMA_VERSION);
    if (s->version < 1)
        return orch_fail(error, ORCH_USAGE,
                         "database %s: has no valid schema version: restore a copy or use another " ORCH_OPTION("db"), db->path);
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
    sqlite3_stmt *row = db_query(db, error,
                                 "SELECT group_concat('DROP VIEW \"' || replace(name, '\"', '\"\"') || '\"', ';') "
                                 "FROM sqlite_schema WHERE type = 'view' AND name GLOB 'v_*'",
                                 "");
    if (!row)
        return false;
    const int code = db_step(db, row, error);
    const char *const text = code == SQLITE_ROW ? db_column_text(row, 0) : NULL;
    char *const drop = text ? strdup(text) : NULL; /* nothing is dropped while the schema is being read */
    sqlite3_finalize(row);
    const bool ok = code == SQLITE_ROW && (text ? (drop ? db_run_sql(db, drop, error) : orch_no_memory(error)) : true);
    free(drop);
    return ok;
}

bool db_make_views(struct orch_db *db, struct orch_error *error)
{
    return drop_views(db, error) && db_run_sql(db, db_views_sql, error);
}

static bool stamp_version(struct orch_db *db, struct orch_error *error)
{
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", DB_APPLICATION_ID, SCHEMA_VERSION);
    return db_run_sql(db, sql, error);
}

/* A step fits every file of its version. When it fails, the file is not what its version says. */
static bool climb_once(struct orch_db *db, int version, struct orch_error *error)
{
    char *message = NULL;
    const int code = sqlite3_exec(db->sqlite, steps[version - 1], NULL, NULL, &message) & 0xff;
    if (code == SQLITE_ERROR || code == SQLITE_CONSTRAINT)
        orch_fail(error, ORCH_USAGE,
                  "database %s: cannot be brought from schema version %d to %d (%.120s); another program has changed the file: "
                  "restore a copy or use another " ORCH_OPTION("db"),
                  db->path, version, version + 1, message ? message : "?");
    else if (code != SQLITE_OK)
        db_fail(db, error, "changing the database");
    sqlite3_free(message);
    return code == SQLITE_OK;
}

static bool climb(struct orch_db *db, int version, struct orch_error *error)
{
    bool ok = drop_views(db, error);
    for (; ok && version < SCHEMA_VERSION; version++)
        ok = climb_once(db, version, error);
    return ok;
}

/* Looks again, now inside the transaction: another process may have been faster. */
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
    return db_make_views(db, error) && stamp_version(db, error) && db_require_schema(db, error);
}

bool db_upgrade(struct orch_db *db, bool *changed, struct orch_error *error)
{
    struct file_state s;
    *changed = false;
    if (!read_state(db, &s, error))
        return false;
    if (is_new(&s) && !db_may_create(db->mode))
        return db_require_current(db, error);
    if (!is_new(&s) && !refuse_foreign(db, &s, error))
        return false;
    if (!is_new(&s) && s.version == SCHEMA_VERSION)
        return true;
    /* The only setting that is stored in the file and cannot be changed inside a transaction. */
    if (db_exec_patiently(db->sqlite, "PRAGMA journal_mode = WAL") != SQLITE_OK)
        return db_fail(db, error, "opening");
    if (!db_begin(db, error))
        return false;
    if (upgrade_inside(db, changed, error))
        return db_commit(db, error);
    db_rollback(db);
    return false;
}
