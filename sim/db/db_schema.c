/* Compares the schema object by object, not as text, because SQLite rewrites the text of a table when a migration adds a column.
 * The expected schema is that of schema.sql and views.sql, which are executed in a database in memory. */
#include "sim/db/db_schema.h"

#include "sim/db/db_internal.h"

#include <string.h>

/* The columns are kind, object, part and form. Both sides are read in this order and then merged. The indexes of UNIQUE and
 * PRIMARY KEY have no names of their own (sqlite_autoindex_...), so their columns name them. */
static const char shape_sql[] =
    "WITH t AS MATERIALIZED (SELECT name, strict, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
    "AND name NOT LIKE 'sqlite!_%' ESCAPE '!'), "
    "i AS MATERIALIZED (SELECT t.name AS tbl, i.name, i.\"unique\" AS uniq, i.origin, i.partial, "
    "(SELECT group_concat(coalesce(c.name, 'expression') || iif(c.desc, ' DESC', ''), ', ') "
    "FROM pragma_index_xinfo(i.name) c WHERE c.key) AS columns FROM t, pragma_index_list(t.name) i) "
    "SELECT 0 AS kind, name AS object, '' AS part, iif(strict, 'STRICT', 'not STRICT') || iif(wr, ', WITHOUT ROWID', '') AS form "
    "FROM t "
    "UNION ALL SELECT 1, t.name, c.name, upper(c.type) || iif(c.\"notnull\", ' NOT NULL', '') || "
    "iif(c.pk, ' PRIMARY KEY ' || c.pk, '') || coalesce(' DEFAULT ' || c.dflt_value, '') FROM t, pragma_table_xinfo(t.name) c "
    "UNION ALL SELECT 2, t.name, f.\"from\", 'REFERENCES ' || f.\"table\" || coalesce(' (' || f.\"to\" || ')', '') || "
    "' ON DELETE ' || f.on_delete || ' ON UPDATE ' || f.on_update FROM t, pragma_foreign_key_list(t.name) f "
    "UNION ALL SELECT 3, tbl, iif(origin = 'c', name, iif(origin = 'u', 'UNIQUE', 'PRIMARY KEY') || ' (' || columns || ')'), "
    "iif(uniq, 'UNIQUE ', '') || '(' || columns || ')' || iif(partial, ' WHERE', '') FROM i "
    "UNION ALL SELECT 4, name, '', sql FROM sqlite_schema WHERE type = 'view' "
    "UNION ALL SELECT 5, tbl_name, name, 'there' FROM sqlite_schema WHERE type = 'trigger' "
    "ORDER BY kind, object COLLATE NOCASE, part COLLATE NOCASE, form";

struct row {
    int kind;
    const char *object, *part, *form;
};

struct side {
    sqlite3_stmt *rows;
    int code; /* of the last step */
    struct row row;
};

static void next(struct side *s)
{
    s->code = sqlite3_step(s->rows);
    if (s->code != SQLITE_ROW)
        return;
    const char *text[3];
    for (int i = 0; i < 3; i++) {
        text[i] = db_column_text(s->rows, i + 1);
        text[i] = text[i] ? text[i] : "";
    }
    s->row = (struct row){sqlite3_column_int(s->rows, 0), text[0], text[1], text[2]};
}

static int order(const struct row *a, const struct row *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    const int object = sqlite3_stricmp(a->object, b->object);
    return object ? object : sqlite3_stricmp(a->part, b->part);
}

/* ---- what is expected ---- */

sqlite3 *db_schema_expected(struct orch_error *error)
{
    sqlite3 *expected = NULL;
    if (sqlite3_open(":memory:", &expected) == SQLITE_OK &&
        sqlite3_exec(expected, db_schema_sql, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(expected, db_views_sql, NULL, NULL, NULL) == SQLITE_OK)
        return expected;
    if (expected)
        orch_fail(error, ORCH_INTERNAL, "the expected schema: %s", sqlite3_errmsg(expected));
    else
        orch_no_memory(error);
    sqlite3_close(expected);
    return NULL;
}

/* ---- comparing ---- */

struct comparison {
    db_schema_visit *visit;
    void *context;
    struct text_map odd; /* tables that are missing or added: their columns and indexes are not reported one by one */
    bool stopped, no_memory;
};

static bool harmless(const struct row *added)
{
    return added->kind == DB_SCHEMA_TABLE || added->kind == DB_SCHEMA_VIEW ||
           (added->kind == DB_SCHEMA_INDEX && strncmp(added->form, "UNIQUE", 6) != 0);
}

/* Either row is NULL when it has no counterpart. */
static void tell(struct comparison *c, const struct row *has, const struct row *expects)
{
    const struct row *const row = expects ? expects : has;
    if (text_map_get(&c->odd, row->object, 0))
        return;
    if (row->kind == DB_SCHEMA_TABLE && (!has || !expects))
        c->no_memory = c->no_memory || !text_map_add(&c->odd, row->object, 1);
    if ((has && expects && strcmp(has->form, expects->form) == 0) || (!expects && harmless(has)))
        return;
    const struct db_schema_difference difference = {(enum db_schema_kind)row->kind, row->object, row->part,
                                                    has ? has->form : NULL, expects ? expects->form : NULL};
    c->stopped = !c->visit(c->context, &difference);
}

static void merge(struct comparison *c, struct side *has, struct side *expects)
{
    next(has);
    next(expects);
    while (!c->stopped && !c->no_memory && (has->code == SQLITE_ROW || expects->code == SQLITE_ROW)) {
        if ((has->code != SQLITE_ROW && has->code != SQLITE_DONE) ||
            (expects->code != SQLITE_ROW && expects->code != SQLITE_DONE))
            return;
        const int way = has->code != SQLITE_ROW ? 1 : expects->code != SQLITE_ROW ? -1 : order(&has->row, &expects->row);
        tell(c, way <= 0 ? &has->row : NULL, way >= 0 ? &expects->row : NULL);
        if (way <= 0)
            next(has);
        if (way >= 0)
            next(expects);
    }
}

/* Compares with an open expected schema. */
static bool compare_with(struct orch_db *db, sqlite3 *expected, struct comparison *c, struct orch_error *error)
{
    struct side has = {NULL, SQLITE_ERROR, {0}}, expects = has;
    bool ok = sqlite3_prepare_v2(expected, shape_sql, -1, &expects.rows, NULL) == SQLITE_OK ||
              orch_fail(error, ORCH_INTERNAL, "the expected schema: %s", sqlite3_errmsg(expected));
    if (ok && sqlite3_prepare_v2(db->sqlite, shape_sql, -1, &has.rows, NULL) != SQLITE_OK)
        ok = db_fail(db, error, "reading the schema");
    if (ok)
        merge(c, &has, &expects);
    if (ok && c->no_memory)
        ok = orch_no_memory(error);
    if (ok && !c->stopped && has.code != SQLITE_DONE)
        ok = db_fail(db, error, "reading the schema");
    text_map_clear(&c->odd);
    sqlite3_finalize(has.rows);
    sqlite3_finalize(expects.rows);
    return ok;
}

bool db_schema_compare(struct orch_db *db, db_schema_visit *visit, void *context, struct orch_error *error)
{
    struct comparison c = {.visit = visit, .context = context};
    sqlite3 *const expected = db_schema_expected(error);
    const bool ok = expected && compare_with(db, expected, &c, error);
    sqlite3_close(expected);
    return ok;
}

/* ---- words ---- */

bool db_schema_restorable(const struct db_schema_difference *d)
{
    const bool named = d->kind == DB_SCHEMA_INDEX && !strchr(d->part, '('); /* not the index of a constraint */
    return d->expects && (named || d->kind == DB_SCHEMA_VIEW);
}

void db_schema_describe(const struct db_schema_difference *d, char *text, size_t size)
{
    static const char *const parts[] = {[DB_SCHEMA_COLUMN] = "column ",
                                        [DB_SCHEMA_REFERENCE] = "the reference of column ",
                                        [DB_SCHEMA_INDEX] = "index ",
                                        [DB_SCHEMA_TRIGGER] = "trigger "};
    const char *const constraint = d->kind == DB_SCHEMA_INDEX && strchr(d->part, '(') ? "constraint " : NULL;
    const char *const verb = !d->has ? "is missing" : !d->expects ? "is not one of orchard's" : "is not as expected";
    int used;
    if (d->kind == DB_SCHEMA_TABLE || d->kind == DB_SCHEMA_VIEW)
        used = snprintf(text, size, "%s %.60s %s", d->kind == DB_SCHEMA_VIEW ? "view" : "table", d->object, verb);
    else
        used =
            snprintf(text, size, "table %.60s: %s%.60s %s", d->object, constraint ? constraint : parts[d->kind], d->part, verb);
    if (d->has && d->expects && d->kind != DB_SCHEMA_VIEW && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ": %.60s instead of %.60s", d->has, d->expects);
}
