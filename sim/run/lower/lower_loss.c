/* Losses of classes: of each row the logarithm of the probability of its class is fetched, weighed, and added up. Classes are
 * places, as those of Gather: which they are is known before kernels run. */
#include "sim/run/lower/lowering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct loss {
    int64_t classes, plane, rows, counted; /* plane: rows of one image; counted: rows that are not ignored */
    const struct net_array *target, *weight;
};

static bool read_loss(struct lowering *l, struct loss *s)
{
    const struct net_array *const x = l->in[0];
    const bool ignores = net_attribute(l->node, "ignore_index") != NULL;
    const int64_t ignored = net_attr_int(l->node, "ignore_index", -1);
    *s = (struct loss){.target = l->in[1], .weight = l->node->inputs > 2 ? l->in[2] : NULL};
    if (x->dims < 2 || net_type_is_float(s->target->type))
        return lowering_leave(l, "classes that are no whole numbers");
    s->classes = x->shape[1];
    s->plane = net_extent(x->shape, 2, x->dims);
    s->rows = s->target->count;
    if (s->rows * s->classes != x->count || (s->weight && s->weight->count != s->classes))
        return lowering_leave(l, "scores, classes and weights that do not fit");
    for (int64_t i = 0; i < s->rows; i++) {
        const int64_t class = net_array_integer(s->target, i);
        const bool counts = !ignores || class != ignored;
        if (counts && (class < 0 || class >= s->classes))
            return lowering_leave(l, "class %lld of %lld", (long long)class, (long long)s->classes);
        s->counted += counts;
    }
    return true;
}

/* What stands at each row's class, which comes `stride` elements behind that of the class before; ignored rows have a zero. */
static float *fetch(struct lowering *l, const struct loss *s, const float *from, int64_t from_count, bool of_weights)
{
    const bool ignores = net_attribute(l->node, "ignore_index") != NULL;
    const int64_t ignored = net_attr_int(l->node, "ignore_index", -1);
    double *const place = calloc((size_t)s->rows, sizeof *place);
    float *const to = lowering_scratch(l, s->rows);
    for (int64_t i = 0; place && i < s->rows; i++) {
        const int64_t class = net_array_integer(s->target, i), image = i / s->plane;
        const int64_t at = of_weights ? class : (image * s->classes + class) * s->plane + i % s->plane;
        place[i] = ignores && class == ignored ? 0 : (double)(at + 1);
    }
    const bool ok = place && to && lowering_gather_places(l, NET_F32, from, from_count, place, s->rows, 1, to);
    free(place);
    return ok ? to : NULL;
}

static float *add_up(struct lowering *l, const float *from, int64_t count, float *to)
{
    lowering_read(lowering_step(l, to, 1, "reduce:1x%lld,op=sum", (long long)count), from, count);
    return to;
}

/* The loss of each row; of all, their sum, or that over the sum of the weights. */
static bool add_loss(struct lowering *l, const struct loss *s, const float *logs, float *out)
{
    const char *const reduction = net_attr_text(l->node, "reduction", "mean");
    const bool each = strcmp(reduction, "none") == 0, mean = strcmp(reduction, "mean") == 0;
    float *loss = fetch(l, s, logs, l->in[0]->count, false);
    float *const weight = loss && s->weight ? fetch(l, s, s->weight->data, s->classes, true) : NULL;
    if (!loss || (s->weight && !weight) || (weight && !lowering_add_pair(l, "mul", loss, weight, s->rows, loss)))
        return false;
    lowering_read(lowering_step(l, each ? out : loss, s->rows, "elementwise:%lld,op=neg", (long long)s->rows), loss, s->rows);
    if (each)
        return lowering_holds(l);
    add_up(l, loss, s->rows, out);
    if (!mean)
        return lowering_holds(l);
    if (s->counted == 0)
        return lowering_leave(l, "a mean of no row");
    if (!weight)
        return lowering_add_chain(l, "mul", &(const float){1 / (float)s->counted}, 1, out, out, 1);
    float *const all = lowering_scratch(l, 1);
    return all && lowering_add_pair(l, "div", out, add_up(l, weight, s->rows, all), 1, out);
}

/* to = the logarithms of the probabilities, in the order of the scores: classes stand before the places of an image. */
static bool add_logarithms(struct lowering *l, const struct loss *s, float *to)
{
    const struct net_array *const x = l->in[0];
    const int64_t images = s->rows / s->plane;
    float *const turned = s->plane > 1 ? lowering_scratch(l, x->count) : to;
    if (s->plane > 1)
        lowering_turn(l, NET_F32, x->data, images, s->classes, s->plane, turned);
    lowering_read(lowering_step(l, turned, x->count, "softmax:%lldx%lld,log=1", (long long)s->rows, (long long)s->classes),
                  s->plane > 1 ? turned : x->data, x->count);
    if (s->plane > 1)
        lowering_turn(l, NET_F32, turned, images, s->plane, s->classes, to);
    return lowering_holds(l);
}

bool lowering_loss(struct lowering *l, const char *word)
{
    struct loss s;
    if (!read_loss(l, &s))
        return false;
    if (strcmp(word, "softmax") != 0)
        return add_loss(l, &s, l->in[0]->data, l->out[0]->data);
    float *const logs = lowering_wants(l, 1) ? l->out[1]->data : lowering_scratch(l, l->in[0]->count);
    return logs && add_logarithms(l, &s, logs) && add_loss(l, &s, logs, l->out[0]->data);
}
