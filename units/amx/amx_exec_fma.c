/* fma64/32/16 and fms64/32/16: fields and meanings (github corsix/amx fma.md, fms.md). */
#include "units/amx/amx_exec_decode.h"

static enum amx_fp_alu fma_alu(unsigned skips, bool subtract)
{
    /* Index: skip x (4), skip y (2), skip z (1). */
    static const uint8_t add[8] = {AMX_ALU_FMA,   AMX_ALU_MUL,    AMX_ALU_ADD_X, AMX_ALU_COPY_X,
                                   AMX_ALU_ADD_Y, AMX_ALU_COPY_Y, AMX_ALU_ZERO,  AMX_ALU_ZERO};
    static const uint8_t sub[8] = {AMX_ALU_FMS,   AMX_ALU_NEG_MUL, AMX_ALU_SUB_X, AMX_ALU_NEG_X,
                                   AMX_ALU_SUB_Y, AMX_ALU_NEG_Y,   AMX_ALU_ZERO,  AMX_ALU_NEG_ZERO};
    return subtract ? sub[skips] : add[skips];
}

static unsigned fma_bytes(unsigned op)
{
    return op == AMX_FMA64 || op == AMX_FMS64 ? 8 : op == AMX_FMA32 || op == AMX_FMS32 ? 4 : 2;
}

static enum amx_fp fma_format(unsigned bytes)
{
    return bytes == 8 ? AMX_FP_F64 : bytes == 4 ? AMX_FP_F32 : AMX_FP_F16;
}

static void fma_formats(struct amx_decoded *d, unsigned bytes, bool subtract)
{
    d->in_fp = d->z_fp = fma_format(bytes);
    if (bytes == 4) {
        d->x.low_part = amx_bit(d->operand, 61);
        d->y.low_part = amx_bit(d->operand, 60);
    }
    if (bytes == 2 && !d->vector && amx_bit(d->operand, 62))
        d->z_fp = AMX_FP_F32;
    d->z_bytes = (uint8_t)amx_fp_bytes(d->z_fp);
    d->negative_nan = subtract && (d->x.low_part || d->y.low_part || d->z_fp != d->in_fp);
}

void amx_decode_fma(struct amx_decoded *d, enum amx_gen gen)
{
    (void)gen; /* the same on all generations */
    const uint64_t operand = d->operand;
    const bool subtract = d->op == AMX_FMS64 || d->op == AMX_FMS32 || d->op == AMX_FMS16;
    const unsigned bytes = fma_bytes(d->op), lanes = AMX_ROW_BYTES / bytes;
    const unsigned skips = amx_field(operand, 27, 3);
    /* The bits in the operand are z, y, x from bit 27 up, the order of fma_alu. */
    if (skips == 6)
        return; /* z stays as it is */
    d->alu = (uint8_t)fma_alu(skips, subtract);
    d->vector = amx_bit(operand, 63);
    d->x.bytes = d->y.bytes = (uint8_t)bytes;
    d->y.offset = (uint16_t)amx_field(operand, 0, 9);
    d->x.offset = (uint16_t)amx_field(operand, 10, 9);
    fma_formats(d, bytes, subtract);
    d->x_mask = amx_mask_short(amx_field(operand, 46, 2), amx_field(operand, 41, 5), lanes);
    if (d->vector) {
        d->z_row = (uint8_t)amx_field(operand, 20, 6);
        d->y_mask = amx_all_lanes(lanes);
        d->run = amx_run_fp_vector;
        return;
    }
    d->y_mask = amx_mask_short(amx_field(operand, 37, 2), amx_field(operand, 32, 5), lanes);
    d->z_row = (uint8_t)(amx_field(operand, 20, 6) & (bytes - 1));
    d->run = amx_run_fp_matrix;
}
