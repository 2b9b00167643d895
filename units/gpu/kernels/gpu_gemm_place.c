/* Where things are in the tile program of gemm. */
#include "units/gpu/kernels/gpu_gemm_tile.h"

#include "units/gpu/kernels/gpu_matrix.h"

/* Threadgroups that run at the same time should share rows and columns, so that L2 holds them: strips of so many columns. */
enum { STRIP_LEAST = 4, STRIP_MOST = 8 };

uint32_t gpu_gemm_rows(const struct gpu_gemm *g)
{
    return 8 * g->row_tiles * GPU_GEMM_GROUP_ROWS;
}

uint32_t gpu_gemm_columns(const struct gpu_gemm *g)
{
    return 8 * g->column_tiles * GPU_GEMM_GROUP_COLUMNS;
}

bool gpu_gemm_is_far(const struct gpu_gemm *g)
{
    const double most = 0x1p31 - 1, m = g->m, n = g->n, k = g->k, batch = g->batch;
    return m * k * batch > most || k * n * batch > most || m * n * batch > most;
}

uint32_t gemm_element_bytes(const struct gpu_gemm *g)
{
    return (uint32_t)gpu_type_bytes(g->type, 1);
}

uint32_t gpu_gemm_step(const struct gpu_gemm *g)
{
    return GEMM_STEP_BYTES / gemm_element_bytes(g);
}

uint32_t gemm_part_steps(const struct gpu_gemm *g)
{
    return g->k / gpu_gemm_step(g) / g->split;
}

uint32_t gemm_rest_of_k(const struct gpu_gemm *g)
{
    return g->k % gpu_gemm_step(g);
}

/* ---- blocks ---- */

/* Elements between lines that keep lanes off each other's banks of threadgroup memory (32 of 4 bytes): found by trial. */
static uint32_t padding(const struct gpu_gemm *g)
{
    return gemm_element_bytes(g) == 4 ? 1 : 6;
}

static void describe(const struct gemm_tile *t, struct gemm_operand *o, bool is_a)
{
    const struct gpu_gemm *g = t->g;
    o->k_inner = is_a ? !g->transposed_a : g->transposed_b;
    o->extent = is_a ? g->m : g->n;
    o->tile = is_a ? gpu_gemm_rows(g) : gpu_gemm_columns(g);
    o->inner = o->k_inner ? gpu_gemm_step(g) : o->tile;
    o->outer = o->k_inner ? o->tile : gpu_gemm_step(g);
    o->stride = o->k_inner ? g->k : o->extent;
    o->pitch = o->inner + padding(g);
    o->shuffled = !is_a && !o->k_inner;
    o->segment = GEMM_SEGMENT_BYTES / gemm_element_bytes(g);
    o->segment = o->inner < o->segment ? o->inner : o->segment;
    o->passes = o->inner * o->outer / (GEMM_FOUR * GEMM_THREADS);
    o->cut = !o->k_inner && o->extent % o->tile != 0;
}

static uint32_t lines_per_pass(const struct gemm_operand *o)
{
    return GEMM_FOUR * GEMM_THREADS / o->segment;
}

/* The place of line k of B: within 16, lines of one matrix are adjacent. The order is bits 0, 2, 3, 1 of k. Each bit moves by
 * itself, so the place of a sum without carries is the sum of the places. */
static uint32_t shuffled_line(uint32_t k)
{
    return (k & ~15U) | (k & 1) | (k >> 1 & 6) | (k << 2 & 8);
}

uint32_t gemm_line_place(const struct gemm_operand *o, uint32_t line)
{
    return (o->shuffled ? shuffled_line(line) : line) * o->pitch;
}

/* Passes advance along a line first. */
uint32_t gemm_pass_inner(const struct gemm_operand *o, unsigned pass)
{
    return pass % (o->inner / o->segment) * o->segment;
}

uint32_t gemm_pass_line(const struct gemm_operand *o, unsigned pass)
{
    return pass / (o->inner / o->segment) * lines_per_pass(o);
}

static unsigned half_register(struct gpu_emit *e, unsigned *spare)
{
    const unsigned half = *spare ? *spare : 2 * gpu_register(e, 1);
    *spare = *spare ? 0 : half + 1;
    return half;
}

static void take_registers(struct gemm_tile *t, struct gemm_operand *o, unsigned fragments, unsigned *spare)
{
    struct gpu_emit *e = t->e;
    o->staged = 2 * gpu_register(e, o->passes * t->four_halves / 2);
    o->fragment = 2 * gpu_register(e, fragments * t->four_halves / 2);
    for (unsigned p = 0; p < o->passes; p++)
        o->index[p] = gpu_register(e, 1);
    o->base = gpu_register_base(gpu_register(e, 2));
    o->put = half_register(e, spare);
    const bool by_element = o == &t->a ? !o->k_inner : o->k_inner;
    for (unsigned j = 0; j < (by_element ? GEMM_FOUR : 1U); j++)
        o->take[j] = half_register(e, spare);
    if (o->cut)
        o->edge = gpu_register(e, 1);
    for (unsigned b = 0; b < GEMM_BUFFERS; b++)
        o->address[b] = gpu_threadgroup_memory(e, o->outer * o->pitch * gemm_element_bytes(t->g));
}

static void free_registers(struct gemm_tile *t, const struct gemm_operand *o, unsigned fragments)
{
    gpu_register_free(t->e, o->staged / 2, o->passes * t->four_halves / 2);
    gpu_register_free(t->e, o->fragment / 2, fragments * t->four_halves / 2);
    for (unsigned p = 0; p < o->passes; p++)
        gpu_register_free(t->e, o->index[p], 1);
}

void gemm_thread_place(struct gpu_emit *e, const struct gemm_operand *o, unsigned four, unsigned line)
{
    const unsigned thread = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", thread, GPU_SR_LOCAL_INDEX);
    gpu_divide_imm(e, line, four, thread, o->segment / GEMM_FOUR);
    gpu_shl(e, four, four, 2);
    gpu_register_free(e, thread, 1);
}

/* ---- the grid ---- */

void gemm_find_batch(struct gemm_tile *t, unsigned batch, unsigned part)
{
    const unsigned z = gpu_register(t->e, 1);
    gpu_emit(t->e, "get_sr r%u, sr%d", z, GPU_SR_GROUP_Z);
    if (t->g->split == 1) {
        gpu_mov(t->e, batch, z);
        gpu_mov_imm(t->e, part, 0);
    } else {
        gpu_divide_imm(t->e, batch, part, z, t->g->split);
    }
    gpu_register_free(t->e, z, 1);
}

static uint32_t groups_along(uint32_t extent, uint32_t tile)
{
    return (extent + tile - 1) / tile;
}

uint32_t gemm_groups_across(const struct gpu_gemm *g)
{
    return groups_along(g->n, gpu_gemm_columns(g));
}

uint32_t gemm_groups_down(const struct gpu_gemm *g)
{
    return groups_along(g->m, gpu_gemm_rows(g));
}

static uint32_t strip_width(const struct gpu_gemm *g)
{
    const uint32_t across = gemm_groups_across(g);
    for (uint32_t width = STRIP_MOST; width >= STRIP_LEAST; width--)
        if (across > width && across % width == 0)
            return width;
    return across;
}

/* Finds the row and column of tiles that this threadgroup computes. */
static void find_group(struct gemm_tile *t, unsigned row, unsigned column)
{
    struct gpu_emit *e = t->e;
    const uint32_t across = gemm_groups_across(t->g), down = gemm_groups_down(t->g);
    const uint32_t width = strip_width(t->g);
    gpu_emit(e, "get_sr r%u, sr%d", row, GPU_SR_GROUP_Y);
    gpu_emit(e, "get_sr r%u, sr%d", column, GPU_SR_GROUP_X);
    if (width == across)
        return;
    const unsigned strip = gpu_register(e, 1), number = gpu_register(e, 1), within = gpu_register(e, 1);
    gpu_mad_imm(e, number, row, across, column);
    gpu_divide_imm(e, strip, within, number, width * down);
    gpu_divide_imm(e, row, column, within, width);
    gpu_mad_imm(e, column, strip, width, column);
    gpu_register_free(e, strip, 1);
    gpu_register_free(e, number, 1);
    gpu_register_free(e, within, 1);
}

uint32_t gemm_advance_elements(const struct gemm_tile *t, const struct gemm_operand *o)
{
    return gpu_gemm_step(t->g) * (o->k_inner ? 1 : o->stride);
}

/* ---- threads and lanes ---- */

/* Computes the index of each pass; `four` becomes the place in device memory of the first line's four. */
static void start_indices(struct gemm_tile *t, struct gemm_operand *o, unsigned four, unsigned line, unsigned group)
{
    struct gpu_emit *e = t->e;
    const unsigned at = gpu_register(e, 1), origin = t->far ? gpu_register(e, 1) : GPU_NO_REGISTER;
    if (t->far)
        gpu_mad_imm(e, origin, group, o->tile, GPU_NO_REGISTER);
    if (!o->k_inner && !t->far)
        gpu_mad_imm(e, four, group, o->tile, four);
    if (o->cut)
        gpu_mov(e, o->edge, four);
    if (o->cut && t->far)
        gpu_emit(e, "iadd r%u, r%u, r%u", o->edge, o->edge, origin);
    if (o->k_inner)
        gpu_mad_imm(e, line, group, o->tile, line);
    for (unsigned p = 0; p < o->passes; p++) {
        gpu_add_imm(e, at, line, gemm_pass_line(o, p));
        if (o->k_inner && o->extent % o->tile)
            gpu_min_imm(e, at, at, o->extent - 1);
        if (o->k_inner && t->far)
            gpu_emit(e, "isub r%u, r%u, r%u", at, at, origin);
        gpu_mad_imm(e, o->index[p], at, o->stride, four);
        if (gemm_pass_inner(o, p))
            gpu_add_imm(e, o->index[p], o->index[p], gemm_pass_inner(o, p));
    }
    gpu_register_free(e, at, 1);
    if (t->far)
        gpu_register_free(e, origin, 1);
}

/* The base of a threadgroup's part of an operand; its indices count from there. */
static void start_far(struct gemm_tile *t, const struct gemm_operand *o, unsigned batch, unsigned part, unsigned group)
{
    const uint64_t bytes = gemm_element_bytes(t->g);
    gpu_far_add(t->e, o->base.number, group, bytes * o->tile * (o->k_inner ? o->stride : 1));
    gpu_far_add(t->e, o->base.number, batch, bytes * o->extent * t->g->k);
    if (t->g->split > 1)
        gpu_far_add(t->e, o->base.number, part, bytes * gemm_part_steps(t->g) * gemm_advance_elements(t, o));
}

/* Converts a place in elements to the offset of word accesses, in a half register. */
static void words_of(struct gemm_tile *t, unsigned half, unsigned place)
{
    if (gemm_element_bytes(t->g) == 4)
        gpu_emit(t->e, "mov %s, %s", gpu_h(t->e, half), gpu_h(t->e, 2 * place));
    else
        gpu_emit(t->e, "bfeil %s, 0, r%u, 1", gpu_h(t->e, half), place);
}

/* The places of later passes differ by constants, because the lines of a pass are a power of two; see shuffled_line. */
static void start_put(struct gemm_tile *t, const struct gemm_operand *o, unsigned four, unsigned line)
{
    struct gpu_emit *e = t->e;
    const unsigned place = gpu_register(e, 1), bits = gpu_register(e, 1);
    gpu_mov(e, place, line);
    if (o->shuffled) {
        gpu_and_imm(e, place, line, 0xf1);
        gpu_emit(e, "bfeil r%u, 0, r%u, 2, mask 0x3", bits, line);
        gpu_emit(e, "iadd r%u, r%u, r%u, lsl 1", place, place, bits);
        gpu_emit(e, "bfeil r%u, 0, r%u, 1, mask 0x1", bits, line);
        gpu_emit(e, "iadd r%u, r%u, r%u, lsl 3", place, place, bits);
    }
    gpu_mad_imm(e, place, place, o->pitch, four);
    words_of(t, o->put, place);
    gpu_register_free(e, place, 1);
    gpu_register_free(e, bits, 1);
}

static void start_operand(struct gemm_tile *t, struct gemm_operand *o, unsigned buffer, unsigned batch, unsigned part,
                          unsigned group)
{
    struct gpu_emit *e = t->e;
    const struct gpu_base uniform = gpu_argument_buffer(e, buffer, 0);
    const unsigned four = gpu_register(e, 1), line = gpu_register(e, 1);
    gemm_thread_place(e, o, four, line);
    start_put(t, o, four, line);
    start_indices(t, o, four, line, group);
    if (!t->far) {
        gpu_mad_imm(e, four, batch, o->extent * t->g->k, GPU_NO_REGISTER);
        if (t->g->split > 1)
            gpu_mad_imm(e, four, part, gemm_part_steps(t->g) * gemm_advance_elements(t, o), four);
        for (unsigned p = 0; p < o->passes; p++)
            gpu_emit(e, "iadd r%u, r%u, r%u", o->index[p], o->index[p], four);
    }
    gpu_far_begin(e, o->base.number, uniform);
    if (t->far)
        start_far(t, o, batch, part, group);
    gpu_register_free(e, four, 1);
    gpu_register_free(e, line, 1);
}

/* take = place of fragments in a block: `along` along the result, `depth` along k. */
static void start_fragments(struct gemm_tile *t, struct gemm_operand *o, unsigned along, unsigned depth, bool is_a)
{
    struct gpu_emit *e = t->e;
    const unsigned line = o->k_inner ? along : depth, inner = o->k_inner ? depth : along, at = gpu_register(e, 1);
    const bool by_element = is_a ? !o->k_inner : o->k_inner;
    gpu_mad_imm(e, at, line, o->pitch, inner);
    if (!by_element)
        words_of(t, o->take[0], at);
    for (unsigned j = 0; by_element && j < GEMM_FOUR; j++)
        gpu_emit(e, "iadd %s, %s, %s", gpu_h(e, o->take[j]), gpu_h(e, 2 * at), gpu_int(e, j * o->pitch));
    gpu_register_free(e, at, 1);
}

/* along = first row of this lane within its simdgroup's part of the threadgroup's rows, from R. */
static void lane_row(struct gemm_tile *t, unsigned along, unsigned r, unsigned simd)
{
    struct gpu_emit *e = t->e;
    const unsigned high = gpu_register(e, 1);
    gpu_shr(e, along, simd, 1);
    gpu_shr(e, high, r, 2);
    gpu_mad_imm(e, along, along, 2, high);
    gpu_and_imm(e, high, r, 3);
    gpu_mad_imm(e, along, along, 4 * t->g->row_tiles, high);
    gpu_register_free(e, high, 1);
}

/* The same for columns, from P. */
static void lane_column(struct gemm_tile *t, unsigned along, unsigned p, unsigned simd)
{
    gpu_and_imm(t->e, along, simd, 1);
    gpu_mad_imm(t->e, along, along, 4, p);
    gpu_mad_imm(t->e, along, along, 4 * t->column_groups, GPU_NO_REGISTER);
}

static void start_lane(struct gemm_tile *t)
{
    struct gpu_emit *e = t->e;
    const unsigned r = gpu_register(e, 1), p = gpu_register(e, 1), simd = gpu_register(e, 1);
    const unsigned along = gpu_register(e, 1), depth = gpu_register(e, 1);
    gpu_matrix_lane(e, r, p);
    gpu_emit(e, "get_sr r%u, sr%d", simd, GPU_SR_SIMDGROUP);
    lane_row(t, along, r, simd);
    gpu_shl(e, depth, p, 2);
    start_fragments(t, &t->a, along, depth, true);
    lane_column(t, along, p, simd);
    if (t->b.shuffled) {
        gpu_mov(e, depth, r);
    } else {
        gpu_shr(e, depth, r, 1);
        gpu_and_imm(e, r, r, 1);
        gpu_emit(e, "iadd r%u, r%u, r%u, lsl 2", depth, r, depth);
    }
    start_fragments(t, &t->b, along, depth, false);
    gpu_register_free(e, r, 1);
    gpu_register_free(e, p, 1);
    gpu_register_free(e, simd, 1);
    gpu_register_free(e, along, 1);
    gpu_register_free(e, depth, 1);
}

/* Columns beyond the end are never loaded; their registers must not hold leftovers. */
static void clear_cut(struct gemm_tile *t, const struct gemm_operand *o)
{
    if (o->cut)
        gpu_clear_words(t->e, o->staged / 2, o->passes * t->four_halves / 2);
}

void gemm_start(struct gemm_tile *t, unsigned part)
{
    const struct gpu_gemm *g = t->g;
    const unsigned batch = gpu_register(t->e, 1);
    unsigned spare = 0;
    t->four_halves = g->type == GPU_F32 ? 2 * GEMM_FOUR : GEMM_FOUR;
    t->acc = gpu_register(t->e, 2 * g->row_tiles * g->column_tiles);
    describe(t, &t->a, true);
    describe(t, &t->b, false);
    take_registers(t, &t->a, g->row_tiles, &spare);
    take_registers(t, &t->b, 2 * t->column_groups, &spare);
    if (g->type == GPU_BF16) {
        t->wide_a = gpu_register(t->e, 2 * g->row_tiles);
        t->wide_b = gpu_register(t->e, GEMM_FOUR * t->column_groups);
    }
    const unsigned group_row = gpu_register(t->e, 1), group_column = gpu_register(t->e, 1);
    gemm_find_batch(t, batch, part);
    find_group(t, group_row, group_column);
    start_operand(t, &t->a, g->a, batch, part, group_row);
    if (g->share_b > 1) {
        const unsigned shared = gpu_register(t->e, 1);
        gpu_divide_imm(t->e, shared, GPU_NO_REGISTER, batch, g->share_b);
        gpu_mov(t->e, batch, shared);
        gpu_register_free(t->e, shared, 1);
    }
    start_operand(t, &t->b, g->b, batch, part, group_column);
    gpu_register_free(t->e, group_row, 1);
    gpu_register_free(t->e, group_column, 1);
    start_lane(t);
    gpu_clear_words(t->e, t->acc, 2 * g->row_tiles * g->column_tiles);
    clear_cut(t, &t->a);
    clear_cut(t, &t->b);
    gpu_register_free(t->e, batch, 1);
}

void gemm_free_operands(struct gemm_tile *t)
{
    free_registers(t, &t->a, t->g->row_tiles);
    free_registers(t, &t->b, 2 * t->column_groups);
}

void gemm_find_result(struct gemm_tile *t)
{
    struct gpu_emit *e = t->e;
    const unsigned simd = gpu_register(e, 1), r = gpu_register(e, 1), p = gpu_register(e, 1);
    const unsigned group_row = gpu_register(e, 1), group_column = gpu_register(e, 1);
    t->row = gpu_register(e, 1);
    t->column = gpu_register(e, 1);
    gpu_matrix_lane(e, r, p);
    gpu_emit(e, "get_sr r%u, sr%d", simd, GPU_SR_SIMDGROUP);
    find_group(t, group_row, group_column);
    lane_row(t, t->row, r, simd);
    gpu_mad_imm(e, t->row, group_row, gpu_gemm_rows(t->g), t->row);
    lane_column(t, t->column, p, simd);
    gpu_mad_imm(e, t->column, group_column, gpu_gemm_columns(t->g), t->column);
    gpu_register_free(e, simd, 1);
    gpu_register_free(e, r, 1);
    gpu_register_free(e, p, 1);
    gpu_register_free(e, group_row, 1);
    gpu_register_free(e, group_column, 1);
}
