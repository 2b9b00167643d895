/* Comma-separated tables as in RFC 4180: quoted cells, doubled quotes, CRLF or LF, an optional byte-order mark. The first record
 * names the columns; every record has as many cells as the first. Records that are at fault are left out and listed. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_CSV_H
#define ORCHARD_SIM_PROVE_VALIDATE_CSV_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct csv_table;

/* What is wrong with a record, and what would put it right. */
enum { CSV_SHOWN = 40 }; /* so much of a name or a value is kept */
struct csv_fault {
    unsigned line, place;                             /* of the cell, or of the record; both from 1 */
    char column[CSV_SHOWN + 1], value[CSV_SHOWN + 1]; /* "" when it is about the record as a whole, or the cell is empty */
    char why[96], fix[112];
};

/* An error in the names ends it and has the form "name:line:column: what". Free with csv_free. */
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

/* Records that were left out, in the order of their lines. */
size_t csv_faults(const struct csv_table *table);
const struct csv_fault *csv_fault_at(const struct csv_table *table, size_t index);
/* Finds fault with a row, because of what is in a column (-1: because of the whole). The row stays, on line 0, until all such
 * rows are removed. False when memory is out. */
bool csv_reject(struct csv_table *table, size_t row, int column, const char *fix, const char *why, ...)
    __attribute__((format(printf, 5, 6)));
void csv_remove_rejected(struct csv_table *table);
/* "name:line:place: column 'value' is 'nan': why; fix" */
void csv_fault_say(const char *name, const struct csv_fault *fault, char *text, size_t size);

#endif
