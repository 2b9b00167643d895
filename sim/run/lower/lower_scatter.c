/* Elements that are added to others, or multiplied with them: places are known, so those that meet at one place come one round
 * after the other, and each round is a function of two arrays. */
#include "sim/run/lower/lowering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MOST = 8 };

static int64_t wrapped(const struct net_array *index, int64_t i, int64_t extent)
{
    const int64_t at = net_array_integer(index, i);
    return at < 0 ? at + extent : at;
}

/* Where element i of the updates goes; -1 = nowhere. ScatterND's places are rows of coordinates of the first dimensions. */
static int64_t place_of_row(const struct net_array *x, const struct net_array *index, int64_t i)
{
    const int64_t depth = index->shape[index->dims - 1], inner = net_extent(x->shape, (unsigned)depth, x->dims);
    int64_t to = 0;
    for (int64_t k = 0; k < depth; k++) {
        const int64_t at = wrapped(index, i / inner * depth + k, x->shape[k]);
        if (at < 0 || at >= x->shape[k])
            return -1;
        to = to * x->shape[k] + at;
    }
    return to * inner + i % inner;
}

/* ScatterElements' are coordinates along an axis; the others are those of the update. */
static int64_t place_along(const struct net_array *x, const struct net_array *index, unsigned axis, int64_t i)
{
    int64_t to = 0, left = i, stride = 1;
    for (unsigned d = x->dims; d-- > 0; left /= index->shape[d], stride *= x->shape[d]) {
        const int64_t at = d == axis ? wrapped(index, i, x->shape[d]) : left % index->shape[d];
        if (at < 0 || at >= x->shape[d])
            return -1;
        to += at * stride;
    }
    return to;
}

static int64_t *places_of(struct lowering *l, const struct net_array *more)
{
    const struct net_array *const x = l->in[0], *const index = l->in[1];
    const bool rows = strcmp(l->node->op, "ScatterND") == 0;
    const int64_t given = net_attr_int(l->node, "axis", 0), axis = given < 0 ? given + x->dims : given;
    const bool fits = rows ? index->dims > 0 && index->shape[index->dims - 1] <= (int64_t)x->dims
                           : index->dims == x->dims && axis >= 0 && axis < (int64_t)x->dims && index->count == more->count;
    int64_t *const place = fits && more->count > 0 ? calloc((size_t)more->count, sizeof *place) : NULL;
    for (int64_t i = 0; place && i < more->count; i++)
        place[i] = rows ? place_of_row(x, index, i) : place_along(x, index, (unsigned)axis, i);
    if (!place)
        lowering_leave(l, "places that do not fit");
    return place;
}

/* The round in which each update comes: how many come to its place before. Returns how many rounds there are; 0 = a place is
 * outside, or memory is out. */
static unsigned rounds_of(const int64_t *place, int64_t count, int64_t all, uint8_t *round)
{
    uint8_t *const have = calloc((size_t)all, 1);
    unsigned rounds = have != NULL;
    for (int64_t i = 0; rounds && i < count; i++) {
        if (place[i] < 0 || place[i] >= all || have[place[i]] > ROUNDS_MOST) {
            rounds = 0;
            break;
        }
        round[i] = have[place[i]]++;
        rounds = round[i] + 1U > rounds ? round[i] + 1U : rounds;
    }
    free(have);
    return rounds;
}

/* What comes to each place in one round, or `beside`, which changes nothing and stands behind the updates. */
static bool add_round(struct lowering *l, const float *table, const struct net_array *more, const int64_t *place,
                      const uint8_t *round, unsigned now, float *to)
{
    const int64_t all = l->in[0]->count, beside = more->count + 1;
    double *const from = calloc((size_t)all, sizeof *from);
    for (int64_t i = 0; from && i < all; i++)
        from[i] = (double)beside;
    for (int64_t i = 0; from && i < more->count; i++)
        if (round[i] == now)
            from[place[i]] = (double)(i + 1);
    const bool ok = from && lowering_gather_places(l, NET_F32, table, beside, from, all, 1, to);
    free(from);
    return ok;
}

static bool add_rounds(struct lowering *l, const char *op, float neutral, const struct net_array *more, const int64_t *place)
{
    const int64_t all = l->in[0]->count;
    uint8_t *const round = more->count > 0 ? calloc((size_t)more->count, 1) : NULL;
    const unsigned rounds = round ? rounds_of(place, more->count, all, round) : 0;
    float *const own = lowering_scratch(l, 1), *const table = lowering_scratch(l, more->count + 1);
    float *const part = lowering_scratch(l, all);
    const float *from = l->in[0]->data;
    bool ok = rounds > 0 && rounds <= ROUNDS_MOST && own && table && part;
    if (!ok)
        lowering_leave(l, "places outside, or more than %d elements at one", ROUNDS_MOST);
    if (own)
        *own = neutral;
    if (ok) {
        struct lowered_step *const step = lowering_step(l, table, more->count + 1, "concat:1x%lldx1", (long long)more->count);
        lowering_read(step, more->data, more->count);
        lowering_read(step, own, 1);
    }
    for (unsigned k = 0; ok && k < rounds; k++, from = l->out[0]->data)
        ok = add_round(l, table, more, place, round, k, part) && lowering_add_pair(l, op, from, part, all, l->out[0]->data);
    free(round);
    return ok;
}

bool lowering_scatter_pairs(struct lowering *l, const char *reduction)
{
    static const struct {
        const char *reduction, *op;
        float neutral;
    } rows[] = {{"add", "add", 0}, {"mul", "mul", 1}, {"max", "max", -INFINITY}, {"min", "min", INFINITY}};
    const struct net_array *const more = l->in[2];
    if (l->in[0]->type != NET_F32 || more->type != NET_F32)
        return lowering_leave(l, "whole numbers that are added up");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (strcmp(reduction, rows[k].reduction) == 0) {
            int64_t *const place = places_of(l, more);
            const bool ok = place && add_rounds(l, rows[k].op, rows[k].neutral, more, place);
            free(place);
            return ok;
        }
    return lowering_leave(l, "reduction %s", reduction);
}
