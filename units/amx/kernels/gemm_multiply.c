/* The products of a tile, wherever its operands are: in panels, in the matrix, or to be transposed on the way. */
#include "units/amx/kernels/gemm_run.h"

/* The lines of a side for the k from k0 on; those that are made piece by piece are made now. */
static struct gemm_lines lines_of(const struct gemm_run *r, const struct gemm_side *s, uint64_t pieces_at, uint32_t k0,
                                  uint32_t k)
{
    struct gemm_lines lines = s->lines;
    if (!s->in_pieces) {
        lines.at += k0 * lines.step_bytes;
        return lines;
    }
    const uint32_t size = s->source.element_bytes, piece = PIECE_BYTES / (s->width * size);
    const uint64_t place_of = k0 / piece % PIECES * PIECE_BYTES;
    struct pack_source source = s->source;
    source.base = (const uint8_t *)source.base + (uint64_t)k0 * size;
    gemm_pack_panel(r->ctx, r->workspace + pieces_at + place_of, &source, s->width, s->valid, k, k);
    lines.at += place_of;
    return lines;
}

/* The unit turns sides whose vectors lie in one piece where Z has room for that. Returns how many k it has done. */
static uint32_t multiply_turned(const struct gemm_run *r, const struct gemm_part *t, int keep)
{
    const struct gemm_side *const side[2] = {&t->a, &t->b};
    const uint32_t k = t->k / GEMM_TURN_K * GEMM_TURN_K;
    struct gemm_turned turned[2] = {{0, 0, 0}, {0, 0, 0}};
    if ((!t->a.in_pieces && !t->b.in_pieces) || !gemm_can_turn(r->plan.form, t->a.in_pieces, t->b.in_pieces) || k == 0)
        return 0;
    for (unsigned i = 0; i < 2; i++)
        if (side[i]->in_pieces)
            turned[i] = (struct gemm_turned){AMX_ADDRESS(r->ctx, side[i]->source.base),
                                             side[i]->source.stride * side[i]->source.element_bytes, side[i]->valid};
    gemm_tile_turned(r->ctx, r->plan.form, t->a.lines, t->b.lines, turned, k, keep);
    return k;
}

static void multiply_form(const struct gemm_run *r, const struct gemm_part *t, int keep)
{
    const uint32_t widest = t->a.in_pieces && (!t->b.in_pieces || t->a.width > t->b.width) ? t->a.width : t->b.width;
    const uint32_t step = t->a.in_pieces || t->b.in_pieces ? PIECE_BYTES / (widest * r->plan.shape->in_bytes) : t->k;
    for (uint32_t k0 = multiply_turned(r, t, keep); k0 < t->k; k0 += step) {
        const uint32_t k = step < t->k - k0 ? step : t->k - k0;
        const struct gemm_lines a = lines_of(r, &t->a, r->plan.a_at, k0, k), b = lines_of(r, &t->b, r->plan.b_at, k0, k);
        gemm_tile_form(r->ctx, r->plan.form, a, b, k, keep || k0, (int)r->args->quad_loads);
    }
}

/* Two panels of the kind's own shape have a loop of their own, which pads k and reads beyond it. */
void gemm_multiply(const struct gemm_run *r, const struct gemm_part *t, int keep)
{
    const int square = r->plan.form.x == 2 && r->plan.form.y == 2;
    if (gemm_is_f32(r) && (!square || t->direct || t->a.in_pieces || t->b.in_pieces))
        multiply_form(r, t, keep);
    else
        gemm_tile(r->ctx, (enum gemm_kind)r->args->kind, t->a.lines.at, t->b.lines.at, t->k_padded, keep,
                  (int)r->args->quad_loads);
}
