/* The tile program of gemm.
 *
 * Fragments: a load from threadgroup memory brings four neighbouring elements per lane. Of A (rows m, columns k) lane (R, P) gets
 * k = 4P .. 4P + 3: the first two are its part of a first matrix (h = 0), the others of a second one. Column c of matrix h
 * therefore stands for k = 4 (c / 2) + 2h + c % 2, and B's row of that number goes with it. Of B the four neighbours are columns
 * of the result, shared among two matrices (q) in the same way. Operands that are stored the other way round are loaded element
 * by element.
 *
 * The rows and columns of the result that belong to a lane, and the order of B's lines in threadgroup memory, are chosen so that
 * the lanes of a load use different banks: in row tile i lane (R, P) has row 4 row_tiles (R / 4) + 4i + R % 4; in the c-th group
 * of columns it has those from 4 groups P + 4c on.
 *
 * Edges: rows beyond the end are moved back to the last row; columns beyond the end are not loaded; neither are stored. The rest
 * of k is loaded under a mask into registers that hold zero.
 */
#include "units/gpu/kernels/gpu_gemm_tile.h"

#include "units/gpu/kernels/gpu_matrix.h"

#include <stdio.h>

/* ---- fragments ---- */

/* Loads fragment `number`, which starts `along` elements along the result and `depth` along k from this lane's place. */
static void take_fragment(struct gemm_tile *t, const struct gemm_operand *o, bool is_a, unsigned number, unsigned along,
                          unsigned depth, unsigned buffer)
{
    const uint32_t at = o->k_inner ? along * o->pitch + depth : gemm_line_place(o, depth) + along;
    const char *base = gpu_argument_u16(t->e, (uint16_t)(o->address[buffer] + at * gemm_element_bytes(t->g)));
    const unsigned half = o->fragment + number * t->four_halves;
    if (is_a == o->k_inner) {
        gpu_group_load_raw(t->e, GPU_F32, t->four_halves / 2, half, base, gpu_h(t->e, o->take[0]));
        return;
    }
    for (unsigned j = 0; j < GEMM_FOUR; j++)
        gpu_group_load_raw(t->e, t->g->type, 1, half + j * t->four_halves / GEMM_FOUR, base, gpu_h(t->e, o->take[j]));
}

static void take_a(struct gemm_tile *t, unsigned i, unsigned depth, unsigned buffer)
{
    take_fragment(t, &t->a, true, i, 4 * i, depth, buffer);
}

static void take_b(struct gemm_tile *t, unsigned h, unsigned depth, unsigned buffer)
{
    for (unsigned c = 0; c < t->column_groups; c++)
        take_fragment(t, &t->b, false, h * t->column_groups + c, 4 * c, depth + 2 * h, buffer);
}

/* bf16: widens the fragments of matrix h to words. */
static void widen_fragments(struct gemm_tile *t, unsigned h)
{
    const struct gpu_gemm *g = t->g;
    for (unsigned i = 0; i < g->row_tiles; i++)
        gpu_widen(t->e, g->type, 2, t->wide_a + 2 * i, t->a.fragment + i * t->four_halves + 2 * h);
    for (unsigned c = 0; c < t->column_groups; c++)
        gpu_widen(t->e, g->type, GEMM_FOUR, t->wide_b + GEMM_FOUR * c,
                  t->b.fragment + (h * t->column_groups + c) * t->four_halves);
}

static const char *a_matrix(struct gemm_tile *t, unsigned i, unsigned h)
{
    if (t->g->type == GPU_BF16)
        return gpu_run(t->e, t->wide_a + 2 * i, 2);
    return gpu_matrix_operand(t->e, t->halves, t->a.fragment + i * t->four_halves + h * t->four_halves / 2);
}

static const char *b_matrix(struct gemm_tile *t, unsigned column, unsigned h)
{
    const unsigned number = h * t->column_groups + column / 2, q = column % 2;
    if (t->g->type == GPU_BF16)
        return gpu_run(t->e, t->wide_b + 2 * column, 2);
    return gpu_matrix_operand(t->e, t->halves, t->b.fragment + number * t->four_halves + q * t->four_halves / 2);
}

static void multiply_row(struct gemm_tile *t, unsigned i, unsigned h)
{
    const unsigned columns = t->g->column_tiles;
    for (unsigned c = 0; c < columns; c++)
        gpu_matrix_fmadd(t->e, t->acc + 2 * (i * columns + c), a_matrix(t, i, h), b_matrix(t, c, h));
}

/* ---- a step ---- */

/* What is done for later steps while one is multiplied. */
struct work {
    unsigned buffer; /* of this step */
    bool put, load;  /* the next step goes to the other buffer; the one after it is loaded */
    unsigned done;   /* loads so far */
};

/* Loads fragments between rows of multiplications. Registers of fragments are refilled as soon as they have been used: with those
 * of the next 16 of k, and in the first 16 with the ones needed next. */
static void take_between(struct gemm_tile *t, const struct work *w, unsigned depth, unsigned h, unsigned i)
{
    const bool more = depth + GEMM_DEPTH < gpu_gemm_step(t->g), last = i + 1 == t->g->row_tiles;
    if (h == 0 && i == 0)
        take_b(t, 1, depth, w->buffer);
    if (h == 0 && last && more)
        take_b(t, 0, depth + GEMM_DEPTH, w->buffer);
    if (h == 1 && more)
        take_a(t, i, depth + GEMM_DEPTH, w->buffer);
}

/* The other buffer is filled in the middle of a step, when the loads have had time to arrive. The loads that follow are spread
 * out, because the load/store path takes only so many at a time. */
static void work_between(struct gemm_tile *t, struct work *w, unsigned row, unsigned rows)
{
    const unsigned middle = rows / 2, loads = gemm_passes(t);
    if (row + 1 == middle && w->put)
        gemm_put_step(t, 1 - w->buffer);
    if (row + 1 < middle || !w->load)
        return;
    const unsigned until = (row + 2 - middle) * loads / (rows - middle + 1);
    while (w->done < (row + 1 == rows ? loads : until))
        gemm_load_pass(t, w->done++);
}

static void multiply_step(struct gemm_tile *t, struct work w)
{
    const struct gpu_gemm *g = t->g;
    const bool wide = g->type == GPU_BF16;
    const unsigned depths = gpu_gemm_step(g) / GEMM_DEPTH, rows = 2 * depths * g->row_tiles;
    take_b(t, 0, 0, w.buffer);
    for (unsigned i = 0; i < (wide ? g->row_tiles : 1); i++)
        take_a(t, i, 0, w.buffer);
    for (unsigned row = 0; row < rows; row++) {
        const unsigned i = row % g->row_tiles, h = row / g->row_tiles % 2, depth = row / g->row_tiles / 2 * GEMM_DEPTH;
        if (wide && i == 0)
            widen_fragments(t, h);
        if (!wide && row + 1 < g->row_tiles)
            take_a(t, row + 1, 0, w.buffer);
        multiply_row(t, i, h);
        take_between(t, &w, depth, h, i);
        work_between(t, &w, row, rows);
    }
    if (w.load)
        gemm_advance(t);
}

/* ---- all steps ---- */

/* Emits step number `step` of those that remain. After the barrier the next one is present, and this one has been read. */
static void pipelined_step(struct gemm_tile *t, unsigned step, uint32_t left)
{
    const struct work w = {.buffer = step % GEMM_BUFFERS, .put = step + 1 < left, .load = step + 2 < left};
    multiply_step(t, w);
    if (w.put)
        gpu_barrier(t->e);
}

static void whole_steps(struct gemm_tile *t)
{
    struct gpu_emit *e = t->e;
    const uint32_t steps = gemm_part_steps(t->g), pairs = steps < 4 ? 0 : (steps - 2) / 2;
    const unsigned count = gpu_register(e, 1);
    gemm_load_step(t);
    gemm_put_step(t, 0);
    if (steps > 1)
        gemm_load_step(t);
    gpu_barrier(e);
    if (pairs) {
        gpu_mov_imm(e, count, pairs);
        gpu_do(e);
        gpu_add_imm(e, count, count, -1);
        pipelined_step(t, 0, GEMM_BUFFERS + 2);
        pipelined_step(t, 1, GEMM_BUFFERS + 2);
        gpu_while(e, "nueq", gpu_r(e, count), "0");
    }
    for (unsigned step = 0; step < steps - 2 * pairs; step++)
        pipelined_step(t, step, steps - 2 * pairs);
    gpu_register_free(e, count, 1);
}

/* Multiplies what was loaded, without any loads in parallel. */
static void single_step(struct gemm_tile *t)
{
    gpu_barrier(t->e); /* the buffer has been read */
    gemm_put_step(t, 0);
    gpu_barrier(t->e);
    multiply_step(t, (struct work){.buffer = 0});
}

/* The last part takes the whole steps that do not divide among the parts, and the rest of k. */
static void last_steps(struct gemm_tile *t, unsigned part)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const uint32_t whole = g->k / gpu_gemm_step(g) - gemm_part_steps(g) * g->split;
    if (g->split > 1)
        gpu_if(e, "ueq", gpu_r(e, part), gpu_int(e, g->split - 1));
    if (whole) {
        const unsigned count = gpu_register(e, 1);
        gpu_mov_imm(e, count, whole);
        gpu_do(e);
        gpu_add_imm(e, count, count, -1);
        gemm_load_step(t);
        single_step(t);
        gpu_while(e, "nueq", gpu_r(e, count), "0");
        gpu_register_free(e, count, 1);
    }
    if (gemm_rest_of_k(g)) {
        gemm_load_rest(t);
        single_step(t);
    }
    if (g->split > 1)
        gpu_endif(e);
}

bool gpu_gemm_build(const struct gpu_gemm *g, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    snprintf(variant, sizeof variant, "gemm_%s_%ux%u%s%s%s", gpu_type_name(g->type), (unsigned)gpu_gemm_rows(g),
             (unsigned)gpu_gemm_columns(g), g->transposed_a ? "_ta" : "", g->transposed_b ? "_tb" : "",
             g->split > 1 ? "_split" : "");
    struct gemm_tile t = {.g = g, .halves = g->type == GPU_F16, .far = gpu_gemm_is_far(g), .column_groups = g->column_tiles / 2};
    t.e = gpu_emit_begin(kernel, variant, error);
    const unsigned part = gpu_register(t.e, 1);
    gemm_start(&t, part);
    if (gemm_part_steps(g))
        whole_steps(&t);
    last_steps(&t, part);
    gemm_free_operands(&t);
    gemm_store_result(&t);
    gpu_emit_grid(t.e, gemm_groups_across(g) * GEMM_THREADS, gemm_groups_down(g), g->batch * g->split, GEMM_THREADS, 1, 1);
    return gpu_emit_end(t.e);
}
