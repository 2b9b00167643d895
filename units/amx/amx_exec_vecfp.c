/* vecfp and matfp: fields and meanings (github corsix/amx vecfp.md, matfp.md and its tested model). */
#include "units/amx/amx_exec_decode.h"

static void lane_formats(struct amx_decoded *d, enum amx_gen gen)
{
    const unsigned mode = amx_field(d->operand, 42, 4);
    d->in_fp = d->z_fp = AMX_FP_F16;
    if (mode == 3) {
        d->z_fp = AMX_FP_F32;
    } else if (mode == 4) {
        d->in_fp = d->z_fp = AMX_FP_F32;
    } else if (mode == 7) {
        d->in_fp = d->z_fp = AMX_FP_F64;
    } else if (mode <= 1 && gen >= AMX_GEN_M2) {
        d->in_fp = AMX_FP_BF16;
        d->z_fp = mode == 0 ? AMX_FP_BF16 : AMX_FP_F32;
    }
    d->x.bytes = d->y.bytes = (uint8_t)amx_fp_bytes(d->in_fp);
    d->z_bytes = (uint8_t)amx_fp_bytes(d->z_fp);
}

/* False when operand bits 54..56 or the ALU mode make the instruction do nothing. */
static bool vector_alu(struct amx_decoded *d, enum amx_gen gen)
{
    if (amx_field(d->operand, 54, 3) != 0)
        return false;
    const unsigned mode = amx_is_indexed(d->operand) ? 0 : amx_field(d->operand, 47, 6);
    if (mode >= 10 && gen < AMX_GEN_M2)
        return false;
    switch (mode) {
    case 0: d->alu = AMX_ALU_FMA; return true;
    case 1: d->alu = AMX_ALU_FMS; return true;
    case 4: d->alu = AMX_ALU_SELECT; return true;
    case 5: d->alu = AMX_ALU_MIN; return true;
    case 7: d->alu = AMX_ALU_MAX; return true;
    case 10: d->alu = AMX_ALU_MUL; return true;
    case 11: d->alu = AMX_ALU_ADD_X; return true;
    case 12: d->alu = AMX_ALU_ADD_Y; return true;
    default: return false;
    }
}

void amx_decode_vecfp(struct amx_decoded *d, enum amx_gen gen)
{
    if (!vector_alu(d, gen))
        return;
    lane_formats(d, gen);
    amx_decode_inputs(d);
    amx_decode_vector_control(d, gen, 5);
    d->vector = true;
    d->run = amx_run_fp_vector;
}

/* One axis of matfp: its lane set, and the effect of the special numbers of mode 0. */
static uint64_t matfp_axis(struct amx_decoded *d, struct amx_input *in, unsigned mode, unsigned n)
{
    if (mode == 0 && n == 3)
        d->write_zero = true;
    in->zero = mode == 0 && (n == 4 || n == 5);
    return amx_mask_long(mode, n, AMX_ROW_BYTES / in->bytes);
}

void amx_decode_matfp(struct amx_decoded *d, enum amx_gen gen)
{
    if (!vector_alu(d, gen))
        return;
    if (d->alu != AMX_ALU_FMA && d->alu != AMX_ALU_FMS && d->alu != AMX_ALU_SELECT)
        return; /* min, max and the M2 additions exist in vecfp only */
    lane_formats(d, gen);
    amx_decode_inputs(d);
    d->x_mask = matfp_axis(d, &d->x, amx_field(d->operand, 38, 3), amx_field(d->operand, 32, 5));
    d->y_mask = matfp_axis(d, &d->y, amx_field(d->operand, 23, 3), amx_field(d->operand, 58, 5));
    d->z_row = (uint8_t)(amx_field(d->operand, 20, 3) & (d->x.bytes - 1u));
    d->run = amx_run_fp_matrix;
}
