/* Quantities for people: three digits, a prefix, a unit. Each function fills `text` and returns it. */
#ifndef ORCHARD_SIM_BASE_HUMAN_H
#define ORCHARD_SIM_BASE_HUMAN_H

#include <stddef.h>
#include <stdint.h>

enum { HUMAN_SIZE = 64 };

/* 0.0027, "s" -> "2.70 ms"; 1.5e9, "flop/s" -> "1.50 Gflop/s"; 0 -> "0 s"; NAN -> "-". */
const char *human_quantity(double value, const char *unit, char text[HUMAN_SIZE]);
/* IEC prefixes: 16384 -> "16.0 KiB". */
const char *human_bytes(double bytes, char text[HUMAN_SIZE]);
/* "2.70 ms (2.4–3.1)": the ends have two digits and the prefix of the value. Without ends, just the value. */
const char *human_interval(double value, double low, double high, const char *unit, char text[HUMAN_SIZE]);
/* 1234567 -> "1,234,567"; a number that is not whole is printed as %.4g. */
const char *human_count(double value, char text[HUMAN_SIZE]);
/* 0.125 -> "12.5 %". */
const char *human_share(double share, char text[HUMAN_SIZE]);

#endif
