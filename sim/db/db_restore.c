/* Refuses files whose schema differs from the expected one, and makes views and indexes anew. */
#include "sim/db/db_internal.h"
#include "sim/db/db_schema.h"

#include <string.h>

/* ---- refusing ---- */

struct first {
    char text[240];
    unsigned count;
    bool restorable;
};

static bool note(void *context, const struct db_schema_difference *d)
{
    struct first *const f = context;
    if (f->count++ == 0)
        db_schema_describe(d, f->text, sizeof f->text);
    f->restorable = f->restorable && db_schema_restorable(d);
    return true;
}

static void sum_up(const struct first *f, char *text, size_t size)
{
    if (f->count > 1)
        snprintf(text, size, "%s (and %u more difference%s)", f->text, f->count - 1, f->count == 2 ? "" : "s");
    else
        snprintf(text, size, "%s", f->text);
}

/* True when a text of statements contains the statement, up to its semicolon. */
static bool stands_in(const char *statements, const char *statement)
{
    const char *const found = strstr(statements, statement);
    return found && found[strlen(statement)] == ';';
}

static unsigned count_statements(const char *text)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, "CREATE ")); at++)
        count += at == text || at[-1] == '\n';
    return count;
}

/* A quick answer for nearly every file: SQLite keeps the text of each statement, and these are exactly the statements of the two
 * .sql files. A migrated file has other texts, so its schema is compared object by object. */
static bool as_created(struct orch_db *db)
{
    sqlite3_stmt *rows = NULL;
    unsigned count = 0;
    bool strange = false;
    int code = sqlite3_prepare_v2(db->sqlite,
                                  "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'",
                                  -1, &rows, NULL);
    while (code == SQLITE_OK && !strange && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *const sql = db_column_text(rows, 0);
        strange = !sql || (!stands_in(db_schema_sql, sql) && !stands_in(db_views_sql, sql));
        count++;
        code = SQLITE_OK;
    }
    sqlite3_finalize(rows);
    return code == SQLITE_DONE && !strange && count == count_statements(db_schema_sql) + count_statements(db_views_sql);
}

bool db_schema_differs(struct orch_db *db, char *text, size_t size, bool *restorable)
{
    struct first f = {.restorable = true};
    if (!db_schema_compare(db, note, &f, NULL) || f.count == 0)
        return false;
    *restorable = f.restorable;
    sum_up(&f, text, size);
    return true;
}

bool db_refuse_schema(const struct orch_db *db, const char *difference, bool restorable, struct orch_error *error)
{
    if (restorable)
        return orch_fail(error, ORCH_USAGE, "database %s: %s; `orchard db init` makes it anew", db->path, difference);
    return orch_fail(
        error, ORCH_USAGE,
        "database %s: %s; another program has changed the file (`orchard db check` names every difference): restore a "
        "copy or use another " ORCH_OPTION("db"),
        db->path, difference);
}

bool db_require_schema(struct orch_db *db, struct orch_error *error)
{
    struct first f = {.restorable = true};
    char text[280];
    if (as_created(db))
        return true;
    if (!db_schema_compare(db, note, &f, error))
        return false;
    if (f.count == 0)
        return true;
    sum_up(&f, text, sizeof text);
    return db_refuse_schema(db, text, f.restorable, error);
}

/* ---- making anew ---- */

/* Replaces every index that has a name of its own by that of the expected schema. */
static bool restore_indexes(struct orch_db *db, sqlite3 *expected, struct orch_error *error)
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(expected,
                                  "SELECT 'DROP INDEX IF EXISTS \"' || name || '\"; ' || sql FROM sqlite_schema "
                                  "WHERE type = 'index' AND sql IS NOT NULL",
                                  -1, &rows, NULL);
    bool ok = code == SQLITE_OK;
    while (ok && (code = sqlite3_step(rows)) == SQLITE_ROW)
        ok = db_run_sql(db, db_column_text(rows, 0), error);
    sqlite3_finalize(rows);
    return ok && (code == SQLITE_DONE || orch_fail(error, ORCH_INTERNAL, "the expected schema: %s", sqlite3_errmsg(expected)));
}

bool db_restore_schema(struct orch_db *db, struct orch_error *error)
{
    char text[280];
    bool restorable;
    if (!db_schema_differs(db, text, sizeof text, &restorable) || !restorable)
        return true;
    sqlite3 *const expected = db_schema_expected(error);
    bool ok = expected && db_begin(db, error);
    if (ok) {
        ok = db_make_views(db, error) && restore_indexes(db, expected, error) && db_commit(db, error);
        db_rollback(db);
    }
    sqlite3_close(expected);
    return ok;
}
