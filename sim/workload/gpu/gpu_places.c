#include "sim/workload/gpu/gpu_places.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* The mean of all places is as sure as this: a standard error, relative. What places scatter by is taken to be so large that only
 * one sample in ten would scatter less. */
#define MEAN_SURE  0.01
#define ONE_IN_TEN 0.1
/* Standard deviation over median of sizes, of what is normally distributed. */
#define MEDIAN_TO_DEVIATION 1.4826

void gpu_places_add(struct gpu_places *p, double ns)
{
    if (p->last_ns > 0)
        p->change[p->changes++ % GPU_PLACES_KEPT] = fabs(ns / p->last_ns - 1);
    p->last_ns = ns;
}

/* The median tells what places scatter by: at the beginning of a launch, paces change for good. */
double gpu_places_share(const struct gpu_places *p)
{
    const unsigned n = p->changes < GPU_PLACES_KEPT ? p->changes : GPU_PLACES_KEPT;
    double change[GPU_PLACES_KEPT];
    if (n < 2)
        return 0;
    memcpy(change, p->change, n * sizeof *change);
    const double scatter = gsl_stats_median(change, 1, n) * MEDIAN_TO_DEVIATION / sqrt(2);
    return MEAN_SURE * MEAN_SURE / (scatter * scatter * n / gsl_cdf_chisq_Pinv(ONE_IN_TEN, n));
}
