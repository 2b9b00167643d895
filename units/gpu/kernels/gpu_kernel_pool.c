/* Pooling and resizing of images, with one thread per element of the result. Images are N x C x H x W. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"
#include "units/gpu/kernels/gpu_math.h"

#include <stdio.h>

enum { GROUP_THREADS = 64, SIDE_MAX = 32767 /* products of two sides stay below 2^31 */ };

struct image {
    struct gpu_emit *e;
    enum gpu_type type;
    uint32_t planes, h, w, out_h, out_w;
    struct gpu_base in, out;
    unsigned pixel, y, x, plane, start; /* registers: place in the result; first element of the plane in the input */
};

static bool check_image(const struct gpu_kernel_request *q, const struct image *m, uint64_t planes, struct isa_error *error)
{
    const uint64_t most = (uint64_t)GPU_KERNEL_ELEMENTS_MAX / planes;
    if ((uint64_t)m->h * m->w <= most && (uint64_t)m->out_h * m->out_w <= most)
        return true;
    return kernel_refuse(error, "%s: more than 2^31 - 1 elements", q->info->name);
}

static void begin(struct image *m, const struct gpu_kernel_request *q, const char *method, struct gpu_kernel *kernel,
                  struct isa_error *error)
{
    const uint64_t in = (uint64_t)m->planes * m->h * m->w, out = (uint64_t)m->planes * m->out_h * m->out_w;
    char variant[32];
    gpu_kernel_add_buffer(kernel, "x", q->type, in, GPU_BUFFER_INPUT, -1, 1);
    gpu_kernel_add_buffer(kernel, "out", q->type, out, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->min_bytes = (double)gpu_type_bytes(q->type, in) + (double)gpu_type_bytes(q->type, out);
    snprintf(variant, sizeof variant, "%s_%s_%s", q->info->name, method, gpu_type_name(q->type));
    struct gpu_emit *e = m->e = gpu_emit_begin(kernel, variant, error);
    m->in = gpu_argument_buffer(e, 0, 0);
    m->out = gpu_argument_buffer(e, 1, 0);
    unsigned *const single[] = {&m->pixel, &m->y, &m->x, &m->plane, &m->start};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", m->pixel, GPU_SR_GRID_X);
    gpu_emit(e, "get_sr r%u, sr%d", m->plane, GPU_SR_GROUP_Y);
    gpu_divide_imm(e, m->y, m->x, m->pixel, m->out_w);
    gpu_mad_imm(e, m->start, m->plane, m->h * m->w, GPU_NO_REGISTER);
}

static bool end(struct image *m, unsigned value)
{
    gpu_mad_imm(m->e, m->plane, m->plane, m->out_h * m->out_w, m->pixel);
    gpu_store_element(m->e, 1, m->type, value, m->out, gpu_r(m->e, m->plane));
    gpu_emit_grid(m->e, m->out_h * m->out_w, m->planes, 1, GROUP_THREADS, 1, 1);
    return gpu_emit_end(m->e);
}

/* ---- pool ---- */

enum { N, C, H, W, R, S, STRIDE, PAD, OP, INCLUDE_PAD };
enum { MAX, AVG };

static const struct kernel_parameter pool_parameters[] = {
    {.name = "n", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "c", .least = 1, .most = 65536, .required = true},
    {.name = "h", .least = 1, .most = SIDE_MAX, .required = true},
    {.name = "w", .least = 1, .most = SIDE_MAX, .required = true},
    {.name = "r", .missing = 2, .least = 1, .most = 64},
    {.name = "s", .missing = 2, .least = 1, .most = 64},
    {.name = "stride", .missing = 2, .least = 1, .most = 64},
    {.name = "pad", .least = 0, .most = 32},
    {.name = "op", .words = "max|avg"},
    {.name = "include_pad", .least = 0, .most = 1},
    {.name = NULL},
};

struct pool {
    struct image *m;
    bool average, padded;
    uint32_t r, s;
    unsigned sum, count, row_start, row_mask, mask, at, value; /* registers */
};

static void pool_element(struct pool *p, unsigned s)
{
    struct gpu_emit *e = p->m->e;
    gpu_add_imm(e, p->at, p->m->x, s);
    if (p->padded)
        gpu_emit(e, "icmpsel ult, r%u, r%u, %s, r%u, 0", p->mask, p->at, gpu_int(e, p->m->w), p->row_mask);
    gpu_emit(e, "iadd r%u, r%u, r%u", p->at, p->at, p->row_start);
    if (p->padded)
        gpu_emit(e, "and r%u, r%u, r%u", p->at, p->at, p->mask);
    gpu_load_element(e, 0, p->m->type, p->value, p->m->in, gpu_r(e, p->at));
    const char *outside = p->average ? "0" : gpu_int(e, 0xff800000); /* minus infinity */
    if (p->padded)
        gpu_emit(e, "icmpsel ueq, r%u, r%u, 0, %s, r%u", p->value, p->mask, outside, p->value);
    if (p->padded && p->average)
        gpu_emit(e, "isub r%u, r%u, r%u", p->count, p->count, p->mask); /* all ones is -1 */
    gpu_math_emit(e, p->average ? GPU_MATH_ADD : GPU_MATH_MAX, p->sum, p->value, 0);
}

static void pool_rows(struct pool *p)
{
    struct gpu_emit *e = p->m->e;
    const unsigned rows = gpu_register(e, 1);
    gpu_mov_imm(e, rows, p->r);
    gpu_do(e);
    if (p->padded)
        gpu_emit(e, "icmpsel ult, r%u, r%u, %s, %s, 0", p->row_mask, p->m->y, gpu_int(e, p->m->h), gpu_int(e, UINT32_MAX));
    gpu_mad_imm(e, p->row_start, p->m->y, p->m->w, p->m->start);
    for (unsigned s = 0; s < p->s; s++)
        pool_element(p, s);
    gpu_add_imm(e, p->m->y, p->m->y, 1);
    gpu_add_imm(e, rows, rows, -1);
    gpu_while(e, "nueq", gpu_r(e, rows), "0");
}

static void divide_by_count(struct pool *p, bool include_pad)
{
    struct gpu_emit *e = p->m->e;
    if (include_pad || !p->padded) {
        gpu_emit(e, "fmul32 r%u, r%u, %s", p->sum, p->sum, gpu_float(e, 1.0F / (float)(p->r * p->s)));
        return;
    }
    gpu_emit(e, "u32_to_f r%u, r%u", p->count, p->count);
    gpu_emit(e, "rcp r%u, r%u", p->count, p->count);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", p->sum, p->sum, p->count);
}

static bool build_pool(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t r = (uint32_t)q->value[R], s = (uint32_t)q->value[S];
    const uint32_t stride = (uint32_t)q->value[STRIDE], pad = (uint32_t)q->value[PAD];
    struct image m = {
        .type = q->type, .planes = (uint32_t)(q->value[N] * q->value[C]), .h = (uint32_t)q->value[H], .w = (uint32_t)q->value[W]};
    if (m.h + 2 * pad < r || m.w + 2 * pad < s)
        return kernel_refuse(error, "pool: a window of %u x %u does not fit the image", (unsigned)r, (unsigned)s);
    if (2 * pad > r || 2 * pad > s)
        return kernel_refuse(error, "pool: pad is at most half of the window");
    m.out_h = (m.h + 2 * pad - r) / stride + 1;
    m.out_w = (m.w + 2 * pad - s) / stride + 1;
    if (!check_image(q, &m, (uint64_t)q->value[N] * (uint64_t)q->value[C], error))
        return false;
    struct pool p = {.m = &m, .average = q->value[OP] == AVG, .padded = pad != 0, .r = r, .s = s};
    begin(&m, q, p.average ? "avg" : "max", kernel, error);
    struct gpu_emit *e = m.e;
    unsigned *const single[] = {&p.sum, &p.count, &p.row_start, &p.row_mask, &p.mask, &p.at, &p.value};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    gpu_mad_imm(e, m.y, m.y, stride, GPU_NO_REGISTER);
    gpu_mad_imm(e, m.x, m.x, stride, GPU_NO_REGISTER);
    gpu_add_imm(e, m.y, m.y, -(int64_t)pad);
    gpu_add_imm(e, m.x, m.x, -(int64_t)pad);
    gpu_mov_imm(e, p.sum, p.average ? 0 : 0xff800000);
    gpu_mov_imm(e, p.count, 0);
    pool_rows(&p);
    if (p.average)
        divide_by_count(&p, q->value[INCLUDE_PAD]);
    kernel->flops = (double)m.planes * m.out_h * m.out_w * r * s;
    return end(&m, p.sum);
}

/* ---- global pooling: a reduction over each plane ---- */

enum { GLOBAL_OP = 4 };

static const struct kernel_parameter global_parameters[] = {
    {.name = "n", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "c", .least = 1, .most = 65536, .required = true},
    {.name = "h", .least = 1, .most = SIDE_MAX, .required = true},
    {.name = "w", .least = 1, .most = SIDE_MAX, .required = true},
    {.name = "op", .words = "avg|max"},
    {.name = NULL},
};

static bool build_global(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct gpu_kernel_request reduce = {.generation = q->generation, .cores = q->cores};
    char text[96];
    snprintf(text, sizeof text, "reduce:%lldx%lld,op=%s", (long long)(q->value[N] * q->value[C]),
             (long long)(q->value[H] * q->value[W]), q->value[GLOBAL_OP] ? "max" : "mean");
    return gpu_kernel_parse(text, gpu_type_name(q->type), &reduce, error) && reduce.info->build(&reduce, kernel, error);
}

/* ---- resize ---- */

enum { OUT_H = 4, OUT_W, MODE, ALIGN };
enum { NEAREST, BILINEAR };

static const struct kernel_parameter resize_parameters[] = {
    {.name = "n", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "c", .least = 1, .most = 65536, .required = true},
    {.name = "h", .least = 1, .most = SIDE_MAX, .required = true},
    {.name = "w", .least = 1, .most = SIDE_MAX, .required = true},
    {.name = "oh", .least = 1, .most = SIDE_MAX, .required = true},
    {.name = "ow", .least = 1, .most = SIDE_MAX, .required = true},
    {.name = "mode", .words = "nearest|bilinear"},
    {.name = "align", .least = 0, .most = 1},
    {.name = NULL},
};

/* Places along one side are fractions of whole numbers, so that they are exact: numerator / denominator. Centres of pixels: ((2 o
 * + 1) in - out) / (2 out), at least 0; aligned corners: o (in - 1) / (out - 1). */
static void find_neighbours(struct gpu_emit *e, unsigned low, unsigned high, unsigned weight, unsigned out_place, uint32_t in,
                            uint32_t out, bool align)
{
    const unsigned numerator = gpu_register(e, 1);
    uint32_t denominator = 2 * out;
    if (align) {
        denominator = out > 1 ? out - 1 : 1;
        gpu_mad_imm(e, numerator, out_place, in - 1, GPU_NO_REGISTER);
        if (out == 1)
            gpu_mov_imm(e, numerator, 0);
    } else {
        gpu_mad_imm(e, numerator, out_place, 2, GPU_NO_REGISTER);
        gpu_add_imm(e, numerator, numerator, 1);
        gpu_mad_imm(e, numerator, numerator, in, GPU_NO_REGISTER);
        gpu_add_imm(e, numerator, numerator, -(int64_t)out);
        gpu_emit(e, "icmpsel slt, r%u, r%u, 0, 0, r%u", numerator, numerator, numerator);
    }
    gpu_divide_imm(e, low, weight, numerator, denominator);
    gpu_emit(e, "u32_to_f r%u, r%u", weight, weight);
    gpu_emit(e, "fmul32 r%u, r%u, %s", weight, weight, gpu_float(e, 1.0F / (float)denominator));
    gpu_add_imm(e, high, low, 1);
    gpu_min_imm(e, high, high, in - 1);
    gpu_register_free(e, numerator, 1);
}

/* to = a + weight (b - a) */
static void blend(struct gpu_emit *e, unsigned to, unsigned a, unsigned b, unsigned weight)
{
    gpu_emit(e, "fadd32 r%u, r%u, r%u.neg", b, b, a);
    gpu_emit(e, "fmadd32 r%u, r%u, r%u, r%u", to, b, weight, a);
}

static void emit_bilinear(struct image *m, unsigned value, bool align)
{
    struct gpu_emit *e = m->e;
    const unsigned y = gpu_register(e, 2), x = gpu_register(e, 2), wy = gpu_register(e, 1), wx = gpu_register(e, 1);
    const unsigned corner = gpu_register(e, 4), at = gpu_register(e, 1);
    find_neighbours(e, y, y + 1, wy, m->y, m->h, m->out_h, align);
    find_neighbours(e, x, x + 1, wx, m->x, m->w, m->out_w, align);
    for (unsigned i = 0; i < 4; i++) {
        gpu_mad_imm(e, at, y + i / 2, m->w, m->start);
        gpu_emit(e, "iadd r%u, r%u, r%u", at, at, x + i % 2);
        gpu_load_raw(e, 0, m->type, 1, 2 * (corner + i), m->in, gpu_r(e, at));
    }
    gpu_wait(e, 0);
    for (unsigned i = 0; i < 4; i++)
        gpu_widen(e, m->type, 1, corner + i, 2 * (corner + i));
    blend(e, corner, corner, corner + 1, wx);
    blend(e, corner + 2, corner + 2, corner + 3, wx);
    blend(e, value, corner, corner + 2, wy);
}

/* Row o * in / out, rounded down; columns likewise. */
static void emit_nearest(struct image *m, unsigned value)
{
    struct gpu_emit *e = m->e;
    const unsigned y = gpu_register(e, 1), x = gpu_register(e, 1);
    gpu_mad_imm(e, m->y, m->y, m->h, GPU_NO_REGISTER);
    gpu_mad_imm(e, m->x, m->x, m->w, GPU_NO_REGISTER);
    gpu_divide_imm(e, y, GPU_NO_REGISTER, m->y, m->out_h);
    gpu_divide_imm(e, x, GPU_NO_REGISTER, m->x, m->out_w);
    gpu_mad_imm(e, y, y, m->w, x);
    gpu_emit(e, "iadd r%u, r%u, r%u", y, y, m->start);
    gpu_load_element(e, 0, m->type, value, m->in, gpu_r(e, y));
}

static bool build_resize(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const bool bilinear = q->value[MODE] == BILINEAR;
    struct image m = {.type = q->type,
                      .planes = (uint32_t)(q->value[N] * q->value[C]),
                      .h = (uint32_t)q->value[H],
                      .w = (uint32_t)q->value[W],
                      .out_h = (uint32_t)q->value[OUT_H],
                      .out_w = (uint32_t)q->value[OUT_W]};
    if (!check_image(q, &m, (uint64_t)q->value[N] * (uint64_t)q->value[C], error))
        return false;
    if (q->value[ALIGN] && !bilinear)
        return kernel_refuse(error, "resize: align goes with mode=bilinear");
    begin(&m, q, bilinear ? "bilinear" : "nearest", kernel, error);
    const unsigned value = gpu_register(m.e, 1);
    if (bilinear)
        emit_bilinear(&m, value, q->value[ALIGN]);
    else
        emit_nearest(&m, value);
    kernel->flops = bilinear ? 6.0 * m.planes * m.out_h * m.out_w : 0;
    return end(&m, value);
}

static const struct gpu_kernel_info rows[] = {
    {"pool", "c=C,h=H,w=W[,n=N][,r=R][,s=S][,stride=D][,pad=P][,op=max|avg][,include_pad=0|1]", "f32 f16 bf16",
     "largest or mean element of R x S windows (2 x 2, stride 2 unless told otherwise), NCHW; padding counts in means with "
     "include_pad=1",
     0, pool_parameters, build_pool},
    {"globalpool", "c=C,h=H,w=W[,n=N][,op=avg|max]", "f32 f16 bf16", "mean or largest element of each H x W plane", 0,
     global_parameters, build_global},
    {"resize", "c=C,h=H,w=W,oh=H,ow=W[,n=N][,mode=nearest|bilinear][,align=0|1]", "f32 f16 bf16",
     "images to OH x OW; bilinear between centres of pixels, or with align=1 between corners", 0, resize_parameters,
     build_resize},
};
const struct gpu_kernel_family gpu_family_pool = {rows, ARRAY_COUNT(rows)};
