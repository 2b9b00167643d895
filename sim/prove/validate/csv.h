/* Comma-separated tables as in RFC 4180: quoted cells, doubled quotes, CRLF or LF, an optional byte-order mark. The first record
 * names the columns; every record has as many cells as the first. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_CSV_H
#define ORCHARD_SIM_PROVE_VALIDATE_CSV_H

#include "sim/base/error.h"

#include <stddef.h>

struct csv_table;

/* Errors have the form "name:line:column: what". Free with csv_free. */
struct csv_table *csv_parse(const char *name, const char *text, size_t bytes, struct orch_error *error);
struct csv_table *csv_read(const char *path, struct orch_error *error);
void csv_free(struct csv_table *table);

size_t csv_rows(const struct csv_table *table); /* Number of rows, without the names of the columns. */
size_t csv_columns(const struct csv_table *table);
const char *csv_name(const struct csv_table *table, size_t column);
/* Number of the column of that name, -1 when there is none. */
int csv_find(const struct csv_table *table, const char *name);
/* Text of a cell; "" when column is negative. */
const char *csv_cell(const struct csv_table *table, size_t row, int column);
/* Line on which a row starts, from 1. */
unsigned csv_line(const struct csv_table *table, size_t row);

#endif
