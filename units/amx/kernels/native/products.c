/* gemm of several threads: each computes a part of c by the product of one core (gemm.c), with panels in memory of its own. Parts
 * are rows or columns of whole tiles, so that every element is summed as one core would. */
#include "units/amx/kernels/gemm.h"

/* ORDER: amx_kernel_gemm.c. */
struct product {
    struct gemm_args all;
    uint64_t own_bytes; /* of each thread's workspace */
    uint64_t by_columns;
};
void amx_gemm(const struct product *p, uint64_t first, uint64_t end, uint64_t thread);

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Narrows the product to so many rows of a and c, or columns of b and c. */
static void take_part(struct gemm_args *g, const struct gemm_shape *s, int by_columns, uint64_t from, uint64_t count)
{
    if (by_columns) {
        g->n = (uint32_t)least(count, g->n - from);
        g->b += s->in_bytes * (g->transpose_b ? from * g->ldb : from);
        g->c += s->out_bytes * from;
    } else {
        g->m = (uint32_t)least(count, g->m - from);
        g->a += s->in_bytes * (g->transpose_a ? from : from * g->lda);
        g->c += s->out_bytes * from * g->ldc;
    }
}

/* Items are rows or columns of tiles of all products. */
void amx_gemm(const struct product *p, uint64_t first, uint64_t end, uint64_t thread)
{
    const struct gemm_shape *const s = gemm_shape_of((enum gemm_kind)p->all.kind);
    const uint64_t tile = p->by_columns ? s->tile_n : s->tile_m;
    const uint64_t tiles = ((p->by_columns ? p->all.n : p->all.m) + tile - 1) / tile;
    for (uint64_t at = first; at < end;) {
        const uint64_t matrix = at / tiles, from = at % tiles, count = least(tiles - from, end - at);
        struct gemm_args g = p->all;
        g.batch = 1;
        g.workspace += thread * p->own_bytes;
        g.a += s->in_bytes * matrix * g.stride_a;
        g.b += s->in_bytes * matrix * g.stride_b;
        g.c += s->out_bytes * matrix * g.stride_c;
        take_part(&g, s, p->by_columns != 0, from * tile, count * tile);
        gemm_run(0, &g);
        at += count;
    }
}
