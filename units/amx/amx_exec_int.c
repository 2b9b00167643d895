/* Integer multiply-accumulate on pools and Z: mac16, vecint, matint (github corsix/amx mac16.md, vecint.md, matint.md
 * and their tested models). Values are held in 64 bits and stored truncated. */
#include "units/amx/amx_exec_decode.h"

static int64_t saturate16(int64_t value)
{
    return value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value;
}

/* x*y rounded to the product's bits from 15 up, as a fixed-point fraction. */
static int64_t high_product(int64_t x, int64_t y)
{
    return (x * y + (1 << 14)) >> 15;
}

/* The ALU modes that combine z with x and y; z is sign-extended. Sums cannot overflow: |x*y| < 2^33. */
static int64_t combine(const struct amx_decoded *d, int64_t x, int64_t y, int64_t z)
{
    switch (d->alu) {
    case AMX_INT_ADD_MUL:
    case AMX_INT_BYTES: return z + ((x * y) >> d->shift);
    case AMX_INT_SUB_MUL: return z - ((x * y) >> d->shift);
    case AMX_INT_ADD_SUM: return z + ((x + y) >> d->shift);
    case AMX_INT_SUB_SUM: return z - ((x + y) >> d->shift);
    case AMX_INT_ADD_MULH: return saturate16(z + high_product(x, y));
    case AMX_INT_SUB_MULH: return saturate16(z - high_product(x, y));
    case AMX_INT_MUL: return (x * y) >> d->shift;
    case AMX_INT_ADD_X: return z + (x >> d->shift);
    case AMX_INT_ADD_Y: return z + (y >> d->shift);
    default: /* AMX_INT_XNOR_COUNT */ return z + __builtin_popcountll(~(uint64_t)(x ^ y) & amx_all_lanes(8u * d->x.bytes));
    }
}

static void update(const struct amx_decoded *d, uint8_t *element, int64_t x, int64_t y)
{
    const int64_t z = amx_extend(amx_load_lane(element, d->z_bytes), d->z_bytes, true);
    amx_store_lane(element, d->write_zero ? 0 : (uint64_t)combine(d, x, y, z), d->z_bytes);
}

static int64_t lane_at(const uint8_t span[AMX_ROW_BYTES], const struct amx_input *in, unsigned byte)
{
    return amx_extend(amx_load_lane(span + (byte & ~(in->bytes - 1u)), in->bytes), in->bytes, in->is_signed);
}

/* The in-place modes: they shift, round and saturate an element of Z. */
static void narrow_element(const struct amx_decoded *d, uint8_t *element)
{
    const int64_t v = amx_extend(amx_load_lane(element, d->z_bytes), d->z_bytes, d->narrow.signed_input);
    amx_store_lane(element, d->write_zero ? 0 : (uint64_t)amx_narrow_value(v, &d->narrow), d->z_bytes);
}

static void decode_signs(struct amx_decoded *d)
{
    d->x.is_signed = amx_bit(d->operand, 63);
    d->y.is_signed = amx_bit(d->operand, 26);
    d->shift = (uint8_t)amx_field(d->operand, 58, 5);
}

/* Decodes the fields of the in-place modes; z_bytes and the saturation bits depend on the lane mode. */
static void decode_narrow(struct amx_decoded *d, unsigned z_bytes, unsigned saturation_bits)
{
    d->z_bytes = (uint8_t)z_bytes;
    d->narrow = (struct amx_narrow){.shift = (uint8_t)amx_field(d->operand, 58, 5),
                                    .round = amx_bit(d->operand, 29),
                                    .saturate = amx_bit(d->operand, 30),
                                    .signed_range = amx_bit(d->operand, 26),
                                    .signed_input = amx_bit(d->operand, 63),
                                    .bits = (uint8_t)saturation_bits};
}

/* --- vecint --- */

static bool position_enabled(const struct amx_decoded *d, unsigned byte)
{
    return (d->x_mask >> (byte / d->x.bytes) & 1) && (d->y_mask >> (byte / d->y.bytes) & 1);
}

static void vector_row(const struct amx_regs *regs, const struct amx_decoded *d, unsigned row, const uint8_t x[AMX_ROW_BYTES],
                       const uint8_t y[AMX_ROW_BYTES])
{
    const unsigned step = d->x.bytes < d->y.bytes ? d->x.bytes : d->y.bytes;
    const unsigned row_mask = d->z_bytes / step - 1u;
    for (unsigned b = 0; b < AMX_ROW_BYTES; b += step) {
        if (!position_enabled(d, b))
            continue;
        uint8_t *element = regs->z[(row & ~row_mask) | ((b / step) & row_mask)] + (b & ~(d->z_bytes - 1u));
        update(d, element, lane_at(x, &d->x, b), lane_at(y, &d->y, b));
    }
}

static void run_vecint(const struct amx_regs *regs, const struct amx_decoded *d)
{
    uint8_t x[AMX_ROW_BYTES], y[AMX_ROW_BYTES];
    for (unsigned q = 0; q < d->iterations; q++) {
        amx_input_fetch(regs->x, &d->x, q, x);
        amx_input_fetch(regs->y, &d->y, q, y);
        vector_row(regs, d, d->z_row + q * d->row_step, x, y);
    }
}

static void run_vecint_narrow(const struct amx_regs *regs, const struct amx_decoded *d)
{
    for (unsigned q = 0; q < d->iterations; q++)
        for (uint64_t lanes = d->x_mask; lanes; lanes &= lanes - 1)
            narrow_element(d, regs->z[d->z_row + q * d->row_step] + (unsigned)__builtin_ctzll(lanes) * d->z_bytes);
}

static void set_widths(struct amx_decoded *d, unsigned x_bytes, unsigned y_bytes, unsigned z_bytes)
{
    d->x.bytes = (uint8_t)x_bytes;
    d->y.bytes = (uint8_t)y_bytes;
    d->z_bytes = (uint8_t)z_bytes;
}

static void vecint_widths(struct amx_decoded *d)
{
    if (d->alu == AMX_INT_ADD_MULH || d->alu == AMX_INT_SUB_MULH) {
        set_widths(d, 2, 2, 2);
        return;
    }
    switch (amx_field(d->operand, 42, 4)) {
    case 3: set_widths(d, 2, 2, 4); break;
    case 10: set_widths(d, 1, 1, 4); break;
    case 11: set_widths(d, 1, 1, 2); break;
    case 12: set_widths(d, 1, 2, 4); break;
    case 13: set_widths(d, 2, 1, 4); break;
    default: set_widths(d, 2, 2, 2); break;
    }
}

static void decode_vecint_narrow(struct amx_decoded *d, enum amx_gen gen)
{
    switch (amx_field(d->operand, 42, 4)) {
    case 3: decode_narrow(d, 4, 16); break;
    case 4: decode_narrow(d, 4, 32); break;
    case 9: decode_narrow(d, 1, 8); break;
    case 10: decode_narrow(d, 4, 8); break;
    case 11: decode_narrow(d, 2, 8); break;
    default: decode_narrow(d, 2, 16); break;
    }
    d->x.bytes = d->y.bytes = d->z_bytes; /* mask lanes are Z lanes */
    amx_decode_vector_control(d, gen, 6);
    d->run = run_vecint_narrow;
}

static bool vecint_alu_exists(unsigned alu, enum amx_gen gen)
{
    if (alu >= AMX_INT_MUL && alu <= AMX_INT_ADD_Y)
        return gen >= AMX_GEN_M2;
    return alu <= AMX_INT_SUB_MULH;
}

void amx_decode_vecint(struct amx_decoded *d, enum amx_gen gen)
{
    const bool indexed = amx_is_indexed(d->operand);
    d->alu = (uint8_t)(indexed ? AMX_INT_ADD_MUL : amx_field(d->operand, 47, 6));
    if (amx_field(d->operand, 54, 3) != 0 || !vecint_alu_exists(d->alu, gen))
        return;
    d->vector = true;
    if (d->alu == AMX_INT_NARROW) {
        decode_vecint_narrow(d, gen);
        return;
    }
    decode_signs(d);
    vecint_widths(d);
    amx_decode_inputs(d);
    amx_decode_vector_control(d, gen, 6);
    d->run = run_vecint;
}

/* --- matint --- */

static void run_matint(const struct amx_regs *regs, const struct amx_decoded *d)
{
    uint8_t x[AMX_ROW_BYTES], y[AMX_ROW_BYTES];
    const unsigned bytes = d->x.bytes;
    amx_input_fetch(regs->x, &d->x, 0, x);
    amx_input_fetch(regs->y, &d->y, 0, y);
    for (uint64_t rows = d->y_mask; rows; rows &= rows - 1) {
        const unsigned j = (unsigned)__builtin_ctzll(rows);
        const int64_t y_value = lane_at(y, &d->y, j * bytes);
        for (uint64_t columns = d->x_mask; columns; columns &= columns - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(columns);
            update(d, amx_matrix_element(regs, d, bytes, i, j), lane_at(x, &d->x, i * bytes), y_value);
        }
    }
}

/* ALU 8: the 64 byte lanes of X times every second or fourth byte position of Y, over all of Z. */
static void run_matint_bytes(const struct amx_regs *regs, const struct amx_decoded *d)
{
    uint8_t x[AMX_ROW_BYTES], y[AMX_ROW_BYTES];
    const unsigned z_bytes = d->z_bytes;
    amx_input_fetch(regs->x, &d->x, 0, x);
    amx_input_fetch(regs->y, &d->y, 0, y);
    for (unsigned j = 0; j < AMX_ROW_BYTES; j += z_bytes) {
        if (!(d->y_mask >> (j / d->y.bytes) & 1))
            continue;
        const int64_t y_value = lane_at(y, &d->y, j);
        for (uint64_t columns = d->x_mask; columns; columns &= columns - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(columns);
            uint8_t *element = regs->z[j + i % z_bytes] + (i & ~(z_bytes - 1));
            update(d, element, lane_at(x, &d->x, i), y_value);
        }
    }
}

static void run_matint_narrow(const struct amx_regs *regs, const struct amx_decoded *d)
{
    const unsigned bytes = d->z_bytes;
    for (uint64_t rows = d->y_mask; rows; rows &= rows - 1)
        for (uint64_t columns = d->x_mask; columns; columns &= columns - 1)
            narrow_element(d, regs->z[(unsigned)__builtin_ctzll(rows) * bytes + d->z_row] +
                                  (unsigned)__builtin_ctzll(columns) * bytes);
}

/* The single mask of matint applies to Y or X; the other axis is fully enabled. */
static void matint_masks(struct amx_decoded *d)
{
    const unsigned mode = amx_field(d->operand, 38, 3), n = amx_field(d->operand, 32, 6);
    const bool on_y = amx_bit(d->operand, 25);
    struct amx_input *masked = on_y ? &d->y : &d->x;
    const uint64_t mask = amx_mask_long(mode, n, AMX_ROW_BYTES / masked->bytes);
    d->x_mask = on_y ? amx_all_lanes(AMX_ROW_BYTES / d->x.bytes) : mask;
    d->y_mask = on_y ? mask : amx_all_lanes(AMX_ROW_BYTES / d->y.bytes);
    d->write_zero = mode == 0 && n == 3;
    masked->zero = mode == 0 && (n == 4 || n == 5);
}

static void decode_matint_narrow(struct amx_decoded *d)
{
    switch (amx_field(d->operand, 42, 4)) {
    case 3: decode_narrow(d, 4, 16); break;
    case 4: decode_narrow(d, 4, 32); break;
    case 10: decode_narrow(d, 4, 8); break;
    case 11: decode_narrow(d, 2, 8); break;
    default: decode_narrow(d, 2, 16); break;
    }
    d->x.bytes = d->y.bytes = d->z_bytes;
    d->run = run_matint_narrow;
}

static void decode_matint_bytes(struct amx_decoded *d, enum amx_gen gen)
{
    const unsigned mode = amx_field(d->operand, 42, 4);
    if (mode == 10)
        set_widths(d, 1, 1, 4);
    else if (mode == 12 && gen >= AMX_GEN_M3)
        set_widths(d, 1, 2, 4);
    else
        set_widths(d, 1, 1, 2);
    d->run = run_matint_bytes;
}

static void decode_matint_widths(struct amx_decoded *d)
{
    const unsigned mode = amx_field(d->operand, 42, 4);
    const bool fixed = d->alu == AMX_INT_ADD_MULH || d->alu == AMX_INT_SUB_MULH;
    if (mode == 3 && !fixed)
        set_widths(d, 2, 2, 4);
    else if (mode == 4 && d->alu == AMX_INT_XNOR_COUNT)
        set_widths(d, 4, 4, 4);
    else
        set_widths(d, 2, 2, 2);
    d->run = run_matint;
}

void amx_decode_matint(struct amx_decoded *d, enum amx_gen gen)
{
    const bool indexed = amx_is_indexed(d->operand);
    const bool bit54 = amx_bit(d->operand, 54);
    if (amx_field(d->operand, 55, 2) != 0 || (bit54 && !indexed))
        return;
    const unsigned indexed_alu = bit54 ? AMX_INT_BYTES : AMX_INT_ADD_MUL;
    d->alu = (uint8_t)(indexed ? indexed_alu : amx_field(d->operand, 47, 6));
    if (d->alu > AMX_INT_XNOR_COUNT || d->alu == 7)
        return;
    decode_signs(d);
    if (d->alu == AMX_INT_NARROW)
        decode_matint_narrow(d);
    else if (d->alu == AMX_INT_BYTES)
        decode_matint_bytes(d, gen);
    else
        decode_matint_widths(d);
    if (d->alu != AMX_INT_NARROW)
        amx_decode_inputs(d);
    matint_masks(d);
    d->z_row = (uint8_t)(amx_field(d->operand, 20, 2) & (d->z_bytes - 1u));
}
