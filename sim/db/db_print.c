/* Prints the rows of reading statements as a table, CSV or JSON. */
#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/suggest.h"
#include "sim/base/table.h"
#include "sim/db/db_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True for pragmas that change nothing. */
static bool reading_pragma(const char *name, const char *argument)
{
    static const char *const looking[] = {"table_info",      "table_xinfo",   "table_list",       "index_list",
                                          "index_info",      "index_xinfo",   "foreign_key_list", "foreign_key_check",
                                          "integrity_check", "quick_check",   "database_list",    "compile_options",
                                          "function_list",   "collation_list"};
    static const char *const plain[] = {"user_version",   "application_id", "journal_mode", "page_count",    "page_size",
                                        "freelist_count", "foreign_keys",   "encoding",     "schema_version"};
    for (size_t i = 0; i < ARRAY_COUNT(looking); i++)
        if (sqlite3_stricmp(name, looking[i]) == 0)
            return true;
    for (size_t i = 0; !argument && i < ARRAY_COUNT(plain); i++)
        if (sqlite3_stricmp(name, plain[i]) == 0)
            return true;
    return false;
}

static int only_reading(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)context;
    (void)c;
    (void)d;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return b && sqlite3_stricmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: return a && reading_pragma(a, b) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

static bool blank(const char *sql)
{
    while (isspace((unsigned char)*sql) || *sql == ';')
        sql++;
    return *sql == 0;
}

/* An error of SQLite, with the nearest table or view where a table is missing. */
static bool refuse_sql(struct orch_db *db, struct orch_error *error)
{
    static const char missing[] = "no such table: ";
    char said[200], kept[128][64], phrase[128];
    struct suggest nearest;
    snprintf(said, sizeof said, "%s", sqlite3_errmsg(db->sqlite));
    if (strncmp(said, missing, strlen(missing)) != 0)
        return orch_fail(error, ORCH_USAGE, "SQL: %s", said);
    suggest_start(&nearest, said + strlen(missing));
    sqlite3_stmt *const names =
        db_query(db, NULL, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name", "");
    for (size_t n = 0; names && n < 128 && sqlite3_step(names) == SQLITE_ROW; n++) {
        snprintf(kept[n], sizeof kept[n], "%s", db_column_text(names, 0));
        suggest_offer(&nearest, kept[n]);
    }
    sqlite3_finalize(names);
    return orch_fail(error, ORCH_USAGE, "SQL: %s%s (`orchard db info` lists tables)", said,
                     suggest_phrase(&nearest, phrase, sizeof phrase));
}

/* Prepares a statement that the user wrote: its errors are wrong use. */
static sqlite3_stmt *prepare_reading(struct orch_db *db, const char *sql, struct orch_error *error)
{
    sqlite3_stmt *statement = NULL;
    const char *rest = "";
    sqlite3_set_authorizer(db->sqlite, only_reading, NULL);
    const int code = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, &rest);
    sqlite3_set_authorizer(db->sqlite, NULL, NULL);
    if (code == SQLITE_AUTH || (statement && !sqlite3_stmt_readonly(statement)))
        orch_fail(error, ORCH_USAGE, "only SELECT, EXPLAIN and looking PRAGMAs are allowed here");
    else if (code == SQLITE_ERROR)
        refuse_sql(db, error);
    else if (code != SQLITE_OK)
        db_fail(db, error, "reading");
    else if (!statement)
        orch_fail(error, ORCH_USAGE, "the query is empty");
    else if (!blank(rest))
        orch_fail(error, ORCH_USAGE, "one statement at a time, please");
    else
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

/* Steps such a statement: an expression that fails while it runs is wrong use, too. */
static int step(struct orch_db *db, sqlite3_stmt *rows, struct orch_error *error)
{
    const int code = sqlite3_step(rows);
    if ((code & 0xff) == SQLITE_ERROR)
        orch_fail(error, ORCH_USAGE, "SQL: %s", sqlite3_errmsg(db->sqlite));
    else if (code != SQLITE_ROW && code != SQLITE_DONE)
        db_fail(db, error, "reading");
    return code;
}

/* --- cells ----------------------------------------------------------------------------------------------------- */

/* The shortest text that reads back as the same number. */
static void real_text(double number, char text[40])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 40, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
}

static void csv_cell(FILE *out, sqlite3_stmt *row, int column)
{
    char text[40];
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL: return;
    case SQLITE_FLOAT:
        real_text(sqlite3_column_double(row, column), text);
        fputs(text, out);
        return;
    default: format_csv_text(out, db_column_text(row, column));
    }
}

static json_object *json_cell(sqlite3_stmt *row, int column)
{
    char text[40];
    const double real = sqlite3_column_double(row, column);
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL: return NULL;
    case SQLITE_INTEGER: return json_object_new_int64(sqlite3_column_int64(row, column));
    case SQLITE_FLOAT:
        if (!isfinite(real))
            return NULL;
        real_text(real, text);
        return json_object_new_double_s(real, text);
    default: return json_object_new_string(db_column_text(row, column));
    }
}

static json_object *json_row(sqlite3_stmt *row)
{
    json_object *object = json_object_new_object();
    for (int i = 0; i < sqlite3_column_count(row); i++)
        json_object_object_add(object, sqlite3_column_name(row, i), json_cell(row, i));
    return object;
}

/* --- forms ----------------------------------------------------------------------------------------------------- */

static int print_csv(struct orch_db *db, sqlite3_stmt *rows, FILE *out, struct orch_error *error)
{
    const int columns = sqlite3_column_count(rows);
    for (int i = 0; i < columns; i++) {
        fputs(i ? "," : "", out);
        format_csv(out, sqlite3_column_name(rows, i));
    }
    fputc('\n', out);
    int code;
    while ((code = step(db, rows, error)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) {
            fputs(i ? "," : "", out);
            csv_cell(out, rows, i);
        }
        fputc('\n', out);
    }
    return code;
}

static int print_jsonl(struct orch_db *db, sqlite3_stmt *rows, FILE *out, struct orch_error *error)
{
    int code;
    while ((code = step(db, rows, error)) == SQLITE_ROW) {
        json_object *object = json_row(rows);
        fprintf(out, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
        json_object_put(object);
    }
    return code;
}

static int print_json(struct orch_db *db, sqlite3_stmt *rows, FILE *out, struct orch_error *error)
{
    json_object *array = json_object_new_array();
    int code;
    while ((code = step(db, rows, error)) == SQLITE_ROW)
        json_object_array_add(array, json_row(rows));
    if (code == SQLITE_DONE)
        json_print(array, out);
    else
        json_object_put(array);
    return code;
}

static bool table_cells(struct table *table, sqlite3_stmt *row)
{
    bool ok = table_row(table);
    for (int i = 0; ok && i < sqlite3_column_count(row); i++) {
        char text[40];
        const int type = sqlite3_column_type(row, i);
        if (type == SQLITE_FLOAT) {
            snprintf(text, sizeof text, "%.6g", sqlite3_column_double(row, i));
            ok = table_cell(table, "%s", text);
        } else {
            ok = table_cell(table, "%s", type == SQLITE_NULL ? "-" : db_column_text(row, i));
        }
    }
    return ok;
}

/* All rows are gathered first, since a column is as wide as its widest cell. A column is aligned to the right when the first row
 * has a number in it. */
static int fill_table(struct orch_db *db, sqlite3_stmt *rows, struct table_column *columns, int count, FILE *out,
                      struct orch_error *error)
{
    int code = step(db, rows, error);
    for (int i = 0; i < count; i++) {
        const int type = code == SQLITE_ROW ? sqlite3_column_type(rows, i) : SQLITE_TEXT;
        columns[i] = (struct table_column){sqlite3_column_name(rows, i), NULL, type == SQLITE_INTEGER || type == SQLITE_FLOAT, 0};
    }
    struct table *table = table_create(columns, (size_t)count);
    bool room = table != NULL;
    for (; room && code == SQLITE_ROW; code = step(db, rows, error))
        room = table_cells(table, rows);
    if (!room) {
        orch_no_memory(error);
        code = SQLITE_NOMEM;
    }
    if (code == SQLITE_DONE)
        table_print(table, out, false);
    table_free(table);
    return code;
}

static int print_table(struct orch_db *db, sqlite3_stmt *rows, FILE *out, struct orch_error *error)
{
    const int count = sqlite3_column_count(rows);
    struct table_column *columns = calloc((size_t)count + 1, sizeof *columns);
    if (!columns) {
        orch_no_memory(error);
        return SQLITE_NOMEM;
    }
    const int code = fill_table(db, rows, columns, count, out, error);
    free(columns);
    return code;
}

bool db_print_query(struct orch_db *db, const char *sql, enum db_format format, FILE *out, struct orch_error *error)
{
    static int (*const forms[])(struct orch_db *, sqlite3_stmt *, FILE *, struct orch_error *) = {
        [DB_FORMAT_CSV] = print_csv,
        [DB_FORMAT_JSONL] = print_jsonl,
        [DB_FORMAT_JSON] = print_json,
        [DB_FORMAT_TABLE] = print_table,
    };
    sqlite3_stmt *statement = prepare_reading(db, sql, error);
    if (!statement)
        return false;
    const int code = forms[format](db, statement, out, error);
    sqlite3_finalize(statement);
    if (code == SQLITE_DONE && ferror(out))
        return orch_fail(error, ORCH_USAGE, "writing the rows failed");
    return code == SQLITE_DONE;
}

bool db_export(struct orch_db *db, const char *table, enum db_format format, FILE *out, struct orch_error *error)
{
    int64_t there;
    char sql[200];
    if (!db_number(db, error, 0, &there, "SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?", "t",
                   table))
        return false;
    if (!there || strlen(table) > 64)
        return orch_fail(error, ORCH_USAGE, "no table or view '%.64s' in %s (orchard db info lists them)", table, db->path);
    snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", table);
    return db_print_query(db, sql, format, out, error);
}
