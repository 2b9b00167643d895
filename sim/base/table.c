#define _GNU_SOURCE /* vasprintf */
#include "sim/base/table.h"

#include "sim/base/format.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct table {
    const struct table_column *column;
    size_t columns, rows, filled; /* filled: cells of the last row */
    char **cell;                  /* rows x columns, NULL = empty */
    bool failed;                  /* memory ran out for a row or a cell */
};

struct table *table_create(const struct table_column *columns, size_t count)
{
    struct table *const table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->column = columns;
    table->columns = count;
    table->filled = count;
    return table;
}

void table_free(struct table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->rows * table->columns; i++)
        free(table->cell[i]);
    free(table->cell);
    free(table);
}

bool table_row(struct table *table)
{
    if (!table)
        return false;
    char **const grown = realloc(table->cell, (table->rows + 1) * table->columns * sizeof *grown);
    if (!grown) {
        table->failed = true;
        return false;
    }
    table->cell = grown;
    memset(grown + table->rows * table->columns, 0, table->columns * sizeof *grown);
    table->rows++;
    table->filled = 0;
    return true;
}

bool table_cell(struct table *table, const char *format, ...)
{
    if (!table || table->filled == table->columns)
        return false;
    va_list args;
    va_start(args, format);
    char *text = NULL;
    const int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        table->failed = true;
        return false;
    }
    format_printable(text);
    table->cell[(table->rows - 1) * table->columns + table->filled++] = text;
    return true;
}

size_t table_rows(const struct table *table)
{
    return table ? table->rows : 0;
}

static void header_of(const struct table_column *column, char *text, size_t size)
{
    if (column->unit && column->unit[0])
        snprintf(text, size, "%s [%s]", column->name, column->unit);
    else
        snprintf(text, size, "%s", column->name);
}

static size_t column_width(const struct table *table, size_t c)
{
    char header[128];
    header_of(&table->column[c], header, sizeof header);
    size_t width = format_width(header);
    for (size_t r = 0; r < table->rows; r++) {
        const char *const cell = table->cell[r * table->columns + c];
        const size_t cell_width = cell && cell[0] ? format_width(cell) : 1;
        width = cell_width > width ? cell_width : width;
    }
    const unsigned widest = table->column[c].widest;
    return widest && width > widest ? widest : width;
}

/* How many bytes the first `width` characters have. */
static int bytes_of(const char *text, size_t width)
{
    const char *at = text;
    while (*at && width) {
        at++;
        while (((unsigned char)*at & 0xc0) == 0x80)
            at++;
        width--;
    }
    return (int)(at - text);
}

static void print_cell(FILE *out, const char *text, size_t width, bool right, bool last)
{
    const size_t own = format_width(text);
    const bool cut = own > width;
    const int pad = cut ? 0 : (int)(width - own);
    if (right)
        fprintf(out, "%*s", pad, "");
    fprintf(out, "%.*s%s", bytes_of(text, cut ? width - 1 : own), text, cut ? "~" : "");
    if (!right && !last)
        fprintf(out, "%*s", pad, "");
    fputs(last ? "\n" : "  ", out);
}

bool table_print(const struct table *table, FILE *out, bool color)
{
    size_t *const width = table && !table->failed ? calloc(table->columns + 1, sizeof *width) : NULL;
    if (!width)
        return false;
    if (color)
        fputs("\033[1m", out);
    for (size_t c = 0; c < table->columns; c++) {
        char header[128];
        width[c] = column_width(table, c);
        header_of(&table->column[c], header, sizeof header);
        print_cell(out, header, width[c], table->column[c].right, c + 1 == table->columns);
    }
    if (color)
        fputs("\033[0m", out);
    for (size_t r = 0; r < table->rows; r++) {
        for (size_t c = 0; c < table->columns; c++) {
            const char *const cell = table->cell[r * table->columns + c];
            print_cell(out, cell && cell[0] ? cell : "-", width[c], table->column[c].right, c + 1 == table->columns);
        }
    }
    free(width);
    return true;
}
