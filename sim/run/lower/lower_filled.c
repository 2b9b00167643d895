/* Tensors that hang on shapes and attributes alone: one number everywhere, diagonals, windows of signals. */
#include "sim/run/lower/lowering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements with `number` where `is_set`, zeros elsewhere. */
static bool fill(struct lowering *l, const void *number, bool (*is_set)(const struct lowering *l, int64_t i))
{
    const struct net_array *const out = l->out[0];
    double *const place = calloc((size_t)out->count, sizeof *place);
    for (int64_t i = 0; place && i < out->count; i++)
        place[i] = is_set(l, i);
    const bool ok = place && lowering_gather_places(l, out->type, number, 1, place, out->count, 1, out->data);
    free(place);
    return ok || lowering_leave(l, "memory is out");
}

static bool everywhere(const struct lowering *l, int64_t i)
{
    (void)l;
    (void)i;
    return true;
}

static bool on_diagonal(const struct lowering *l, int64_t i)
{
    const int64_t columns = l->out[0]->shape[1];
    return i % columns - i / columns == net_attr_int(l->node, "k", 0);
}

/* The result is known by its shape, and its elements are of a type that kernels move. */
static bool is_whole(struct lowering *l)
{
    const struct net_array *const out = l->out[0];
    return (out && out->count > 0 && lowering_words(out->type)) ||
           lowering_leave(l, "there are no elements, or of a type that kernels do not move");
}

bool lowering_constant_of_shape(struct lowering *l, const char *word)
{
    const struct net_attribute *const value = net_attribute(l->node, "value");
    (void)word;
    if (!is_whole(l))
        return false;
    const void *const number = value && value->array ? value->array->data : lowering_scratch(l, 2);
    return number && fill(l, number, everywhere);
}

bool lowering_eye_like(struct lowering *l, const char *word)
{
    void *const one = is_whole(l) && l->out[0]->dims == 2 ? lowering_scratch(l, 2) : NULL;
    (void)word;
    if (!one)
        return lowering_leave(l, "no matrix");
    net_write_integers(l->out[0]->type, one, 0, 1, &(const int64_t){1});
    return fill(l, one, on_diagonal);
}

/* a0 - a1 cos(turn) + a2 cos(2 turn), where `turn` goes round once in the window, or in all but its last element. */
bool lowering_window(struct lowering *l, const char *word)
{
    static const struct {
        const char *word;
        float a0, a1, a2;
    } rows[] = {{"hann", 0.5F, 0.5F, 0}, {"hamming", 25 / 46.0F, 21 / 46.0F, 0}, {"blackman", 0.42F, 0.5F, 0.08F}};
    const struct net_array *const out = l->out[0];
    if (!is_whole(l) || out->type != NET_F32)
        return lowering_leave(l, "a window of other numbers than f32");
    unsigned at = 0;
    while (strcmp(rows[at].word, word) != 0)
        at++;
    const float a0 = rows[at].a0, a1 = rows[at].a1, a2 = rows[at].a2;
    const int64_t count = out->count, round = count - (net_attr_int(l->node, "periodic", 1) ? 0 : 1);
    float *const turn = lowering_scratch(l, count), *const wave = lowering_scratch(l, count);
    if (!turn || !wave || round < 1)
        return lowering_leave(l, "a window of one element");
    for (int64_t i = 0; i < count; i++)
        turn[i] = (float)i;
    if (!lowering_add_chain(l, "mul", &(const float){(float)(2 * M_PI / (double)round)}, 1, turn, turn, count))
        return false;
    lowering_read(lowering_step(l, wave, count, "elementwise:%lld,op=cos", (long long)count), turn, count);
    if (!lowering_add_chain(l, "mul+add", (const float[]){-a1, a0}, 2, wave, out->data, count) || a2 == 0)
        return lowering_holds(l);
    lowering_read(lowering_step(l, wave, count, "elementwise:%lld,op=square", (long long)count), wave, count);
    return lowering_add_chain(l, "mul+add", (const float[]){2 * a2, -a2}, 2, wave, wave, count) &&
           lowering_add_pair(l, "add", out->data, wave, count, out->data);
}

/* The same numbers along more dimensions. */
bool lowering_expand(struct lowering *l, const char *word)
{
    (void)word;
    if (!lowering_is_repeated(l, l->out[0], l->in[0]))
        return false;
    lowering_repeat(l, l->out[0], l->in[0], l->out[0]->data);
    return true;
}
