/* gemm of several threads: each computes a part of c by the product of one core (gemm.c), with panels in memory of its own. Parts
 * are made of whole tiles, so that every element is summed as one core would. */
#include "units/amx/kernels/gemm.h"

/* ORDER: amx_kernel_gemm.c. */
struct product {
    struct gemm_args all;
    uint64_t own_bytes; /* of each thread's workspace */
    uint64_t bands;     /* of columns, as wide as one another, each with all rows of tiles; 0 = parts are columns of tiles */
};
void amx_gemm(const struct product *p, uint64_t first, uint64_t end, uint64_t thread);

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t parts_of(uint64_t count, uint64_t size)
{
    return (count + size - 1) / size;
}

/* Narrows the product to so many columns of b and c. */
static void take_columns(struct gemm_args *g, const struct gemm_shape *s, uint64_t from, uint64_t count)
{
    g->n = (uint32_t)least(count, g->n - from);
    g->b += s->in_bytes * (g->transpose_b ? from * g->ldb : from);
    g->c += s->out_bytes * from;
}

/* Narrows it to so many rows of a and c. */
static void take_rows(struct gemm_args *g, const struct gemm_shape *s, uint64_t from, uint64_t count)
{
    g->m = (uint32_t)least(count, g->m - from);
    g->a += s->in_bytes * (g->transpose_a ? from : from * g->lda);
    g->c += s->out_bytes * from * g->ldc;
}

/* Items are columns of tiles of all products, or rows of tiles of all bands of all products. */
void amx_gemm(const struct product *p, uint64_t first, uint64_t end, uint64_t thread)
{
    const struct gemm_shape *const s = gemm_shape_of((enum gemm_kind)p->all.kind);
    const uint64_t columns = parts_of(p->all.n, s->tile_n), bands = p->bands ? p->bands : 1;
    const uint64_t tiles = p->bands ? parts_of(p->all.m, s->tile_m) : columns, wide = parts_of(columns, bands) * s->tile_n;
    for (uint64_t at = first; at < end;) {
        const uint64_t matrix = at / tiles / bands, band = at / tiles % bands, from = at % tiles,
                       count = least(tiles - from, end - at);
        struct gemm_args g = p->all;
        g.batch = 1;
        g.workspace += thread * p->own_bytes;
        g.a += s->in_bytes * matrix * g.stride_a;
        g.b += s->in_bytes * matrix * g.stride_b;
        g.c += s->out_bytes * matrix * g.stride_c;
        if (p->bands) {
            take_columns(&g, s, band * wide, wide);
            take_rows(&g, s, from * s->tile_m, count * s->tile_m);
        } else {
            take_columns(&g, s, from * s->tile_n, count * s->tile_n);
        }
        gemm_run(0, &g);
        at += count;
    }
}
