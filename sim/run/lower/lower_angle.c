/* Arcs: angles between 0 and a quarter turn by halving twice and a polynomial, then their signs. */
#include "sim/run/lower/lowering.h"

#include <math.h>
#include <string.h>

/* t = the tangent of half the angle: t / (1 + sqrt(1 + t^2)). */
static bool halve(struct lowering *l, float *t, float *own, int64_t count)
{
    return lowering_add_chain(l, "square+add+sqrt+add", (const float[]){1, 1}, 2, t, own, count) &&
           lowering_add_pair(l, "div", t, own, count, t);
}

/* to = the angle whose tangent is high / wide, neither of them below 0. Twice halved, the tangent is at most 0.199, where five
 * terms of the series leave 2e-9. */
static bool add_angle(struct lowering *l, const float *high, const float *wide, int64_t count, float *to)
{
    static const float series[] = {1 / 9.0F, -1 / 7.0F, 1 / 5.0F, -1 / 3.0F, 1}; /* of x - x^3/3 + ... */
    const float least = 0x1p-126F, other[] = {-1, (float)M_PI_2};
    float *const t = lowering_scratch(l, count), *const own = lowering_scratch(l, count),
                 *const square = lowering_scratch(l, count);
    void *const steep = lowering_scratch(l, count);
    const struct lowering_choice choice = {.condition = steep, .a = own, .b = to, .type = NET_F32};
    if (!t || !own || !square || !steep || !lowering_add_pair(l, "min", high, wide, count, t) ||
        !lowering_add_pair(l, "max", high, wide, count, own) || !lowering_add_chain(l, "max", &least, 1, own, own, count) ||
        !lowering_add_pair(l, "div", t, own, count, t) || !halve(l, t, own, count) || !halve(l, t, own, count))
        return false;
    lowering_add_function(l, "square", t, count, square);
    if (!lowering_add_chain(l, "mul+add", series, 2, square, own, count))
        return false;
    for (unsigned k = 2; k < sizeof series / sizeof series[0]; k++)
        if (!lowering_add_pair(l, "mul", own, square, count, own) ||
            !lowering_add_chain(l, "add", &series[k], 1, own, own, count))
            return false;
    if (!lowering_add_pair(l, "mul", own, t, count, own) || !lowering_add_chain(l, "mul", &(const float){4}, 1, own, to, count) ||
        !lowering_add_chain(l, "mul+add", other, 2, to, own, count))
        return false;
    lowering_add_comparison(l, "gt", high, wide, count, steep);
    return lowering_add_choice(l, &choice, count, to);
}

/* to = sqrt((1 - size) (1 + size)), the other side of a triangle. */
static bool add_side(struct lowering *l, const float *size, float *own, int64_t count, float *to)
{
    return lowering_add_chain(l, "mul+add", (const float[]){-1, 1}, 2, size, to, count) &&
           lowering_add_chain(l, "add", &(const float){1}, 1, size, own, count) &&
           lowering_add_pair(l, "mul", to, own, count, to) && lowering_add_function(l, "sqrt", to, count, to);
}

/* What is no number stays so: the least and the largest of a pair would lose it. */
static bool keep_undefined(struct lowering *l, const float *side, float *own, int64_t count, float *to)
{
    return lowering_add_chain(l, "mul", &(const float){0}, 1, side, own, count) &&
           lowering_add_pair(l, "add", to, own, count, to);
}

static bool add_arc(struct lowering *l, const char *word)
{
    const float *const x = l->in[0]->data;
    const int64_t count = l->in[0]->count;
    const bool tangent = strcmp(word, "atan") == 0, cosine = strcmp(word, "acos") == 0;
    const float turned[] = {-1, cosine ? (float)M_PI : 0};
    float *const size = lowering_scratch(l, count), *const side = lowering_scratch(l, count), *const out = l->out[0]->data;
    float *const own = lowering_scratch(l, count);
    void *const below = lowering_scratch(l, count);
    const struct lowering_choice choice = {.condition = below, .a = own, .b = out, .type = NET_F32};
    lowering_add_function(l, "abs", x, count, size);
    for (int64_t i = 0; tangent && side && i < count; i++)
        side[i] = 1;
    if (!own || !below || !(tangent || add_side(l, size, own, count, side)) ||
        !add_angle(l, cosine ? side : size, cosine ? size : side, count, out) ||
        !(tangent || keep_undefined(l, side, own, count, out)) || !lowering_add_chain(l, "mul+add", turned, 2, out, own, count))
        return false;
    lowering_add_test(l, "lt", x, 0, count, below);
    return lowering_add_choice(l, &choice, count, out);
}

/* The Neural Engine compares nothing, and halves would not hold the parts: cores compute all of it. */
bool lowering_angle(struct lowering *l, const char *word)
{
    const struct lowering_cores before = lowering_begin_cores(l);
    const bool ok = add_arc(l, word);
    lowering_end_cores(l, &before);
    return ok;
}
