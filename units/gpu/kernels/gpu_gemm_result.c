/* The result of a gemm tile: scaled, added to the old values and stored where it lies inside the matrix. */
#include "units/gpu/kernels/gpu_gemm_tile.h"

struct result {
    enum gpu_type type;
    struct gpu_base base;
    unsigned index, old, scratch; /* old: four registers for beta * c */
    bool scaled, added, gated;    /* by alpha; with beta; by what was there */
    unsigned less, lesser;        /* gated: the row's number of d; where the batch's begin */
};

/* Stores `count` elements of acc, starting at element `first`. */
static void store_elements(struct gemm_tile *t, const struct result *out, unsigned acc, unsigned first, unsigned count)
{
    struct gpu_emit *e = t->e;
    const char *alpha = out->scaled ? gpu_float(e, t->g->alpha) : "", *beta = out->added ? gpu_float(e, t->g->beta) : "";
    if (out->added || out->gated) {
        gpu_load_raw(e, 0, out->type, count, 2 * out->old, out->base, gpu_r(e, out->index));
        gpu_wait(e, 0);
        gpu_widen(e, out->type, count, out->old, 2 * out->old);
    }
    for (unsigned i = 0; i < count; i++) {
        const unsigned value = acc + first + i;
        if (out->scaled)
            gpu_emit(e, "fmul32 r%u, r%u, %s", value, value, alpha);
        if (out->gated) {
            gpu_emit(e, "fadd32 r%u, r%u, r%u.neg", value, value, out->less);
            gpu_emit(e, "fmul32 r%u, r%u, r%u", value, value, out->old + i);
        }
        if (out->added)
            gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", value, out->old + i, beta, value);
    }
    gpu_narrow(e, out->type, count, 2 * (acc + first), acc + first, out->scratch);
    gpu_store_raw(e, 1, out->type, count, 2 * (acc + first), out->base, gpu_r(e, out->index));
}

/* Stores four columns of one row, as far as they exist; index is that of the first. */
static void store_four(struct gemm_tile *t, const struct result *out, unsigned acc, unsigned column)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    if (g->n % gpu_gemm_columns(g) == 0) {
        store_elements(t, out, acc, 0, GEMM_FOUR);
        return;
    }
    gpu_add_imm(e, column, column, GEMM_FOUR - 1);
    gpu_if(e, "ult", gpu_r(e, column), gpu_int(e, g->n));
    store_elements(t, out, acc, 0, GEMM_FOUR);
    if (g->n % GEMM_FOUR) {
        gpu_else(e);
        gpu_add_imm(e, column, column, -(GEMM_FOUR - 1));
        for (unsigned j = 0; j + 1 < GEMM_FOUR; j++) {
            gpu_if(e, "ult", gpu_r(e, column), gpu_int(e, g->n));
            store_elements(t, out, acc, j, 1);
            gpu_endif(e);
            gpu_add_imm(e, out->index, out->index, 1);
            gpu_add_imm(e, column, column, 1);
        }
    }
    gpu_endif(e);
}

/* What the row's products are gated less by. */
static void load_less(struct gemm_tile *t, struct result *out, unsigned row)
{
    const struct gpu_base d = gpu_argument_buffer(t->e, t->g->d, 0);
    gpu_emit(t->e, "iadd r%u, r%u, r%u", out->index, out->lesser, row);
    gpu_load_raw(t->e, 0, GPU_F32, 1, 2 * out->less, d, gpu_r(t->e, out->index));
    gpu_wait(t->e, 0);
}

static void store_rows(struct gemm_tile *t, struct result *out, unsigned start)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const unsigned row = gpu_register(e, 1), column = gpu_register(e, 1);
    const bool cut = g->m % gpu_gemm_rows(g) != 0;
    for (unsigned i = 0; i < g->row_tiles; i++) {
        gpu_add_imm(e, row, t->row, 4 * i);
        if (cut)
            gpu_if(e, "ult", gpu_r(e, row), gpu_int(e, g->m));
        if (out->gated)
            load_less(t, out, row);
        for (unsigned c = 0; c < t->column_groups; c++) {
            gpu_add_imm(e, column, t->column, GEMM_FOUR * c);
            if (t->far)
                gpu_mov_imm(e, out->index, 4 * i * g->n);
            else
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

/* The base of this lane's first row: indices count from there. */
static struct gpu_base far_rows(struct gemm_tile *t, const struct result *out, unsigned batch)
{
    const uint64_t row_bytes = gpu_type_bytes(out->type, t->g->n);
    const struct gpu_base base = gpu_register_base(gpu_register(t->e, 2));
    gpu_far_begin(t->e, base.number, out->base);
    gpu_far_add(t->e, base.number, batch, row_bytes * t->g->m);
    gpu_far_add(t->e, base.number, t->row, row_bytes);
    return base;
}

void gemm_store_result(struct gemm_tile *t)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const bool partial = g->split > 1;
    const unsigned start = gpu_register(e, 1), batch = gpu_register(e, 1), part = gpu_register(e, 1);
    struct result out = {.type = partial ? GPU_F32 : g->type, .base = gpu_argument_buffer(e, partial ? g->partial : g->c, 0)};
    out.scaled = !partial && g->alpha != 1.0F;
    out.added = !partial && g->beta != 0.0F;
    gemm_find_result(t);
    gemm_find_batch(t, batch, part);
    if (partial)
        gpu_mad_imm(e, batch, part, g->batch, batch);
    if (t->far)
        out.base = far_rows(t, &out, batch);
    else
        gpu_mad_imm(e, start, batch, g->m * g->n, GPU_NO_REGISTER);
    out.gated = g->gated;
    if (g->gated) {
        out.less = gpu_register(e, 1);
        out.lesser = gpu_register(e, 1);
        gpu_mad_imm(e, out.lesser, batch, g->m, GPU_NO_REGISTER);
    }
    gpu_register_free(e, batch, 1);
    gpu_register_free(e, part, 1);
    out.index = gpu_register(e, 1);
    out.old = gpu_register(e, GEMM_FOUR);
    out.scratch = gpu_register(e, 1);
    store_rows(t, &out, start);
}
