/* Operators of detection networks: NonMaxSuppression, RoiAlign, GridSample. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- boxes that overlap ---- */

bool net_rule_nms(struct net_infer *i)
{
    const struct net_shape to = net_shape_of((const int64_t[]){NET_UNKNOWN, 3}, 2);
    net_state(i, 0, NET_I64, &to);
    return true;
}

struct box {
    double low[2], high[2];
};

static struct box read_box(const struct net_call *call, int64_t at)
{
    double n[4];
    struct box b;
    net_read_doubles(call->in[0]->type, call->in[0]->data, 4 * at, 1, 4, n);
    for (unsigned d = 0; d < 2; d++) {
        if (net_attr_int(call->node, "center_point_box", 0)) {
            b.low[d] = n[d] - n[2 + d] / 2;
            b.high[d] = n[d] + n[2 + d] / 2;
        } else {
            b.low[d] = fmin(n[d], n[2 + d]);
            b.high[d] = fmax(n[d], n[2 + d]);
        }
    }
    return b;
}

static double overlap(const struct box *a, const struct box *b)
{
    double both = 1, one = 1, other = 1;
    for (unsigned d = 0; d < 2; d++) {
        both *= fmax(0, fmin(a->high[d], b->high[d]) - fmax(a->low[d], b->low[d]));
        one *= a->high[d] - a->low[d];
        other *= b->high[d] - b->low[d];
    }
    const double all = one + other - both;
    return all > 0 ? both / all : 0;
}

struct scored {
    double score;
    int64_t box;
};

static int by_score(const void *a, const void *b)
{
    const struct scored *const x = a, *const y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->box > y->box) - (x->box < y->box);
}

/* Boxes of one class of one batch that stay; `kept` has room for all. */
static int64_t suppress(const struct net_call *call, int64_t batch, int64_t row, int64_t boxes, struct scored *list,
                        int64_t *kept)
{
    const struct net_array *const most = net_in(call, 2), *const limit = net_in(call, 3), *const least = net_in(call, 4);
    const int64_t wanted = most && most->count ? net_array_integer(most, 0) : 0;
    const double threshold = limit && limit->count ? net_array_double(limit, 0) : 0;
    int64_t candidates = 0, count = 0;
    for (int64_t k = 0; k < boxes; k++) {
        const double score = net_array_double(call->in[1], row * boxes + k);
        if (!least || least->count == 0 || score > net_array_double(least, 0))
            list[candidates++] = (struct scored){score, k};
    }
    qsort(list, (size_t)candidates, sizeof *list, by_score);
    for (int64_t k = 0; k < candidates && count < wanted; k++) {
        const struct box one = read_box(call, batch * boxes + list[k].box);
        bool stays = true;
        for (int64_t e = 0; stays && e < count; e++) {
            const struct box other = read_box(call, batch * boxes + kept[e]);
            stays = overlap(&one, &other) <= threshold;
        }
        if (stays)
            kept[count++] = list[k].box;
    }
    return count;
}

bool net_eval_nms(struct net_call *call)
{
    const struct net_array *const b = call->in[0], *const s = call->in[1];
    if (b->dims != 3 || s->dims != 3 || b->shape[2] != 4 || b->shape[0] != s->shape[0] || b->shape[1] != s->shape[2])
        return net_refuse(call->error, "boxes and scores do not fit");
    const int64_t boxes = b->shape[1], classes = s->shape[1], rows = s->shape[0] * classes;
    struct scored *const list = malloc(((size_t)boxes + 1) * sizeof *list);
    int64_t *const kept = malloc(((size_t)boxes + 1) * sizeof *kept), *found = NULL, count = 0;
    bool ok = list && kept;
    for (int64_t row = 0; ok && row < rows; row++) {
        const int64_t more = suppress(call, row / classes, row, boxes, list, kept);
        int64_t *const grown = realloc(found, 3 * (size_t)(count + more + 1) * sizeof *found);
        ok = grown != NULL;
        found = ok ? grown : found;
        for (int64_t k = 0; ok && k < more; k++, count++) {
            found[3 * count] = row / classes;
            found[3 * count + 1] = row % classes;
            found[3 * count + 2] = kept[k];
        }
    }
    if (!ok)
        orch_no_memory(call->error);
    ok = ok && net_make_output(call, 0, NET_I64, (const int64_t[]){count, 3}, 2);
    if (ok && count)
        memcpy(call->out[0]->data, found, 3 * (size_t)count * sizeof *found);
    free(list);
    free(kept);
    free(found);
    return ok;
}

/* ---- regions of interest ---- */

bool net_rule_roi_align(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape, *const rois = &i->in[1].shape;
    const int64_t h = net_attr_int(i->node, "output_height", 1), w = net_attr_int(i->node, "output_width", 1);
    if (h < 1 || w < 1 || h > 1 << 20 || w > 1 << 20)
        return net_refuse(i->error, "a result of %lld by %lld", (long long)h, (long long)w);
    if (x->known && x->dims != 4)
        return net_refuse(i->error, "an input of %u dimensions", x->dims);
    const struct net_shape to = net_shape_of(
        (const int64_t[]){rois->known && rois->dims ? rois->dim[0] : NET_UNKNOWN, x->known ? x->dim[1] : NET_UNKNOWN, h, w}, 4);
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

static double pixel(const struct net_array *x, int64_t plane, int64_t row, int64_t column)
{
    return net_array_double(x, (plane * x->shape[2] + row) * x->shape[3] + column);
}

/* Bilinear; also the largest of the four weighted neighbours, which the mode "max" of RoiAlign takes. */
static double sample(const struct net_array *x, int64_t plane, double row, double column, double *largest)
{
    const int64_t h = x->shape[2], w = x->shape[3];
    *largest = 0;
    if (row < -1 || row > (double)h || column < -1 || column > (double)w)
        return 0;
    row = row <= 0 ? 0 : row;
    column = column <= 0 ? 0 : column;
    int64_t r = (int64_t)row, c = (int64_t)column;
    if (r >= h - 1)
        row = (double)(r = h - 1);
    if (c >= w - 1)
        column = (double)(c = w - 1);
    const int64_t r2 = r + 1 < h ? r + 1 : r, c2 = c + 1 < w ? c + 1 : c;
    const double a = row - (double)r, b = column - (double)c;
    const double part[4] = {(1 - a) * (1 - b) * pixel(x, plane, r, c), (1 - a) * b * pixel(x, plane, r, c2),
                            a * (1 - b) * pixel(x, plane, r2, c), a * b * pixel(x, plane, r2, c2)};
    *largest = fmax(fmax(part[0], part[1]), fmax(part[2], part[3]));
    return part[0] + part[1] + part[2] + part[3];
}

struct region {
    double row, column, height, width; /* of the first bin, and of each */
    int64_t row_samples, column_samples;
};

static struct region read_region(const struct net_call *call, int64_t roi)
{
    const double scale = net_attr_real(call->node, "spatial_scale", 1);
    const bool half = strcmp(net_attr_text(call->node, "coordinate_transformation_mode", "half_pixel"), "half_pixel") == 0;
    const int64_t h = call->out[0]->shape[2], w = call->out[0]->shape[3], ratio = net_attr_int(call->node, "sampling_ratio", 0);
    double n[4];
    net_read_doubles(call->in[1]->type, call->in[1]->data, 4 * roi, 1, 4, n);
    const double offset = half && call->node->version >= 16 ? 0.5 : 0;
    double width = (n[2] - n[0]) * scale, height = (n[3] - n[1]) * scale;
    if (offset == 0) {
        width = fmax(width, 1);
        height = fmax(height, 1);
    }
    struct region r = {n[1] * scale - offset, n[0] * scale - offset, height / (double)h, width / (double)w, ratio, ratio};
    if (ratio <= 0) {
        r.row_samples = (int64_t)fmin(1024, ceil(fmax(1, r.height)));
        r.column_samples = (int64_t)fmin(1024, ceil(fmax(1, r.width)));
    }
    return r;
}

bool net_eval_roi_align(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const batch = call->in[2];
    struct net_array *const out = call->out[0];
    const bool largest = strcmp(net_attr_text(call->node, "mode", "avg"), "max") == 0;
    const int64_t h = out->shape[2], w = out->shape[3], channels = x->shape[1];
    if (call->in[1]->count != 4 * out->shape[0] || batch->count != out->shape[0] ||
        net_attr_int(call->node, "sampling_ratio", 0) > 1024)
        return net_refuse(call->error, "regions and batches do not fit");
    for (int64_t k = 0; k < out->count; k++) {
        const int64_t roi = k / (channels * h * w), bin_row = k / w % h, bin_column = k % w;
        const int64_t image = net_array_integer(batch, roi);
        const struct region r = read_region(call, roi);
        double sum = 0, top = -INFINITY, one;
        if (image < 0 || image >= x->shape[0])
            return net_refuse(call->error, "batch %lld of %lld", (long long)image, (long long)x->shape[0]);
        for (int64_t s = 0; s < r.row_samples * r.column_samples; s++) {
            const double row =
                r.row + ((double)bin_row + ((double)(s / r.column_samples) + 0.5) / (double)r.row_samples) * r.height;
            const double column =
                r.column + ((double)bin_column + ((double)(s % r.column_samples) + 0.5) / (double)r.column_samples) * r.width;
            sum += sample(x, image * channels + k / (h * w) % channels, row, column, &one);
            top = fmax(top, one);
        }
        const double y = largest ? top : sum / (double)(r.row_samples * r.column_samples);
        net_write_doubles(out->type, out->data, k, 1, &y);
    }
    return true;
}

/* ---- sampling at given places ---- */

enum { AXES_MAX = 3 };

bool net_rule_grid_sample(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape, *const grid = &i->in[1].shape;
    const unsigned dims = x->known ? x->dims : grid->known ? grid->dims : 0;
    struct net_shape to = {.known = dims > 0, .dims = dims};
    net_state(i, 0, i->in[0].type, NULL);
    if (!dims)
        return true;
    if (dims < 4 || dims > 2 + AXES_MAX || (x->known && grid->known && grid->dims != dims))
        return orch_fail(i->error, ORCH_UNMODELLED, "inputs that do not both have 4 or 5 dimensions");
    if (dims > 4 && *net_attr_text(i->node, "mode", "linear") == 'c')
        return orch_fail(i->error, ORCH_UNMODELLED, "cubic samples of volumes");
    for (unsigned d = 0; d < 2; d++)
        to.dim[d] = x->known ? x->dim[d] : NET_UNKNOWN;
    for (unsigned d = 2; d < dims; d++)
        to.dim[d] = grid->known ? grid->dim[d - 1] : NET_UNKNOWN;
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* A place outside by the padding mode: at the border, or reflected there. */
static double padded(double x, int64_t length, char mode, bool corners)
{
    const double low = corners ? 0 : -0.5, high = corners ? (double)length - 1 : (double)length - 0.5, span = high - low;
    if (mode == 'b')
        return fmax(0, fmin(x, (double)length - 1));
    if (mode != 'r' || !isfinite(x))
        return x;
    if (span <= 0)
        return 0;
    const double turn = fmod(fabs(x - low), 2 * span);
    return turn > span ? 2 * span - turn + low : turn + low;
}

static double tap(const struct net_array *x, int64_t plane, const double *place, char mode, bool corners)
{
    int64_t at = plane;
    for (unsigned d = 0; d + 2 < x->dims; d++) {
        const double on = padded(place[d], x->shape[2 + d], mode, corners);
        if (!(on >= 0 && on < (double)x->shape[2 + d]))
            return 0;
        at = at * x->shape[2 + d] + (int64_t)on;
    }
    return net_array_double(x, at);
}

static double weight(double distance, char how)
{
    const double d = fabs(distance), a = -0.75;
    if (how == 'l')
        return fmax(0, 1 - d);
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* The neighbours of a place, two along each axis or four, by their distances. */
static double mixed_taps(const struct net_array *x, int64_t plane, const double *place, char how, char mode, bool corners)
{
    const unsigned axes = x->dims - 2, each = how == 'c' ? 4 : 2;
    double sum = 0;
    unsigned all = 1;
    for (unsigned d = 0; d < axes; d++)
        all *= each;
    for (unsigned k = 0; k < all; k++) {
        double on[AXES_MAX], share = 1;
        for (unsigned d = axes, left = k; d-- > 0; left /= each) {
            on[d] = floor(place[d]) + (double)(left % each) - (double)(each / 2 - 1);
            share *= weight(place[d] - on[d], how);
        }
        sum += share * tap(x, plane, on, mode, corners);
    }
    return sum;
}

bool net_eval_grid_sample(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const grid = call->in[1];
    struct net_array *const out = call->out[0];
    const bool corners = net_attr_int(call->node, "align_corners", 0) != 0;
    const char how = *net_attr_text(call->node, "mode", "linear"), mode = *net_attr_text(call->node, "padding_mode", "zeros");
    const unsigned axes = x->dims - 2;
    const int64_t places = net_extent(out->shape, 2, out->dims);
    if (grid->shape[axes + 1] != axes || grid->shape[0] != x->shape[0])
        return net_refuse(call->error, "a grid that does not fit");
    for (int64_t k = 0; k < out->count; k++) {
        const int64_t plane = k / places, at = axes * (plane / x->shape[1] * places + k % places);
        double place[AXES_MAX];
        for (unsigned d = 0; d < axes; d++) { /* slice, row, column; the grid has x first */
            const double n = net_array_double(grid, at + axes - 1 - d), length = (double)x->shape[2 + d];
            place[d] = corners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
            place[d] = padded(place[d], x->shape[2 + d], mode, corners);
        }
        for (unsigned d = 0; how == 'n' && d < axes; d++)
            place[d] = nearbyint(place[d]);
        const double y = how == 'n' ? tap(x, plane, place, mode, corners) : mixed_taps(x, plane, place, how, mode, corners);
        net_write_doubles(out->type, out->data, k, 1, &y);
    }
    return true;
}
