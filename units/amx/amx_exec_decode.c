#include "units/amx/amx_exec_decode.h"

void amx_decode(struct amx_decoded *d, unsigned op, uint64_t operand, enum amx_gen gen)
{
    memset(d, 0, sizeof *d);
    d->op = (uint8_t)op;
    d->operand = operand;
    d->filled = true;
    d->iterations = 1;
    switch (op) {
    case AMX_EXTRX:
    case AMX_EXTRY: amx_decode_extr(d, gen); break;
    case AMX_MAC16: amx_decode_mac16(d, gen); break;
    case AMX_VECINT: amx_decode_vecint(d, gen); break;
    case AMX_VECFP: amx_decode_vecfp(d, gen); break;
    case AMX_MATINT: amx_decode_matint(d, gen); break;
    case AMX_MATFP: amx_decode_matfp(d, gen); break;
    case AMX_GENLUT: amx_decode_genlut(d, gen); break;
    default: amx_decode_fma(d, gen); break;
    }
}

static void decode_indexed(struct amx_decoded *d)
{
    struct amx_input *in = amx_bit(d->operand, 47) ? &d->y : &d->x;
    in->index_bits = amx_bit(d->operand, 48) ? 4 : 2;
    in->table = (uint8_t)amx_field(d->operand, 49, 3);
}

void amx_decode_inputs(struct amx_decoded *d)
{
    d->y.offset = (uint16_t)amx_field(d->operand, 0, 9);
    d->x.offset = (uint16_t)amx_field(d->operand, 10, 9);
    d->y.shuffle = (uint8_t)amx_field(d->operand, 27, 2);
    d->x.shuffle = (uint8_t)amx_field(d->operand, 29, 2);
    if (amx_is_indexed(d->operand))
        decode_indexed(d);
}

/* Bytes by which an input advances per iteration of a repeat form. */
static unsigned repeat_step(const struct amx_input *in)
{
    return in->index_bits ? 8u * in->index_bits / in->bytes : 64;
}

/* M4 rounds offsets of repeat forms down. `rows` is the number of Z rows per iteration (16 or 32). */
static unsigned round_offset(const struct amx_input *in, bool broadcast_by_mode, unsigned rows)
{
    unsigned unit = 64;
    if (in->index_bits) {
        const unsigned block = 512u * in->index_bits / (in->bytes * rows); /* index bytes of all iterations */
        unit = block < 64 ? block : 64;
    } else if (broadcast_by_mode) {
        unit = in->bytes;
    }
    return in->offset & ~(unit - 1);
}

static void decode_repeat(struct amx_decoded *d, enum amx_gen gen)
{
    const unsigned mode = amx_field(d->operand, 32, 3);
    const bool four = amx_bit(d->operand, 25);
    d->iterations = four ? 4 : 2;
    d->row_step = four ? 16 : 32;
    d->z_row = (uint8_t)(d->z_row % d->row_step);
    if (gen >= AMX_GEN_M4) {
        d->x.offset = (uint16_t)round_offset(&d->x, mode == 6, d->row_step);
        d->y.offset = (uint16_t)round_offset(&d->y, mode == 7, d->row_step);
    }
    d->x.step = (uint16_t)(mode == 2 || mode == 6 ? 0 : repeat_step(&d->x));
    d->y.step = (uint16_t)(mode == 3 || mode == 7 ? 0 : repeat_step(&d->y));
    d->write_zero = mode == 1;
    d->x.zero = mode == 4;
    d->y.zero = mode == 5;
    d->x.broadcast = mode == 6;
    d->y.broadcast = mode == 7;
}

void amx_decode_vector_control(struct amx_decoded *d, enum amx_gen gen, unsigned n_bits)
{
    const unsigned x_lanes = AMX_ROW_BYTES / d->x.bytes, y_lanes = AMX_ROW_BYTES / d->y.bytes;
    d->z_row = (uint8_t)amx_field(d->operand, 20, 6);
    d->x_mask = amx_all_lanes(x_lanes);
    d->y_mask = amx_all_lanes(y_lanes);
    if (amx_bit(d->operand, 31) && gen >= AMX_GEN_M2) {
        decode_repeat(d, gen);
        return;
    }
    const unsigned mode = amx_field(d->operand, 38, 3);
    const unsigned n = amx_field(d->operand, 32, n_bits);
    if (mode == 1) {
        d->y.broadcast = true;
        d->y.broadcast_lane = (uint8_t)(n % y_lanes);
        return;
    }
    d->write_zero = mode == 0 && n == 3;
    d->x.zero = mode == 0 && n == 4;
    d->y.zero = mode == 0 && n == 5;
    d->x_mask = amx_mask_long(mode, n, x_lanes);
    d->y_mask = amx_mask_long(mode, n, y_lanes);
}

void amx_input_fetch(const uint8_t *pool, const struct amx_input *in, unsigned iteration, uint8_t out[AMX_ROW_BYTES])
{
    if (in->zero) {
        memset(out, 0, AMX_ROW_BYTES);
        return;
    }
    amx_fetch(pool, in->offset + iteration * in->step, out);
    if (in->index_bits)
        amx_lookup(out, pool + AMX_ROW_BYTES * in->table, in->index_bits, in->bytes);
    amx_shuffle(out, in->shuffle, in->bytes);
    if (in->broadcast)
        amx_broadcast(out, in->broadcast_lane, in->bytes);
}
