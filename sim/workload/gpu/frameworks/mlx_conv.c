/* MLX convolutions: unfold and multiply, or implicit products. Section 4 of the facts. */
#include "sim/workload/gpu/frameworks/framework_plan.h"

struct conv {
    struct framework_plan *p;
    uint64_t images, channels, height, width, filters, rows, columns, stride, pad, out_height, out_width, pixels, taps;
    unsigned out; /* buffer */
};

enum { IMAGE, WEIGHTS, OUT, MOST_TAPS = 32 /* a side, of which a kernel keeps a bit each */ };

/* As struct conv_sizes of mlx/conv.metal. The image has so many rows and columns, of which so many lie outside. */
static void give_sizes(const struct conv *c, uint64_t height, uint64_t width, uint64_t pad)
{
    const struct {
        int32_t images, channels, filters, height, width, rows, columns, out_height, out_width, stride, pad, dilation, spread,
            turned;
        uint64_t image_step, row_step, pixel_step, filter_step, tap_row_step, tap_step;
    } sizes = {.images = (int32_t)c->images,
               .channels = (int32_t)c->channels,
               .filters = (int32_t)c->filters,
               .height = (int32_t)height,
               .width = (int32_t)width,
               .rows = (int32_t)c->rows,
               .columns = (int32_t)c->columns,
               .out_height = (int32_t)c->out_height,
               .out_width = (int32_t)c->out_width,
               .stride = (int32_t)c->stride,
               .pad = (int32_t)pad,
               .dilation = 1,
               .spread = 1,
               .image_step = height * width * c->channels,
               .row_step = width * c->channels,
               .pixel_step = c->channels,
               .filter_step = c->taps * c->channels,
               .tap_row_step = c->columns * c->channels,
               .tap_step = c->channels};
    plan_numbers(c->p, &sizes, sizeof sizes);
}

/* ---- up to 0.4: a padded copy, even without padding, then a strided copy of all windows, then a product ---- */

static void pad_image(const struct conv *c, unsigned padded, uint64_t height, uint64_t width)
{
    const uint64_t all = c->images * height * width * c->channels, row = c->width * c->channels;
    plan_launch(c->p, (struct plan_size){all, 1, 1}, (struct plan_size){plan_least(1024, all), 1, 1}, "mlx_fill_%s",
                plan_type(c->p));
    plan_buffer(c->p, padded);
    if (!c->pad) {
        plan_launch(c->p, (struct plan_size){all, 1, 1}, (struct plan_size){plan_least(1024, all), 1, 1}, "mlx_copy_line_%s",
                    plan_type(c->p));
        plan_buffer(c->p, IMAGE);
        plan_buffer(c->p, padded);
        return;
    }
    plan_launch(c->p, (struct plan_size){row, c->height, c->images}, plan_block(row, c->height, c->images), "mlx_put_inside_%s",
                plan_type(c->p));
    plan_buffer(c->p, IMAGE);
    plan_buffer(c->p, padded);
    plan_number(c->p, (uint32_t)row, (uint32_t)c->height, (uint32_t)(width * c->channels), (uint32_t)height,
                (uint32_t)((c->pad * width + c->pad) * c->channels));
}

static bool unfolded_view(const struct conv *c)
{
    const uint64_t height = c->height + 2 * c->pad, width = c->width + 2 * c->pad, depth = c->taps * c->channels;
    const unsigned padded = plan_scratch(c->p, "padded", c->p->type, c->images * height * width * c->channels);
    const unsigned windows = plan_scratch(c->p, "windows", c->p->type, c->pixels * depth);
    const struct plan_size grid = {c->columns * c->channels, c->rows, c->pixels};
    pad_image(c, padded, height, width);
    plan_launch(c->p, grid, plan_block(grid.x, grid.y, grid.z), "mlx_unfold_view_%s", plan_type(c->p));
    plan_buffer(c->p, padded);
    plan_buffer(c->p, windows);
    give_sizes(c, height, width, 0);
    return mlx_product_nt(c->p, c->pixels, c->filters, depth, windows, WEIGHTS, c->out);
}

/* ---- from 0.5 on: a kernel that unfolds, with threadgroups that are cut at the edge of its narrow grid ---- */

static bool unfolded(const struct conv *c)
{
    const uint64_t depth = c->taps * c->channels;
    const unsigned windows = plan_scratch(c->p, "windows", c->p->type, c->pixels * depth);
    plan_launch(c->p, (struct plan_size){c->channels, c->taps, c->pixels}, (struct plan_size){32, 8, 1}, "mlx_unfold_%s",
                plan_type(c->p));
    plan_buffer(c->p, IMAGE);
    plan_buffer(c->p, windows);
    give_sizes(c, c->height, c->width, c->pad);
    return mlx_product_nt(c->p, c->pixels, c->filters, depth, windows, WEIGHTS, c->out);
}

/* ---- implicit products ---- */

static void implicit(const struct conv *c, unsigned bm, unsigned bn, bool general)
{
    const unsigned wm = bn == 8 ? 4 : 2, wn = bn == 8 ? 1 : 2;
    char channels[8];
    snprintf(channels, sizeof channels, general ? "general" : c->channels <= 4 ? "%u" : "any", (unsigned)c->channels);
    plan_launch_groups(c->p, (struct plan_size){plan_ceil(c->filters, bn), plan_ceil(c->pixels, bm), 1},
                       (struct plan_size){32, wn, wm}, "mlx_conv_%s_%s_%ux%u_%ux%u", channels, plan_type(c->p), bm, bn, wm, wn);
    if (c->channels <= 4)
        plan_holds_more(c->p); /* their times say so, those of the kernels of more channels do not */
    plan_buffer(c->p, IMAGE);
    plan_buffer(c->p, WEIGHTS);
    plan_buffer(c->p, c->out);
    give_sizes(c, c->height, c->width, c->pad);
}

/* ---- the rules ---- */

static bool is_winograd(const struct conv *c)
{
    const uint64_t both = c->channels + c->filters;
    if (c->taps != 9 || c->rows != 3 || c->stride != 1 || c->channels % 32 || c->filters % 32)
        return false;
    if (c->p->version < framework_version(0, 5, 0))
        return c->channels >= 64 && c->filters >= 64;
    if (c->p->version < framework_version(0, 19, 2))
        return both >= 512 || (both >= 256 && c->height * c->width * c->channels >= UINT64_C(1) << 18);
    return both >= 256 && c->images * c->height * c->width >= 4096;
}

static bool choose(const struct conv *c)
{
    if (c->p->version < framework_version(0, 5, 0)) {
        if (c->channels % 32 || c->filters % 32)
            return unfolded_view(c);
        implicit(c, 32, 32, false);
    } else if ((c->channels <= 4 || c->channels % 16 == 0) && (c->filters <= 16 || c->filters % 16 == 0)) {
        const unsigned bm = c->pixels >= 8192 && c->channels >= 64 ? 64 : 32;
        implicit(c, bm, c->filters <= 16 ? 8 : bm == 64 || c->filters >= 64 ? 64 : 32, false);
    } else if (c->p->version >= framework_version(0, 28, 0) && c->pixels >= 256) {
        const unsigned bm = c->pixels >= 8192 && c->channels >= 64 ? 64 : 32;
        implicit(c, bm, bm == 64 && c->filters >= 64 ? 64 : 32, true);
    } else {
        return unfolded(c);
    }
    return true;
}

bool mlx_conv2d(struct framework_plan *p)
{
    return mlx_conv2d_to(p, OUT);
}

bool mlx_conv2d_to(struct framework_plan *p, unsigned out)
{
    struct conv c = {.p = p,
                     .out = out,
                     .images = plan_value(p, "n"),
                     .channels = plan_value(p, "c"),
                     .height = plan_value(p, "h"),
                     .width = plan_value(p, "w"),
                     .filters = plan_value(p, "k"),
                     .rows = plan_value(p, "r"),
                     .columns = plan_value(p, "s"),
                     .stride = plan_value(p, "stride"),
                     .pad = plan_value(p, "pad")};
    if (plan_value(p, "groups") != 1 || plan_value(p, "dilation") != 1 || plan_value(p, "bias") || plan_value(p, "act"))
        return plan_refuse(p, "conv2d without groups, dilation, bias and activation");
    if (c.rows > MOST_TAPS || c.columns > MOST_TAPS)
        return plan_refuse(p, "conv2d with filters of up to %d rows and columns", MOST_TAPS);
    c.out_height = (c.height + 2 * c.pad - c.rows) / c.stride + 1;
    c.out_width = (c.width + 2 * c.pad - c.columns) / c.stride + 1;
    c.pixels = c.images * c.out_height * c.out_width;
    c.taps = c.rows * c.columns;
    plan_channels_last(p, IMAGE, c.images, c.channels, c.height * c.width);
    plan_channels_last(p, WEIGHTS, c.filters, c.channels, c.taps);
    if (out == OUT)
        plan_channels_last(p, out, c.images, c.filters, c.out_height * c.out_width);
    if (is_winograd(&c))
        return mlx_winograd(
            p, &(struct mlx_winograd){c.images, c.channels, c.height, c.width, c.filters, c.pad, IMAGE, WEIGHTS, out});
    return choose(&c) && !p->failed;
}
