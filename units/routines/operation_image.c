/* Pooling and resizing of images, N x C x H x W. */
#include "units/routines/operations.h"

#include <math.h>

static int64_t planes_of(const struct routine_request *r)
{
    return r->value[IMAGE_N] * r->value[IMAGE_C];
}

static bool add_images(const struct routine_request *r, struct routine_work *w, uint64_t out_h, uint64_t out_w,
                       struct isa_error *error)
{
    const uint64_t n = (uint64_t)r->value[IMAGE_N], c = (uint64_t)r->value[IMAGE_C];
    const uint64_t *const in = ROUTINE_DIMS(n, c, (uint64_t)r->value[IMAGE_H], (uint64_t)r->value[IMAGE_W]);
    const uint64_t *const out = ROUTINE_DIMS(n, c, out_h, out_w);
    if (!routine_check_count(r->row->operation->name, in, error) || !routine_check_count(r->row->operation->name, out, error))
        return false;
    routine_add_operand(w, "x", r->type, ROUTINE_INPUT, in);
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, out);
    w->min_bytes = (double)(routine_type_bytes(r->type, w->operand[0].count) + routine_type_bytes(r->type, w->operand[1].count));
    return true;
}

/* ---- pool ---- */

int64_t operation_pool_side(const struct routine_request *r, bool height)
{
    const int64_t side = r->value[height ? IMAGE_H : IMAGE_W] + 2 * r->value[POOL_PAD];
    const int64_t window = r->value[height ? POOL_R : POOL_S];
    return side < window ? 0 : (side - window) / r->value[POOL_STRIDE] + 1;
}

static bool pool_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const int64_t h = operation_pool_side(r, true), width = operation_pool_side(r, false),
                  taps = r->value[POOL_R] * r->value[POOL_S];
    if (h == 0 || width == 0)
        return kernel_refuse(error, "pool: a window of %lld x %lld does not fit the image", (long long)r->value[POOL_R],
                             (long long)r->value[POOL_S]);
    if (2 * r->value[POOL_PAD] > r->value[POOL_R] || 2 * r->value[POOL_PAD] > r->value[POOL_S])
        return kernel_refuse(error, "pool: pad is at most half of the window");
    if (!add_images(r, w, (uint64_t)h, (uint64_t)width, error))
        return false;
    w->flops = (double)w->operand[1].count * (double)taps;
    return true;
}

struct window_sum {
    double most, sum, size, count;
};

static struct window_sum window_of(const struct routine_request *r, const double *plane, int64_t y, int64_t x)
{
    const int64_t h = r->value[IMAGE_H], w = r->value[IMAGE_W];
    struct window_sum s = {.most = -INFINITY};
    for (int64_t i = y; i < y + r->value[POOL_R]; i++)
        for (int64_t j = x; j < x + r->value[POOL_S]; j++) {
            if (i < 0 || i >= h || j < 0 || j >= w)
                continue;
            s.most = fmax(s.most, plane[i * w + j]);
            s.sum += plane[i * w + j];
            s.size += fabs(plane[i * w + j]);
            s.count++;
        }
    return s;
}

/* Means of q elements: q + 4 roundings. */
static void pool_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t h = operation_pool_side(r, true), width = operation_pool_side(r, false), stride = r->value[POOL_STRIDE];
    const int64_t in = r->value[IMAGE_H] * r->value[IMAGE_W];
    for (int64_t at = 0; at < planes_of(r) * h * width; at++) {
        const struct window_sum s = window_of(r, operand[0] + at / (h * width) * in, at / width % h * stride - r->value[POOL_PAD],
                                              at % width * stride - r->value[POOL_PAD]);
        const double count = r->value[POOL_INCLUDE_PAD] ? (double)(r->value[POOL_R] * r->value[POOL_S]) : s.count;
        t->value[at] = r->value[POOL_OP] == POOL_MAX ? s.most : s.sum / count;
        t->error[at] = r->value[POOL_OP] == POOL_MAX ? 0 : t->epsilon * (s.count + 4) * s.size / count;
    }
}

/* ---- globalpool ---- */

static bool global_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    if (!add_images(r, w, 1, 1, error))
        return false;
    w->flops = (double)w->operand[0].count;
    return true;
}

static void global_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t pixels = r->value[IMAGE_H] * r->value[IMAGE_W];
    for (int64_t p = 0; p < planes_of(r); p++) {
        double most = -INFINITY, sum = 0, size = 0;
        for (int64_t i = 0; i < pixels; i++) {
            most = fmax(most, operand[0][p * pixels + i]);
            sum += operand[0][p * pixels + i];
            size += fabs(operand[0][p * pixels + i]);
        }
        t->value[p] = r->value[GLOBALPOOL_OP] ? most : sum / (double)pixels;
        t->error[p] = r->value[GLOBALPOOL_OP] ? 0 : t->epsilon * ((double)pixels / 16 + 10) * size / (double)pixels;
    }
}

/* ---- resize ---- */

static bool resize_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    if (r->value[RESIZE_ALIGN] && !r->value[RESIZE_MODE])
        return kernel_refuse(error, "resize: align goes with mode=bilinear");
    if (!add_images(r, w, (uint64_t)r->value[RESIZE_H], (uint64_t)r->value[RESIZE_W], error))
        return false;
    w->flops = r->value[RESIZE_MODE] ? 6.0 * (double)w->operand[1].count : 0;
    return true;
}

static double place_of(int64_t o, int64_t in, int64_t out, bool align)
{
    if (align)
        return out > 1 ? (double)(o * (in - 1)) / (double)(out - 1) : 0;
    return fmax(((double)(2 * o + 1) * (double)in - (double)out) / (double)(2 * out), 0);
}

static double bilinear(const double *plane, int64_t h, int64_t w, double y, double x)
{
    const int64_t y0 = (int64_t)y, x0 = (int64_t)x, y1 = y0 + 1 < h ? y0 + 1 : h - 1, x1 = x0 + 1 < w ? x0 + 1 : w - 1;
    const double fy = y - (double)y0, fx = x - (double)x0;
    return (1 - fy) * ((1 - fx) * plane[y0 * w + x0] + fx * plane[y0 * w + x1]) +
           fy * ((1 - fx) * plane[y1 * w + x0] + fx * plane[y1 * w + x1]);
}

/* Nearest: row o * in / out, rounded down; exact. Bilinear: 16 u max |x|. */
static void resize_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t h = r->value[IMAGE_H], w = r->value[IMAGE_W], oh = r->value[RESIZE_H], ow = r->value[RESIZE_W];
    double most = 0;
    for (int64_t i = 0; i < planes_of(r) * h * w; i++)
        most = fmax(most, fabs(operand[0][i]));
    for (int64_t at = 0; at < planes_of(r) * oh * ow; at++) {
        const double *const plane = operand[0] + at / (oh * ow) * h * w;
        const int64_t y = at / ow % oh, x = at % ow;
        const bool align = r->value[RESIZE_ALIGN];
        t->value[at] = r->value[RESIZE_MODE] ? bilinear(plane, h, w, place_of(y, h, oh, align), place_of(x, w, ow, align))
                                             : plane[y * h / oh * w + x * w / ow];
        t->error[at] = r->value[RESIZE_MODE] ? 16 * t->epsilon * most : 0;
    }
}

const struct routine_operation operation_pool = {
    .name = "pool", .positional = 0, .operands = pool_operands, .reference = pool_reference};
const struct routine_operation operation_globalpool = {
    .name = "globalpool", .positional = 0, .operands = global_operands, .reference = global_reference};
const struct routine_operation operation_resize = {
    .name = "resize", .positional = 0, .operands = resize_operands, .reference = resize_reference};
