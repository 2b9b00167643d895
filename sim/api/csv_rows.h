/* Documents as tables: what the option csv prints. */
#ifndef ORCHARD_SIM_API_CSV_ROWS_H
#define ORCHARD_SIM_API_CSV_ROWS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints a document as CSV (RFC 4180: CRLF, quotes where needed, one header line). A list of objects has a row for each; of an
 * object the list that matters: rows of validations and sweeps, numbers and runs of comparisons; any other object is one row.
 * Members of objects in a row are columns "outer.inner"; lists and counters have no columns. Texts that a spreadsheet would take
 * for a formula begin with an apostrophe. False when memory is short. */
bool csv_rows_print(FILE *out, json_object *document);

#endif
