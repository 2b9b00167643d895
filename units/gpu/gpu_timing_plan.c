/* What each instruction of a program costs. Pipes and figures: philipturner/metal-benchmarks; the split into simple and complex
 * units: Mesa src/asahi/compiler/agx_performance.c. */
#include "units/gpu/gpu_timing_state.h"

#include <string.h>

static void add_word(struct gpu_plan *plan, unsigned word, bool cached)
{
    for (unsigned i = 0; i < plan->reads; i++)
        if (plan->read[i] == word + GPU_PLACE_WORDS) {
            if (!cached)
                plan->cached &= (uint8_t) ~(1u << i);
            return;
        }
    if (plan->reads == GPU_READS_MAX || word >= GPU_WORDS)
        return;
    if (cached)
        plan->cached |= (uint8_t)(1u << plan->reads);
    plan->read[plan->reads++] = (uint8_t)(word + GPU_PLACE_WORDS);
}

static void registers(struct gpu_plan *plan, const struct agx_effect *effect)
{
    unsigned from_file = 0;
    for (unsigned i = 0; i < effect->read_count; i++) {
        const struct agx_range *r = &effect->read[i];
        for (unsigned word = r->first / 2u; r->count && word <= (r->first + r->count - 1u) / 2u; word++)
            add_word(plan, word, effect->cached_sources >> i & 1);
    }
    if (effect->reads_r0l)
        add_word(plan, 0, true);
    for (unsigned i = 0; i < plan->reads; i++)
        from_file += !(plan->cached >> i & 1);
    plan->two_words = from_file >= 2;
    plan->write = GPU_PLACE_WRITE_NONE;
    if (effect->write.count) {
        const unsigned first = effect->write.first / 2u, last = (effect->write.first + effect->write.count - 1u) / 2u;
        plan->write = (uint8_t)(first + GPU_PLACE_WORDS);
        for (unsigned word = first; word <= last && word < GPU_WORDS; word++) {
            plan->writes++;
            plan->write_bits[word / 64] |= UINT64_C(1) << word % 64;
        }
    }
}

static bool is_half(const struct agx_operand *operand)
{
    return operand->place == AGX_PLACE_HALF || operand->place == AGX_PLACE_UNIFORM_HALF;
}

/* A compare-select compares sources 0 and 1. */
static bool half_width(const struct agx_inst *inst, enum agx_class unit_class)
{
    if (unit_class == AGX_CLASS_F16)
        return true;
    return unit_class == AGX_CLASS_INT && is_half(&inst->dst) && (!inst->source_count || is_half(&inst->source[0]));
}

static bool is_fma32(unsigned op)
{
    return op == AGX_OP_FMADD32;
}

/* 32-bit compare-selects take as long as an fma (metal-benchmarks: FMAX32, ICMPSEL32 6.11 cycles). */
static bool is_select(unsigned op)
{
    return op == AGX_OP_ICMPSEL || op == AGX_OP_FCMPSEL;
}

static void plan_simple(struct gpu_plan *plan, const struct gpu_params *params, const struct agx_inst *inst,
                        enum agx_class unit_class)
{
    const bool half = half_width(inst, unit_class), fma = is_fma32(inst->op);
    plan->half_width = half;
    plan->pipe = GPU_PIPE_F32;
    if (params->separate_pipes && unit_class != AGX_CLASS_F32)
        plan->pipe = unit_class == AGX_CLASS_F16 ? GPU_PIPE_F16 : GPU_PIPE_INT;
    plan->pipe_cycles = 1;
    plan->hold = half ? GPU_HOLD_16 : fma ? GPU_HOLD_FMA32 : GPU_HOLD_32;
    plan->latency_cycles = (float)(half                         ? params->latency_16_cycles
                                   : fma || is_select(inst->op) ? params->latency_fma32_cycles
                                                                : params->latency_32_cycles);
}

/* The cost class that decides an instruction's pipe; GPU_COST_COUNT for all other instructions. */
static enum gpu_cost_class cost_class(const struct agx_inst *inst, enum agx_class unit_class)
{
    const bool integer = inst->reduction == AGX_REDUCE_IADD;
    switch (unit_class) {
    case AGX_CLASS_CONVERT: return GPU_COST_CONVERT;
    case AGX_CLASS_ROUND: return GPU_COST_ROUND;
    case AGX_CLASS_IMUL: return GPU_COST_IMUL;
    case AGX_CLASS_IMUL64: return GPU_COST_IMUL64;
    case AGX_CLASS_SHIFT: return GPU_COST_SHIFT;
    case AGX_CLASS_EXP2: return GPU_COST_EXP2;
    case AGX_CLASS_LOG2: return GPU_COST_LOG2;
    case AGX_CLASS_RCP: return GPU_COST_RCP;
    case AGX_CLASS_RSQRT: return GPU_COST_RSQRT;
    case AGX_CLASS_SIN: return GPU_COST_SIN;
    case AGX_CLASS_SHUFFLE:
        return inst->op >= AGX_OP_QUAD_SHUFFLE && inst->op <= AGX_OP_QUAD_SHUFFLE_XOR ? GPU_COST_QUAD_SHUFFLE : GPU_COST_SHUFFLE;
    case AGX_CLASS_BALLOT: return GPU_COST_BALLOT;
    case AGX_CLASS_REDUCE:
        if (inst->prefix)
            return inst->whole_simdgroup ? GPU_COST_PREFIX : GPU_COST_QUAD_PREFIX;
        if (inst->whole_simdgroup)
            return integer ? GPU_COST_REDUCE_INT : GPU_COST_REDUCE;
        return integer || inst->reduction == AGX_REDUCE_AND || inst->reduction == AGX_REDUCE_OR ||
                       inst->reduction == AGX_REDUCE_XOR
                   ? GPU_COST_QUAD_REDUCE_INT
                   : GPU_COST_QUAD_REDUCE;
    case AGX_CLASS_MATRIX_F32: return GPU_COST_MATRIX_F32;
    case AGX_CLASS_MATRIX_F16: return GPU_COST_MATRIX_F16;
    default: return GPU_COST_COUNT;
    }
}

static void plan_unit(struct gpu_plan *plan, const struct gpu_params *params, const struct agx_inst *inst,
                      enum gpu_cost_class cls)
{
    const struct gpu_cost *cost = &params->cost[cls];
    const bool matrix = cls == GPU_COST_MATRIX_F16 || cls == GPU_COST_MATRIX_F32;
    const bool complex_ = cls <= GPU_COST_SIN;
    /* Shuffles and reductions use the simple pipe: an inclusive prefix, one addition more, takes one cycle more. */
    plan->pipe = complex_ ? GPU_PIPE_COMPLEX : !matrix && params->separate_pipes ? GPU_PIPE_INT : GPU_PIPE_F32;
    plan->pipe_cycles = (float)(complex_ ? cost->pipe_cycles / params->schedulers : cost->pipe_cycles);
    if (cls >= GPU_COST_REDUCE && cls <= GPU_COST_QUAD_PREFIX && is_half(&inst->dst))
        plan->pipe_cycles += (float)params->reduce_half_cycles;
    plan->latency_cycles = (float)cost->latency_cycles;
    if (complex_)
        plan->issue_cycles = (float)(params->complex_issue_cycles / params->issue_per_cycle);
}

static void plan_device(struct gpu_plan *plan, const struct agx_inst *inst, const struct agx_effect *effect, enum gpu_act act)
{
    plan->act = (uint8_t)act;
    plan->pipe = GPU_PIPE_MEMORY;
    plan->slot = inst->slot & 1;
    plan->lane_bytes = (uint8_t)(effect->element_bytes * (effect->elements ? effect->elements : 1));
}

static void plan_group_memory(struct gpu_plan *plan, const struct agx_effect *effect, bool atomic)
{
    plan->act = GPU_DO_GROUP_MEMORY;
    plan->pipe = GPU_PIPE_GROUP_MEMORY;
    plan->lane_bytes = (uint8_t)(effect->element_bytes * (effect->elements ? effect->elements : 1));
    plan->group_atomic = atomic;
}

static void plan_control(struct gpu_plan *plan, const struct gpu_params *params, enum gpu_act act)
{
    plan->act = (uint8_t)act;
    plan->issue_cycles = (float)params->other_issue_cycles;
    plan->latency_cycles = plan->issue_cycles;
}

static void plan_class(struct gpu_plan *plan, const struct gpu_params *params, const struct agx_inst *inst,
                       const struct agx_effect *effect)
{
    const enum gpu_cost_class cls = cost_class(inst, effect->unit_class);
    if (cls != GPU_COST_COUNT) {
        plan_unit(plan, params, inst, cls);
        return;
    }
    switch (effect->unit_class) {
    case AGX_CLASS_F32:
    case AGX_CLASS_F16:
    case AGX_CLASS_INT: plan_simple(plan, params, inst, effect->unit_class); break;
    case AGX_CLASS_GET_SR:
        plan_simple(plan, params, inst, AGX_CLASS_INT);
        plan->pipe_cycles = (float)params->get_sr_cycles;
        break;
    case AGX_CLASS_DEVICE_LOAD:
    case AGX_CLASS_STACK_LOAD: plan_device(plan, inst, effect, GPU_DO_LOAD); break;
    case AGX_CLASS_DEVICE_STORE:
    case AGX_CLASS_STACK_STORE: plan_device(plan, inst, effect, GPU_DO_STORE); break;
    case AGX_CLASS_DEVICE_ATOMIC: plan_device(plan, inst, effect, GPU_DO_ATOMIC); break;
    case AGX_CLASS_GROUP_LOAD:
    case AGX_CLASS_GROUP_STORE: plan_group_memory(plan, effect, false); break;
    case AGX_CLASS_GROUP_ATOMIC: plan_group_memory(plan, effect, true); break;
    case AGX_CLASS_WAIT:
        plan_control(plan, params, GPU_DO_WAIT);
        plan->slot = inst->slot & 1;
        break;
    case AGX_CLASS_BARRIER: plan_control(plan, params, GPU_DO_BARRIER); break;
    case AGX_CLASS_STOP: plan_control(plan, params, GPU_DO_STOP); break;
    default: plan_control(plan, params, GPU_DO_ARITHMETIC);
    }
}

void gpu_plan_make(struct gpu_plan *plan, const struct gpu_params *params, const struct agx_inst *inst,
                   const struct agx_effect *effect, uint32_t pc)
{
    memset(plan, 0, sizeof *plan);
    plan->issue_cycles = (float)(1 / params->issue_per_cycle);
    plan->icache_line = pc / GPU_ICACHE_LINE;
    registers(plan, effect);
    plan_class(plan, params, inst, effect);
    plan->two_words &= plan->hold != GPU_HOLD_NONE;
}

static bool writes_word(const struct gpu_plan *plan, unsigned word)
{
    return plan->write_bits[word / 64] >> word % 64 & 1;
}

/* Distance to the latest instruction that wrote a register; `window` when it is older. */
static unsigned distance_of(const struct gpu_timing *t, const uint32_t *recent, unsigned window, unsigned word)
{
    unsigned distance = 1;
    while (distance < window && (recent[distance - 1] == UINT32_MAX || !writes_word(&t->plan[recent[distance - 1]], word)))
        distance++;
    return distance;
}

void gpu_plan_operands(const struct gpu_timing *t, const struct gpu_plan *plan, const uint32_t *recent, double *hold_cycles,
                       float *port_cycles)
{
    const unsigned window = t->window >> plan->half_width;
    unsigned nearest = window;
    double hold = 0;
    *hold_cycles = *port_cycles = 0;
    for (unsigned i = 0; i < plan->reads; i++) {
        const unsigned distance = distance_of(t, recent, window, plan->read[i] - GPU_PLACE_WORDS);
        if (distance >= window || plan->cached >> i & 1)
            continue;
        const uint8_t kind = t->plan[recent[distance - 1]].hold;
        if (kind == GPU_HOLD_NONE)
            continue;
        const double h = t->hold_cycles[kind] * (window - distance);
        hold = h > hold ? h : hold;
        nearest = distance < nearest ? distance : nearest;
    }
    if (nearest == window || plan->hold == GPU_HOLD_NONE)
        return;
    const double share = 1.0 / (window - 1);
    if (plan->two_words)
        *port_cycles = (float)(t->params.register_port_cycles * (plan->half_width ? 0.5 : 1) * (window - nearest) * share);
    *hold_cycles = hold * share;
}

void gpu_plan_straight(struct gpu_timing *t, uint32_t instruction)
{
    uint32_t recent[GPU_WINDOW_MAX];
    struct gpu_plan *plan = &t->plan[instruction];
    for (unsigned i = 0; i < GPU_WINDOW_MAX; i++)
        recent[i] = i < instruction ? instruction - 1 - i : UINT32_MAX;
    gpu_plan_operands(t, plan, recent, &plan->hold_cycles, &plan->port_cycles);
}
