#define _GNU_SOURCE /* qsort_r */
#include "sim/ask/sweep/sweep_deal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A deal is believed to scatter like its likes as if so many points had shown that. */
#define LIKES 2.0
/* A deal whose scatter is above so many tolerances is wild even when the others make up for it. */
#define MOST 1.5

/* What scatters more than that is not followed at all. */
#define NOISE_MOST 1000.0
/* Points after which no more of a deal are asked for to find out whether it is wild. */
enum { SURE = 8 };

struct deal {
    uint64_t id, tail;
    size_t members, points;
    double squares;  /* sum of the points' squared errors */
    double variance; /* expected of a member */
    bool wild;
};

struct sweep_deals {
    struct deal *deal;
    size_t count, members;
    size_t *of;      /* deal of each member */
    size_t *by_size; /* deals, those that scatter most first */
    double usual;    /* variance that half of the members do not exceed */
};

void sweep_deals_free(struct sweep_deals *deals)
{
    if (!deals)
        return;
    free(deals->deal);
    free(deals->of);
    free(deals->by_size);
    free(deals);
}

static int by_id(const void *a, const void *b)
{
    const struct deal *const x = a, *const y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Place of a deal that is there. */
static size_t find(const struct sweep_deals *d, uint64_t id)
{
    size_t low = 0, high = d->count;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        if (d->deal[middle].id <= id)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct sweep_deals *sweep_deals_create(const struct sweep_rounds *rounds, const size_t *member, size_t count)
{
    struct sweep_deals *const d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->members = count;
    d->deal = calloc(count + 1, sizeof *d->deal);
    d->of = calloc(count + 1, sizeof *d->of);
    d->by_size = calloc(count + 1, sizeof *d->by_size);
    if (!d->deal || !d->of || !d->by_size) {
        sweep_deals_free(d);
        return NULL;
    }
    for (size_t m = 0; m < count; m++)
        d->deal[m] = (struct deal){.id = rounds[member[m]].deal, .tail = rounds[member[m]].tail};
    qsort(d->deal, count, sizeof *d->deal, by_id);
    for (size_t m = 0; m < count; m++) /* each once; a deal never moves up */
        if (m == 0 || d->deal[m].id != d->deal[d->count - 1].id)
            d->deal[d->count++] = d->deal[m];
    for (size_t m = 0; m < count; m++) {
        d->of[m] = find(d, rounds[member[m]].deal);
        d->deal[d->of[m]].members++;
    }
    return d;
}

size_t sweep_deals_number(const struct sweep_deals *deals, size_t which)
{
    return deals->of[which];
}

/* ---- judging ---- */

/* Variance of a deal's likes: deals with the same last round, or all of them where none of those was seen. */
static double variance_of_likes(const struct sweep_deals *d, uint64_t tail)
{
    double squares = 0, all_squares = 0;
    size_t points = 0, all_points = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct deal *const other = &d->deal[i];
        squares += other->tail == tail ? other->squares : 0;
        points += other->tail == tail ? other->points : 0;
        all_squares += other->squares;
        all_points += other->points;
    }
    return points ? squares / (double)points : all_points ? all_squares / (double)all_points : 0;
}

static int scatters_more(const void *a, const void *b, void *context)
{
    const struct deal *const all = context, *const x = &all[*(const size_t *)a], *const y = &all[*(const size_t *)b];
    return x->variance != y->variance ? (x->variance > y->variance ? -1 : 1) : by_id(x, y);
}

void sweep_deals_judge(struct sweep_deals *d, const size_t *which, const double *error, size_t count, double tolerance)
{
    const double most = MOST * tolerance * (MOST * tolerance), allowed = tolerance * tolerance;
    double sum = 0, left = (double)d->members;
    size_t behind = 0;
    for (size_t i = 0; i < d->count; i++)
        d->deal[i] = (struct deal){d->deal[i].id, d->deal[i].tail, d->deal[i].members, 0, 0, 0, d->deal[i].wild};
    for (size_t i = 0; i < count; i++) {
        struct deal *const deal = &d->deal[d->of[which[i]]];
        deal->points++;
        deal->squares += error[i] * error[i];
    }
    for (size_t i = 0; i < d->count; i++) {
        struct deal *const deal = &d->deal[i];
        deal->variance = (deal->squares + LIKES * variance_of_likes(d, deal->tail)) / ((double)deal->points + LIKES);
        sum += deal->variance * (double)deal->members;
        d->by_size[i] = i;
    }
    qsort_r(d->by_size, d->count, sizeof *d->by_size, scatters_more, d->deal);
    for (size_t i = 0; i < d->count; i++) {
        struct deal *const deal = &d->deal[d->by_size[i]];
        const bool wild = deal->variance > most || sum > allowed * left;
        deal->wild = wild;
        behind += deal->members;
        d->usual = 2 * (behind - deal->members) <= d->members ? deal->variance : d->usual;
        sum -= wild ? deal->variance * (double)deal->members : 0;
        left -= wild ? (double)deal->members : 0;
    }
}

double sweep_deals_noise(const struct sweep_deals *deals, size_t which)
{
    const double usual = deals->usual, own = deals->deal[deals->of[which]].variance;
    return usual > 0 ? fmin(fmax(own / usual, 1), NOISE_MOST) : 1;
}

bool sweep_deals_wild(const struct sweep_deals *deals, size_t which)
{
    return deals->deal[deals->of[which]].wild;
}

bool sweep_deals_surely_wild(const struct sweep_deals *deals, size_t which)
{
    return sweep_deals_wild(deals, which) && deals->deal[deals->of[which]].points >= SURE;
}

struct sweep_deals_sum sweep_deals_sum(const struct sweep_deals *d)
{
    struct sweep_deals_sum sum = {0};
    for (size_t i = 0; i < d->count; i++) {
        const double squares = d->deal[i].variance * (double)d->deal[i].members;
        sum.all += squares;
        sum.wild += d->deal[i].wild ? d->deal[i].members : 0;
        sum.wild_rms += d->deal[i].wild ? squares : 0;
    }
    sum.all = sqrt(sum.all / (double)d->members);
    sum.wild_rms = sum.wild ? sqrt(sum.wild_rms / (double)sum.wild) : 0;
    return sum;
}
