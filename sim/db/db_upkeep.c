/* Prunes and merges databases. */
#include "sim/db/db_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ?1 is the date or NULL, and ?2 says whether only failed runs are meant. When neither is given, no run is removed. A run with
 * status 'running' belongs to its writer and is never removed. */
static const char prunable[] = " FROM run WHERE status <> 'running' AND (?1 IS NOT NULL OR ?2) "
                               "AND (?1 IS NULL OR started < ?1) "
                               "AND (NOT ?2 OR status IN ('failed', 'interrupted'))";

static bool prune_inside(struct orch_db *db, const struct db_prune *what, struct db_pruned *pruned, struct orch_error *error)
{
    char count[320], drop[320];
    snprintf(count, sizeof count, "SELECT count(*)%s", prunable);
    snprintf(drop, sizeof drop, "DELETE%s", prunable);
    const int64_t failed = what->failed;
    const char *keep = what->keep_version;
    if (!db_number(db, error, 0, &pruned->runs, count, "ti", what->before, failed) ||
        !db_number(db, error, 0, &pruned->characteristics,
                   "SELECT count(*) FROM characteristic WHERE ?1 IS NOT NULL AND version <> ?1", "t", keep))
        return false;
    if (what->dry_run)
        return true;
    return db_exec(db, error, drop, "ti", what->before, failed) &&
           db_exec(db, error, "DELETE FROM characteristic WHERE ?1 IS NOT NULL AND version <> ?1", "t", keep);
}

bool db_prune(struct orch_db *db, const struct db_prune *what, struct db_pruned *pruned, struct orch_error *error)
{
    *pruned = (struct db_pruned){0};
    if (!db_begin(db, error))
        return false;
    if (!prune_inside(db, what, pruned, error) || !db_commit(db, error)) {
        db_rollback(db);
        return false;
    }
    /* Gives the room back to the file system. When another process is writing at this moment, the next prune does it. */
    if (!what->dry_run && pruned->runs + pruned->characteristics > 0)
        sqlite3_exec(db->sqlite, "VACUUM", NULL, NULL, NULL);
    return true;
}

/* --- merging --------------------------------------------------------------------------------------------------- */

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Migrates and cleans up a shard by opening it for writing. A shard that cannot be written must be of the present version. */
static bool ready_shard(const char *path, struct orch_error *error)
{
    struct orch_error trouble = {0};
    struct orch_db *shard = db_open(path, DB_EXISTING, &trouble);
    if (!shard)
        shard = db_open(path, DB_READ, error);
    db_close(shard);
    return shard != NULL;
}

static bool attach(struct orch_db *db, const char *path, struct orch_error *error)
{
    char *uri = db_file_uri(path, "mode=ro");
    if (!uri)
        return orch_no_memory(error);
    const bool ok = db_exec(db, error, "ATTACH ? AS shard", "t", uri);
    free(uri);
    return ok;
}

/* Before anything is written: an error in the middle of the merge would not tell which of the two files it is about, and damage
 * that makes no error would become part of ours. */
static bool require_whole(struct orch_db *db, const char *shard, struct orch_error *error)
{
    char text[240];
    return !db_find_damage(db, "shard", text, sizeof text) ||
           orch_fail(error, ORCH_USAGE, "database %s: %s; nothing of it was merged: restore a copy, or make this shard anew",
                     shard, text);
}

static const char disagreeing[] =
    "SELECT count(*) FROM ("
    "SELECT s.hash FROM shard.characteristic s JOIN main.characteristic m ON m.hash = s.hash WHERE m.cycles <> s.cycles "
    "OR m.timing IS NOT s.timing "
    "UNION SELECT hash FROM ("
    "SELECT c.hash, m.kind, m.name, v.value FROM shard.characteristic_value v "
    "JOIN shard.characteristic c ON c.id = v.characteristic_id JOIN shard.metric m ON m.id = v.metric_id "
    "WHERE c.hash IN (SELECT hash FROM main.characteristic) "
    "EXCEPT SELECT c.hash, m.kind, m.name, v.value FROM main.characteristic_value v "
    "JOIN main.characteristic c ON c.id = v.characteristic_id JOIN main.metric m ON m.id = v.metric_id))";

static bool counts(struct orch_db *db, struct db_merged *n, struct orch_error *error)
{
    return db_number(db, error, 0, &n->runs, "SELECT count(*) FROM main.run", "") &&
           db_number(db, error, 0, &n->characteristics, "SELECT count(*) FROM main.characteristic", "") &&
           db_number(db, error, 0, &n->measurements, "SELECT count(*) FROM main.measurement", "") &&
           db_number(db, error, 0, &n->sweep_points, "SELECT count(*) FROM main.sweep_point", "");
}

static bool merge_inside(struct orch_db *db, const char *shard, struct db_merged *merged, struct orch_error *error)
{
    struct db_merged before, after;
    int64_t conflicts;
    if (!db_number(db, error, 0, &conflicts, disagreeing, ""))
        return false;
    if (conflicts)
        return orch_fail(error, ORCH_FAILED,
                         "%s: %lld characteristics disagree with those of %s under the same version; nothing was merged", shard,
                         (long long)conflicts, db->path);
    if (!counts(db, &before, error) || !db_run_sql(db, db_merge_sql, error) || !counts(db, &after, error))
        return false;
    *merged = (struct db_merged){after.runs - before.runs, after.characteristics - before.characteristics,
                                 after.measurements - before.measurements, after.sweep_points - before.sweep_points};
    return true;
}

bool db_merge(struct orch_db *db, const char *shard, struct db_merged *merged, struct orch_error *error)
{
    *merged = (struct db_merged){0};
    if (same_file(db->path, shard))
        return orch_fail(error, ORCH_USAGE, "%s: cannot be merged into itself", shard);
    if (!ready_shard(shard, error) || !attach(db, shard, error))
        return false;
    bool ok = require_whole(db, shard, error) && db_begin(db, error);
    if (ok) {
        ok = merge_inside(db, shard, merged, error) && db_commit(db, error);
        db_rollback(db);
    }
    sqlite3_exec(db->sqlite, "DETACH shard", NULL, NULL, NULL);
    return ok;
}
