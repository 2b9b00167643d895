/* Float arithmetic, unary functions, conversions. */
#include "units/gpu/gpu_exec_function.h"
#include "units/gpu/gpu_exec_numeric.h"
#include "units/gpu/gpu_exec_plain.h"

static const struct gpu_op *arithmetic32(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint32_t a[GPU_LANES], b[GPU_LANES], c[GPU_LANES];
    gpu_read_float(group, &op->source[0], a);
    gpu_read_float(group, &op->source[1], b);
    if (op->inst->op == AGX_OP_FMADD32)
        gpu_read_float(group, &op->source[2], c);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        if (op->inst->op == AGX_OP_FMADD32)
            a[lane] = gpu_fma32(a[lane], b[lane], c[lane]);
        else
            a[lane] = op->inst->op == AGX_OP_FADD32 ? gpu_add32(a[lane], b[lane]) : gpu_mul32(a[lane], b[lane]);
    }
    gpu_write_float(group, op, a);
    return op->next;
}

static const struct gpu_op *arithmetic16(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint16_t a[GPU_LANES], b[GPU_LANES], c[GPU_LANES];
    uint64_t out[GPU_LANES];
    gpu_read_half(group, &op->source[0], a);
    gpu_read_half(group, &op->source[1], b);
    if (op->inst->op == AGX_OP_FMADD16)
        gpu_read_half(group, &op->source[2], c);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        uint16_t value;
        if (op->inst->op == AGX_OP_FMADD16)
            value = gpu_fma16(a[lane], b[lane], c[lane]);
        else
            value = op->inst->op == AGX_OP_FADD16 ? gpu_add16(a[lane], b[lane]) : gpu_mul16(a[lane], b[lane]);
        out[lane] = op->inst->saturate ? gpu_saturate16(value) : value;
    }
    gpu_write_int(group, op, out);
    return op->next;
}

static const struct gpu_op *unary(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint32_t a[GPU_LANES];
    gpu_read_float(group, &op->source[0], a);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        if (group->mask >> lane & 1)
            a[lane] = gpu_function(op->inst->op, a[lane]);
    gpu_write_float(group, op, a);
    return op->next;
}

/* Differences inside the quad: right minus left, lower minus upper; each pair has its own ("fine": not published which it is). */
static const struct gpu_op *derivative(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint32_t a[GPU_LANES], out[GPU_LANES];
    gpu_read_float(group, &op->source[0], a);
    const unsigned step = op->inst->op == AGX_OP_DFDX ? 1 : 2;
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        out[lane] = gpu_add32(a[lane | step], a[lane & ~step] ^ GPU_SIGN32);
    gpu_write_float(group, op, out);
    return op->next;
}

/* --- conversions --- */

static bool to_float(unsigned mode)
{
    return mode == AGX_U8_TO_F || mode == AGX_S8_TO_F || mode == AGX_U16_TO_F || mode == AGX_S16_TO_F || mode == AGX_U32_TO_F ||
           mode == AGX_S32_TO_F;
}

static double integer_value(unsigned mode, uint32_t bits)
{
    switch (mode) {
    case AGX_U8_TO_F: return (uint8_t)bits;
    case AGX_S8_TO_F: return (int8_t)bits;
    case AGX_U16_TO_F: return (uint16_t)bits;
    case AGX_S16_TO_F: return (int16_t)bits;
    case AGX_U32_TO_F: return bits;
    default: return (int32_t)bits;
    }
}

/* Values out of range saturate and NaN gives 0, as the lowering of Metal and Mesa relies on (a guess, not measured). */
static uint64_t to_integer(unsigned mode, double value, bool to_zero)
{
    const unsigned bits = mode == AGX_F_TO_U16 || mode == AGX_F_TO_S16 ? 16 : 32;
    const bool is_signed = mode == AGX_F_TO_S16 || mode == AGX_F_TO_S32;
    const double top = ldexp(1, (int)bits - is_signed) - 1, bottom = is_signed ? -ldexp(1, (int)bits - 1) : 0;
    if (isnan(value))
        return 0;
    const double rounded = to_zero ? trunc(value) : rint(value);
    return (uint64_t)(int64_t)(rounded > top ? top : rounded < bottom ? bottom : rounded);
}

static const struct gpu_op *convert(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const unsigned mode = op->inst->mode;
    const bool to_zero = op->inst->round == 0, half = op->dst_kind == GPU_LOW || op->dst_kind == GPU_HIGH;
    uint64_t out[GPU_LANES];
    uint32_t a[GPU_LANES];
    if (to_float(mode))
        gpu_read_raw(group, &op->source[0], 0, a);
    else
        gpu_read_float(group, &op->source[0], a);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        if (!to_float(mode))
            out[lane] = to_integer(mode, (double)f32_of_bits(a[lane]), to_zero);
        else if (half)
            out[lane] = gpu_half_from_double(integer_value(mode, a[lane]), to_zero);
        else
            out[lane] = gpu_float_from_double(integer_value(mode, a[lane]), to_zero);
    }
    gpu_write_int(group, op, out);
    return op->next;
}

gpu_handler *gpu_plain_float(unsigned op)
{
    switch (op) {
    case AGX_OP_FMADD32:
    case AGX_OP_FADD32:
    case AGX_OP_FMUL32: return arithmetic32;
    case AGX_OP_FMADD16:
    case AGX_OP_FADD16:
    case AGX_OP_FMUL16: return arithmetic16;
    case AGX_OP_FLOOR:
    case AGX_OP_CEIL:
    case AGX_OP_TRUNC:
    case AGX_OP_RINT:
    case AGX_OP_RCP:
    case AGX_OP_RSQRT:
    case AGX_OP_RSQRT_SPECIAL:
    case AGX_OP_SIN_PT_1:
    case AGX_OP_SIN_PT_2:
    case AGX_OP_LOG2:
    case AGX_OP_EXP2: return unary;
    case AGX_OP_DFDX:
    case AGX_OP_DFDY: return derivative;
    case AGX_OP_CONVERT: return convert;
    default: return NULL;
    }
}
