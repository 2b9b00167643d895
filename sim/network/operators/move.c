/* Operators that move elements: Transpose, Concat, Split, Expand, Tile, DepthToSpace, SpaceToDepth, Trilu. */
#include "sim/network/operators/families.h"

#include <string.h>

/* ---- transpose ---- */

static bool permutation(struct net_infer *i, unsigned dims, struct net_ints *perm)
{
    unsigned seen = 0;
    if (!net_ints_attr(i, "perm", perm))
        return false;
    if (perm->count == 0)
        for (perm->count = 0; perm->count < dims; perm->count++)
            perm->at[perm->count] = (int64_t)(dims - 1 - perm->count);
    if (perm->count != dims)
        return net_refuse(i->error, "perm has %u axes, the input %u", perm->count, dims);
    for (unsigned d = 0; d < dims; d++) {
        if (perm->at[d] < 0 || perm->at[d] >= (int64_t)dims || seen & 1u << perm->at[d])
            return net_refuse(i->error, "perm is no permutation");
        seen |= 1u << perm->at[d];
    }
    return true;
}

bool net_rule_transpose(struct net_infer *i)
{
    const struct net_shape *const s = &i->in[0].shape;
    struct net_ints perm;
    struct net_shape to = *s;
    if (s->known) {
        if (!permutation(i, s->dims, &perm))
            return false;
        for (unsigned d = 0; d < s->dims; d++)
            to.dim[d] = s->dim[perm.at[d]];
    }
    net_state(i, 0, i->in[0].type, s->known ? &to : NULL);
    return true;
}

bool net_eval_transpose(struct net_call *call)
{
    struct net_infer i = {.node = call->node, .error = call->error};
    const struct net_array *const x = call->in[0];
    struct net_ints perm;
    int64_t stride[NET_DIMS_MAX], turned[NET_DIMS_MAX];
    if (!permutation(&i, x->dims, &perm))
        return false;
    net_strides(x->shape, x->dims, stride);
    for (unsigned d = 0; d < x->dims; d++)
        turned[d] = stride[perm.at[d]];
    net_copy_strided(x, 0, turned, call->out[0]->shape, x->dims, call->out[0], 0);
    return true;
}

/* ---- concatenate and split ---- */

bool net_rule_concat(struct net_infer *i)
{
    struct net_shape to = i->in[0].shape;
    unsigned axis;
    for (size_t k = 1; k < i->inputs; k++)
        if (!i->in[k].shape.known)
            to.known = false;
    net_state(i, 0, i->in[0].type, NULL);
    if (!to.known)
        return true;
    if (!net_axis(i, net_attr_int(i->node, "axis", 1), to.dims, &axis))
        return false;
    for (size_t k = 1; k < i->inputs; k++) {
        const struct net_shape *const s = &i->in[k].shape;
        if (s->dims != to.dims)
            return net_refuse(i->error, "inputs of %u and %u dimensions", to.dims, s->dims);
        if (i->in[k].type != i->in[0].type && i->in[k].type != NET_TYPES && i->in[0].type != NET_TYPES)
            return net_refuse(i->error, "inputs of %s and %s", net_type_name(i->in[0].type), net_type_name(i->in[k].type));
        for (unsigned d = 0; d < to.dims; d++) {
            if (d == axis)
                to.dim[d] = to.dim[d] < 0 || s->dim[d] < 0 ? NET_UNKNOWN : to.dim[d] + s->dim[d];
            else if (to.dim[d] < 0)
                to.dim[d] = s->dim[d];
            else if (s->dim[d] >= 0 && s->dim[d] != to.dim[d])
                return net_refuse(i->error, "dimension %u is %lld and %lld", d, (long long)to.dim[d], (long long)s->dim[d]);
        }
    }
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* Copies `rows` rows of `bytes` bytes; pitches in bytes. */
static void copy_rows(const uint8_t *from, size_t from_pitch, uint8_t *to, size_t to_pitch, int64_t rows, size_t bytes)
{
    for (int64_t r = 0; bytes && r < rows; r++)
        memcpy(to + (size_t)r * to_pitch, from + (size_t)r * from_pitch, bytes);
}

static unsigned axis_of(const struct net_call *call, int64_t missing)
{
    const int64_t axis = net_attr_int(call->node, "axis", missing);
    return (unsigned)(axis < 0 ? axis + call->in[0]->dims : axis);
}

bool net_eval_concat(struct net_call *call)
{
    struct net_array *const out = call->out[0];
    const unsigned axis = axis_of(call, 1);
    const size_t size = net_type_bytes(out->type);
    const int64_t rows = net_extent(out->shape, 0, axis);
    const size_t pitch = (size_t)net_extent(out->shape, axis, out->dims) * size;
    size_t at = 0;
    for (size_t k = 0; k < call->inputs; k++) {
        const size_t bytes = (size_t)net_extent(call->in[k]->shape, axis, out->dims) * size;
        copy_rows(call->in[k]->data, bytes, (uint8_t *)out->data + at, pitch, rows, bytes);
        at += bytes;
    }
    return true;
}

bool net_rule_split(struct net_infer *i)
{
    const struct net_shape *const s = &i->in[0].shape;
    struct net_ints parts;
    unsigned axis;
    bool known;
    for (size_t k = 0; k < i->outputs; k++)
        net_state(i, k, i->in[0].type, NULL);
    if (!net_ints_input(i, 1, &parts, &known))
        return false;
    if (net_attr_int(i->node, "num_outputs", (int64_t)i->outputs) != (int64_t)i->outputs)
        return net_refuse(i->error, "num_outputs is %lld for %zu outputs", (long long)net_attr_int(i->node, "num_outputs", 0),
                          i->outputs);
    if (!s->known)
        return true;
    if (!net_axis(i, net_attr_int(i->node, "axis", 0), s->dims, &axis))
        return false;
    const bool given = net_fact_in(i, 1)->present;
    const int64_t whole = s->dim[axis], outputs = (int64_t)i->outputs;
    int64_t sum = 0;
    if (!given && i->node->version > 0 && i->node->version < 18 && whole > 0 &&
        whole % outputs) /* later sets let the last part be smaller */
        return net_refuse(i->error, "%lld elements are no %lld equal parts", (long long)whole, (long long)outputs);
    if (!given && whole > 0 && (outputs - 1) * ((whole + outputs - 1) / outputs) >= whole)
        return net_refuse(i->error, "%lld elements leave nothing for the last of %lld parts", (long long)whole,
                          (long long)outputs);
    if (given && known && parts.count != i->outputs)
        return net_refuse(i->error, "%u parts for %zu outputs", parts.count, i->outputs);
    for (size_t k = 0; k < i->outputs; k++) {
        const int64_t chunk = whole < 0 ? NET_UNKNOWN : (whole + outputs - 1) / outputs;
        int64_t part = given ? (known ? parts.at[k] : NET_UNKNOWN) : whole < 0 ? NET_UNKNOWN : chunk;
        if (!given && whole >= 0 && part > whole - sum)
            part = whole - sum;
        struct net_shape to = *s;
        to.dim[axis] = part;
        if (given && known && part < 0)
            return net_refuse(i->error, "a part of %lld", (long long)part);
        if (part > 0 && __builtin_add_overflow(sum, part, &sum))
            return net_refuse(i->error, "a part of %lld", (long long)part);
        net_state(i, k, i->in[0].type, &to);
    }
    if (given && known && whole >= 0 && sum != whole)
        return net_refuse(i->error, "the parts have %lld in all, the input %lld", (long long)sum, (long long)whole);
    return true;
}

bool net_eval_split(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const unsigned axis = axis_of(call, 0);
    const size_t size = net_type_bytes(x->type), pitch = (size_t)net_extent(x->shape, axis, x->dims) * size;
    const int64_t rows = net_extent(x->shape, 0, axis);
    size_t at = 0;
    for (size_t k = 0; k < call->outputs; k++) {
        const size_t bytes = (size_t)net_extent(call->fact[k].present ? call->fact[k].shape.dim : x->shape, axis, x->dims) * size;
        if (call->out[k])
            copy_rows((const uint8_t *)x->data + at, pitch, call->out[k]->data, bytes, rows, bytes);
        at += bytes;
    }
    return true;
}

/* ---- repetition ---- */

bool net_rule_expand(struct net_infer *i)
{
    struct net_ints want;
    bool known;
    if (!net_ints_input(i, 1, &want, &known))
        return false;
    net_state(i, 0, i->in[0].type, NULL);
    if (!known || !i->in[0].shape.known)
        return true;
    if (want.count > NET_DIMS_MAX)
        return net_refuse(i->error, "a shape of %u dimensions", want.count);
    for (unsigned d = 0; d < want.count; d++)
        if (want.at[d] < 0)
            return net_refuse(i->error, "dimension %lld", (long long)want.at[d]);
    struct net_shape to = net_shape_of(want.at, want.count);
    if (!net_broadcast_shapes(i, &i->in[0].shape, &to, &to))
        return false;
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

bool net_eval_expand(struct net_call *call)
{
    struct net_walk walk;
    if (!net_walk_broadcast(&walk, call->out[0], call->in, 1, call->error))
        return false;
    net_copy_strided(call->in[0], 0, walk.stride[0], walk.shape, walk.dims, call->out[0], 0);
    net_walk_free(&walk);
    return true;
}

bool net_rule_tile(struct net_infer *i)
{
    const struct net_shape *const s = &i->in[0].shape;
    struct net_ints times;
    bool known;
    if (!net_ints_input(i, 1, &times, &known))
        return false;
    struct net_shape to = *s;
    if (s->known && known && times.count != s->dims)
        return net_refuse(i->error, "%u repeats for %u dimensions", times.count, s->dims);
    for (unsigned d = 0; s->known && d < s->dims; d++) {
        if (!known || s->dim[d] < 0)
            to.dim[d] = NET_UNKNOWN;
        else if (times.at[d] < 0 || __builtin_mul_overflow(s->dim[d], times.at[d], &to.dim[d]))
            return net_refuse(i->error, "%lld repeats", (long long)times.at[d]);
    }
    net_state(i, 0, i->in[0].type, s->known ? &to : NULL);
    return true;
}

/* Each dimension of the result is two of a copy: the repeat, whose stride is 0, and the place. */
bool net_eval_tile(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    int64_t shape[2 * NET_DIMS_MAX], stride[2 * NET_DIMS_MAX], own[NET_DIMS_MAX];
    net_strides(x->shape, x->dims, own);
    for (unsigned d = 0; d < x->dims; d++) {
        shape[2 * d] = x->shape[d] ? call->out[0]->shape[d] / x->shape[d] : 0;
        stride[2 * d] = 0;
        shape[2 * d + 1] = x->shape[d];
        stride[2 * d + 1] = own[d];
    }
    net_copy_strided(x, 0, stride, shape, 2 * x->dims, call->out[0], 0);
    return true;
}

/* ---- blocks of pixels ---- */

static bool blocks(struct net_infer *i, bool to_space)
{
    const struct net_shape *const s = &i->in[0].shape;
    const int64_t b = net_attr_int(i->node, "blocksize", 0);
    net_state(i, 0, i->in[0].type, NULL);
    if (b < 1 || b > 65536)
        return net_refuse(i->error, "a block of %lld", (long long)b);
    if (!s->known)
        return true;
    if (s->dims != 4)
        return net_refuse(i->error, "an input of %u dimensions, not 4", s->dims);
    struct net_shape to = *s;
    for (unsigned d = 1; d < 4; d++) {
        const int64_t factor = d == 1 ? b * b : b;
        const bool divide = (d == 1) == to_space;
        if (s->dim[d] < 0)
            to.dim[d] = NET_UNKNOWN;
        else if (divide && s->dim[d] % factor)
            return net_refuse(i->error, "dimension %u is %lld, no multiple of %lld", d, (long long)s->dim[d], (long long)factor);
        else if (!divide && s->dim[d] > INT64_MAX / factor)
            return net_refuse(i->error, "dimension %u overflows", d);
        else
            to.dim[d] = divide ? s->dim[d] / factor : s->dim[d] * factor;
    }
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

bool net_rule_depth_to_space(struct net_infer *i)
{
    return blocks(i, true);
}

bool net_rule_space_to_depth(struct net_infer *i)
{
    return blocks(i, false);
}

/* Both are a reshape to six dimensions and a transposition. */
bool net_eval_blocks(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const bool to_space = strcmp(call->node->op, "DepthToSpace") == 0;
    const bool crd = strcmp(net_attr_text(call->node, "mode", "DCR"), "CRD") == 0;
    const int64_t b = net_attr_int(call->node, "blocksize", 1), n = x->shape[0], c = x->shape[1], h = x->shape[2],
                  w = x->shape[3];
    if (to_space) {
        const int64_t plane = h * w, depth = c / (b * b);
        const int64_t shape[6] = {n, depth, h, b, w, b};
        const int64_t row_block = crd ? b * plane : b * depth * plane, column_block = crd ? plane : depth * plane;
        const int64_t stride[6] = {c * plane, crd ? b * b * plane : plane, w, row_block, 1, column_block};
        net_copy_strided(x, 0, stride, shape, 6, call->out[0], 0);
    } else {
        const int64_t shape[6] = {n, b, b, c, h / b, w / b}, stride[6] = {c * h * w, w, 1, h * w, b * w, b};
        net_copy_strided(x, 0, stride, shape, 6, call->out[0], 0);
    }
    return true;
}

bool net_eval_trilu(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const k_in = net_in(call, 1);
    const bool upper = net_attr_int(call->node, "upper", 1) != 0;
    const size_t size = net_type_bytes(x->type);
    if (x->dims < 2)
        return net_refuse(call->error, "an input of %u dimensions", x->dims);
    int64_t k = k_in ? net_array_integer(k_in, 0) : 0;
    const int64_t rows = x->shape[x->dims - 2], columns = x->shape[x->dims - 1];
    k = k < -rows ? -rows : k > columns ? columns : k;
    for (int64_t at = 0; at < x->count; at += columns) {
        const int64_t row = at / columns % rows;
        int64_t edge = upper ? row + k : row + k + 1; /* first kept, or first not kept */
        edge = edge < 0 ? 0 : edge > columns ? columns : edge;
        const int64_t from = upper ? edge : 0, to = upper ? columns : edge;
        memcpy((uint8_t *)call->out[0]->data + (size_t)(at + from) * size, (const uint8_t *)x->data + (size_t)(at + from) * size,
               (size_t)(to - from) * size);
    }
    return true;
}
