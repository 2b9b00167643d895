/* Reductions and exclusive prefixes over the active lanes of a simdgroup or of each quad.
 *
 * Float sums run over the lanes in ascending order, and each step is rounded to float32 (the order on hardware is not published).
 * 16-bit results are rounded once at the end.
 */
#include "units/gpu/gpu_exec_numeric.h"
#include "units/gpu/gpu_exec_plain.h"

static bool is_float(unsigned reduction)
{
    return reduction == AGX_REDUCE_FADD || reduction == AGX_REDUCE_FMUL || reduction == AGX_REDUCE_FMIN ||
           reduction == AGX_REDUCE_FMAX;
}

static bool is_signed(unsigned reduction)
{
    return reduction == AGX_REDUCE_SMIN || reduction == AGX_REDUCE_SMAX;
}

/* The neutral value, which the first active lane of a prefix gets. Floats are float32 bits. */
static uint64_t identity(unsigned reduction, unsigned bits)
{
    switch (reduction) {
    case AGX_REDUCE_AND:
    case AGX_REDUCE_UMIN: return bits == 16 ? UINT16_MAX : UINT32_MAX;
    case AGX_REDUCE_FMUL: return GPU_ONE32;
    case AGX_REDUCE_FMIN: return GPU_INF32;
    case AGX_REDUCE_FMAX: return GPU_INF32 | GPU_SIGN32;
    case AGX_REDUCE_SMIN: return bits == 16 ? INT16_MAX : INT32_MAX;
    case AGX_REDUCE_SMAX: return (uint64_t)(bits == 16 ? INT16_MIN : (int64_t)INT32_MIN);
    default: return 0;
    }
}

/* "NaN loses", like the selects that compilers use for minimum and maximum. */
static uint32_t float_extreme(uint32_t a, uint32_t b, bool least)
{
    if (gpu_is_nan32(a))
        return gpu_is_nan32(b) ? GPU_NAN32 : b;
    const float x = f32_of_bits(a), y = f32_of_bits(b);
    return gpu_is_nan32(b) || (least ? x < y : x > y) ? a : b;
}

static uint64_t combine(unsigned reduction, uint64_t a, uint64_t b)
{
    switch (reduction) {
    case AGX_REDUCE_AND: return a & b;
    case AGX_REDUCE_OR: return a | b;
    case AGX_REDUCE_XOR: return a ^ b;
    case AGX_REDUCE_IADD: return a + b;
    case AGX_REDUCE_UMIN: return a < b ? a : b;
    case AGX_REDUCE_UMAX: return a > b ? a : b;
    case AGX_REDUCE_SMIN: return (int64_t)a < (int64_t)b ? a : b;
    case AGX_REDUCE_SMAX: return (int64_t)a > (int64_t)b ? a : b;
    case AGX_REDUCE_FADD: return gpu_add32((uint32_t)a, (uint32_t)b);
    case AGX_REDUCE_FMUL: return gpu_mul32((uint32_t)a, (uint32_t)b);
    default: return float_extreme((uint32_t)a, (uint32_t)b, reduction == AGX_REDUCE_FMIN);
    }
}

static void read_values(const struct gpu_simdgroup *group, const struct gpu_op *op, uint64_t out[GPU_LANES])
{
    if (!is_float(op->inst->reduction)) {
        struct gpu_operand from = op->source[0];
        from.sign_extend = is_signed(op->inst->reduction);
        gpu_read_int(group, &from, out);
        return;
    }
    uint32_t bits[GPU_LANES];
    gpu_read_float(group, &op->source[0], bits);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        out[lane] = bits[lane];
}

/* Reduces lanes first .. first + lanes - 1. */
static void reduce_lanes(const struct gpu_op *op, uint32_t mask, unsigned first, unsigned lanes, uint64_t value[GPU_LANES])
{
    const unsigned reduction = op->inst->reduction;
    uint64_t so_far = identity(reduction, op->source[0].bits);
    bool any = false;
    for (unsigned lane = first; lane < first + lanes; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const uint64_t own = value[lane];
        if (op->inst->prefix)
            value[lane] = so_far;
        so_far = any ? combine(reduction, so_far, own) : own;
        any = true;
    }
    for (unsigned lane = first; lane < first + lanes && !op->inst->prefix; lane++)
        value[lane] = so_far;
}

static const struct gpu_op *reduce(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint64_t value[GPU_LANES];
    read_values(group, op, value);
    const unsigned lanes = op->inst->whole_simdgroup ? GPU_LANES : 4;
    for (unsigned first = 0; first < GPU_LANES; first += lanes)
        reduce_lanes(op, group->mask, first, lanes, value);
    if (is_float(op->inst->reduction)) {
        uint32_t bits[GPU_LANES];
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            bits[lane] = (uint32_t)value[lane];
        gpu_write_float(group, op, bits);
    } else {
        gpu_write_int(group, op, value);
    }
    return op->next;
}

gpu_handler *gpu_plain_reduce(unsigned op)
{
    return op >= AGX_OP_QUAD_AND && op <= AGX_OP_SIMD_OP ? reduce : NULL;
}
