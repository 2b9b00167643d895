/* Convolutions of images: N x C x H x W with K x C/groups x R x S weights. */
#include "units/routines/operations.h"

#include <math.h>

struct operation_conv operation_conv_shape(const struct routine_request *r)
{
    const int64_t *const v = r->value;
    struct operation_conv o = {.group_c = v[IMAGE_C] / v[CONV_GROUPS], .group_k = v[CONV_K] / v[CONV_GROUPS], .act = -1};
    const int64_t high = v[IMAGE_H] + 2 * v[CONV_PAD] - (v[CONV_R] - 1) * v[CONV_DILATION] - 1;
    const int64_t wide = v[IMAGE_W] + 2 * v[CONV_PAD] - (v[CONV_S] - 1) * v[CONV_DILATION] - 1;
    o.h = high < 0 ? 0 : high / v[CONV_STRIDE] + 1;
    o.w = wide < 0 ? 0 : wide / v[CONV_STRIDE] + 1;
    o.depth = o.group_c * v[CONV_R] * v[CONV_S];
    if (v[CONV_ACT])
        o.act = (int)(v[CONV_ACT] & ((1 << KERNEL_CHAIN_BITS) - 1)) - 1;
    return o;
}

static bool check(const struct routine_request *r, const struct operation_conv *o, struct isa_error *error)
{
    const int64_t *const v = r->value;
    if (v[IMAGE_C] % v[CONV_GROUPS] || v[CONV_K] % v[CONV_GROUPS])
        return kernel_refuse(error, "conv2d: c and k must be multiples of groups");
    if (o->h == 0 || o->w == 0)
        return kernel_refuse(error,
                             "conv2d: %lld x %lld taps with dilation %lld do not fit an image of %lld x %lld with pad %lld",
                             (long long)v[CONV_R], (long long)v[CONV_S], (long long)v[CONV_DILATION], (long long)v[IMAGE_H],
                             (long long)v[IMAGE_W], (long long)v[CONV_PAD]);
    if (v[CONV_ACT] >> KERNEL_CHAIN_BITS || o->act >= KERNEL_FIRST_BINARY)
        return kernel_refuse(error, "conv2d: act is one function of one operand");
    return true;
}

static bool operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const int64_t *const v = r->value;
    const struct operation_conv o = operation_conv_shape(r);
    if (!check(r, &o, error))
        return false;
    const uint64_t n = (uint64_t)v[IMAGE_N], k = (uint64_t)v[CONV_K];
    const uint64_t *const x = ROUTINE_DIMS(n, (uint64_t)v[IMAGE_C], (uint64_t)v[IMAGE_H], (uint64_t)v[IMAGE_W]);
    const uint64_t *const weights = ROUTINE_DIMS(k, (uint64_t)o.group_c, (uint64_t)v[CONV_R], (uint64_t)v[CONV_S]);
    const uint64_t *const out = ROUTINE_DIMS(n, k, (uint64_t)o.h, (uint64_t)o.w);
    if (!routine_check_count("conv2d", x, error) || !routine_check_count("conv2d", weights, error) ||
        !routine_check_count("conv2d", out, error))
        return false;
    const bool whole = r->type == ROUTINE_I8;
    const enum routine_type sums = whole ? ROUTINE_I32 : r->type;
    routine_add_operand(w, "x", r->type, ROUTINE_INPUT, x);
    routine_set_range(w, whole ? -128 : -1, whole ? 128 : 1);
    routine_add_operand(w, "weights", r->type, ROUTINE_INPUT, weights);
    routine_set_range(w, whole ? -128 : -1, whole ? 128 : 1);
    if (v[CONV_BIAS]) {
        routine_add_operand(w, "bias", sums, ROUTINE_INPUT, ROUTINE_DIMS(k));
        routine_set_range(w, whole ? -1000 : -1, whole ? 1000 : 1);
    }
    const unsigned result = routine_add_operand(w, "out", sums, ROUTINE_OUTPUT, out);
    w->macs = (double)w->operand[result].count * (double)o.depth;
    w->flops = 2 * w->macs;
    w->min_bytes = (double)(routine_type_bytes(r->type, w->operand[0].count + w->operand[1].count) +
                            routine_type_bytes(sums, w->operand[result].count));
    return true;
}

/* The sum of one element, and of the sizes of its products. */
static double sum_of(const struct routine_request *r, const struct operation_conv *o, const double *x, const double *weights,
                     int64_t y, int64_t at, double *size)
{
    const int64_t *const v = r->value;
    double sum = 0;
    *size = 0;
    for (int64_t c = 0; c < o->group_c; c++)
        for (int64_t i = 0; i < v[CONV_R]; i++)
            for (int64_t j = 0; j < v[CONV_S]; j++) {
                const int64_t row = y * v[CONV_STRIDE] - v[CONV_PAD] + i * v[CONV_DILATION];
                const int64_t column = at * v[CONV_STRIDE] - v[CONV_PAD] + j * v[CONV_DILATION];
                if (row < 0 || row >= v[IMAGE_H] || column < 0 || column >= v[IMAGE_W])
                    continue;
                const double product =
                    x[(c * v[IMAGE_H] + row) * v[IMAGE_W] + column] * weights[(c * v[CONV_R] + i) * v[CONV_S] + j];
                sum += product;
                *size += fabs(product);
            }
    return sum;
}

/* (C R S + 4) u sum |x w|, and what the activation makes of it. */
static void reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t *const v = r->value;
    const struct operation_conv o = operation_conv_shape(r);
    for (int64_t at = 0; at < v[IMAGE_N] * v[CONV_K] * o.h * o.w; at++) {
        const int64_t plane = at / (o.h * o.w), k = plane % v[CONV_K], image = plane / v[CONV_K], group = k / o.group_k;
        const double *const x = operand[0] + (image * v[IMAGE_C] + group * o.group_c) * v[IMAGE_H] * v[IMAGE_W];
        const double bias = v[CONV_BIAS] ? operand[2][k] : 0;
        double size;
        const double sum = sum_of(r, &o, x, operand[1] + k * o.depth, at / o.w % o.h, at % o.w, &size) + bias;
        const double error = t->epsilon * (double)(o.depth + 4) * (size + fabs(bias));
        const enum kernel_function act = (enum kernel_function)o.act;
        t->value[at] = o.act < 0 ? sum : function_value(act, sum, 0, 0);
        t->error[at] =
            o.act < 0 ? error : function_carried(act, sum, 0, 0, t->value[at], error) + function_error(act, sum, 0, t->value[at]);
    }
}

const struct routine_operation operation_conv2d = {
    .name = "conv2d", .positional = 0, .operands = operands, .reference = reference};
