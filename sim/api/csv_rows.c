#include "sim/api/csv_rows.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 200, DEPTH = 4 };

/* ---- rows ---- */

/* A copy of a row with something put before it. */
static json_object *named_row(const char *column, const char *name, json_object *row)
{
    json_object *const copy = json_object_new_object();
    json_object_object_add(copy, column, json_object_new_string(name));
    json_object_object_foreach(row, key, member) json_object_object_add(copy, key, json_object_get(member));
    return copy;
}

static void add_workload(json_object *rows, json_object *workload)
{
    json_object *name, *list;
    if (!json_object_object_get_ex(workload, "workload", &name) || !json_object_object_get_ex(workload, "rows", &list))
        return;
    for (size_t i = 0; i < json_object_array_length(list); i++)
        json_object_array_add(rows, named_row("workload", json_object_get_string(name), json_object_array_get_idx(list, i)));
}

/* The rows of a document, to be released. */
static json_object *rows_of(json_object *document)
{
    json_object *found;
    if (json_object_is_type(document, json_type_array))
        return json_object_get(document);
    if (json_object_object_get_ex(document, "rows_detail", &found) || json_object_object_get_ex(document, "runs", &found))
        return json_object_get(found);
    json_object *const rows = json_object_new_array();
    if (json_object_object_get_ex(document, "workloads", &found)) {
        for (size_t i = 0; i < json_object_array_length(found); i++)
            add_workload(rows, json_object_array_get_idx(found, i));
    } else if (json_object_object_get_ex(document, "numbers", &found)) {
        json_object_object_foreach(found, key, member) json_object_array_add(rows, named_row("number", key, member));
    } else {
        json_object_array_add(rows, json_object_get(document));
    }
    return rows;
}

/* ---- columns ---- */

typedef void on_cell(void *context, const char *name, json_object *cell);

static void each_cell(json_object *row, const char *prefix, unsigned depth, on_cell *tell, void *context)
{
    if (!json_object_is_type(row, json_type_object))
        return;
    json_object_object_foreach(row, key, member)
    {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
        if (json_object_is_type(member, json_type_object)) {
            if (depth < DEPTH && strcmp(key, "counters") != 0)
                each_cell(member, name, depth + 1, tell, context);
        } else if (!json_object_is_type(member, json_type_array)) {
            tell(context, name, member);
        }
    }
}

static void add_column(void *columns, const char *name, json_object *cell)
{
    (void)cell;
    json_object_object_add(columns, name, NULL);
}

/* Columns are the names of an object, in the order of their first row; its members are the cells of the current one. */
static void set_cell(void *columns, const char *name, json_object *cell)
{
    json_object_object_add(columns, name, json_object_get(cell));
}

/* ---- text ---- */

static void print_text(FILE *out, const char *text)
{
    const bool formula = *text && strchr("=+-@\t\r", *text), quotes = formula || strpbrk(text, ",\"\r\n");
    if (quotes)
        fputc('"', out);
    if (formula)
        fputc('\'', out);
    for (; *text; text++) {
        /* Control characters belong to terminals, not to tables; lines and tabs may stand in quotes. */
        const unsigned char c = (unsigned char)*text;
        if (c == '"')
            fputc('"', out);
        fputc(c == 127 || (c < ' ' && !strchr("\t\r\n", c)) ? '?' : c, out);
    }
    if (quotes)
        fputc('"', out);
}

static void print_cell(FILE *out, json_object *cell)
{
    if (json_object_is_type(cell, json_type_string))
        print_text(out, json_object_get_string(cell));
    else if (cell)
        fputs(json_object_to_json_string_ext(cell, JSON_C_TO_STRING_PLAIN), out);
}

bool csv_rows_print(FILE *out, json_object *document)
{
    json_object *const rows = rows_of(document), *const columns = json_object_new_object();
    if (!rows || !columns)
        return false;
    for (size_t i = 0; i < json_object_array_length(rows); i++)
        each_cell(json_object_array_get_idx(rows, i), "", 0, add_column, columns);
    const char *separator = "";
    json_object_object_foreach(columns, title, nothing)
    {
        (void)nothing;
        fputs(separator, out);
        print_text(out, title);
        separator = ",";
    }
    fputs("\r\n", out);
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        json_object_object_foreach(columns, name, cell)
        {
            (void)cell;
            json_object_object_add(columns, name, NULL);
        }
        each_cell(json_object_array_get_idx(rows, i), "", 0, set_cell, columns);
        separator = "";
        json_object_object_foreach(columns, column, value)
        {
            (void)column;
            fputs(separator, out);
            print_cell(out, value);
            separator = ",";
        }
        fputs("\r\n", out);
    }
    json_object_put(columns);
    json_object_put(rows);
    return true;
}
