/* Convolution as products of 8x8 matrices, with the image read in place ("implicit gemm").
 *
 * First the weights are packed: [group][tap][block of 8 input channels][output channel][8], padded with zeros. Then a threadgroup
 * computes 16 row_tiles output channels x 64 pixels, each of its 2 x 2 simdgroups a quarter. A step takes one tap and one block
 * of channels: each thread loads row_tiles weights and four image elements (one pixel, every other channel) and stores them to
 * threadgroup memory; while the simdgroups multiply from there, those of the next step are under way. Two buffers alternate, so
 * that one barrier per step suffices.
 *
 * Elements outside the image are read at its start and zeroed by a mask that changes only from tap to tap. Pixels beyond the end
 * repeat the last one and are not stored.
 */
#include "isa/array_count.h"
#include "isa/rounding.h"
#include "units/gpu/kernels/gpu_conv.h"
#include "units/gpu/kernels/gpu_kernel_family.h"
#include "units/gpu/kernels/gpu_matrix.h"

#include <stdio.h>

enum { PIXEL_TILES = 4, STEP = 8, GROUP = 2, THREADS = 32 * GROUP * GROUP, GROUP_PIXELS = 8 * PIXEL_TILES * GROUP };
enum { IMAGE_LOADS = STEP * GROUP_PIXELS / THREADS, PACK_THREADS = 256, PACK_LOADS = 8 };

struct matrix {
    const struct gpu_conv *v;
    struct gpu_emit *e;
    unsigned row_tiles, packed;                         /* packed: buffer */
    uint32_t rows, blocks;                              /* output channels of a threadgroup, blocks of channels */
    uint32_t group_rows;                                /* output channels of a group, whole threadgroups of them */
    enum gpu_type staged;                               /* in threadgroup memory, where bf16 is stored as float32 */
    uint32_t staged_bytes, weights_bytes, buffer_bytes; /* element; weights of one buffer; one buffer */
    struct gpu_base x[IMAGE_LOADS], weights, out;
    unsigned acc, a, b; /* registers: result, operands */
    unsigned raw_weights, raw_image;
    unsigned r, p;               /* lane's place in a matrix */
    unsigned row, pixel;         /* of the result: this lane's first output channel of the group, and first pixel */
    unsigned corner;             /* y << 16 | x & 0xffff of the first tap of the pixel that this thread loads */
    unsigned plane, channel;     /* first element and number of this thread's first channel */
    unsigned index, mask, block; /* block: first channel of the present block */
    unsigned weight, tap_y, tap_x, buffer, steps;
    unsigned weights_at, image_at, a_at, b_at; /* in a buffer of threadgroup memory, in bytes */
    unsigned t, u;
};

static uint32_t pixels(const struct gpu_conv *v)
{
    return v->out_h * v->out_w;
}

/* ---- packing ---- */

static uint64_t packed_count(const struct matrix *m)
{
    return (uint64_t)m->v->groups * m->v->r * m->v->s * m->blocks * m->group_rows * STEP;
}

struct packing {
    struct gpu_emit *e;
    struct gpu_base in, out;
    unsigned channel, row, from, to, value; /* registers */
};

/* Packs the taps of a row of the window, a few at a time. Channels that only pad are zeros. */
static void pack_taps(const struct matrix *m, const struct packing *k)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = k->e;
    for (unsigned first = 0; first < v->s; first += PACK_LOADS) {
        const unsigned count = v->s - first < PACK_LOADS ? v->s - first : PACK_LOADS;
        for (unsigned i = 0; i < count; i++)
            gpu_mov_imm(e, k->value + i, 0);
        gpu_if(e, "ult", gpu_r(e, k->channel), gpu_int(e, v->group_c));
        gpu_if(e, "ult", gpu_r(e, k->row), gpu_int(e, v->group_k));
        for (unsigned i = 0; i < count; i++) {
            gpu_load_raw(e, 0, v->type, 1, 2 * (k->value + i), k->in, gpu_r(e, k->from));
            gpu_add_imm(e, k->from, k->from, 1);
        }
        gpu_wait(e, 0);
        gpu_endif(e);
        gpu_endif(e);
        for (unsigned i = 0; i < count; i++) {
            gpu_store_raw(e, 1, v->type, 1, 2 * (k->value + i), k->out, gpu_r(e, k->to));
            gpu_add_imm(e, k->to, k->to, (int64_t)m->blocks * m->group_rows * STEP);
        }
    }
}

/* One thread per pair of channels, for all its taps, which are contiguous in the weights. */
static bool build_packing(const struct matrix *m, struct gpu_kernel *kernel, struct isa_error *error)
{
    const struct gpu_conv *v = m->v;
    const uint32_t taps = v->r * v->s;
    char variant[32];
    snprintf(variant, sizeof variant, "conv_pack_%s", gpu_type_name(v->type));
    struct gpu_emit *e = gpu_emit_begin(kernel, variant, error);
    gpu_conv_packs(v, kernel);
    struct packing k = {.e = e, .in = gpu_argument_buffer(e, v->weights, 0), .out = gpu_argument_buffer(e, m->packed, 0)};
    unsigned *const single[] = {&k.channel, &k.row, &k.from, &k.to};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    k.value = gpu_register(e, PACK_LOADS);
    const unsigned thread = gpu_register(e, 1), block = gpu_register(e, 1), group = gpu_register(e, 1), rows = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", thread, GPU_SR_GRID_X);
    gpu_and_imm(e, k.channel, thread, STEP - 1);
    gpu_shr(e, k.from, thread, 3);
    gpu_divide_imm(e, k.to, k.row, k.from, m->group_rows);
    gpu_divide_imm(e, group, block, k.to, m->blocks);
    gpu_mad_imm(e, k.to, group, (taps - 1) * m->blocks * m->group_rows * STEP, thread);
    gpu_mad_imm(e, k.channel, block, STEP, k.channel);
    gpu_mad_imm(e, k.from, group, v->group_k, k.row);
    gpu_mad_imm(e, k.from, k.from, v->group_c, k.channel);
    gpu_mad_imm(e, k.from, k.from, taps, GPU_NO_REGISTER);
    gpu_mov_imm(e, rows, v->r);
    gpu_do(e);
    pack_taps(m, &k);
    gpu_add_imm(e, rows, rows, -1);
    gpu_while(e, "nueq", gpu_r(e, rows), "0");
    gpu_emit_grid(e, (uint32_t)(packed_count(m) / taps), 1, 1, PACK_THREADS, 1, 1);
    return gpu_emit_end(e);
}

/* ---- places ---- */

static void take_registers(struct matrix *m)
{
    struct gpu_emit *e = m->e;
    unsigned *const single[] = {&m->r,     &m->p,          &m->row,      &m->pixel,  &m->corner, &m->plane, &m->channel,
                                &m->index, &m->mask,       &m->block,    &m->weight, &m->tap_y,  &m->tap_x, &m->buffer,
                                &m->steps, &m->weights_at, &m->image_at, &m->a_at,   &m->b_at,   &m->t,     &m->u};
    m->acc = gpu_register(e, 2 * m->row_tiles * PIXEL_TILES);
    m->a = gpu_register(e, 2 * m->row_tiles);
    m->b = gpu_register(e, 2 * PIXEL_TILES);
    m->raw_weights = gpu_register(e, 4);
    m->raw_image = gpu_register(e, IMAGE_LOADS);
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
}

/* Finds the place of the result, and where the simdgroup's operands lie in a buffer. */
static void find_result(struct matrix *m, unsigned thread_rows)
{
    struct gpu_emit *e = m->e;
    gpu_matrix_lane(e, m->r, m->p);
    gpu_mad_imm(e, m->u, m->p, 2, GPU_NO_REGISTER);
    gpu_mad_imm(e, m->a_at, m->r, STEP, m->u);
    gpu_mad_imm(e, m->a_at, m->a_at, m->staged_bytes, GPU_NO_REGISTER);
    gpu_emit(e, "get_sr r%u, sr%d", m->t, GPU_SR_SIMDGROUP);
    gpu_and_imm(e, m->pixel, m->t, 1);
    gpu_mad_imm(e, m->b_at, m->pixel, PIXEL_TILES * 64 * m->staged_bytes, m->a_at);
    gpu_add_imm(e, m->b_at, m->b_at, m->weights_bytes);
    gpu_mad_imm(e, m->pixel, m->pixel, 8 * PIXEL_TILES, m->u);
    gpu_shr(e, m->row, m->t, 1);
    gpu_mad_imm(e, m->a_at, m->row, m->row_tiles * 64 * m->staged_bytes, m->a_at);
    gpu_mad_imm(e, m->row, m->row, 8 * m->row_tiles, m->r);
    gpu_emit(e, "get_sr r%u, sr%d", m->t, GPU_SR_GROUP_Y);
    gpu_mad_imm(e, m->row, m->t, m->rows, m->row);
    gpu_mad_imm(e, thread_rows, m->t, m->rows * STEP, GPU_NO_REGISTER);
    gpu_emit(e, "get_sr r%u, sr%d", m->t, GPU_SR_GROUP_X);
    gpu_mad_imm(e, m->pixel, m->t, GROUP_PIXELS, m->pixel);
}

/* Finds the pixel that this thread loads, its corner and its first channel (0 or 1). */
static void find_pixel(struct matrix *m, unsigned thread, unsigned image, unsigned group)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    const unsigned y = gpu_register(e, 1), x = gpu_register(e, 1);
    gpu_and_imm(e, m->u, thread, GROUP_PIXELS - 1);
    gpu_shr(e, m->channel, thread, 6);
    gpu_mad_imm(e, m->t, m->t, GROUP_PIXELS, m->u); /* t: the threadgroup's place along the pixels */
    gpu_min_imm(e, m->t, m->t, pixels(v) - 1);
    gpu_divide_imm(e, y, x, m->t, v->out_w);
    gpu_mad_imm(e, y, y, v->stride, GPU_NO_REGISTER);
    gpu_mad_imm(e, x, x, v->stride, GPU_NO_REGISTER);
    gpu_add_imm(e, y, y, -(int64_t)v->pad);
    gpu_add_imm(e, x, x, -(int64_t)v->pad);
    gpu_and_imm(e, x, x, 0xffff);
    gpu_emit(e, "bfi r%u, r%u, r%u, 16", m->corner, x, y);
    /* Threadgroup memory has blocks of 8 pixels: [block][channel][8]. */
    gpu_shr(e, y, m->u, 3);
    gpu_and_imm(e, x, m->u, 7);
    gpu_mad_imm(e, x, m->channel, 8, x);
    gpu_mad_imm(e, x, y, 64, x);
    gpu_mad_imm(e, m->image_at, x, m->staged_bytes, GPU_NO_REGISTER);
    gpu_add_imm(e, m->image_at, m->image_at, m->weights_bytes);
    gpu_mad_imm(e, m->plane, group, v->group_c, m->channel);
    gpu_mad_imm(e, m->plane, image, v->c, m->plane);
    gpu_mad_imm(e, m->plane, m->plane, v->h * v->w, GPU_NO_REGISTER);
    gpu_register_free(e, y, 1);
    gpu_register_free(e, x, 1);
}

static void find_place(struct matrix *m, unsigned image, unsigned group)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    const unsigned thread = gpu_register(e, 1), thread_rows = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", m->t, GPU_SR_GROUP_Z);
    gpu_divide_imm(e, image, group, m->t, v->groups);
    gpu_emit(e, "get_sr r%u, sr%d", thread, GPU_SR_LOCAL_INDEX);
    find_result(m, thread_rows);
    find_pixel(m, thread, image, group);
    gpu_mad_imm(e, m->u, thread, m->row_tiles, GPU_NO_REGISTER);
    gpu_mad_imm(e, m->weights_at, m->u, m->staged_bytes, GPU_NO_REGISTER);
    gpu_emit(e, "iadd r%u, r%u, r%u", m->weight, m->u, thread_rows);
    gpu_mad_imm(e, m->weight, group, v->r * v->s * m->blocks * m->group_rows * STEP, m->weight);
    gpu_register_free(e, thread, 1);
    gpu_register_free(e, thread_rows, 1);
}

/* ---- fetching ---- */

/* Computes element and mask of the thread's pixel at the present tap. */
static void start_tap(struct matrix *m)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    gpu_emit(e, "asr r%u, r%u, 16", m->t, m->corner);
    gpu_emit(e, "iadd r%u, r%u, r%u", m->t, m->t, m->tap_y);
    gpu_emit(e, "iadd r%u, %s.sx, r%u", m->u, gpu_h(e, 2 * m->corner), m->tap_x);
    if (v->pad) {
        gpu_emit(e, "icmpsel ult, r%u, r%u, %s, %s, 0", m->mask, m->t, gpu_int(e, v->h), gpu_int(e, UINT32_MAX));
        gpu_emit(e, "icmpsel ult, r%u, r%u, %s, r%u, 0", m->mask, m->u, gpu_int(e, v->w), m->mask);
    }
    gpu_mad_imm(e, m->t, m->t, v->w, m->u);
    gpu_emit(e, "iadd r%u, r%u, r%u", m->index, m->t, m->plane);
    if (v->pad)
        gpu_emit(e, "and r%u, r%u, r%u", m->index, m->index, m->mask);
    gpu_mov_imm(e, m->block, 0);
}

static void next_tap(struct matrix *m)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    const uint32_t width = v->s * v->dilation;
    gpu_add_imm(e, m->tap_x, m->tap_x, v->dilation);
    gpu_emit(e, "icmpsel ult, r%u, r%u, %s, 0, %s", m->t, m->tap_x, gpu_int(e, width), gpu_int(e, v->dilation));
    gpu_emit(e, "iadd r%u, r%u, r%u", m->tap_y, m->tap_y, m->t);
    gpu_emit(e, "icmpsel ult, r%u, r%u, %s, r%u, 0", m->tap_x, m->tap_x, gpu_int(e, width), m->tap_x);
    start_tap(m);
}

/* Emits the loads of a step and advances to the next one. Channels beyond the end stay zero. */
static void fetch(struct matrix *m)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    const bool cut = v->group_c % STEP != 0;
    gpu_load_raw(e, 0, v->type, m->row_tiles, 2 * m->raw_weights, m->weights, gpu_r(e, m->weight));
    for (unsigned i = 0; i < IMAGE_LOADS; i++) {
        if (cut) {
            gpu_mov_imm(e, m->raw_image + i, 0);
            gpu_emit(e, "iadd r%u, r%u, r%u", m->t, m->block, m->channel);
            gpu_add_imm(e, m->t, m->t, 2 * i);
            gpu_if(e, "ult", gpu_r(e, m->t), gpu_int(e, v->group_c));
        }
        gpu_load_raw(e, 0, v->type, 1, 2 * (m->raw_image + i), m->x[i], gpu_r(e, m->index));
        if (cut)
            gpu_endif(e);
    }
    gpu_add_imm(e, m->weight, m->weight, (int64_t)m->group_rows * STEP);
}

/* Stores what was loaded. The mask belongs to those loads and may change only afterwards. */
static void stage(struct matrix *m)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    gpu_wait(e, 0);
    gpu_widen(e, v->type == GPU_BF16 ? GPU_BF16 : GPU_F32, m->row_tiles, m->raw_weights, 2 * m->raw_weights);
    gpu_emit(e, "iadd r%u, r%u, r%u", m->t, m->weights_at, m->buffer);
    gpu_group_store_raw(e, m->staged, m->row_tiles, 2 * m->raw_weights, gpu_h(e, 2 * m->t), "0");
    gpu_emit(e, "iadd r%u, r%u, r%u", m->t, m->image_at, m->buffer);
    for (unsigned i = 0; i < IMAGE_LOADS; i++) {
        if (v->pad)
            gpu_conv_mask(e, v->type, 2 * (m->raw_image + i), m->mask);
        gpu_widen(e, v->type == GPU_BF16 ? GPU_BF16 : GPU_F32, 1, m->raw_image + i, 2 * (m->raw_image + i));
        gpu_group_store_raw(e, m->staged, 1, 2 * (m->raw_image + i), gpu_h(e, 2 * m->t), "0");
        gpu_add_imm(e, m->t, m->t, 2 * 8 * m->staged_bytes);
    }
    gpu_barrier(e);
}

static void advance(struct matrix *m)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    gpu_add_imm(e, m->index, m->index, (int64_t)STEP * v->h * v->w);
    gpu_add_imm(e, m->block, m->block, STEP);
    if (v->r * v->s == 1)
        return;
    gpu_if(e, "ugte", gpu_r(e, m->block), gpu_int(e, v->group_c));
    next_tap(m);
    gpu_endif(e);
}

/* ---- multiplying ---- */

static void load_operands(struct matrix *m, unsigned to, unsigned at, unsigned tiles)
{
    struct gpu_emit *e = m->e;
    gpu_emit(e, "iadd r%u, r%u, r%u", m->t, at, m->buffer);
    for (unsigned i = 0; i < tiles; i++) {
        gpu_group_load_raw(e, m->staged, 2, 2 * (to + 2 * i), gpu_h(e, 2 * m->t), "0");
        if (i + 1 < tiles)
            gpu_add_imm(e, m->t, m->t, 64 * m->staged_bytes);
    }
}

static void multiply(struct matrix *m)
{
    const bool halves = m->staged == GPU_F16;
    for (unsigned i = 0; i < m->row_tiles; i++)
        for (unsigned j = 0; j < PIXEL_TILES; j++)
            gpu_matrix_fmadd(m->e, m->acc + 2 * (i * PIXEL_TILES + j), gpu_matrix_operand(m->e, halves, 2 * (m->a + 2 * i)),
                             gpu_matrix_operand(m->e, halves, 2 * (m->b + 2 * j)));
}

static void emit_step(struct matrix *m, bool last)
{
    stage(m);
    if (!last) {
        advance(m);
        fetch(m);
    }
    load_operands(m, m->a, m->a_at, m->row_tiles);
    load_operands(m, m->b, m->b_at, PIXEL_TILES);
    multiply(m);
    gpu_emit(m->e, "xor r%u, r%u, %s", m->buffer, m->buffer, gpu_int(m->e, m->buffer_bytes));
}

static void emit_sum(struct matrix *m)
{
    struct gpu_emit *e = m->e;
    const uint32_t steps = m->v->r * m->v->s * m->blocks;
    gpu_mov_imm(e, m->tap_y, 0);
    gpu_mov_imm(e, m->tap_x, 0);
    gpu_mov_imm(e, m->buffer, 0);
    for (unsigned i = 0; i < 2 * m->row_tiles * PIXEL_TILES; i++)
        gpu_mov_imm(e, m->acc + i, 0);
    start_tap(m);
    fetch(m);
    if (steps > 1) {
        gpu_mov_imm(e, m->steps, steps - 1);
        gpu_do(e);
        emit_step(m, false);
        gpu_add_imm(e, m->steps, m->steps, -1);
        gpu_while(e, "nueq", gpu_r(e, m->steps), "0");
    }
    emit_step(m, true);
}

/* ---- results ---- */

static void store_tile(struct matrix *m, unsigned acc, unsigned j, unsigned row_start, unsigned scratch)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    const uint32_t count = pixels(v);
    gpu_add_imm(e, m->t, m->pixel, 8 * j);
    gpu_narrow(e, v->type, 2, 2 * acc, acc, scratch);
    gpu_emit(e, "iadd r%u, r%u, r%u", m->u, row_start, m->t);
    if (count > 1) {
        gpu_if(e, "ult", gpu_r(e, m->t), gpu_int(e, count - 1));
        gpu_store_raw(e, 1, v->type, 2, 2 * acc, m->out, gpu_r(e, m->u));
        gpu_endif(e);
    }
    if (count % 2 == 0)
        return;
    gpu_if(e, "ueq", gpu_r(e, m->t), gpu_int(e, count - 1));
    gpu_store_raw(e, 1, v->type, 1, 2 * acc, m->out, gpu_r(e, m->u));
    gpu_endif(e);
}

static void store_result(struct matrix *m, unsigned image, unsigned group)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    const unsigned channel = gpu_register(e, 1), row_start = gpu_register(e, 1), scratch = gpu_register(e, 1);
    for (unsigned i = 0; i < m->row_tiles; i++) {
        gpu_add_imm(e, channel, m->row, 8 * i);
        gpu_if(e, "ult", gpu_r(e, channel), gpu_int(e, v->group_k));
        gpu_mad_imm(e, channel, group, v->group_k, channel);
        gpu_mad_imm(e, row_start, image, v->k, channel);
        gpu_mad_imm(e, row_start, row_start, pixels(v), GPU_NO_REGISTER);
        const unsigned acc = m->acc + 2 * i * PIXEL_TILES, bias = gpu_conv_bias(e, v, channel);
        for (unsigned j = 0; j < 2 * PIXEL_TILES; j++)
            gpu_conv_finish(e, v, acc + j, bias);
        if (bias != GPU_NO_REGISTER)
            gpu_register_free(e, bias, 1);
        for (unsigned j = 0; j < PIXEL_TILES; j++)
            store_tile(m, acc + 2 * j, j, row_start, scratch);
        gpu_endif(e);
    }
}

static bool build_products(struct matrix *m, struct gpu_kernel *kernel, struct isa_error *error)
{
    const struct gpu_conv *v = m->v;
    const uint64_t plane_bytes = gpu_type_bytes(v->type, (uint64_t)v->h * v->w);
    char variant[32];
    snprintf(variant, sizeof variant, "conv_%s_%ux%u_matrix_%ux%u", gpu_type_name(v->type), (unsigned)v->r, (unsigned)v->s,
             (unsigned)m->rows, GROUP_PIXELS);
    struct gpu_emit *e = m->e = gpu_emit_begin(kernel, variant, error);
    for (unsigned i = 0; i < IMAGE_LOADS; i++) /* beyond the last channel nothing is read */
        m->x[i] = gpu_argument_buffer(e, v->x, 2 * i * plane_bytes);
    m->weights = gpu_argument_buffer(e, m->packed, 0);
    m->out = gpu_argument_buffer(e, v->out, 0);
    gpu_threadgroup_memory(e, 2 * m->buffer_bytes);
    const unsigned image = gpu_register(e, 1), group = gpu_register(e, 1);
    take_registers(m);
    find_place(m, image, group);
    emit_sum(m);
    gpu_register_free(e, m->a, 2 * m->row_tiles);
    gpu_register_free(e, m->b, 2 * PIXEL_TILES);
    store_result(m, image, group);
    gpu_emit_grid(e, divide_up(pixels(v), GROUP_PIXELS) * THREADS, m->group_rows / m->rows, v->n * v->groups, THREADS, 1, 1);
    return gpu_emit_end(e);
}

/* As many as there are output channels for; fewer when that would leave cores without work. */
static unsigned choose_row_tiles(const struct gpu_conv *v)
{
    const uint64_t others = divide_up(pixels(v), GROUP_PIXELS) * v->n * v->groups;
    unsigned tiles = v->group_k > 32 ? 4 : v->group_k > 16 ? 2 : 1;
    while (tiles > 1 && others * divide_up(v->group_k, 8 * GROUP * tiles) < v->cores)
        tiles /= 2;
    return tiles;
}

bool gpu_conv_matrix(const struct gpu_conv *v, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct matrix m = {.v = v, .row_tiles = choose_row_tiles(v), .blocks = (uint32_t)divide_up(v->group_c, STEP)};
    m.rows = 8 * GROUP * m.row_tiles;
    m.group_rows = (uint32_t)round_up(v->group_k, m.rows);
    m.staged = v->type == GPU_BF16 ? GPU_F32 : v->type;
    m.staged_bytes = (uint32_t)gpu_type_bytes(m.staged, 1);
    m.weights_bytes = m.rows * STEP * m.staged_bytes;
    m.buffer_bytes = m.weights_bytes + GROUP_PIXELS * STEP * m.staged_bytes;
    if (packed_count(&m) > (uint64_t)GPU_KERNEL_ELEMENTS_MAX)
        return kernel_refuse(error, "conv2d: the packed weights have more than 2^31 - 1 elements; algo=direct packs none");
    m.packed = gpu_kernel_add_buffer(kernel, "packed", v->type, packed_count(&m), GPU_BUFFER_SCRATCH, 0, 0);
    return build_packing(&m, kernel, error) && build_products(&m, kernel, error);
}
