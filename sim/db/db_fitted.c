/* Stores named sets of tuned or calibrated values. */
#include "sim/base/suggest.h"
#include "sim/base/content_hash.h"
#include "sim/db/db_internal.h"

#include <stdlib.h>
#include <string.h>

bool db_put_fitted_set(struct orch_db *db, const char *name, const char *kind, const char *body, struct orch_error *error)
{
    struct content_hash h;
    char hash[CONTENT_HASH_SIZE], now[32];
    content_hash_begin(&h);
    content_hash_add_text(&h, kind);
    content_hash_add_text(&h, body);
    content_hash_end(&h, hash);
    db_timestamp(now, sizeof now);
    if (!db_begin(db, error))
        return false;
    if (db_exec(db, error,
                "INSERT INTO fitted_set (name, hash, kind, body, version, created) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, kind = excluded.kind, body = excluded.body, "
                "version = excluded.version, created = excluded.created",
                "tttttt", name, hash, kind, body, ORCHARD_VERSION, now))
        return db_commit(db, error);
    db_rollback(db);
    return false;
}

static bool no_such_set(struct orch_db *db, const char *name, struct orch_error *error)
{
    struct suggest nearest;
    char phrase[160];
    suggest_start(&nearest, name);
    sqlite3_stmt *names = db_query(db, error, "SELECT name FROM fitted_set ORDER BY name", "");
    char kept[64][80];
    for (size_t n = 0; names && n < 64 && sqlite3_step(names) == SQLITE_ROW; n++) {
        snprintf(kept[n], sizeof kept[n], "%s", db_column_text(names, 0));
        suggest_offer(&nearest, kept[n]);
    }
    sqlite3_finalize(names);
    return orch_fail(error, ORCH_USAGE, "no fitted set '%.80s' in %s (orchard tune and calibrate make them)%s", name, db->path,
                     suggest_phrase(&nearest, phrase, sizeof phrase));
}

bool db_get_fitted_set(struct orch_db *db, const char *name, char **body, char hash[DB_HASH_SIZE], struct orch_error *error)
{
    *body = NULL;
    sqlite3_stmt *row = db_query(db, error, "SELECT body, hash FROM fitted_set WHERE name = ?", "t", name);
    if (!row)
        return false;
    const int code = db_step(db, row, error);
    if (code == SQLITE_ROW) {
        *body = strdup(db_column_text(row, 0));
        snprintf(hash, DB_HASH_SIZE, "%s", db_column_text(row, 1));
    }
    sqlite3_finalize(row);
    if (code == SQLITE_DONE)
        return no_such_set(db, name, error);
    if (code != SQLITE_ROW)
        return false;
    return *body || orch_no_memory(error);
}
