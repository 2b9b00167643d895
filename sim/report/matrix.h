/* Named shares of several rows in one order of columns: stalls or energies of runs, as stacked bars need them. */
#ifndef ORCHARD_SIM_REPORT_MATRIX_H
#define ORCHARD_SIM_REPORT_MATRIX_H

#include "sim/base/run_result.h"

struct matrix {
    char **column;
    double *value; /* row * columns + column; 0 where a row has nothing */
    size_t rows, columns;
};

/* All names of the rows, largest sum first. False when memory is short. */
bool matrix_build(struct matrix *m, const struct run_values *const *rows, size_t count);
/* Joins what lies behind the first `columns - 1` into "other". */
bool matrix_fold(struct matrix *m, size_t columns);
void matrix_free(struct matrix *m);

#endif
