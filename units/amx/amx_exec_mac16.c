/* mac16: fields of fma16, integers (github corsix/amx mac16.md and its tested model). */
#include "units/amx/amx_exec_decode.h"

static int32_t lane_value(const uint8_t span[AMX_ROW_BYTES], const struct amx_input *in, unsigned lane)
{
    const uint64_t bits = amx_load_lane(span + 2 * lane, 2);
    return (int32_t)amx_extend(bits, in->low_part ? 1 : 2, true);
}

static void update(const struct amx_decoded *d, uint8_t *element, int32_t x, int32_t y)
{
    int64_t sum;
    if (d->skip_x)
        sum = d->skip_y ? 0 : y;
    else
        sum = d->skip_y ? x : (int64_t)x * y;
    sum >>= d->shift;
    if (!d->keep_z_out)
        sum += (int64_t)amx_load_lane(element, d->z_bytes);
    amx_store_lane(element, (uint64_t)sum, d->z_bytes);
}

static void run_matrix(const struct amx_regs *regs, const struct amx_decoded *d)
{
    uint8_t x[AMX_ROW_BYTES], y[AMX_ROW_BYTES];
    amx_input_fetch(regs->x, &d->x, 0, x);
    amx_input_fetch(regs->y, &d->y, 0, y);
    for (uint64_t rows = d->y_mask; rows; rows &= rows - 1) {
        const unsigned j = (unsigned)__builtin_ctzll(rows);
        const int32_t y_value = lane_value(y, &d->y, j);
        for (uint64_t columns = d->x_mask; columns; columns &= columns - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(columns);
            update(d, amx_matrix_element(regs, d, 2, i, j), lane_value(x, &d->x, i), y_value);
        }
    }
}

static void run_vector(const struct amx_regs *regs, const struct amx_decoded *d)
{
    uint8_t x[AMX_ROW_BYTES], y[AMX_ROW_BYTES];
    amx_input_fetch(regs->x, &d->x, 0, x);
    amx_input_fetch(regs->y, &d->y, 0, y);
    for (uint64_t lanes = d->x_mask; lanes; lanes &= lanes - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(lanes);
        update(d, regs->z[d->z_row] + 2 * i, lane_value(x, &d->x, i), lane_value(y, &d->y, i));
    }
}

void amx_decode_mac16(struct amx_decoded *d, enum amx_gen gen)
{
    (void)gen; /* the same on all generations */
    const uint64_t operand = d->operand;
    d->vector = amx_bit(operand, 63);
    d->keep_z_out = amx_bit(operand, 27);
    d->skip_y = amx_bit(operand, 28);
    d->skip_x = amx_bit(operand, 29);
    d->shift = (uint8_t)amx_field(operand, 55, 5);
    d->x = (struct amx_input){
        .offset = (uint16_t)amx_field(operand, 10, 9), .bytes = 2, .is_signed = true, .low_part = amx_bit(operand, 61)};
    d->y = (struct amx_input){
        .offset = (uint16_t)amx_field(operand, 0, 9), .bytes = 2, .is_signed = true, .low_part = amx_bit(operand, 60)};
    d->z_bytes = !d->vector && amx_bit(operand, 62) ? 4 : 2;
    d->x_mask = amx_mask_short(amx_field(operand, 46, 2), amx_field(operand, 41, 5), 32);
    d->y_mask = amx_mask_short(amx_field(operand, 37, 2), amx_field(operand, 32, 5), 32);
    d->z_row = (uint8_t)(d->vector ? amx_field(operand, 20, 6) : amx_field(operand, 20, 1));
    d->run = d->vector ? run_vector : run_matrix;
}
