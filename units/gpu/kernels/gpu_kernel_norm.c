/* softmax, layernorm, rmsnorm, groupnorm, batchnorm: rows that are scaled by a value that depends on the whole row. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"
#include "units/gpu/kernels/gpu_rows.h"

#include <stdio.h>

#define LOG2E          0x1.715476p+0F
#define LN2            0x1.62e43p-1F
#define MINUS_INFINITY UINT32_C(0xff800000)

/* ---- softmax ---- */

enum { ROWS, COLUMNS, LOG };

static const struct kernel_parameter softmax_parameters[] = {
    {.name = "rows", .least = 1, .most = INT64_C(1) << 40, .required = true},
    {.name = "columns", .least = 1, .most = 1 << 30, .required = true},
    {.name = "log", .least = 0, .most = 1},
    {.name = NULL},
};

struct softmax {
    unsigned most, sum, t; /* registers */
    bool log, held;
    struct gpu_base out;
};

static void find_most(struct gpu_rows *r, void *context, unsigned value, unsigned count)
{
    const struct softmax *s = context;
    for (unsigned i = 0; i < count; i++)
        gpu_emit(r->e, "fcmpsel gtn, r%u, r%u, r%u, r%u, r%u", s->most, s->most, value + i, s->most, value + i);
}

/* to = e^(value - most) */
static void emit_term(struct gpu_rows *r, const struct softmax *s, unsigned to, unsigned value)
{
    gpu_emit(r->e, "fadd32 r%u, r%u, r%u.neg", to, value, s->most);
    gpu_emit(r->e, "fmul32 r%u, r%u, %s", to, to, gpu_float(r->e, LOG2E));
    gpu_emit(r->e, "exp2 r%u, r%u", to, to);
}

static void add_terms(struct gpu_rows *r, void *context, unsigned value, unsigned count)
{
    const struct softmax *s = context;
    for (unsigned i = 0; i < count; i++) {
        const unsigned to = s->held && !s->log ? value + i : s->t;
        emit_term(r, s, to, value + i);
        gpu_emit(r->e, "fadd32 r%u, r%u, r%u", s->sum, s->sum, to);
    }
}

static void write_softmax(struct gpu_rows *r, void *context, unsigned value, unsigned count)
{
    const struct softmax *s = context;
    for (unsigned i = 0; i < count; i++) {
        if (s->log) {
            gpu_emit(r->e, "fadd32 r%u, r%u, r%u.neg", value + i, value + i, s->most);
            gpu_emit(r->e, "fadd32 r%u, r%u, r%u.neg", value + i, value + i, s->sum);
            continue;
        }
        if (!s->held)
            emit_term(r, s, value + i, value + i);
        gpu_emit(r->e, "fmul32 r%u, r%u, r%u", value + i, value + i, s->sum);
    }
    gpu_rows_store(r, value, count, s->out);
}

static bool check_elements(const char *name, uint64_t rows, uint64_t columns, struct isa_error *error)
{
    if (rows <= (uint64_t)GPU_KERNEL_ELEMENTS_MAX / columns && rows <= GPU_KERNEL_ROWS_MAX)
        return true;
    return kernel_refuse(error, "%s: more than 2^31 - 1 elements", name);
}

/* Begins a step, named like "layernorm_f16_1024_threads"; `again` when rows are read in every pass. */
static void begin_step(struct gpu_rows *r, const char *name, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    snprintf(variant, sizeof variant, "%s_%s_%u%s", name, gpu_type_name(r->type), r->team, r->chunks ? "" : "_again");
    r->e = gpu_emit_begin(kernel, variant, error);
    r->in = gpu_argument_buffer(r->e, 0, 0);
}

static bool build_softmax(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct gpu_rows r = {.type = q->type, .rows = (uint32_t)q->value[ROWS], .columns = (uint32_t)q->value[COLUMNS]};
    struct softmax s = {.log = q->value[LOG]};
    const uint64_t count = (uint64_t)r.rows * r.columns;
    if (!check_elements("softmax", (uint64_t)q->value[ROWS], r.columns, error))
        return false;
    gpu_kernel_add_buffer(kernel, "x", q->type, count, GPU_BUFFER_INPUT, -4, 4);
    gpu_kernel_add_buffer(kernel, "out", q->type, count, GPU_BUFFER_OUTPUT, 0, 0);
    gpu_rows_plan(&r);
    s.held = r.chunks != 0;
    begin_step(&r, s.log ? "log_softmax" : "softmax", kernel, error);
    s.out = gpu_argument_buffer(r.e, 1, 0);
    s.most = gpu_register(r.e, 1);
    s.sum = gpu_register(r.e, 1);
    s.t = gpu_register(r.e, 1);
    gpu_mov_imm(r.e, s.most, MINUS_INFINITY);
    gpu_mov_imm(r.e, s.sum, 0);
    gpu_rows_begin(&r);
    gpu_rows_pass(&r, find_most, &s);
    gpu_rows_combine(&r, "fmax", s.most, MINUS_INFINITY);
    gpu_rows_pass(&r, add_terms, &s);
    gpu_rows_combine(&r, "fadd", s.sum, 0);
    gpu_emit(r.e, "%s r%u, r%u", s.log ? "log2" : "rcp", s.sum, s.sum);
    if (s.log)
        gpu_emit(r.e, "fmul32 r%u, r%u, %s", s.sum, s.sum, gpu_float(r.e, LN2));
    gpu_rows_pass(&r, write_softmax, &s);
    gpu_rows_end(&r);
    kernel->flops = 5.0 * (double)count; /* compare, subtract, exp, add, multiply */
    kernel->min_bytes = 2.0 * (double)gpu_type_bytes(q->type, count);
    return gpu_emit_end(r.e);
}

/* ---- normalisation ---- */

/* How a row's elements find their scale and offset. */
enum parameters_of { OF_COLUMN, OF_CHANNEL_IN_ROW, OF_ROW };

struct norm {
    bool centred; /* subtract the mean */
    enum parameters_of of;
    uint32_t spatial, channels; /* OF_CHANNEL_IN_ROW: columns per channel; OF_ROW: rows with parameters of their own */
    uint32_t groups;            /* OF_CHANNEL_IN_ROW: rows per image */
    float eps;
    bool affine;
    struct gpu_base gamma, beta, out;
    unsigned mean, scale, sum, t, first_channel, channel, g, b; /* registers; g, b: 4 each */
};

static void sum_up(struct gpu_rows *r, void *context, unsigned value, unsigned count)
{
    const struct norm *n = context;
    for (unsigned i = 0; i < count; i++)
        gpu_emit(r->e, "fadd32 r%u, r%u, r%u", n->sum, n->sum, value + i);
}

/* sum += (value - mean)^2 */
static void sum_squares(struct gpu_rows *r, void *context, unsigned value, unsigned count)
{
    const struct norm *n = context;
    for (unsigned i = 0; i < count; i++) {
        const unsigned t = n->centred ? n->t : value + i;
        if (n->centred)
            gpu_emit(r->e, "fadd32 r%u, r%u, r%u.neg", t, value + i, n->mean);
        gpu_emit(r->e, "fmadd32 r%u, r%u, r%u, r%u", n->sum, t, t, n->sum);
    }
}

static void load_parameter(struct gpu_rows *r, unsigned to, struct gpu_base from, unsigned count, unsigned index)
{
    gpu_load_raw(r->e, 1, r->type, count, 2 * to, from, gpu_r(r->e, index));
    gpu_wait(r->e, 1);
    gpu_widen(r->e, r->type, count, to, 2 * to);
}

/* Loads g and b of `count` columns from r->column + skip on. */
static void load_affine(struct gpu_rows *r, const struct norm *n, unsigned skip, unsigned count)
{
    unsigned index = r->column;
    if (n->of == OF_CHANNEL_IN_ROW) {
        index = n->channel;
        gpu_add_imm(r->e, n->t, r->column, skip);
        gpu_divide_imm(r->e, index, GPU_NO_REGISTER, n->t, n->spatial);
        gpu_emit(r->e, "iadd r%u, r%u, r%u", index, index, n->first_channel);
    }
    load_parameter(r, n->g, n->gamma, count, index);
    if (n->centred)
        load_parameter(r, n->b, n->beta, count, index);
}

static void write_one(struct gpu_rows *r, const struct norm *n, unsigned value, unsigned parameter)
{
    if (n->centred)
        gpu_emit(r->e, "fadd32 r%u, r%u, r%u.neg", value, value, n->mean);
    gpu_emit(r->e, "fmul32 r%u, r%u, r%u", value, value, n->scale);
    if (n->affine && n->centred)
        gpu_emit(r->e, "fmadd32 r%u, r%u, r%u, r%u", value, value, n->g + parameter, n->b + parameter);
    else if (n->affine)
        gpu_emit(r->e, "fmul32 r%u, r%u, r%u", value, value, n->g + parameter);
}

static void write_norm(struct gpu_rows *r, void *context, unsigned value, unsigned count)
{
    const struct norm *n = context;
    const bool one_by_one = n->of == OF_CHANNEL_IN_ROW && n->spatial % count != 0;
    if (n->affine && !one_by_one && n->of != OF_ROW)
        load_affine(r, n, 0, n->of == OF_COLUMN ? count : 1);
    for (unsigned i = 0; i < count; i++) {
        if (n->affine && one_by_one)
            load_affine(r, n, i, 1);
        write_one(r, n, value + i, n->of == OF_COLUMN ? i : 0);
    }
    gpu_rows_store(r, value, count, n->out);
}

static void take_registers(struct gpu_emit *e, struct norm *n)
{
    unsigned *const single[] = {&n->mean, &n->scale, &n->sum, &n->t, &n->first_channel, &n->channel};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    n->g = gpu_register(e, 4);
    n->b = gpu_register(e, 4);
}

/* scale = 1 / sqrt(sum of squares / columns + eps) */
static void find_moments(struct gpu_rows *r, struct norm *n)
{
    const float share = 1.0F / (float)r->columns;
    gpu_mov_imm(r->e, n->sum, 0);
    if (n->centred) {
        gpu_rows_pass(r, sum_up, n);
        gpu_rows_combine(r, "fadd", n->sum, 0);
        gpu_emit(r->e, "fmul32 r%u, r%u, %s", n->mean, n->sum, gpu_float(r->e, share));
        gpu_mov_imm(r->e, n->sum, 0);
    }
    gpu_rows_pass(r, sum_squares, n);
    gpu_rows_combine(r, "fadd", n->sum, 0);
    gpu_emit(r->e, "fmul32 r%u, r%u, %s", n->sum, n->sum, gpu_float(r->e, share));
    gpu_emit(r->e, "fadd32 r%u, r%u, %s", n->sum, n->sum, gpu_float(r->e, n->eps));
    gpu_emit(r->e, "rsqrt r%u, r%u", n->scale, n->sum);
}

static struct gpu_base add_parameter(struct gpu_rows *r, struct gpu_kernel *kernel, const char *name, uint32_t count, double low,
                                     double high)
{
    return gpu_argument_buffer(r->e, gpu_kernel_add_buffer(kernel, name, r->type, count, GPU_BUFFER_INPUT, low, high), 0);
}

static bool build_norm(const struct gpu_kernel_request *q, struct gpu_rows *r, struct norm *n, struct gpu_kernel *kernel,
                       struct isa_error *error)
{
    const uint64_t count = (uint64_t)r->rows * r->columns;
    const uint32_t parameters = n->of == OF_COLUMN ? r->columns : n->channels;
    gpu_kernel_add_buffer(kernel, "x", q->type, count, GPU_BUFFER_INPUT, -2, 3);
    gpu_kernel_add_buffer(kernel, "out", q->type, count, GPU_BUFFER_OUTPUT, 0, 0);
    gpu_rows_plan(r);
    begin_step(r, q->info->name, kernel, error);
    n->out = gpu_argument_buffer(r->e, 1, 0);
    if (n->affine)
        n->gamma = add_parameter(r, kernel, "gamma", parameters, 0.5, 1.5);
    if (n->affine && n->centred)
        n->beta = add_parameter(r, kernel, "beta", parameters, -1, 1);
    take_registers(r->e, n);
    gpu_rows_begin(r);
    if (n->of == OF_CHANNEL_IN_ROW) {
        gpu_divide_imm(r->e, GPU_NO_REGISTER, n->first_channel, r->row, n->groups);
        gpu_mad_imm(r->e, n->first_channel, n->first_channel, n->channels / n->groups, GPU_NO_REGISTER);
    }
    find_moments(r, n);
    gpu_rows_pass(r, write_norm, n);
    gpu_rows_end(r);
    kernel->flops = (n->centred ? 7.0 : 4.0) * (double)count;
    kernel->min_bytes =
        2.0 * (double)gpu_type_bytes(q->type, count) + (double)gpu_type_bytes(q->type, parameters) * 2.0 * n->affine;
    return gpu_emit_end(r->e);
}

enum { EPS = 2, AFFINE };

static const struct kernel_parameter norm_parameters[] = {
    {.name = "rows", .least = 1, .most = INT64_C(1) << 40, .required = true},
    {.name = "columns", .least = 1, .most = 1 << 30, .required = true},
    {.name = "eps", .usual = 1e-5, .least = 0, .most = 1, .decimal = true},
    {.name = "affine", .missing = 1, .least = 0, .most = 1},
    {.name = NULL},
};

static bool build_of_rows(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error, bool centred)
{
    struct gpu_rows r = {.type = q->type, .rows = (uint32_t)q->value[ROWS], .columns = (uint32_t)q->value[COLUMNS]};
    struct norm n = {.centred = centred, .of = OF_COLUMN, .eps = (float)q->decimal[EPS], .affine = q->value[AFFINE]};
    if (!check_elements(q->info->name, (uint64_t)q->value[ROWS], r.columns, error))
        return false;
    return build_norm(q, &r, &n, kernel, error);
}

static bool build_layernorm(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    return build_of_rows(q, kernel, error, true);
}

static bool build_rmsnorm(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    return build_of_rows(q, kernel, error, false);
}

/* ---- images ---- */

enum { IMAGES, CHANNELS, HEIGHT, WIDTH, IMAGE_EPS, GROUPS };

static const struct kernel_parameter image_parameters[] = {
    {.name = "n", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "c", .least = 1, .most = 65536, .required = true},
    {.name = "h", .least = 1, .most = 65536, .required = true},
    {.name = "w", .least = 1, .most = 65536, .required = true},
    {.name = "eps", .usual = 1e-5, .least = 0, .most = 1, .decimal = true},
    {.name = "groups", .missing = 1, .least = 1, .most = 65536},
    {.name = NULL},
};
static const struct kernel_parameter batch_parameters[] = {
    {.name = "n", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "c", .least = 1, .most = 65536, .required = true},
    {.name = "h", .least = 1, .most = 65536, .required = true},
    {.name = "w", .least = 1, .most = 65536, .required = true},
    {.name = "eps", .usual = 1e-5, .least = 0, .most = 1, .decimal = true},
    {.name = NULL},
};

static bool check_image(const struct gpu_kernel_request *q, struct isa_error *error)
{
    const uint64_t pixels = (uint64_t)q->value[HEIGHT] * (uint64_t)q->value[WIDTH];
    return check_elements(q->info->name, (uint64_t)q->value[IMAGES] * (uint64_t)q->value[CHANNELS], pixels, error);
}

static bool build_groupnorm(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t channels = (uint32_t)q->value[CHANNELS], groups = (uint32_t)q->value[GROUPS];
    const uint32_t pixels = (uint32_t)(q->value[HEIGHT] * q->value[WIDTH]);
    if (!check_image(q, error))
        return false;
    if (channels % groups)
        return kernel_refuse(error, "groupnorm: c must be a multiple of groups");
    struct gpu_rows r = {.type = q->type, .rows = (uint32_t)q->value[IMAGES] * groups, .columns = channels / groups * pixels};
    struct norm n = {.centred = true,
                     .of = OF_CHANNEL_IN_ROW,
                     .spatial = pixels,
                     .channels = channels,
                     .groups = groups,
                     .eps = (float)q->decimal[IMAGE_EPS],
                     .affine = true};
    return build_norm(q, &r, &n, kernel, error);
}

static void load_of_channel(struct gpu_rows *r, const struct norm *n, unsigned to, struct gpu_kernel *kernel, const char *name,
                            double low, double high)
{
    load_parameter(r, to, add_parameter(r, kernel, name, n->channels, low, high), 1, n->channel);
}

static bool build_batchnorm(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct gpu_rows r = {.type = q->type,
                         .rows = (uint32_t)(q->value[IMAGES] * q->value[CHANNELS]),
                         .columns = (uint32_t)(q->value[HEIGHT] * q->value[WIDTH])};
    struct norm n = {.centred = true, .of = OF_ROW, .channels = (uint32_t)q->value[CHANNELS], .affine = true};
    const uint64_t count = (uint64_t)r.rows * r.columns;
    if (!check_image(q, error))
        return false;
    gpu_kernel_add_buffer(kernel, "x", q->type, count, GPU_BUFFER_INPUT, -2, 3);
    gpu_kernel_add_buffer(kernel, "out", q->type, count, GPU_BUFFER_OUTPUT, 0, 0);
    gpu_rows_plan(&r);
    begin_step(&r, "batchnorm", kernel, error);
    n.out = gpu_argument_buffer(r.e, 1, 0);
    take_registers(r.e, &n);
    gpu_rows_begin(&r);
    gpu_divide_imm(r.e, GPU_NO_REGISTER, n.channel, r.row, n.channels);
    load_of_channel(&r, &n, n.mean, kernel, "mean", -1, 1);
    load_of_channel(&r, &n, n.scale, kernel, "var", 0.5, 2);
    load_of_channel(&r, &n, n.g, kernel, "gamma", 0.5, 1.5);
    load_of_channel(&r, &n, n.b, kernel, "beta", -1, 1);
    gpu_emit(r.e, "fadd32 r%u, r%u, %s", n.scale, n.scale, gpu_float(r.e, (float)q->decimal[IMAGE_EPS]));
    gpu_emit(r.e, "rsqrt r%u, r%u", n.scale, n.scale);
    gpu_rows_pass(&r, write_norm, &n);
    gpu_rows_end(&r);
    kernel->flops = 2.0 * (double)count;
    kernel->min_bytes = 2.0 * (double)gpu_type_bytes(q->type, count);
    return gpu_emit_end(r.e);
}

static const struct gpu_kernel_info rows[] = {
    {"softmax", "RxC[,log=0|1]", "f32 f16 bf16", "e^(x - max) / sum over the C columns of each row; log=1: its logarithm", 2,
     softmax_parameters, build_softmax},
    {"layernorm", "RxC[,eps=X][,affine=0|1]", "f32 f16 bf16",
     "(x - mean) / sqrt(variance + eps) of each row, times gamma plus beta (C each) unless affine=0", 2, norm_parameters,
     build_layernorm},
    {"rmsnorm", "RxC[,eps=X][,affine=0|1]", "f32 f16 bf16",
     "x / sqrt(mean of squares + eps) of each row, times gamma (C) unless affine=0", 2, norm_parameters, build_rmsnorm},
    {"groupnorm", "n=N,c=C,h=H,w=W[,groups=G][,eps=X]", "f32 f16 bf16",
     "each of G groups of channels of an image is centred and scaled; gamma and beta per channel; NCHW; groups=c: instance norm",
     0, image_parameters, build_groupnorm},
    {"batchnorm", "n=N,c=C,h=H,w=W[,eps=X]", "f32 f16 bf16",
     "inference: (x - mean[c]) / sqrt(var[c] + eps) * gamma[c] + beta[c]; NCHW", 0, batch_parameters, build_batchnorm},
};
const struct gpu_kernel_family gpu_family_norm = {rows, ARRAY_COUNT(rows)};
