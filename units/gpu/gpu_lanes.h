/* Integer operands and addresses of all 32 lanes. Inlined, because gpu_record.h is compiled for several host instruction sets. */
#ifndef ORCHARD_UNITS_GPU_GPU_LANES_H
#define ORCHARD_UNITS_GPU_GPU_LANES_H

#include "units/gpu/gpu_exec.h"
#include "units/gpu/gpu_exec_format.h"

/* Sign-extends a number of so many bits below 64, or leaves it alone. */
static inline uint64_t gpu_lanes_extend(uint64_t value, unsigned bits, bool sign)
{
    const uint64_t top = (uint64_t)sign << (bits - 1);
    return (value ^ top) - top;
}

/* gpu_read_int for an operand whose sign is given. */
static inline void gpu_lanes_int(const struct gpu_simdgroup *group, const struct gpu_operand *from, bool sign,
                                 uint64_t out[GPU_LANES])
{
    const uint32_t *word = group->word[from->word];
    const unsigned shift = from->kind == GPU_HIGH ? 16 : 0;
    switch (from->kind) {
    case GPU_WORD:
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            out[lane] = gpu_lanes_extend(word[lane], 32, sign);
        break;
    case GPU_LOW:
    case GPU_HIGH:
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            out[lane] = gpu_lanes_extend(word[lane] >> shift & 0xffff, 16, sign);
        break;
    case GPU_PAIR:
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            out[lane] = word[lane] | (uint64_t)word[GPU_LANES + lane] << 32;
        break;
    default:
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            out[lane] = from->kind == GPU_SCALAR ? from->scalar : 0;
        break;
    }
}

static inline bool gpu_on_device(unsigned op)
{
    return op == AGX_OP_DEVICE_LOAD || op == AGX_OP_DEVICE_STORE || op == AGX_OP_ATOMIC;
}

static inline bool gpu_on_stack(unsigned op)
{
    return op == AGX_OP_STACK_LOAD || op == AGX_OP_STACK_STORE;
}

/* base + (offset << shift) * item, with the base rounded down to a multiple of the item. Threadgroup accesses do not shift, and
 * atomics count 4-byte words. */
static inline void gpu_device_addresses(const struct gpu_simdgroup *group, const struct gpu_op *op, struct gpu_access *access)
{
    const struct agx_inst *inst = op->inst;
    const bool packed = inst->op != AGX_OP_ATOMIC && gpu_format_packed(inst->format);
    const unsigned shift = packed || inst->op == AGX_OP_ATOMIC ? 0 : inst->shift > 2 ? 2 : inst->shift;
    const uint64_t item = access->item_bytes;
    uint64_t base[GPU_LANES], by[GPU_LANES];
    gpu_lanes_int(group, &op->source[1], op->source[1].sign_extend, base);
    gpu_lanes_int(group, &op->source[2], !inst->zero_extend_offset, by);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        access->address[lane] = (base[lane] & ~(item - 1)) + (by[lane] << shift) * item;
}

static inline void gpu_threadgroup_addresses(const struct gpu_simdgroup *group, const struct gpu_op *op,
                                             struct gpu_access *access)
{
    const uint64_t item = access->item_bytes;
    uint64_t base[GPU_LANES], by[GPU_LANES];
    gpu_lanes_int(group, &op->source[1], op->source[1].sign_extend, base);
    gpu_lanes_int(group, &op->source[2], op->source[2].sign_extend, by);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        access->address[lane] = base[lane] + by[lane] * item;
}

/* Byte offset from the current frame base. The stack grows down, so that the base is the stack position. */
static inline void gpu_stack_addresses(const struct gpu_simdgroup *group, const struct gpu_op *op, struct gpu_access *access)
{
    gpu_lanes_int(group, &op->source[2], true, access->address);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        access->address[lane] += group->stack_bytes_left;
}

static inline void gpu_lanes_access(const struct gpu_simdgroup *group, const struct gpu_op *op, struct gpu_access *access)
{
    const struct agx_inst *inst = op->inst;
    const bool atomic = inst->op == AGX_OP_ATOMIC || inst->op == AGX_OP_THREADGROUP_ATOMIC;
    const bool wide = gpu_atomic_wide(inst, group->group->program->generation) != GPU_ATOMIC_NARROW;
    access->item_bytes = atomic ? 4 : gpu_format_bytes(inst->format);
    access->bytes = wide ? 8 : access->item_bytes;
    access->components = atomic || gpu_format_packed(inst->format) ? 1 : inst->component_mask;
    if (gpu_on_device(inst->op))
        gpu_device_addresses(group, op, access);
    else if (gpu_on_stack(inst->op))
        gpu_stack_addresses(group, op, access);
    else
        gpu_threadgroup_addresses(group, op, access);
}

#endif
