/* Special registers, and the uniform_store of preambles. */
#include "units/gpu/gpu_exec_plain.h"

static uint32_t active_below(uint32_t mask, unsigned lane)
{
    return (uint32_t)__builtin_popcount(mask & ((1U << lane) - 1));
}

static uint32_t special_value(const struct gpu_simdgroup *group, unsigned special, unsigned lane)
{
    const struct gpu_group *all = group->group;
    const uint32_t index = group->number * GPU_LANES + lane, quad = group->mask & 15U << (lane & ~3U);
    switch (special) {
    case 0:
    case 1:
    case 2: return all->position[special];
    case 4:
    case 5:
    case 6: return all->size[special - 4];
    case 8:
    case 9:
    case 10: return all->launch.group_threads[special - 8];
    case GPU_SPECIAL_CORE: return all->core_index;
    case 48:
    case 49:
    case 50: return all->lane_position[special - 48][index];
    case 51: return index;
    case 52: return lane;
    case 53: return group->number;
    case 56: return active_below(quad, lane);
    case 57: return (uint32_t)__builtin_popcount(quad);
    case 58: return active_below(group->mask, lane);
    case 59: return (uint32_t)__builtin_popcount(group->mask);
    case 60: return group->mask;
    case 63: return 1; /* not a helper */
    case 80:
    case 81:
    case 82:
        return all->position[special - 80] * all->launch.group_threads[special - 80] + all->lane_position[special - 80][index];
    default: return 0; /* 21: the VM slot, one address space */
    }
}

static const struct gpu_op *get_sr(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint64_t out[GPU_LANES];
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        out[lane] = special_value(group, op->inst->special, lane);
    gpu_write_int(group, op, out);
    return op->next;
}

static const struct gpu_op *uniform_store(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    struct gpu_group *all = group->group;
    if (!all->preamble_uniforms)
        return gpu_fault(group, op, UNIT_FAULT_UNMODELLED, 0, "uniforms are written by preambles only");
    if (!group->mask)
        return op->next;
    const unsigned lane = (unsigned)__builtin_ctz(group->mask);
    const uint32_t count = (uint32_t)__builtin_popcount(op->inst->component_mask);
    const uint32_t first = (uint32_t)op->inst->source[2].immediate;
    if (first + count > AGX_UNIFORM_HALVES)
        return gpu_fault(group, op, UNIT_FAULT_UNDEFINED, 0, "writes above the last uniform");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value[GPU_LANES];
        gpu_read_raw(group, &op->source[0], i, value);
        all->preamble_uniforms[first + i] = (uint16_t)value[lane];
    }
    gpu_bind(all, all->preamble_uniforms);
    return op->next;
}

gpu_handler *gpu_plain_special(unsigned op)
{
    switch (op) {
    case AGX_OP_GET_SR: return get_sr;
    case AGX_OP_UNIFORM_STORE: return uniform_store;
    default: return NULL;
    }
}
