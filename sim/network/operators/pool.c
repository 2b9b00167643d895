/* Pools, global pools, MaxUnpool. */
#include "sim/network/operators/families.h"
#include "sim/network/operators/window.h"

#include <math.h>
#include <string.h>

bool net_rule_pool(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct net_window w;
    struct net_shape to = *x;
    if (x->known) {
        if (!net_window_read(i, x, NULL, false, &w))
            return false;
        memcpy(to.dim + 2, w.out, w.dims * sizeof *w.out);
    }
    net_state(i, 0, i->in[0].type, x->known ? &to : NULL);
    net_state(i, 1, NET_I64, x->known ? &to : NULL);
    return true;
}

bool net_rule_global_pool(struct net_infer *i)
{
    struct net_shape to = i->in[0].shape;
    if (to.known && to.dims < 2)
        return net_refuse(i->error, "an input of %u dimensions", to.dims);
    for (unsigned d = 2; d < to.dims; d++)
        to.dim[d] = 1;
    net_state(i, 0, i->in[0].type, to.known ? &to : NULL);
    return true;
}

/* What a window has seen. */
struct seen {
    double top, sum;
    int64_t best, counted, covered; /* elements inside, and with the padding */
};

static struct seen look(const struct net_window *w, const struct net_array *x, int64_t base, const int64_t *out, double p)
{
    struct seen s = {.top = -INFINITY, .best = -1};
    const int64_t taps = net_extent(w->kernel, 0, 3);
    for (int64_t t = 0; t < taps; t++) {
        const int64_t tap[3] = {t / (w->kernel[1] * w->kernel[2]), t / w->kernel[2] % w->kernel[1], t % w->kernel[2]};
        int64_t place = 0;
        bool inside = true, covered = true;
        for (unsigned d = 0; d < 3; d++) {
            const int64_t at = out[d] * w->stride[d] + tap[d] * w->dilation[d] - w->before[d];
            inside = inside && at >= 0 && at < w->in[d];
            covered = covered && at < w->in[d] + w->after[d];
            place = place * w->in[d] + at;
        }
        s.covered += covered;
        if (!inside)
            continue;
        const double a = net_array_double(x, base + place);
        s.counted++;
        s.sum += p == 0 ? a : pow(fabs(a), p);
        if (a > s.top || s.best < 0 || isnan(a)) {
            s.top = a;
            s.best = place;
        }
    }
    return s;
}

/* The place of the largest in the whole input; column-major within a plane when storage_order asks for it. */
static int64_t index_of(const struct net_call *call, const struct net_window *w, int64_t base, int64_t place)
{
    if (!net_attr_int(call->node, "storage_order", 0))
        return base + place;
    const int64_t x = place % w->in[2], y = place / w->in[2] % w->in[1], z = place / (w->in[1] * w->in[2]);
    return base + (x * w->in[1] + y) * w->in[0] + z;
}

bool net_eval_pool(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    struct net_array *const out = call->out[0], *const indices = net_out(call, 1);
    const char kind = *call->node->op;
    const double p = kind == 'L' ? (double)net_attr_int(call->node, "p", 2) : 0;
    const bool padding_counts = net_attr_int(call->node, "count_include_pad", 0) != 0;
    struct net_window w;
    if (!net_window_of(call, NULL, false, &w))
        return false;
    const int64_t in_plane = net_extent(w.in, 0, 3), out_plane = net_extent(w.out, 0, 3), planes = x->shape[0] * x->shape[1];
    for (int64_t k = 0; k < planes * out_plane; k++) {
        const int64_t e = k % out_plane, base = k / out_plane * in_plane;
        const int64_t at[3] = {e / (w.out[1] * w.out[2]), e / w.out[2] % w.out[1], e % w.out[2]};
        const struct seen s = look(&w, x, base, at, p);
        const double count = (double)(padding_counts ? s.covered : s.counted);
        const double y = kind == 'M' ? s.top : kind == 'L' ? pow(s.sum, 1 / p) : s.sum / count;
        if (out)
            net_write_doubles(out->type, out->data, k, 1, &y);
        if (indices)
            ((int64_t *)indices->data)[k] = index_of(call, &w, base, s.best);
    }
    return true;
}

bool net_eval_global_pool(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const char kind = call->node->op[strlen("Global")];
    const int64_t plane = net_extent(x->shape, 2, x->dims);
    const double p = (double)net_attr_int(call->node, "p", 2);
    for (int64_t k = 0; k < call->out[0]->count; k++) {
        double sum = 0, top = -INFINITY;
        for (int64_t e = 0; e < plane; e++) {
            const double a = net_array_double(x, k * plane + e);
            sum += kind == 'L' ? pow(fabs(a), p) : a;
            top = a > top ? a : top;
        }
        const double y = kind == 'M' ? top : kind == 'L' ? pow(sum, 1 / p) : sum / (double)plane;
        net_write_doubles(x->type, call->out[0]->data, k, 1, &y);
    }
    return true;
}

/* ---- the inverse of MaxPool ---- */

bool net_rule_max_unpool(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct net_ints asked;
    struct net_window w;
    bool known;
    net_state(i, 0, i->in[0].type, NULL);
    if (!net_ints_input(i, 2, &asked, &known))
        return false;
    if (!x->known || !known)
        return true;
    struct net_shape to = *x;
    if (!net_window_read(i, x, NULL, false, &w))
        return false;
    for (unsigned d = 0; d < w.dims; d++)
        to.dim[2 + d] =
            x->dim[2 + d] < 0 ? NET_UNKNOWN : (x->dim[2 + d] - 1) * w.stride[d] - w.before[d] - w.after[d] + w.kernel[d];
    if (asked.count) {
        if (asked.count != x->dims)
            return net_refuse(i->error, "output_shape has %u numbers", asked.count);
        to = net_shape_of(asked.at, asked.count);
    }
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* Indices count in the shape that the pool's input had, which is the default one. */
bool net_eval_max_unpool(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const index = call->in[1];
    struct net_array *const out = call->out[0];
    struct net_window w;
    int64_t shape[NET_DIMS_MAX];
    if (index->count != x->count)
        return net_refuse(call->error, "%lld indices", (long long)index->count);
    if (!net_window_of(call, NULL, false, &w))
        return false;
    memcpy(shape, out->shape, sizeof shape);
    for (unsigned d = 2; d < out->dims; d++) {
        const unsigned s = NET_SPATIAL_MAX - (out->dims - 2) + d - 2;
        shape[d] = (x->shape[d] - 1) * w.stride[s] - w.before[s] - w.after[s] + w.kernel[s];
    }
    for (int64_t k = 0; k < x->count; k++) {
        int64_t left = net_array_integer(index, k), place = 0, step = 1;
        for (unsigned d = out->dims; d-- > 0;) {
            const int64_t at = d ? left % shape[d] : left;
            if (at < 0 || at >= out->shape[d])
                return net_refuse(call->error, "an index outside of the result");
            place += at * step;
            step *= out->shape[d];
            left /= shape[d];
        }
        const double y = net_array_double(x, k);
        net_write_doubles(out->type, out->data, place, 1, &y);
    }
    return true;
}
