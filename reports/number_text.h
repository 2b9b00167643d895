/* Numbers as people read them. Each function writes into `text` and returns it; NaN is "-". There are two styles: in columns
 * every number has the same digits; in sentences zero is "0" and what is infinite is "-".
 */
#ifndef ORCHARD_REPORTS_NUMBER_TEXT_H
#define ORCHARD_REPORTS_NUMBER_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { FORMAT_SIZE = 64 }; /* enough for every function here */

/* SI prefixes from pico to peta; µ is U+00B5 in UTF-8. */
struct format_prefix {
    double factor;
    const char *text; /* "" = none */
};
/* The prefix that leaves 1 to 999 in front of it. A size just below a factor takes that factor already: from `from` times the
 * factor on, 0.9995 when three digits are shown (0.9996 ms prints as 1.00 ms), nearly 1 when all are. */
struct format_prefix format_prefix(double size, double from);

/* ---- in columns ---- */

/* Exactly so many significant digits: "2.70". */
char *format_digits(char text[FORMAT_SIZE], double number, int digits);
/* At most so many, no exponent between 1e-4 and 1e15: "3.228", "0.5", "10617". */
char *format_number(char text[FORMAT_SIZE], double number, int digits);
/* SI prefix and unit, three digits: "2.70 ms", "1.49 TFLOPS", "102 GB/s". */
char *format_si(char text[FORMAT_SIZE], double number, const char *unit);
/* Seconds with an interval: "2.70 ms (2.40-3.10)"; without one when an end is not finite. */
char *format_seconds(char text[FORMAT_SIZE], double seconds, double low, double high);
/* Bytes with IEC prefix: "12 MiB", "1.5 KiB", "546 B". */
char *format_bytes(char text[FORMAT_SIZE], uint64_t bytes);
/* 0.05 -> "5 %", at most three digits. */
char *format_percent(char text[FORMAT_SIZE], double share);
/* The unit of a parameter, which files spell in ASCII: "us" -> "µs". Others come back as they are. */
const char *format_unit(const char *unit);

/* ---- in sentences ---- */

/* SI prefix and unit: 0.0027, "s" -> "2.70 ms"; 0 -> "0 s". */
char *format_quantity(char text[FORMAT_SIZE], double number, const char *unit);
/* The same with an interval, whose ends have the prefix of the number and two digits: "2.70 ms (2.4–3.1)". */
char *format_interval(char text[FORMAT_SIZE], double number, double low, double high, const char *unit);
/* Seconds; from two minutes on minutes and from two hours on hours, since nobody counts in kiloseconds: "2.70 ms", "20.0 min". */
char *format_duration(char text[FORMAT_SIZE], double seconds);
/* Bytes with IEC prefix: "16.0 KiB", "546 bytes". */
char *format_volume(char text[FORMAT_SIZE], double bytes);
/* 1234567 -> "1,234,567"; what is no whole number as %.4g. */
char *format_count(char text[FORMAT_SIZE], double number);
/* 0.125 -> "12.5 %". */
char *format_share(char text[FORMAT_SIZE], double share);

#endif
