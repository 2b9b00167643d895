/* The tile program of gemm.
 *
 * Loads bring four neighbouring elements per lane. Of A (rows m, columns k) lane (R, P) gets k = 4P .. 4P + 3 of row R: the
 * first two are its part of a first matrix, the others of a second one. Column c of matrix h therefore stands for
 * k = 4 (c / 2) + 2h + c % 2, and B's row of that number goes with it. Of B the four neighbours are columns of the result: column
 * 2P + j of the q-th of two matrices is n = 4P + 2q + j, in the result as well, which is stored four at a time.
 *
 * Edges: rows and groups of four columns beyond the end are moved back to the last ones there are; what they compute is not
 * stored. The rest of k is loaded under a mask into registers that hold zero.
 */
#include "units/gpu/kernels/gpu_gemm.h"

#include "units/gpu/kernels/gpu_matrix.h"

#include <stdio.h>

enum { TILES_MAX = 4, GROUPS_MAX = TILES_MAX / 2, BASES_MAX = 8, SETS = 2 };

/* One operand on its way from memory: element = base[b] + index[i]. Moves by `step` elements of k. */
struct stream {
    struct gpu_base base[BASES_MAX];
    unsigned bases, index[TILES_MAX], indices;
    bool moves_bases; /* the fewer of the two are moved */
    uint32_t advance; /* elements per step */
};

struct tile {
    const struct gpu_gemm *g;
    struct gpu_emit *e;
    bool halves;             /* operands are used as halves */
    unsigned column_groups;
    unsigned acc;            /* [row_tiles][column_tiles] pairs */
    unsigned raw_a[SETS], raw_b[SETS]; /* first half index: row tile or (h, column group), four elements each */
    unsigned wide_a, wide_b; /* bf16: the same as words */
    unsigned raw_halves;     /* of four elements */
    struct stream a, b;
    unsigned row, column;    /* nominal: first row of this lane's tile 0, first of its four columns of group 0 */
    unsigned r, p;           /* lane's place in a matrix */
};

uint32_t gpu_gemm_rows(const struct gpu_gemm *g)
{
    return 8 * g->row_tiles * GPU_GEMM_GROUP_ROWS;
}

uint32_t gpu_gemm_columns(const struct gpu_gemm *g)
{
    return 8 * g->column_tiles * GPU_GEMM_GROUP_COLUMNS;
}

static uint32_t element_bytes(const struct tile *t)
{
    return (uint32_t)gpu_type_bytes(t->g->type, 1);
}

/* ---- where things are ---- */

static void take_registers(struct tile *t)
{
    const struct gpu_gemm *g = t->g;
    const unsigned per_four = g->type == GPU_F32 ? 4 : 2, b_loads = 2 * t->column_groups;
    t->raw_halves = 2 * per_four;
    t->acc = gpu_register(t->e, 2 * g->row_tiles * g->column_tiles);
    for (unsigned s = 0; s < SETS; s++) {
        t->raw_a[s] = 2 * gpu_register(t->e, per_four * g->row_tiles);
        t->raw_b[s] = 2 * gpu_register(t->e, per_four * b_loads);
    }
    if (g->type == GPU_BF16) {
        t->wide_a = gpu_register(t->e, 4 * g->row_tiles);
        t->wide_b = gpu_register(t->e, 4 * b_loads);
    }
}

static void free_operands(struct tile *t)
{
    const struct gpu_gemm *g = t->g;
    const unsigned per_four = t->raw_halves / 2, b_loads = 2 * t->column_groups;
    for (unsigned s = 0; s < SETS; s++) {
        gpu_register_free(t->e, t->raw_a[s] / 2, per_four * g->row_tiles);
        gpu_register_free(t->e, t->raw_b[s] / 2, per_four * b_loads);
    }
    if (g->type == GPU_BF16) {
        gpu_register_free(t->e, t->wide_a, 4 * g->row_tiles);
        gpu_register_free(t->e, t->wide_b, 4 * b_loads);
    }
}

/* row and column of this lane in the whole result. */
static void find_place(struct tile *t)
{
    struct gpu_emit *e = t->e;
    const unsigned simd = gpu_register(e, 1), bits = gpu_register(e, 1), group = gpu_register(e, 1);
    t->row = gpu_register(e, 1);
    t->column = gpu_register(e, 1);
    t->r = gpu_register(e, 1);
    t->p = gpu_register(e, 1);
    gpu_matrix_lane(e, t->r, t->p);
    gpu_emit(e, "get_sr r%u, sr%d", simd, GPU_SR_SIMDGROUP);
    gpu_emit(e, "get_sr r%u, sr%d", group, GPU_SR_GROUP_Y);
    gpu_shr(e, bits, simd, 1);
    gpu_mad_imm(e, t->row, bits, 8 * t->g->row_tiles, t->r);
    gpu_mad_imm(e, t->row, group, gpu_gemm_rows(t->g), t->row);
    gpu_emit(e, "get_sr r%u, sr%d", group, GPU_SR_GROUP_X);
    gpu_and_imm(e, bits, simd, 1);
    gpu_mad_imm(e, t->column, t->p, 4, GPU_NO_REGISTER);
    gpu_mad_imm(e, t->column, bits, 8 * t->g->column_tiles, t->column);
    gpu_mad_imm(e, t->column, group, gpu_gemm_columns(t->g), t->column);
    gpu_register_free(e, simd, 1);
    gpu_register_free(e, bits, 1);
    gpu_register_free(e, group, 1);
}

/* to = min(nominal + distance, most) */
static void clamped(struct gpu_emit *e, unsigned to, unsigned nominal, uint32_t distance, uint32_t most)
{
    gpu_add_imm(e, to, nominal, distance);
    gpu_min_imm(e, to, to, most);
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

/* Steps of k that every part takes without looking; the last part takes what is left. */
static uint32_t part_steps(const struct gpu_gemm *g)
{
    return g->k / GPU_GEMM_STEP / g->split;
}

/* Steps beyond that, the last of which may be cut. */
static uint32_t rest_steps(const struct gpu_gemm *g)
{
    return (g->k + GPU_GEMM_STEP - 1) / GPU_GEMM_STEP - part_steps(g) * g->split;
}

static void take_bases(struct tile *t, struct stream *s, unsigned buffer, const uint64_t *offset)
{
    s->moves_bases = s->bases <= s->indices;
    for (unsigned i = 0; i < s->bases; i++) {
        s->base[i] = gpu_argument_buffer(t->e, buffer, offset[i] * element_bytes(t));
        if (!s->moves_bases)
            continue;
        const unsigned pair = gpu_register(t->e, 2);
        gpu_emit(t->e, "mov r%u, u%u", pair, s->base[i].number);
        gpu_emit(t->e, "mov r%u, u%u", pair + 1, s->base[i].number + 1);
        s->base[i] = gpu_register_base(pair);
    }
}

static void start_a(struct tile *t, unsigned batch, unsigned part)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const uint32_t along_k = g->transposed_a ? g->m : 1, along_m = g->transposed_a ? 1 : g->k;
    const unsigned start = gpu_register(e, 1);
    const uint64_t offsets[] = {0, along_k, 2 * (uint64_t)along_k, 3 * (uint64_t)along_k};
    t->a = (struct stream){.bases = g->transposed_a ? 4 : 1, .indices = g->row_tiles, .advance = GPU_GEMM_STEP * along_k};
    gpu_mad_imm(e, start, t->p, 4 * along_k, GPU_NO_REGISTER);
    gpu_mad_imm(e, start, batch, g->m * g->k, start);
    if (g->split > 1)
        gpu_mad_imm(e, start, part, part_steps(g) * t->a.advance, start);
    for (unsigned i = 0; i < g->row_tiles; i++) {
        t->a.index[i] = gpu_register(e, 1);
        clamped(e, t->a.index[i], t->row, 8 * i, g->m - 1);
        gpu_mad_imm(e, t->a.index[i], t->a.index[i], along_m, start);
    }
    take_bases(t, &t->a, g->a, offsets);
    gpu_register_free(e, start, 1);
}

/* Base 2j' + h of a transposed B: column j', matrix h. */
static void start_b(struct tile *t, unsigned batch, unsigned part)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const uint32_t along_k = g->transposed_b ? 1 : g->n, along_n = g->transposed_b ? g->k : 1;
    const unsigned start = gpu_register(e, 1), bits = gpu_register(e, 1);
    uint64_t offsets[BASES_MAX];
    t->b = (struct stream){.bases = g->transposed_b ? 8 : 2, .indices = t->column_groups, .advance = GPU_GEMM_STEP * along_k};
    for (unsigned i = 0; i < t->b.bases; i++)
        offsets[i] = (uint64_t)(i / 2) * along_n + 2 * (uint64_t)(i % 2) * along_k;
    gpu_shr(e, start, t->r, 1);
    gpu_and_imm(e, bits, t->r, 1);
    gpu_emit(e, "iadd r%u, r%u, r%u, lsl 2", start, bits, start);
    gpu_mad_imm(e, start, start, along_k, GPU_NO_REGISTER);
    gpu_mad_imm(e, start, batch, g->k * g->n, start);
    if (g->split > 1)
        gpu_mad_imm(e, start, part, part_steps(g) * t->b.advance, start);
    for (unsigned i = 0; i < t->column_groups; i++) {
        t->b.index[i] = gpu_register(e, 1);
        clamped(e, t->b.index[i], t->column, 16 * i, g->n - GPU_GEMM_LEAST_COLUMNS);
        gpu_mad_imm(e, t->b.index[i], t->b.index[i], along_n, start);
    }
    take_bases(t, &t->b, g->b, offsets);
    gpu_register_free(e, start, 1);
    gpu_register_free(e, bits, 1);
}

static void advance(struct tile *t, const struct stream *s)
{
    if (s->moves_bases) {
        for (unsigned i = 0; i < s->bases; i++) {
            const char *pair = gpu_run(t->e, s->base[i].number, 2);
            gpu_emit(t->e, "iadd %s, %s, %s", pair, pair, gpu_int(t->e, s->advance * element_bytes(t)));
        }
        return;
    }
    for (unsigned i = 0; i < s->indices; i++)
        gpu_add_imm(t->e, s->index[i], s->index[i], s->advance);
}

/* ---- a step ---- */

/* Half index of element `element` (0..3) of the number-th load. */
static unsigned raw_half(const struct tile *t, unsigned first, unsigned number, unsigned element)
{
    return first + number * t->raw_halves + element * t->raw_halves / 4;
}

static void load_a(struct tile *t, unsigned set)
{
    const struct gpu_gemm *g = t->g;
    for (unsigned i = 0; i < g->row_tiles; i++) {
        const char *index = gpu_r(t->e, t->a.index[i]);
        if (!g->transposed_a)
            gpu_load_raw(t->e, set, g->type, 4, raw_half(t, t->raw_a[set], i, 0), t->a.base[0], index);
        for (unsigned j = 0; g->transposed_a && j < 4; j++)
            gpu_load_raw(t->e, set, g->type, 1, raw_half(t, t->raw_a[set], i, j), t->a.base[j], index);
    }
}

static void load_b_matrix(struct tile *t, unsigned set, unsigned h)
{
    const struct gpu_gemm *g = t->g;
    for (unsigned c = 0; c < t->column_groups; c++) {
        const unsigned number = h * t->column_groups + c;
        const char *index = gpu_r(t->e, t->b.index[c]);
        if (!g->transposed_b)
            gpu_load_raw(t->e, set, g->type, 4, raw_half(t, t->raw_b[set], number, 0), t->b.base[h], index);
        for (unsigned j = 0; g->transposed_b && j < 4; j++)
            gpu_load_raw(t->e, set, g->type, 1, raw_half(t, t->raw_b[set], number, j), t->b.base[2 * j + h], index);
    }
}

static void load_step(struct tile *t, unsigned set)
{
    load_a(t, set);
    load_b_matrix(t, set, 0);
    load_b_matrix(t, set, 1);
    advance(t, &t->a);
    advance(t, &t->b);
}

/* Two elements of load `number`: matrix or column half q. */
static const char *operand(struct tile *t, unsigned raw, unsigned wide, unsigned number, unsigned q)
{
    const unsigned half = t->g->type == GPU_BF16 ? 2 * (wide + 4 * number + 2 * q) : raw_half(t, raw, number, 2 * q);
    return gpu_matrix_operand(t->e, t->halves, half);
}

static void compute_step(struct tile *t, unsigned set)
{
    const struct gpu_gemm *g = t->g;
    for (unsigned i = 0; g->type == GPU_BF16 && i < g->row_tiles; i++)
        gpu_widen(t->e, g->type, 4, t->wide_a + 4 * i, raw_half(t, t->raw_a[set], i, 0));
    for (unsigned i = 0; g->type == GPU_BF16 && i < 2 * t->column_groups; i++)
        gpu_widen(t->e, g->type, 4, t->wide_b + 4 * i, raw_half(t, t->raw_b[set], i, 0));
    for (unsigned h = 0; h < 2; h++)
        for (unsigned i = 0; i < g->row_tiles; i++)
            for (unsigned c = 0; c < g->column_tiles; c++)
                gpu_matrix_fmadd(t->e, t->acc + 2 * (i * g->column_tiles + c), operand(t, t->raw_a[set], t->wide_a, i, h),
                                 operand(t, t->raw_b[set], t->wide_b, h * t->column_groups + c / 2, c % 2));
}

/* One set of registers is filled while the other is used; set = scoreboard slot. */
static void main_loop(struct tile *t)
{
    const uint32_t steps = part_steps(t->g);
    if (steps == 0)
        return;
    load_step(t, 0);
    const uint32_t pairs = (steps - 1) / 2;
    const unsigned count = gpu_register(t->e, 1);
    if (pairs) {
        gpu_mov_imm(t->e, count, pairs);
        gpu_do(t->e);
        gpu_add_imm(t->e, count, count, -1);
        load_step(t, 1);
        gpu_wait(t->e, 0);
        compute_step(t, 0);
        load_step(t, 0);
        gpu_wait(t->e, 1);
        compute_step(t, 1);
        gpu_while(t->e, "nueq", gpu_r(t->e, count), "0");
    }
    if (steps % 2 == 0)
        load_step(t, 1);
    gpu_wait(t->e, 0);
    compute_step(t, 0);
    if (steps % 2 == 0) {
        gpu_wait(t->e, 1);
        compute_step(t, 1);
    }
    gpu_register_free(t->e, count, 1);
}

/* ---- the rest of k ---- */

static void clear(struct gpu_emit *e, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gpu_mov_imm(e, first + i, 0);
}

/* k = first k of the step + place of element; loads only where k exists. */
static void load_rest(struct tile *t, unsigned k_a, unsigned k_b)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const unsigned at = gpu_register(e, 1);
    clear(e, t->raw_a[0] / 2, t->raw_halves / 2 * g->row_tiles);
    clear(e, t->raw_b[0] / 2, t->raw_halves / 2 * 2 * t->column_groups);
    for (unsigned j = 0; j < 4; j++) {
        gpu_add_imm(e, at, k_a, j);
        gpu_if(e, "ult", gpu_r(e, at), gpu_int(e, g->k));
        for (unsigned i = 0; i < g->row_tiles; i++) {
            const struct gpu_base base = t->a.base[g->transposed_a ? j : 0];
            if (!g->transposed_a)
                gpu_add_imm(e, at, t->a.index[i], j);
            gpu_load_raw(e, 0, g->type, 1, raw_half(t, t->raw_a[0], i, j), base,
                         gpu_r(e, g->transposed_a ? t->a.index[i] : at));
        }
        gpu_endif(e);
    }
    for (unsigned h = 0; h < 2; h++) {
        gpu_add_imm(e, at, k_b, 2 * h);
        gpu_if(e, "ult", gpu_r(e, at), gpu_int(e, g->k));
        load_b_matrix(t, 0, h);
        gpu_endif(e);
    }
    gpu_register_free(e, at, 1);
}

static void rest_loop(struct tile *t, unsigned part)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const uint32_t done = part_steps(g) * g->split * GPU_GEMM_STEP;
    if (rest_steps(g) == 0)
        return;
    const unsigned k_a = gpu_register(e, 1), k_b = gpu_register(e, 1), count = gpu_register(e, 1);
    if (g->split > 1)
        gpu_if(e, "ueq", gpu_r(e, part), gpu_int(e, g->split - 1));
    gpu_shr(e, k_b, t->r, 1);
    gpu_and_imm(e, k_a, t->r, 1);
    gpu_emit(e, "iadd r%u, r%u, r%u, lsl 2", k_b, k_a, k_b);
    gpu_add_imm(e, k_b, k_b, done);
    gpu_mad_imm(e, k_a, t->p, 4, GPU_NO_REGISTER);
    gpu_add_imm(e, k_a, k_a, done);
    gpu_mov_imm(e, count, rest_steps(g));
    gpu_do(e);
    load_rest(t, k_a, k_b);
    gpu_wait(e, 0);
    advance(t, &t->a);
    advance(t, &t->b);
    gpu_add_imm(e, k_a, k_a, GPU_GEMM_STEP);
    gpu_add_imm(e, k_b, k_b, GPU_GEMM_STEP);
    compute_step(t, 0);
    gpu_add_imm(e, count, count, -1);
    gpu_while(e, "nueq", gpu_r(e, count), "0");
    if (g->split > 1)
        gpu_endif(e);
    gpu_register_free(e, k_a, 1);
    gpu_register_free(e, k_b, 1);
    gpu_register_free(e, count, 1);
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

/* Four columns of one row; index is that of the first. Where the four were moved back, those that belong to a neighbour are left
 * out. */
static void store_four(struct tile *t, const struct result *out, unsigned acc, unsigned nominal, unsigned moved)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const bool uneven = g->n % 4 != 0;
    if (g->n % gpu_gemm_columns(g) == 0) {
        store_elements(t, out, acc, 0, 4);
        return;
    }
    gpu_if(e, "ulte", gpu_r(e, nominal), gpu_int(e, g->n - 4));
    store_elements(t, out, acc, 0, 4);
    if (uneven) {
        gpu_else(e);
        const unsigned column = gpu_register(e, 1);
        for (unsigned j = 1; j < 4; j++) {
            gpu_add_imm(e, column, moved, j);
            gpu_add_imm(e, out->index, out->index, 1);
            gpu_if(e, "ugte", gpu_r(e, column), gpu_r(e, nominal));
            store_elements(t, out, acc, j, 1);
            gpu_endif(e);
        }
        gpu_register_free(e, column, 1);
    }
    gpu_endif(e);
}

static void store_rows(struct tile *t, struct result *out, unsigned start)
{
    const struct gpu_gemm *g = t->g;
    struct gpu_emit *e = t->e;
    const unsigned row = gpu_register(e, 1), nominal = gpu_register(e, 1), moved = gpu_register(e, 1);
    const bool cut = g->m % gpu_gemm_rows(g) != 0;
    for (unsigned i = 0; i < g->row_tiles; i++) {
        gpu_add_imm(e, row, t->row, 8 * i);
        if (cut)
            gpu_if(e, "ult", gpu_r(e, row), gpu_int(e, g->m));
        for (unsigned c = 0; c < t->column_groups; c++) {
            gpu_add_imm(e, nominal, t->column, 16 * c);
            gpu_min_imm(e, moved, nominal, g->n - 4);
            gpu_mad_imm(e, out->index, row, g->n, start);
            gpu_emit(e, "iadd r%u, r%u, r%u", out->index, out->index, moved);
            store_four(t, out, t->acc + 2 * (i * g->column_tiles + 2 * c), nominal, moved);
        }
        if (cut)
            gpu_endif(e);
    }
    gpu_register_free(e, row, 1);
    gpu_register_free(e, nominal, 1);
    gpu_register_free(e, moved, 1);
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
    find_batch(t, batch, part);
    if (partial)
        gpu_mad_imm(e, batch, part, g->batch, batch);
    gpu_mad_imm(e, start, batch, g->m * g->n, GPU_NO_REGISTER);
    gpu_register_free(e, batch, 1);
    gpu_register_free(e, part, 1);
    out.index = gpu_register(e, 1);
    out.old = gpu_register(e, 4);
    out.scratch = gpu_register(e, 1);
    store_rows(t, &out, start);
}

bool gpu_gemm_build(const struct gpu_gemm *g, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    snprintf(variant, sizeof variant, "gemm_%s_%ux%u%s%s%s", gpu_type_name(g->type), (unsigned)gpu_gemm_rows(g),
             (unsigned)gpu_gemm_columns(g), g->transposed_a ? "_ta" : "", g->transposed_b ? "_tb" : "",
             g->split > 1 ? "_split" : "");
    struct tile t = {.g = g, .halves = g->type == GPU_F16, .column_groups = g->column_tiles / 2};
    t.e = gpu_emit_begin(kernel, variant, error);
    struct gpu_emit *e = t.e;
    const unsigned batch = gpu_register(e, 1), part = gpu_register(e, 1);
    take_registers(&t);
    find_place(&t);
    find_batch(&t, batch, part);
    start_a(&t, batch, part);
    start_b(&t, batch, part);
    gpu_register_free(e, batch, 1);
    clear(e, t.acc, 2 * g->row_tiles * g->column_tiles);
    main_loop(&t);
    rest_loop(&t, part);
    free_operands(&t);
    store_result(&t);
    const uint32_t rows = gpu_gemm_rows(g), columns = gpu_gemm_columns(g);
    const uint32_t threads = 32 * GPU_GEMM_GROUP_ROWS * GPU_GEMM_GROUP_COLUMNS;
    gpu_emit_grid(e, (g->n + columns - 1) / columns * threads, (g->m + rows - 1) / rows, g->batch * g->split, threads, 1, 1);
    return gpu_emit_end(e);
}
