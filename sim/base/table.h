/* Text tables: columns as wide as their widest cell, numbers to the right, units in the header. */
#ifndef ORCHARD_SIM_BASE_TABLE_H
#define ORCHARD_SIM_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_column {
    const char *name;
    const char *unit; /* printed as "name [unit]"; NULL or "" = none */
    bool right;       /* numbers */
    unsigned widest;  /* longer cells are cut, ending in "~"; 0 = never */
};

struct table;

/* The columns must stay alive as long as the table. NULL when memory is out. */
struct table *table_create(const struct table_column *columns, size_t count);
void table_free(struct table *table);
/* Cells of a new row, left to right; NULL is printed as "-". Copies the text. False when memory is out or the row is
 * full. */
bool table_row(struct table *table);
bool table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t table_rows(const struct table *table);
void table_print(const struct table *table, FILE *out, bool color);

#endif
