/* Convolution as products of 8x8 matrices, straight from image and weights ("implicit gemm").
 *
 * A simdgroup makes row_tiles x PIXEL_TILES matrices of the result, 8 output channels x 8 pixels each, a threadgroup 2 x 2 of that.
 * The sum runs over taps (outer loop) and input channels, eight at a time: A holds weights (rows: output channels, columns: input
 * channels), B image elements (rows: input channels, columns: pixels), which lane (R, P) of a matrix fetches for pixels 2P, 2P + 1
 * of channel R. Elements outside the image are read at the image's start and zeroed by a mask. Pixels and output channels beyond
 * the end repeat the last ones and are not stored; input channels beyond the end are zeros.
 */
#include "units/gpu/kernels/gpu_conv.h"
#include "units/gpu/kernels/gpu_matrix.h"

#include <stdio.h>

enum { PIXEL_TILES = 4, ROW_TILES_MAX = 4, PIXELS = 2 * PIXEL_TILES, STEP = 8, SETS = 2, GROUP = 2 };

struct matrix {
    const struct gpu_conv *v;
    struct gpu_emit *e;
    unsigned row_tiles;
    bool halves, pairs; /* pairs: neighbouring pixels are neighbours in memory: 1x1, stride 1, no padding */
    struct gpu_base x, weights[2], out; /* weights of input channels 2P and 2P + 1 */
    unsigned acc, a[SETS], b[SETS], wide_a, wide_b; /* registers of operands: two per tile */
    unsigned r, p;            /* lane's place in a matrix */
    unsigned row, pixel;      /* nominal: first output channel of the group and first pixel of this lane */
    unsigned plane;           /* first element of this lane's first input channel */
    unsigned corner[PIXELS];  /* (y << 16 | x & 0xffff) of each pixel's first tap; element index when nothing is padded */
    unsigned index[PIXELS], mask[PIXELS];
    unsigned weight[ROW_TILES_MAX], weight_start[ROW_TILES_MAX];
    unsigned tap_y, tap_x, t, u;
};

static bool padded(const struct matrix *m)
{
    return m->v->pad != 0;
}

static unsigned pixel_count(const struct matrix *m)
{
    return m->pairs ? PIXEL_TILES : PIXELS;
}

static uint32_t pixels(const struct gpu_conv *v)
{
    return v->out_h * v->out_w;
}

static void take(struct gpu_emit *e, unsigned *registers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        registers[i] = gpu_register(e, 1);
}

static void take_registers(struct matrix *m)
{
    struct gpu_emit *e = m->e;
    m->acc = gpu_register(e, 2 * m->row_tiles * PIXEL_TILES);
    for (unsigned s = 0; s < SETS; s++) {
        m->a[s] = gpu_register(e, 2 * m->row_tiles);
        m->b[s] = gpu_register(e, 2 * PIXEL_TILES);
    }
    unsigned *const single[] = {&m->r, &m->p, &m->row, &m->pixel, &m->plane, &m->tap_y, &m->tap_x, &m->t, &m->u};
    for (unsigned i = 0; i < sizeof single / sizeof single[0]; i++)
        take(e, single[i], 1);
    take(e, m->corner, pixel_count(m));
    take(e, m->index, pixel_count(m));
    if (padded(m))
        take(e, m->mask, PIXELS);
    take(e, m->weight, m->row_tiles);
    if (m->v->r * m->v->s > 1)
        take(e, m->weight_start, m->row_tiles);
}

/* ---- places ---- */

/* Output channel and pixel of this lane. Grid: x over pixels, y over output channels, z over images and groups. */
static void find_place(struct matrix *m, unsigned image, unsigned group)
{
    struct gpu_emit *e = m->e;
    gpu_matrix_lane(e, m->r, m->p);
    gpu_emit(e, "get_sr r%u, sr%d", m->t, GPU_SR_SIMDGROUP);
    gpu_shr(e, m->row, m->t, 1);
    gpu_emit(e, "get_sr r%u, sr%d", m->u, GPU_SR_GROUP_Y);
    gpu_mad_imm(e, m->row, m->u, GROUP, m->row);
    gpu_mad_imm(e, m->row, m->row, 8 * m->row_tiles, m->r);
    gpu_and_imm(e, m->t, m->t, 1);
    gpu_emit(e, "get_sr r%u, sr%d", m->u, GPU_SR_GROUP_X);
    gpu_mad_imm(e, m->t, m->u, GROUP, m->t);
    gpu_mad_imm(e, m->pixel, m->p, 2, GPU_NO_REGISTER);
    gpu_mad_imm(e, m->pixel, m->t, 8 * PIXEL_TILES, m->pixel);
    gpu_emit(e, "get_sr r%u, sr%d", m->t, GPU_SR_GROUP_Z);
    gpu_divide_imm(e, image, group, m->t, m->v->groups);
}

/* Where the first tap of pixel i lies. */
static void find_corner(struct matrix *m, unsigned i)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    const unsigned y = gpu_register(e, 1), x = gpu_register(e, 1), distance = m->pairs ? 8 * i : i / 2 * 8 + i % 2;
    gpu_add_imm(e, m->t, m->pixel, distance);
    if (m->pairs) {
        gpu_min_imm(e, m->corner[i], m->t, pixels(v) > 1 ? pixels(v) - 2 : 0);
    } else {
        gpu_min_imm(e, m->t, m->t, pixels(v) - 1);
        gpu_divide_imm(e, y, x, m->t, v->out_w);
        gpu_mad_imm(e, y, y, v->stride, GPU_NO_REGISTER);
        gpu_mad_imm(e, x, x, v->stride, GPU_NO_REGISTER);
        gpu_add_imm(e, y, y, -(int64_t)v->pad);
        gpu_add_imm(e, x, x, -(int64_t)v->pad);
        if (padded(m)) {
            gpu_and_imm(e, x, x, 0xffff);
            gpu_emit(e, "bfi r%u, r%u, r%u, 16", m->corner[i], x, y);
        } else {
            gpu_mad_imm(e, m->corner[i], y, v->w, x);
        }
    }
    if (!padded(m))
        gpu_emit(e, "iadd r%u, r%u, r%u", m->corner[i], m->corner[i], m->plane);
    gpu_register_free(e, y, 1);
    gpu_register_free(e, x, 1);
}

/* Input channels beyond the end repeat the last one: whole steps never see them. */
static void find_operands(struct matrix *m, unsigned image, unsigned group)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    gpu_min_imm(e, m->plane, m->r, v->group_c - 1);
    gpu_mad_imm(e, m->plane, group, v->group_c, m->plane);
    gpu_mad_imm(e, m->plane, image, v->c, m->plane);
    gpu_mad_imm(e, m->plane, m->plane, v->h * v->w, GPU_NO_REGISTER);
    for (unsigned i = 0; i < pixel_count(m); i++)
        find_corner(m, i);
    for (unsigned i = 0; i < m->row_tiles; i++) {
        gpu_add_imm(e, m->t, m->row, 8 * i);
        gpu_min_imm(e, m->t, m->t, v->group_k - 1);
        gpu_mad_imm(e, m->t, group, v->group_k, m->t);
        gpu_mad_imm(e, m->u, m->p, 2, GPU_NO_REGISTER);
        gpu_mad_imm(e, m->t, m->t, v->group_c, m->u);
        gpu_mad_imm(e, v->r * v->s > 1 ? m->weight_start[i] : m->weight[i], m->t, v->r * v->s, GPU_NO_REGISTER);
    }
}

/* Element index and mask of pixel i at the present tap. */
static void find_tap_element(struct matrix *m, unsigned i)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    if (!padded(m)) {
        gpu_mad_imm(e, m->t, m->tap_y, v->w, m->tap_x);
        gpu_emit(e, "iadd r%u, r%u, r%u", m->index[i], m->corner[i], m->t);
        return;
    }
    gpu_emit(e, "asr r%u, r%u, 16", m->t, m->corner[i]);
    gpu_emit(e, "iadd r%u, r%u, r%u", m->t, m->t, m->tap_y);
    gpu_emit(e, "iadd r%u, %s.sx, r%u", m->u, gpu_h(e, 2 * m->corner[i]), m->tap_x);
    gpu_emit(e, "icmpsel ult, r%u, r%u, %s, %s, 0", m->mask[i], m->t, gpu_int(e, v->h), gpu_int(e, UINT32_MAX));
    gpu_emit(e, "icmpsel ult, r%u, r%u, %s, r%u, 0", m->mask[i], m->u, gpu_int(e, v->w), m->mask[i]);
    gpu_mad_imm(e, m->t, m->t, v->w, m->u);
    gpu_emit(e, "iadd r%u, r%u, r%u", m->t, m->t, m->plane);
    gpu_emit(e, "and r%u, r%u, r%u", m->index[i], m->t, m->mask[i]);
}

static void start_tap(struct matrix *m)
{
    const bool many = m->v->r * m->v->s > 1;
    for (unsigned i = 0; i < pixel_count(m); i++)
        if (many || padded(m))
            find_tap_element(m, i);
        else
            gpu_mov(m->e, m->index[i], m->corner[i]);
    for (unsigned i = 0; many && i < m->row_tiles; i++) {
        gpu_mov(m->e, m->weight[i], m->weight_start[i]);
        gpu_add_imm(m->e, m->weight_start[i], m->weight_start[i], 1);
    }
}

/* ---- a step: eight input channels ---- */

/* Half index of element `which` of the tile whose two registers begin at `first`: float32 words or halves. */
static unsigned place(const struct matrix *m, unsigned first, unsigned tile, unsigned which)
{
    const unsigned reg = first + 2 * tile;
    return m->v->type == GPU_F32 ? 2 * (reg + which) : 2 * reg + which;
}

static void load_b(struct matrix *m, unsigned set)
{
    const struct gpu_conv *v = m->v;
    for (unsigned i = 0; i < PIXEL_TILES; i++)
        for (unsigned q = 0; q < (m->pairs ? 1 : 2); q++)
            gpu_load_raw(m->e, set, v->type, m->pairs ? 2 : 1, place(m, m->b[set], i, q), m->x,
                         gpu_r(m->e, m->index[m->pairs ? i : 2 * i + q]));
}

static void load_a(struct matrix *m, unsigned set, unsigned which)
{
    for (unsigned i = 0; i < m->row_tiles; i++)
        gpu_load_raw(m->e, set, m->v->type, 1, place(m, m->a[set], i, which), m->weights[which], gpu_r(m->e, m->weight[i]));
}

static void advance(struct matrix *m)
{
    const struct gpu_conv *v = m->v;
    for (unsigned i = 0; i < pixel_count(m); i++)
        gpu_add_imm(m->e, m->index[i], m->index[i], (int64_t)STEP * v->h * v->w);
    for (unsigned i = 0; i < m->row_tiles; i++)
        gpu_add_imm(m->e, m->weight[i], m->weight[i], (int64_t)STEP * v->r * v->s);
}

static void load_step(struct matrix *m, unsigned set)
{
    load_b(m, set);
    for (unsigned i = 0; m->v->r * m->v->s == 1 && i < m->row_tiles; i++)
        gpu_load_raw(m->e, set, m->v->type, 2, place(m, m->a[set], i, 0), m->weights[0], gpu_r(m->e, m->weight[i]));
    if (m->v->r * m->v->s > 1) {
        load_a(m, set, 0);
        load_a(m, set, 1);
    }
    advance(m);
}

/* Zeroes what lies outside the image. */
static void apply_masks(struct matrix *m, unsigned set)
{
    for (unsigned i = 0; i < PIXELS; i++)
        gpu_conv_mask(m->e, m->v->type, place(m, m->b[set], i / 2, i % 2), m->mask[i]);
}

static void compute_step(struct matrix *m, unsigned set)
{
    const bool bf16 = m->v->type == GPU_BF16;
    if (padded(m))
        apply_masks(m, set);
    for (unsigned i = 0; bf16 && i < m->row_tiles; i++)
        gpu_widen(m->e, GPU_BF16, 2, m->a[set] + 2 * i, place(m, m->a[set], i, 0));
    for (unsigned i = 0; bf16 && i < PIXEL_TILES; i++)
        gpu_widen(m->e, GPU_BF16, 2, m->b[set] + 2 * i, place(m, m->b[set], i, 0));
    for (unsigned i = 0; i < m->row_tiles; i++)
        for (unsigned j = 0; j < PIXEL_TILES; j++)
            gpu_matrix_fmadd(m->e, m->acc + 2 * (i * PIXEL_TILES + j), gpu_matrix_operand(m->e, m->halves, 2 * (m->a[set] + 2 * i)),
                             gpu_matrix_operand(m->e, m->halves, 2 * (m->b[set] + 2 * j)));
}

/* Registers of one set are filled while those of the other are used. */
static void whole_steps(struct matrix *m)
{
    struct gpu_emit *e = m->e;
    const uint32_t steps = m->v->group_c / STEP, twice = steps ? (steps - 1) / 2 : 0;
    if (steps == 0)
        return;
    load_step(m, 0);
    if (twice) {
        const unsigned count = gpu_register(e, 1);
        gpu_mov_imm(e, count, twice);
        gpu_do(e);
        load_step(m, 1);
        gpu_wait(e, 0);
        compute_step(m, 0);
        load_step(m, 0);
        gpu_wait(e, 1);
        compute_step(m, 1);
        gpu_add_imm(e, count, count, -1);
        gpu_while(e, "nueq", gpu_r(e, count), "0");
        gpu_register_free(e, count, 1);
    }
    if (steps % 2 == 0)
        load_step(m, 1);
    gpu_wait(e, 0);
    compute_step(m, 0);
    if (steps % 2 == 0) {
        gpu_wait(e, 1);
        compute_step(m, 1);
    }
}

static void last_step(struct matrix *m)
{
    struct gpu_emit *e = m->e;
    const uint32_t rest = m->v->group_c % STEP;
    if (rest == 0)
        return;
    for (unsigned i = 0; i < 2 * m->row_tiles; i++)
        gpu_mov_imm(e, m->a[0] + i, 0);
    for (unsigned i = 0; i < 2 * PIXEL_TILES; i++)
        gpu_mov_imm(e, m->b[0] + i, 0);
    gpu_if(e, "ult", gpu_r(e, m->r), gpu_int(e, rest));
    load_b(m, 0);
    gpu_endif(e);
    for (unsigned which = 0; which < 2; which++) {
        gpu_mad_imm(e, m->t, m->p, 2, GPU_NO_REGISTER);
        gpu_add_imm(e, m->t, m->t, which);
        gpu_if(e, "ult", gpu_r(e, m->t), gpu_int(e, rest));
        load_a(m, 0, which);
        gpu_endif(e);
    }
    gpu_wait(e, 0);
    compute_step(m, 0);
}

/* ---- taps ---- */

static void emit_taps(struct matrix *m)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    gpu_mov_imm(e, m->tap_y, 0);
    gpu_mov_imm(e, m->tap_x, 0);
    const bool many = v->r * v->s > 1;
    if (many)
        gpu_do(e);
    start_tap(m);
    whole_steps(m);
    last_step(m);
    if (!many)
        return;
    gpu_add_imm(e, m->tap_x, m->tap_x, v->dilation);
    gpu_emit(e, "icmpsel ult, r%u, r%u, %s, 0, %s", m->t, m->tap_x, gpu_int(e, v->s * v->dilation), gpu_int(e, v->dilation));
    gpu_emit(e, "iadd r%u, r%u, r%u", m->tap_y, m->tap_y, m->t);
    gpu_emit(e, "icmpsel ult, r%u, r%u, %s, r%u, 0", m->tap_x, m->tap_x, gpu_int(e, v->s * v->dilation), m->tap_x);
    gpu_while(e, "ult", gpu_r(e, m->tap_y), gpu_int(e, v->r * v->dilation));
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

/* An odd number of pixels moves the last pair back by one when pixels are read in pairs: what is wanted stands in its second
 * half. */
static void straighten_last_pair(struct matrix *m)
{
    struct gpu_emit *e = m->e;
    const uint32_t count = pixels(m->v);
    if (!m->pairs || count % 2 == 0 || count == 1)
        return;
    for (unsigned j = 0; j < PIXEL_TILES; j++) {
        gpu_add_imm(e, m->t, m->pixel, 8 * j);
        for (unsigned i = 0; i < m->row_tiles; i++) {
            const unsigned acc = m->acc + 2 * (i * PIXEL_TILES + j);
            gpu_emit(e, "icmpsel ueq, r%u, r%u, %s, r%u, r%u", acc, m->t, gpu_int(e, count - 1), acc + 1, acc);
        }
    }
}

static void store_result(struct matrix *m, unsigned image, unsigned group)
{
    const struct gpu_conv *v = m->v;
    struct gpu_emit *e = m->e;
    const unsigned channel = gpu_register(e, 1), row_start = gpu_register(e, 1), scratch = gpu_register(e, 1);
    straighten_last_pair(m);
    for (unsigned i = 0; i < m->row_tiles; i++) {
        gpu_add_imm(e, channel, m->row, 8 * i);
        gpu_if(e, "ult", gpu_r(e, channel), gpu_int(e, v->group_k));
        gpu_mad_imm(e, channel, group, v->group_k, channel);
        gpu_mad_imm(e, row_start, image, v->k, channel);
        gpu_mad_imm(e, row_start, row_start, pixels(v), GPU_NO_REGISTER);
        const unsigned acc = m->acc + 2 * i * PIXEL_TILES;
        const unsigned bias = gpu_conv_bias(e, v, channel);
        for (unsigned j = 0; j < 2 * PIXEL_TILES; j++)
            gpu_conv_finish(e, v, acc + j, bias);
        if (bias != GPU_NO_REGISTER)
            gpu_register_free(e, bias, 1);
        for (unsigned j = 0; j < PIXEL_TILES; j++)
            store_tile(m, acc + 2 * j, j, row_start, scratch);
        gpu_endif(e);
    }
}

static void free_operands(struct matrix *m)
{
    for (unsigned s = 0; s < SETS; s++) {
        gpu_register_free(m->e, m->a[s], 2 * m->row_tiles);
        gpu_register_free(m->e, m->b[s], 2 * PIXEL_TILES);
    }
    for (unsigned i = 0; i < pixel_count(m); i++) {
        gpu_register_free(m->e, m->corner[i], 1);
        gpu_register_free(m->e, m->index[i], 1);
    }
}

bool gpu_conv_matrix(const struct gpu_conv *v, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct matrix m = {.v = v, .halves = v->type == GPU_F16};
    m.row_tiles = v->group_k > 32 ? 4 : v->group_k > 16 ? 2 : 1;
    m.pairs = v->r * v->s == 1 && v->stride == 1 && v->pad == 0 && pixels(v) > 1;
    char variant[32];
    snprintf(variant, sizeof variant, "conv_%s_%ux%u_matrix_%ux%u", gpu_type_name(v->type), (unsigned)v->r, (unsigned)v->s,
             8 * GROUP * m.row_tiles, 8 * GROUP * PIXEL_TILES);
    struct gpu_emit *e = m.e = gpu_emit_begin(kernel, variant, error);
    const uint64_t tap_bytes = gpu_type_bytes(v->type, (uint64_t)v->r * v->s);
    m.x = gpu_argument_buffer(e, v->x, 0);
    m.weights[0] = gpu_argument_buffer(e, v->weights, 0);
    m.weights[1] = gpu_argument_buffer(e, v->weights, tap_bytes);
    m.out = gpu_argument_buffer(e, v->out, 0);
    const unsigned image = gpu_register(e, 1), group = gpu_register(e, 1);
    take_registers(&m);
    find_place(&m, image, group);
    find_operands(&m, image, group);
    for (unsigned i = 0; i < 2 * m.row_tiles * PIXEL_TILES; i++)
        gpu_mov_imm(e, m.acc + i, 0);
    emit_taps(&m);
    free_operands(&m);
    store_result(&m, image, group);
    const uint32_t rows = 8 * GROUP * m.row_tiles, columns = 8 * GROUP * PIXEL_TILES, threads = 32 * GROUP * GROUP;
    gpu_emit_grid(e, (pixels(v) + columns - 1) / columns * threads, (v->group_k + rows - 1) / rows, v->n * v->groups, threads, 1, 1);
    return gpu_emit_end(e);
}
