/* gemm, gemv: a constant matrix becomes the weights of a 1 x 1 convolution, and the lines of the other one are its pixels.
 * matmul: both are inputs.
 */
#include "isa/rounding.h"
#include "isa/array_count.h"
#include "units/ane/kernels/ane_kernel_family.h"
#include "units/ane/kernels/ane_product_blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { M, N, K, BATCH, BIAS, ACT, WEIGHTS };
enum { WEIGHTS_AUTO, WEIGHTS_B, WEIGHTS_A };
enum { GEMV_M, GEMV_N, GEMV_BIAS, GEMV_ACT };

#define LINES_MAX     (INT64_C(1) << 28)
#define CHANNELS_MOST (UINT64_C(1) << 20)

static const struct kernel_parameter gemm_parameters[] = {
    {.name = "m", .least = 1, .most = LINES_MAX, .required = true},
    {.name = "n", .least = 1, .most = LINES_MAX, .required = true},
    {.name = "k", .least = 1, .most = LINES_MAX, .required = true},
    {.name = "batch", .missing = 1, .least = 1, .most = 65536},
    {.name = "bias", .missing = 0, .least = 0, .most = 1},
    {.name = "act", .words = ANE_ACTIVATION_WORDS},
    {.name = "weights", .words = "auto|b|a"},
    {.name = NULL},
};
static const struct kernel_parameter matmul_parameters[] = {
    {.name = "m", .least = 1, .most = LINES_MAX, .required = true},
    {.name = "n", .least = 1, .most = LINES_MAX, .required = true},
    {.name = "k", .least = 1, .most = LINES_MAX, .required = true},
    {.name = "batch", .missing = 1, .least = 1, .most = 65536},
    {.name = NULL},
};
static const struct kernel_parameter gemv_parameters[] = {
    {.name = "m", .least = 1, .most = LINES_MAX, .required = true},
    {.name = "n", .least = 1, .most = LINES_MAX, .required = true},
    {.name = "bias", .missing = 0, .least = 0, .most = 1},
    {.name = "act", .words = ANE_ACTIVATION_WORDS},
    {.name = NULL},
};

/* out[channel][pixel] = sum over depth weight[channel][depth] * x[depth][pixel] */
struct product {
    uint64_t channels, pixels, depth, batch;
    bool weights_are_a; /* in terms of the operator: A as weights, B as pixels */
    bool vector;        /* gemv: one pixel, tensors of one axis */
    bool bias;
    int64_t act;
};

/* Cycles per depth: an engine takes 256 pixels of one channel, 64 of four or 32 of eight (sbryngelson/ane-guide). */
static double engine_steps(uint64_t pixels, uint64_t channels)
{
    const double wide = (double)divide_up(pixels, 256) * (double)divide_up(channels, 16);
    const double small = (double)divide_up(pixels, 64) * (double)divide_up(channels, 64);
    const double smallest = (double)divide_up(pixels, 32) * (double)divide_up(channels, 128);
    return fmin(wide, fmin(small, smallest));
}

/* Pixels as rows: one row while the whole source fits a quarter of the tile memory, otherwise rows of which several do, so that
 * weights pass as few times as possible. */
static struct ane_fold fold_pixels(const struct ane_builder *b, uint64_t pixels, uint64_t depth)
{
    const uint64_t room = b->request->limits.l2_bytes / 4 / ANE_HALF_BYTES / depth;
    uint32_t most = b->request->limits.dimension_max;
    while (most > 32 && most > room)
        most /= 2;
    return ane_fold_elements(pixels, most, 1);
}

static void check_product(struct ane_builder *b, const struct product *p)
{
    const struct ane_limits *limits = &b->request->limits;
    if (p->depth > limits->channels_max)
        ane_build_limit(b, "a product over %llu: %s has at most %u input channels", (unsigned long long)p->depth,
                        ane_build_generation(b), (unsigned)limits->channels_max);
    if (p->channels > CHANNELS_MOST)
        ane_build_limit(b, "%llu output channels: more than 2^20 make no program", (unsigned long long)p->channels);
    if (p->pixels > (uint64_t)limits->dimension_max * limits->dimension_max)
        ane_build_limit(b, "%llu pixels: %s has images of at most %u a side", (unsigned long long)p->pixels,
                        ane_build_generation(b), (unsigned)limits->dimension_max);
}

/* The weights of one batch as [channel][depth]; B comes as [depth][channel]. */
static float *turned(const float *value, uint64_t channels, uint64_t depth, bool is_a)
{
    float *weight = malloc(channels * depth * sizeof *weight);
    for (uint64_t c = 0; weight && c < channels; c++)
        for (uint64_t k = 0; k < depth; k++)
            weight[c * depth + k] = is_a ? value[c * depth + k] : value[k * channels + c];
    return weight;
}

static void write_batch(struct ane_builder *b, const struct product *p, const struct ane_fold *fold, const float *value,
                        const float *bias, struct ane_view x, struct ane_view out)
{
    float *weight = !value                  ? NULL
                    : ane_build_is_blank(b) ? calloc(p->channels * p->depth, sizeof *weight)
                                            : turned(value, p->channels, p->depth, p->weights_are_a);
    const struct ane_conv conv = {
        .kernel_width = 1, .kernel_height = 1, .stride_x = 1, .stride_y = 1, .groups = 1, .weight = weight, .bias = bias};
    if (!weight)
        ane_build_fail(b, "out of memory for weights");
    ane_build_product(b, &conv, p->act, fold, x, out);
    free(weight);
}

static void name_matrix(struct ane_builder *b, const char *name, enum ane_tensor_role role, const struct ane_view *view,
                        uint64_t batch, uint64_t rows, uint64_t row_stride, uint64_t columns, uint64_t column_stride,
                        double range)
{
    struct ane_kernel_tensor *t = ane_build_tensor(b, name, role, view, -range, range);
    if (batch > 1)
        ane_tensor_axis(t, batch, view ? ane_view_bytes(view) : 0);
    ane_tensor_axis(t, rows, row_stride);
    ane_tensor_axis(t, columns, column_stride);
}

/* Names the operands as the operator does: m x k, k x n, m x n. */
static void name_operands(struct ane_builder *b, const struct product *p, const struct ane_view *x, const struct ane_view *out,
                          double range)
{
    const uint64_t two = ANE_HALF_BYTES;
    if (p->vector) {
        name_matrix(b, "a", ANE_TENSOR_CONSTANT, NULL, 1, p->channels, 0, p->depth, 0, range);
        ane_tensor_axis(ane_build_tensor(b, "x", ANE_TENSOR_INPUT, x, -1, 1), p->depth, x->plane);
    } else if (p->weights_are_a) {
        name_matrix(b, "a", ANE_TENSOR_CONSTANT, NULL, p->batch, p->channels, 0, p->depth, 0, range);
        name_matrix(b, "b", ANE_TENSOR_INPUT, x, p->batch, p->depth, x->plane, p->pixels, two, 1);
    } else {
        name_matrix(b, "a", ANE_TENSOR_INPUT, x, p->batch, p->pixels, two, p->depth, x->plane, 1);
        name_matrix(b, "b", ANE_TENSOR_CONSTANT, NULL, p->batch, p->depth, 0, p->channels, 0, range);
    }
    if (p->bias)
        ane_tensor_axis(ane_build_tensor(b, "bias", ANE_TENSOR_CONSTANT, NULL, -1, 1), p->channels, 0);
    if (p->vector)
        ane_tensor_axis(ane_build_tensor(b, "out", ANE_TENSOR_OUTPUT, out, 0, 0), p->channels, out->plane);
    else if (p->weights_are_a)
        name_matrix(b, "out", ANE_TENSOR_OUTPUT, out, p->batch, p->channels, out->plane, p->pixels, two, 0);
    else
        name_matrix(b, "out", ANE_TENSOR_OUTPUT, out, p->batch, p->pixels, two, p->channels, out->plane, 0);
}

static bool build_product(const struct ane_kernel_request *q, const struct product *p, struct ane_kernel *kernel,
                          struct isa_error *error)
{
    struct ane_builder b;
    const double range = sqrt(3.0 / (double)p->depth);
    ane_build_begin(&b, q, kernel, 1, error);
    check_product(&b, p);
    const struct ane_fold fold = fold_pixels(&b, p->pixels, p->depth);
    const struct ane_view x = ane_build_input(&b,
                                              p->vector          ? "x"
                                              : p->weights_are_a ? "b"
                                                                 : "a",
                                              p->batch, (uint32_t)p->depth, fold.height, fold.width);
    const struct ane_view out = ane_build_output(&b, "out", p->batch, (uint32_t)p->channels, fold.height, fold.width);
    name_operands(&b, p, &x, &out, range);
    const uint64_t each = p->channels * p->depth;
    float *value = ane_build_weights(&b, "weights", each * p->batch, -range, range);
    float *bias = p->bias ? ane_build_constant(&b, "bias", p->channels, -1, 1) : NULL;
    for (uint64_t i = 0; i < p->batch && !b.failed; i++)
        write_batch(&b, p, &fold, value + i * each, bias, ane_view_image(x, i), ane_view_image(out, i));
    free(value);
    free(bias);
    kernel->macs = (double)p->channels * (double)p->pixels * (double)p->depth * (double)p->batch;
    kernel->flops = 2 * kernel->macs;
    snprintf(kernel->variant, sizeof kernel->variant, "%s as weights, pixels %ux%u", p->weights_are_a ? "a" : "b",
             (unsigned)fold.height, (unsigned)fold.width);
    return ane_build_end(&b);
}

static bool build_gemm(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const int64_t *v = q->value;
    const uint64_t m = (uint64_t)v[M], n = (uint64_t)v[N];
    const bool better_a = engine_steps(n, m) < engine_steps(m, n) && !v[BIAS];
    struct product p = {.depth = (uint64_t)v[K],
                        .batch = (uint64_t)v[BATCH],
                        .bias = v[BIAS] != 0,
                        .act = v[ACT],
                        .weights_are_a = v[WEIGHTS] == WEIGHTS_A || (v[WEIGHTS] == WEIGHTS_AUTO && better_a)};
    if (p.bias && p.weights_are_a)
        return kernel_refuse(error, "gemm: bias belongs to the columns of b, so b must be the weights");
    p.channels = p.weights_are_a ? m : n;
    p.pixels = p.weights_are_a ? n : m;
    return build_product(q, &p, kernel, error);
}

static bool build_gemv(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const int64_t *v = q->value;
    const struct product p = {.channels = (uint64_t)v[GEMV_M],
                              .pixels = 1,
                              .depth = (uint64_t)v[GEMV_N],
                              .batch = 1,
                              .bias = v[GEMV_BIAS] != 0,
                              .act = v[GEMV_ACT],
                              .weights_are_a = true,
                              .vector = true};
    return build_product(q, &p, kernel, error);
}

/* out[m][n]: channels m, pixels n. A's lines run along its width, B has k as channels. */
static bool build_matmul(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const int64_t *v = q->value;
    const struct product p = {
        .channels = (uint64_t)v[M], .pixels = (uint64_t)v[N], .depth = (uint64_t)v[K], .batch = (uint64_t)v[BATCH]};
    const uint64_t two = ANE_HALF_BYTES;
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    check_product(&b, &p);
    const struct ane_fold fold = fold_pixels(&b, p.pixels, p.depth);
    const struct ane_view left = ane_build_input(&b, "a", p.batch, (uint32_t)p.channels, 1, (uint32_t)p.depth);
    const struct ane_view right = ane_build_input(&b, "b", p.batch, (uint32_t)p.depth, fold.height, fold.width);
    const struct ane_view out = ane_build_output(&b, "out", p.batch, (uint32_t)p.channels, fold.height, fold.width);
    name_matrix(&b, "a", ANE_TENSOR_INPUT, &left, p.batch, p.channels, left.plane, p.depth, two, 1);
    name_matrix(&b, "b", ANE_TENSOR_INPUT, &right, p.batch, p.depth, right.plane, p.pixels, two, 1);
    name_matrix(&b, "out", ANE_TENSOR_OUTPUT, &out, p.batch, p.channels, out.plane, p.pixels, two, 0);
    for (uint64_t i = 0; i < p.batch && !b.failed; i++)
        for (unsigned k = 0; k < fold.parts; k++)
            ane_build_matmul(&b, ane_fold_view(&fold, k, ane_view_image(right, i)), ane_view_image(left, i), 1,
                             ane_fold_view(&fold, k, ane_view_image(out, i)));
    kernel->macs = (double)p.channels * (double)p.pixels * (double)p.depth * (double)p.batch;
    kernel->flops = 2 * kernel->macs;
    snprintf(kernel->variant, sizeof kernel->variant, "second source, pixels %ux%u", (unsigned)fold.height, (unsigned)fold.width);
    return ane_build_end(&b);
}

static const struct ane_kernel_info rows[] = {
    {"gemm", "MxNxK[,batch=B][,bias=0|1][,act=NAME][,weights=auto|b|a]",
     "out (M x N) = A (M x K) B (K x N), one of them constant: the weights; the other one's lines are pixels", 3, gemm_parameters,
     build_gemm},
    {"gemv", "MxN[,bias=0|1][,act=NAME]", "out (M) = A (M x N) x, A constant", 2, gemv_parameters, build_gemv},
    {"matmul", "MxNxK[,batch=B]", "out (M x N) = A (M x K) B (K x N), both inputs", 3, matmul_parameters, build_matmul},
};
const struct ane_kernel_family ane_family_gemm = {rows, ARRAY_COUNT(rows)};
