/* Resize (and Upsample, which the import makes of it), GridSample. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes ---- */

struct axis_of_resize {
    int64_t in, out;
    double scale, roi_start, roi_end;
};

static bool read_axes(struct net_infer *i, unsigned dims, unsigned *axis, unsigned *count)
{
    struct net_ints axes;
    if (!net_ints_attr(i, "axes", &axes))
        return false;
    *count = axes.count ? axes.count : dims;
    for (unsigned k = 0; k < *count; k++) {
        axis[k] = k;
        if (axes.count && !net_axis(i, axes.at[k], dims, &axis[k]))
            return false;
    }
    return *count <= NET_DIMS_MAX || net_refuse(i->error, "too many axes");
}

/* "not_larger" and "not_smaller" keep the ratio: one scale for all axes. */
static void keep_ratio(const char *policy, struct axis_of_resize *a, const unsigned *axis, unsigned count)
{
    const bool larger = strcmp(policy, "not_larger") == 0;
    double common = larger ? INFINITY : 0;
    if (strcmp(policy, "stretch") == 0)
        return;
    for (unsigned k = 0; k < count; k++) {
        const double s = (double)a[axis[k]].out / (double)a[axis[k]].in;
        common = larger ? fmin(common, s) : fmax(common, s);
    }
    for (unsigned k = 0; k < count; k++) {
        a[axis[k]].scale = common;
        a[axis[k]].out = (int64_t)floor(common * (double)a[axis[k]].in + 0.5);
    }
}

/* Reads scales or sizes; *known is false when they are not known yet. */
static bool read_resize(struct net_infer *i, const struct net_shape *x, struct axis_of_resize *a, bool *known)
{
    const struct net_array *const scales = net_fact_in(i, 2)->constant, *const sizes = net_fact_in(i, 3)->constant;
    const struct net_array *const roi = net_fact_in(i, 1)->constant;
    const bool has_scales = scales && scales->count > 0;
    unsigned axis[NET_DIMS_MAX], count;
    *known = has_scales || sizes;
    if (has_scales && sizes && sizes->count > 0)
        return net_refuse(i->error, "scales and sizes: one of them says how large the result is");
    if (!read_axes(i, x->dims, axis, &count))
        return false;
    for (unsigned d = 0; d < x->dims; d++)
        a[d] = (struct axis_of_resize){x->dim[d], x->dim[d], 1, 0, 1};
    if (!*known)
        return true;
    const struct net_array *const given = has_scales ? scales : sizes;
    if (given->count != (int64_t)count)
        return net_refuse(i->error, "%lld scales or sizes for %u axes", (long long)given->count, count);
    for (unsigned k = 0; k < count; k++) {
        struct axis_of_resize *const one = &a[axis[k]];
        const double number = net_array_double(given, k);
        if (!(number > 0) || number > 1e9)
            return net_refuse(i->error, "a scale or size of %g", number);
        if (roi && roi->count == 2 * (int64_t)count) {
            one->roi_start = net_array_double(roi, k);
            one->roi_end = net_array_double(roi, k + count);
        }
        if (has_scales) {
            one->scale = number;
            one->out =
                one->in < 0 ? NET_UNKNOWN : net_truncate(floor((double)one->in * (one->roi_end - one->roi_start) * number));
        } else {
            one->out = (int64_t)number;
            one->scale = one->in > 0 ? number / (double)one->in : 1;
        }
    }
    if (!has_scales && net_shape_complete(x))
        keep_ratio(net_attr_text(i->node, "keep_aspect_ratio_policy", "stretch"), a, axis, count);
    return true;
}

/* Only tf_crop_and_resize looks at the region of interest. */
static void drop_region(const struct net_node *node, struct net_fact *fact)
{
    if (strcmp(net_attr_text(node, "coordinate_transformation_mode", "half_pixel"), "tf_crop_and_resize") != 0)
        fact[1].constant = NULL;
}

bool net_rule_resize(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct axis_of_resize a[NET_DIMS_MAX];
    struct net_fact fact[4] = {{.present = false}};
    struct net_infer inner = *i;
    struct net_shape to = *x;
    bool known;
    net_state(i, 0, i->in[0].type, NULL);
    if (!x->known)
        return true;
    for (size_t k = 0; k < i->inputs && k < 4; k++)
        fact[k] = i->in[k];
    drop_region(i->node, fact);
    inner.in = fact;
    inner.inputs = 4;
    if (!read_resize(&inner, x, a, &known))
        return false;
    for (unsigned d = 0; d < x->dims; d++)
        to.dim[d] = known ? a[d].out : NET_UNKNOWN;
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* ---- weights along one axis ---- */

struct taps {
    int64_t count;  /* of each element of the result */
    double *weight; /* out x count */
    int64_t *at;    /* places in the input; -1 = outside, the extrapolation value */
};

static double source_place(const struct net_node *node, const struct axis_of_resize *a, int64_t out)
{
    const char *const how = net_attr_text(node, "coordinate_transformation_mode", "half_pixel");
    const double x = (double)out, length = (double)a->in, result = a->scale * length, whole = (double)a->out;
    if (strcmp(how, "align_corners") == 0)
        return whole <= 1 ? 0 : x * (length - 1) / (whole - 1);
    if (strcmp(how, "asymmetric") == 0)
        return x / a->scale;
    if (strcmp(how, "tf_half_pixel_for_nn") == 0)
        return (x + 0.5) / a->scale;
    if (strcmp(how, "pytorch_half_pixel") == 0)
        return whole > 1 ? (x + 0.5) / a->scale - 0.5 : 0;
    if (strcmp(how, "tf_crop_and_resize") == 0)
        return whole > 1 ? a->roi_start * (length - 1) + x * (a->roi_end - a->roi_start) * (length - 1) / (whole - 1)
                         : 0.5 * (a->roi_start + a->roi_end) * (length - 1);
    if (strcmp(how, "half_pixel_symmetric") == 0) {
        const double centre = length / 2, offset = centre * (1 - whole / result);
        return offset + (x + 0.5) / a->scale - 0.5;
    }
    return (x + 0.5) / a->scale - 0.5;
}

static double nearest(const struct net_node *node, double x)
{
    const char *const how = net_attr_text(node, "nearest_mode", "round_prefer_floor");
    if (strcmp(how, "floor") == 0)
        return floor(x);
    if (strcmp(how, "ceil") == 0)
        return ceil(x);
    if (strcmp(how, "round_prefer_ceil") == 0)
        return floor(x + 0.5);
    return ceil(x - 0.5);
}

static double cubic(double distance, double a)
{
    const double d = fabs(distance);
    if (d <= 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* The weights of one element of the result, reading at `x`. */
static void fill_taps(const struct net_node *node, const struct axis_of_resize *a, double x, char mode, double stretch,
                      int64_t count, double *weight, int64_t *at)
{
    const double coefficient = net_attr_real(node, "cubic_coeff_a", -0.75);
    const bool exclude = net_attr_int(node, "exclude_outside", 0) != 0;
    const int64_t first = mode == 'n' ? (int64_t)nearest(node, x) : (int64_t)floor(x) - (count / 2 - 1);
    double sum = 0;
    for (int64_t t = 0; t < count; t++) {
        const double distance = (x - (double)(first + t)) / stretch;
        const bool outside = first + t < 0 || first + t >= a->in;
        weight[t] = mode == 'n' ? 1 : mode == 'l' ? fmax(0, 1 - fabs(distance)) : cubic(distance, coefficient);
        if (exclude && outside && mode == 'c')
            weight[t] = 0;
        at[t] = first + t < 0 ? 0 : first + t >= a->in ? a->in - 1 : first + t;
        sum += weight[t];
    }
    for (int64_t t = 0; t < count && sum != 0; t++)
        weight[t] /= sum;
}

static bool make_taps(const struct net_call *call, const struct axis_of_resize *a, struct taps *taps)
{
    const char mode = *net_attr_text(call->node, "mode", "nearest");
    const bool smooth = net_attr_int(call->node, "antialias", 0) && a->scale < 1 && mode != 'n';
    const bool crop = strcmp(net_attr_text(call->node, "coordinate_transformation_mode", ""), "tf_crop_and_resize") == 0;
    const double stretch = smooth ? 1 / a->scale : 1;
    const int64_t reach = mode == 'c' ? 2 : 1;
    taps->count = mode == 'n' ? 1 : 2 * (int64_t)ceil((double)reach * stretch);
    taps->weight = calloc((size_t)(a->out * taps->count) + 1, sizeof *taps->weight);
    taps->at = calloc((size_t)(a->out * taps->count) + 1, sizeof *taps->at);
    if (!taps->weight || !taps->at)
        return orch_no_memory(call->error);
    for (int64_t o = 0; o < a->out; o++) {
        const double x = source_place(call->node, a, o);
        fill_taps(call->node, a, x, mode, stretch, taps->count, taps->weight + o * taps->count, taps->at + o * taps->count);
        if (crop && (x < 0 || x > (double)(a->in - 1)))
            taps->at[o * taps->count] = -1;
    }
    return true;
}

/* Resizes one axis of x (in doubles) to a new array from malloc. */
static double *resize_axis(const double *x, int64_t outer, const struct axis_of_resize *a, int64_t inner, const struct taps *taps,
                           double outside)
{
    double *const y = calloc((size_t)(outer * a->out * inner) + 1, sizeof *y);
    for (int64_t o = 0; y && o < outer; o++)
        for (int64_t k = 0; k < a->out; k++) {
            double *const to = y + (o * a->out + k) * inner;
            const int64_t *const at = taps->at + k * taps->count;
            for (int64_t e = 0; at[0] < 0 && e < inner; e++)
                to[e] = outside;
            for (int64_t t = 0; at[0] >= 0 && t < taps->count; t++) {
                const double w = taps->weight[k * taps->count + t], *const from = x + (o * a->in + at[t]) * inner;
                for (int64_t e = 0; w != 0 && e < inner; e++)
                    to[e] += w * from[e];
            }
        }
    return y;
}

bool net_eval_resize(struct net_call *call)
{
    struct net_fact fact[4] = {{.present = false}};
    struct net_infer i = {.node = call->node, .in = fact, .inputs = 4, .error = call->error};
    struct axis_of_resize a[NET_DIMS_MAX];
    const struct net_array *const x = call->in[0];
    const struct net_shape from = net_shape_of(x->shape, x->dims);
    int64_t shape[NET_DIMS_MAX];
    bool known;
    for (size_t k = 0; k < call->inputs && k < 4; k++)
        fact[k] = (struct net_fact){.present = call->in[k] != NULL, .constant = call->in[k]};
    drop_region(call->node, fact);
    if (!read_resize(&i, &from, a, &known))
        return false;
    double *number = net_doubles(x, call->error);
    memcpy(shape, x->shape, sizeof shape);
    const double outside = net_attr_real(call->node, "extrapolation_value", 0);
    for (unsigned d = 0; number && d < x->dims; d++) {
        struct taps taps = {.count = 0};
        if (a[d].in == a[d].out && a[d].scale == 1 && a[d].roi_start == 0 && a[d].roi_end == 1)
            continue;
        double *const next = make_taps(call, &a[d], &taps) ? resize_axis(number, net_extent(shape, 0, d), &a[d],
                                                                         net_extent(shape, d + 1, x->dims), &taps, outside)
                                                           : NULL;
        shape[d] = a[d].out;
        free(taps.weight);
        free(taps.at);
        free(number);
        number = next;
    }
    if (!number)
        return orch_no_memory(call->error);
    net_write_doubles(call->out[0]->type, call->out[0]->data, 0, (size_t)call->out[0]->count, number);
    free(number);
    return true;
}
