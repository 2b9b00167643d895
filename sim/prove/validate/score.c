#include "sim/prove/validate/score.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

static double share(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

static void errors_of(const struct score_pair *pairs, size_t count, double *ape, struct score *score)
{
    size_t within10 = 0, within25 = 0, intervals = 0, inside = 0;
    double bias = 0, symmetric = 0;
    for (size_t i = 0; i < count; i++) {
        const double p = pairs[i].predicted, m = pairs[i].measured;
        ape[i] = fabs(p - m) / m;
        bias += (p - m) / m;
        symmetric += fabs(p - m) / fmin(p, m);
        within10 += ape[i] <= 0.10;
        within25 += ape[i] <= 0.25;
        if (pairs[i].low > 0 || pairs[i].high > 0) {
            intervals++;
            inside += m >= pairs[i].low && m <= pairs[i].high;
        }
    }
    score->bias = bias / (double)count;
    score->symmetric = symmetric / (double)count;
    score->within10 = share(within10, count);
    score->within25 = share(within25, count);
    score->interval_coverage = share(inside, intervals);
}

static double rank_correlation(const struct score_pair *pairs, size_t count, double *room)
{
    if (count < 3)
        return NAN;
    double *const predicted = room, *const measured = room + count, *const work = room + 2 * count;
    for (size_t i = 0; i < count; i++) {
        predicted[i] = pairs[i].predicted;
        measured[i] = pairs[i].measured;
    }
    return gsl_stats_spearman(predicted, 1, measured, 1, count, work);
}

bool score_pairs(const struct score_pair *pairs, size_t count, struct score *score)
{
    *score = (struct score){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (count == 0)
        return true;
    double *const room = malloc(4 * count * sizeof *room);
    if (!room)
        return false;
    score->count = count;
    errors_of(pairs, count, room, score);
    score->mape = gsl_stats_mean(room, 1, count);
    gsl_sort(room, 1, count);
    score->median_ape = gsl_stats_median_from_sorted_data(room, 1, count);
    score->p90_ape = gsl_stats_quantile_from_sorted_data(room, 1, count, 0.9);
    score->spearman = rank_correlation(pairs, count, room);
    free(room);
    return true;
}
