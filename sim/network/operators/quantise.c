/* QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#include "sim/network/operators/quantise.h"

#include "sim/network/operators/families.h"

#include <math.h>

int64_t net_quantised(double scaled, int64_t zero, enum net_type type)
{
    const unsigned bits = net_type_bits(type);
    const bool is_signed = net_type_kind(type) == NET_SIGNED;
    const double low = is_signed ? -ldexp(1, (int)bits - 1) : 0, high = ldexp(1, (int)(is_signed ? bits - 1 : bits)) - 1;
    const double q = nearbyint(scaled) + (double)zero;
    return isnan(q) ? zero : net_truncate(q < low ? low : q > high ? high : q);
}

static enum net_type output_type(const struct net_infer *i)
{
    const enum net_type asked = net_type_of_onnx(net_attr_int(i->node, "output_dtype", 0));
    return net_fact_in(i, 2)->present ? net_fact_in(i, 2)->type : asked != NET_TYPES ? asked : NET_U8;
}

bool net_rule_quantise(struct net_infer *i)
{
    const enum net_type type = output_type(i);
    if (type != NET_TYPES && net_type_is_float(type))
        return orch_fail(i->error, ORCH_UNMODELLED, "quantisation to %s", net_type_name(type));
    const int64_t precision = net_attr_int(i->node, "precision", 0);
    if (precision != 0 && net_type_of_onnx(precision) != NET_F32)
        return orch_fail(i->error, ORCH_UNMODELLED, "precision %s: quotients are in f32", net_onnx_type_name(precision));
    net_state(i, 0, type, i->in[0].shape.known ? &i->in[0].shape : NULL);
    return true;
}

bool net_rule_dequantise(struct net_infer *i)
{
    const int64_t asked = net_attr_int(i->node, "output_dtype", 0);
    const enum net_type type = asked ? net_type_of_onnx(asked) : i->in[1].type;
    if (asked && (type == NET_TYPES || !net_type_is_float(type)))
        return net_refuse(i->error, "output_dtype is %s; dequantised numbers are f32, f16 or bf16", net_onnx_type_name(asked));
    net_state(i, 0, type, i->in[0].shape.known ? &i->in[0].shape : NULL);
    return true;
}

/* Which scale belongs to each element: one for all, one a slice of the axis, or one a block along it. */
struct scales {
    int64_t inner, length, block, blocks;
    bool single;
};

static bool find_scales(const struct net_call *call, struct scales *s)
{
    const struct net_array *const x = call->in[0], *const scale = call->in[1], *const zero = net_in(call, 2);
    const int64_t given = net_attr_int(call->node, "axis", 1);
    const int64_t axis = given < 0 ? given + x->dims : given, block = net_attr_int(call->node, "block_size", 0);
    *s = (struct scales){.single = scale->count == 1 && scale->dims <= 1};
    if (zero && zero->count != scale->count)
        return net_refuse(call->error, "%lld zero points for %lld scales", (long long)zero->count, (long long)scale->count);
    if (s->single)
        return true;
    if (axis < 0 || axis >= (int64_t)x->dims || block < 0)
        return net_refuse(call->error, "axis %lld", (long long)given);
    s->length = x->shape[axis];
    s->inner = net_extent(x->shape, (unsigned)axis + 1, x->dims);
    s->block = block;
    s->blocks = block ? (s->length + block - 1) / block : s->length;
    const int64_t wanted = block ? x->count / (s->length ? s->length : 1) * s->blocks : s->length;
    if (scale->count != wanted)
        return net_refuse(call->error, "%lld scales, not %lld", (long long)scale->count, (long long)wanted);
    return true;
}

static int64_t scale_of(const struct scales *s, int64_t at)
{
    if (s->single)
        return 0;
    const int64_t place = at / s->inner % s->length;
    return s->block ? (at / (s->inner * s->length) * s->blocks + place / s->block) * s->inner + at % s->inner : place;
}

/* In single precision, as frameworks divide: a quotient that lies half way decides which way it is rounded. */
bool net_eval_quantise(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const zero = net_in(call, 2);
    struct scales s;
    if (!find_scales(call, &s))
        return false;
    for (int64_t k = 0; k < x->count; k++) {
        const int64_t which = scale_of(&s, k);
        const float quotient = (float)net_array_double(x, k) / (float)net_array_double(call->in[1], which);
        const int64_t q = net_quantised(quotient, zero ? net_array_integer(zero, which) : 0, call->out[0]->type);
        net_write_integers(call->out[0]->type, call->out[0]->data, k, 1, &q);
    }
    return true;
}

bool net_eval_dequantise(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const zero = net_in(call, 2);
    struct scales s;
    if (!find_scales(call, &s))
        return false;
    for (int64_t k = 0; k < x->count; k++) {
        const int64_t which = scale_of(&s, k);
        const double y =
            (net_array_double(x, k) - (zero ? net_array_double(zero, which) : 0)) * net_array_double(call->in[1], which);
        net_write_doubles(call->out[0]->type, call->out[0]->data, k, 1, &y);
    }
    return true;
}

bool net_rule_dynamic_quantise(struct net_infer *i)
{
    const struct net_shape scalar = {.known = true};
    net_state(i, 0, NET_U8, i->in[0].shape.known ? &i->in[0].shape : NULL);
    net_state(i, 1, NET_F32, &scalar);
    net_state(i, 2, NET_U8, &scalar);
    return true;
}

struct net_eight_bits net_eight_bits_of(float low, float high)
{
    const float scale = (high - low) / 255, divisor = scale > 0 ? scale : 1;
    return (struct net_eight_bits){scale, divisor, net_quantised(-low / divisor, 0, NET_U8)};
}

bool net_eval_dynamic_quantise(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    float low = 0, high = 0;
    for (int64_t k = 0; k < x->count; k++) {
        const float a = (float)net_array_double(x, k);
        low = a < low ? a : low;
        high = a > high ? a : high;
    }
    const struct net_eight_bits bits = net_eight_bits_of(low, high);
    const double real_scale = bits.scale;
    if (net_out(call, 1))
        net_write_doubles(NET_F32, call->out[1]->data, 0, 1, &real_scale);
    if (net_out(call, 2))
        net_write_integers(NET_U8, call->out[2]->data, 0, 1, &bits.zero);
    for (int64_t k = 0; net_out(call, 0) && k < x->count; k++) {
        const int64_t q = net_quantised((float)net_array_double(x, k) / bits.divisor, bits.zero, NET_U8);
        net_write_integers(NET_U8, call->out[0]->data, k, 1, &q);
    }
    return true;
}

/* ---- sums of products of integers ---- */

bool net_rule_rescale(struct net_infer *i)
{
    net_state(i, 0, NET_F32, i->in[0].shape.known ? &i->in[0].shape : NULL);
    return true;
}

/* scale x + bias, both one for all or one for each place of `axis`. */
bool net_eval_rescale(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const scale = call->in[1], *const bias = net_in(call, 2);
    const int64_t given = net_attr_int(call->node, "axis", -1), axis = given < 0 ? given + x->dims : given;
    if (axis < 0 || axis >= (int64_t)x->dims)
        return net_refuse(call->error, "axis %lld", (long long)given);
    const int64_t length = x->shape[axis], inner = net_extent(x->shape, (unsigned)axis + 1, x->dims);
    if ((scale->count != 1 && scale->count != length) || (bias && bias->count != 1 && bias->count != length))
        return net_refuse(call->error, "scales or biases do not fit %lld places", (long long)length);
    for (int64_t k = 0; k < x->count; k++) {
        const int64_t place = k / inner % length;
        const double y = net_array_double(x, k) * net_array_double(scale, scale->count == 1 ? 0 : place) +
                         (bias ? net_array_double(bias, bias->count == 1 ? 0 : place) : 0);
        net_write_doubles(NET_F32, call->out[0]->data, k, 1, &y);
    }
    return true;
}
