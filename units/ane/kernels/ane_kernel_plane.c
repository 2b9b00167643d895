/* groupnorm, batchnorm, globalpool: values per plane, combined over channels by small convolutions. */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_image.h"
#include "units/ane/kernels/ane_kernel_family.h"
#include "units/ane/kernels/ane_norm.h"
#include "units/ane/kernels/ane_plane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N, C, H, W, GROUPS, GROUP_EPS };
enum { BATCH_EPS = 4, OP = 4 };
enum { ROWS_MAX = 8191 /* of a reduction: 13 bits */ };

static const struct kernel_parameter groupnorm_parameters[] = {
    ANE_IMAGE_PARAMETERS,
    {.name = "groups", .missing = 1, .least = 1, .most = ANE_CHANNEL_MOST},
    {.name = "eps", .missing = 0, .least = 0, .most = 1, .decimal = true, .usual = 1e-5},
    {.name = NULL},
};
static const struct kernel_parameter batchnorm_parameters[] = {
    ANE_IMAGE_PARAMETERS,
    {.name = "eps", .missing = 0, .least = 0, .most = 1, .decimal = true, .usual = 1e-5},
    {.name = NULL},
};
static const struct kernel_parameter globalpool_parameters[] = {
    ANE_IMAGE_PARAMETERS,
    {.name = "op", .words = "avg|max"},
    {.name = NULL},
};

static struct ane_planes planes_of(struct ane_builder *b, uint32_t rows_max)
{
    const int64_t *v = b->request->value;
    return ane_planes_place(b, (uint32_t)v[N], (uint32_t)v[C], (uint32_t)v[H], (uint32_t)v[W], rows_max);
}

static void describe(struct ane_kernel *kernel, const struct ane_planes *p, double per_element)
{
    kernel->flops = per_element * (double)p->n * (double)p->c * (double)p->h * (double)p->w;
    snprintf(kernel->variant, sizeof kernel->variant, "planes as %u row%s of %u", (unsigned)p->rows, p->rows == 1 ? "" : "s",
             (unsigned)p->width);
}

/* ---- groupnorm ---- */

struct group_norm {
    struct ane_planes planes;
    uint32_t groups;
    float eps;
    const float *gamma, *beta;
};

/* The values of a column's rows, plane after plane. */
static struct ane_view column_planes(const struct ane_planes *p, struct ane_view column, uint32_t rows)
{
    column.channels = p->c;
    column.height = rows;
    column.plane = rows * column.row;
    column.broadcast_width = false;
    return column;
}

/* Means over the rows of the planes and the channels of each group, returned to every channel: a grouped convolution with equal
 * weights, over as many pixels as there are rows, or over as many channels where a kernel has no room for these. */
static void write_group_mean(struct ane_builder *b, const struct group_norm *g, struct ane_view rows_column, const float *bias,
                             struct ane_view result)
{
    const struct ane_planes *p = &g->planes;
    const bool tall = p->rows <= b->request->limits.kernel_max;
    const uint32_t in = p->c / g->groups;
    const size_t count = (size_t)p->c * in * p->rows;
    float *weight = malloc(count * sizeof *weight);
    for (size_t i = 0; weight && i < count; i++)
        weight[i] = 1; /* exact; the scale applies the share of each */
    const struct ane_conv mean = {.kernel_width = 1,
                                  .kernel_height = tall ? p->rows : 1,
                                  .stride_x = 1,
                                  .stride_y = 1,
                                  .groups = g->groups,
                                  .weight = weight,
                                  .bias = bias,
                                  .scale = 1 / (float)(in * p->rows),
                                  .plain = true};
    if (!weight)
        ane_build_fail(b, "out of memory");
    struct ane_view source = column_planes(p, rows_column, tall ? p->rows : 1);
    source.channels = tall ? p->c : p->c * p->rows;
    ane_build_conv(b, &mean, source, column_planes(p, result, 1));
    free(weight);
}

/* A sum for each row, or one of squares, by as many channels as a reduction has rows for. */
static void write_row_sums(struct ane_builder *b, const struct ane_planes *p, bool squares, struct ane_view x,
                           struct ane_view sums)
{
    const uint32_t most = p->rows < ROWS_MAX ? ROWS_MAX / p->rows : 1;
    for (uint32_t first = 0; first < p->c; first += most) {
        const uint32_t count = p->c - first < most ? p->c - first : most;
        const struct ane_view part = ane_view_channels(x, first, count);
        const struct ane_view to = ane_view_rows(sums, first * p->rows, count * p->rows);
        if (squares)
            ane_build_square_sum(b, 1 / (float)x.width, 0, part, to);
        else
            ane_build_reduce(b, ANE_REDUCE_SUM, false, 1 / (float)x.width, 0, part, to);
    }
}

/* Repeats the value of a channel for each of its rows. */
static struct ane_view of_rows(const struct ane_view *x, struct ane_view values)
{
    values.width = x->width;
    values.channels = x->channels;
    values.height = x->height;
    values.plane = values.row;
    values.row = 0;
    values.broadcast_width = true;
    return values;
}

/* Multiplies each channel by its weight and adds its bias. */
static struct ane_conv channel_affine(const float *weight, const float *bias)
{
    struct ane_conv conv = ane_conv_of_pixels(weight, bias);
    conv.depthwise = true;
    return conv;
}

static void write_image(struct ane_builder *b, const struct group_norm *g, struct ane_view x, struct ane_view out)
{
    const struct ane_planes *p = &g->planes;
    const uint32_t mark = ane_build_mark(b), rows = p->c * p->rows;
    const struct ane_planar minus = {.op = ANE_PE_ADD, .subtract = true}, times = {.op = ANE_PE_MUL},
                            shift = {.op = ANE_PE_ADD, .bias = g->eps};
    const struct ane_conv affine = channel_affine(g->gamma, g->beta);
    const struct ane_view sums = ane_build_column(b, rows), means = ane_build_column(b, p->c),
                          factors = ane_build_column(b, p->c);
    const struct ane_view centred = ane_build_between(b, x.channels, x.height, x.width);
    const struct ane_view ring = ane_build_ring(b, x.channels, x.height, x.width);
    const struct ane_view mean_of_rows = of_rows(&x, means), factor_of_rows = of_rows(&x, factors);
    write_row_sums(b, p, false, x, sums);
    write_group_mean(b, g, sums, NULL, means);
    ane_build_planar(b, &minus, x, &mean_of_rows, centred);
    write_row_sums(b, p, true, centred, sums);
    write_group_mean(b, g, sums, NULL, means);
    ane_build_planar(b, &shift, column_planes(p, means, 1), NULL, column_planes(p, means, 1));
    ane_build_column_rsqrt(b, means, factors);
    ane_build_planar(b, &times, factor_of_rows, &centred, ring);
    ane_build_conv(b, &affine, ring, out);
    ane_build_release(b, mark);
}

static bool build_groupnorm(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    struct group_norm g = {.groups = (uint32_t)q->value[GROUPS], .eps = (float)q->decimal[GROUP_EPS]};
    struct ane_builder b;
    if (q->value[C] % q->value[GROUPS])
        return kernel_refuse(error, "groupnorm: c must be a multiple of groups");
    ane_build_begin(&b, q, kernel, 1, error);
    g.planes = planes_of(&b, q->limits.channels_max / (uint32_t)q->value[C]);
    const struct ane_view x = ane_planes_input(&b, &g.planes, "x", -2, 2);
    ane_tensor_axis(ane_build_tensor(&b, "gamma", ANE_TENSOR_CONSTANT, NULL, 0.5, 1.5), g.planes.c, 0);
    ane_tensor_axis(ane_build_tensor(&b, "beta", ANE_TENSOR_CONSTANT, NULL, -1, 1), g.planes.c, 0);
    const struct ane_view out = ane_planes_output(&b, &g.planes, "out");
    float *gamma = ane_build_constant(&b, "gamma", g.planes.c, 0.5, 1.5),
          *beta = ane_build_constant(&b, "beta", g.planes.c, -1, 1);
    g.gamma = gamma;
    g.beta = beta;
    for (uint32_t i = 0; i < g.planes.n && !b.failed; i++)
        write_image(&b, &g, ane_view_image(x, i), ane_view_image(out, i));
    free(gamma);
    free(beta);
    describe(kernel, &g.planes, 8);
    return ane_build_end(&b);
}

/* ---- batchnorm ---- */

/* y = (x - mean) / sqrt(variance + eps) * gamma + beta as one factor and one summand per channel. */
static void fold_statistics(uint32_t channels, double eps, float *gamma, float *beta, const float *mean, const float *variance)
{
    for (uint32_t c = 0; c < channels; c++) {
        const double factor = (double)gamma[c] / sqrt((double)variance[c] + eps);
        beta[c] = (float)((double)beta[c] - (double)mean[c] * factor);
        gamma[c] = (float)factor;
    }
}

static bool build_batchnorm(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    static const char *const names[4] = {"gamma", "beta", "mean", "variance"};
    static const double low[4] = {0.5, -1, -1, 0.5}, high[4] = {1.5, 1, 1, 1.5};
    float *constant[4];
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    const struct ane_planes p = planes_of(&b, q->limits.dimension_max);
    const struct ane_view x = ane_planes_input(&b, &p, "x", -2, 2);
    for (unsigned i = 0; i < 4; i++) {
        ane_tensor_axis(ane_build_tensor(&b, names[i], ANE_TENSOR_CONSTANT, NULL, low[i], high[i]), p.c, 0);
        constant[i] = ane_build_constant(&b, names[i], p.c, low[i], high[i]);
    }
    const struct ane_view out = ane_planes_output(&b, &p, "out");
    if (!b.failed)
        fold_statistics(p.c, q->decimal[BATCH_EPS], constant[0], constant[1], constant[2], constant[3]);
    const struct ane_conv affine = channel_affine(constant[0], constant[1]);
    for (uint32_t i = 0; i < p.n && !b.failed; i++)
        ane_build_conv(&b, &affine, ane_view_image(x, i), ane_view_image(out, i));
    for (unsigned i = 0; i < 4; i++)
        free(constant[i]);
    describe(kernel, &p, 2);
    return ane_build_end(&b);
}

/* ---- globalpool ---- */

/* Pools as many planes as a reduction takes rows; planes of several rows are combined in a pooling window. */
static void pool_planes(struct ane_builder *b, const struct ane_planes *p, bool largest, struct ane_view x, struct ane_view out)
{
    const enum ane_pe_reduce along = largest ? ANE_REDUCE_MAX : ANE_REDUCE_SUM;
    const float share = largest ? 1 : 1 / (float)p->width;
    const struct ane_pool pool = {.kind = largest ? ANE_POOL_MAX : ANE_POOL_AVERAGE,
                                  .kernel_width = 1,
                                  .kernel_height = p->rows,
                                  .stride_x = 1,
                                  .stride_y = 1};
    const uint32_t mark = ane_build_mark(b);
    if (p->rows == 1) {
        ane_build_reduce(b, along, false, share, 0, x, out);
        return;
    }
    struct ane_view rows = ane_build_column(b, x.channels * p->rows);
    ane_build_reduce(b, along, false, share, 0, x, rows);
    rows.channels = x.channels;
    rows.height = p->rows;
    rows.plane = p->rows * rows.row;
    rows.broadcast_width = false;
    ane_build_pool(b, &pool, rows, out);
    ane_build_release(b, mark);
}

static bool build_globalpool(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    const struct ane_planes p = planes_of(&b, q->limits.pool_max);
    const struct ane_view x = ane_planes_input(&b, &p, "x", -1, 1), out = ane_planes_values(&b, &p, "out");
    const uint32_t at_once = ROWS_MAX / p.rows;
    for (uint64_t first = 0, all = (uint64_t)p.n * p.c; first < all && !b.failed; first += at_once) {
        const uint32_t count = all - first < at_once ? (uint32_t)(all - first) : at_once;
        struct ane_view from = x, to = out;
        from.base += (uint32_t)(first * x.plane);
        to.base += (uint32_t)(first * out.plane);
        from.channels = to.channels = count;
        pool_planes(&b, &p, q->value[OP] == 1, from, to);
    }
    describe(kernel, &p, 1);
    return ane_build_end(&b);
}

static const struct ane_kernel_info rows[] = {
    {"groupnorm", "c=C,h=H,w=W[,n=N][,groups=G][,eps=X]",
     "each group of channels of an image normalised, times gamma plus beta per channel (constants); groups=C: instance norm", 0,
     groupnorm_parameters, build_groupnorm},
    {"batchnorm", "c=C,h=H,w=W[,n=N][,eps=X]", "(x - mean) / sqrt(variance + eps) * gamma + beta per channel, all constants", 0,
     batchnorm_parameters, build_batchnorm},
    {"globalpool", "c=C,h=H,w=W[,n=N][,op=avg|max]", "mean or largest element of each H x W plane", 0, globalpool_parameters,
     build_globalpool},
};
const struct ane_kernel_family ane_family_plane = {rows, ARRAY_COUNT(rows)};
