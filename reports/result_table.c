#include "reports/result_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct result_table {
    struct result_column *column;
    size_t columns;
    struct result_cell *cell;
    size_t cells, room;
    bool failed;
};

struct result_table *result_table_create(const struct result_column *columns, size_t count)
{
    struct result_table *const t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->column = calloc(count ? count : 1, sizeof *t->column);
    t->failed = !t->column;
    for (size_t i = 0; t->column && i < count; i++) {
        t->column[i] =
            (struct result_column){strdup(columns[i].name), columns[i].unit ? strdup(columns[i].unit) : NULL, columns[i].right};
        t->failed = t->failed || !t->column[i].name || (columns[i].unit && !t->column[i].unit);
    }
    t->columns = t->column ? count : 0;
    return t;
}

void result_table_free(struct result_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->cells; i++)
        free(t->cell[i].shown);
    for (size_t i = 0; i < t->columns; i++) {
        free((char *)t->column[i].name);
        free((char *)t->column[i].unit);
    }
    free(t->cell);
    free(t->column);
    free(t);
}

static void add(struct result_table *t, const char *text, double exact)
{
    if (!t || t->failed)
        return;
    if (t->cells == t->room) {
        const size_t room = t->room ? 2 * t->room : 64;
        struct result_cell *const cell = realloc(t->cell, room * sizeof *cell);
        t->failed = !cell;
        if (!cell)
            return;
        t->cell = cell;
        t->room = room;
    }
    char *const copy = text ? strdup(text) : NULL;
    t->failed = text && !copy;
    t->cell[t->cells++] = (struct result_cell){copy, exact};
}

void result_table_text(struct result_table *table, const char *text)
{
    add(table, text, NAN);
}

void result_table_number(struct result_table *table, double exact, const char *shown)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.6g", exact);
    add(table, isnan(exact) ? NULL : shown ? shown : digits, exact);
}

size_t result_table_rows(const struct result_table *t)
{
    return t && t->columns ? (t->cells + t->columns - 1) / t->columns : 0;
}

size_t result_table_columns(const struct result_table *t)
{
    return t ? t->columns : 0;
}

const struct result_column *result_table_column(const struct result_table *t, size_t column)
{
    return &t->column[column];
}

const struct result_cell *result_table_cell(const struct result_table *t, size_t row, size_t column)
{
    static const struct result_cell empty = {NULL, 0};
    const size_t at = row * t->columns + column;
    return at < t->cells ? &t->cell[at] : &empty;
}

bool result_table_failed(const struct result_table *t)
{
    return !t || t->failed;
}
