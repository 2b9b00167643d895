#include "sim/prove/validate/residual_fit.h"

#include "sim/run/interval.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples with numbered sources, and room for the samples of a group. */
struct fit {
    const struct residual_sample *sample;
    size_t count;
    unsigned *source, sources; /* source of each sample; number of sources */
    unsigned without;          /* a source to leave out */
    size_t rows;               /* samples in the group */
    unsigned *rows_of;         /* samples of the group by source */
    double *ratio, *weight, *parameter;
};

static void number_sources(struct fit *f)
{
    for (size_t i = 0; i < f->count; i++) {
        size_t j = 0;
        while (strcmp(f->sample[j].source, f->sample[i].source) != 0)
            j++;
        f->source[i] = j < i ? f->source[j] : f->sources++;
    }
}

static bool fit_open(struct fit *f, const struct residual_sample *samples, size_t count)
{
    *f = (struct fit){.sample = samples, .count = count, .without = UINT_MAX};
    f->source = calloc(2 * count + 1, sizeof *f->source);
    f->ratio = calloc(3 * count + 1, sizeof *f->ratio);
    if (!f->source || !f->ratio)
        return false;
    f->rows_of = f->source + count;
    f->weight = f->ratio + count;
    f->parameter = f->weight + count;
    number_sources(f);
    return true;
}

static void fit_close(struct fit *f)
{
    free(f->source);
    free(f->ratio);
}

/* ---- one group ---- */

/* Rows of a source err alike. Together they weigh the square root of their number, between counting rows and counting sources. */
static void gather(struct fit *f, const char *part, const char *work)
{
    size_t n = 0;
    memset(f->rows_of, 0, f->sources * sizeof *f->rows_of);
    for (int weigh = 0; weigh < 2; weigh++) {
        n = 0;
        for (size_t i = 0; i < f->count; i++) {
            const struct residual_sample *const s = &f->sample[i];
            if ((*part && strcmp(s->part, part) != 0) || (*work && strcmp(s->work, work) != 0) || f->source[i] == f->without)
                continue;
            if (!weigh) {
                f->rows_of[f->source[i]]++;
                continue;
            }
            f->ratio[n] = s->ratio;
            f->parameter[n] = s->parameter;
            f->weight[n++] = 1 / sqrt(f->rows_of[f->source[i]]);
        }
    }
    f->rows = n;
}

static unsigned group_sources(const struct fit *f)
{
    unsigned count = 0;
    for (unsigned i = 0; i < f->sources; i++)
        count += f->rows_of[i] > 0;
    return count;
}

/* The value below which a new sample lies with probability p, given sorted samples with weights: n samples leave n + 1 gaps. */
static double quantile(const struct fit *f, double p)
{
    double all = 0, below = 0;
    for (size_t i = 0; i < f->rows; i++)
        all += f->weight[i];
    const double wanted = p * all * (double)(f->rows + 1) / (double)f->rows;
    for (size_t i = 0; i < f->rows; i++) {
        below += f->weight[i];
        if (below >= wanted)
            return f->ratio[i];
    }
    return f->ratio[f->rows - 1];
}

/* The next measurement comes from a source of its own, which has an error, too: the spread of a new source about the mean of k is
 * wider by the square root of 1 + 1/k. */
static double widening(unsigned sources)
{
    return sqrt(1 + 1.0 / sources);
}

static void add_group(struct residual_table *table, struct fit *f, const char *part, const char *work)
{
    gather(f, part, work);
    const unsigned sources = group_sources(f);
    if (f->rows == 0 || table->count == RESIDUAL_GROUPS_MAX ||
        (*part && (f->rows < RESIDUAL_LEAST_ROWS || sources < RESIDUAL_LEAST_SOURCES)))
        return;
    gsl_sort2(f->ratio, 1, f->weight, 1, f->rows);
    gsl_sort(f->parameter, 1, f->rows);
    table->group[table->count++] = (struct residual){
        .part = part,
        .work = work,
        .low = widening(sources) * quantile(f, 0.05),
        .high = widening(sources) * quantile(f, 0.95),
        .parameter = gsl_stats_median_from_sorted_data(f->parameter, 1, f->rows),
        .rows = (unsigned)f->rows,
        .sources = sources,
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

static void fill(struct fit *f, struct residual_table *table)
{
    table->count = 0;
    add_group(table, f, "", "");
    for (size_t i = 0; i < f->count; i++) {
        const struct residual_sample *const of = &f->sample[i];
        const char *const works[] = {"", of->work};
        for (int w = 0; w < 1 + (*of->work != '\0'); w++) {
            bool seen = has_group(table, of->part, works[w]);
            for (size_t j = 0; !seen && j < i; j++) /* groups with too few rows */
                seen = strcmp(f->sample[j].part, of->part) == 0 && (!*works[w] || strcmp(f->sample[j].work, works[w]) == 0);
            if (!seen)
                add_group(table, f, of->part, works[w]);
        }
    }
}

bool residual_fit(const struct residual_sample *samples, size_t count, const char *without, struct residual_table *table)
{
    struct fit f;
    const bool ok = fit_open(&f, samples, count);
    for (size_t i = 0; ok && without && i < count; i++)
        if (strcmp(samples[i].source, without) == 0)
            f.without = f.source[i];
    if (ok)
        fill(&f, table);
    fit_close(&f);
    return ok;
}

bool residual_inside(const struct residual_table *table, const struct residual_sample *sample)
{
    const struct residual *const residual = residual_in(table->group, table->count, sample->part, sample->work);
    if (!residual)
        return false;
    const struct interval i = interval_of(residual, sample->parameter, sample->parameter);
    return sample->ratio >= log(i.low) && sample->ratio <= log(i.high);
}
