#include "sim/validate/residual_fit.h"

#include "sim/run/interval.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one group ---- */

struct spread {
    double *ratio, *parameter; /* of the group's samples */
    size_t rows;
    unsigned sources;
};

static bool belongs(const struct residual_sample *s, const char *part, const char *work, const char *without)
{
    return (!*part || strcmp(s->part, part) == 0) && (!*work || strcmp(s->work, work) == 0) &&
           (!without || strcmp(s->source, without) != 0);
}

/* Samples of a source follow one another in most tables, so looking back for it is quick. */
static bool is_new_source(const struct residual_sample *samples, size_t i, const char *part, const char *work, const char *without)
{
    for (size_t j = i; j-- > 0;)
        if (belongs(&samples[j], part, work, without) && strcmp(samples[j].source, samples[i].source) == 0)
            return false;
    return true;
}

static void gather(struct spread *to, const struct residual_sample *samples, size_t count, const char *part, const char *work,
                   const char *without)
{
    to->rows = to->sources = 0;
    for (size_t i = 0; i < count; i++) {
        if (!belongs(&samples[i], part, work, without))
            continue;
        to->sources += is_new_source(samples, i, part, work, without);
        to->ratio[to->rows] = samples[i].ratio;
        to->parameter[to->rows++] = samples[i].parameter;
    }
}

/* The share of sorted samples below which a new one of the same kind lies with probability p: of n samples the n + 1 gaps between them
 * are equally likely. */
static double quantile(const double *sorted, size_t n, double p)
{
    const double at = n > 1 ? ((double)(n + 1) * p - 1) / (double)(n - 1) : 0;
    return gsl_stats_quantile_from_sorted_data(sorted, 1, n, fmax(0, fmin(1, at)));
}

static void add_group(struct residual_table *table, struct spread *s, const char *part, const char *work, unsigned least_rows)
{
    if (s->rows < least_rows || s->rows == 0 || table->count == RESIDUAL_GROUPS_MAX)
        return;
    gsl_sort(s->ratio, 1, s->rows);
    gsl_sort(s->parameter, 1, s->rows);
    table->group[table->count++] = (struct residual){
        .part = part, .work = work, .low = quantile(s->ratio, s->rows, 0.05), .high = quantile(s->ratio, s->rows, 0.95),
        .parameter = gsl_stats_median_from_sorted_data(s->parameter, 1, s->rows), .rows = (unsigned)s->rows, .sources = s->sources,
    };
}

static bool has_group(const struct residual_table *table, const char *part, const char *work)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->group[i].part, part) == 0 && strcmp(table->group[i].work, work) == 0)
            return true;
    return false;
}

/* ---- the table ---- */

bool residual_fit(const struct residual_sample *samples, size_t count, const char *without, struct residual_table *table)
{
    struct spread s = {.ratio = malloc(2 * (count + 1) * sizeof(double))};
    s.parameter = s.ratio ? s.ratio + count + 1 : NULL;
    table->count = 0;
    if (!s.ratio)
        return false;
    gather(&s, samples, count, "", "", without);
    add_group(table, &s, "", "", 0);
    for (size_t i = 0; i < count; i++) {
        const struct residual_sample *of = &samples[i];
        if (!has_group(table, of->part, "")) {
            gather(&s, samples, count, of->part, "", without);
            add_group(table, &s, of->part, "", RESIDUAL_LEAST_ROWS);
        }
        if (*of->work && !has_group(table, of->part, of->work)) {
            gather(&s, samples, count, of->part, of->work, without);
            add_group(table, &s, of->part, of->work, RESIDUAL_LEAST_ROWS);
        }
    }
    free(s.ratio);
    return true;
}

bool residual_inside(const struct residual_table *table, const struct residual_sample *sample)
{
    const struct residual *residual = residual_in(table->group, table->count, sample->part, sample->work);
    if (!residual)
        return false;
    const struct interval i = interval_of(residual, sample->parameter, sample->parameter);
    return sample->ratio >= log(i.low) && sample->ratio <= log(i.high);
}

bool residual_cross_validate(const struct residual_sample *samples, size_t count, bool *inside)
{
    for (size_t i = 0; i < count; i++) {
        struct residual_table table;
        if (!is_new_source(samples, i, "", "", NULL))
            continue;
        if (!residual_fit(samples, count, samples[i].source, &table))
            return false;
        for (size_t j = i; j < count; j++)
            if (strcmp(samples[j].source, samples[i].source) == 0)
                inside[j] = residual_inside(&table, &samples[j]);
    }
    return true;
}
