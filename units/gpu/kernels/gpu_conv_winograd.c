/* Winograd's minimal filtering F(m x m, 3 x 3): A' [(G g G') * (B' d B)] A per tile (Lavin and Gray, "Fast Algorithms for
 * Convolutional Neural Networks", 2015; F(6, 3) with the points 0, +-1, +-2, +-1/2).
 *
 * Four steps: weights to U[t*t][K][C], image tiles to V[t*t][C][tiles], t*t products M = U V, M to the result; t = m + 2.
 * Everything in between is float32. Larger tiles save products and lose accuracy, because their transforms add numbers that
 * cancel later.
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_conv.h"
#include "units/gpu/kernels/gpu_gemm.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>
#include <string.h>

enum { T_MAX = GPU_WINOGRAD_SIDE, TAPS = 3, GROUP_THREADS = 64 };

/* The rows of a transform, with up to eight factors each. */
struct transforms {
    unsigned t;
    float image[T_MAX][T_MAX], weights[T_MAX][TAPS], result[T_MAX - 2][T_MAX];
};

static const struct transforms f2 = {
    .t = 4,
    .image = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
    .weights = {{1, 0, 0}, {0.5F, 0.5F, 0.5F}, {0.5F, -0.5F, 0.5F}, {0, 0, 1}},
    .result = {{1, 1, 1, 0}, {0, 1, -1, -1}},
};
static const struct transforms f4 = {
    .t = 6,
    .image = {{4, 0, -5, 0, 1, 0},
              {0, -4, -4, 1, 1, 0},
              {0, 4, -4, -1, 1, 0},
              {0, -2, -1, 2, 1, 0},
              {0, 2, -1, -2, 1, 0},
              {0, 4, 0, -5, 0, 1}},
    .weights = {{1 / 4.0F, 0, 0},
                {-1 / 6.0F, -1 / 6.0F, -1 / 6.0F},
                {-1 / 6.0F, 1 / 6.0F, -1 / 6.0F},
                {1 / 24.0F, 1 / 12.0F, 1 / 6.0F},
                {1 / 24.0F, -1 / 12.0F, 1 / 6.0F},
                {0, 0, 1}},
    .result = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
};
static const struct transforms f6 = {
    .t = 8,
    .image = {{1, 0, -5.25F, 0, 5.25F, 0, -1, 0},
              {0, 1, 1, -4.25F, -4.25F, 1, 1, 0},
              {0, -1, 1, 4.25F, -4.25F, -1, 1, 0},
              {0, 0.5F, 0.25F, -2.5F, -1.25F, 2, 1, 0},
              {0, -0.5F, 0.25F, 2.5F, -1.25F, -2, 1, 0},
              {0, 2, 4, -2.5F, -5, 0.5F, 1, 0},
              {0, -2, 4, 2.5F, -5, -0.5F, 1, 0},
              {0, -1, 0, 5.25F, 0, -5.25F, 0, 1}},
    .weights = {{1, 0, 0},
                {-2 / 9.0F, -2 / 9.0F, -2 / 9.0F},
                {-2 / 9.0F, 2 / 9.0F, -2 / 9.0F},
                {1 / 90.0F, 1 / 45.0F, 2 / 45.0F},
                {1 / 90.0F, -1 / 45.0F, 2 / 45.0F},
                {32 / 45.0F, 16 / 45.0F, 8 / 45.0F},
                {32 / 45.0F, -16 / 45.0F, 8 / 45.0F},
                {0, 0, 1}},
    .result = {{1, 1, 1, 1, 1, 1, 1, 0},
               {0, 1, -1, 2, -2, 0.5F, -0.5F, 0},
               {0, 1, 1, 4, 4, 0.25F, 0.25F, 0},
               {0, 1, -1, 8, -8, 0.125F, -0.125F, 0},
               {0, 1, 1, 16, 16, 0.0625F, 0.0625F, 0},
               {0, 1, -1, 32, -32, 0.03125F, -0.03125F, 1}},
};

static const float *row_of(const struct transforms *f, enum gpu_winograd_transform which, unsigned row)
{
    if (row >= (which == GPU_WINOGRAD_RESULT ? f->t - 2 : f->t))
        return NULL;
    return which == GPU_WINOGRAD_IMAGE ? f->image[row] : which == GPU_WINOGRAD_WEIGHTS ? f->weights[row] : f->result[row];
}

void gpu_winograd_matrix(enum gpu_winograd_transform which, float matrix[GPU_WINOGRAD_SIDE][GPU_WINOGRAD_SIDE])
{
    const unsigned columns = which == GPU_WINOGRAD_WEIGHTS ? TAPS : T_MAX;
    memset(matrix, 0, sizeof(float[T_MAX][T_MAX]));
    for (unsigned row = 0; row < T_MAX && row_of(&f6, which, row); row++)
        memcpy(matrix[row], row_of(&f6, which, row), columns * sizeof(float));
}

struct winograd {
    const struct gpu_conv *v;
    const struct transforms *f;
    unsigned m;
    uint32_t tiles_x, tiles_y, tiles; /* tiles: of all images */
    unsigned u, vd, product;          /* buffers */
};

/* ---- one transform in registers ---- */

/* register to = sum of factor[i] * register from + i * step */
static void combine(struct gpu_emit *e, unsigned to, const float *factor, unsigned count, unsigned from, unsigned step)
{
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        const unsigned source = from + i * step;
        if (factor[i] == 0)
            continue;
        if (!any && (factor[i] == 1 || factor[i] == -1))
            gpu_emit(e, "fadd32 r%u, r%u%s, -0.0", to, source, factor[i] < 0 ? ".neg" : "");
        else if (!any)
            gpu_emit(e, "fmul32 r%u, r%u, %s", to, source, gpu_float(e, factor[i]));
        else if (factor[i] == 1 || factor[i] == -1)
            gpu_emit(e, "fadd32 r%u, r%u, r%u%s", to, to, source, factor[i] < 0 ? ".neg" : "");
        else
            gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", to, source, gpu_float(e, factor[i]), to);
        any = true;
    }
}

/* Element i of lane `lane` of the matrix is in register value + i * along + lane * across. Replaces every lane by rows x lane. */
static void transform_lanes(struct gpu_emit *e, unsigned value, const float *rows, unsigned row_length, unsigned outs,
                            unsigned ins, unsigned lanes, unsigned along, unsigned across)
{
    const unsigned t = gpu_register(e, outs);
    for (unsigned lane = 0; lane < lanes; lane++) {
        for (unsigned i = 0; i < outs; i++)
            combine(e, t + i, rows + i * row_length, ins, value + lane * across, along);
        for (unsigned i = 0; i < outs; i++)
            gpu_mov(e, value + lane * across + i * along, t + i);
    }
    gpu_register_free(e, t, outs);
}

/* The matrix has rows of `pitch` registers from `value` on. Transforms ins x ins into outs x outs. */
static void transform(struct gpu_emit *e, unsigned value, unsigned pitch, const float *rows, unsigned row_length, unsigned outs,
                      unsigned ins)
{
    transform_lanes(e, value, rows, row_length, outs, ins, ins, pitch, 1);  /* down each column */
    transform_lanes(e, value, rows, row_length, outs, ins, outs, 1, pitch); /* along each row */
}

/* Stores t x t values, element i of them at index + i * distance. */
static void store_all(struct gpu_emit *e, unsigned value, unsigned count, struct gpu_base out, unsigned index, uint32_t distance)
{
    for (unsigned i = 0; i < count; i++) {
        gpu_store_raw(e, 1, GPU_F32, 1, 2 * (value + i), out, gpu_r(e, index));
        gpu_add_imm(e, index, index, distance);
    }
}

static void begin_step(struct gpu_emit **e, const struct winograd *w, const char *name, struct gpu_kernel *kernel,
                       struct isa_error *error)
{
    char variant[32];
    snprintf(variant, sizeof variant, "winograd%u_%s_%s", w->m, name, gpu_type_name(w->v->type));
    *e = gpu_emit_begin(kernel, variant, error);
}

/* ---- weights ---- */

static bool build_weights(const struct winograd *w, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t count = w->v->k * w->v->c;
    const unsigned t = w->f->t;
    struct gpu_emit *e;
    begin_step(&e, w, "weights", kernel, error);
    gpu_conv_packs(w->v, kernel);
    const struct gpu_base in = gpu_argument_buffer(e, w->v->weights, 0), out = gpu_argument_buffer(e, w->u, 0);
    const unsigned thread = gpu_register(e, 1), index = gpu_register(e, 1), value = gpu_register(e, t * t);
    gpu_emit(e, "get_sr r%u, sr%d", thread, GPU_SR_GRID_X);
    gpu_mad_imm(e, index, thread, TAPS * TAPS, GPU_NO_REGISTER);
    for (unsigned i = 0; i < TAPS * TAPS; i++) {
        const unsigned to = value + i / TAPS * t + i % TAPS;
        gpu_load_raw(e, 0, w->v->type, 1, 2 * to, in, gpu_r(e, index));
        gpu_add_imm(e, index, index, 1);
    }
    gpu_wait(e, 0);
    for (unsigned i = 0; i < TAPS * TAPS; i++)
        gpu_widen(e, w->v->type, 1, value + i / TAPS * t + i % TAPS, 2 * (value + i / TAPS * t + i % TAPS));
    transform(e, value, t, &w->f->weights[0][0], TAPS, t, TAPS);
    store_all(e, value, t * t, out, thread, count);
    gpu_emit_grid(e, count, 1, 1, GROUP_THREADS, 1, 1);
    return gpu_emit_end(e);
}

/* ---- image ---- */

/* Finds the image of a tile, and the row and column of its corner, in tiles. */
static void find_tile(struct gpu_emit *e, const struct winograd *w, unsigned tile, unsigned image, unsigned y, unsigned x)
{
    const unsigned in_image = gpu_register(e, 1);
    gpu_divide_imm(e, image, in_image, tile, w->tiles_x * w->tiles_y);
    gpu_divide_imm(e, y, x, in_image, w->tiles_x);
    gpu_register_free(e, in_image, 1);
}

struct tile_load {
    struct gpu_base in;
    unsigned value, plane, y, x, row, mask, at, row_mask; /* registers */
};

/* Loads one row of a tile, with zeros outside the image. */
static void load_row(struct gpu_emit *e, const struct winograd *w, const struct tile_load *l, unsigned row)
{
    const struct gpu_conv *v = w->v;
    const unsigned t = w->f->t, first = l->value + row * t;
    gpu_add_imm(e, l->row, l->y, row);
    gpu_emit(e, "icmpsel ult, r%u, r%u, %s, %s, 0", l->row_mask, l->row, gpu_int(e, v->h), gpu_int(e, UINT32_MAX));
    gpu_mad_imm(e, l->row, l->row, v->w, l->plane);
    for (unsigned i = 0; i < t; i++) {
        gpu_add_imm(e, l->at, l->x, i);
        gpu_emit(e, "icmpsel ult, r%u, r%u, %s, r%u, 0", l->mask + i, l->at, gpu_int(e, v->w), l->row_mask);
        gpu_emit(e, "iadd r%u, r%u, r%u", l->at, l->at, l->row);
        gpu_emit(e, "and r%u, r%u, r%u", l->at, l->at, l->mask + i);
        gpu_load_raw(e, 0, v->type, 1, 2 * (first + i), l->in, gpu_r(e, l->at));
    }
    gpu_wait(e, 0);
    for (unsigned i = 0; i < t; i++) {
        gpu_conv_mask(e, v->type, 2 * (first + i), l->mask + i);
        gpu_widen(e, v->type, 1, first + i, 2 * (first + i));
    }
}

static bool build_image(const struct winograd *w, struct gpu_kernel *kernel, struct isa_error *error)
{
    const struct gpu_conv *v = w->v;
    const unsigned t = w->f->t;
    struct gpu_emit *e;
    begin_step(&e, w, "image", kernel, error);
    struct tile_load l = {.in = gpu_argument_buffer(e, v->x, 0)};
    const struct gpu_base out = gpu_argument_buffer(e, w->vd, 0);
    const unsigned tile = gpu_register(e, 1), channel = gpu_register(e, 1);
    unsigned *const single[] = {&l.plane, &l.y, &l.x, &l.row, &l.at, &l.row_mask};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    l.mask = gpu_register(e, t);
    l.value = gpu_register(e, t * t);
    gpu_emit(e, "get_sr r%u, sr%d", tile, GPU_SR_GRID_X);
    gpu_emit(e, "get_sr r%u, sr%d", channel, GPU_SR_GROUP_Y);
    find_tile(e, w, tile, l.plane, l.y, l.x);
    gpu_mad_imm(e, l.plane, l.plane, v->c, channel);
    gpu_mad_imm(e, l.plane, l.plane, v->h * v->w, GPU_NO_REGISTER);
    gpu_mad_imm(e, l.y, l.y, w->m, GPU_NO_REGISTER);
    gpu_mad_imm(e, l.x, l.x, w->m, GPU_NO_REGISTER);
    gpu_add_imm(e, l.y, l.y, -(int64_t)v->pad);
    gpu_add_imm(e, l.x, l.x, -(int64_t)v->pad);
    for (unsigned row = 0; row < t; row++)
        load_row(e, w, &l, row);
    gpu_register_free(e, l.mask, t);
    transform(e, l.value, t, &w->f->image[0][0], T_MAX, t, t);
    gpu_mad_imm(e, channel, channel, w->tiles, tile);
    store_all(e, l.value, t * t, out, channel, v->c * w->tiles);
    gpu_emit_grid(e, w->tiles, v->c, 1, GROUP_THREADS, 1, 1);
    return gpu_emit_end(e);
}

/* ---- products ---- */

static bool build_products(const struct winograd *w, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct gpu_gemm g = {
        .m = w->v->k,
        .n = w->tiles,
        .k = w->v->c,
        .batch = w->f->t * w->f->t,
        .split = 1,
        .type = GPU_F32,
        .alpha = 1,
        .row_tiles = w->v->k > 32 ? 4 : 2,
        .column_tiles = w->tiles > 32 ? 4 : 2,
        .a = w->u,
        .b = w->vd,
        .c = w->product,
    };
    return gpu_gemm_build(&g, kernel, error);
}

/* ---- result ---- */

static void store_result(struct gpu_emit *e, const struct winograd *w, unsigned value, unsigned plane, unsigned y, unsigned x)
{
    const struct gpu_conv *v = w->v;
    const struct gpu_base out = gpu_argument_buffer(e, v->out, 0);
    const unsigned row = gpu_register(e, 1), at = gpu_register(e, 1);
    for (unsigned i = 0; i < w->m; i++) {
        gpu_add_imm(e, at, y, i);
        gpu_if(e, "ult", gpu_r(e, at), gpu_int(e, v->out_h));
        gpu_mad_imm(e, row, at, v->out_w, plane);
        for (unsigned j = 0; j < w->m; j++) {
            gpu_add_imm(e, at, x, j);
            gpu_if(e, "ult", gpu_r(e, at), gpu_int(e, v->out_w));
            gpu_emit(e, "iadd r%u, r%u, r%u", at, at, row);
            gpu_store_element(e, 1, v->type, value + i * w->f->t + j, out, gpu_r(e, at));
            gpu_endif(e);
        }
        gpu_endif(e);
    }
}

static bool build_result(const struct winograd *w, struct gpu_kernel *kernel, struct isa_error *error)
{
    const struct gpu_conv *v = w->v;
    const unsigned t = w->f->t;
    struct gpu_emit *e;
    begin_step(&e, w, "result", kernel, error);
    const struct gpu_base in = gpu_argument_buffer(e, w->product, 0);
    const unsigned tile = gpu_register(e, 1), channel = gpu_register(e, 1), plane = gpu_register(e, 1);
    const unsigned y = gpu_register(e, 1), x = gpu_register(e, 1), value = gpu_register(e, t * t);
    gpu_emit(e, "get_sr r%u, sr%d", tile, GPU_SR_GRID_X);
    gpu_emit(e, "get_sr r%u, sr%d", channel, GPU_SR_GROUP_Y);
    gpu_mad_imm(e, plane, channel, w->tiles, tile);
    for (unsigned i = 0; i < t * t; i++) {
        gpu_load_raw(e, 0, GPU_F32, 1, 2 * (value + i), in, gpu_r(e, plane));
        gpu_add_imm(e, plane, plane, (int64_t)v->k * w->tiles);
    }
    gpu_wait(e, 0);
    transform(e, value, t, &w->f->result[0][0], T_MAX, w->m, t);
    const unsigned bias = gpu_conv_bias(e, v, channel);
    for (unsigned i = 0; i < w->m * w->m; i++)
        gpu_conv_finish(e, v, value + i / w->m * t + i % w->m, bias);
    find_tile(e, w, tile, plane, y, x);
    gpu_mad_imm(e, plane, plane, v->k, channel);
    gpu_mad_imm(e, plane, plane, v->out_h * v->out_w, GPU_NO_REGISTER);
    gpu_mad_imm(e, y, y, w->m, GPU_NO_REGISTER);
    gpu_mad_imm(e, x, x, w->m, GPU_NO_REGISTER);
    store_result(e, w, value, plane, y, x);
    gpu_emit_grid(e, w->tiles, v->k, 1, GROUP_THREADS, 1, 1);
    return gpu_emit_end(e);
}

bool gpu_conv_winograd(const struct gpu_conv *v, unsigned m, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct winograd w = {.v = v, .m = m, .f = m == 2 ? &f2 : m == 4 ? &f4 : &f6};
    w.tiles_x = (v->out_w + m - 1) / m;
    w.tiles_y = (v->out_h + m - 1) / m;
    const uint64_t tiles = (uint64_t)w.tiles_x * w.tiles_y * v->n, points = w.f->t * w.f->t, most = GPU_KERNEL_ELEMENTS_MAX;
    if (tiles > most / points / v->c || tiles > most / points / v->k || points * v->k > most / v->c)
        return kernel_refuse(error, "conv2d: the transformed operands have more than 2^31 - 1 elements; use algo=auto");
    w.tiles = (uint32_t)tiles;
    w.u = gpu_kernel_add_buffer(kernel, "u", GPU_F32, points * v->k * v->c, GPU_BUFFER_SCRATCH, 0, 0);
    w.vd = gpu_kernel_add_buffer(kernel, "v", GPU_F32, points * v->c * tiles, GPU_BUFFER_SCRATCH, 0, 0);
    w.product = gpu_kernel_add_buffer(kernel, "m", GPU_F32, points * v->k * tiles, GPU_BUFFER_SCRATCH, 0, 0);
    return build_weights(&w, kernel, error) && build_image(&w, kernel, error) && build_products(&w, kernel, error) &&
           build_result(&w, kernel, error);
}
