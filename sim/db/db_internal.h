/* What the files of sim/db and the writer in sim/listen share, and nobody else. */
#ifndef ORCHARD_SIM_DB_DB_INTERNAL_H
#define ORCHARD_SIM_DB_DB_INTERNAL_H

#include "sim/db/db.h"
#include "sim/db/text_map.h"

/* "ORCH": distinguishes our files from those of other programs. */
enum { DB_APPLICATION_ID = 0x4f524348 };

enum db_kept {
    DB_KEPT_NAME_GET,
    DB_KEPT_NAME_ADD,
    DB_KEPT_SOURCE_GET,
    DB_KEPT_SOURCE_ADD,
    DB_KEPT_METRIC_GET,
    DB_KEPT_METRIC_ADD,
    DB_KEPT_COUNT
};

struct orch_db {
    sqlite3 *sqlite;
    char *path;
    enum db_mode mode;
    bool any_schema; /* the schema may differ from the expected one: for db_check */
    bool in_transaction;
    struct text_map names, sources, metrics; /* ids; metrics by "kind/name" */
    sqlite3_stmt *kept[DB_KEPT_COUNT];       /* prepared once per connection */
};

/* The texts of the .sql files, which sim/build.mk turns into C. */
extern const char db_schema_sql[], db_views_sql[], db_merge_sql[], db_migrate_2_sql[], db_migrate_3_sql[], db_migrate_4_sql[],
    db_migrate_5_sql[], db_migrate_6_sql[], db_migrate_7_sql[], db_migrate_8_sql[];

/* Whether a file that is absent or empty is filled. */
bool db_may_create(enum db_mode mode);
/* Calls `visit` with one line about each damaged table of the database `schema` ("main", or an attached one): its pages, its
 * indexes, rows that refer to nothing. Reads all of the file. `visit` returns false to stop. */
typedef bool db_damage_visit(void *context, const char *text);
void db_visit_damage(struct orch_db *db, const char *schema, db_damage_visit *visit, void *context);
/* The line about the first damaged table; false when all are whole. */
bool db_find_damage(struct orch_db *db, const char *schema, char *text, size_t size);
/* When the schema differs or a table is damaged: fills *error with that (ORCH_USAGE) and returns true. */
bool db_blame_file(struct orch_db *db, const char *doing, struct orch_error *error);
/* Drops all views named v_* and creates those of this version; inside the caller's transaction. */
bool db_make_views(struct orch_db *db, struct orch_error *error);
/* Brings an open file to the present version: fills an empty one, migrates an older one, refuses any other. Sets *changed when it
 * wrote something; the schema is known to be right then. */
bool db_upgrade(struct orch_db *db, bool *changed, struct orch_error *error);
/* For reading: refuses files of other programs and of other versions. */
bool db_require_current(struct orch_db *db, struct orch_error *error);
/* Writes the metric dictionary of this library when that of the file differs. */
bool db_sync_metrics(struct orch_db *db, struct orch_error *error);
/* The identity of this process, as column run.process holds it, and whether the process of such an identity has certainly ended.
 */
void db_process_identity(char *text, size_t size);
bool db_process_gone(const char *identity, const char *host);
void db_host_name(char *text, size_t size);
/* Removes what dead processes were doing; writes nothing when there is none. */
bool db_clean_progress(struct orch_db *db, struct orch_error *error);
/* Empties a run that will not be finished, and marks it 'interrupted', in a transaction of its own. */
bool db_abandon_run(struct orch_db *db, int64_t run_id, const char *why, struct orch_error *error);
/* Makes the percent-encoded "file:" name with parameters that SQLite takes. The caller frees it; NULL when memory has run out. */
char *db_file_uri(const char *path, const char *parameters);
/* Executes SQL and tries again while another process holds the file, up to DB_BUSY_SECONDS. Returns a code of SQLite. */
int db_exec_patiently(sqlite3 *sqlite, const char *sql);

/* db_characteristic.c: the hash that a characteristic is found by, of its base hash and its parameters, which are sorted by key.
 */
void db_characteristic_hash(const char *base, const struct db_parameter *sorted, size_t count, char hash[DB_HASH_SIZE]);

/* db_profile.c: the profile of a run; NULL when it has none. */
bool db_read_profile(struct orch_db *db, int64_t run_id, struct line_profile **profile, struct orch_error *error);

#endif
