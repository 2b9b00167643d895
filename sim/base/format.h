/* Numbers in the form in which people read them. Each function writes into `text` and returns it. */
#ifndef ORCHARD_SIM_BASE_FORMAT_H
#define ORCHARD_SIM_BASE_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FORMAT_SIZE = 48 }; /* enough for every function here */

/* Up to `digits` significant digits, without trailing zeros, and without an exponent between 1e-4 and 1e15: "3.228", "10617". */
char *format_number(char text[FORMAT_SIZE], double number, int digits);
/* Exactly `digits` significant digits: "2.70". */
char *format_digits(char text[FORMAT_SIZE], double number, int digits);
/* Three digits with an SI prefix and the unit: "2.70 ms", "1.49 TFLOPS", "102 GB/s". */
char *format_si(char text[FORMAT_SIZE], double number, const char *unit);
/* Bytes with an IEC prefix: "12 MiB", "1.5 KiB". */
char *format_bytes(char text[FORMAT_SIZE], uint64_t bytes);
/* Seconds with their interval: "2.70 ms (2.40-3.10)". */
char *format_seconds(char text[FORMAT_SIZE], double seconds, double low, double high);
/* "0.05" -> "5 %" */
char *format_percent(char text[FORMAT_SIZE], double share);
/* Writes one cell of a CSV file, quoted where RFC 4180 requires it. */
void format_csv(FILE *out, const char *text);

#endif
