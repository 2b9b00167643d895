/* Weights that the Neural Engine's products round to f16 when their programs are made: all that the file has in another type. */
#include "sim/run/language/kind_language.h"
#include "sim/run/language/language_step_internal.h"
#include "units/ane/ane_numeric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HALF_LARGEST  65504.0
#define HALF_SMALLEST 0x1p-14 /* that is normal; smaller ones have fewer bits */

bool language_is_halved(const struct language_stepper *s, const struct decoder_matrix *matrix)
{
    return s->turned && strcmp(matrix->tensor->format->name, "f16") != 0;
}

/* The types of the file, a word each. */
static void name_format(struct language_halves *h, const char *name)
{
    const size_t length = strlen(h->formats);
    const char *const found = strstr(h->formats, name);
    if (!found && length + strlen(name) + 3 < sizeof h->formats)
        snprintf(h->formats + length, sizeof h->formats - length, "%s%s", length ? ", " : "", name);
}

static void note(struct language_halves *h, double value, double half)
{
    const double change = fabs(half - value), size = fabs(value);
    h->absolute = fmax(h->absolute, change);
    if (size >= HALF_SMALLEST)
        h->relative = fmax(h->relative, change / size);
    h->small += size > 0 && size < HALF_SMALLEST;
    h->values++;
}

bool language_halve(struct language_stepper *s, const struct decoder_matrix *matrix, uint64_t row, float value, uint16_t *to)
{
    *to = ane_float_to_half(value);
    const double half = (double)ane_half_to_float(*to);
    if (isfinite(value) && !isfinite(half))
        return orch_fail(s->error, ORCH_UNMODELLED,
                         "%s: tensor '%s', row %llu: %g is beyond %g, the largest f16; the Neural Engine multiplies by f16 alone",
                         s->model->name, matrix->tensor->name, (unsigned long long)row, (double)value, HALF_LARGEST);
    note(&s->halves, (double)value, half);
    return true;
}

bool language_halve_row(struct language_stepper *s, const struct decoder_matrix *matrix, uint64_t row, uint16_t *to)
{
    const uint64_t of_tensor = matrix->first_row + row;
    float *const value = malloc(matrix->columns * sizeof *value);
    bool ok = value || orch_no_memory(s->error);
    if (ok)
        weight_row(matrix->tensor, of_tensor, value);
    for (unsigned c = 0; ok && c < matrix->columns; c++)
        ok = language_halve(s, matrix, of_tensor, value[c], &to[c]);
    name_format(&s->halves, matrix->tensor->format->name);
    free(value);
    return ok;
}

const struct language_halves *language_stepper_halves(const struct language_stepper *stepper)
{
    return &stepper->halves;
}

bool language_halves_tell(const struct language_halves *h, struct run_assumptions *list)
{
    char text[320], small[96] = "";
    if (!h->values)
        return true;
    if (h->small)
        snprintf(small, sizeof small, " (%.2g %% of them are below %.2g and change by %.2g at most)",
                 100.0 * (double)h->small / (double)h->values, HALF_SMALLEST, 0x1p-25);
    snprintf(text, sizeof text,
             "weights in %s are rounded to f16 for the Neural Engine: none changes by more than %.2g of itself%s", h->formats,
             h->relative, small);
    return run_assumption_add(list, "f16", "inferred", text);
}
