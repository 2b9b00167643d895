/* softmax, layernorm, rmsnorm: rows along the width, with the chains of the public programs (eiln/ane softmax.bin, norm.bin). */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_channel_norm.h"
#include "units/ane/kernels/ane_kernel_family.h"
#include "units/ane/kernels/ane_norm.h"

#include <stdio.h>

enum { R, C, LOG };
enum { EPS = 2, AFFINE, CHANNELS };

#define ROWS_MAX (INT64_C(1) << 28)

static const struct kernel_parameter softmax_parameters[] = {
    {.name = "rows", .least = 1, .most = ROWS_MAX, .required = true},
    {.name = "columns", .least = 1, .most = ROWS_MAX, .required = true},
    {.name = "log", .missing = 0, .least = 0, .most = 1},
    {.name = NULL},
};
static const struct kernel_parameter norm_parameters[] = {
    {.name = "rows", .least = 1, .most = ROWS_MAX, .required = true},
    {.name = "columns", .least = 1, .most = ROWS_MAX, .required = true},
    {.name = "eps", .missing = 0, .least = 0, .most = 1, .decimal = true, .usual = 1e-5},
    {.name = "affine", .missing = 1, .least = 0, .most = 1},
    {.name = "channels", .missing = 0, .least = 0, .most = 1},
    {.name = NULL},
};

static void describe(struct ane_kernel *kernel, const struct ane_rows *r, double per_element)
{
    kernel->flops = per_element * (double)r->rows * (double)r->columns;
    snprintf(kernel->variant, sizeof kernel->variant, "%u block%s of %u rows", (unsigned)r->blocks, r->blocks == 1 ? "" : "s",
             (unsigned)r->per_block);
}

static bool build_softmax(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    const struct ane_rows r = ane_rows_place(&b, (uint64_t)q->value[R], (uint64_t)q->value[C]);
    const struct ane_view x = ane_rows_input(&b, &r, "x", -4, 4), out = ane_rows_output(&b, &r, "out");
    for (uint32_t i = 0; i < r.blocks && !b.failed; i++)
        ane_build_softmax(&b, q->value[LOG] != 0, ane_rows_block(&r, x, i), ane_rows_block(&r, out, i));
    describe(kernel, &r, 5);
    return ane_build_end(&b);
}

/* ---- layernorm, rmsnorm ---- */

struct norm {
    bool centred, affine;
    float eps;
    struct ane_view gamma, beta; /* one row for all */
};

/* Adds a row of parameters, which a stride of 0 repeats for every row of x. */
static struct ane_view add_parameters(struct ane_builder *b, const char *name, uint64_t columns, double low, double high)
{
    struct ane_view row = ane_build_input(b, name, 1, 1, 1, (uint32_t)columns);
    ane_tensor_axis(ane_build_tensor(b, name, ANE_TENSOR_INPUT, &row, low, high), columns, ANE_HALF_BYTES);
    row.row = 0;
    return row;
}

static struct ane_view repeated(struct ane_view row, const struct ane_view *x)
{
    row.height = x->height;
    return row;
}

static void write_affine(struct ane_builder *b, const struct norm *n, struct ane_view x, struct ane_view factor,
                         struct ane_view out)
{
    const struct ane_planar product = {.op = ANE_PE_MUL}, sum = {.op = ANE_PE_ADD};
    const struct ane_view scaled = ane_build_ring(b, x.channels, x.height, x.width), gamma = repeated(n->gamma, &x);
    ane_build_row_scale(b, x, factor, scaled);
    if (!n->centred) {
        ane_build_planar(b, &product, scaled, &gamma, out);
        return;
    }
    const struct ane_view weighted = ane_build_ring(b, x.channels, x.height, x.width), beta = repeated(n->beta, &x);
    ane_build_planar(b, &product, scaled, &gamma, weighted);
    ane_build_planar(b, &sum, weighted, &beta, out);
}

static void write_block(struct ane_builder *b, const struct norm *n, struct ane_view x, struct ane_view out)
{
    const uint32_t mark = ane_build_mark(b);
    const float share = 1 / (float)x.width;
    const struct ane_view spread = ane_build_column(b, x.height), factor = ane_build_column(b, x.height);
    struct ane_view centred = x;
    if (n->centred) {
        const struct ane_view mean = ane_build_column(b, x.height);
        centred = ane_build_between(b, x.channels, x.height, x.width);
        ane_build_reduce(b, ANE_REDUCE_SUM, false, share, 0, x, mean);
        ane_build_row_shift(b, x, mean, centred);
    }
    ane_build_square_sum(b, share, n->eps, centred, spread);
    ane_build_column_rsqrt(b, spread, factor);
    if (n->affine)
        write_affine(b, n, centred, factor, out);
    else
        ane_build_row_scale(b, centred, factor, out);
    ane_build_release(b, mark);
}

static bool build_over_channels(const struct ane_kernel_request *q, bool centred, struct ane_kernel *kernel,
                                struct isa_error *error)
{
    const struct ane_channel_norm norm = {.rows = (uint64_t)q->value[R],
                                          .columns = (uint32_t)q->value[C],
                                          .centred = centred,
                                          .affine = q->value[AFFINE] != 0,
                                          .eps = (float)q->decimal[EPS]};
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    if (norm.columns > q->limits.channels_max)
        ane_build_limit(&b, "rows of %u: %s has at most %u channels", (unsigned)norm.columns, ane_build_generation(&b),
                        (unsigned)q->limits.channels_max);
    if (!b.failed)
        ane_build_channel_norm(&b, &norm);
    kernel->flops = 8 * (double)norm.rows * (double)norm.columns;
    return ane_build_end(&b);
}

static bool build_norm(const struct ane_kernel_request *q, bool centred, struct ane_kernel *kernel, struct isa_error *error)
{
    if (q->value[CHANNELS])
        return build_over_channels(q, centred, kernel, error);
    struct norm n = {.centred = centred, .affine = q->value[AFFINE] != 0, .eps = (float)q->decimal[EPS]};
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    const struct ane_rows r = ane_rows_place(&b, (uint64_t)q->value[R], (uint64_t)q->value[C]);
    const struct ane_view x = ane_rows_input(&b, &r, "x", -2, 2);
    if (n.affine)
        n.gamma = add_parameters(&b, "gamma", r.columns, 0.5, 1.5);
    if (n.affine && centred)
        n.beta = add_parameters(&b, "beta", r.columns, -1, 1);
    const struct ane_view out = ane_rows_output(&b, &r, "out");
    for (uint32_t i = 0; i < r.blocks && !b.failed; i++)
        write_block(&b, &n, ane_rows_block(&r, x, i), ane_rows_block(&r, out, i));
    describe(kernel, &r, 8);
    return ane_build_end(&b);
}

static bool build_layernorm(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    return build_norm(q, true, kernel, error);
}

static bool build_rmsnorm(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    return build_norm(q, false, kernel, error);
}

static const struct ane_kernel_info rows[] = {
    {"softmax", "RxC[,log=0|1]", "e^(x - max) / sum over the C columns of each row; log=1: its logarithm", 2, softmax_parameters,
     build_softmax},
    {"layernorm", "RxC[,eps=X][,affine=0|1][,channels=0|1]",
     "(x - mean) / sqrt(variance + eps) of each row, times gamma plus beta; channels=1: columns are channels, as products have "
     "them, gamma and beta constant",
     2, norm_parameters, build_layernorm},
    {"rmsnorm", "RxC[,eps=X][,affine=0|1][,channels=0|1]", "x / sqrt(mean of squares + eps) of each row, times gamma", 2,
     norm_parameters, build_rmsnorm},
};
const struct ane_kernel_family ane_family_norm = {rows, ARRAY_COUNT(rows)};
