/* MLX's convolutions of 3 x 3 by Winograd's method: a padded copy, transforms of filters and tiles, 64 products, a transform
 * back. Facts: mlx/backend/metal/conv.cpp and kernels/conv.metal, 0.5.0 to 0.30.1. */
#include "sim/workload/gpu/frameworks/framework_plan.h"

enum { TILE = 6, TAPS = 3, PLACES = GPU_WINOGRAD_SIDE * GPU_WINOGRAD_SIDE, FILTERS_A_GROUP = 4 };

struct winograd {
    struct framework_plan *p;
    struct mlx_winograd of;
    uint64_t out_height, out_width, across, down, tiles, padded_height, padded_width;
    unsigned padded, weights, pixels, products; /* buffers */
};

/* Zeros, then the image into their middle. */
static void pad(const struct winograd *w)
{
    const uint64_t row = w->of.width * w->of.channels, pitch = w->padded_width * w->of.channels;
    const uint64_t all = w->of.images * w->padded_height * pitch;
    plan_launch(w->p, plan_line(all), plan_line(plan_least(1024, all)), "mlx_fill_%s", plan_type(w->p));
    plan_buffer(w->p, w->padded);
    plan_launch(w->p, (struct plan_size){row, w->of.height, w->of.images}, plan_block(row, w->of.height, w->of.images),
                "mlx_put_inside_%s", plan_type(w->p));
    plan_buffer(w->p, w->of.image);
    plan_buffer(w->p, w->padded);
    plan_number(w->p, (uint32_t)row, (uint32_t)w->of.height, (uint32_t)pitch, (uint32_t)w->padded_height,
                (uint32_t)((w->of.pad * w->padded_width + w->of.pad) * w->of.channels));
}

/* As struct winograd_sizes of mlx/winograd.metal, behind the buffers and the matrix. */
static void give(const struct winograd *w, unsigned in, unsigned out, enum gpu_winograd_transform which)
{
    float matrix[GPU_WINOGRAD_SIDE][GPU_WINOGRAD_SIDE];
    const bool result = which == GPU_WINOGRAD_RESULT;
    const uint64_t row = result ? w->out_width * w->of.filters : w->padded_width * w->of.channels;
    gpu_winograd_matrix(which, matrix);
    plan_buffer(w->p, in);
    plan_buffer(w->p, out);
    plan_table(w->p, matrix, sizeof matrix);
    plan_number(w->p, (uint32_t)w->of.channels, (uint32_t)w->of.filters, (uint32_t)w->tiles, (uint32_t)w->across,
                (uint32_t)w->down, (uint32_t)row, (uint32_t)(row * (result ? w->out_height : w->padded_height)),
                (uint32_t)w->out_height, (uint32_t)w->out_width);
}

static void transform(const struct winograd *w, const char *what, struct plan_size groups, struct plan_size threads)
{
    plan_launch_groups(w->p, groups, threads, "mlx_winograd_%s_%s", what, plan_type(w->p));
}

bool mlx_winograd(struct framework_plan *p, const struct mlx_winograd *of)
{
    struct winograd w = {
        .p = p, .of = *of, .out_height = of->height + 2 * of->pad - TAPS + 1, .out_width = of->width + 2 * of->pad - TAPS + 1};
    const struct plan_size filters = {of->filters / FILTERS_A_GROUP, 1, 1}, lanes = {32, FILTERS_A_GROUP, 1};
    const struct plan_size square = {32, 2, 2};
    w.across = plan_ceil(w.out_width, TILE);
    w.down = plan_ceil(w.out_height, TILE);
    w.tiles = of->images * w.across * w.down;
    w.padded_height = TILE * w.down + TAPS - 1;
    w.padded_width = TILE * w.across + TAPS - 1;
    w.padded = plan_scratch(p, "padded", p->type, of->images * w.padded_height * w.padded_width * of->channels);
    w.weights = plan_scratch(p, "filters", p->type, PLACES * of->channels * of->filters);
    w.pixels = plan_scratch(p, "tiles", p->type, PLACES * w.tiles * of->channels);
    w.products = plan_scratch(p, "products", p->type, PLACES * w.tiles * of->filters);
    if (w.padded_height * w.padded_width * of->channels > UINT32_MAX || w.out_height * w.out_width * of->filters > UINT32_MAX)
        return plan_refuse(p, "conv2d with an image of more than 2^32 - 1 elements");
    const struct plan_size tiles = {w.across, w.down, of->images};
    pad(&w);
    transform(&w, "weights", filters, lanes);
    give(&w, of->weights, w.weights, GPU_WINOGRAD_WEIGHTS);
    transform(&w, "pixels", tiles, square);
    give(&w, w.padded, w.pixels, GPU_WINOGRAD_IMAGE);
    if (!mlx_products(p, PLACES, w.tiles, of->filters, of->channels, false, w.pixels, w.weights, w.products))
        return false;
    transform(&w, "results", tiles, square);
    give(&w, w.products, of->out, GPU_WINOGRAD_RESULT);
    return !p->failed;
}
