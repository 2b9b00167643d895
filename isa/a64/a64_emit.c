#include "isa/a64/a64_emit.h"

#include "isa/list_grow.h"
#include "isa/amx/amx_isa.h"

#include <stdlib.h>

void emit_free(struct emit *e)
{
    free(e->word);
    *e = (struct emit){0};
}

void emit_word(struct emit *e, uint32_t word)
{
    uint32_t *const grown = e->failed ? NULL : list_grow(e->word, e->count, &e->room, sizeof *grown);
    if (!grown) {
        e->failed = true;
        return;
    }
    e->word = grown;
    e->word[e->count++] = word;
}

void emit_repeat(struct emit *e, uint32_t word, unsigned times)
{
    while (times--)
        emit_word(e, word);
}

void emit_constant(struct emit *e, unsigned x, uint64_t value)
{
    emit_word(e, UINT32_C(0xd2800000) | (uint32_t)(value & 0xffff) << 5 | x);
    for (unsigned half = 1; half < 4; half++) {
        const uint32_t bits = value >> 16 * half & 0xffff;
        if (bits)
            emit_word(e, UINT32_C(0xf2800000) | half << 21 | bits << 5 | x);
    }
}

void emit_amx(struct emit *e, unsigned op, unsigned x)
{
    emit_word(e, amx_encode(op, x));
}

void emit_amx_enable(struct emit *e, bool enable)
{
    emit_word(e, amx_encode(AMX_SETCLR, enable ? 0 : 1));
}

void emit_add(struct emit *e, unsigned xd, unsigned xn, unsigned imm)
{
    if (imm >= 4096)
        emit_word(e, UINT32_C(0x91400000) | imm >> 12 << 10 | xn << 5 | xd);
    if (imm < 4096 || imm & 4095)
        emit_word(e, UINT32_C(0x91000000) | (imm & 4095) << 10 | (imm >= 4096 ? xd : xn) << 5 | xd);
}

size_t emit_loop(struct emit *e, unsigned x, uint64_t times)
{
    emit_constant(e, x, times);
    return e->count;
}

void emit_loop_end(struct emit *e, unsigned x, size_t top)
{
    emit_word(e, UINT32_C(0xf1000400) | x << 5 | x); /* subs x, x, #1 */
    const uint32_t back = (uint32_t)((int64_t)top - (int64_t)e->count) & 0x7ffff;
    emit_word(e, UINT32_C(0x54000001) | back << 5); /* b.ne */
}

void emit_ldr_x(struct emit *e, unsigned xt, unsigned xn, unsigned offset)
{
    emit_word(e, UINT32_C(0xf9400000) | offset / 8 << 10 | xn << 5 | xt);
}

void emit_str_x(struct emit *e, unsigned xt, unsigned xn, unsigned offset)
{
    emit_word(e, UINT32_C(0xf9000000) | offset / 8 << 10 | xn << 5 | xt);
}

static uint32_t pair(uint32_t base, unsigned vt, unsigned xn, int offset)
{
    return base | ((uint32_t)(offset / 16) & 0x7f) << 15 | (vt + 1) << 10 | xn << 5 | vt;
}

void emit_ldp_q(struct emit *e, unsigned vt, unsigned xn, int offset)
{
    emit_word(e, pair(UINT32_C(0xad400000), vt, xn, offset));
}

void emit_stp_q(struct emit *e, unsigned vt, unsigned xn, int offset)
{
    emit_word(e, pair(UINT32_C(0xad000000), vt, xn, offset));
}

void emit_exit(struct emit *e)
{
    emit_constant(e, 0, 0);
    emit_constant(e, 8, 93);
    emit_word(e, UINT32_C(0xd4000001)); /* svc #0 */
}
