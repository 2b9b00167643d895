#include "units/amx/kernels/gemm.h"

#include "isa/rounding.h"
#include "units/amx/kernels/gemm_run.h"

/*                              tile_m tile_n in out k_unit k_group */
static const struct gemm_shape shapes[GEMM_KIND_COUNT] = {
    [GEMM_F64] = {32, 16, 8, 8, 2, 1},     [GEMM_F32] = {32, 32, 4, 4, 4, 1},      [GEMM_F16] = {32, 64, 2, 2, 4, 1},
    [GEMM_F16_F32] = {32, 32, 2, 4, 8, 1}, [GEMM_BF16_F32] = {32, 32, 2, 4, 8, 1}, [GEMM_I8_I32] = {16, 64, 1, 4, 8, 4},
    [GEMM_I16_I32] = {32, 32, 2, 4, 8, 1},
};

/* Cache blocking: a block of packed A (block_m x block_k) should stay in the cluster's L2 while all of B passes by; C tiles are
 * read and written once per block_k. The sizes are in bytes and not tuned per chip: the smallest P-cluster L2 has 12 MiB. */
#define BLOCK_K_BYTES 16384u
#define BLOCK_A_BYTES (4u << 20)
#define BLOCK_B_BYTES (16u << 20)
#define LINE_BYTES    128u

/* f32. A side that is used once or twice is not worth a panel: lines are loaded from where they are, or transposed a piece of k
 * at a time into a place that stays in L1, and the products go on in Z from piece to piece. */
#define DIRECT_TILES 4u           /* so many tiles may read the same lines without a panel, */
#define DIRECT_BYTES (128u << 10) /* of a matrix that is no larger than this: lines of larger ones are far apart */

const struct gemm_shape *gemm_shape_of(enum gemm_kind kind)
{
    return (unsigned)kind < GEMM_KIND_COUNT ? &shapes[kind] : NULL;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

struct gemm_form gemm_form_of(enum gemm_kind kind, uint32_t m, uint32_t n, int wide_a, int wide_b)
{
    const uint32_t y = m <= 16 ? 1 : 2, x = n <= 16 ? 1 : 2;
    if (kind != GEMM_F32)
        return (struct gemm_form){2, 2};
    return (struct gemm_form){x == 1 && m > 32 && wide_a ? 4 : y, y == 1 && n > 32 && wide_b ? 4 : x};
}

static uint64_t place(uint64_t *at, uint64_t bytes)
{
    const uint64_t start = *at;
    *at += round_up(bytes, LINE_BYTES);
    return start;
}

static uint32_t block_of(uint32_t asked, uint32_t most, uint32_t unit)
{
    return asked ? (uint32_t)round_up(asked, unit) : most;
}

static void make_plan(struct gemm_plan *p, enum gemm_kind kind, struct gemm_form form, uint32_t m, uint32_t n, uint32_t k,
                      const struct gemm_blocks *blocks)
{
    const struct gemm_shape *s = &shapes[kind];
    p->shape = s;
    p->form = form;
    p->tile_m = s->tile_m * form.y / 2;
    p->tile_n = s->tile_n * form.x / 2;
    p->block_k = min_u32((uint32_t)round_up(k, s->k_unit), block_of(blocks->k, BLOCK_K_BYTES / s->in_bytes, s->k_unit));
    const uint32_t line = p->block_k * s->in_bytes;
    const uint32_t most_m = block_of(blocks->m, BLOCK_A_BYTES / line / p->tile_m * p->tile_m, p->tile_m);
    const uint32_t most_n = block_of(blocks->n, BLOCK_B_BYTES / line / p->tile_n * p->tile_n, p->tile_n);
    p->block_m = min_u32((uint32_t)round_up(m, p->tile_m), most_m);
    p->block_n = min_u32((uint32_t)round_up(n, p->tile_n), most_n);
    uint64_t at = 0;
    const uint64_t tile_bytes = (uint64_t)s->tile_m * s->tile_n * s->out_bytes;
    const uint64_t pieces = kind == GEMM_F32 ? PIECES * PIECE_BYTES : 0;
    p->tile_at = place(&at, tile_bytes);
    p->in_at = place(&at, tile_bytes);
    p->scale_at = place(&at, LINE_BYTES);
    p->a_at = place(&at, (uint64_t)p->block_m * line + pieces + GEMM_OVERREAD_BYTES);
    p->all_n = (uint32_t)round_up(n, p->tile_n);
    const uint64_t all_of_b = (uint64_t)p->all_n * (uint32_t)round_up(k, s->k_unit) * s->in_bytes;
    p->b_at = place(&at, (blocks->loaded ? all_of_b : (uint64_t)p->block_n * line) + pieces + GEMM_OVERREAD_BYTES);
    p->bytes = at;
}

uint64_t gemm_workspace_bytes(enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k)
{
    const struct gemm_blocks usual = {0, 0, 0, 0};
    return gemm_workspace_bytes_of(kind, m, n, k, &usual);
}

/* Whatever form alpha and beta ask for. */
uint64_t gemm_workspace_bytes_of(enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k, const struct gemm_blocks *blocks)
{
    struct gemm_plan p, square;
    make_plan(&p, kind, gemm_form_of(kind, m, n, 1, 1), m, n, k, blocks);
    make_plan(&square, kind, (struct gemm_form){2, 2}, m, n, k, blocks);
    return p.bytes > square.bytes ? p.bytes : square.bytes;
}

static uint64_t one_bits(enum gemm_kind kind)
{
    switch (kind) {
    case GEMM_F64: return UINT64_C(0x3ff0000000000000);
    case GEMM_F16: return 0x3c00;
    case GEMM_I8_I32:
    case GEMM_I16_I32: return 1;
    default: return 0x3f800000;
    }
}

/* Writes one line of alphas and one of betas. */
static void write_scales(const struct gemm_run *r)
{
    const uint32_t size = r->plan.shape->out_bytes;
    uint8_t *at = r->workspace + r->plan.scale_at;
    AMX_SCALAR_BEGIN(r->ctx);
    for (uint32_t i = 0; i < 64; i += size) {
        __builtin_memcpy(at + i, &r->args->alpha_bits, size);
        __builtin_memcpy(at + 64 + i, &r->args->beta_bits, size);
    }
}

/* ---- the sides of a tile ---- */

/* What is known of one operand: its panels, and where the product reads it. */
struct operand {
    const uint8_t *matrix;
    uint64_t ld, panels_at;
    uint32_t tile, tiles_across; /* elements of a tile on this side; tiles of the block that share it */
    int lines_contiguous;        /* as in struct pack_source */
    uint32_t loaded;             /* elements of this side of which all panels were made beforehand, in whole tiles; 0 = none */
};

static struct operand operand_a(const struct gemm_run *r, uint32_t columns)
{
    const struct gemm_args *g = r->args;
    return (struct operand){r->a, g->lda, r->plan.a_at, r->plan.tile_m, (columns - 1) / r->plan.tile_n + 1, (int)g->transpose_a,
                            0};
}

static struct operand operand_b(const struct gemm_run *r, uint32_t rows)
{
    const struct gemm_args *g = r->args;
    const uint32_t across = (rows - 1) / r->plan.tile_m + 1, loaded = g->blocks.loaded ? r->plan.all_n : 0;
    return (struct operand){r->b, g->ldb, r->plan.b_at, r->plan.tile_n, across, !g->transpose_b, loaded};
}

/* Lines need no panel when few tiles read them and they are near each other, or when a panel would look the same. */
static int is_direct(const struct gemm_run *r, const struct operand *o, uint32_t valid)
{
    const int near = o->tiles_across <= DIRECT_TILES && o->ld * r->args->k * r->plan.shape->in_bytes <= DIRECT_BYTES;
    return !o->loaded && gemm_is_f32(r) && o->lines_contiguous && valid == o->tile && (near || o->ld == o->tile);
}

static int is_in_pieces(const struct gemm_run *r, const struct operand *o)
{
    const uint64_t vector_bytes = o->ld * r->plan.shape->in_bytes;
    return !o->loaded && gemm_is_f32(r) && !o->lines_contiguous && o->tiles_across == 1 && o->tile <= PIECE_WIDTH &&
           vector_bytes <= GEMM_FAR_BYTES;
}

/* Where the panel of the elements from `first` on (`at` of the block) lies in the workspace: panels of a block, or those of the
 * whole operand for the k before k0, then its own. */
static uint64_t panel_at(const struct gemm_run *r, const struct operand *o, uint32_t first, uint32_t at, uint32_t k0,
                         uint32_t k_padded)
{
    const uint64_t place_of = o->loaded ? (uint64_t)k0 * o->loaded + (uint64_t)first * k_padded : (uint64_t)at * k_padded;
    return o->panels_at + place_of * r->plan.shape->in_bytes;
}

/* The panel, or what stands for it, of the elements from `first` on (`at` of the block) and the k from k0 on. */
static struct gemm_side side_of(const struct gemm_run *r, const struct operand *o, uint32_t first, uint32_t at, uint32_t valid,
                                uint32_t k0, uint32_t k_padded)
{
    const uint32_t size = r->plan.shape->in_bytes;
    const uint8_t *const base = o->matrix + (o->lines_contiguous ? k0 * o->ld + first : first * o->ld + k0) * size;
    struct gemm_side s = {.source = {base, o->ld, size, (uint32_t)o->lines_contiguous}, .width = o->tile, .valid = valid};
    s.in_pieces = is_in_pieces(r, o);
    if (is_direct(r, o, valid))
        s.lines = (struct gemm_lines){AMX_ADDRESS(r->ctx, base), o->ld * size};
    else
        s.lines = (struct gemm_lines){
            AMX_ADDRESS(r->ctx, r->workspace + (s.in_pieces ? o->panels_at : panel_at(r, o, first, at, k0, k_padded))),
            (uint64_t)o->tile * size};
    return s;
}

static void pack_panel(const struct gemm_run *r, const struct operand *o, uint32_t first, uint32_t at, uint32_t valid,
                       uint32_t k0, uint32_t k, uint32_t k_padded)
{
    const struct gemm_shape *shape = r->plan.shape;
    const struct gemm_side s = side_of(r, o, first, at, valid, k0, k_padded);
    void *panel = r->workspace + panel_at(r, o, first, at, k0, k_padded);
    if (shape->k_group == 4 && o->panels_at == r->plan.a_at)
        gemm_pack_panel_k4(r->ctx, panel, &s.source, s.width, valid, k, k_padded);
    else
        gemm_pack_panel(r->ctx, panel, &s.source, s.width, valid, k, k_padded);
}

/* Packs whole panels side by side where that reads better. Returns how many elements they are. */
static uint32_t pack_strips(const struct gemm_run *r, const struct operand *o, uint32_t first, uint32_t count, uint32_t k0,
                            uint32_t k, uint32_t k_padded)
{
    const uint32_t whole = count / o->tile * o->tile;
    const struct gemm_side s = side_of(r, o, first, 0, o->tile, k0, k_padded);
    if (r->plan.shape->k_group != 1 || is_direct(r, o, o->tile) || !gemm_packs_strips(&s.source, o->tile, whole, o->tiles_across))
        return 0;
    gemm_pack_strips(r->ctx, r->workspace + panel_at(r, o, first, 0, k0, k_padded), &s.source, o->tile, whole, k, k_padded);
    return whole;
}

/* Packs what the tiles of a block want in panels: `count` elements from `first` on. */
static void pack(const struct gemm_run *r, const struct operand *o, uint32_t first, uint32_t count, uint32_t k0, uint32_t k,
                 uint32_t k_padded)
{
    if (o->loaded || is_in_pieces(r, o))
        return;
    for (uint32_t at = pack_strips(r, o, first, count, k0, k, k_padded); at < count; at += o->tile) {
        const uint32_t valid = min_u32(o->tile, count - at);
        if (!is_direct(r, o, valid))
            pack_panel(r, o, first + at, at, valid, k0, k, k_padded);
    }
}

/* ---- tiles ---- */

static void run_tile(const struct gemm_run *r, const struct gemm_part *t)
{
    const struct gemm_shape *s = r->plan.shape;
    const enum gemm_kind kind = (enum gemm_kind)r->args->kind;
    const struct gemm_form form = r->plan.form;
    struct amx_ctx *ctx = r->ctx;
    const uint64_t dense_row = (uint64_t)r->plan.tile_n * s->out_bytes;
    const uint32_t valid_row = t->columns * s->out_bytes;
    uint8_t *tile = r->workspace + r->plan.tile_at, *in = r->workspace + r->plan.in_at;
    const int whole = t->columns == r->plan.tile_n;
    const int uses_c = t->beta_bits != 0;
    const int keep = uses_c && r->plain_alpha && t->beta_bits == one_bits(kind);
    const int blend = !r->plain_alpha || (uses_c && !keep);

    /* The old C: in place, or copied to the side when the tile reaches beyond the matrix. */
    uint64_t in_address = AMX_ADDRESS(ctx, t->c), in_row = r->c_row_bytes;
    if (uses_c && !whole) {
        gemm_copy_rows(ctx, in, dense_row, t->c, r->c_row_bytes, t->rows, valid_row);
        in_address = AMX_ADDRESS(ctx, in);
        in_row = dense_row;
    }
    if (keep)
        gemm_tile_load(ctx, kind, form, in_address, in_row, t->rows);
    gemm_multiply(r, t, keep);

    const uint64_t out = whole ? AMX_ADDRESS(ctx, t->c) : AMX_ADDRESS(ctx, tile);
    const uint64_t out_row = whole ? r->c_row_bytes : dense_row;
    if (blend) {
        gemm_tile_store(ctx, kind, form, AMX_ADDRESS(ctx, tile), dense_row, t->rows);
        gemm_tile_blend(ctx, kind, AMX_ADDRESS(ctx, tile), uses_c ? in_address : 0, in_row, out, out_row,
                        AMX_ADDRESS(ctx, r->workspace + r->plan.scale_at), t->rows);
    } else {
        gemm_tile_store(ctx, kind, form, out, out_row, t->rows);
    }
    if (!whole)
        gemm_copy_rows(ctx, t->c, r->c_row_bytes, tile, dense_row, t->rows, valid_row);
}

/* The part of a product that is computed at a time: blocks of A and B, of which what needs it is packed. */
struct block {
    struct operand a, b;
    uint32_t i0, rows, j0, columns, k0, k, k_padded;
    uint64_t beta_bits;
};

static void run_block(const struct gemm_run *r, const struct block *b)
{
    const struct gemm_plan *p = &r->plan;
    for (uint32_t j = 0; j < b->columns; j += p->tile_n) {
        for (uint32_t i = 0; i < b->rows; i += p->tile_m) {
            const uint32_t rows = min_u32(p->tile_m, b->rows - i), columns = min_u32(p->tile_n, b->columns - j);
            const struct gemm_part t = {
                .c = r->c + (b->i0 + i) * r->c_row_bytes + (uint64_t)(b->j0 + j) * p->shape->out_bytes,
                .a = side_of(r, &b->a, b->i0 + i, i, rows, b->k0, b->k_padded),
                .b = side_of(r, &b->b, b->j0 + j, j, columns, b->k0, b->k_padded),
                .rows = rows,
                .columns = columns,
                .k = b->k,
                .k_padded = b->k_padded,
                .direct = is_direct(r, &b->a, rows) || is_direct(r, &b->b, columns),
                .beta_bits = b->beta_bits,
            };
            run_tile(r, &t);
        }
    }
}

static void run_one(const struct gemm_run *r)
{
    const struct gemm_args *g = r->args;
    const struct gemm_plan *p = &r->plan;
    struct block b;
    for (b.j0 = 0; b.j0 < g->n; b.j0 += p->block_n) {
        b.columns = min_u32(p->block_n, g->n - b.j0);
        b.a = operand_a(r, g->n);
        b.b = operand_b(r, g->m);
        for (b.k0 = 0; b.k0 < g->k; b.k0 += p->block_k) {
            b.k = min_u32(p->block_k, g->k - b.k0);
            b.k_padded = (uint32_t)round_up(b.k, p->shape->k_unit);
            b.beta_bits = b.k0 ? one_bits((enum gemm_kind)g->kind) : g->beta_bits;
            pack(r, &b.b, b.j0, b.columns, b.k0, b.k, b.k_padded);
            for (b.i0 = 0; b.i0 < g->m; b.i0 += p->block_m) {
                b.rows = min_u32(p->block_m, g->m - b.i0);
                pack(r, &b.a, b.i0, b.rows, b.k0, b.k, b.k_padded);
                run_block(r, &b);
            }
        }
    }
}

/* Scaling goes through tiles of the kind's own shape. */
static struct gemm_form form_of(const struct gemm_run *r)
{
    const struct gemm_args *g = r->args;
    const uint64_t one = one_bits((enum gemm_kind)g->kind);
    if (!r->plain_alpha || (g->beta_bits && g->beta_bits != one))
        return (struct gemm_form){2, 2};
    return gemm_form_of((enum gemm_kind)g->kind, g->m, g->n, gemm_may_be_wide((int)g->transpose_a, g->lda),
                        gemm_may_be_wide(!g->transpose_b, g->ldb));
}

static struct gemm_run begin(struct amx_ctx *ctx, const struct gemm_args *args)
{
    struct gemm_run r = {.ctx = ctx, .args = args, .workspace = (uint8_t *)(uintptr_t)args->workspace};
    r.plain_alpha = args->alpha_bits == one_bits((enum gemm_kind)args->kind);
    make_plan(&r.plan, (enum gemm_kind)args->kind, form_of(&r), args->m, args->n, args->k, &args->blocks);
    r.c_row_bytes = args->ldc * r.plan.shape->out_bytes;
    return r;
}

void gemm_load(struct amx_ctx *ctx, const struct gemm_args *args)
{
    struct gemm_run r = begin(ctx, args);
    r.b = (const uint8_t *)(uintptr_t)args->b;
    const struct operand b = operand_b(&r, args->m);
    for (uint32_t k0 = 0; k0 < args->k; k0 += r.plan.block_k) {
        const uint32_t k = min_u32(r.plan.block_k, args->k - k0), k_padded = (uint32_t)round_up(k, r.plan.shape->k_unit);
        for (uint32_t j = 0; j < args->n; j += b.tile)
            pack_panel(&r, &b, j, 0, min_u32(b.tile, args->n - j), k0, k, k_padded);
    }
}

void gemm_run(struct amx_ctx *ctx, const struct gemm_args *args)
{
    struct gemm_run r = begin(ctx, args);
    write_scales(&r);
    AMX_SET(ctx);
    for (uint32_t i = 0; i < args->batch; i++) {
        r.a = (const uint8_t *)(uintptr_t)args->a + i * args->stride_a * r.plan.shape->in_bytes;
        r.b = (const uint8_t *)(uintptr_t)args->b + i * args->stride_b * r.plan.shape->in_bytes;
        r.c = (uint8_t *)(uintptr_t)args->c + i * args->stride_c * r.plan.shape->out_bytes;
        run_one(&r);
    }
    AMX_CLR(ctx);
}
