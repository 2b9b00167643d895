#include "sim/workload/gpu/gpu_convoy.h"

#include <math.h>
#include <stdlib.h>

struct core {
    double issued; /* at the last moment */
    struct gpu_fetched fetched;
};

struct gpu_convoy {
    unsigned cores, moments;
    /* Sums for the plane through zero that is nearest to what intervals between moments tell of cores: how many lines more than
     * the mean a core accessed for each instruction of the mean (s in the SLC, d in DRAM), and what share of the mean it issued
     * less (y). */
    double points, ss, sd, dd, sy, dy, yy;
    struct core core[1]; /* there is room for all */
};

struct gpu_convoy *gpu_convoy_create(unsigned cores)
{
    struct gpu_convoy *c = calloc(1, sizeof *c + cores * sizeof c->core[0]);
    if (c)
        c->cores = cores;
    return c;
}

void gpu_convoy_free(struct gpu_convoy *c)
{
    free(c);
}

void gpu_convoy_begin(struct gpu_convoy *c)
{
    c->moments = 0;
}

static void add_point(struct gpu_convoy *c, double s, double d, double y)
{
    c->ss += s * s;
    c->sd += s * d;
    c->dd += d * d;
    c->sy += s * y;
    c->dy += d * y;
    c->yy += y * y;
}

/* Adds what cores did since the last moment. */
static void add_interval(struct gpu_convoy *c, const double *issued, const struct gpu_fetched *fetched)
{
    double mean = 0, slc = 0, dram = 0;
    for (unsigned i = 0; i < c->cores; i++) {
        mean += (issued[i] - c->core[i].issued) / c->cores;
        slc += (fetched[i].slc - c->core[i].fetched.slc) / c->cores;
        dram += (fetched[i].dram - c->core[i].fetched.dram) / c->cores;
    }
    if (mean <= 0)
        return;
    for (unsigned i = 0; i < c->cores; i++)
        add_point(c, (fetched[i].slc - c->core[i].fetched.slc - slc) / mean,
                  (fetched[i].dram - c->core[i].fetched.dram - dram) / mean, 1 - (issued[i] - c->core[i].issued) / mean);
    c->points += c->cores - 1; /* all together are at the mean */
}

void gpu_convoy_moment(struct gpu_convoy *c, const double *issued, const struct gpu_fetched *fetched)
{
    if (c->moments++)
        add_interval(c, issued, fetched);
    for (unsigned i = 0; i < c->cores; i++)
        c->core[i] = (struct core){issued[i], fetched[i]};
}

/* What is left of a cost that is known with this variance: none that is as large as its standard error. */
static double sure(double cost, double variance)
{
    return cost > 0 ? fmax(0, cost - variance / cost) : 0;
}

struct gpu_fetched gpu_convoy_cost(const struct gpu_convoy *c)
{
    const double below = c->ss * c->dd - c->sd * c->sd, all = c->ss + c->dd + 2 * c->sd;
    if (c->points < 3 || all <= 0)
        return (struct gpu_fetched){0, 0};
    if (below <= 1e-6 * c->ss * c->dd || c->ss <= 0 || c->dd <= 0) { /* of one kind only: the same for both */
        const double cost = (c->sy + c->dy) / all,
                     known = sure(cost, fmax(0, c->yy - cost * (c->sy + c->dy)) / (c->points - 1) / all);
        return (struct gpu_fetched){known, known};
    }
    const double slc = (c->dd * c->sy - c->sd * c->dy) / below, dram = (c->ss * c->dy - c->sd * c->sy) / below;
    const double variance = fmax(0, c->yy - slc * c->sy - dram * c->dy) / (c->points - 2);
    return (struct gpu_fetched){sure(slc, variance * c->dd / below), sure(dram, variance * c->ss / below)};
}
