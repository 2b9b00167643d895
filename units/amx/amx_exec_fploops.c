/* The loops over elements of all floating-point instructions, specialised for each Z format. */
#include "units/amx/amx_exec_decode.h"

/* Reads the lanes of one operand as raw bits of the format that the arithmetic uses. */
static void lane_values(const uint8_t span[AMX_ROW_BYTES], const struct amx_input *in, const struct amx_decoded *d,
                        uint64_t values[32])
{
    const unsigned lanes = AMX_ROW_BYTES / in->bytes;
    if (!in->low_part && d->in_fp == d->z_fp) {
        for (unsigned k = 0; k < lanes; k++)
            values[k] = amx_load_lane(span + k * in->bytes, in->bytes);
        return;
    }
    const enum amx_fp narrow = in->low_part ? AMX_FP_F16 : d->in_fp;
    const uint64_t nan_sign = d->negative_nan ? amx_fp_sign(AMX_FP_F32) : 0;
    for (unsigned k = 0; k < lanes; k++) {
        const uint32_t wide = amx_fp_widen(narrow, (uint16_t)amx_load_lane(span + k * in->bytes, 2));
        values[k] = wide | (amx_fp_is_nan(AMX_FP_F32, wide) ? nan_sign : 0);
    }
}

AMX_FP_INLINE uint64_t apply(enum amx_fp format, enum amx_fp_alu alu, uint64_t x, uint64_t y, uint64_t z)
{
    const uint64_t sign = amx_fp_sign(format), one = amx_fp_one(format);
    switch (alu) {
    case AMX_ALU_FMA: return amx_fp_fma(format, x, y, z);
    case AMX_ALU_FMS: return amx_fp_fma(format, x ^ sign, y, z);
    case AMX_ALU_MUL: return amx_fp_fma(format, x, y, sign);
    case AMX_ALU_NEG_MUL: return amx_fp_fma(format, x ^ sign, y, sign);
    case AMX_ALU_ADD_X: return amx_fp_fma(format, x, one, z);
    case AMX_ALU_SUB_X: return amx_fp_fma(format, x ^ sign, one, z);
    case AMX_ALU_ADD_Y: return amx_fp_fma(format, y, one, z);
    case AMX_ALU_SUB_Y: return amx_fp_fma(format, y ^ sign, one, z);
    case AMX_ALU_COPY_X: return x;
    case AMX_ALU_NEG_X: return x ^ sign;
    case AMX_ALU_COPY_Y: return y;
    case AMX_ALU_NEG_Y: return y ^ sign;
    case AMX_ALU_NEG_ZERO: return sign;
    case AMX_ALU_SELECT: return amx_fp_not_positive(format, x) ? 0 : y;
    case AMX_ALU_MIN: return amx_fp_min(format, x, z);
    case AMX_ALU_MAX: return amx_fp_max(format, x, z);
    default: return 0;
    }
}

AMX_FP_INLINE void update(enum amx_fp format, const struct amx_decoded *d, uint8_t *element, uint64_t x, uint64_t y)
{
    const unsigned bytes = amx_fp_bytes(format);
    const enum amx_fp_alu alu = (enum amx_fp_alu)d->alu;
    amx_store_lane(element, d->write_zero ? 0 : apply(format, alu, x, y, amx_load_lane(element, bytes)), bytes);
}

AMX_FP_INLINE void matrix_loop(enum amx_fp format, const struct amx_regs *regs, const struct amx_decoded *d, const uint64_t x[32],
                               const uint64_t y[32])
{
    const unsigned lane_bytes = d->x.bytes;
    for (uint64_t rows = d->y_mask; rows; rows &= rows - 1) {
        const unsigned j = (unsigned)__builtin_ctzll(rows);
        for (uint64_t columns = d->x_mask; columns; columns &= columns - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(columns);
            update(format, d, amx_matrix_element(regs, d, lane_bytes, i, j), x[i], y[j]);
        }
    }
}

void amx_run_fp_matrix(const struct amx_regs *regs, const struct amx_decoded *d)
{
    uint8_t span[AMX_ROW_BYTES];
    uint64_t x[32], y[32];
    amx_input_fetch(regs->x, &d->x, 0, span);
    lane_values(span, &d->x, d, x);
    amx_input_fetch(regs->y, &d->y, 0, span);
    lane_values(span, &d->y, d, y);
    switch (d->z_fp) {
    case AMX_FP_F16: matrix_loop(AMX_FP_F16, regs, d, x, y); break;
    case AMX_FP_BF16: matrix_loop(AMX_FP_BF16, regs, d, x, y); break;
    case AMX_FP_F32: matrix_loop(AMX_FP_F32, regs, d, x, y); break;
    case AMX_FP_F64: matrix_loop(AMX_FP_F64, regs, d, x, y); break;
    }
}

/* Pointwise position of lane i: narrow lanes with wide Z alternate over a pair of rows. */
static uint8_t *vector_element(const struct amx_regs *regs, const struct amx_decoded *d, unsigned row, unsigned i)
{
    if (d->in_fp == d->z_fp)
        return regs->z[row] + i * d->z_bytes;
    return regs->z[(row & ~1u) + (i & 1)] + (i >> 1) * d->z_bytes;
}

AMX_FP_INLINE void vector_loop(enum amx_fp format, const struct amx_regs *regs, const struct amx_decoded *d, unsigned row,
                               const uint64_t x[32], const uint64_t y[32])
{
    for (uint64_t lanes = d->x_mask; lanes; lanes &= lanes - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(lanes);
        update(format, d, vector_element(regs, d, row, i), x[i], y[i]);
    }
}

void amx_run_fp_vector(const struct amx_regs *regs, const struct amx_decoded *d)
{
    uint8_t span[AMX_ROW_BYTES];
    uint64_t x[32], y[32];
    for (unsigned q = 0; q < d->iterations; q++) {
        const unsigned row = d->z_row + q * d->row_step;
        amx_input_fetch(regs->x, &d->x, q, span);
        lane_values(span, &d->x, d, x);
        amx_input_fetch(regs->y, &d->y, q, span);
        lane_values(span, &d->y, d, y);
        switch (d->z_fp) {
        case AMX_FP_F16: vector_loop(AMX_FP_F16, regs, d, row, x, y); break;
        case AMX_FP_BF16: vector_loop(AMX_FP_BF16, regs, d, row, x, y); break;
        case AMX_FP_F32: vector_loop(AMX_FP_F32, regs, d, row, x, y); break;
        case AMX_FP_F64: vector_loop(AMX_FP_F64, regs, d, row, x, y); break;
        }
    }
}
