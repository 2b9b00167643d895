/* Finds out whether the file is to blame for an error of SQLite. When its schema was changed or a table is damaged, the user
 * reads which one and what to do, not that orchard has a bug. */
#include "sim/db/db_internal.h"
#include "sim/db/db_schema.h"

#include <stdlib.h>
#include <string.h>

bool db_content_fail(const struct orch_db *db, const char *table, struct orch_error *error)
{
    if (!error || error->exit_code == ORCH_INTERNAL)
        return false;
    error->exit_code = ORCH_USAGE;
    char what[200];
    snprintf(what, sizeof what, "%.199s", error->text);
    return orch_fail(
        error, ORCH_USAGE,
        "database %s: table %s: %s; another program has changed it: restore a copy or use another " ORCH_OPTION("db"), db->path,
        table, what);
}

/* Copies the first line that is a finding: integrity_check puts "*** in database main ***" above its findings. */
static void first_finding(const char *text, char *line, size_t size)
{
    while (strncmp(text, "***", 3) == 0 && strchr(text, '\n'))
        text = strchr(text, '\n') + 1;
    snprintf(line, size, "%.*s", (int)strcspn(text, "\n"), text);
}

/* Runs a checking pragma on a table. Returns whether it finds anything, with the finding as one line. A table that cannot even be
 * checked is damaged, too. */
static bool finds(struct orch_db *db, const char *pragma, const char *schema, const char *table, char *line, size_t size)
{
    sqlite3_stmt *row = NULL;
    char *const sql = sqlite3_mprintf("PRAGMA \"%w\".%s(\"%w\")", schema, pragma, table);
    int code = sql ? sqlite3_prepare_v2(db->sqlite, sql, -1, &row, NULL) : SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = sqlite3_step(row);
    const char *const text = code == SQLITE_ROW ? db_column_text(row, 0) : NULL;
    bool found = (code & 0xff) == SQLITE_CORRUPT;
    line[0] = 0;
    if (text && strcmp(pragma, "foreign_key_check") == 0)
        found = snprintf(line, size, "a row of it names one of table %s that is not there", db_column_text(row, 2)) > 0;
    else if (text && strcmp(text, "ok") != 0) {
        first_finding(text, line, size);
        found = true;
    } else if (found)
        snprintf(line, size, "%s", sqlite3_errmsg(db->sqlite));
    sqlite3_finalize(row);
    sqlite3_free(sql);
    return found;
}

void db_visit_damage(struct orch_db *db, const char *schema, db_damage_visit *visit, void *context)
{
    static const char *const pragmas[] = {"integrity_check", "foreign_key_check"};
    char line[160], text[240];
    bool more = true;
    sqlite3_stmt *tables = NULL;
    char *const sql = sqlite3_mprintf("SELECT name FROM \"%w\".sqlite_schema WHERE type = 'table' AND rootpage > 0", schema);
    const int code = sql ? sqlite3_prepare_v2(db->sqlite, sql, -1, &tables, NULL) : SQLITE_NOMEM;
    while (code == SQLITE_OK && more && sqlite3_step(tables) == SQLITE_ROW) {
        const char *const table = db_column_text(tables, 0);
        bool found = false;
        for (int i = 0; !found && i < 2; i++)
            found = finds(db, pragmas[i], schema, table, line, sizeof line);
        snprintf(text, sizeof text, "table %.60s is damaged (%s)", table, line);
        more = !found || visit(context, text);
    }
    sqlite3_finalize(tables);
    sqlite3_free(sql);
}

struct finding {
    char *text;
    size_t size;
    bool found;
};

static bool take_first(void *context, const char *text)
{
    struct finding *const f = context;
    f->found = true;
    snprintf(f->text, f->size, "%s", text);
    return false;
}

bool db_find_damage(struct orch_db *db, const char *schema, char *text, size_t size)
{
    struct finding f = {text, size, false};
    db_visit_damage(db, schema, take_first, &f);
    return f.found;
}

bool db_blame_file(struct orch_db *db, const char *doing, struct orch_error *error)
{
    char text[280];
    bool restorable;
    /* The schema of an older file differs rightly until it is migrated. */
    if (db_file_version(db) == db_schema_version() && db_schema_differs(db, text, sizeof text, &restorable))
        return !db_refuse_schema(db, text, restorable, error);
    if (!db_find_damage(db, "main", text, sizeof text))
        return false;
    orch_fail(error, ORCH_USAGE, "database %s: %s: %s; restore a copy, or save what is whole with `orchard db export`", db->path,
              doing, text);
    return true;
}
