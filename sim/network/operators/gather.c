/* Operators that read or write at places given by a tensor of indices. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <string.h>

static bool place_of(const struct net_call *call, const struct net_array *indices, int64_t at, int64_t length, int64_t *place)
{
    const int64_t index = net_array_integer(indices, at);
    *place = 0;
    if (index < -length || index >= length)
        return net_refuse(call->error, "index %lld of a dimension of %lld", (long long)index, (long long)length);
    *place = index < 0 ? index + length : index;
    return true;
}

static bool integer_indices(struct net_infer *i, size_t input)
{
    if (i->in[input].type != NET_TYPES && net_type_is_float(i->in[input].type))
        return net_refuse(i->error, "indices of %s", net_type_name(i->in[input].type));
    return true;
}

/* ---- gather ---- */

bool net_rule_gather(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape, *const index = &i->in[1].shape;
    struct net_shape to = {.known = true};
    unsigned axis;
    net_state(i, 0, i->in[0].type, NULL);
    if (!integer_indices(i, 1))
        return false;
    if (!x->known || !index->known)
        return true;
    if (!net_axis(i, net_attr_int(i->node, "axis", 0), x->dims, &axis))
        return false;
    if (x->dims + index->dims - 1 > NET_DIMS_MAX)
        return net_refuse(i->error, "a result of %u dimensions", x->dims + index->dims - 1);
    for (unsigned d = 0; d < axis; d++)
        to.dim[to.dims++] = x->dim[d];
    for (unsigned d = 0; d < index->dims; d++)
        to.dim[to.dims++] = index->dim[d];
    for (unsigned d = axis + 1; d < x->dims; d++)
        to.dim[to.dims++] = x->dim[d];
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

bool net_eval_gather(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const index = call->in[1];
    const int64_t given = net_attr_int(call->node, "axis", 0);
    const unsigned axis = (unsigned)(given < 0 ? given + x->dims : given);
    const int64_t outer = net_extent(x->shape, 0, axis), length = x->shape[axis], inner = net_extent(x->shape, axis + 1, x->dims);
    const size_t bytes = (size_t)inner * net_type_bytes(x->type);
    for (int64_t k = 0; k < index->count; k++) {
        int64_t place;
        if (!place_of(call, index, k, length, &place))
            return false;
        for (int64_t o = 0; bytes && o < outer; o++)
            memcpy((uint8_t *)call->out[0]->data + (size_t)(o * index->count + k) * bytes,
                   (const uint8_t *)x->data + (size_t)(o * length + place) * bytes, bytes);
    }
    return true;
}

/* ---- by element ---- */

bool net_rule_gather_elements(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape, *const index = &i->in[1].shape;
    unsigned axis;
    if (!integer_indices(i, 1))
        return false;
    if (x->known && index->known) {
        if (x->dims != index->dims)
            return net_refuse(i->error, "%u and %u dimensions", x->dims, index->dims);
        if (!net_axis(i, net_attr_int(i->node, "axis", 0), x->dims, &axis))
            return false;
        for (unsigned d = 0; d < x->dims; d++)
            if (d != axis && x->dim[d] >= 0 && index->dim[d] > x->dim[d])
                return net_refuse(i->error, "dimension %u of the indices is larger than that of the data", d);
    }
    net_state(i, 0, i->in[0].type, index->known ? index : NULL);
    return true;
}

/* Offset in `x` of the element that stands at `at` of the indices with its coordinate along the axis replaced. */
static bool element_place(const struct net_call *call, const struct net_array *x, const struct net_array *index, unsigned axis,
                          int64_t at, int64_t *place)
{
    int64_t offset = 0, step = 1, left = at, replaced = 0;
    if (!place_of(call, index, at, x->shape[axis], &replaced))
        return false;
    for (unsigned d = x->dims; d-- > 0;) {
        const int64_t coordinate = d == axis ? replaced : left % index->shape[d];
        if (coordinate >= x->shape[d])
            return net_refuse(call->error, "indices that are larger than the data");
        offset += coordinate * step;
        left /= index->shape[d];
        step *= x->shape[d];
    }
    *place = offset;
    return true;
}

static unsigned axis_of(const struct net_call *call)
{
    const int64_t axis = net_attr_int(call->node, "axis", 0);
    return (unsigned)(axis < 0 ? axis + call->in[0]->dims : axis);
}

bool net_eval_gather_elements(struct net_call *call)
{
    const size_t size = net_type_bytes(call->in[0]->type);
    const unsigned axis = axis_of(call);
    for (int64_t k = 0; k < call->in[1]->count; k++) {
        int64_t place;
        if (!element_place(call, call->in[0], call->in[1], axis, k, &place))
            return false;
        memcpy((uint8_t *)call->out[0]->data + (size_t)k * size, (const uint8_t *)call->in[0]->data + (size_t)place * size, size);
    }
    return true;
}

/* Writes, or combines, one element of the updates. */
static void update(const struct net_call *call, int64_t at, int64_t from)
{
    const struct net_array *const updates = call->in[2];
    struct net_array *const out = call->out[0];
    const char *const how = net_attr_text(call->node, "reduction", "none");
    const size_t size = net_type_bytes(out->type);
    if (strcmp(how, "none") == 0) {
        memcpy((uint8_t *)out->data + (size_t)at * size, (const uint8_t *)updates->data + (size_t)from * size, size);
    } else if (net_type_is_float(out->type)) {
        const double a = net_array_double(out, at), b = net_array_double(updates, from);
        const double result = *how == 'a'               ? a + b
                              : strcmp(how, "mul") == 0 ? a * b
                              : strcmp(how, "max") == 0 ? fmax(a, b)
                                                        : fmin(a, b);
        net_write_doubles(out->type, out->data, at, 1, &result);
    } else {
        const int64_t a = net_array_integer(out, at), b = net_array_integer(updates, from);
        const int64_t result = *how == 'a'               ? (int64_t)((uint64_t)a + (uint64_t)b)
                               : strcmp(how, "mul") == 0 ? (int64_t)((uint64_t)a * (uint64_t)b)
                               : strcmp(how, "max") == 0 ? (a > b ? a : b)
                                                         : (a < b ? a : b);
        net_write_integers(out->type, out->data, at, 1, &result);
    }
}

bool net_rule_scatter(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    unsigned axis;
    if (!integer_indices(i, 1))
        return false;
    if (i->in[2].type != i->in[0].type && i->in[0].type != NET_TYPES && i->in[2].type != NET_TYPES)
        return net_refuse(i->error, "updates of %s for data of %s", net_type_name(i->in[2].type), net_type_name(i->in[0].type));
    if (x->known && !net_axis(i, net_attr_int(i->node, "axis", 0), x->dims, &axis))
        return false;
    return net_rule_same(i);
}

bool net_eval_scatter_elements(struct net_call *call)
{
    const unsigned axis = axis_of(call);
    if (call->in[1]->dims != call->in[0]->dims || call->in[2]->count != call->in[1]->count)
        return net_refuse(call->error, "indices, updates and data do not fit");
    memcpy(call->out[0]->data, call->in[0]->data, net_array_bytes(call->in[0]));
    for (int64_t k = 0; k < call->in[1]->count; k++) {
        int64_t place;
        if (!element_place(call, call->in[0], call->in[1], axis, k, &place))
            return false;
        update(call, place, k);
    }
    return true;
}

/* ---- by tuple ---- */

bool net_rule_gather_nd(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape, *const index = &i->in[1].shape;
    const int64_t batch = net_attr_int(i->node, "batch_dims", 0);
    struct net_shape to = {.known = true};
    net_state(i, 0, i->in[0].type, NULL);
    if (!integer_indices(i, 1))
        return false;
    if (!x->known || !index->known || index->dims == 0 || index->dim[index->dims - 1] < 0)
        return true;
    const int64_t depth = index->dim[index->dims - 1];
    if (batch < 0 || batch >= (int64_t)index->dims || depth < 1 || batch + depth > (int64_t)x->dims)
        return net_refuse(i->error, "tuples of %lld for data of %u dimensions", (long long)depth, x->dims);
    if (index->dims - 1 + x->dims - batch - depth > NET_DIMS_MAX)
        return net_refuse(i->error, "too many dimensions");
    for (unsigned d = 0; d + 1 < index->dims; d++)
        to.dim[to.dims++] = index->dim[d];
    for (unsigned d = (unsigned)(batch + depth); d < x->dims; d++)
        to.dim[to.dims++] = x->dim[d];
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* Offset of the slice that tuple `at` names, from dimension `first` on. */
static bool tuple_place(const struct net_call *call, const struct net_array *x, unsigned first, int64_t at, int64_t *place)
{
    const struct net_array *const index = call->in[1];
    const unsigned depth = (unsigned)index->shape[index->dims - 1];
    *place = 0;
    for (unsigned k = 0; k < depth; k++) {
        int64_t coordinate;
        if (!place_of(call, index, at * depth + k, x->shape[first + k], &coordinate))
            return false;
        *place += coordinate * net_extent(x->shape, first + k + 1, x->dims);
    }
    return true;
}

bool net_eval_gather_nd(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const index = call->in[1];
    const unsigned batch = (unsigned)net_attr_int(call->node, "batch_dims", 0);
    const int64_t depth = index->shape[index->dims - 1], tuples = depth ? index->count / depth : 0;
    const int64_t batches = net_extent(x->shape, 0, batch), whole = net_extent(x->shape, batch, x->dims);
    const int64_t slice = net_extent(x->shape, batch + (unsigned)depth, x->dims);
    const size_t bytes = (size_t)slice * net_type_bytes(x->type), size = net_type_bytes(x->type);
    if (net_extent(index->shape, 0, batch) != batches)
        return net_refuse(call->error, "batches of data and indices differ");
    for (int64_t k = 0; k < tuples; k++) {
        int64_t place;
        if (!tuple_place(call, x, batch, k, &place))
            return false;
        const int64_t base = k / (tuples / batches) * whole;
        memcpy((uint8_t *)call->out[0]->data + (size_t)k * bytes, (const uint8_t *)x->data + (size_t)(base + place) * size,
               bytes);
    }
    return true;
}

bool net_eval_scatter_nd(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const index = call->in[1];
    const int64_t depth = index->dims ? index->shape[index->dims - 1] : 0;
    if (depth < 1 || depth > (int64_t)x->dims)
        return net_refuse(call->error, "tuples of %lld for data of %u dimensions", (long long)depth, x->dims);
    const int64_t tuples = index->count / depth, slice = net_extent(x->shape, (unsigned)depth, x->dims);
    if (call->in[2]->count != tuples * slice)
        return net_refuse(call->error, "updates do not fit the indices");
    memcpy(call->out[0]->data, x->data, net_array_bytes(x));
    for (int64_t k = 0; k < tuples; k++) {
        int64_t place;
        if (!tuple_place(call, x, 0, k, &place))
            return false;
        for (int64_t e = 0; e < slice; e++)
            update(call, place + e, k * slice + e);
    }
    return true;
}

/* ---- one-hot ---- */

bool net_rule_one_hot(struct net_infer *i)
{
    const struct net_shape *const index = &i->in[0].shape;
    struct net_shape to = {.known = true};
    unsigned axis;
    net_state(i, 0, i->in[2].type, NULL);
    if (!index->known)
        return true;
    if (index->dims + 1 > NET_DIMS_MAX || !net_axis(i, net_attr_int(i->node, "axis", -1), index->dims + 1, &axis))
        return net_refuse(i->error, "axis or dimensions out of range");
    const int64_t depth = i->in[1].constant && i->in[1].constant->count ? net_array_integer(i->in[1].constant, 0) : NET_UNKNOWN;
    if (i->in[1].constant && depth < 0)
        return net_refuse(i->error, "a depth of %lld", (long long)depth);
    for (unsigned d = 0; d <= index->dims; d++)
        to.dim[to.dims++] = d == axis ? depth : index->dim[d < axis ? d : d - 1];
    net_state(i, 0, i->in[2].type, &to);
    return true;
}

bool net_eval_one_hot(struct net_call *call)
{
    const struct net_array *const index = call->in[0], *const values = call->in[2];
    struct net_array *const out = call->out[0];
    const int64_t given = net_attr_int(call->node, "axis", -1);
    const unsigned axis = (unsigned)(given < 0 ? given + out->dims : given);
    const int64_t depth = out->shape[axis], inner = net_extent(out->shape, axis + 1, out->dims);
    const size_t size = net_type_bytes(out->type);
    if (values->count != 2)
        return net_refuse(call->error, "%lld values, not off and on", (long long)values->count);
    for (int64_t k = 0; k < out->count; k++) {
        const int64_t wanted = net_array_integer(index, k / inner / depth * inner + k % inner);
        const int64_t place = wanted < 0 ? wanted + depth : wanted;
        const bool on = place == k / inner % depth;
        memcpy((uint8_t *)out->data + (size_t)k * size, (const uint8_t *)values->data + (on ? size : 0), size);
    }
    return true;
}

bool net_eval_reverse_sequence(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const length = call->in[1];
    const int64_t batch_axis = net_attr_int(call->node, "batch_axis", 1), time_axis = net_attr_int(call->node, "time_axis", 0);
    if (x->dims < 2 || batch_axis + time_axis != 1 || batch_axis < 0 || time_axis < 0 || length->count != x->shape[batch_axis])
        return net_refuse(call->error, "axes or lengths that do not fit");
    const int64_t inner = net_extent(x->shape, 2, x->dims), times = x->shape[time_axis], batches = x->shape[batch_axis];
    const int64_t time_step = time_axis == 0 ? batches : 1, batch_step = time_axis == 0 ? 1 : times;
    const size_t bytes = (size_t)inner * net_type_bytes(x->type);
    for (int64_t b = 0; b < batches; b++) {
        const int64_t turned = net_array_integer(length, b);
        if (turned < 0 || turned > times)
            return net_refuse(call->error, "a sequence of %lld", (long long)turned);
        for (int64_t t = 0; t < times; t++) {
            const int64_t from = t < turned ? turned - 1 - t : t;
            memcpy((uint8_t *)call->out[0]->data + (size_t)(t * time_step + b * batch_step) * bytes,
                   (const uint8_t *)x->data + (size_t)(from * time_step + b * batch_step) * bytes, bytes);
        }
    }
    return true;
}
