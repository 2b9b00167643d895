/* Fits the time that frameworks add on the rows of a validation. */
#include "sim/prove/validate/overhead.h"
#include "sim/prove/validate/validation.h"

#include <stdlib.h>
#include <string.h>

/* The two things that a framework's time depends on. */
enum terms { PER_OPERATION_AND_KIB, PER_KIB_IN_AND_OUT, PER_KIB_AND_ROW };

static bool is_of(const struct validate_row *r, const char *framework)
{
    return r->state == VALIDATE_PREDICTED && strcmp(r->framework, framework) == 0 && strcmp(r->unit, "ms") == 0;
}

static enum terms terms_of(const struct validation *v, const char *framework)
{
    enum terms terms = PER_OPERATION_AND_KIB;
    for (size_t i = 0; i < v->rows; i++)
        if (is_of(&v->row[i], framework))
            terms = v->row[i].framework_rows > 0        ? PER_KIB_AND_ROW
                    : v->row[i].framework_out_bytes > 0 ? PER_KIB_IN_AND_OUT
                                                        : terms;
    return terms;
}

/* Collects rows in ms, the unit of frameworks. */
static size_t gather(const struct validation *v, const char *framework, enum terms terms, struct overhead_sample *samples)
{
    size_t count = 0;
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *const r = &v->row[i];
        if (!is_of(r, framework))
            continue;
        const double kib = r->framework_bytes / 1024, out = r->framework_out_bytes / 1024;
        samples[count++] = (struct overhead_sample){
            .missing_us = 1e3 * (r->measured - r->bare),
            .measured_us = 1e3 * r->measured,
            .times = {terms == PER_OPERATION_AND_KIB ? 1 : kib, terms == PER_OPERATION_AND_KIB ? kib
                                                                : terms == PER_KIB_IN_AND_OUT  ? out
                                                                                               : r->framework_rows},
        };
    }
    return count;
}

static void print_fit(FILE *out, const char *framework, enum terms terms, const struct overhead_fit *fit, size_t rows)
{
    const double first = fit->us[0], second = 1e3 * fit->us[1];
    if (terms == PER_OPERATION_AND_KIB)
        fprintf(out, "{\"%s\", %.1f, %.3f, 0, 0, %zu},\n", framework, first, second, rows);
    else if (terms == PER_KIB_IN_AND_OUT)
        fprintf(out, "{\"%s\", 0, %.1f, %.1f, 0, %zu},\n", framework, 1e3 * first, second, rows);
    else
        fprintf(out, "{\"%s\", 0, %.1f, 0, %.2f, %zu},\n", framework, 1e3 * first, second, rows);
}

static bool is_first(const struct validation *v, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (v->row[i].state == VALIDATE_PREDICTED && strcmp(v->row[i].framework, v->row[row].framework) == 0)
            return false;
    return true;
}

bool validation_fit_overheads(const struct validation *v, FILE *out, struct orch_error *error)
{
    enum { LEAST_ROWS = 8, ROUND_TRIP_US = 187 /* ROUND_TRIP_US (clpeak, M1 Pro) bounds how much quicker a framework can be */ };
    struct overhead_sample *const samples = malloc((v->rows + 1) * sizeof *samples);
    if (!samples)
        return orch_no_memory(error);
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *const r = &v->row[i];
        if (r->state != VALIDATE_PREDICTED || !*r->framework || !is_first(v, i))
            continue;
        const enum terms terms = terms_of(v, r->framework);
        const size_t count = gather(v, r->framework, terms, samples);
        if (count < LEAST_ROWS)
            continue;
        const struct overhead_fit fit = overhead_fit(samples, count, terms == PER_OPERATION_AND_KIB ? -ROUND_TRIP_US : 0);
        print_fit(out, r->framework, terms, &fit, count);
    }
    free(samples);
    return true;
}
