/* Convolution with one thread per element of the result: for depthwise and thin groups.
 *
 * Taps outside the image are read at the image's first element and zeroed by a mask, so that no branch is needed.
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_conv.h"

#include <stdio.h>

enum { GROUP_THREADS = 64, TAPS = 4 /* loaded together */ };

struct direct {
    const struct gpu_conv *v;
    struct gpu_emit *e;
    struct gpu_base x, weights, out;
    unsigned sum, channel, plane, weight, y, column; /* registers; plane: first element of the channel */
    unsigned row_mask, row_start, mask, value, tap, at;
};

unsigned gpu_conv_bias(struct gpu_emit *e, const struct gpu_conv *v, unsigned channel)
{
    if (!v->has_bias)
        return GPU_NO_REGISTER;
    const unsigned bias = gpu_register(e, 1);
    gpu_load_element(e, 0, v->type, bias, gpu_argument_buffer(e, v->bias, 0), gpu_r(e, channel));
    return bias;
}

void gpu_conv_finish(struct gpu_emit *e, const struct gpu_conv *v, unsigned value, unsigned bias)
{
    if (v->has_bias)
        gpu_emit(e, "fadd32 r%u, r%u, r%u", value, value, bias);
    if (v->has_act)
        gpu_math_emit(e, v->act, value, 0, 0);
}

void gpu_conv_packs(const struct gpu_conv *v, struct gpu_kernel *kernel)
{
    if (v->is_packed)
        kernel->loading_steps = kernel->steps;
}

void gpu_conv_mask(struct gpu_emit *e, enum gpu_type type, unsigned half, unsigned mask)
{
    if (type == GPU_F32)
        gpu_emit(e, "and r%u, r%u, r%u", half / 2, half / 2, mask);
    else
        gpu_emit(e, "and %s, %s, %s", gpu_h(e, half), gpu_h(e, half), gpu_h(e, 2 * mask));
}

/* Emits `count` taps of a row, starting at tap `first`. */
static void emit_taps(struct direct *d, unsigned first, unsigned count)
{
    const struct gpu_conv *v = d->v;
    struct gpu_emit *e = d->e;
    for (unsigned i = 0; i < count; i++) {
        gpu_add_imm(e, d->at, d->column, (int64_t)(first + i) * v->dilation);
        if (v->pad)
            gpu_emit(e, "icmpsel ult, r%u, r%u, %s, r%u, 0", d->mask + i, d->at, gpu_int(e, v->w), d->row_mask);
        gpu_emit(e, "iadd r%u, r%u, r%u", d->at, d->at, d->row_start);
        if (v->pad)
            gpu_emit(e, "and r%u, r%u, r%u", d->at, d->at, d->mask + i);
        gpu_load_raw(e, 0, v->type, 1, 2 * (d->value + i), d->x, gpu_r(e, d->at));
    }
    gpu_load_raw(e, 0, v->type, count, 2 * d->tap, d->weights, gpu_r(e, d->weight));
    gpu_add_imm(e, d->weight, d->weight, count);
    gpu_wait(e, 0);
    gpu_widen(e, v->type, count, d->tap, 2 * d->tap);
    for (unsigned i = 0; i < count; i++) {
        if (v->pad)
            gpu_conv_mask(e, v->type, 2 * (d->value + i), d->mask + i);
        gpu_widen(e, v->type, 1, d->value + i, 2 * (d->value + i));
        gpu_emit(e, "fmadd32 r%u, r%u, r%u, r%u", d->sum, d->value + i, d->tap + i, d->sum);
    }
}

static void emit_row(struct direct *d)
{
    const struct gpu_conv *v = d->v;
    struct gpu_emit *e = d->e;
    if (v->pad)
        gpu_emit(e, "icmpsel ult, r%u, r%u, %s, %s, 0", d->row_mask, d->y, gpu_int(e, v->h), gpu_int(e, UINT32_MAX));
    gpu_mad_imm(e, d->row_start, d->y, v->w, d->plane);
    for (unsigned first = 0; first < v->s; first += TAPS)
        emit_taps(d, first, v->s - first < TAPS ? v->s - first : TAPS);
    gpu_add_imm(e, d->y, d->y, v->dilation);
}

/* Begins a loop that counts down from `count` around what is emitted in between; a single round needs no loop. */
static unsigned begin_count(struct gpu_emit *e, uint32_t count)
{
    const unsigned counter = gpu_register(e, 1);
    if (count > 1) {
        gpu_mov_imm(e, counter, count);
        gpu_do(e);
    }
    return counter;
}

static void end_count(struct gpu_emit *e, unsigned counter, uint32_t count)
{
    if (count > 1) {
        gpu_add_imm(e, counter, counter, -1);
        gpu_while(e, "nueq", gpu_r(e, counter), "0");
    }
    gpu_register_free(e, counter, 1);
}

static void emit_sum(struct direct *d, unsigned first_y)
{
    const struct gpu_conv *v = d->v;
    struct gpu_emit *e = d->e;
    const unsigned channels = begin_count(e, v->group_c);
    gpu_mov(e, d->y, first_y);
    const unsigned rows = begin_count(e, v->r);
    emit_row(d);
    end_count(e, rows, v->r);
    gpu_add_imm(e, d->plane, d->plane, (int64_t)v->h * v->w);
    end_count(e, channels, v->group_c);
}

static void take_registers(struct direct *d)
{
    struct gpu_emit *e = d->e;
    unsigned *const single[] = {&d->sum,    &d->channel,  &d->plane,     &d->weight, &d->y,
                                &d->column, &d->row_mask, &d->row_start, &d->at};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    d->mask = gpu_register(e, TAPS);
    d->value = gpu_register(e, TAPS);
    d->tap = gpu_register(e, TAPS);
}

static void emit_body(struct direct *d)
{
    const struct gpu_conv *v = d->v;
    struct gpu_emit *e = d->e;
    const uint32_t pixels = v->out_h * v->out_w;
    const unsigned pixel = gpu_register(e, 1), image = gpu_register(e, 1), first_y = gpu_register(e, 1),
                   group = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", pixel, GPU_SR_GRID_X);
    gpu_emit(e, "get_sr r%u, sr%d", d->channel, GPU_SR_GROUP_Y);
    gpu_emit(e, "get_sr r%u, sr%d", image, GPU_SR_GROUP_Z);
    gpu_divide_imm(e, first_y, d->column, pixel, v->out_w);
    gpu_mad_imm(e, first_y, first_y, v->stride, GPU_NO_REGISTER);
    gpu_mad_imm(e, d->column, d->column, v->stride, GPU_NO_REGISTER);
    gpu_add_imm(e, first_y, first_y, -(int64_t)v->pad);
    gpu_add_imm(e, d->column, d->column, -(int64_t)v->pad);
    gpu_divide_imm(e, group, GPU_NO_REGISTER, d->channel, v->group_k);
    gpu_mad_imm(e, d->plane, group, v->group_c, GPU_NO_REGISTER);
    gpu_mad_imm(e, d->plane, image, v->c, d->plane);
    gpu_mad_imm(e, d->plane, d->plane, v->h * v->w, GPU_NO_REGISTER);
    gpu_mad_imm(e, d->weight, d->channel, v->group_c * v->r * v->s, GPU_NO_REGISTER);
    gpu_mov_imm(e, d->sum, 0);
    emit_sum(d, first_y);
    gpu_conv_finish(e, v, d->sum, gpu_conv_bias(e, v, d->channel));
    gpu_mad_imm(e, image, image, v->k, d->channel);
    gpu_mad_imm(e, image, image, pixels, pixel);
    gpu_store_element(e, 1, v->type, d->sum, d->out, gpu_r(e, image));
    gpu_emit_grid(e, pixels, v->k, v->n, GROUP_THREADS, 1, 1);
}

bool gpu_conv_direct(const struct gpu_conv *v, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    snprintf(variant, sizeof variant, "conv_%s_%ux%u_per_element", gpu_type_name(v->type), (unsigned)v->r, (unsigned)v->s);
    struct direct d = {.v = v, .e = gpu_emit_begin(kernel, variant, error)};
    d.x = gpu_argument_buffer(d.e, v->x, 0);
    d.weights = gpu_argument_buffer(d.e, v->weights, 0);
    d.out = gpu_argument_buffer(d.e, v->out, 0);
    take_registers(&d);
    emit_body(&d);
    return gpu_emit_end(d.e);
}
