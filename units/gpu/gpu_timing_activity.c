/* The countable events of issued instructions. */
#include "units/gpu/gpu_timing_state.h"

static enum activity_event lane_event(enum agx_class unit_class)
{
    switch (unit_class) {
    case AGX_CLASS_F32: return ACT_GPU_F32_LANE_OPS;
    case AGX_CLASS_F16: return ACT_GPU_F16_LANE_OPS;
    case AGX_CLASS_INT:
    case AGX_CLASS_GET_SR: return ACT_GPU_INT_LANE_OPS;
    case AGX_CLASS_IMUL:
    case AGX_CLASS_IMUL64:
    case AGX_CLASS_SHIFT:
    case AGX_CLASS_CONVERT:
    case AGX_CLASS_ROUND:
    case AGX_CLASS_EXP2:
    case AGX_CLASS_LOG2:
    case AGX_CLASS_RCP:
    case AGX_CLASS_RSQRT:
    case AGX_CLASS_SIN: return ACT_GPU_COMPLEX_LANE_OPS;
    case AGX_CLASS_SHUFFLE:
    case AGX_CLASS_BALLOT:
    case AGX_CLASS_REDUCE: return ACT_GPU_SHUFFLE_LANE_OPS;
    default: return ACT_COUNT;
    }
}

static enum activity_event flop_event(enum agx_class unit_class)
{
    switch (unit_class) {
    case AGX_CLASS_F32: return ACT_GPU_F32_FLOPS;
    case AGX_CLASS_F16: return ACT_GPU_F16_FLOPS;
    case AGX_CLASS_MATRIX_F32: return ACT_GPU_MATRIX_F32_FLOPS;
    case AGX_CLASS_MATRIX_F16: return ACT_GPU_MATRIX_F16_FLOPS;
    default: return ACT_COUNT;
    }
}

static void add(struct activity *activity, enum activity_event event, uint64_t count)
{
    if (event < ACT_COUNT)
        activity->count[event] += count;
}

static void add_memory(struct activity *activity, enum agx_class unit_class, uint64_t bytes)
{
    switch (unit_class) {
    case AGX_CLASS_DEVICE_ATOMIC: /* the operand goes out, the old value comes back */
        add(activity, ACT_GPU_L1_WRITE_BYTES, bytes);
        add(activity, ACT_GPU_L1_READ_BYTES, bytes);
        break;
    case AGX_CLASS_DEVICE_LOAD:
    case AGX_CLASS_STACK_LOAD: add(activity, ACT_GPU_L1_READ_BYTES, bytes); break;
    case AGX_CLASS_DEVICE_STORE:
    case AGX_CLASS_STACK_STORE: add(activity, ACT_GPU_L1_WRITE_BYTES, bytes); break;
    case AGX_CLASS_GROUP_LOAD:
    case AGX_CLASS_GROUP_STORE: add(activity, ACT_GPU_THREADGROUP_BYTES, bytes); break;
    case AGX_CLASS_GROUP_ATOMIC: add(activity, ACT_GPU_THREADGROUP_BYTES, 2 * bytes); break;
    default: break;
    }
}

void gpu_activity_add(struct activity *activity, const struct agx_effect *effect, const struct gpu_tally *tally)
{
    uint64_t read_bytes = 0;
    if (!tally->issues)
        return;
    for (unsigned i = 0; i < effect->read_count; i++)
        read_bytes += 2u * effect->read[i].count;
    add(activity, ACT_GPU_INSTRUCTIONS, tally->issues);
    add(activity, lane_event(effect->unit_class), tally->lanes);
    add(activity, flop_event(effect->unit_class), tally->lanes * effect->flops);
    add(activity, ACT_GPU_REGISTER_READ_BYTES, tally->lanes * read_bytes);
    add(activity, ACT_GPU_REGISTER_WRITE_BYTES, tally->lanes * 2u * effect->write.count);
    const unsigned elements = effect->elements ? effect->elements : 1;
    add_memory(activity, effect->unit_class, tally->lanes * effect->element_bytes * elements);
}
