#include "sim/workload/gpu/gpu_steady.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* The mean of the pieces is as sure as this: its standard error, relative, when pieces scatter by so much that only one sample in
 * ten would scatter less. */
#define MEAN_SURE  0.005
#define ONE_IN_TEN 0.1
/* Paces that go up and down from piece to piece scatter more than their mean does: pieces are also looked at in twos, fours, and
 * so on. They say nothing before so many are over, nor while those of the first and of the second half differ by more, in the
 * mean: then the pace still changes. */
#define FEWEST 4
#define CHANGE 0.005

double gpu_steady_change(const double *pace, unsigned n)
{
    const unsigned half = n / 2;
    const double first = gsl_stats_mean(pace, 1, half), second = gsl_stats_mean(pace + n - half, 1, half);
    return 2 * (second - first) / (second + first);
}

void gpu_steady_begin(struct gpu_steady *s, double piece, double ns, double issued)
{
    *s = (struct gpu_steady){.piece = piece, .ns = ns, .issued = issued};
}

void gpu_steady_moment(struct gpu_steady *s, double ns, double issued)
{
    if (issued - s->issued < s->piece)
        return;
    if (s->pieces < GPU_STEADY_PIECES)
        s->pace[s->pieces++] = (ns - s->ns) / (issued - s->issued);
    s->ns = ns;
    s->issued = issued;
}

/* Tells so of these values. */
static bool alike(const double *pace, unsigned n)
{
    const double mean = gsl_stats_mean(pace, 1, n), variance = gsl_stats_variance(pace, 1, n) / (mean * mean);
    const double most = variance * (n - 1) / gsl_cdf_chisq_Pinv(ONE_IN_TEN, n - 1);
    return most / n <= MEAN_SURE * MEAN_SURE && fabs(gpu_steady_change(pace, n)) <= CHANGE;
}

bool gpu_steady_sure(const struct gpu_steady *s)
{
    double pace[GPU_STEADY_PIECES];
    memcpy(pace, s->pace, sizeof pace);
    for (unsigned n = s->pieces; n >= FEWEST; n /= 2) {
        if (alike(pace, n))
            return true;
        for (unsigned i = 0; i < n / 2; i++)
            pace[i] = (pace[2 * i] + pace[2 * i + 1]) / 2;
    }
    return false;
}
