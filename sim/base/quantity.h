/* Quantities with units as people write them: "20min", "500 ms", "10W", "3.2GHz", "64MiB". */
#ifndef ORCHARD_SIM_BASE_QUANTITY_H
#define ORCHARD_SIM_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a finite number, alone or with a unit of the same kind as `unit`, and gives it in `unit`: "20min" is 1200 in "s". False
 * for anything else; for a unit that is not known here, its own name is still taken. Letters count as they are written ("mW" is
 * no "MW") unless only one unit of that kind is spelled so. */
bool quantity_read(const char *text, const char *unit, double *value);

/* The units of that kind, "ns, us, ms, s, min, h, d", for messages; "" when there is but one. */
const char *quantity_units(const char *unit, char *text, size_t size);

/* A change against the present value: "2x" and "0.5x" are factors, "+20%" and "-5%" parts of it. */
bool quantity_factor(const char *text, double *factor);

#endif
