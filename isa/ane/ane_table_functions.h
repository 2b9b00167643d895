/* The library of activation tables: which function, where its knots lie, how it goes on beyond them. Inside isa/ane only. */
#ifndef ORCHARD_ISA_ANE_ANE_TABLE_FUNCTIONS_H
#define ORCHARD_ISA_ANE_ANE_TABLE_FUNCTIONS_H

#include "isa/ane/ane_coefficients.h"

#include <math.h>

#define ANE_TABLE_TAILS 0x40 /* spacing_log2 of tables without knots */

/* How the knots arise. */
enum ane_table_kind {
    ANE_KNOTS_NONE,    /* two lines that meet at x = 0 */
    ANE_KNOTS_SAMPLED, /* the function at the knots */
    ANE_KNOTS_FITTED,  /* least squares over the fp16 numbers between the first and the last knot */
    ANE_KNOTS_MANTISSA /* sampled over one or two octaves; the engine brings the argument there */
};

/* What lies beyond the knots. Left and right each; the tail line runs from the last knot to the clamp. */
struct ane_table_edge {
    double clamp; /* x */
    double value; /* y beyond; NAN = the function's value at the clamp */
    enum { ANE_EDGE_CHORD, ANE_EDGE_LINE } tail;
    double slope, intercept; /* of ANE_EDGE_LINE */
};

struct ane_table_function {
    const char *name, *text;
    uint16_t mode; /* enum ane_table_mode */
    int16_t spacing_log2;
    enum ane_table_kind kind;
    double (*value)(double x, double alpha);
    double alpha; /* usual value, NAN = has none */
    struct ane_table_edge left, right;
    /* Scale of the edges by alpha, and alpha from a table, of functions that have one. */
    void (*adjust)(double alpha, struct ane_table *table);
    double (*find_alpha)(const struct ane_table *table);
};
const struct ane_table_function *ane_table_function_at(size_t index); /* NULL past the end */

/* x of a knot under a mode and spacing; 0 for tails. */
double ane_table_knot_x(uint16_t mode, int spacing_log2, unsigned knot);
/* Least squares; knots are `step` apart from `first` on. Knot 0 keeps `pin` unless it is NAN. */
void ane_table_fit(double (*value)(double x, double alpha), double alpha, double first, double step, double pin,
                   double knot[ANE_TABLE_KNOTS]);

#endif
