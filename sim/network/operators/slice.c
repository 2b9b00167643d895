/* Slice and Pad. */
#include "sim/network/operators/families.h"

#include <stdlib.h>
#include <string.h>

/* ---- slice ---- */

struct slice {
    int64_t start[NET_DIMS_MAX], step[NET_DIMS_MAX], count[NET_DIMS_MAX];
};

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* One axis of known length, by the rules of Python. */
static void cut(struct slice *s, unsigned axis, int64_t length, int64_t start, int64_t end, int64_t step)
{
    const int64_t from = clamp(start < 0 && start >= -length ? start + length
                               : start < 0                   ? -1
                                                             : start,
                               step < 0 ? -1 : 0, step < 0 ? length - 1 : length);
    const int64_t to = clamp(end < 0 && end >= -length ? end + length : end < 0 ? -1 : end, step < 0 ? -1 : 0, length);
    const int64_t span = step > 0 ? to - from : from - to;
    const uint64_t pace = step > 0 ? (uint64_t)step : -(uint64_t)step;
    s->start[axis] = from;
    s->step[axis] = step;
    s->count[axis] = span > 0 && from >= 0 && from < length ? (int64_t)(((uint64_t)span - 1) / pace) + 1 : 0;
}

static bool read_slice(struct net_infer *i, const struct net_shape *x, struct slice *s, struct net_shape *to, bool *all_known)
{
    struct net_ints starts, ends, axes, steps;
    bool known[4], seen[NET_DIMS_MAX] = {false};
    if (!net_ints_input(i, 1, &starts, &known[0]) || !net_ints_input(i, 2, &ends, &known[1]) ||
        !net_ints_input(i, 3, &axes, &known[2]) || !net_ints_input(i, 4, &steps, &known[3]))
        return false;
    *all_known = known[2];
    for (unsigned d = 0; d < x->dims; d++) {
        s->start[d] = 0;
        s->step[d] = 1;
        s->count[d] = x->dim[d];
    }
    const bool has_axes = axes.count > 0, has_steps = steps.count > 0;
    if (known[0] && known[1] &&
        (starts.count != ends.count || (has_axes && axes.count != starts.count) || (has_steps && steps.count != starts.count)))
        return net_refuse(i->error, "starts, ends, axes and steps differ in length");
    const unsigned count = has_axes ? axes.count : known[0] ? starts.count : known[1] ? ends.count : x->dims;
    for (unsigned k = 0; known[2] && k < count; k++) {
        unsigned axis;
        if (!net_axis(i, has_axes ? axes.at[k] : (int64_t)k, x->dims, &axis))
            return false;
        if (seen[axis])
            return net_refuse(i->error, "axis %u twice", axis);
        seen[axis] = true;
        if (known[3] && has_steps && steps.at[k] == 0)
            return net_refuse(i->error, "a step of 0");
        if (!known[0] || !known[1] || !known[3] || x->dim[axis] < 0) {
            const bool whole = known[0] && known[1] && known[3] && starts.at[k] == 0 && ends.at[k] >= INT32_MAX &&
                               (!has_steps || steps.at[k] == 1);
            s->count[axis] = whole ? x->dim[axis] : NET_UNKNOWN;
            continue;
        }
        cut(s, axis, x->dim[axis], starts.at[k], ends.at[k], has_steps ? steps.at[k] : 1);
    }
    *to = net_shape_of(s->count, x->dims);
    return true;
}

bool net_rule_slice(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct slice s;
    struct net_shape to = {.known = false};
    bool known;
    net_state(i, 0, i->in[0].type, NULL);
    if (!x->known)
        return true;
    if (!read_slice(i, x, &s, &to, &known))
        return false;
    for (unsigned d = 0; !known && d < to.dims; d++)
        to.dim[d] = NET_UNKNOWN;
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

bool net_eval_slice(struct net_call *call)
{
    struct net_fact fact[5] = {{.present = false}};
    struct net_infer i = {.node = call->node, .in = fact, .inputs = 5, .error = call->error};
    const struct net_array *const x = call->in[0];
    struct slice s;
    struct net_shape to;
    bool known;
    for (size_t k = 0; k < call->inputs && k < 5; k++)
        fact[k] = (struct net_fact){.present = call->in[k] != NULL, .constant = call->in[k]};
    const struct net_shape from = net_shape_of(x->shape, x->dims);
    if (!read_slice(&i, &from, &s, &to, &known))
        return false;
    int64_t stride[NET_DIMS_MAX], first = 0;
    net_strides(x->shape, x->dims, stride);
    for (unsigned d = 0; d < x->dims && call->out[0]->count; d++) {
        first += s.start[d] * stride[d];
        stride[d] *= s.count[d] > 1 ? s.step[d] : 1;
    }
    net_copy_strided(x, first, stride, call->out[0]->shape, x->dims, call->out[0], 0);
    return true;
}

/* ---- pad ---- */

static bool read_pads(struct net_infer *i, unsigned dims, int64_t *before, int64_t *after, bool *known)
{
    struct net_ints pads, axes;
    bool axes_known;
    if (!net_ints_input(i, 1, &pads, known) || !net_ints_input(i, 3, &axes, &axes_known))
        return false;
    *known = *known && axes_known;
    if (!*known)
        return true;
    const unsigned count = net_fact_in(i, 3)->present ? axes.count : dims;
    if (pads.count != 2 * count)
        return net_refuse(i->error, "%u pads for %u axes", pads.count, count);
    memset(before, 0, NET_DIMS_MAX * sizeof *before);
    memset(after, 0, NET_DIMS_MAX * sizeof *after);
    for (unsigned k = 0; k < count; k++) {
        unsigned axis;
        if (!net_axis(i, net_fact_in(i, 3)->present ? axes.at[k] : (int64_t)k, dims, &axis))
            return false;
        if (llabs(pads.at[k]) > INT64_C(1) << 40 || llabs(pads.at[k + count]) > INT64_C(1) << 40)
            return net_refuse(i->error, "a pad of %lld", (long long)pads.at[k]);
        before[axis] = pads.at[k];
        after[axis] = pads.at[k + count];
    }
    return true;
}

bool net_rule_pad(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    int64_t before[NET_DIMS_MAX], after[NET_DIMS_MAX];
    bool known;
    struct net_shape to = *x;
    net_state(i, 0, i->in[0].type, NULL);
    if (!x->known)
        return true;
    if (!read_pads(i, x->dims, before, after, &known))
        return false;
    for (unsigned d = 0; d < x->dims; d++) {
        to.dim[d] = known ? net_dim_plus(x->dim[d], before[d] + after[d]) : NET_UNKNOWN;
        if (known && x->dim[d] >= 0 && to.dim[d] < 0)
            return net_refuse(i->error, "dimension %u is padded to less than nothing", d);
    }
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* Which element of the input stands at `at` of one dimension; -1 = the padding value. */
static int64_t source(char mode, int64_t at, int64_t length)
{
    if (at >= 0 && at < length)
        return at;
    if (length == 0 || mode == 'c')
        return -1;
    if (mode == 'e')
        return at < 0 ? 0 : length - 1;
    if (mode == 'w')
        return (at % length + length) % length;
    if (length == 1)
        return 0;
    const int64_t period = 2 * (length - 1), place = (at % period + period) % period;
    return place < length ? place : period - place;
}

static void pad_rows(const struct net_call *call, const int64_t *before, char mode, const void *value)
{
    const struct net_array *const x = call->in[0];
    struct net_array *const out = call->out[0];
    const size_t size = net_type_bytes(x->type);
    const unsigned last = x->dims - 1;
    int64_t stride[NET_DIMS_MAX];
    net_strides(x->shape, x->dims, stride);
    for (int64_t at = 0; at < out->count; at += out->shape[last]) {
        int64_t from = 0, left = at / out->shape[last];
        for (unsigned d = last; d-- > 0;) {
            const int64_t place = source(mode, left % out->shape[d] - before[d], x->shape[d]);
            from = place < 0 || from < 0 ? -1 : from + place * stride[d];
            left /= out->shape[d];
        }
        for (int64_t k = 0; k < out->shape[last]; k++) {
            const int64_t place = from < 0 ? -1 : source(mode, k - before[last], x->shape[last]);
            memcpy((uint8_t *)out->data + (size_t)(at + k) * size,
                   place < 0 ? value : (const uint8_t *)x->data + (size_t)(from + place) * size, size);
        }
    }
}

bool net_eval_pad(struct net_call *call)
{
    struct net_fact fact[4] = {{.present = false}};
    struct net_infer i = {.node = call->node, .in = fact, .inputs = 4, .error = call->error};
    int64_t before[NET_DIMS_MAX], after[NET_DIMS_MAX];
    bool known;
    for (size_t k = 0; k < call->inputs && k < 4; k++)
        fact[k] = (struct net_fact){.present = call->in[k] != NULL, .constant = call->in[k]};
    if (!read_pads(&i, call->in[0]->dims, before, after, &known))
        return false;
    const char *const mode = net_attr_text(call->node, "mode", "constant");
    static const uint8_t zeros[8];
    const struct net_array *const value = net_in(call, 2);
    if (value && (value->type != call->in[0]->type || value->count < 1))
        return net_refuse(call->error, "the padding value is no %s", net_type_name(call->in[0]->type));
    if (call->in[0]->dims == 0) {
        memcpy(call->out[0]->data, call->in[0]->data, net_array_bytes(call->in[0]));
        return true;
    }
    if (call->out[0]->count)
        pad_rows(call, before, *mode, value ? value->data : zeros);
    return true;
}
