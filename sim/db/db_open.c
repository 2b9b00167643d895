/* Opens and closes the file. */
#include "sim/db/db_internal.h"
#include "sim/db/db_schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *db_default_path(void)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    char path[DB_TEXT_MAX];
    if (data && data[0] == '/') /* relative paths are to be ignored, says the XDG specification */
        snprintf(path, sizeof path, "%s/orchard/orchard.db", data);
    else if (home && home[0])
        snprintf(path, sizeof path, "%s/.local/share/orchard/orchard.db", home);
    else
        snprintf(path, sizeof path, "orchard.db");
    return strdup(path);
}

static bool make_parents(const char *path, struct orch_error *error)
{
    char *copy = strdup(path);
    if (!copy)
        return orch_no_memory(error);
    bool ok = true;
    for (char *slash = strchr(copy + 1, '/'); ok && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(copy, 0777) != 0 && errno != EEXIST && access(copy, F_OK) != 0)
            ok = orch_fail(error, ORCH_USAGE, "database %s: cannot make folder %s: %s", path, copy, strerror(errno));
        *slash = '/';
    }
    free(copy);
    return ok;
}

/* The folders of the default place are ours to make; what a user names may be a slip of the pen. */
static bool folder_is_there(const char *path, struct orch_error *error)
{
    const char *const slash = strrchr(path, '/');
    const int length = slash && slash > path ? (int)(slash - path) : 1;
    char *const usual = db_default_path();
    const bool is_usual = usual && strcmp(usual, path) == 0;
    char folder[DB_TEXT_MAX];
    struct stat st;
    free(usual);
    if (is_usual)
        return make_parents(path, error);
    snprintf(folder, sizeof folder, "%.*s", slash ? length : 1, slash ? path : ".");
    return (stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) ||
           orch_fail(error, ORCH_USAGE, "database %.200s: there is no folder %.200s (make it with mkdir -p)", path, folder);
}

bool db_may_create(enum db_mode mode)
{
    return mode == DB_WRITE || mode == DB_RESTORE;
}

char *db_file_uri(const char *path, const char *parameters)
{
    char *uri = malloc(strlen(path) * 3 + strlen(parameters) + 16);
    if (!uri)
        return NULL;
    char *to = uri + sprintf(uri, "file:");
    for (; *path; path++)
        to += strchr("%?# ", *path) ? sprintf(to, "%%%02X", (unsigned char)*path) : sprintf(to, "%c", *path);
    sprintf(to, "?%s", parameters);
    return uri;
}

static bool connect_file(struct orch_db *db, int flags, const char *parameters, struct orch_error *error)
{
    char *uri = db_file_uri(db->path, parameters);
    if (!uri)
        return orch_no_memory(error);
    const int code = sqlite3_open_v2(uri, &db->sqlite, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    if (!db->sqlite)
        return orch_no_memory(error);
    sqlite3_extended_result_codes(db->sqlite, 1);
    if (code != SQLITE_OK)
        return db_fail(db, error, "opening");
    sqlite3_busy_timeout(db->sqlite, DB_BUSY_SECONDS * 1000);
    return true;
}

/* In a folder that is not writable, SQLite cannot create the shared-memory file of the WAL. The file can still be read when there
 * is no WAL to replay. */
static bool reconnect_immutable(struct orch_db *db, struct orch_error *error)
{
    char wal[DB_TEXT_MAX + 8];
    struct stat st;
    snprintf(wal, sizeof wal, "%s-wal", db->path);
    if (stat(wal, &st) == 0 && st.st_size > 0)
        return db_fail(db, error, "reading");
    sqlite3_close(db->sqlite);
    db->sqlite = NULL;
    return connect_file(db, SQLITE_OPEN_READONLY, "immutable=1", error);
}

static bool open_for_reading(struct orch_db *db, struct orch_error *error)
{
    if (!connect_file(db, SQLITE_OPEN_READONLY, "mode=ro", error))
        return false;
    const int code = sqlite3_exec(db->sqlite, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) & 0xff;
    if ((code == SQLITE_CANTOPEN || code == SQLITE_READONLY) && !reconnect_immutable(db, error))
        return false;
    return db_require_current(db, error) && (db->any_schema || db_require_schema(db, error));
}

static bool open_for_writing(struct orch_db *db, struct orch_error *error)
{
    const bool create = db_may_create(db->mode);
    if (create && !folder_is_there(db->path, error))
        return false;
    if (!connect_file(db, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), create ? "mode=rwc" : "mode=rw", error))
        return false;
    /* SQLite silently opens a file for reading when it may not write it. */
    if (sqlite3_db_readonly(db->sqlite, "main") == 1)
        return orch_fail(error, ORCH_USAGE, "database %s: the file cannot be written", db->path);
    if (db_exec_patiently(db->sqlite, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; "
                                      "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY") != SQLITE_OK)
        return db_fail(db, error, "opening");
    bool changed;
    return db_upgrade(db, &changed, error) && (db->mode != DB_RESTORE || db_restore_schema(db, error)) &&
           (changed || db_require_schema(db, error)) && db_sync_metrics(db, error) && db_clean_up(db, NULL, error);
}

static bool usable_path(const char *path, enum db_mode mode, struct orch_error *error)
{
    struct stat st;
    if (*path == 0 || strlen(path) >= DB_TEXT_MAX)
        return orch_fail(error, ORCH_USAGE, "the path of the database is empty or too long");
    if (stat(path, &st) != 0) {
        if (errno == ENOENT && !db_may_create(mode))
            return orch_fail(error, ORCH_USAGE, "database %s: there is no such file (make one with `orchard db init`)", path);
        if (errno != ENOENT && errno != ENOTDIR)
            return orch_fail(error, ORCH_USAGE, "database %s: %s", path, strerror(errno));
        return true;
    }
    if (!S_ISREG(st.st_mode))
        return orch_fail(error, ORCH_USAGE, "database %s: not a regular file", path);
    return true;
}

static struct orch_db *open_as(const char *path, enum db_mode mode, bool any_schema, struct orch_error *error)
{
    struct orch_db *db = calloc(1, sizeof *db);
    if (db)
        db->path = strdup(path);
    if (!db || !db->path) {
        free(db);
        orch_no_memory(error);
        return NULL;
    }
    db->mode = mode;
    db->any_schema = any_schema;
    if (mode == DB_READ ? open_for_reading(db, error) : open_for_writing(db, error))
        return db;
    db_close(db);
    return NULL;
}

struct orch_db *db_open(const char *path, enum db_mode mode, struct orch_error *error)
{
    if (!usable_path(path, mode, error))
        return NULL;
    if (mode != DB_INSPECT)
        return open_as(path, mode, false, error);
    struct orch_db *db = open_as(path, DB_EXISTING, false, error);
    if (!db)
        db = open_as(path, DB_READ, true, NULL); /* the first error is the better one when both fail */
    if (db && error)
        *error = (struct orch_error){0};
    return db;
}

void db_close(struct orch_db *db)
{
    if (!db)
        return;
    db_rollback(db);
    text_map_clear(&db->names);
    text_map_clear(&db->sources);
    text_map_clear(&db->metrics);
    for (int i = 0; i < DB_KEPT_COUNT; i++)
        sqlite3_finalize(db->kept[i]);
    sqlite3_close(db->sqlite);
    free(db->path);
    free(db);
}

const char *db_path(const struct orch_db *db)
{
    return db->path;
}

sqlite3 *db_handle(struct orch_db *db)
{
    return db->sqlite;
}
