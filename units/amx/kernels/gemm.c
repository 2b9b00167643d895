#include "units/amx/kernels/gemm.h"

#include "isa/rounding.h"
#include "units/amx/kernels/gemm_pack.h"
#include "units/amx/kernels/gemm_tile.h"

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

const struct gemm_shape *gemm_shape_of(enum gemm_kind kind)
{
    return (unsigned)kind < GEMM_KIND_COUNT ? &shapes[kind] : NULL;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* How a product is cut into blocks, and where its panels lie in the workspace. */
struct plan {
    const struct gemm_shape *shape;
    uint32_t block_m, block_n, block_k;
    uint64_t a_at, b_at, tile_at, in_at, scale_at, bytes;
};

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

static void make_plan(struct plan *p, enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k, const struct gemm_blocks *blocks)
{
    const struct gemm_shape *s = &shapes[kind];
    p->shape = s;
    p->block_k = min_u32((uint32_t)round_up(k, s->k_unit), block_of(blocks->k, BLOCK_K_BYTES / s->in_bytes, s->k_unit));
    const uint32_t line = p->block_k * s->in_bytes;
    const uint32_t most_m = block_of(blocks->m, BLOCK_A_BYTES / line / s->tile_m * s->tile_m, s->tile_m);
    const uint32_t most_n = block_of(blocks->n, BLOCK_B_BYTES / line / s->tile_n * s->tile_n, s->tile_n);
    p->block_m = min_u32((uint32_t)round_up(m, s->tile_m), most_m);
    p->block_n = min_u32((uint32_t)round_up(n, s->tile_n), most_n);
    uint64_t at = 0;
    const uint64_t tile_bytes = (uint64_t)s->tile_m * s->tile_n * s->out_bytes;
    p->tile_at = place(&at, tile_bytes);
    p->in_at = place(&at, tile_bytes);
    p->scale_at = place(&at, LINE_BYTES);
    p->a_at = place(&at, (uint64_t)p->block_m * line + GEMM_OVERREAD_BYTES);
    p->b_at = place(&at, (uint64_t)p->block_n * line + GEMM_OVERREAD_BYTES);
    p->bytes = at;
}

uint64_t gemm_workspace_bytes(enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k)
{
    const struct gemm_blocks usual = {0, 0, 0, 0};
    return gemm_workspace_bytes_of(kind, m, n, k, &usual);
}

uint64_t gemm_workspace_bytes_of(enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k, const struct gemm_blocks *blocks)
{
    struct plan p;
    make_plan(&p, kind, m, n, k, blocks);
    return p.bytes;
}

struct run {
    struct amx_ctx *ctx;
    const struct gemm_args *args;
    struct plan plan;
    uint8_t *workspace, *c;
    const uint8_t *a, *b;
    uint64_t c_row_bytes;
    int plain_alpha;
};

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
static void write_scales(const struct run *r)
{
    const uint32_t size = r->plan.shape->out_bytes;
    uint8_t *at = r->workspace + r->plan.scale_at;
    AMX_SCALAR_BEGIN(r->ctx);
    for (uint32_t i = 0; i < 64; i += size) {
        __builtin_memcpy(at + i, &r->args->alpha_bits, size);
        __builtin_memcpy(at + 64 + i, &r->args->beta_bits, size);
    }
}

static void pack_a(const struct run *r, uint32_t i0, uint32_t k0, uint32_t rows, uint32_t k, uint32_t k_padded)
{
    const struct gemm_shape *s = r->plan.shape;
    const struct gemm_args *g = r->args;
    struct pack_source source = {NULL, g->lda, s->in_bytes, g->transpose_a};
    for (uint32_t i = 0; i < rows; i += s->tile_m) {
        const uint64_t first = g->transpose_a ? k0 * g->lda + i0 + i : (i0 + i) * g->lda + k0;
        source.base = r->a + first * s->in_bytes;
        void *panel = r->workspace + r->plan.a_at + (uint64_t)i * k_padded * s->in_bytes;
        if (s->k_group == 4)
            gemm_pack_panel_k4(r->ctx, panel, &source, s->tile_m, min_u32(s->tile_m, rows - i), k, k_padded);
        else
            gemm_pack_panel(r->ctx, panel, &source, s->tile_m, min_u32(s->tile_m, rows - i), k, k_padded);
    }
}

static void pack_b(const struct run *r, uint32_t j0, uint32_t k0, uint32_t columns, uint32_t k, uint32_t k_padded)
{
    const struct gemm_shape *s = r->plan.shape;
    const struct gemm_args *g = r->args;
    struct pack_source source = {NULL, g->ldb, s->in_bytes, !g->transpose_b};
    for (uint32_t j = 0; j < columns; j += s->tile_n) {
        const uint64_t first = g->transpose_b ? (j0 + j) * g->ldb + k0 : k0 * g->ldb + j0 + j;
        source.base = r->b + first * s->in_bytes;
        gemm_pack_panel(r->ctx, r->workspace + r->plan.b_at + (uint64_t)j * k_padded * s->in_bytes, &source, s->tile_n,
                        min_u32(s->tile_n, columns - j), k, k_padded);
    }
}

/* One tile of C at (i, j), of which rows x columns lie inside the matrix. */
struct tile {
    uint8_t *c;
    uint64_t panel_a, panel_b;
    uint32_t rows, columns, k_padded;
    uint64_t beta_bits; /* of this pass over k */
};

static void run_tile(const struct run *r, const struct tile *t)
{
    const struct gemm_shape *s = r->plan.shape;
    const enum gemm_kind kind = (enum gemm_kind)r->args->kind;
    struct amx_ctx *ctx = r->ctx;
    const uint64_t dense_row = (uint64_t)s->tile_n * s->out_bytes;
    const uint32_t valid_row = t->columns * s->out_bytes;
    uint8_t *tile = r->workspace + r->plan.tile_at, *in = r->workspace + r->plan.in_at;
    const int whole = t->columns == s->tile_n;
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
        gemm_tile_load(ctx, kind, in_address, in_row, t->rows);
    gemm_tile(ctx, kind, t->panel_a, t->panel_b, t->k_padded, keep, (int)r->args->quad_loads);

    const uint64_t out = whole ? AMX_ADDRESS(ctx, t->c) : AMX_ADDRESS(ctx, tile);
    const uint64_t out_row = whole ? r->c_row_bytes : dense_row;
    if (blend) {
        gemm_tile_store(ctx, kind, AMX_ADDRESS(ctx, tile), dense_row, t->rows);
        gemm_tile_blend(ctx, kind, AMX_ADDRESS(ctx, tile), uses_c ? in_address : 0, in_row, out, out_row,
                        AMX_ADDRESS(ctx, r->workspace + r->plan.scale_at), t->rows);
    } else {
        gemm_tile_store(ctx, kind, out, out_row, t->rows);
    }
    if (!whole)
        gemm_copy_rows(ctx, t->c, r->c_row_bytes, tile, dense_row, t->rows, valid_row);
}

/* Computes all tiles of one packed block of A and one packed block of B. */
static void run_block(const struct run *r, uint32_t i0, uint32_t rows, uint32_t j0, uint32_t columns, uint32_t k_padded,
                      uint64_t beta_bits)
{
    const struct gemm_shape *s = r->plan.shape;
    for (uint32_t j = 0; j < columns; j += s->tile_n) {
        for (uint32_t i = 0; i < rows; i += s->tile_m) {
            const struct tile t = {
                .c = r->c + (i0 + i) * r->c_row_bytes + (uint64_t)(j0 + j) * s->out_bytes,
                .panel_a = AMX_ADDRESS(r->ctx, r->workspace + r->plan.a_at + (uint64_t)i * k_padded * s->in_bytes),
                .panel_b = AMX_ADDRESS(r->ctx, r->workspace + r->plan.b_at + (uint64_t)j * k_padded * s->in_bytes),
                .rows = min_u32(s->tile_m, rows - i),
                .columns = min_u32(s->tile_n, columns - j),
                .k_padded = k_padded,
                .beta_bits = beta_bits,
            };
            run_tile(r, &t);
        }
    }
}

static void run_one(const struct run *r)
{
    const struct gemm_args *g = r->args;
    const struct plan *p = &r->plan;
    for (uint32_t j0 = 0; j0 < g->n; j0 += p->block_n) {
        const uint32_t columns = min_u32(p->block_n, g->n - j0);
        for (uint32_t k0 = 0; k0 < g->k; k0 += p->block_k) {
            const uint32_t k = min_u32(p->block_k, g->k - k0), k_padded = (uint32_t)round_up(k, p->shape->k_unit);
            pack_b(r, j0, k0, columns, k, k_padded);
            for (uint32_t i0 = 0; i0 < g->m; i0 += p->block_m) {
                const uint32_t rows = min_u32(p->block_m, g->m - i0);
                pack_a(r, i0, k0, rows, k, k_padded);
                run_block(r, i0, rows, j0, columns, k_padded, k0 ? one_bits((enum gemm_kind)g->kind) : g->beta_bits);
            }
        }
    }
}

void gemm_run(struct amx_ctx *ctx, const struct gemm_args *args)
{
    struct run r = {.ctx = ctx, .args = args, .workspace = (uint8_t *)(uintptr_t)args->workspace};
    make_plan(&r.plan, (enum gemm_kind)args->kind, args->m, args->n, args->k, &args->blocks);
    r.c_row_bytes = args->ldc * r.plan.shape->out_bytes;
    r.plain_alpha = args->alpha_bits == one_bits((enum gemm_kind)args->kind);
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
