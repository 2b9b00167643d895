/* The library of activation tables: functions, where their knots lie, and how they go on beyond them. Inside isa/ane only. */
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
    ANE_KNOTS_MANTISSA /* sampled over one or two octaves, into which the engine brings the argument */
};

/* What lies beyond the knots on one side; the tail runs from the last knot to the clamp. */
struct ane_table_edge {
    double clamp; /* x */
    double value; /* y beyond it; NAN = the value of the function at the clamp */
    enum { ANE_EDGE_CHORD, ANE_EDGE_LINE } tail;
    double slope, intercept; /* of ANE_EDGE_LINE */
};

struct ane_table_function {
    const char *name, *text;
    uint16_t mode; /* enum ane_table_mode */
    int16_t spacing_log2;
    enum ane_table_kind kind;
    double (*value)(double x, double alpha);
    double alpha; /* usual value of the parameter; NAN = there is none */
    struct ane_table_edge left, right;
    /* How alpha changes the edges, and how it is found in a table; NULL for functions without a parameter. */
    void (*adjust)(double alpha, struct ane_table *table);
    double (*find_alpha)(const struct ane_table *table);
};
const struct ane_table_function *ane_table_function_at(size_t index); /* NULL past the end */

/* Fits knots, `step` apart from `first` on, by least squares. Knot 0 is `pin` unless that is NAN. */
void ane_table_fit(double (*value)(double x, double alpha), double alpha, double first, double step, double pin,
                   double knot[ANE_TABLE_KNOTS]);

#endif
