/* Softmax, LogSoftmax, Hardmax, and the normalisations. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- softmax ---- */

/* The attribute "flat" is what the import makes of the form before opset 13: all dimensions from the axis on are one. */
bool net_rule_softmax(struct net_infer *i)
{
    unsigned axis;
    const struct net_shape *const x = &i->in[0].shape;
    if (x->known && !(net_attr_int(i->node, "flat", 0) && net_attr_int(i->node, "axis", -1) == (int64_t)x->dims) &&
        !net_axis(i, net_attr_int(i->node, "axis", -1), x->dims, &axis))
        return false;
    return net_rule_same(i);
}

static void soften(double *line, int64_t length, char kind)
{
    double top = -INFINITY, sum = 0;
    int64_t best = 0;
    for (int64_t k = 0; k < length; k++)
        if (line[k] > top) {
            top = line[k];
            best = k;
        }
    for (int64_t k = 0; k < length; k++)
        sum += exp(line[k] - top);
    for (int64_t k = 0; k < length; k++)
        line[k] = kind == 'H' ? k == best : kind == 'L' ? line[k] - top - log(sum) : exp(line[k] - top) / sum;
}

bool net_eval_softmax(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const bool flat = net_attr_int(call->node, "flat", 0) != 0;
    const int64_t given = net_attr_int(call->node, "axis", -1);
    const unsigned axis = (unsigned)(given < 0 ? given + x->dims : given);
    const int64_t inner = flat ? 1 : net_extent(x->shape, axis + 1, x->dims);
    const int64_t length = flat ? net_extent(x->shape, axis, x->dims) : x->shape[axis];
    double *const line = malloc(((size_t)length + 1) * sizeof *line);
    if (!line)
        return orch_no_memory(call->error);
    for (int64_t at = 0; length && at < x->count / length; at++) {
        const int64_t base = at / inner * inner * length + at % inner;
        net_read_doubles(x->type, x->data, base, inner, (size_t)length, line);
        soften(line, length, *call->node->op);
        for (int64_t k = 0; k < length; k++)
            net_write_doubles(x->type, call->out[0]->data, base + k * inner, 1, &line[k]);
    }
    free(line);
    return true;
}

/* ---- normalisation of a channel ---- */

bool net_rule_batch_norm(struct net_infer *i)
{
    if (net_attr_int(i->node, "training_mode", 0))
        return orch_fail(i->error, ORCH_UNMODELLED, "training mode");
    const struct net_shape *const x = &i->in[0].shape;
    for (size_t k = 1; k < 5; k++)
        if (i->in[k].shape.known && x->known && x->dims > 1 && x->dim[1] >= 0 &&
            (i->in[k].shape.dims != 1 || (i->in[k].shape.dim[0] >= 0 && i->in[k].shape.dim[0] != x->dim[1])))
            return net_refuse(i->error, "input %zu does not fit %lld channels", k, (long long)x->dim[1]);
    return net_rule_same(i);
}

static void scale_line(const struct net_call *call, int64_t at, int64_t count, double factor, double offset)
{
    double number[256];
    for (int64_t k = 0; k < count; k += 256) {
        const size_t part = (size_t)(count - k < 256 ? count - k : 256);
        net_read_doubles(call->in[0]->type, call->in[0]->data, at + k, 1, part, number);
        for (size_t e = 0; e < part; e++)
            number[e] = number[e] * factor + offset;
        net_write_doubles(call->out[0]->type, call->out[0]->data, at + k, part, number);
    }
}

bool net_eval_batch_norm(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const double epsilon = net_attr_real(call->node, "epsilon", 1e-5);
    const int64_t channels = x->dims > 1 ? x->shape[1] : 1, plane = x->dims > 1 ? net_extent(x->shape, 2, x->dims) : x->count;
    for (size_t k = 1; k < 5; k++)
        if (call->in[k]->count != channels)
            return net_refuse(call->error, "input %zu has %lld numbers", k, (long long)call->in[k]->count);
    for (int64_t at = 0; plane && at < x->count / plane; at++) {
        const int64_t c = at % channels;
        const double factor = net_array_double(call->in[1], c) / sqrt(net_array_double(call->in[4], c) + epsilon);
        const double offset = net_array_double(call->in[2], c) - net_array_double(call->in[3], c) * factor;
        scale_line(call, at * plane, plane, factor, offset);
    }
    return true;
}

static void moments(const struct net_array *x, int64_t at, int64_t count, double *mean, double *variance)
{
    double sum = 0, square = 0;
    for (int64_t k = 0; k < count; k++)
        sum += net_array_double(x, at + k);
    *mean = sum / (double)count;
    for (int64_t k = 0; k < count; k++) {
        const double d = net_array_double(x, at + k) - *mean;
        square += d * d;
    }
    *variance = square / (double)count;
}

/* InstanceNormalization, and GroupNormalization whose scales are by channel (or, before opset 21, by group). */
bool net_eval_group_norm(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const double epsilon = net_attr_real(call->node, "epsilon", 1e-5);
    if (x->dims < 2)
        return net_refuse(call->error, "an input of %u dimensions", x->dims);
    const int64_t channels = x->shape[1], plane = net_extent(x->shape, 2, x->dims);
    const int64_t groups = net_attr_int(call->node, "num_groups", channels), scales = call->in[1]->count;
    if (groups < 1 || channels % groups || (scales != channels && scales != groups) || call->in[2]->count != scales)
        return net_refuse(call->error, "%lld groups of %lld channels with %lld scales", (long long)groups, (long long)channels,
                          (long long)scales);
    const int64_t each = channels / groups;
    for (int64_t at = 0; plane && at < x->shape[0] * groups; at++) {
        double mean, variance;
        moments(x, at * each * plane, each * plane, &mean, &variance);
        for (int64_t c = 0; c < each; c++) {
            const int64_t scale = scales == channels ? at % groups * each + c : at % groups;
            const double factor = net_array_double(call->in[1], scale) / sqrt(variance + epsilon);
            scale_line(call, (at * each + c) * plane, plane, factor, net_array_double(call->in[2], scale) - mean * factor);
        }
    }
    return true;
}

/* ---- normalisation of trailing dimensions ---- */

bool net_rule_layer_norm(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape;
    struct net_shape to = *x;
    unsigned axis;
    const int64_t kind = net_attr_int(i->node, "stash_type", 1);
    if (x->known) {
        if (!net_axis(i, net_attr_int(i->node, "axis", -1), x->dims, &axis))
            return false;
        for (unsigned d = axis; d < x->dims; d++)
            to.dim[d] = 1;
    }
    for (size_t k = 1; k < 3; k++)
        net_state(i, k, net_type_of_onnx(kind), x->known ? &to : NULL);
    return net_rule_same(i);
}

/* One row of LayerNormalization, or of RMSNormalization, which leaves the mean alone. */
static bool layer_row(struct net_call *call, const struct net_walk *walk, int64_t row, int64_t length, bool rms, double epsilon,
                      double *number)
{
    const struct net_array *const x = call->in[0], *const scale = call->in[1], *const bias = net_in(call, 2);
    double mean = 0, square = 0;
    (void)walk;
    net_read_doubles(x->type, x->data, row * length, 1, (size_t)length, number);
    for (int64_t k = 0; !rms && k < length; k++)
        mean += number[k];
    mean /= (double)length;
    for (int64_t k = 0; k < length; k++)
        square += (number[k] - mean) * (number[k] - mean);
    const double inverse = 1 / sqrt(square / (double)length + epsilon);
    for (int64_t k = 0; k < length; k++) {
        number[k] = (number[k] - mean) * inverse * net_array_double(scale, k % scale->count);
        if (bias)
            number[k] += net_array_double(bias, k % bias->count);
    }
    net_write_doubles(call->out[0]->type, call->out[0]->data, row * length, (size_t)length, number);
    if (net_out(call, 1))
        net_write_doubles(call->out[1]->type, call->out[1]->data, row, 1, &mean);
    if (net_out(call, 2))
        net_write_doubles(call->out[2]->type, call->out[2]->data, row, 1, &inverse);
    return true;
}

bool net_eval_layer_norm(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const int64_t given = net_attr_int(call->node, "axis", -1);
    const unsigned axis = (unsigned)(given < 0 ? given + x->dims : given);
    const int64_t length = net_extent(x->shape, axis, x->dims), rows = length ? x->count / length : 0;
    const bool rms = strcmp(call->node->op, "RMSNormalization") == 0;
    for (size_t k = 1; k < call->inputs; k++)
        if (call->in[k] && (call->in[k]->count < 1 || length % call->in[k]->count))
            return net_refuse(call->error, "input %zu does not fit rows of %lld", k, (long long)length);
    double *const number = malloc(((size_t)length + 1) * sizeof *number);
    if (!number)
        return orch_no_memory(call->error);
    for (int64_t row = 0; row < rows; row++)
        layer_row(call, NULL, row, length, rms, net_attr_real(call->node, "epsilon", 1e-5), number);
    free(number);
    return true;
}

/* ---- the others ---- */

bool net_eval_lrn(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const int64_t size = net_attr_int(call->node, "size", 1);
    const double alpha = net_attr_real(call->node, "alpha", 1e-4), beta = net_attr_real(call->node, "beta", 0.75);
    const double bias = net_attr_real(call->node, "bias", 1);
    if (x->dims < 2 || size < 1)
        return net_refuse(call->error, "%u dimensions, a window of %lld", x->dims, (long long)size);
    const int64_t channels = x->shape[1], plane = net_extent(x->shape, 2, x->dims);
    for (int64_t k = 0; k < x->count; k++) {
        const int64_t c = k / plane % channels, base = k - c * plane;
        const int64_t from = c - (size - 1) / 2 < 0 ? 0 : c - (size - 1) / 2;
        const int64_t to = size / 2 >= channels - c ? channels - 1 : c + size / 2;
        double square = 0;
        for (int64_t e = from; e <= to; e++) {
            const double a = net_array_double(x, base + e * plane);
            square += a * a;
        }
        const double y = net_array_double(x, k) / pow(bias + alpha / (double)size * square, beta);
        net_write_doubles(x->type, call->out[0]->data, k, 1, &y);
    }
    return true;
}

bool net_eval_lp_norm(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    const int64_t given = net_attr_int(call->node, "axis", -1), p = net_attr_int(call->node, "p", 2);
    const unsigned axis = (unsigned)(given < 0 ? given + x->dims : given);
    const int64_t inner = net_extent(x->shape, axis + 1, x->dims), length = x->shape[axis];
    for (int64_t k = 0; k < x->count; k++) {
        const int64_t base = k / (inner * length) * inner * length + k % inner;
        double sum = 0;
        for (int64_t e = 0; e < length; e++) {
            const double a = net_array_double(x, base + e * inner);
            sum += p == 1 ? fabs(a) : a * a;
        }
        const double norm = p == 1 ? sum : sqrt(sum), y = norm != 0 ? net_array_double(x, k) / norm : 0;
        net_write_doubles(x->type, call->out[0]->data, k, 1, &y);
    }
    return true;
}

/* MeanVarianceNormalization: over the given axes, by default all but the channels. */
bool net_eval_mvn(struct net_call *call)
{
    const struct net_array *const x = call->in[0];
    size_t count;
    const int64_t *const axes = net_attr_ints(call->node, "axes", &count);
    bool over[NET_DIMS_MAX] = {true, false, true, true};
    for (size_t k = 0; k < (axes ? NET_DIMS_MAX : 0); k++)
        over[k] = false;
    for (size_t k = 0; k < count; k++) {
        const int64_t axis = axes[k] < 0 ? axes[k] + x->dims : axes[k];
        if (axis < 0 || axis >= (int64_t)x->dims)
            return net_refuse(call->error, "axis %lld", (long long)axes[k]);
        over[axis] = true;
    }
    int64_t groups = 1;
    for (unsigned d = 0; d < x->dims; d++)
        groups *= over[d] ? 1 : x->shape[d];
    double *const sum = calloc(2 * (size_t)groups + 1, sizeof *sum);
    if (!sum)
        return orch_no_memory(call->error);
    for (unsigned pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < x->count; k++) {
            int64_t group = 0, step = 1, left = k;
            for (unsigned d = x->dims; d-- > 0;) {
                group += over[d] ? 0 : left % x->shape[d] * step;
                step *= over[d] ? 1 : x->shape[d];
                left /= x->shape[d];
            }
            const double a = net_array_double(x, k), n = (double)(x->count / groups), mean = sum[2 * group] / n;
            const double variance = sum[2 * group + 1] / n - mean * mean,
                         y = (a - mean) / (sqrt(variance > 0 ? variance : 0) + 1e-9);
            if (pass == 0) {
                sum[2 * group] += a;
                sum[2 * group + 1] += a * a;
            } else {
                net_write_doubles(x->type, call->out[0]->data, k, 1, &y);
            }
        }
    free(sum);
    return true;
}
