/* Functions that no library has, as those that all have: hyperbolic ones and their inverses, tangents, slopes below zero. */
#include "sim/run/lower/lowering.h"

#include <stdio.h>
#include <string.h>

float *lowering_add_function(struct lowering *l, const char *words, const float *from, int64_t count, float *to)
{
    lowering_read(lowering_step(l, to, count, "elementwise:%lld,op=%s", (long long)count, words), from, count);
    return to;
}

/* x + x^-1 or x - x^-1 of x = e^a, halved. */
static bool add_hyperbolic(struct lowering *l, const char *op, const float *x, int64_t count, float *to)
{
    float *const e = lowering_scratch(l, count), *const one_over = lowering_scratch(l, count);
    lowering_add_function(l, "exp", x, count, e);
    lowering_add_function(l, "rcp", e, count, one_over);
    return lowering_add_pair(l, op, e, one_over, count, to) &&
           lowering_add_chain(l, "mul", &(const float){0.5F}, 1, to, to, count);
}

/* log(|x| + sqrt(x^2 + one)) */
static bool add_area(struct lowering *l, const float *x, float one, int64_t count, float *to)
{
    float *const size = lowering_scratch(l, count), *const root = lowering_scratch(l, count);
    lowering_add_function(l, "abs", x, count, size);
    lowering_add_function(l, "square", x, count, root);
    if (!lowering_add_chain(l, "add", &one, 1, root, root, count))
        return false;
    lowering_add_function(l, "sqrt", root, count, root);
    if (!lowering_add_pair(l, "add", size, root, count, root))
        return false;
    lowering_add_function(l, "log", root, count, to);
    return lowering_holds(l);
}

/* The same with the sign of x, which is x / |x|; for x = 0 the logarithm is 0 as well. */
static bool add_signed_area(struct lowering *l, const float *x, int64_t count, float *to)
{
    const float least = 0x1p-24F; /* that halves have */
    float *const area = lowering_scratch(l, count), *const sign = lowering_scratch(l, count);
    if (!area || !sign || !add_area(l, x, 1, count, area))
        return false;
    lowering_add_function(l, "abs", x, count, sign);
    return lowering_add_chain(l, "max", &least, 1, sign, sign, count) && lowering_add_pair(l, "div", x, sign, count, sign) &&
           lowering_add_pair(l, "mul", area, sign, count, to);
}

/* log((1 + x) / (1 - x)) / 2 */
static bool add_area_tangent(struct lowering *l, const float *x, int64_t count, float *to)
{
    float *const more = lowering_scratch(l, count), *const less = lowering_scratch(l, count);
    const float turned[] = {-1, 1};
    if (!lowering_add_chain(l, "add", &(const float){1}, 1, x, more, count) ||
        !lowering_add_chain(l, "mul+add", turned, 2, x, less, count) || !lowering_add_pair(l, "div", more, less, count, more))
        return false;
    lowering_add_function(l, "log", more, count, more);
    return lowering_add_chain(l, "mul", &(const float){0.5F}, 1, more, to, count);
}

static bool add_tangent(struct lowering *l, const float *x, int64_t count, float *to)
{
    float *const sine = lowering_scratch(l, count), *const cosine = lowering_scratch(l, count);
    lowering_add_function(l, "sin", x, count, sine);
    lowering_add_function(l, "cos", x, count, cosine);
    return lowering_add_pair(l, "div", sine, cosine, count, to);
}

bool lowering_composed(struct lowering *l, const char *word)
{
    const float *const x = l->in[0]->data;
    const int64_t count = l->in[0]->count;
    float *const to = l->out[0]->data;
    if (strcmp(word, "sinh") == 0 || strcmp(word, "cosh") == 0)
        return add_hyperbolic(l, word[0] == 's' ? "sub" : "add", x, count, to);
    if (strcmp(word, "asinh") == 0)
        return add_signed_area(l, x, count, to);
    if (strcmp(word, "acosh") == 0)
        return add_area(l, x, -1, count, to);
    return strcmp(word, "atanh") == 0 ? add_area_tangent(l, x, count, to) : add_tangent(l, x, count, to);
}

/* The positive part, less the magnitude of the negative one times the slope. */
bool lowering_prelu(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const slope = l->node->inputs > 1 ? l->in[1] : NULL, *const out = l->out[0];
    (void)word;
    if (!slope || !lowering_is_repeated(l, out, slope))
        return lowering_leave(l, "no slope");
    float *const below = lowering_scratch(l, x->count), *const above = lowering_scratch(l, x->count);
    lowering_read(lowering_step(l, below, x->count, "elementwise:%lld,op=neg+relu", (long long)x->count), x->data, x->count);
    if (!lowering_broadcast_pair(l, "mul", below, out, slope, below))
        return false;
    lowering_read(lowering_step(l, above, x->count, "elementwise:%lld,op=relu", (long long)x->count), x->data, x->count);
    return lowering_add_pair(l, "sub", above, below, x->count, out->data);
}

/* alpha elu(x / alpha) */
bool lowering_celu(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    const float alpha = (float)net_attr_real(l->node, "alpha", 1);
    float *const part = lowering_scratch(l, x->count);
    (void)word;
    if (alpha == 0)
        return lowering_leave(l, "Celu with alpha 0");
    return lowering_add_chain(l, "mul", &(const float){1 / alpha}, 1, x->data, part, x->count) &&
           lowering_add_function(l, "elu,alpha=1", part, x->count, part) &&
           lowering_add_chain(l, "mul", &alpha, 1, part, l->out[0]->data, x->count);
}
