/* Axes, which map values to places on the page and have ticks at round numbers. */
#ifndef ORCHARD_REPORTS_SCALE_H
#define ORCHARD_REPORTS_SCALE_H

#include <stdbool.h>
#include <stddef.h>

enum { SCALE_TICKS_MAX = 32, SCALE_LABEL = 24 };

struct scale {
    bool log;
    double low, high; /* values at the ends of the axis */
    double from, to;  /* places of the ends, pixels */
    double tick[SCALE_TICKS_MAX];
    unsigned ticks;
    double step;        /* of a linear axis */
    double factor;      /* labels are values over this */
    const char *prefix; /* of the factor: "m", "k" ...; "" = none */
    bool each;          /* labels have a prefix of their own (logarithmic axes of SI quantities) */
};

/* Widens low..high to round numbers with about `wanted` ticks between them. An axis that should be logarithmic but has no
 * positive ends becomes linear. `si`: the quantity takes SI prefixes. Ends that are equal, crossed or not finite are moved apart.
 */
void scale_fit(struct scale *s, double low, double high, bool log, bool si, unsigned wanted);
/* The place of a value. Values beyond the ends are put at the ends, and NAN at the low end. */
double scale_at(const struct scale *s, double value);
/* Writes the label of a tick; returns text. */
char *scale_label(const struct scale *s, double value, char text[SCALE_LABEL]);

#endif
