#include "sim/workload/gpu/gpu_drift.h"

#include <math.h>
#include <stdlib.h>

/* The share of the latest part in what is known of a core, when there have been many: parts are short, so that paces scatter from
 * one to the next, and what makes them differ may change. */
#define LATEST 0.3

struct place {
    double begin, issued,
        with_time;        /* issued at the first moment; sums over moments of what was issued since, alone and times time */
    double now;           /* pace in the part, relative to the mean, less 1 */
    double known, square; /* weighted means over parts of that, and of its square */
    bool free;            /* nothing ran there in the part */
};

struct gpu_drift {
    unsigned cores, places, moments, parts;
    unsigned busy_cores, busy;  /* that ran something in the part: cores, places */
    double begin_ns, ns, ns_ns; /* first moment; sums over moments of the time since, and of its square */
    double weight;              /* sum of the squares of the weights of parts */
    double lasting;             /* share of the differences between cores that is no chance */
    struct place place[1];      /* there is room for all */
};

struct gpu_drift *gpu_drift_create(unsigned cores, unsigned slots)
{
    struct gpu_drift *d = calloc(1, sizeof *d + (size_t)cores * slots * sizeof d->place[0]);
    if (d)
        *d = (struct gpu_drift){.cores = cores, .places = cores * slots};
    return d;
}

void gpu_drift_free(struct gpu_drift *d)
{
    free(d);
}

void gpu_drift_begin(struct gpu_drift *d)
{
    d->moments = 0;
    d->ns = d->ns_ns = 0;
    for (unsigned i = 0; i < d->places; i++)
        d->place[i].issued = d->place[i].with_time = 0;
}

void gpu_drift_moment(struct gpu_drift *d, double ns, const double *issued)
{
    if (!d->moments++)
        d->begin_ns = ns;
    const double since = ns - d->begin_ns;
    d->ns += since;
    d->ns_ns += since * since;
    for (unsigned i = 0; i < d->places; i++) {
        struct place *c = &d->place[i];
        if (d->moments == 1)
            c->begin = issued[i];
        c->issued += issued[i] - c->begin;
        c->with_time += (issued[i] - c->begin) * since;
    }
}

/* ---- what a part tells ---- */

/* Finds how many places, and cores, are not free. */
static void count_busy(struct gpu_drift *d)
{
    const unsigned slots = d->places / d->cores;
    d->busy = d->busy_cores = 0;
    for (unsigned core = 0; core < d->cores; core++) {
        const unsigned before = d->busy;
        for (unsigned k = 0; k < slots; k++)
            d->busy += !d->place[core * slots + k].free;
        d->busy_cores += d->busy > before;
    }
}

/* The slope of a straight line through the moments: instructions issue in bursts, which two moments would show by chance. */
static bool find_paces(struct gpu_drift *d)
{
    const double below = d->moments * d->ns_ns - d->ns * d->ns;
    double mean = 0;
    if (d->moments < 2 || below <= 0)
        return false;
    for (unsigned i = 0; i < d->places; i++)
        d->place[i].free = d->place[i].issued <= 0;
    count_busy(d);
    for (unsigned i = 0; i < d->places; i++) {
        d->place[i].now = (d->moments * d->place[i].with_time - d->ns * d->place[i].issued) / below;
        mean += d->place[i].free ? 0 : d->place[i].now / d->busy;
    }
    for (unsigned i = 0; i < d->places; i++)
        d->place[i].now = mean > 0 && !d->place[i].free ? d->place[i].now / mean - 1 : 0;
    return mean > 0;
}

/* Few cores differ by chance in ways that look as if they lasted, such as where in its life each one's threadgroup is when parts
 * begin: eight tell nothing, 32 and more are believed. Cores that have nothing to do tell nothing either. */
static double belief(const struct gpu_drift *d)
{
    return d->busy_cores < 2 ? 0 : fmax(0, fmin(1, 2 - 4 * sqrt(2.0 / (d->busy_cores - 1))));
}

/* How far what cores differ by is no chance: parts scatter, and the mean of few parts differs as well. 0 when cores differ as
 * chance would have it, 1 when they differ by two standard deviations more than that (the F-test of an analysis of variance). */
static double beyond_chance(const struct gpu_drift *d)
{
    double between = 0, within = 0;
    for (unsigned i = 0; i < d->places; i++) {
        const struct place *c = &d->place[i];
        between += c->known * c->known;
        within += (c->square - c->known * c->known) / (1 - d->weight);
    }
    if (d->busy < 2 || d->parts < 2 || between <= 0)
        return 0;
    const double ratio = within > 0 ? between / (within * d->weight) : INFINITY;
    return fmax(0, fmin(1, (ratio - 1) / (2 * sqrt(2.0 / (d->busy - 1)))));
}

/* Takes what the present part tells. */
static void add_part(struct gpu_drift *d)
{
    d->parts++;
    const double share = fmax(LATEST, 1.0 / d->parts);
    d->weight = (1 - share) * (1 - share) * d->weight + share * share;
    for (unsigned i = 0; i < d->places; i++) {
        struct place *c = &d->place[i];
        c->known += share * (c->now - c->known);
        c->square += share * (c->now * c->now - c->square);
    }
}

void gpu_drift_end(struct gpu_drift *d)
{
    if (!find_paces(d))
        return;
    add_part(d);
    d->lasting = belief(d) * beyond_chance(d);
}

void gpu_drift_part(struct gpu_drift *d, const double *pace)
{
    for (unsigned i = 0; i < d->places; i++) {
        d->place[i].free = pace[i] <= 0;
        d->place[i].now = d->place[i].free ? 0 : pace[i] - 1;
    }
    count_busy(d);
    add_part(d);
    d->lasting = belief(d) * beyond_chance(d);
}

double gpu_drift_pace(const struct gpu_drift *d, unsigned place)
{
    return 1 + d->lasting * d->place[place].known;
}
