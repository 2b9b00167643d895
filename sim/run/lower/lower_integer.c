/* Between numbers and integers: what quantised networks do around products. */
#include "sim/run/lower/lowering.h"

#include <stdio.h>

/* The kernel's word for a type of integers; NULL = it has none. Truth values are bytes. */
static const char *word_of(enum net_type type)
{
    return type == NET_U8 || type == NET_BOOL ? "u8" : type == NET_I8 ? "i8" : type == NET_I32 ? "i32" : NULL;
}

static void read_array(struct lowered_step *step, const struct net_array *x)
{
    if (step)
        step->input[step->operands.inputs++] = (struct run_operand){x->data, net_array_bytes(x)};
}

/* A conversion whose result has elements of so many bytes. */
static struct lowered_step *convert(struct lowering *l, void *to, int64_t count, unsigned bytes, const char *options)
{
    struct lowered_step *const step = lowering_step(l, to, count, "convert:%lld%s", (long long)count, options);
    if (step)
        step->operands.result_bytes = (uint64_t)count * bytes;
    return step;
}

/* Zero points as words, or zeros. */
static void read_points(struct lowering *l, struct lowered_step *step, const struct net_array *zero, int64_t channels)
{
    int32_t *const own = lowering_scratch(l, channels);
    for (int64_t k = 0; own && zero && k < channels; k++)
        own[k] = (int32_t)net_array_integer(zero, zero->count == 1 ? 0 : k);
    lowering_read(step, own, channels);
}

/* One scale for all, as often as there are channels. */
static const float *scales(struct lowering *l, const struct net_array *scale, int64_t channels)
{
    if (scale->count == channels)
        return scale->data;
    float *const own = lowering_scratch(l, channels);
    for (int64_t k = 0; own && k < channels; k++)
        own[k] = (float)net_array_double(scale, 0);
    return own;
}

/* Which elements share a scale: all, or those of one place of the axis. */
static bool find_channels(struct lowering *l, const struct net_array *scale, int64_t *channels, int64_t *inner)
{
    const struct net_array *const x = l->in[0];
    const int64_t given = net_attr_int(l->node, "axis", 1), axis = given < 0 ? given + x->dims : given;
    *channels = *inner = 1;
    if (net_attr_int(l->node, "block_size", 0))
        return lowering_leave(l, "a scale for each block");
    if (scale->count == 1)
        return true;
    if (axis < 0 || axis >= (int64_t)x->dims || scale->count != x->shape[axis])
        return lowering_leave(l, "%lld scales", (long long)scale->count);
    *channels = x->shape[axis];
    *inner = net_extent(x->shape, (unsigned)axis + 1, x->dims);
    return true;
}

/* Operands as both operators have them: x, scale, zero point. */
static bool are_plain(struct lowering *l, enum net_type number, enum net_type integer, const struct net_array **scale,
                      const struct net_array **zero)
{
    *scale = l->node->inputs > 1 ? l->in[1] : NULL;
    *zero = l->node->inputs > 2 ? l->in[2] : NULL;
    if (!l->in[0] || !*scale || !l->out[0] || l->in[0]->count == 0)
        return lowering_leave(l, "no elements, or nobody wants them");
    if (number != NET_F32 || (*scale)->type != NET_F32 || !word_of(integer) || integer == NET_BOOL)
        return lowering_leave(l, "the library has no version from %s to %s", net_type_name(l->in[0]->type),
                              net_type_name(l->out[0]->type));
    return !*zero || (*zero)->count == (*scale)->count || lowering_leave(l, "zero points that are not as many as scales");
}

bool lowering_quantise(struct lowering *l, const char *word)
{
    const struct net_array *scale, *zero;
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    int64_t channels, inner;
    char options[100];
    (void)word;
    if (!x || !out || !are_plain(l, x->type, out->type, &scale, &zero) || !find_channels(l, scale, &channels, &inner))
        return lowering_leave(l, "no elements, or nobody wants them");
    snprintf(options, sizeof options, ",to=%s,channels=%lld,inner=%lld", word_of(out->type), (long long)channels,
             (long long)inner);
    struct lowered_step *const step = convert(l, out->data, x->count, net_type_bits(out->type) / 8, options);
    read_array(step, x);
    lowering_read(step, scales(l, scale, channels), channels);
    read_points(l, step, zero, channels);
    return lowering_holds(l);
}

static bool as_numbers(struct lowering *l, const float *scale, const struct net_array *zero, const float *bias, int64_t channels,
                       int64_t inner)
{
    const struct net_array *const x = l->in[0];
    char options[100];
    snprintf(options, sizeof options, ",from=%s,channels=%lld,inner=%lld,bias=%d", word_of(x->type), (long long)channels,
             (long long)inner, bias != NULL);
    struct lowered_step *const step = convert(l, l->out[0]->data, x->count, sizeof(float), options);
    read_array(step, x);
    lowering_read(step, scale, channels);
    read_points(l, step, zero, channels);
    if (bias)
        lowering_read(step, bias, channels);
    return lowering_holds(l);
}

bool lowering_dequantise(struct lowering *l, const char *word)
{
    const struct net_array *scale, *zero;
    int64_t channels, inner;
    (void)word;
    if (!l->in[0] || !l->out[0] || !are_plain(l, l->out[0]->type, l->in[0]->type, &scale, &zero) ||
        !find_channels(l, scale, &channels, &inner))
        return lowering_leave(l, "no elements, or nobody wants them");
    return as_numbers(l, scales(l, scale, channels), zero, NULL, channels, inner);
}

/* Sums of products of integers, scaled once. */
bool lowering_rescale(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const scale = l->in[1], *const bias = l->node->inputs > 2 ? l->in[2] : NULL;
    (void)word;
    if (!x || !l->out[0] || x->count == 0 || !word_of(x->type) || scale->type != NET_F32 || (bias && bias->type != NET_F32))
        return lowering_leave(l, "the library has no version of these types");
    const int64_t given = net_attr_int(l->node, "axis", -1), axis = given < 0 ? given + x->dims : given;
    const bool single = scale->count == 1 && (!bias || bias->count == 1);
    if (axis < 0 || axis >= (int64_t)x->dims)
        return lowering_leave(l, "axis %lld", (long long)axis);
    const int64_t channels = single ? 1 : x->shape[axis];
    const float *const factors = scales(l, scale, channels), *const more = bias ? scales(l, bias, channels) : NULL;
    return as_numbers(l, factors, NULL, more, channels, single ? 1 : net_extent(x->shape, (unsigned)axis + 1, x->dims));
}

static const float *one(struct lowering *l)
{
    float *const own = lowering_scratch(l, 1);
    if (own)
        *own = 1;
    return own;
}

/* Bytes as words. */
static bool widen(struct lowering *l)
{
    const struct net_array *const x = l->in[0];
    char options[40];
    snprintf(options, sizeof options, ",from=%s,to=i32", word_of(x->type));
    struct lowered_step *const step = convert(l, l->out[0]->data, x->count, sizeof(int32_t), options);
    read_array(step, x);
    lowering_read(step, one(l), 1);
    read_points(l, step, NULL, 1);
    read_points(l, step, NULL, 1);
    return lowering_holds(l);
}

/* Numbers of 16 bits in f32, and back. */
static bool resize(struct lowering *l)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    const bool widens = out->type == NET_F32;
    const enum net_type half = widens ? x->type : out->type;
    struct lowered_step *const step =
        lowering_step(l, out->data, x->count, "cast:%lld,%s=f32", (long long)x->count, widens ? "to" : "from");
    if (step) {
        step->precision = half == NET_F16 ? "f16" : "bf16";
        step->operands.result_bytes = net_array_bytes(out);
    }
    read_array(step, x);
    return lowering_holds(l);
}

static bool is_half(enum net_type type)
{
    return type == NET_F16 || type == NET_BF16;
}

/* Signed bytes become numbers and words by the kernel of integers with scales. */
bool lowering_cast(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->node->inputs ? l->in[0] : NULL;
    (void)word;
    if (x && l->out[0] && lowering_whole_cast(l))
        return true;
    if (x && l->out[0] && x->count && l->out[0]->type == NET_I32 && x->type == NET_I8)
        return widen(l);
    if (x && l->out[0] && x->count &&
        ((is_half(x->type) && l->out[0]->type == NET_F32) || (x->type == NET_F32 && is_half(l->out[0]->type))))
        return resize(l);
    if (!x || !l->out[0] || x->count == 0 || l->out[0]->type != NET_F32 || !word_of(x->type))
        return lowering_leave(l, "the library's Cast has no version from %s to %s", x ? net_type_name(x->type) : "nothing",
                              l->out[0] ? net_type_name(l->out[0]->type) : "nothing");
    return as_numbers(l, one(l), NULL, NULL, 1, 1);
}

/* Unsigned bytes with the highest bit changed are as signed ones what they were less 128. */
bool lowering_flip(struct lowering *l)
{
    enum { MIDDLE = 128 };
    const struct net_array *const x = l->in[0], *const flip = l->node->inputs > 1 ? l->in[1] : NULL;
    if (!x || !flip || !l->out[0] || x->type != NET_U8 || x->count == 0 || flip->count != 1 ||
        net_array_integer(flip, 0) != MIDDLE)
        return false;
    struct lowered_step *const step = convert(l, l->out[0]->data, x->count, 1, ",from=u8,to=i8");
    int32_t *const middle = lowering_scratch(l, 2);
    read_array(step, x);
    lowering_read(step, one(l), 1);
    if (middle)
        middle[0] = MIDDLE;
    lowering_read(step, middle, 1);
    lowering_read(step, middle ? middle + 1 : NULL, 1);
    return lowering_holds(l);
}

static float *of_one(struct lowering *l, const char *op, const float *a, const float *b, float *to)
{
    struct lowered_step *const step = lowering_step(l, to, 1, "elementwise:1,op=%s", op);
    lowering_read(step, a, 1);
    if (b)
        lowering_read(step, b, 1);
    return to;
}

/* The range of the numbers, with 0 in it, as 255 steps. */
bool lowering_dynamic_quantise(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    enum { LEVELS = 255 };
    (void)word;
    if (!x || x->type != NET_F32 || x->count == 0 || !l->out[0])
        return lowering_leave(l, "no elements, or other types");
    float *const high = lowering_scratch(l, 1), *const low = lowering_scratch(l, 1), *const levels = lowering_scratch(l, 1);
    float *const scale = l->node->outputs > 1 && l->out[1] ? l->out[1]->data : lowering_scratch(l, 1);
    void *const zero = l->node->outputs > 2 && l->out[2] ? l->out[2]->data : lowering_scratch(l, 1);
    int32_t *const points = lowering_scratch(l, 1), *const none = lowering_scratch(l, 1);
    if (!lowering_holds(l))
        return false;
    *levels = LEVELS;
    lowering_read(lowering_step(l, high, 1, "reduce:1x%lld,op=max", (long long)x->count), x->data, x->count);
    lowering_read(lowering_step(l, low, 1, "reduce:1x%lld,op=min", (long long)x->count), x->data, x->count);
    of_one(l, "relu", high, NULL, high);
    of_one(l, "neg+relu", low, NULL, low);
    of_one(l, "div", of_one(l, "add", high, low, high), levels, scale);
    struct lowered_step *const point = convert(l, zero, 1, 1, ",to=u8");
    lowering_read(point, low, 1);
    lowering_read(point, scale, 1);
    lowering_read(point, none, 1);
    struct lowered_step *const wide = convert(l, points, 1, sizeof *points, ",from=u8,to=i32");
    if (wide)
        wide->input[wide->operands.inputs++] = (struct run_operand){zero, 1};
    lowering_read(wide, one(l), 1);
    lowering_read(wide, none, 1);
    lowering_read(wide, none, 1);
    struct lowered_step *const all = convert(l, l->out[0]->data, x->count, 1, ",to=u8");
    lowering_read(all, x->data, x->count);
    lowering_read(all, scale, 1);
    lowering_read(all, points, 1);
    return lowering_holds(l);
}
