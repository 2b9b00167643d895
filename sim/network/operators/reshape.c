/* Operators that give the same elements another shape. */
#include "sim/network/operators/families.h"

#include <string.h>

/* Shares the elements of the first input under the shape that the rule has stated. */
bool net_eval_view(struct net_call *call)
{
    if (call->outputs && call->fact[0].present) {
        call->out[0] = net_array_view(call->in[0], call->fact[0].shape.dim, call->fact[0].shape.dims, call->error);
        if (!call->out[0])
            return false;
    }
    return true;
}

/* Dropout at inference: the same numbers, and a mask that keeps all. */
bool net_rule_dropout(struct net_infer *i)
{
    const struct net_fact *const training = net_fact_in(i, 2), *const ratio = net_fact_in(i, 1);
    const bool none = ratio->constant && net_array_double(ratio->constant, 0) == 0;
    if (training->constant && net_array_integer(training->constant, 0) && !none)
        return orch_fail(i->error, ORCH_UNMODELLED, "training mode");
    net_state(i, 1, NET_BOOL, i->in[0].shape.known ? &i->in[0].shape : NULL);
    return net_rule_same(i);
}

bool net_eval_dropout(struct net_call *call)
{
    if (call->outputs > 1 && call->fact[1].present) {
        if (!net_make_output(call, 1, NET_BOOL, call->in[0]->shape, call->in[0]->dims))
            return false;
        memset(call->out[1]->data, 1, (size_t)call->out[1]->count);
    }
    return net_eval_view(call);
}

static bool reshape_target(struct net_infer *i, const struct net_shape *from, const struct net_ints *want, struct net_shape *to)
{
    const bool allow_zero = net_attr_int(i->node, "allowzero", 0) != 0;
    int open = -1;
    if (want->count > NET_DIMS_MAX)
        return net_refuse(i->error, "a shape of %u dimensions", want->count);
    *to = (struct net_shape){.known = true, .dims = want->count};
    for (unsigned d = 0; d < want->count; d++) {
        to->dim[d] = want->at[d];
        if (want->at[d] == 0 && !allow_zero) {
            if (!from->known)
                to->dim[d] = NET_UNKNOWN;
            else if (d >= from->dims)
                return net_refuse(i->error, "dimension %u of the shape is 0, but the input has only %u", d, from->dims);
            else
                to->dim[d] = from->dim[d];
        } else if (want->at[d] == -1) {
            if (open >= 0)
                return net_refuse(i->error, "two dimensions of the shape are -1");
            open = (int)d;
        } else if (want->at[d] < 0) {
            return net_refuse(i->error, "dimension %lld", (long long)want->at[d]);
        }
    }
    if (open < 0)
        return true;
    to->dim[open] = 1;
    const int64_t all = from->known ? net_product(from, 0, from->dims) : NET_UNKNOWN, rest = net_product(to, 0, to->dims);
    to->dim[open] = all >= 0 && rest > 0 ? all / rest : rest == 0 && all == 0 ? 0 : NET_UNKNOWN;
    return true;
}

bool net_rule_reshape(struct net_infer *i)
{
    struct net_ints want;
    struct net_shape to = {.known = false};
    bool known;
    const struct net_fact *const x = &i->in[0], *const shape = &i->in[1];
    if (!net_ints_input(i, 1, &want, &known))
        return false;
    if (known) {
        if (!reshape_target(i, &x->shape, &want, &to))
            return false;
        const int64_t before = x->shape.known && net_shape_complete(&x->shape) ? net_product(&x->shape, 0, x->shape.dims) : -1;
        const int64_t after = net_shape_complete(&to) ? net_product(&to, 0, to.dims) : -1;
        if (before >= 0 && after >= 0 && before != after)
            return net_refuse(i->error, "%lld elements do not fit a shape of %lld", (long long)before, (long long)after);
    } else if (shape->shape.known && shape->shape.dims == 1 && shape->shape.dim[0] >= 0 && shape->shape.dim[0] <= NET_DIMS_MAX) {
        to = (struct net_shape){.known = true, .dims = (unsigned)shape->shape.dim[0]};
        for (unsigned d = 0; d < to.dims; d++)
            to.dim[d] = NET_UNKNOWN;
    }
    net_state(i, 0, x->type, to.known ? &to : NULL);
    return true;
}

bool net_rule_flatten(struct net_infer *i)
{
    const struct net_shape *const s = &i->in[0].shape;
    unsigned axis = 0;
    const int64_t given = net_attr_int(i->node, "axis", 1);
    if (!s->known) {
        const struct net_shape two = net_shape_of((const int64_t[]){NET_UNKNOWN, NET_UNKNOWN}, 2);
        net_state(i, 0, i->in[0].type, &two);
        return true;
    }
    if (given == (int64_t)s->dims)
        axis = s->dims;
    else if (!net_axis(i, given, s->dims, &axis))
        return false;
    const int64_t dim[2] = {net_product(s, 0, axis), net_product(s, axis, s->dims)};
    const struct net_shape two = net_shape_of(dim, 2);
    net_state(i, 0, i->in[0].type, &two);
    return true;
}

bool net_rule_squeeze(struct net_infer *i)
{
    struct net_ints axes;
    bool known, drop[NET_DIMS_MAX] = {false};
    const struct net_shape *const s = &i->in[0].shape;
    struct net_shape to = {.known = true};
    if (!net_ints_input(i, 1, &axes, &known))
        return false;
    net_state(i, 0, i->in[0].type, NULL);
    if (!s->known || !known)
        return true;
    for (unsigned k = 0; k < axes.count; k++) {
        unsigned axis;
        if (!net_axis(i, axes.at[k], s->dims, &axis))
            return false;
        if (s->dim[axis] > 1 || s->dim[axis] == 0)
            return net_refuse(i->error, "dimension %u is %lld and cannot be dropped", axis, (long long)s->dim[axis]);
        drop[axis] = true;
    }
    for (unsigned d = 0; d < s->dims; d++) {
        if (!i->in[1 % i->inputs].present || i->inputs < 2)
            drop[d] = s->dim[d] == 1;
        if (!drop[d])
            to.dim[to.dims++] = s->dim[d];
    }
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

bool net_rule_unsqueeze(struct net_infer *i)
{
    struct net_ints axes;
    bool known, added[NET_DIMS_MAX] = {false};
    const struct net_shape *const s = &i->in[0].shape;
    if (!net_ints_input(i, 1, &axes, &known))
        return false;
    net_state(i, 0, i->in[0].type, NULL);
    if (!s->known || !known)
        return true;
    const unsigned dims = s->dims + axes.count;
    if (dims > NET_DIMS_MAX)
        return net_refuse(i->error, "%u dimensions", dims);
    for (unsigned k = 0; k < axes.count; k++) {
        unsigned axis;
        if (!net_axis(i, axes.at[k], dims, &axis))
            return false;
        if (added[axis])
            return net_refuse(i->error, "axis %u twice", axis);
        added[axis] = true;
    }
    struct net_shape to = {.known = true, .dims = dims};
    for (unsigned d = 0, from = 0; d < dims; d++)
        to.dim[d] = added[d] ? 1 : s->dim[from++];
    net_state(i, 0, i->in[0].type, &to);
    return true;
}
