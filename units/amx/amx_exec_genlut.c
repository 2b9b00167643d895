/* genlut: table lookup and its inverse (github corsix/amx genlut.md and the tested model genlut.c). */
#include "units/amx/amx_exec_decode.h"

static uint8_t *pool(const struct amx_regs *regs, bool y)
{
    return y ? regs->y : regs->x;
}

static uint8_t *target(const struct amx_regs *regs, const struct amx_genlut *g)
{
    return g->to_z ? regs->z[g->target] : pool(regs, g->to_y) + AMX_ROW_BYTES * g->target;
}

static void run_lookup(const struct amx_regs *regs, const struct amx_decoded *d)
{
    const struct amx_genlut *g = &d->genlut;
    uint8_t span[AMX_ROW_BYTES];
    amx_fetch(pool(regs, g->source_y), g->offset, span);
    amx_lookup(span, pool(regs, g->table_y) + AMX_ROW_BYTES * g->table, g->index_bits, g->bytes);
    memcpy(target(regs, g), span, sizeof span);
}

static bool greater(const struct amx_genlut *g, uint64_t a, uint64_t b)
{
    if (!g->is_float)
        return amx_extend(a, g->bytes, g->is_signed) > amx_extend(b, g->bytes, g->is_signed);
    switch (g->fp) {
    case AMX_FP_F16: return amx_fp_greater(AMX_FP_F16, a, b);
    case AMX_FP_BF16: return amx_fp_greater(AMX_FP_BF16, a, b);
    case AMX_FP_F32: return amx_fp_greater(AMX_FP_F32, a, b);
    default: return amx_fp_greater(AMX_FP_F64, a, b);
    }
}

/* One less than the first table lane above `value` (the table need not be sorted). */
static unsigned generate_index(const struct amx_genlut *g, const uint8_t *table, uint64_t value)
{
    const unsigned lanes = AMX_ROW_BYTES / g->bytes;
    unsigned v = 0;
    while (v < lanes && !greater(g, amx_load_lane(table + v * g->bytes, g->bytes), value))
        v++;
    return (v - 1) & (lanes - 1);
}

static void run_generate(const struct amx_regs *regs, const struct amx_decoded *d)
{
    const struct amx_genlut *g = &d->genlut;
    const uint8_t *table = pool(regs, g->table_y) + AMX_ROW_BYTES * g->table;
    uint8_t span[AMX_ROW_BYTES], out[AMX_ROW_BYTES + 1] = {0};
    amx_fetch(pool(regs, g->source_y), g->offset, span);
    for (unsigned k = 0; k < AMX_ROW_BYTES / g->bytes; k++) {
        const unsigned index = generate_index(g, table, amx_load_lane(span + k * g->bytes, g->bytes));
        const unsigned bit = k * g->index_bits;
        const unsigned shifted = index << (bit % 8);
        out[bit / 8] |= (uint8_t)shifted;
        out[bit / 8 + 1] |= (uint8_t)(shifted >> 8);
    }
    memcpy(target(regs, g), out, AMX_ROW_BYTES);
}

static void decode_generate(struct amx_genlut *g, unsigned mode, bool bf16)
{
    static const uint8_t bytes[7] = {4, 2, 8, 4, 2, 4, 2};
    static const uint8_t index_bits[7] = {4, 5, 4, 4, 5, 4, 5};
    g->generate = true;
    g->bytes = bytes[mode];
    g->index_bits = index_bits[mode];
    g->is_float = mode <= 2;
    g->is_signed = mode == 3 || mode == 4;
    g->fp = mode == 0 ? AMX_FP_F32 : mode == 2 ? AMX_FP_F64 : bf16 ? AMX_FP_BF16 : AMX_FP_F16;
}

static void decode_lookup(struct amx_genlut *g, unsigned mode)
{
    static const uint8_t bytes[9] = {4, 2, 1, 8, 4, 2, 1, 2, 1};
    static const uint8_t index_bits[9] = {2, 2, 2, 4, 4, 4, 4, 5, 5};
    g->bytes = bytes[mode - 7];
    g->index_bits = index_bits[mode - 7];
}

void amx_decode_genlut(struct amx_decoded *d, enum amx_gen gen)
{
    struct amx_genlut *g = &d->genlut;
    const unsigned mode = amx_field(d->operand, 53, 4);
    g->offset = (uint16_t)amx_field(d->operand, 0, 9);
    g->source_y = amx_bit(d->operand, 10);
    g->to_y = amx_bit(d->operand, 25);
    g->table_y = amx_bit(d->operand, 59);
    g->table = (uint8_t)amx_field(d->operand, 60, 3);
    g->target = (uint8_t)amx_field(d->operand, 20, 3);
    if (mode <= 6) {
        decode_generate(g, mode, amx_bit(d->operand, 30) && gen >= AMX_GEN_M2);
        d->run = run_generate;
        return;
    }
    decode_lookup(g, mode);
    g->to_z = amx_bit(d->operand, 26);
    if (g->to_z)
        g->target = (uint8_t)amx_field(d->operand, 20, 6);
    d->run = run_lookup;
}
