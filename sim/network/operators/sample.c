/* Elements taken from places that are computed, and put back to where they came from: DeformConv, Col2Im, TensorScatter. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A list of the node, or `missing` for each of `count` numbers. */
static bool read_list(const struct net_node *node, const char *name, unsigned count, int64_t missing, int64_t *list,
                      struct orch_error *error)
{
    size_t given;
    const int64_t *const numbers = net_attr_ints(node, name, &given);
    for (unsigned k = 0; k < count; k++) {
        list[k] = numbers && k < given ? numbers[k] : missing;
        if (list[k] < missing || list[k] > 1 << 20)
            return net_refuse(error, "%s of %lld", name, (long long)list[k]);
    }
    return !numbers || given == count || net_refuse(error, "%zu %s; expected %u", given, name, count);
}

/* ---- convolutions whose taps are moved ---- */

enum { X, W, OFFSET, BIAS, MASK };

struct deform {
    int64_t strides[2], dilations[2], pads[4];
    int64_t groups, offset_groups;
};

static bool read_deform(const struct net_node *node, struct deform *d, struct orch_error *error)
{
    d->groups = net_attr_int(node, "group", 1);
    d->offset_groups = net_attr_int(node, "offset_group", 1);
    return read_list(node, "strides", 2, 1, d->strides, error) && read_list(node, "dilations", 2, 1, d->dilations, error) &&
           read_list(node, "pads", 4, 0, d->pads, error);
}

/* So that products of sizes are numbers. */
static bool is_possible(const struct deform *d, const struct net_shape *x, const struct net_shape *w)
{
    enum { MOST = 1 << 20 };
    bool ok = d->groups >= 1 && d->groups <= MOST && d->offset_groups >= 1 && d->offset_groups <= MOST;
    for (unsigned k = 0; k < 4; k++)
        ok = ok && x->dim[k] <= INT64_C(1) << 40 && w->dim[k] <= MOST;
    return ok;
}

/* Whether the offsets are two for each tap, group and result, and the mask one. */
static bool fit_offsets(struct net_infer *i, const struct deform *d, const struct net_shape *x, const struct net_shape *w)
{
    const struct net_shape *const offset = &i->in[OFFSET].shape, *const mask = &net_fact_in(i, MASK)->shape;
    if (!is_possible(d, x, w))
        return net_refuse(i->error, "sizes or groups beyond what is possible");
    const int64_t taps = w->dim[2] * w->dim[3];
    if (x->dim[1] != w->dim[1] * d->groups || w->dim[0] % d->groups || x->dim[1] % d->offset_groups)
        return net_refuse(i->error, "%lld channels in %lld groups (%lld of offsets), %lld by %lld filters", (long long)x->dim[1],
                          (long long)d->groups, (long long)d->offset_groups, (long long)w->dim[0], (long long)w->dim[1]);
    if (offset->dim[1] != 2 * taps * d->offset_groups || offset->dim[0] != x->dim[0])
        return net_refuse(i->error, "%lld offsets for %lld taps", (long long)offset->dim[1],
                          (long long)(taps * d->offset_groups));
    for (unsigned k = 0; k < 2; k++) {
        const int64_t wide = x->dim[2 + k] + d->pads[k] + d->pads[2 + k] - (w->dim[2 + k] - 1) * d->dilations[k];
        if (wide < 1 || (wide - 1) / d->strides[k] + 1 != offset->dim[2 + k])
            return net_refuse(i->error, "offsets for %lld places of axis %u, which has others", (long long)offset->dim[2 + k],
                              2 + k);
    }
    return !mask->known ||
           (mask->dims == 4 && mask->dim[0] == offset->dim[0] && mask->dim[1] == taps * d->offset_groups &&
            mask->dim[2] == offset->dim[2] && mask->dim[3] == offset->dim[3]) ||
           net_refuse(i->error, "a mask of another shape than the offsets");
}

bool net_rule_deform_conv(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[X].shape, *const w = &i->in[W].shape, *const offset = &i->in[OFFSET].shape;
    struct deform d;
    net_state(i, 0, i->in[X].type, NULL);
    if (!read_deform(i->node, &d, i->error))
        return false;
    if (!x->known || !w->known || !offset->known)
        return true;
    if (x->dims != 4 || w->dims != 4 || offset->dims != 4)
        return orch_fail(i->error, ORCH_UNMODELLED, "inputs that do not have 4 dimensions");
    const struct net_shape to = net_shape_of((const int64_t[]){x->dim[0], w->dim[0], offset->dim[2], offset->dim[3]}, 4);
    net_state(i, 0, i->in[X].type, &to);
    return !net_shape_complete(x) || !net_shape_complete(w) || !net_shape_complete(offset) || fit_offsets(i, &d, x, w);
}

static double at(const double *plane, const int64_t *size, int64_t row, int64_t column)
{
    return row < 0 || row >= size[0] || column < 0 || column >= size[1] ? 0 : plane[row * size[1] + column];
}

static double mixed(const double *plane, const int64_t *size, double y, double x)
{
    const double row = floor(y), column = floor(x), v = y - row, u = x - column;
    if (!(y > -1 && y < (double)size[0] && x > -1 && x < (double)size[1]))
        return 0;
    const int64_t r = (int64_t)row, c = (int64_t)column;
    return (1 - v) * ((1 - u) * at(plane, size, r, c) + u * at(plane, size, r, c + 1)) +
           v * ((1 - u) * at(plane, size, r + 1, c) + u * at(plane, size, r + 1, c + 1));
}

/* What each filter sees at one place of the result: [channel][tap]. */
static void see(const struct net_call *call, const struct deform *d, const double *x, int64_t n, int64_t place, double *seen)
{
    const struct net_array *const a = call->in[X], *const w = call->in[W], *const offset = call->in[OFFSET];
    const struct net_array *const mask = net_in(call, MASK);
    const int64_t taps = w->shape[2] * w->shape[3], wide = offset->shape[3], places = offset->shape[2] * wide;
    const int64_t each = a->shape[1] / d->offset_groups;
    for (int64_t c = 0; c < a->shape[1]; c++)
        for (int64_t t = 0; t < taps; t++) {
            const int64_t tap = (n * d->offset_groups + c / each) * taps + t;
            const double y = (double)(place / wide * d->strides[0] - d->pads[0] + t / w->shape[3] * d->dilations[0]) +
                             net_array_double(offset, 2 * tap * places + place);
            const double z = (double)(place % wide * d->strides[1] - d->pads[1] + t % w->shape[3] * d->dilations[1]) +
                             net_array_double(offset, (2 * tap + 1) * places + place);
            const double *const plane = x + (n * a->shape[1] + c) * a->shape[2] * a->shape[3];
            seen[c * taps + t] = mixed(plane, &a->shape[2], y, z) * (mask ? net_array_double(mask, tap * places + place) : 1);
        }
}

bool net_eval_deform_conv(struct net_call *call)
{
    const struct net_array *const w = call->in[W], *const bias = net_in(call, BIAS);
    struct net_array *const out = call->out[0];
    struct deform d;
    if (!read_deform(call->node, &d, call->error))
        return false;
    const int64_t row = w->shape[1] * w->shape[2] * w->shape[3], filters = w->shape[0], places = out->shape[2] * out->shape[3];
    double *const x = net_doubles(call->in[X], call->error), *const weight = net_doubles(w, call->error);
    double *const seen = calloc((size_t)(row * d.groups + 1), sizeof *seen);
    const bool ok = x && weight && (seen || orch_no_memory(call->error));
    for (int64_t k = 0; ok && k < out->shape[0] * places; k++) {
        const int64_t n = k / places, place = k % places;
        see(call, &d, x, n, place, seen);
        for (int64_t f = 0; f < filters; f++) {
            const double *const mine = seen + f / (filters / d.groups) * row;
            double sum = bias ? net_array_double(bias, f) : 0;
            for (int64_t t = 0; t < row; t++)
                sum += weight[f * row + t] * mine[t];
            net_write_doubles(out->type, out->data, (n * filters + f) * places + place, 1, &sum);
        }
    }
    free(x);
    free(weight);
    free(seen);
    return ok;
}

/* ---- columns of windows added up as images ---- */

struct windows {
    unsigned dims;
    int64_t image[NET_DIMS_MAX], block[NET_DIMS_MAX], steps[NET_DIMS_MAX];
    int64_t strides[NET_DIMS_MAX], dilations[NET_DIMS_MAX], pads[2 * NET_DIMS_MAX];
    int64_t taps, places;
};

static bool read_windows(const struct net_node *node, const struct net_ints *image, const struct net_ints *block,
                         struct windows *v, struct orch_error *error)
{
    v->dims = image->count;
    v->taps = v->places = 1;
    if (v->dims < 1 || v->dims + 2 > NET_DIMS_MAX || block->count != v->dims)
        return net_refuse(error, "images of %u dimensions and blocks of %u", image->count, block->count);
    if (!read_list(node, "strides", v->dims, 1, v->strides, error) ||
        !read_list(node, "dilations", v->dims, 1, v->dilations, error) ||
        !read_list(node, "pads", 2 * v->dims, 0, v->pads, error))
        return false;
    for (unsigned k = 0; k < v->dims; k++) {
        v->image[k] = image->at[k];
        v->block[k] = block->at[k];
        if (v->image[k] < 1 || v->block[k] < 1 || v->image[k] > 1 << 20 || v->block[k] > 1 << 20)
            return net_refuse(error, "an image of %lld and a block of %lld", (long long)v->image[k], (long long)v->block[k]);
        const int64_t wide = v->image[k] + v->pads[k] + v->pads[v->dims + k] - (v->block[k] - 1) * v->dilations[k];
        if (wide < 1)
            return net_refuse(error, "a block of %lld that is larger than the image of %lld", (long long)v->block[k],
                              (long long)v->image[k]);
        v->steps[k] = (wide - 1) / v->strides[k] + 1;
        v->taps *= v->block[k];
        v->places *= v->steps[k];
        if (v->taps > 1 << 24 || v->places > INT64_C(1) << 32)
            return net_refuse(error, "windows of more elements than are possible");
    }
    return true;
}

bool net_rule_col2im(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct net_ints image, block;
    struct windows v;
    bool has_image, has_block;
    net_state(i, 0, i->in[0].type, NULL);
    if (!net_ints_input(i, 1, &image, &has_image) || !net_ints_input(i, 2, &block, &has_block))
        return false;
    if (!has_image || !has_block || !x->known)
        return true;
    if (!read_windows(i->node, &image, &block, &v, i->error))
        return false;
    if (x->dims != 3 || (x->dim[1] >= 0 && x->dim[1] % v.taps) || (x->dim[2] >= 0 && x->dim[2] != v.places))
        return net_refuse(i->error, "columns that are not %lld windows of %lld elements", (long long)v.places, (long long)v.taps);
    struct net_shape to = {.known = true, .dims = v.dims + 2};
    to.dim[0] = x->dim[0];
    to.dim[1] = x->dim[1] < 0 ? NET_UNKNOWN : x->dim[1] / v.taps;
    memcpy(to.dim + 2, v.image, v.dims * sizeof *v.image);
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* Where tap `tap` of window `place` lies in an image; -1 = in its border. */
static int64_t pixel_of(const struct windows *v, int64_t tap, int64_t place)
{
    int64_t pixel = 0, each = 1;
    for (unsigned k = v->dims; k-- > 0; tap /= v->block[k], place /= v->steps[k]) {
        const int64_t on = place % v->steps[k] * v->strides[k] - v->pads[k] + tap % v->block[k] * v->dilations[k];
        if (on < 0 || on >= v->image[k])
            return -1;
        pixel += on * each;
        each *= v->image[k];
    }
    return pixel;
}

bool net_eval_col2im(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    struct net_array *const out = call->out[0];
    struct net_ints image = {.count = (unsigned)call->in[1]->count}, block = {.count = (unsigned)call->in[2]->count};
    struct windows v;
    for (unsigned k = 0; k < image.count && k < NET_DIMS_MAX; k++)
        image.at[k] = net_array_integer(call->in[1], k);
    for (unsigned k = 0; k < block.count && k < NET_DIMS_MAX; k++)
        block.at[k] = net_array_integer(call->in[2], k);
    if (!read_windows(call->node, &image, &block, &v, call->error))
        return false;
    const int64_t pixels = net_extent(out->shape, 2, out->dims);
    double *const sum = calloc((size_t)out->count + 1, sizeof *sum), *const from = net_doubles(x, call->error);
    const bool ok = from && (sum || orch_no_memory(call->error));
    for (int64_t k = 0; ok && k < x->count; k++) {
        const int64_t place = k % v.places, tap = k / v.places % v.taps, plane = k / v.places / v.taps;
        const int64_t pixel = pixel_of(&v, tap, place);
        if (pixel >= 0)
            sum[plane * pixels + pixel] += from[k];
    }
    if (ok)
        net_write_doubles(out->type, out->data, 0, (size_t)out->count, sum);
    free(sum);
    free(from);
    return ok;
}

/* ---- new places of a cache ---- */

static bool read_cache_axis(const struct net_node *node, const struct net_shape *past, const struct net_shape *update,
                            unsigned *axis, struct orch_error *error)
{
    const int64_t given = net_attr_int(node, "axis", -2), from = given < 0 ? given + past->dims : given;
    bool fits = from > 0 && from < (int64_t)past->dims && update->dims == past->dims;
    for (unsigned d = 0; fits && d < past->dims; d++)
        fits = past->dim[d] < 0 || update->dim[d] < 0 ||
               (d == (unsigned)from ? update->dim[d] <= past->dim[d] : update->dim[d] == past->dim[d]);
    *axis = (unsigned)from;
    return fits || net_refuse(error, "an update that does not fit what is kept, along axis %lld", (long long)given);
}

bool net_rule_tensor_scatter(struct net_infer *i)
{
    const struct net_shape *const past = &i->in[0].shape, *const update = &i->in[1].shape;
    unsigned axis;
    net_state(i, 0, i->in[0].type, past);
    return !past->known || !update->known || read_cache_axis(i->node, past, update, &axis, i->error);
}

bool net_eval_tensor_scatter(struct net_call *call)
{
    const struct net_array *const past = call->in[0], *const update = call->in[1], *const first = net_in(call, 2);
    struct net_array *const out = call->out[0];
    const struct net_shape kept = net_shape_of(past->shape, past->dims), more = net_shape_of(update->shape, update->dims);
    const bool circular = strcmp(net_attr_text(call->node, "mode", "linear"), "circular") == 0;
    unsigned axis;
    if (!read_cache_axis(call->node, &kept, &more, &axis, call->error) || update->type != past->type)
        return net_refuse(call->error, "an update of another type");
    if (first && first->count != past->shape[0])
        return net_refuse(call->error, "%lld places for a batch of %lld", (long long)first->count, (long long)past->shape[0]);
    const int64_t most = past->shape[axis], now = update->shape[axis];
    const int64_t rows = net_extent(past->shape, 0, axis), each = rows / (past->shape[0] ? past->shape[0] : 1);
    const size_t bytes = net_type_bytes(past->type) * (size_t)net_extent(past->shape, axis + 1, past->dims);
    memcpy(out->data, past->data, net_array_bytes(past));
    for (int64_t k = 0; k < rows * now; k++) {
        const int64_t row = k / now, begin = first ? net_array_integer(first, row / each) : 0, to = begin + k % now;
        if (begin < 0 || (!circular && to >= most))
            return net_refuse(call->error, "place %lld of %lld", (long long)to, (long long)most);
        memcpy((char *)out->data + (size_t)(row * most + to % most) * bytes, (const char *)update->data + (size_t)k * bytes,
               bytes);
    }
    return true;
}
