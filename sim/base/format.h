/* Texts that people and tables read: numbers as reports/number_text.h writes them, and cells of CSV files. */
#ifndef ORCHARD_SIM_BASE_FORMAT_H
#define ORCHARD_SIM_BASE_FORMAT_H

#include "reports/number_text.h"

#include <stddef.h>
#include <stdio.h>

/* A cell of a CSV file, in quotes where it needs them (RFC 4180). */
void format_csv(FILE *out, const char *text);
/* The same of a text that others have written: no spreadsheet shall take it for a formula, so that one that begins like a formula
 * and is no number has an apostrophe before it; and no terminal for commands: control characters become question marks. */
void format_csv_text(FILE *out, const char *text);
/* Pads a text on the left to so many characters, where printf would count the bytes of µ. */
void format_right(FILE *out, const char *text, unsigned width);
/* Characters of a UTF-8 text: what a terminal shows, not bytes. */
size_t format_width(const char *text);

/* Replaces control characters by '?', in place, so that a text of others cannot speak to a terminal. Those of 8 bits, which are
 * two bytes in UTF-8, become one '?'. */
void format_printable(char *text);

#endif
