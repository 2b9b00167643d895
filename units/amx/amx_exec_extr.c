/* extrh, extrv, extrx, extry: Z to X or Y, and between X and Y (github corsix/amx extr_x.md, extr_y.md, extr_h.md,
 * extr_v.md and the tested model extr.c). */
#include "units/amx/amx_exec_decode.h"

static void run_register_copy(const struct amx_regs *regs, const struct amx_decoded *d)
{
    const struct amx_extract *e = &d->extract;
    uint8_t *to = e->to_y ? regs->y : regs->x;
    const uint8_t *from = e->to_y ? regs->x : regs->y;
    memcpy(to + AMX_ROW_BYTES * e->target, from + AMX_ROW_BYTES * e->source, AMX_ROW_BYTES);
}

/* Returns the Z element for the destination lane at byte b; c is the row or column number. */
static const uint8_t *source_element(const struct amx_regs *regs, const struct amx_extract *e, unsigned b, unsigned c)
{
    const unsigned cell = e->z_bytes - 1u;
    const unsigned sub = (b & cell) / e->bytes * e->step;
    const unsigned inner = (c + sub) & cell; /* wraps inside the cell of z_bytes rows */
    if (e->column)
        return regs->z[(b & ~cell) | inner] + (c & ~cell);
    return regs->z[(c & ~cell) | inner] + (b & ~cell);
}

static uint64_t convert(const struct amx_decoded *d, const uint8_t *element)
{
    const struct amx_extract *e = &d->extract;
    const uint64_t bits = amx_load_lane(element, e->z_bytes);
    switch (e->convert) {
    case AMX_EXTRACT_INT: return (uint64_t)amx_narrow_value(amx_extend(bits, e->z_bytes, d->narrow.signed_input), &d->narrow);
    case AMX_EXTRACT_F16: return amx_fp_round(AMX_FP_F16, (double)f32_of_bits((uint32_t)bits));
    case AMX_EXTRACT_BF16: return amx_fp_round(AMX_FP_BF16, (double)f32_of_bits((uint32_t)bits));
    default: return bits;
    }
}

static void gather(const struct amx_regs *regs, const struct amx_decoded *d, unsigned c, uint8_t out[AMX_ROW_BYTES])
{
    const struct amx_extract *e = &d->extract;
    if (e->convert == AMX_EXTRACT_COPY && !e->column) {
        memcpy(out, regs->z[c], AMX_ROW_BYTES);
        return;
    }
    for (unsigned b = 0; b < AMX_ROW_BYTES; b += e->bytes)
        amx_store_lane(out + b, convert(d, source_element(regs, e, b, c)), e->bytes);
}

static void put(uint8_t *pool, unsigned offset, const uint8_t lanes[AMX_ROW_BYTES], const struct amx_decoded *d)
{
    const struct amx_extract *e = &d->extract;
    const bool whole = d->x_mask == amx_all_lanes(AMX_ROW_BYTES / e->bytes) && !e->odd_bytes_kept;
    if (whole && offset <= AMX_POOL_BYTES - AMX_ROW_BYTES) {
        memcpy(pool + offset, lanes, AMX_ROW_BYTES);
        return;
    }
    for (unsigned b = 0; b < AMX_ROW_BYTES; b++)
        if ((d->x_mask >> (b / e->bytes) & 1) && !(e->odd_bytes_kept && (b & 1)))
            pool[(offset + b) % AMX_POOL_BYTES] = lanes[b];
}

static void run_extract(const struct amx_regs *regs, const struct amx_decoded *d)
{
    const struct amx_extract *e = &d->extract;
    for (unsigned q = 0; q < d->iterations; q++) {
        uint8_t lanes[AMX_ROW_BYTES] = {0};
        if (!d->write_zero)
            gather(regs, d, d->z_row + q * d->row_step, lanes);
        put(e->to_y ? regs->y : regs->x, (e->offset + q * AMX_ROW_BYTES) % AMX_POOL_BYTES, lanes, d);
    }
}

static void decode_short(struct amx_decoded *d)
{
    static const uint8_t lane_bytes[4] = {8, 4, 2, 2};
    struct amx_extract *e = &d->extract;
    const unsigned mode = amx_field(d->operand, 28, 2);
    e->column = e->to_y = d->op == AMX_EXTRY;
    e->bytes = e->z_bytes = lane_bytes[mode];
    e->odd_bytes_kept = mode == 3;
    e->offset = (uint16_t)(e->column ? amx_field(d->operand, 0, 9) : amx_field(d->operand, 10, 9));
    const unsigned mask = e->column ? amx_field(d->operand, 32, 7) : amx_field(d->operand, 41, 7);
    d->x_mask = amx_mask_short(mask >> 5, mask & 31, AMX_ROW_BYTES / e->bytes);
}

static void set_lanes(struct amx_extract *e, unsigned bytes, unsigned z_bytes, unsigned step)
{
    e->bytes = (uint8_t)bytes;
    e->z_bytes = (uint8_t)z_bytes;
    e->step = (uint8_t)step;
}

static void integer_lanes(struct amx_decoded *d)
{
    struct amx_extract *e = &d->extract;
    e->convert = AMX_EXTRACT_INT;
    switch (amx_field(d->operand, 11, 4)) {
    case 9: set_lanes(e, 2, 4, 1); break;
    case 10: set_lanes(e, 2, 4, 2); break;
    case 11: set_lanes(e, 1, 4, 1); break;
    case 13: set_lanes(e, 1, 2, 1); break;
    case 0:
        set_lanes(e, 1, 1, 0);
        e->convert = AMX_EXTRACT_COPY;
        break;
    case 8:
        set_lanes(e, 4, 4, 0);
        e->convert = AMX_EXTRACT_COPY;
        break;
    default:
        set_lanes(e, 2, 2, 0);
        e->convert = AMX_EXTRACT_COPY;
        break;
    }
    d->narrow = (struct amx_narrow){.shift = (uint8_t)amx_field(d->operand, 58, 5),
                                    .round = amx_bit(d->operand, 54),
                                    .saturate = amx_bit(d->operand, 55),
                                    .signed_range = amx_bit(d->operand, 56),
                                    .signed_input = amx_bit(d->operand, 57),
                                    .bits = (uint8_t)(8 * e->bytes)};
}

static void float_lanes(struct amx_decoded *d, enum amx_gen gen)
{
    struct amx_extract *e = &d->extract;
    const unsigned mode = amx_field(d->operand, 11, 4);
    if ((mode == 9 || mode == 10) && gen >= AMX_GEN_M2) {
        set_lanes(e, 2, 4, mode - 8);
        e->convert = amx_bit(d->operand, 62) ? AMX_EXTRACT_BF16 : AMX_EXTRACT_F16;
        return;
    }
    const unsigned bytes = mode == 1 ? 8 : mode == 8 ? 4 : 2;
    set_lanes(e, bytes, bytes, 0);
}

static void decode_long(struct amx_decoded *d, enum amx_gen gen)
{
    struct amx_extract *e = &d->extract;
    e->column = d->op == AMX_EXTRY;
    e->to_y = amx_bit(d->operand, 10);
    e->offset = (uint16_t)amx_field(d->operand, 0, 9);
    if (amx_bit(d->operand, 63))
        float_lanes(d, gen);
    else
        integer_lanes(d);
    unsigned mode = amx_field(d->operand, 38, 3), n = amx_field(d->operand, 32, 6);
    if (amx_bit(d->operand, 31) && gen >= AMX_GEN_M2) {
        const bool four = amx_bit(d->operand, 25);
        d->iterations = four ? 4 : 2;
        d->row_step = four ? 16 : 32;
        d->z_row = (uint8_t)(d->z_row % d->row_step);
        mode = n = 0;
        if (gen >= AMX_GEN_M4)
            e->offset &= (uint16_t)~63u;
    }
    d->x_mask = amx_mask_long(mode, n, AMX_ROW_BYTES / e->bytes);
    d->write_zero = mode == 0 && n == 3;
}

void amx_decode_extr(struct amx_decoded *d, enum amx_gen gen)
{
    struct amx_extract *e = &d->extract;
    d->z_row = (uint8_t)amx_field(d->operand, 20, 6);
    d->run = run_extract;
    if (amx_bit(d->operand, 26)) {
        decode_long(d, gen);
    } else if (amx_bit(d->operand, 27)) {
        e->whole_register = true;
        e->to_y = d->op == AMX_EXTRY;
        e->source = (uint8_t)amx_field(d->operand, 20, 3);
        e->target = (uint8_t)(e->to_y ? amx_field(d->operand, 6, 3) : amx_field(d->operand, 16, 3));
        d->run = run_register_copy;
    } else {
        decode_short(d);
    }
}
