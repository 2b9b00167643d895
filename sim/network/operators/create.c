/* Operators that make tensors from sizes and types: Shape, Size, ConstantOfShape, Range, EyeLike, Cast, windows. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <string.h>

static bool type_attribute(struct net_infer *i, const char *name, enum net_type missing, enum net_type *type)
{
    const int64_t number = net_attr_int(i->node, name, 0);
    *type = number ? net_type_of_onnx(number) : missing;
    if (*type == NET_TYPES && (number || missing != NET_TYPES))
        return orch_fail(i->error, ORCH_UNMODELLED, "elements of type %s", net_onnx_type_name(number));
    return true;
}

/* ---- shapes as numbers ---- */

static void shape_range(const struct net_node *node, int64_t dims, int64_t *start, int64_t *end)
{
    *start = net_attr_int(node, "start", 0);
    *end = net_attr_int(node, "end", dims);
    *start = *start < 0 ? *start + dims : *start;
    *end = *end < 0 ? *end + dims : *end;
    *start = *start < 0 ? 0 : *start > dims ? dims : *start;
    *end = *end < *start ? *start : *end > dims ? dims : *end;
}

bool net_rule_shape(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    int64_t start = 0, end = 0;
    shape_range(i->node, x->dims, &start, &end);
    const struct net_shape to = net_shape_of((const int64_t[]){x->known ? end - start : NET_UNKNOWN}, 1);
    net_state(i, 0, NET_I64, &to);
    return true;
}

bool net_eval_shape(struct net_call *call)
{
    int64_t start, end;
    shape_range(call->node, call->in[0]->dims, &start, &end);
    if (end > start)
        memcpy(call->out[0]->data, call->in[0]->shape + start, (size_t)(end - start) * sizeof(int64_t));
    return true;
}

bool net_rule_size(struct net_infer *i)
{
    const struct net_shape scalar = {.known = true};
    net_state(i, 0, NET_I64, &scalar);
    return true;
}

bool net_eval_size(struct net_call *call)
{
    *(int64_t *)call->out[0]->data = call->in[0]->count;
    return true;
}

/* ---- filled tensors ---- */

static const struct net_array *fill_value(const struct net_node *node)
{
    const struct net_attribute *const a = net_attribute(node, "value");
    return a && a->kind == NET_ATTR_ARRAY && a->array->count ? a->array : NULL;
}

bool net_rule_constant_of_shape(struct net_infer *i)
{
    struct net_ints dims;
    bool known;
    const struct net_array *const value = fill_value(i->node);
    const enum net_type type = value ? value->type : NET_F32;
    if (!net_ints_input(i, 0, &dims, &known))
        return false;
    net_state(i, 0, type, NULL);
    if (!known) {
        struct net_shape to = {.known = true};
        const struct net_shape *const s = &i->in[0].shape;
        if (s->known && s->dims == 1 && s->dim[0] >= 0 && s->dim[0] <= NET_DIMS_MAX) {
            for (to.dims = 0; to.dims < (unsigned)s->dim[0]; to.dims++)
                to.dim[to.dims] = NET_UNKNOWN;
            net_state(i, 0, type, &to);
        }
        return true;
    }
    for (unsigned d = 0; d < dims.count; d++)
        if (dims.at[d] < 0)
            return net_refuse(i->error, "dimension %lld", (long long)dims.at[d]);
    if (dims.count > NET_DIMS_MAX)
        return net_refuse(i->error, "a shape of %u dimensions", dims.count);
    const struct net_shape to = net_shape_of(dims.at, dims.count);
    net_state(i, 0, type, &to);
    return true;
}

bool net_eval_constant_of_shape(struct net_call *call)
{
    const struct net_array *const value = fill_value(call->node);
    const size_t size = net_type_bytes(call->out[0]->type);
    for (int64_t k = 0; value && k < call->out[0]->count; k++)
        memcpy((uint8_t *)call->out[0]->data + (size_t)k * size, value->data, size);
    return true;
}

static bool range_length(struct orch_error *error, const struct net_array *start, const struct net_array *limit,
                         const struct net_array *delta, int64_t *length)
{
    const double step = net_array_double(delta, 0);
    if (step == 0 || isnan(step))
        return net_refuse(error, "a step of 0");
    const double count = ceil((net_array_double(limit, 0) - net_array_double(start, 0)) / step);
    *length = count > 0 ? net_truncate(count) : 0;
    return true;
}

bool net_rule_range(struct net_infer *i)
{
    int64_t length = NET_UNKNOWN;
    if (net_attr_int(i->node, "stash_type", 1) != 1)
        return orch_fail(i->error, ORCH_UNMODELLED, "stash_type other than f32");
    for (size_t k = 0; k < 3; k++)
        if (i->in[k].constant && i->in[k].constant->count != 1)
            return net_refuse(i->error, "input %zu is no scalar", k);
    if (i->in[0].constant && i->in[1].constant && i->in[2].constant &&
        !range_length(i->error, i->in[0].constant, i->in[1].constant, i->in[2].constant, &length))
        return false;
    const struct net_shape to = net_shape_of(&length, 1);
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

bool net_eval_range(struct net_call *call)
{
    struct net_array *const out = call->out[0];
    const double start = net_array_double(call->in[0], 0), step = net_array_double(call->in[2], 0);
    const int64_t first = net_array_integer(call->in[0], 0), pace = net_array_integer(call->in[2], 0);
    for (int64_t k = 0; k < out->count; k++) {
        const double real = start + (double)k * step;
        const int64_t integer = (int64_t)((uint64_t)first + (uint64_t)k * (uint64_t)pace);
        if (net_type_is_float(out->type))
            net_write_doubles(out->type, out->data, k, 1, &real);
        else
            net_write_integers(out->type, out->data, k, 1, &integer);
    }
    return true;
}

bool net_rule_eye_like(struct net_infer *i)
{
    enum net_type type;
    if (!type_attribute(i, "dtype", i->in[0].type, &type))
        return false;
    net_state(i, 0, type, i->in[0].shape.known ? &i->in[0].shape : NULL);
    return true;
}

bool net_eval_eye_like(struct net_call *call)
{
    struct net_array *const out = call->out[0];
    const int64_t k = net_attr_int(call->node, "k", 0);
    const double one = 1;
    if (out->dims != 2)
        return net_refuse(call->error, "%u dimensions, not 2", out->dims);
    for (int64_t r = 0; r < out->shape[0]; r++)
        if (r + k >= 0 && r + k < out->shape[1])
            net_write_doubles(out->type, out->data, r * out->shape[1] + r + k, 1, &one);
    return true;
}

/* ---- conversions ---- */

bool net_rule_cast(struct net_infer *i)
{
    enum net_type type;
    if (!type_attribute(i, "to", NET_TYPES, &type))
        return false;
    if (type == NET_TYPES)
        return net_refuse(i->error, "no type to cast to");
    net_state(i, 0, type, i->in[0].shape.known ? &i->in[0].shape : NULL);
    return true;
}

bool net_rule_cast_like(struct net_infer *i)
{
    net_state(i, 0, i->in[1].type, i->in[0].shape.known ? &i->in[0].shape : NULL);
    return true;
}

bool net_eval_cast(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    struct net_array *const out = call->out[0];
    double number[256];
    int64_t integer[256];
    const bool integers = !net_type_is_float(x->type) && !net_type_is_float(out->type);
    for (int64_t at = 0; at < x->count; at += 256) {
        const size_t count = (size_t)(x->count - at < 256 ? x->count - at : 256);
        if (integers) {
            net_read_integers(x->type, x->data, at, 1, count, integer);
            net_write_integers(out->type, out->data, at, count, integer);
        } else {
            net_read_doubles(x->type, x->data, at, 1, count, number);
            net_write_doubles(out->type, out->data, at, count, number);
        }
    }
    return true;
}

/* ---- windows of signals ---- */

bool net_rule_window(struct net_infer *i)
{
    enum net_type type;
    if (!type_attribute(i, "output_datatype", NET_F32, &type))
        return false;
    const int64_t size =
        i->in[0].constant && i->in[0].constant->count == 1 ? net_array_integer(i->in[0].constant, 0) : NET_UNKNOWN;
    if (i->in[0].constant && size < 0)
        return net_refuse(i->error, "a window of %lld", (long long)size);
    const struct net_shape to = net_shape_of(&size, 1);
    net_state(i, 0, type, &to);
    return true;
}

bool net_eval_window(struct net_call *call)
{
    struct net_array *const out = call->out[0];
    const char kind = call->node->op[1]; /* hAnn, hAmming, bLackman */
    const double hamming = 25.0 / 46;
    const double a0 = kind == 'l' ? 0.42 : call->node->op[2] == 'n' ? 0.5 : hamming, a2 = kind == 'l' ? 0.08 : 0;
    const double a1 = kind == 'l' ? 0.5 : 1 - a0;
    const int64_t size = out->count - (net_attr_int(call->node, "periodic", 1) ? 0 : 1);
    for (int64_t k = 0; k < out->count; k++) {
        const double angle = 2 * M_PI * (double)k / (double)(size ? size : 1);
        const double w = a0 - a1 * cos(angle) + a2 * cos(2 * angle);
        net_write_doubles(out->type, out->data, k, 1, &w);
    }
    return true;
}
