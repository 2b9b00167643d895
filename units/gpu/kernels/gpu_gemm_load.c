/* Moves operands of gemm from device memory through registers into threadgroup memory. */
#include "units/gpu/kernels/gpu_gemm_tile.h"

/* ---- from device memory into registers ---- */

static unsigned staged_half(const struct gemm_tile *t, const struct gemm_operand *o, unsigned pass, unsigned element)
{
    return o->staged + pass * t->four_halves + element * t->four_halves / GEMM_FOUR;
}

/* Loads element by element, as far as `place` + element < `end`. */
static void load_some(struct gemm_tile *t, const struct gemm_operand *o, unsigned slot, unsigned pass, unsigned place,
                      uint32_t end)
{
    struct gpu_emit *e = t->e;
    const unsigned at = gpu_register(e, 1);
    for (unsigned j = 0; j + 1 < GEMM_FOUR; j++) {
        gpu_add_imm(e, at, place, j);
        gpu_if(e, "ult", gpu_r(e, at), gpu_int(e, end));
        gpu_add_imm(e, at, o->index[pass], j);
        gpu_load_raw(e, slot, t->g->type, 1, staged_half(t, o, pass, j), o->base, gpu_r(e, at));
        gpu_endif(e);
    }
    gpu_register_free(e, at, 1);
}

/* Loads all four when they lie before `end`, otherwise those that do. */
static void load_cut(struct gemm_tile *t, const struct gemm_operand *o, unsigned slot, unsigned pass, unsigned place,
                     uint32_t end)
{
    struct gpu_emit *e = t->e;
    const unsigned last = gpu_register(e, 1);
    gpu_add_imm(e, last, place, GEMM_FOUR - 1);
    gpu_if(e, "ult", gpu_r(e, last), gpu_int(e, end));
    gpu_load_raw(e, slot, t->g->type, GEMM_FOUR, staged_half(t, o, pass, 0), o->base, gpu_r(e, o->index[pass]));
    if (end % GEMM_FOUR) {
        gpu_else(e);
        gpu_wait(e, slot); /* the other lanes' loads use these registers, too */
        load_some(t, o, slot, pass, place, end);
    }
    gpu_endif(e);
    gpu_register_free(e, last, 1);
}

static void load_block_pass(struct gemm_tile *t, const struct gemm_operand *o, unsigned slot, unsigned pass)
{
    if (!o->cut) {
        gpu_load_raw(t->e, slot, t->g->type, GEMM_FOUR, staged_half(t, o, pass, 0), o->base, gpu_r(t->e, o->index[pass]));
        return;
    }
    const unsigned place = gpu_register(t->e, 1);
    gpu_add_imm(t->e, place, o->edge, gemm_pass_inner(o, pass));
    load_cut(t, o, slot, pass, place, o->extent);
    gpu_register_free(t->e, place, 1);
}

unsigned gemm_passes(const struct gemm_tile *t)
{
    return t->a.passes + t->b.passes;
}

/* A uses scoreboard slot 0, B slot 1. */
void gemm_load_pass(struct gemm_tile *t, unsigned pass)
{
    if (pass < t->a.passes)
        load_block_pass(t, &t->a, 0, pass);
    else
        load_block_pass(t, &t->b, 1, pass - t->a.passes);
}

static void advance_block(struct gemm_tile *t, const struct gemm_operand *o)
{
    const char *base = gpu_run(t->e, o->base.number, 2);
    gpu_emit(t->e, "iadd %s, %s, %s", base, base, gpu_int(t->e, gemm_advance_elements(t, o) * gemm_element_bytes(t->g)));
}

void gemm_advance(struct gemm_tile *t)
{
    advance_block(t, &t->a);
    advance_block(t, &t->b);
}

void gemm_load_step(struct gemm_tile *t)
{
    for (unsigned p = 0; p < gemm_passes(t); p++)
        gemm_load_pass(t, p);
    gemm_advance(t);
}

/* ---- the rest of k ---- */

static void load_rest_block(struct gemm_tile *t, const struct gemm_operand *o, unsigned slot)
{
    struct gpu_emit *e = t->e;
    const unsigned four = gpu_register(e, 1), line = gpu_register(e, 1);
    gpu_clear_words(e, o->staged / 2, o->passes * t->four_halves / 2);
    gemm_thread_place(e, o, four, line);
    for (unsigned p = 0; p < o->passes; p++) {
        if (o->k_inner) {
            load_cut(t, o, slot, p, four, gemm_rest_of_k(t->g));
            continue;
        }
        gpu_add_imm(e, four, line, gemm_pass_line(o, p));
        gpu_if(e, "ult", gpu_r(e, four), gpu_int(e, gemm_rest_of_k(t->g)));
        load_block_pass(t, o, slot, p);
        gpu_endif(e);
    }
    gpu_register_free(e, four, 1);
    gpu_register_free(e, line, 1);
}

void gemm_load_rest(struct gemm_tile *t)
{
    load_rest_block(t, &t->a, 0);
    load_rest_block(t, &t->b, 1);
}

/* ---- into threadgroup memory ---- */

/* In threadgroup memory whole fours of 16-bit elements move as two words, because their places are even. */
static void put_block(struct gemm_tile *t, const struct gemm_operand *o, unsigned buffer)
{
    for (unsigned p = 0; p < o->passes; p++) {
        const uint32_t place = gemm_line_place(o, gemm_pass_line(o, p)) + gemm_pass_inner(o, p);
        const uint32_t at = o->address[buffer] + place * gemm_element_bytes(t->g);
        gpu_group_store_raw(t->e, GPU_F32, t->four_halves / 2, staged_half(t, o, p, 0), gpu_argument_u16(t->e, (uint16_t)at),
                            gpu_h(t->e, o->put));
    }
}

void gemm_put_step(struct gemm_tile *t, unsigned buffer)
{
    gpu_wait(t->e, 0);
    put_block(t, &t->a, buffer);
    gpu_wait(t->e, 1);
    put_block(t, &t->b, buffer);
}
