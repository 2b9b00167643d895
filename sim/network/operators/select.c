/* Operators whose results are as long as their contents say: NonZero, Compress, Unique. */
#include "sim/network/operators/families.h"

#include <stdlib.h>
#include <string.h>

bool net_rule_non_zero(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    const struct net_shape to = net_shape_of((const int64_t[]){x->known ? (int64_t)x->dims : NET_UNKNOWN, NET_UNKNOWN}, 2);
    net_state(i, 0, NET_I64, &to);
    return true;
}

bool net_eval_non_zero(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    int64_t found = 0, at = 0;
    for (int64_t k = 0; k < x->count; k++)
        found += net_array_double(x, k) != 0;
    if (!net_make_output(call, 0, NET_I64, (const int64_t[]){(int64_t)x->dims, found}, 2))
        return false;
    for (int64_t k = 0; k < x->count; k++) {
        int64_t left = k;
        if (net_array_double(x, k) == 0)
            continue;
        for (unsigned d = x->dims; d-- > 0;) {
            ((int64_t *)call->out[0]->data)[(int64_t)d * found + at] = left % x->shape[d];
            left /= x->shape[d];
        }
        at++;
    }
    return true;
}

bool net_rule_compress(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct net_shape to = *x;
    unsigned axis;
    if (!net_attribute(i->node, "axis")) {
        to = net_shape_of((const int64_t[]){NET_UNKNOWN}, 1);
    } else if (x->known) {
        if (!net_axis(i, net_attr_int(i->node, "axis", 0), x->dims, &axis))
            return false;
        to.dim[axis] = NET_UNKNOWN;
    }
    net_state(i, 0, i->in[0].type, to.known ? &to : NULL);
    return true;
}

bool net_eval_compress(struct net_call *call)
{
    struct net_array *const x = call->in[0];
    const struct net_array *const keep = call->in[1];
    const bool flat = !net_attribute(call->node, "axis");
    const int64_t given = net_attr_int(call->node, "axis", 0);
    const unsigned axis = flat ? 0 : (unsigned)(given < 0 ? given + x->dims : given);
    const int64_t length = flat ? x->count : x->shape[axis], outer = flat ? 1 : net_extent(x->shape, 0, axis);
    const int64_t inner = flat ? 1 : net_extent(x->shape, axis + 1, x->dims);
    const size_t bytes = (size_t)inner * net_type_bytes(x->type);
    int64_t kept = 0, shape[NET_DIMS_MAX];
    for (int64_t k = 0; k < keep->count && k < length; k++)
        kept += net_array_integer(keep, k) != 0;
    memcpy(shape, x->shape, sizeof shape);
    shape[axis] = kept;
    if (!net_make_output(call, 0, x->type, shape, flat ? 1 : x->dims))
        return false;
    uint8_t *to = call->out[0]->data;
    for (int64_t o = 0; bytes && o < outer; o++)
        for (int64_t k = 0; k < length; k++)
            if (k < keep->count && net_array_integer(keep, k)) {
                memcpy(to, (const uint8_t *)x->data + (size_t)(o * length + k) * bytes, bytes);
                to += bytes;
            }
    return true;
}

/* ---- unique ---- */

bool net_rule_unique(struct net_infer *i)
{
    const struct net_shape line = net_shape_of((const int64_t[]){NET_UNKNOWN}, 1), *const x = &i->in[0].shape;
    struct net_shape to = *x;
    unsigned axis;
    if (!net_attribute(i->node, "axis")) {
        to = line;
    } else if (x->known) {
        if (!net_axis(i, net_attr_int(i->node, "axis", 0), x->dims, &axis))
            return false;
        to.dim[axis] = NET_UNKNOWN;
    }
    net_state(i, 0, i->in[0].type, to.known ? &to : NULL);
    for (size_t k = 1; k < 4; k++)
        net_state(i, k, NET_I64, &line);
    return true;
}

/* Slices along an axis, compared element by element. */
struct slices {
    const struct net_array *x;
    int64_t outer, length, inner;
};

static int compare(const struct slices *s, int64_t a, int64_t b)
{
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t e = 0; e < s->inner; e++) {
            const double x = net_array_double(s->x, (o * s->length + a) * s->inner + e);
            const double y = net_array_double(s->x, (o * s->length + b) * s->inner + e);
            if (x != y)
                return x < y ? -1 : 1;
        }
    return 0;
}

struct found {
    int64_t *first, *inverse, *times; /* by unique slice, by slice, by unique slice */
    int64_t count;
};

/* In the order in which they are met, or sorted; by insertion, since these lists are short. */
static void find_unique(const struct slices *s, bool sorted, struct found *f)
{
    for (int64_t k = 0; k < s->length; k++) {
        int64_t at = 0;
        while (at < f->count && compare(s, f->first[at], k) != 0 && !(sorted && compare(s, f->first[at], k) > 0))
            at++;
        if (at == f->count || compare(s, f->first[at], k) != 0) {
            memmove(f->first + at + 1, f->first + at, (size_t)(f->count - at) * sizeof *f->first);
            f->first[at] = k;
            f->count++;
        }
    }
    for (int64_t k = 0; k < s->length; k++)
        for (int64_t at = 0; at < f->count; at++)
            if (compare(s, f->first[at], k) == 0) {
                f->inverse[k] = at;
                f->times[at]++;
            }
}

static bool write_unique(struct net_call *call, const struct slices *s, const struct found *f, const int64_t *shape,
                         unsigned dims)
{
    const size_t bytes = (size_t)s->inner * net_type_bytes(s->x->type);
    const int64_t *const list[4] = {NULL, f->first, f->inverse, f->times};
    if (!net_make_output(call, 0, s->x->type, shape, dims))
        return false;
    for (int64_t o = 0; call->out[0] && o < s->outer; o++)
        for (int64_t k = 0; k < f->count; k++)
            memcpy((uint8_t *)call->out[0]->data + (size_t)(o * f->count + k) * bytes,
                   (const uint8_t *)s->x->data + (size_t)(o * s->length + f->first[k]) * bytes, bytes);
    for (size_t k = 1; k < 4; k++) {
        const int64_t count = k == 2 ? s->length : f->count;
        if (!net_make_output(call, k, NET_I64, &count, 1))
            return false;
        if (net_out(call, k))
            memcpy(call->out[k]->data, list[k], (size_t)count * sizeof(int64_t));
    }
    return true;
}

bool net_eval_unique(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const bool flat = !net_attribute(call->node, "axis");
    const int64_t given = net_attr_int(call->node, "axis", 0);
    const unsigned axis = flat ? 0 : (unsigned)(given < 0 ? given + x->dims : given);
    const struct slices s = {x, flat ? 1 : net_extent(x->shape, 0, axis), flat ? x->count : x->shape[axis],
                             flat ? 1 : net_extent(x->shape, axis + 1, x->dims)};
    const size_t room = (size_t)s.length + 1;
    struct found f = {calloc(room, sizeof(int64_t)), calloc(room, sizeof(int64_t)), calloc(room, sizeof(int64_t)), 0};
    int64_t shape[NET_DIMS_MAX];
    bool ok = f.first && f.inverse && f.times;
    if (ok) {
        find_unique(&s, net_attr_int(call->node, "sorted", 1) != 0, &f);
        memcpy(shape, x->shape, sizeof shape);
        shape[axis] = f.count;
        ok = write_unique(call, &s, &f, shape, flat ? 1 : x->dims);
    } else {
        orch_no_memory(call->error);
    }
    free(f.first);
    free(f.inverse);
    free(f.times);
    return ok;
}
