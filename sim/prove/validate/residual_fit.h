/* How far runs of a kind are from hardware: spreads of residuals from the rows of a validation, and how well they cover rows that
 * they were not taken from. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_RESIDUAL_FIT_H
#define ORCHARD_SIM_PROVE_VALIDATE_RESIDUAL_FIT_H

#include "sim/run/residual.h"

#include <stdbool.h>

/* A row: the logarithm of measured over predicted time, and the uncertainty that parameters contribute (relative standard
 * deviation). */
struct residual_sample {
    const char *part, *work, *source;
    double ratio, parameter;
};

enum { RESIDUAL_GROUPS_MAX = 64 };
struct residual_table {
    struct residual group[RESIDUAL_GROUPS_MAX];
    size_t count;
};

/* Spreads for every unit and kind of work with enough rows and sources, for every unit with enough of them, and for all rows
 * together; rows of the source `without` are left out (NULL = none). The table points to texts of the samples. False when memory
 * is out. */
bool residual_fit(const struct residual_sample *samples, size_t count, const char *without, struct residual_table *table);

/* Whether the sample is inside the 90 % interval that the table gives it. */
bool residual_inside(const struct residual_table *table, const struct residual_sample *sample);

#endif
