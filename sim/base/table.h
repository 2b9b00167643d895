/* Text tables: each column is as wide as its widest cell, numbers are aligned to the right, units stand in the header. */
#ifndef ORCHARD_SIM_BASE_TABLE_H
#define ORCHARD_SIM_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_column {
    const char *name;
    const char *unit; /* printed as "name [unit]"; NULL or "" = none */
    bool right;       /* numbers */
    unsigned widest;  /* longer cells are cut and end in "~"; 0 = never */
};

struct table;

/* `columns` must outlive the table. NULL when memory has run out; the functions below take that for a table without rows, so that
 * only table_print need be asked whether memory lasted. */
struct table *table_create(const struct table_column *columns, size_t count);
void table_free(struct table *table);
/* Begin a row, then add its cells from left to right; NULL is printed as "-". The text is copied. False when memory has run out
 * or the row is full. */
bool table_row(struct table *table);
bool table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t table_rows(const struct table *table);
/* False, with nothing printed, when memory ran out for the table or any part of it. */
bool table_print(const struct table *table, FILE *out, bool color);

#endif
