/* A table of results for a page. A cell has what people read, and the exact number behind it. */
#ifndef ORCHARD_REPORTS_RESULT_TABLE_H
#define ORCHARD_REPORTS_RESULT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct result_column {
    const char *name, *unit; /* unit of the exact numbers; NULL = none */
    bool right;              /* numbers */
};

struct result_cell {
    char *shown;  /* NULL = empty */
    double exact; /* NAN = the cell is a text */
};

struct result_table;

/* Columns are copied. NULL when memory ran out; every other function takes that NULL and does nothing. */
struct result_table *result_table_create(const struct result_column *columns, size_t count);
void result_table_free(struct result_table *table);
/* Cells are filled from left to right, and new rows begin by themselves. NULL is an empty cell. */
void result_table_text(struct result_table *table, const char *text);
/* When `shown` is NULL, the number is shown with up to six digits. NAN is an empty cell. */
void result_table_number(struct result_table *table, double exact, const char *shown);

size_t result_table_rows(const struct result_table *table);
size_t result_table_columns(const struct result_table *table);
const struct result_column *result_table_column(const struct result_table *table, size_t column);
const struct result_cell *result_table_cell(const struct result_table *table, size_t row, size_t column);
/* Whether memory ran out while the table was filled. */
bool result_table_failed(const struct result_table *table);

#endif
