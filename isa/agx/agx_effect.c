#include "isa/agx/agx_decode_parts.h"
#include "isa/agx/agx_table.h"

static const char *const class_names[AGX_CLASS_COUNT] = {
    [AGX_CLASS_F32] = "f32",
    [AGX_CLASS_F16] = "f16",
    [AGX_CLASS_INT] = "int",
    [AGX_CLASS_GET_SR] = "get_sr",
    [AGX_CLASS_IMUL] = "imul",
    [AGX_CLASS_IMUL64] = "imul64",
    [AGX_CLASS_SHIFT] = "shift",
    [AGX_CLASS_CONVERT] = "convert",
    [AGX_CLASS_ROUND] = "round",
    [AGX_CLASS_EXP2] = "exp2",
    [AGX_CLASS_LOG2] = "log2",
    [AGX_CLASS_RCP] = "rcp",
    [AGX_CLASS_RSQRT] = "rsqrt",
    [AGX_CLASS_SIN] = "sin",
    [AGX_CLASS_SHUFFLE] = "shuffle",
    [AGX_CLASS_BALLOT] = "ballot",
    [AGX_CLASS_REDUCE] = "reduce",
    [AGX_CLASS_MATRIX_F32] = "matrix_f32",
    [AGX_CLASS_MATRIX_F16] = "matrix_f16",
    [AGX_CLASS_MASK] = "mask",
    [AGX_CLASS_BRANCH] = "branch",
    [AGX_CLASS_BARRIER] = "barrier",
    [AGX_CLASS_FENCE] = "fence",
    [AGX_CLASS_WAIT] = "wait",
    [AGX_CLASS_STOP] = "stop",
    [AGX_CLASS_DEVICE_LOAD] = "device_load",
    [AGX_CLASS_DEVICE_STORE] = "device_store",
    [AGX_CLASS_DEVICE_ATOMIC] = "device_atomic",
    [AGX_CLASS_GROUP_LOAD] = "threadgroup_load",
    [AGX_CLASS_GROUP_STORE] = "threadgroup_store",
    [AGX_CLASS_GROUP_ATOMIC] = "threadgroup_atomic",
    [AGX_CLASS_STACK_LOAD] = "stack_load",
    [AGX_CLASS_STACK_STORE] = "stack_store",
    [AGX_CLASS_STACK_ADJUST] = "stack_adjust",
    [AGX_CLASS_UNIFORM_STORE] = "uniform_store",
    [AGX_CLASS_GRAPHICS] = "graphics",
    [AGX_CLASS_UNKNOWN] = "unknown",
};

const char *agx_class_name(enum agx_class class_)
{
    return (unsigned)class_ < AGX_CLASS_COUNT ? class_names[class_] : "?";
}

static enum agx_class alu_class(unsigned op)
{
    switch (op) {
    case AGX_OP_MOV_IMM:
    case AGX_OP_IADD:
    case AGX_OP_BITOP:
    case AGX_OP_ICMPSEL:
    case AGX_OP_FCMPSEL: return AGX_CLASS_INT;
    case AGX_OP_GET_SR:
    case AGX_OP_SR_THING: return AGX_CLASS_GET_SR;
    case AGX_OP_IMADD: return AGX_CLASS_IMUL;
    case AGX_OP_CONVERT: return AGX_CLASS_CONVERT;
    case AGX_OP_BFI ... AGX_OP_ASRH:
    case AGX_OP_BITREV ... AGX_OP_FFS: return AGX_CLASS_SHIFT;
    case AGX_OP_FMADD32:
    case AGX_OP_FADD32:
    case AGX_OP_FMUL32: return AGX_CLASS_F32;
    case AGX_OP_FMADD16:
    case AGX_OP_FADD16:
    case AGX_OP_FMUL16: return AGX_CLASS_F16;
    case AGX_OP_FLOOR ... AGX_OP_RINT: return AGX_CLASS_ROUND;
    case AGX_OP_RCP: return AGX_CLASS_RCP;
    case AGX_OP_RSQRT:
    case AGX_OP_RSQRT_SPECIAL: return AGX_CLASS_RSQRT;
    case AGX_OP_SIN_PT_1:
    case AGX_OP_SIN_PT_2: return AGX_CLASS_SIN;
    case AGX_OP_LOG2: return AGX_CLASS_LOG2;
    case AGX_OP_EXP2: return AGX_CLASS_EXP2;
    default: return AGX_CLASS_UNKNOWN;
    }
}

static enum agx_class lane_class(unsigned op)
{
    switch (op) {
    case AGX_OP_DFDX: /* differences between lanes of the quad */
    case AGX_OP_DFDY:
    case AGX_OP_SIMD_SHUFFLE ... AGX_OP_SIMD_SHUFFLE_XOR:
    case AGX_OP_QUAD_SHUFFLE ... AGX_OP_SIMD_SHUF_OP: return AGX_CLASS_SHUFFLE;
    case AGX_OP_ICMP_BALLOT ... AGX_OP_FCMP_QUAD_BALLOT: return AGX_CLASS_BALLOT;
    case AGX_OP_SIMD_MATRIX_FMADD32: return AGX_CLASS_MATRIX_F32;
    case AGX_OP_SIMD_MATRIX_FMADD16: return AGX_CLASS_MATRIX_F16;
    case AGX_OP_QUAD_AND ... AGX_OP_SIMD_OP: return AGX_CLASS_REDUCE;
    case AGX_OP_POP_EXEC ... AGX_OP_ELSE_FCMP:
    case AGX_OP_POP_EXEC2: return AGX_CLASS_MASK;
    case AGX_OP_RET:
    case AGX_OP_CALL_REGISTER ... AGX_OP_CALL:
    case AGX_OP_JMP_IF_SKIPPING_DOORBELL: return AGX_CLASS_BRANCH;
    case AGX_OP_STOP:
    case AGX_OP_TRAP: return AGX_CLASS_STOP;
    default: return AGX_CLASS_UNKNOWN;
    }
}

static enum agx_class memory_class(unsigned op)
{
    switch (op) {
    case AGX_OP_WAIT: return AGX_CLASS_WAIT;
    case AGX_OP_UNIFORM_STORE: return AGX_CLASS_UNIFORM_STORE;
    case AGX_OP_DEVICE_LOAD:
    case AGX_OP_DEVICE_LOAD_OTHER: return AGX_CLASS_DEVICE_LOAD;
    case AGX_OP_DEVICE_STORE:
    case AGX_OP_DEVICE_STORE_OTHER: return AGX_CLASS_DEVICE_STORE;
    case AGX_OP_ATOMIC: return AGX_CLASS_DEVICE_ATOMIC;
    case AGX_OP_STACK_STORE: return AGX_CLASS_STACK_STORE;
    case AGX_OP_STACK_LOAD: return AGX_CLASS_STACK_LOAD;
    case AGX_OP_STACK_GET_PTR:
    case AGX_OP_STACK_ADJUST:
    case AGX_OP_STACK_ADJUST2: return AGX_CLASS_STACK_ADJUST;
    case AGX_OP_THREADGROUP_LOAD: return AGX_CLASS_GROUP_LOAD;
    case AGX_OP_THREADGROUP_STORE: return AGX_CLASS_GROUP_STORE;
    case AGX_OP_THREADGROUP_ATOMIC: return AGX_CLASS_GROUP_ATOMIC;
    case AGX_OP_THREADGROUP_BARRIER: return AGX_CLASS_BARRIER;
    case AGX_OP_MEMORY_BARRIER: return AGX_CLASS_FENCE;
    case AGX_OP_WAIT_PIX ... AGX_OP_SIGNAL_PIX:
    case AGX_OP_TILE ... AGX_OP_LDCF:
    case AGX_OP_TEX_STATE_STORE ... AGX_OP_ST_VAR_FINAL:
    case AGX_OP_TEXTURE_SAMPLE ... AGX_OP_TEXTURE_LOAD:
    case AGX_OP_IMAGE_WRITE_BLOCK:
    case AGX_OP_IMAGE_WRITE:
    case AGX_OP_SAMPLE_MASK:
    case AGX_OP_ZS_EMIT: return AGX_CLASS_GRAPHICS;
    default: return AGX_CLASS_UNKNOWN;
    }
}

static enum agx_class class_of(const struct agx_inst *inst)
{
    if (inst->op == AGX_OP_IMADD && inst->dst.place == AGX_PLACE_PAIR)
        return AGX_CLASS_IMUL64;
    enum agx_class class_ = alu_class(inst->op);
    if (class_ == AGX_CLASS_UNKNOWN)
        class_ = lane_class(inst->op);
    return class_ == AGX_CLASS_UNKNOWN ? memory_class(inst->op) : class_;
}

static bool in_registers(const struct agx_operand *operand)
{
    return operand->place >= AGX_PLACE_HALF && operand->place <= AGX_PLACE_PAIR;
}

static struct agx_range range_of(const struct agx_operand *operand)
{
    if (!in_registers(operand))
        return (struct agx_range){0, 0};
    return (struct agx_range){operand->index, (uint8_t)(agx_place_halves(operand->place) * operand->count)};
}

/* Different 32-bit registers among the ranges; ranges are short, so words are counted where no earlier range has them. */
static uint8_t count_words(const struct agx_effect *effect)
{
    unsigned count = 0;
    for (unsigned i = 0; i < effect->read_count; i++) {
        const struct agx_range *range = &effect->read[i];
        for (unsigned word = range->first / 2u; word <= (range->first + range->count - 1u) / 2u; word++) {
            bool seen = false;
            for (unsigned j = 0; j < i && !seen; j++)
                seen = word >= effect->read[j].first / 2u && word <= (effect->read[j].first + effect->read[j].count - 1u) / 2u;
            count += !seen;
        }
    }
    return (uint8_t)count;
}

static void read_sources(const struct agx_inst *inst, struct agx_effect *effect)
{
    for (unsigned i = 0; i < inst->source_count && i < AGX_MAX_SOURCES; i++) {
        const struct agx_operand *source = &inst->source[i];
        const struct agx_range range = range_of(source);
        if (range.count == 0)
            continue;
        if (source->hint != AGX_HINT_NONE)
            effect->cached_sources |= (uint8_t)(1u << effect->read_count);
        effect->read[effect->read_count++] = range;
    }
    effect->distinct_words_read = count_words(effect);
}

/* Floating-point operations per active lane; 8x8x8 multiply-adds are 1024 operations over 32 lanes. */
static uint8_t flops_of(unsigned op)
{
    switch (op) {
    case AGX_OP_FMADD32:
    case AGX_OP_FMADD16: return 2;
    case AGX_OP_FADD32:
    case AGX_OP_FADD16:
    case AGX_OP_FMUL32:
    case AGX_OP_FMUL16: return 1;
    case AGX_OP_SIMD_MATRIX_FMADD32:
    case AGX_OP_SIMD_MATRIX_FMADD16: return 32;
    default: return 0;
    }
}

/* Bytes in memory of one component, and components per lane. Packed formats are one element of 4 bytes. */
static void read_memory(const struct agx_inst *inst, struct agx_effect *effect)
{
    static const uint8_t bytes[16] = {1, 2, 4, 2, 1, 1, 2, 2, 4, 0, 1, 0, 4, 4, 4, 4};
    switch (effect->unit_class) {
    case AGX_CLASS_DEVICE_ATOMIC:
    case AGX_CLASS_GROUP_ATOMIC:
        effect->element_bytes = 4;
        effect->elements = 1;
        break;
    case AGX_CLASS_DEVICE_LOAD:
    case AGX_CLASS_DEVICE_STORE:
    case AGX_CLASS_GROUP_LOAD:
    case AGX_CLASS_GROUP_STORE:
    case AGX_CLASS_STACK_LOAD:
    case AGX_CLASS_STACK_STORE:
        effect->element_bytes = bytes[inst->format & 15];
        effect->elements = (uint8_t)__builtin_popcount(inst->component_mask);
        if (inst->format == AGX_FORMAT_RGB10A2 || inst->format >= AGX_FORMAT_RG11B10F)
            effect->elements = 1;
        break;
    case AGX_CLASS_UNIFORM_STORE:
        effect->element_bytes = 2;
        effect->elements = (uint8_t)__builtin_popcount(inst->component_mask);
        break;
    default: break;
    }
}

void agx_effect_of(const struct agx_inst *inst, struct agx_effect *effect)
{
    *effect = (struct agx_effect){.unit_class = class_of(inst)};
    effect->write = range_of(&inst->dst);
    effect->cache_result = inst->dst.hint == AGX_HINT_CACHE;
    effect->reads_r0l = effect->writes_mask = effect->unit_class == AGX_CLASS_MASK;
    effect->flops = flops_of(inst->op);
    read_sources(inst, effect);
    read_memory(inst, effect);
}
