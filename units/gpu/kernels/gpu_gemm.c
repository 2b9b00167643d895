/* The tile program of gemm.
 *
 * Fragments: a load from threadgroup memory brings four neighbouring elements per lane. Of A (rows m, columns k) lane (R, P) gets
 * k = 4P .. 4P + 3: the first two are its part of a first matrix (h = 0), the others of a second one. Column c of matrix h
 * therefore stands for k = 4 (c / 2) + 2h + c % 2, and B's row of that number goes with it. Of B the four neighbours are columns
 * of the result, shared among two matrices (q) likewise. Operands that lie the other way round are loaded element by element.
 *
 * Which rows and columns of the result lanes have, and the order of B's lines in threadgroup memory, is chosen so that the lanes
 * of a load fall on different banks: of row tile i lane (R, P) has row 4 row_tiles (R / 4) + 4i + R % 4, of the c-th group of
 * columns those from 4 groups P + 4c on.
 *
 * Edges: rows beyond the end are moved back to the last there is; columns beyond it are not loaded; neither is stored. The rest
 * of k is loaded under a mask into registers that hold zero.
 */
#include "units/gpu/kernels/gpu_gemm.h"

#include "units/gpu/kernels/gpu_matrix.h"

#include <stdio.h>

enum { FOUR = 4, DEPTH = 16 /* of k: fragments held at a time */, LINE_BYTES = 128, PASSES_MAX = 8, GROUP_THREADS = 128, STRIP_LEAST = 4, STRIP_MOST = 8 };

/* A or B: `extent` rows (columns) of the result by k. In threadgroup memory a block has the order of device memory. */
struct operand {
    bool k_inner;            /* neighbours in memory are neighbours in k */
    uint32_t extent, tile;   /* all; of a threadgroup */
    uint32_t inner, outer;   /* of a block: elements of a line of it, lines */
    uint32_t stride;         /* of lines in device memory */
    uint32_t pitch;          /* in threadgroup memory; elements */
    uint32_t address;        /* there */
    bool shuffled;           /* lines are k, in the order of B's fragments */
    unsigned passes;         /* loads of four that each thread makes for a block */
    unsigned segment;        /* elements of a line that a pass takes: 128 bytes, so that its lanes store without conflicts */
    unsigned index[PASSES_MAX]; /* base + index: where they come from */
    struct gpu_base base;    /* register pair, moves with k */
    unsigned staged;         /* half index of what is on its way */
    unsigned put;            /* half register: where this thread puts it, elements */
    unsigned take[FOUR];     /* half registers: where this lane's fragments are; element by element: one each */
    unsigned edge;           /* place of this thread's four along the result; only if they can be cut */
    bool cut;                /* so they can */
    unsigned fragment;       /* half index */
};

struct tile {
    const struct gpu_gemm *g;
    struct gpu_emit *e;
    bool halves;             /* operands are used as halves */
    unsigned column_groups;
    unsigned acc;            /* [row_tiles][column_tiles] pairs */
    unsigned four_halves;    /* halves of four elements */
    unsigned wide_a, wide_b; /* bf16: one matrix's worth of the fragments as words */
    struct operand a, b;
    unsigned row, column;    /* of the result: first row of this lane's tile 0, first of its four columns of group 0 */
};

uint32_t gpu_gemm_rows(const struct gpu_gemm *g)
{
    return 8 * g->row_tiles * GPU_GEMM_GROUP_ROWS;
}

uint32_t gpu_gemm_columns(const struct gpu_gemm *g)
{
    return 8 * g->column_tiles * GPU_GEMM_GROUP_COLUMNS;
}

static uint32_t element_bytes(const struct gpu_gemm *g)
{
    return (uint32_t)gpu_type_bytes(g->type, 1);
}

uint32_t gpu_gemm_step(const struct gpu_gemm *g)
{
    return LINE_BYTES / element_bytes(g);
}

/* Whole steps of each part of k; the last part also takes what is left. */
static uint32_t part_steps(const struct gpu_gemm *g)
{
    return g->k / gpu_gemm_step(g) / g->split;
}

static uint32_t last_part_steps(const struct gpu_gemm *g)
{
    return g->k / gpu_gemm_step(g) - part_steps(g) * (g->split - 1);
}

/* Of k, behind the whole steps. */
static uint32_t rest_of_k(const struct gpu_gemm *g)
{
    return g->k % gpu_gemm_step(g);
}

/* ---- where things are ---- */

/* Elements between lines that keep lanes off each other's banks of threadgroup memory (32 of 4 bytes): found by trying. */
static uint32_t padding(const struct gpu_gemm *g)
{
    return element_bytes(g) == 4 ? 1 : 6;
}

static void describe(const struct tile *t, struct operand *o, bool is_a)
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
    o->segment = o->inner < gpu_gemm_step(g) ? o->inner : gpu_gemm_step(g);
    o->passes = o->inner * o->outer / (FOUR * GROUP_THREADS);
    o->cut = !o->k_inner && o->extent % o->tile != 0;
}

static uint32_t lines_per_pass(const struct operand *o)
{
    return FOUR * GROUP_THREADS / o->segment;
}

/* Where line k of B stands: within 16, lines of one matrix are together. Bits 0, 2, 3, 1 of k: each bit moves by itself, so the
 * places of a sum without carries are the sum of places. */
static uint32_t shuffled_line(uint32_t k)
{
    return (k & ~15U) | (k & 1) | (k >> 1 & 6) | (k << 2 & 8);
}

static uint32_t line_place(const struct operand *o, uint32_t line)
{
    return (o->shuffled ? shuffled_line(line) : line) * o->pitch;
}

/* Passes go along a line first. */
static uint32_t pass_inner(const struct operand *o, unsigned pass)
{
    return pass % (o->inner / o->segment) * o->segment;
}

static uint32_t pass_line(const struct operand *o, unsigned pass)
{
    return pass / (o->inner / o->segment) * lines_per_pass(o);
}

static unsigned half_register(struct gpu_emit *e, unsigned *spare)
{
    const unsigned half = *spare ? *spare : 2 * gpu_register(e, 1);
    *spare = *spare ? 0 : half + 1;
    return half;
}

static void take_registers(struct tile *t, struct operand *o, unsigned fragments, unsigned *spare)
{
    struct gpu_emit *e = t->e;
    o->staged = 2 * gpu_register(e, o->passes * t->four_halves / 2);
    o->fragment = 2 * gpu_register(e, fragments * t->four_halves / 2);
    for (unsigned p = 0; p < o->passes; p++)
        o->index[p] = gpu_register(e, 1);
    o->base = gpu_register_base(gpu_register(e, 2));
    o->put = half_register(e, spare);
    const bool by_element = o == &t->a ? !o->k_inner : o->k_inner;
    for (unsigned j = 0; j < (by_element ? FOUR : 1U); j++)
        o->take[j] = half_register(e, spare);
    if (o->cut)
        o->edge = gpu_register(e, 1);
    o->address = gpu_threadgroup_memory(e, o->outer * o->pitch * element_bytes(t->g));
}

static void free_registers(struct tile *t, const struct operand *o, unsigned fragments)
{
    gpu_register_free(t->e, o->staged / 2, o->passes * t->four_halves / 2);
    gpu_register_free(t->e, o->fragment / 2, fragments * t->four_halves / 2);
    for (unsigned p = 0; p < o->passes; p++)
        gpu_register_free(t->e, o->index[p], 1);
}

/* four = 4 * (which four of a line), line: what this thread loads in the first pass. */
static void thread_place(struct gpu_emit *e, const struct operand *o, unsigned four, unsigned line)
{
    const unsigned thread = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", thread, GPU_SR_LOCAL_INDEX);
    gpu_divide_imm(e, line, four, thread, o->segment / FOUR);
    gpu_shl(e, four, four, 2);
    gpu_register_free(e, thread, 1);
}

/* batch and part of k, from the grid's z. */
static void find_batch(struct tile *t, unsigned batch, unsigned part)
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

/* Threadgroups that run at the same time shall share rows and columns, so that L2 has them: strips of columns, a few wide. */
static uint32_t strip_width(const struct gpu_gemm *g)
{
    const uint32_t across = groups_along(g->n, gpu_gemm_columns(g));
    for (uint32_t width = STRIP_MOST; width >= STRIP_LEAST; width--)
        if (across > width && across % width == 0)
            return width;
    return across;
}

/* Row and column of tiles that this threadgroup makes. */
static void find_group(struct tile *t, unsigned row, unsigned column)
{
    struct gpu_emit *e = t->e;
    const uint32_t across = groups_along(t->g->n, gpu_gemm_columns(t->g)), down = groups_along(t->g->m, gpu_gemm_rows(t->g));
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

static uint32_t advance_elements(const struct tile *t, const struct operand *o)
{
    return gpu_gemm_step(t->g) * (o->k_inner ? 1 : o->stride);
}

/* index of each pass; `four` becomes the place in device memory of the first line's four. */
static void start_indices(struct tile *t, struct operand *o, unsigned four, unsigned line, unsigned group)
{
    struct gpu_emit *e = t->e;
    const unsigned at = gpu_register(e, 1);
    if (!o->k_inner)
        gpu_mad_imm(e, four, group, o->tile, four);
    if (o->cut)
        gpu_mov(e, o->edge, four);
    if (o->k_inner)
        gpu_mad_imm(e, line, group, o->tile, line);
    for (unsigned p = 0; p < o->passes; p++) {
        gpu_add_imm(e, at, line, pass_line(o, p));
        if (o->k_inner && o->extent % o->tile)
            gpu_min_imm(e, at, at, o->extent - 1);
        gpu_mad_imm(e, o->index[p], at, o->stride, four);
        if (pass_inner(o, p))
            gpu_add_imm(e, o->index[p], o->index[p], pass_inner(o, p));
    }
    gpu_register_free(e, at, 1);
}

/* Place in elements -> offset of accesses by words, in a half register. */
static void words_of(struct tile *t, unsigned half, unsigned place)
{
    if (element_bytes(t->g) == 4)
        gpu_emit(t->e, "mov %s, %s", gpu_h(t->e, half), gpu_h(t->e, 2 * place));
    else
        gpu_emit(t->e, "bfeil %s, 0, r%u, 1", gpu_h(t->e, half), place);
}

/* The places of later passes are constants away: lines of a pass are a power of two, see shuffled_line. */
static void start_put(struct tile *t, const struct operand *o, unsigned four, unsigned line)
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

static void start_operand(struct tile *t, struct operand *o, unsigned buffer, unsigned batch, unsigned part, unsigned group)
{
    struct gpu_emit *e = t->e;
    const struct gpu_base uniform = gpu_argument_buffer(e, buffer, 0);
    const unsigned four = gpu_register(e, 1), line = gpu_register(e, 1);
    thread_place(e, o, four, line);
    start_put(t, o, four, line);
    start_indices(t, o, four, line, group);
    gpu_mad_imm(e, four, batch, o->extent * t->g->k, GPU_NO_REGISTER);
    if (t->g->split > 1)
        gpu_mad_imm(e, four, part, part_steps(t->g) * advance_elements(t, o), four);
    for (unsigned p = 0; p < o->passes; p++)
        gpu_emit(e, "iadd r%u, r%u, r%u", o->index[p], o->index[p], four);
    gpu_emit(e, "mov r%u, u%u", o->base.number, uniform.number);
    gpu_emit(e, "mov r%u, u%u", o->base.number + 1, uniform.number + 1);
    gpu_register_free(e, four, 1);
    gpu_register_free(e, line, 1);
}

/* take = place of fragments in a block: along the result `along`, along k `depth`. */
static void start_fragments(struct tile *t, struct operand *o, unsigned along, unsigned depth, bool is_a)
{
    struct gpu_emit *e = t->e;
    const unsigned line = o->k_inner ? along : depth, inner = o->k_inner ? depth : along, at = gpu_register(e, 1);
    const bool by_element = is_a ? !o->k_inner : o->k_inner;
    gpu_mad_imm(e, at, line, o->pitch, inner);
    if (!by_element)
        words_of(t, o->take[0], at);
    for (unsigned j = 0; by_element && j < FOUR; j++)
        gpu_emit(e, "iadd %s, %s, %s", gpu_h(e, o->take[j]), gpu_h(e, 2 * at), gpu_int(e, j * o->pitch));
    gpu_register_free(e, at, 1);
}

/* along = first row of this lane within its simdgroup's share of the threadgroup's, from R. */
static void lane_row(struct tile *t, unsigned along, unsigned r, unsigned simd)
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
static void lane_column(struct tile *t, unsigned along, unsigned p, unsigned simd)
{
    gpu_and_imm(t->e, along, simd, 1);
    gpu_mad_imm(t->e, along, along, 4, p);
    gpu_mad_imm(t->e, along, along, 4 * t->column_groups, GPU_NO_REGISTER);
}

static void start_lane(struct tile *t)
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

/* ---- from device memory into registers ---- */

static unsigned staged_half(const struct tile *t, const struct operand *o, unsigned pass, unsigned element)
{
    return o->staged + pass * t->four_halves + element * t->four_halves / FOUR;
}

/* Element by element, as far as `place` + element < `end`. */
static void load_some(struct tile *t, const struct operand *o, unsigned slot, unsigned pass, unsigned place, uint32_t end)
{
    struct gpu_emit *e = t->e;
    const unsigned at = gpu_register(e, 1);
    for (unsigned j = 0; j + 1 < FOUR; j++) {
        gpu_add_imm(e, at, place, j);
        gpu_if(e, "ult", gpu_r(e, at), gpu_int(e, end));
        gpu_add_imm(e, at, o->index[pass], j);
        gpu_load_raw(e, slot, t->g->type, 1, staged_half(t, o, pass, j), o->base, gpu_r(e, at));
        gpu_endif(e);
    }
    gpu_register_free(e, at, 1);
}

/* All four when they lie before `end`, else those that do. */
static void load_cut(struct tile *t, const struct operand *o, unsigned slot, unsigned pass, unsigned place, uint32_t end)
{
    struct gpu_emit *e = t->e;
    const unsigned last = gpu_register(e, 1);
    gpu_add_imm(e, last, place, FOUR - 1);
    gpu_if(e, "ult", gpu_r(e, last), gpu_int(e, end));
    gpu_load_raw(e, slot, t->g->type, FOUR, staged_half(t, o, pass, 0), o->base, gpu_r(e, o->index[pass]));
    if (end % FOUR) {
        gpu_else(e);
        load_some(t, o, slot, pass, place, end);
    }
    gpu_endif(e);
    gpu_register_free(e, last, 1);
}

static void load_pass(struct tile *t, const struct operand *o, unsigned slot, unsigned pass)
{
    if (!o->cut) {
        gpu_load_raw(t->e, slot, t->g->type, FOUR, staged_half(t, o, pass, 0), o->base, gpu_r(t->e, o->index[pass]));
        return;
    }
    const unsigned place = gpu_register(t->e, 1);
    gpu_add_imm(t->e, place, o->edge, pass_inner(o, pass));
    load_cut(t, o, slot, pass, place, o->extent);
    gpu_register_free(t->e, place, 1);
}

static void advance_block(struct tile *t, const struct operand *o)
{
    const char *base = gpu_run(t->e, o->base.number, 2);
    gpu_emit(t->e, "iadd %s, %s, %s", base, base, gpu_int(t->e, advance_elements(t, o) * element_bytes(t->g)));
}

static void advance_step(struct tile *t)
{
    advance_block(t, &t->a);
    advance_block(t, &t->b);
}

static void load_step(struct tile *t)
{
    for (unsigned p = 0; p < t->a.passes; p++)
        load_pass(t, &t->a, 0, p);
    for (unsigned p = 0; p < t->b.passes; p++)
        load_pass(t, &t->b, 1, p);
    advance_step(t);
}

static void clear(struct gpu_emit *e, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gpu_mov_imm(e, first + i, 0);
}

static void load_rest_block(struct tile *t, const struct operand *o, unsigned slot)
{
    struct gpu_emit *e = t->e;
    const unsigned four = gpu_register(e, 1), line = gpu_register(e, 1);
    clear(e, o->staged / 2, o->passes * t->four_halves / 2);
    thread_place(e, o, four, line);
    for (unsigned p = 0; p < o->passes; p++) {
        if (o->k_inner) {
            load_cut(t, o, slot, p, four, rest_of_k(t->g));
            continue;
        }
        gpu_add_imm(e, four, line, pass_line(o, p));
        gpu_if(e, "ult", gpu_r(e, four), gpu_int(e, rest_of_k(t->g)));
        load_pass(t, o, slot, p);
        gpu_endif(e);
    }
    gpu_register_free(e, four, 1);
    gpu_register_free(e, line, 1);
}

static void load_rest(struct tile *t)
{
    load_rest_block(t, &t->a, 0);
    load_rest_block(t, &t->b, 1);
}

/* ---- a step ---- */

/* In threadgroup memory whole fours of 16-bit elements move as two words: their places are even. */
static void put_block(struct tile *t, const struct operand *o)
{
    for (unsigned p = 0; p < o->passes; p++) {
        const uint32_t at = o->address + (line_place(o, pass_line(o, p)) + pass_inner(o, p)) * element_bytes(t->g);
        gpu_group_store_raw(t->e, GPU_F32, t->four_halves / 2, staged_half(t, o, p, 0), gpu_argument_u16(t->e, (uint16_t)at),
                            gpu_h(t->e, o->put));
    }
}

/* What was loaded becomes visible to the threadgroup. */
static void publish(struct tile *t)
{
    gpu_wait(t->e, 0);
    gpu_wait(t->e, 1);
    gpu_barrier(t->e); /* the step before has been read */
    put_block(t, &t->a);
    put_block(t, &t->b);
    gpu_barrier(t->e);
}

/* Fragment `number`, which starts `along` elements along the result and `depth` along k from this lane's place. */
static void take_fragment(struct tile *t, const struct operand *o, bool is_a, unsigned number, unsigned along, unsigned depth)
{
    const uint32_t at = o->k_inner ? along * o->pitch + depth : line_place(o, depth) + along;
    const char *base = gpu_argument_u16(t->e, (uint16_t)(o->address + at * element_bytes(t->g)));
    const unsigned half = o->fragment + number * t->four_halves;
    if (is_a == o->k_inner) {
        gpu_group_load_raw(t->e, GPU_F32, t->four_halves / 2, half, base, gpu_h(t->e, o->take[0]));
        return;
    }
    for (unsigned j = 0; j < FOUR; j++)
        gpu_group_load_raw(t->e, t->g->type, 1, half + j * t->four_halves / FOUR, base, gpu_h(t->e, o->take[j]));
}

static void take_a(struct tile *t, unsigned i, unsigned depth)
{
    take_fragment(t, &t->a, true, i, 4 * i, depth);
}

static void take_b(struct tile *t, unsigned h, unsigned depth)
{
    for (unsigned c = 0; c < t->column_groups; c++)
        take_fragment(t, &t->b, false, h * t->column_groups + c, 4 * c, depth + 2 * h);
}

/* bf16: the fragments of matrix h as words. */
static void widen_fragments(struct tile *t, unsigned h)
{
    const struct gpu_gemm *g = t->g;
    for (unsigned i = 0; i < g->row_tiles; i++)
        gpu_widen(t->e, g->type, 2, t->wide_a + 2 * i, t->a.fragment + i * t->four_halves + 2 * h);
    for (unsigned c = 0; c < t->column_groups; c++)
        gpu_widen(t->e, g->type, FOUR, t->wide_b + FOUR * c, t->b.fragment + (h * t->column_groups + c) * t->four_halves);
}

static const char *a_matrix(struct tile *t, unsigned i, unsigned h)
{
    if (t->g->type == GPU_BF16)
        return gpu_run(t->e, t->wide_a + 2 * i, 2);
    return gpu_matrix_operand(t->e, t->halves, t->a.fragment + i * t->four_halves + h * t->four_halves / 2);
}

static const char *b_matrix(struct tile *t, unsigned column, unsigned h)
{
    const unsigned number = h * t->column_groups + column / 2, q = column % 2;
    if (t->g->type == GPU_BF16)
        return gpu_run(t->e, t->wide_b + 2 * column, 2);
    return gpu_matrix_operand(t->e, t->halves, t->b.fragment + number * t->four_halves + q * t->four_halves / 2);
}

/* Loads of the next step, spread over this one: the load/store path takes only so many at a time. */
struct ahead {
    bool whole; /* false: nothing is loaded meanwhile */
    unsigned done;
};

static void load_ahead(struct tile *t, struct ahead *ahead)
{
    const unsigned n = ahead->done++;
    if (!ahead->whole || n >= t->a.passes + t->b.passes)
        return;
    if (n < t->a.passes)
        load_pass(t, &t->a, 0, n);
    else
        load_pass(t, &t->b, 1, n - t->a.passes);
}

static void multiply_row(struct tile *t, unsigned i, unsigned h)
{
    const unsigned columns = t->g->column_tiles;
    for (unsigned c = 0; c < columns; c++)
        gpu_matrix_fmadd(t->e, t->acc + 2 * (i * columns + c), a_matrix(t, i, h), b_matrix(t, c, h));
}

/* What a row of multiplications leaves time for. Registers of fragments are filled anew as soon as they have been used: those of
 * the next 16 of k, and in the first 16 the ones that are needed next. */
static void take_between(struct tile *t, unsigned depth, unsigned h, unsigned i)
{
    const struct gpu_gemm *g = t->g;
    const bool more = depth + DEPTH < gpu_gemm_step(g);
    if (h == 0 && i == 0)
        take_b(t, 1, depth);
    if (h == 0 && i + 1 == g->row_tiles && more)
        take_b(t, 0, depth + DEPTH);
    if (h == 1 && more)
        take_a(t, i, depth + DEPTH);
}

static void multiply_depth(struct tile *t, unsigned depth, struct ahead *ahead)
{
    const struct gpu_gemm *g = t->g;
    for (unsigned h = 0; h < 2; h++) {
        if (g->type == GPU_BF16)
            widen_fragments(t, h);
        for (unsigned i = 0; i < g->row_tiles; i++) {
            if (depth == 0 && h == 0 && i + 1 < g->row_tiles && g->type != GPU_BF16)
                take_a(t, i + 1, 0);
            multiply_row(t, i, h);
            take_between(t, depth, h, i);
            load_ahead(t, ahead);
        }
    }
}

/* The published step; the next one is loaded meanwhile if `ahead_too`. */
static void multiply(struct tile *t, bool ahead_too)
{
    struct ahead ahead = {.whole = ahead_too};
    take_b(t, 0, 0);
    for (unsigned i = 0; i < (t->g->type == GPU_BF16 ? t->g->row_tiles : 1); i++)
        take_a(t, i, 0);
    for (unsigned depth = 0; depth < gpu_gemm_step(t->g); depth += DEPTH)
        multiply_depth(t, depth, &ahead);
    while (ahead.whole && ahead.done < t->a.passes + t->b.passes)
        load_ahead(t, &ahead);
    if (ahead.whole)
        advance_step(t);
}

/* ---- all steps ---- */

/* The rest is the last part's; the others leave it out. */
static void only_last_part(struct tile *t, unsigned part)
{
    if (t->g->split > 1)
        gpu_if(t->e, "ueq", gpu_r(t->e, part), gpu_int(t->e, t->g->split - 1));
}

static void end_last_part(struct tile *t)
{
    if (t->g->split > 1)
        gpu_endif(t->e);
}

/* count = whole steps of this part less one: those after which another one is loaded. */
static void step_count(struct tile *t, unsigned count, unsigned part)
{
    gpu_mov_imm(t->e, count, part_steps(t->g) - 1);
    if (t->g->split > 1)
        gpu_emit(t->e, "icmpsel ueq, r%u, r%u, %s, %s, r%u", count, part, gpu_int(t->e, t->g->split - 1),
                 gpu_int(t->e, last_part_steps(t->g) - 1), count);
}

static void whole_steps(struct tile *t, unsigned part)
{
    struct gpu_emit *e = t->e;
    const unsigned count = gpu_register(e, 1);
    load_step(t);
    if (last_part_steps(t->g) > 1) {
        step_count(t, count, part);
        gpu_if(e, "nueq", gpu_r(e, count), "0");
        gpu_do(e);
        gpu_add_imm(e, count, count, -1);
        publish(t);
        multiply(t, true);
        gpu_while(e, "nueq", gpu_r(e, count), "0");
        gpu_endif(e);
    }
    gpu_register_free(e, count, 1);
    publish(t);
}

static void main_loop(struct tile *t, unsigned part)
{
    const bool rest = rest_of_k(t->g) != 0, whole = part_steps(t->g) != 0;
    if (whole)
        whole_steps(t, part);
    if (rest) {
        only_last_part(t, part);
        load_rest(t);
        end_last_part(t);
    }
    if (whole)
        multiply(t, false);
    if (rest) {
        only_last_part(t, part);
        publish(t);
        multiply(t, false);
        end_last_part(t);
    }
}

/* ---- the result ---- */

struct result {
    enum gpu_type type;
    struct gpu_base base;
    unsigned index, old, scratch; /* old: four registers for beta * c */
    bool scaled, added;           /* alpha; beta */
};

/* `count` elements of acc, from the first-th on. */
static void store_elements(struct tile *t, const struct result *out, unsigned acc, unsigned first, unsigned count)
{
    struct gpu_emit *e = t->e;
    const char *alpha = out->scaled ? gpu_float(e, t->g->alpha) : "", *beta = out->added ? gpu_float(e, t->g->beta) : "";
    if (out->added) {
        gpu_load_raw(e, 0, out->type, count, 2 * out->old, out->base, gpu_r(e, out->index));
        gpu_wait(e, 0);
        gpu_widen(e, out->type, count, out->old, 2 * out->old);
    }
    for (unsigned i = 0; i < count; i++) {
        const unsigned value = acc + first + i;
        if (out->scaled)
            gpu_emit(e, "fmul32 r%u, r%u, %s", value, value, alpha);
        if (out->added)
            gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", value, out->old + i, beta, value);
    }
    gpu_narrow(e, out->type, count, 2 * (acc + first), acc + first, out->scratch);
    gpu_store_raw(e, 1, out->type, count, 2 * (acc + first), out->base, gpu_r(e, out->index));
}

/* Four columns of one row, as far as they exist; index is that of the first. */
static void store_four(struct tile *t, const struct result *out, unsigned acc, unsigned column)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    if (g->n % gpu_gemm_columns(g) == 0) {
        store_elements(t, out, acc, 0, FOUR);
        return;
    }
    gpu_add_imm(e, column, column, FOUR - 1);
    gpu_if(e, "ult", gpu_r(e, column), gpu_int(e, g->n));
    store_elements(t, out, acc, 0, FOUR);
    if (g->n % FOUR) {
        gpu_else(e);
        gpu_add_imm(e, column, column, -(FOUR - 1));
        for (unsigned j = 0; j + 1 < FOUR; j++) {
            gpu_if(e, "ult", gpu_r(e, column), gpu_int(e, g->n));
            store_elements(t, out, acc, j, 1);
            gpu_endif(e);
            gpu_add_imm(e, out->index, out->index, 1);
            gpu_add_imm(e, column, column, 1);
        }
    }
    gpu_endif(e);
}

static void store_rows(struct tile *t, struct result *out, unsigned start)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const unsigned row = gpu_register(e, 1), column = gpu_register(e, 1);
    const bool cut = g->m % gpu_gemm_rows(g) != 0;
    for (unsigned i = 0; i < g->row_tiles; i++) {
        gpu_add_imm(e, row, t->row, 4 * i);
        if (cut)
            gpu_if(e, "ult", gpu_r(e, row), gpu_int(e, g->m));
        for (unsigned c = 0; c < t->column_groups; c++) {
            gpu_add_imm(e, column, t->column, FOUR * c);
            gpu_mad_imm(e, out->index, row, g->n, start);
            gpu_emit(e, "iadd r%u, r%u, r%u", out->index, out->index, column);
            store_four(t, out, t->acc + 2 * (i * g->column_tiles + 2 * c), column);
        }
        if (cut)
            gpu_endif(e);
    }
    gpu_register_free(e, row, 1);
    gpu_register_free(e, column, 1);
}

/* row and column of this lane in the whole result. */
static void find_place(struct tile *t)
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

static void store_result(struct tile *t)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const bool partial = g->split > 1;
    const unsigned start = gpu_register(e, 1), batch = gpu_register(e, 1), part = gpu_register(e, 1);
    struct result out = {.type = partial ? GPU_F32 : g->type, .base = gpu_argument_buffer(e, partial ? g->partial : g->c, 0)};
    out.scaled = !partial && g->alpha != 1.0F;
    out.added = !partial && g->beta != 0.0F;
    find_place(t);
    find_batch(t, batch, part);
    if (partial)
        gpu_mad_imm(e, batch, part, g->batch, batch);
    gpu_mad_imm(e, start, batch, g->m * g->n, GPU_NO_REGISTER);
    gpu_register_free(e, batch, 1);
    gpu_register_free(e, part, 1);
    out.index = gpu_register(e, 1);
    out.old = gpu_register(e, FOUR);
    out.scratch = gpu_register(e, 1);
    store_rows(t, &out, start);
}

static void start(struct tile *t, unsigned batch, unsigned part)
{
    const struct gpu_gemm *g = t->g;
    unsigned spare = 0;
    t->four_halves = g->type == GPU_F32 ? 2 * FOUR : FOUR;
    t->acc = gpu_register(t->e, 2 * g->row_tiles * g->column_tiles);
    describe(t, &t->a, true);
    describe(t, &t->b, false);
    take_registers(t, &t->a, g->row_tiles, &spare);
    take_registers(t, &t->b, 2 * t->column_groups, &spare);
    if (g->type == GPU_BF16) {
        t->wide_a = gpu_register(t->e, 2 * g->row_tiles);
        t->wide_b = gpu_register(t->e, FOUR * t->column_groups);
    }
    const unsigned group_row = gpu_register(t->e, 1), group_column = gpu_register(t->e, 1);
    find_batch(t, batch, part);
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
    clear(t->e, t->acc, 2 * g->row_tiles * g->column_tiles);
}

bool gpu_gemm_build(const struct gpu_gemm *g, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    snprintf(variant, sizeof variant, "gemm_%s_%ux%u%s%s%s", gpu_type_name(g->type), (unsigned)gpu_gemm_rows(g),
             (unsigned)gpu_gemm_columns(g), g->transposed_a ? "_ta" : "", g->transposed_b ? "_tb" : "",
             g->split > 1 ? "_split" : "");
    struct tile t = {.g = g, .halves = g->type == GPU_F16, .column_groups = g->column_tiles / 2};
    t.e = gpu_emit_begin(kernel, variant, error);
    const unsigned part = gpu_register(t.e, 1), batch = gpu_register(t.e, 1);
    start(&t, batch, part);
    gpu_register_free(t.e, batch, 1);
    main_loop(&t, part);
    free_registers(&t, &t.a, g->row_tiles);
    free_registers(&t, &t.b, 2 * t.column_groups);
    store_result(&t);
    gpu_emit_grid(t.e, groups_along(g->n, gpu_gemm_columns(g)) * GROUP_THREADS, groups_along(g->m, gpu_gemm_rows(g)),
                  g->batch * g->split, GROUP_THREADS, 1, 1);
    return gpu_emit_end(t.e);
}
