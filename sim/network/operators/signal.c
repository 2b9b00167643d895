/* Signals: DFT, STFT, MelWeightMatrix. Complex numbers are a last dimension of two. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one transform ---- */

/* The attribute of opset 17, or the third input of opset 20, whose default is the last axis before the complex one. */
static int64_t dft_axis(const struct net_node *node, const struct net_array *input, unsigned dims)
{
    const int64_t missing = node->version >= 20 ? (int64_t)dims - 2 : 1;
    const int64_t axis = input && input->count == 1 ? net_array_integer(input, 0) : net_attr_int(node, "axis", missing);
    return axis < 0 ? axis + dims : axis;
}

/* Back from half of a spectrum, whose other half mirrors it: the samples are real. */
static bool is_back_from_half(const struct net_node *node)
{
    return net_attr_int(node, "inverse", 0) && net_attr_int(node, "onesided", 0);
}

bool net_rule_dft(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct net_shape to = *x;
    const struct net_fact *const length = net_fact_in(i, 1), *const axis_in = net_fact_in(i, 2);
    net_state(i, 0, i->in[0].type, NULL);
    if (!x->known || (axis_in->present && !axis_in->constant))
        return true;
    const int64_t axis = dft_axis(i->node, axis_in->constant, x->dims);
    if (x->dims < 2 || axis < 0 || axis > (int64_t)x->dims - 2 || (x->dim[x->dims - 1] != 1 && x->dim[x->dims - 1] != 2))
        return net_refuse(i->error, "axis %lld of %u dimensions", (long long)axis, x->dims);
    if (length->present)
        to.dim[axis] = length->constant && length->constant->count == 1 ? net_array_integer(length->constant, 0) : NET_UNKNOWN;
    if (length->constant && (to.dim[axis] < 1 || to.dim[axis] > 1 << 24))
        return net_refuse(i->error, "a length of %lld", (long long)to.dim[axis]);
    const bool half = is_back_from_half(i->node);
    if (half && to.dim[axis] > 1 << 24)
        return net_refuse(i->error, "a length of %lld", (long long)to.dim[axis]);
    if (half && !length->present)
        to.dim[axis] = to.dim[axis] < 0 ? NET_UNKNOWN : 2 * (to.dim[axis] - 1);
    else if (!half && net_attr_int(i->node, "onesided", 0))
        to.dim[axis] = to.dim[axis] < 0 ? NET_UNKNOWN : to.dim[axis] / 2 + 1;
    if (half && (to.dim[axis] == 0 || x->dim[x->dims - 1] != 2))
        return net_refuse(i->error, "half of a spectrum has two complex numbers at least");
    to.dim[to.dims - 1] = half ? 1 : 2;
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* Sums over `count` samples, of which those that are there are read with a stride; `length` is that of the transform. */
struct transform {
    const struct net_array *x;
    int64_t first, stride, there, length;
    bool complex, inverse;
    const struct net_array *window; /* NULL = none */
};

static void transform_bin(const struct transform *t, int64_t bin, double *real, double *imaginary)
{
    *real = *imaginary = 0;
    for (int64_t n = 0; n < t->there && n < t->length; n++) {
        const int64_t at = t->first + n * t->stride;
        const double w = t->window ? net_array_double(t->window, n) : 1;
        const double a = w * net_array_double(t->x, at), b = t->complex ? w * net_array_double(t->x, at + 1) : 0;
        const double angle = (t->inverse ? 2 : -2) * M_PI * (double)(bin * n % t->length) / (double)t->length;
        *real += a * cos(angle) - b * sin(angle);
        *imaginary += a * sin(angle) + b * cos(angle);
    }
    if (t->inverse) {
        *real /= (double)t->length;
        *imaginary /= (double)t->length;
    }
}

/* One sample of the real signal; bins that the half lacks are zeros, those beyond the middle mirrors. */
static double back_from_half(const struct transform *t, int64_t sample)
{
    double sum = 0;
    for (int64_t bin = 0; bin < t->there && bin <= t->length / 2; bin++) {
        const int64_t at = t->first + bin * t->stride;
        const double angle = 2 * M_PI * (double)(bin * sample % t->length) / (double)t->length;
        const double both = bin == 0 || 2 * bin == t->length ? 1 : 2;
        sum += both * (net_array_double(t->x, at) * cos(angle) - net_array_double(t->x, at + 1) * sin(angle));
    }
    return sum / (double)t->length;
}

bool net_eval_dft(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    struct net_array *const out = call->out[0];
    const bool half = is_back_from_half(call->node);
    const unsigned axis = (unsigned)dft_axis(call->node, net_in(call, 2), x->dims);
    const int64_t parts = x->shape[x->dims - 1], inner = net_extent(x->shape, axis + 1, x->dims - 1), bins = out->shape[axis];
    const int64_t length = half ? bins : net_in(call, 1) ? net_array_integer(call->in[1], 0) : x->shape[axis];
    for (int64_t k = 0; k < out->count / (half ? 1 : 2); k++) {
        const int64_t place = k % inner, bin = k / inner % bins, outer = k / inner / bins;
        const struct transform t = {.x = x,
                                    .first = (outer * x->shape[axis] * inner + place) * parts,
                                    .stride = inner * parts,
                                    .there = x->shape[axis],
                                    .length = length,
                                    .complex = parts == 2,
                                    .inverse = net_attr_int(call->node, "inverse", 0) != 0};
        double value[2];
        if (half)
            value[0] = back_from_half(&t, bin);
        else
            transform_bin(&t, bin, &value[0], &value[1]);
        net_write_doubles(out->type, out->data, half ? k : 2 * k, half ? 1 : 2, value);
    }
    return true;
}

/* ---- many, one a frame: signal [batch, samples, 1 or 2], step, window, length of a frame ---- */

static bool frame_sizes(struct net_infer *i, int64_t *step, int64_t *length)
{
    const struct net_fact *const window = net_fact_in(i, 2), *const frame = net_fact_in(i, 3);
    *step = i->in[1].constant && i->in[1].constant->count == 1 ? net_array_integer(i->in[1].constant, 0) : NET_UNKNOWN;
    *length = frame->constant && frame->constant->count == 1                 ? net_array_integer(frame->constant, 0)
              : !frame->present && window->shape.known && window->shape.dims ? window->shape.dim[0]
                                                                             : NET_UNKNOWN;
    if ((i->in[1].constant && *step < 1) || (frame->constant && *length < 1))
        return net_refuse(i->error, "steps of %lld, frames of %lld", (long long)*step, (long long)*length);
    return true;
}

bool net_rule_stft(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    int64_t step, length;
    if (!frame_sizes(i, &step, &length))
        return false;
    if (x->known && x->dims != 3)
        return net_refuse(i->error, "a signal of %u dimensions", x->dims);
    const bool known = x->known && x->dim[1] >= 0 && step > 0 && length > 0;
    if (known && length > x->dim[1])
        return net_refuse(i->error, "frames of %lld in %lld samples", (long long)length, (long long)x->dim[1]);
    const int64_t bins = length < 0 ? NET_UNKNOWN : net_attr_int(i->node, "onesided", 1) ? length / 2 + 1 : length;
    const struct net_shape to = net_shape_of(
        (const int64_t[]){x->known ? x->dim[0] : NET_UNKNOWN, known ? (x->dim[1] - length) / step + 1 : NET_UNKNOWN, bins, 2}, 4);
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

bool net_eval_stft(struct net_call *call)
{
    const struct net_array *const x = call->in[0], *const window = net_in(call, 2);
    struct net_array *const out = call->out[0];
    const int64_t step = net_array_integer(call->in[1], 0), parts = x->shape[2], bins = out->shape[2], frames = out->shape[1];
    const int64_t length = net_in(call, 3) ? net_array_integer(call->in[3], 0) : window->shape[0];
    if (window && window->count != length)
        return net_refuse(call->error, "a window of %lld for frames of %lld", (long long)window->count, (long long)length);
    for (int64_t k = 0; k < out->count / 2; k++) {
        const int64_t bin = k % bins, frame = k / bins % frames, batch = k / bins / frames;
        const struct transform t = {.x = x,
                                    .first = (batch * x->shape[1] + frame * step) * parts,
                                    .stride = parts,
                                    .there = length,
                                    .length = length,
                                    .complex = parts == 2,
                                    .window = window};
        double value[2];
        transform_bin(&t, bin, &value[0], &value[1]);
        net_write_doubles(out->type, out->data, 2 * k, 2, value);
    }
    return true;
}

/* ---- from bins of frequency to the mel scale ---- */

bool net_rule_mel_weights(struct net_infer *i)
{
    const enum net_type asked = net_type_of_onnx(net_attr_int(i->node, "output_datatype", 1));
    int64_t size[2];
    for (size_t k = 0; k < 2; k++) {
        const struct net_array *const a = i->in[k].constant;
        size[k] = a && a->count == 1 ? net_array_integer(a, 0) : NET_UNKNOWN;
        if (a && (size[k] < 0 || size[k] > 1 << 24))
            return net_refuse(i->error, "%lld bins", (long long)size[k]);
    }
    const struct net_shape to = net_shape_of((const int64_t[]){size[1] < 0 ? NET_UNKNOWN : size[1] / 2 + 1, size[0]}, 2);
    net_state(i, 0, asked, &to);
    return true;
}

bool net_eval_mel_weights(struct net_call *call)
{
    struct net_array *const out = call->out[0];
    const int64_t bins = net_array_integer(call->in[0], 0), length = net_array_integer(call->in[1], 0);
    const double rate = net_array_double(call->in[2], 0), low = net_array_double(call->in[3], 0),
                 high = net_array_double(call->in[4], 0);
    const double low_mel = 2595 * log10(1 + low / 700), high_mel = 2595 * log10(1 + high / 700);
    const double step = (high_mel - low_mel) / (double)(bins + 2);
    for (int64_t b = 0; b < bins; b++) {
        int64_t edge[3];
        for (int64_t e = 0; e < 3; e++) {
            const double hertz = 700 * (pow(10, ((double)(b + e) * step + low_mel) / 2595) - 1);
            edge[e] = net_truncate(floor((double)(length + 1) * hertz / rate));
            if (edge[e] < 0 || edge[e] > out->shape[0])
                return net_refuse(call->error, "a frequency outside of the spectrum");
        }
        const double rise = (double)(edge[1] - edge[0]), fall = (double)(edge[2] - edge[1]);
        for (int64_t k = edge[0]; k <= edge[2] && k < out->shape[0]; k++) {
            const double w = k == edge[1] ? 1 : k < edge[1] ? (double)(k - edge[0]) / rise : (double)(edge[2] - k) / fall;
            if (k < edge[2] || k == edge[1])
                net_write_doubles(out->type, out->data, k * bins + b, 1, &w);
        }
    }
    return true;
}
