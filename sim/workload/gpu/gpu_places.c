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
/* Parts of places tell by how much places would scatter if what makes them scatter were short. It may last longer, so parts weigh
 * as much as so many places at most, and as nothing when they are fewer than some. Threadgroups in step make parts scatter more
 * than places, which are whole waves of them: then places tell more. */
#define MOST_WEIGHT  6
#define FEWEST_PARTS 2

void gpu_places_add(struct gpu_places *p, double ns)
{
    if (p->last_ns > 0)
        p->change[p->changes++ % GPU_PLACES_KEPT] = fabs(ns / p->last_ns - 1);
    p->last_ns = ns;
}

/* The median tells what places scatter by: at the beginning of a launch, paces change for good. */
static double scatter_of(const struct gpu_places *p, unsigned *changes)
{
    double change[GPU_PLACES_KEPT];
    *changes = p->changes < GPU_PLACES_KEPT ? p->changes : GPU_PLACES_KEPT;
    memcpy(change, p->change, *changes * sizeof *change);
    return *changes ? gsl_stats_median(change, 1, *changes) * MEDIAN_TO_DEVIATION / sqrt(2) : 0;
}

/* The share at which the mean of places that scatter like this is sure, when so many values told by how much they do. */
static double sure_share(double variance, unsigned values)
{
    return MEAN_SURE * MEAN_SURE / (variance * values / gsl_cdf_chisq_Pinv(ONE_IN_TEN, values));
}

double gpu_places_share(const struct gpu_places *p)
{
    unsigned changes;
    const double scatter = scatter_of(p, &changes);
    return changes < 2 ? 0 : sure_share(scatter * scatter, changes);
}

double gpu_places_share_of_parts(const struct gpu_places *p, const struct gpu_places *parts, unsigned parts_of_place)
{
    unsigned changes, inside;
    const double scatter = scatter_of(p, &changes), part = scatter_of(parts, &inside), alone = gpu_places_share(p);
    if (inside < FEWEST_PARTS)
        return alone;
    const unsigned weight = inside < MOST_WEIGHT ? inside : MOST_WEIGHT;
    const double variance = (changes * scatter * scatter + weight * part * part / parts_of_place) / (changes + weight);
    return fmax(alone, sure_share(variance, changes + weight));
}
