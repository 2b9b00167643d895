/* The tile program of gemm.
 *
 * Fragments: a load from threadgroup memory brings four neighbouring elements per lane. Of A (rows m, columns k) lane (R, P) gets
 * k = 4P .. 4P + 3 of row R: the first two are its part of a first matrix (h = 0), the others of a second one. Column c of
 * matrix h therefore stands for k = 4 (c / 2) + 2h + c % 2, and B's row of that number goes with it. Of B the four neighbours are
 * columns of the result: column 2P + j of the q-th of two matrices is n = 4P + 2q + j, in the result as well, which is stored
 * four at a time. Operands that lie the other way round are loaded element by element.
 *
 * Edges: rows beyond the end are moved back to the last there is; columns beyond it are not loaded; neither is stored. The rest
 * of k is loaded under a mask into registers that hold zero.
 */
#include "units/gpu/kernels/gpu_gemm.h"

#include "units/gpu/kernels/gpu_matrix.h"

#include <stdio.h>

enum { FOUR = 4, DEPTH = 16 /* of k: fragments held at a time */, LINE_BYTES = 128, PASSES_MAX = 8, GROUP_THREADS = 128 };

/* A or B: `extent` rows (columns) of the result by k. In threadgroup memory a block has the order of device memory. */
struct operand {
    bool k_inner;            /* neighbours in memory are neighbours in k */
    uint32_t extent, tile;   /* all; of a threadgroup */
    uint32_t inner, outer;   /* of a block: elements of a line of it, lines */
    uint32_t stride;         /* of lines in device memory */
    uint32_t pitch;          /* in threadgroup memory; elements */
    uint32_t address;        /* there */
    unsigned passes;         /* loads of four that each thread makes for a block */
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
static uint32_t padding(const struct gpu_gemm *g, bool is_a, bool k_inner)
{
    if (element_bytes(g) == 4)
        return is_a && k_inner ? 1 : 6;
    return !is_a && k_inner ? 4 : 6;
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
    o->pitch = o->inner + padding(g, is_a, o->k_inner);
    o->passes = o->inner * o->outer / (FOUR * GROUP_THREADS);
    o->cut = !o->k_inner && o->extent % o->tile != 0;
}

static uint32_t lines_per_pass(const struct operand *o)
{
    return FOUR * GROUP_THREADS / o->inner;
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
    gpu_divide_imm(e, line, four, thread, o->inner / FOUR);
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
        gpu_add_imm(e, at, line, p * lines_per_pass(o));
        if (o->k_inner && o->extent % o->tile)
            gpu_min_imm(e, at, at, o->extent - 1);
        gpu_mad_imm(e, o->index[p], at, o->stride, four);
    }
    gpu_register_free(e, at, 1);
}

static void start_operand(struct tile *t, struct operand *o, unsigned buffer, unsigned batch, unsigned part, int group_sr)
{
    struct gpu_emit *e = t->e;
    const struct gpu_base uniform = gpu_argument_buffer(e, buffer, 0);
    const unsigned four = gpu_register(e, 1), line = gpu_register(e, 1), group = gpu_register(e, 1);
    thread_place(e, o, four, line);
    gpu_emit(e, "imadd %s, r%u, %s, r%u", gpu_h(e, o->put), line, gpu_int(e, o->pitch), four);
    gpu_emit(e, "get_sr r%u, sr%d", group, group_sr);
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
    gpu_register_free(e, group, 1);
}

/* take = place of fragments in a block: along the result `along`, along k `depth`. */
static void start_fragments(struct tile *t, struct operand *o, unsigned along, unsigned depth, bool is_a)
{
    struct gpu_emit *e = t->e;
    const unsigned line = o->k_inner ? along : depth, inner = o->k_inner ? depth : along, at = gpu_register(e, 1);
    const bool by_element = is_a ? !o->k_inner : o->k_inner;
    gpu_mad_imm(e, at, line, o->pitch, inner);
    gpu_emit(e, "mov %s, %s", gpu_h(e, o->take[0]), gpu_h(e, 2 * at));
    for (unsigned j = 1; by_element && j < FOUR; j++)
        gpu_emit(e, "iadd %s, %s, %s", gpu_h(e, o->take[j]), gpu_h(e, 2 * at), gpu_int(e, j * o->pitch));
    gpu_register_free(e, at, 1);
}

static void start_lane(struct tile *t)
{
    struct gpu_emit *e = t->e;
    const unsigned r = gpu_register(e, 1), p = gpu_register(e, 1), simd = gpu_register(e, 1);
    const unsigned along = gpu_register(e, 1), depth = gpu_register(e, 1);
    gpu_matrix_lane(e, r, p);
    gpu_emit(e, "get_sr r%u, sr%d", simd, GPU_SR_SIMDGROUP);
    gpu_shr(e, along, simd, 1);
    gpu_mad_imm(e, along, along, 8 * t->g->row_tiles, r);
    gpu_shl(e, p, p, 2);
    start_fragments(t, &t->a, along, p, true);
    gpu_and_imm(e, along, simd, 1);
    gpu_mad_imm(e, along, along, 8 * t->g->column_tiles, p);
    gpu_shr(e, depth, r, 1);
    gpu_and_imm(e, r, r, 1);
    gpu_emit(e, "iadd r%u, r%u, r%u, lsl 2", depth, r, depth);
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
    if (o->cut)
        load_cut(t, o, slot, pass, o->edge, o->extent);
    else
        gpu_load_raw(t->e, slot, t->g->type, FOUR, staged_half(t, o, pass, 0), o->base, gpu_r(t->e, o->index[pass]));
}

static void load_block(struct tile *t, const struct operand *o, unsigned slot)
{
    for (unsigned p = 0; p < o->passes; p++)
        load_pass(t, o, slot, p);
    const char *base = gpu_run(t->e, o->base.number, 2);
    gpu_emit(t->e, "iadd %s, %s, %s", base, base, gpu_int(t->e, advance_elements(t, o) * element_bytes(t->g)));
}

static void load_step(struct tile *t)
{
    load_block(t, &t->a, 0);
    load_block(t, &t->b, 1);
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
        gpu_if(e, "ult", gpu_r(e, line), gpu_int(e, rest_of_k(t->g)));
        load_pass(t, o, slot, p);
        gpu_endif(e);
        gpu_add_imm(e, line, line, lines_per_pass(o));
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

static void put_block(struct tile *t, const struct operand *o)
{
    for (unsigned p = 0; p < o->passes; p++) {
        const uint32_t at = o->address + p * lines_per_pass(o) * o->pitch * element_bytes(t->g);
        gpu_group_store_raw(t->e, t->g->type, FOUR, staged_half(t, o, p, 0), gpu_argument_u16(t->e, (uint16_t)at),
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
    const uint32_t at = o->k_inner ? along * o->pitch + depth : depth * o->pitch + along;
    const char *base = gpu_argument_u16(t->e, (uint16_t)(o->address + at * element_bytes(t->g)));
    const unsigned half = o->fragment + number * t->four_halves;
    if (is_a == o->k_inner) {
        gpu_group_load_raw(t->e, t->g->type, FOUR, half, base, gpu_h(t->e, o->take[0]));
        return;
    }
    for (unsigned j = 0; j < FOUR; j++)
        gpu_group_load_raw(t->e, t->g->type, 1, half + j * t->four_halves / FOUR, base, gpu_h(t->e, o->take[j]));
}

static void take_fragments(struct tile *t, unsigned depth)
{
    const unsigned groups = t->column_groups;
    for (unsigned i = 0; i < t->g->row_tiles; i++)
        take_fragment(t, &t->a, true, i, 8 * i, depth);
    for (unsigned h = 0; h < 2; h++)
        for (unsigned c = 0; c < groups; c++)
            take_fragment(t, &t->b, false, h * groups + c, DEPTH * c, depth + 2 * h);
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

static void multiply(struct tile *t)
{
    const struct gpu_gemm *g = t->g;
    for (unsigned depth = 0; depth < gpu_gemm_step(g); depth += DEPTH) {
        take_fragments(t, depth);
        for (unsigned h = 0; h < 2; h++) {
            if (g->type == GPU_BF16)
                widen_fragments(t, h);
            for (unsigned i = 0; i < g->row_tiles; i++)
                for (unsigned c = 0; c < g->column_tiles; c++)
                    gpu_matrix_fmadd(t->e, t->acc + 2 * (i * g->column_tiles + c), a_matrix(t, i, h), b_matrix(t, c, h));
        }
    }
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
        load_step(t);
        multiply(t);
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
        multiply(t);
    if (rest) {
        only_last_part(t, part);
        publish(t);
        multiply(t);
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
        gpu_add_imm(e, row, t->row, 8 * i);
        if (cut)
            gpu_if(e, "ult", gpu_r(e, row), gpu_int(e, g->m));
        for (unsigned c = 0; c < t->column_groups; c++) {
            gpu_add_imm(e, column, t->column, DEPTH * c);
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
    const unsigned simd = gpu_register(e, 1), bits = gpu_register(e, 1), group = gpu_register(e, 1);
    t->row = gpu_register(e, 1);
    t->column = gpu_register(e, 1);
    gpu_matrix_lane(e, t->row, t->column);
    gpu_emit(e, "get_sr r%u, sr%d", simd, GPU_SR_SIMDGROUP);
    gpu_emit(e, "get_sr r%u, sr%d", group, GPU_SR_GROUP_Y);
    gpu_shr(e, bits, simd, 1);
    gpu_mad_imm(e, t->row, bits, 8 * t->g->row_tiles, t->row);
    gpu_mad_imm(e, t->row, group, gpu_gemm_rows(t->g), t->row);
    gpu_emit(e, "get_sr r%u, sr%d", group, GPU_SR_GROUP_X);
    gpu_and_imm(e, bits, simd, 1);
    gpu_shl(e, t->column, t->column, 2);
    gpu_mad_imm(e, t->column, bits, 8 * t->g->column_tiles, t->column);
    gpu_mad_imm(e, t->column, group, gpu_gemm_columns(t->g), t->column);
    gpu_register_free(e, simd, 1);
    gpu_register_free(e, bits, 1);
    gpu_register_free(e, group, 1);
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
    find_batch(t, batch, part);
    start_operand(t, &t->a, g->a, batch, part, GPU_SR_GROUP_Y);
    start_operand(t, &t->b, g->b, batch, part, GPU_SR_GROUP_X);
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
    const uint32_t rows = gpu_gemm_rows(g), columns = gpu_gemm_columns(g);
    gpu_emit_grid(t.e, (g->n + columns - 1) / columns * GROUP_THREADS, (g->m + rows - 1) / rows, g->batch * g->split,
                  GROUP_THREADS, 1, 1);
    return gpu_emit_end(t.e);
}
