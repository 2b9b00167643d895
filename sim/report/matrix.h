/* Named shares of several rows in one order of columns, as stacked bars of stalls or energies need them. */
#ifndef ORCHARD_SIM_REPORT_MATRIX_H
#define ORCHARD_SIM_REPORT_MATRIX_H

#include "sim/base/run_result.h"

struct matrix {
    char **column;
    double *value; /* at row * columns + column; 0 where a row has no such share */
    size_t rows, columns;
};

/* Takes all names of the rows, largest sum first. False when memory is out. */
bool matrix_build(struct matrix *m, const struct run_values *const *rows, size_t count);
/* Joins the columns after the first `columns - 1` into one named "other". */
bool matrix_fold(struct matrix *m, size_t columns);
void matrix_free(struct matrix *m);

#endif
