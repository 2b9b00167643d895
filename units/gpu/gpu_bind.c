/* Binds a program to its launch: every operand becomes a known register or a known value, every operation gets a handler. */
#include "isa/array_count.h"
#include "units/gpu/gpu_exec_numeric.h"
#include "units/gpu/gpu_exec_plain.h"

/* The plain handler of an operation; never NULL for operations that gpu_inst_unmodelled accepts. */
static gpu_handler *gpu_plain_handler(const struct agx_inst *inst)
{
    gpu_handler *(*const family[])(unsigned op) = {
        gpu_plain_integer, gpu_plain_float,  gpu_plain_mask,   gpu_plain_shuffle,
        gpu_plain_reduce,  gpu_plain_memory, gpu_plain_atomic, gpu_plain_special,
    };
    for (size_t i = 0; i < ARRAY_COUNT(family); i++) {
        gpu_handler *handler = family[i](inst->op);
        if (handler)
            return handler;
    }
    return NULL;
}

static const struct gpu_op *no_handler(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return gpu_fault(group, op, UNIT_FAULT_UNMODELLED, 0, "is not modelled");
}

static const struct gpu_op *too_many_registers(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return gpu_fault(group, op, UNIT_FAULT_UNDEFINED, 0, "names a register above the %u halves given to the program",
                     group->group->launch.register_halves);
}

static const struct gpu_op *code_ends(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return gpu_fault(group, op, UNIT_FAULT_UNDEFINED, 0, "execution leaves the decoded code");
}

/* --- operands --- */

/* True when source i is signed because of the operation, not because of a bit of its own. */
static bool signed_by_operation(const struct agx_inst *inst, unsigned i)
{
    switch (inst->op) {
    case AGX_OP_ASR:
    case AGX_OP_ASRH: return i == 0;
    case AGX_OP_ICMPSEL:
    case AGX_OP_ICMP_BALLOT:
    case AGX_OP_ICMP_QUAD_BALLOT:
    case AGX_OP_IF_ICMP:
    case AGX_OP_ELSE_ICMP:
    case AGX_OP_WHILE_ICMP: return i < 2 && (inst->condition & 4);
    default:
        return inst->op >= AGX_OP_QUAD_AND && inst->op <= AGX_OP_SIMD_OP &&
               (inst->reduction == AGX_REDUCE_SMIN || inst->reduction == AGX_REDUCE_SMAX);
    }
}

static void bind_uniform(struct gpu_operand *to, const struct agx_operand *from, const uint16_t *uniforms, bool sign)
{
    const uint16_t *at = uniforms + from->index;
    const uint32_t word = from->place == AGX_PLACE_UNIFORM_HALF ? at[0] : at[0] | (uint32_t)at[1] << 16;
    to->kind = GPU_SCALAR;
    if (from->place == AGX_PLACE_UNIFORM_HALF) {
        to->bits = 16;
        to->float_half = true;
        to->scalar = sign ? (uint64_t)(int64_t)(int16_t)word : word;
        to->scalar_float = gpu_float_from_half((uint16_t)word);
    } else if (from->place == AGX_PLACE_UNIFORM_WORD) {
        to->bits = 32;
        to->scalar = sign ? (uint64_t)(int64_t)(int32_t)word : word;
        to->scalar_float = gpu_flush32(word);
    } else {
        to->bits = 64;
        to->scalar = word | (uint64_t)at[2] << 32 | (uint64_t)at[3] << 48;
    }
}

static void bind_operand(struct gpu_operand *to, const struct agx_operand *from, const uint16_t *uniforms, bool sign)
{
    *to = (struct gpu_operand){.count = from->count,
                               .sign_extend = from->sign_extend,
                               .absolute = from->absolute,
                               .negate = from->negate,
                               .word = (uint8_t)(from->index / 2)};
    switch (from->place) {
    case AGX_PLACE_HALF:
        to->kind = from->index & 1 ? GPU_HIGH : GPU_LOW;
        to->bits = 16;
        break;
    case AGX_PLACE_WORD:
        to->kind = GPU_WORD;
        to->bits = 32;
        break;
    case AGX_PLACE_PAIR:
        to->kind = GPU_PAIR;
        to->bits = 64;
        break;
    case AGX_PLACE_UNIFORM_HALF:
    case AGX_PLACE_UNIFORM_WORD:
    case AGX_PLACE_UNIFORM_PAIR: bind_uniform(to, from, uniforms, sign || from->sign_extend); break;
    case AGX_PLACE_IMMEDIATE:
        to->kind = GPU_SCALAR;
        to->bits = 32;
        to->scalar = (uint64_t)(int64_t)from->immediate;
        to->scalar_float = (uint32_t)from->immediate;
        break;
    default: to->kind = GPU_NONE; break;
    }
}

static void bind_dst(struct gpu_op *op, const struct agx_operand *dst)
{
    op->dst_word = (uint8_t)(dst->index / 2);
    op->dst_kind = dst->place == AGX_PLACE_HALF   ? (dst->index & 1 ? GPU_HIGH : GPU_LOW)
                   : dst->place == AGX_PLACE_WORD ? GPU_WORD
                   : dst->place == AGX_PLACE_PAIR ? GPU_PAIR
                                                  : GPU_NONE;
}

static uint32_t highest_half(const struct agx_inst *inst)
{
    uint32_t top = 0;
    for (unsigned i = 0; i < 1U + AGX_MAX_SOURCES; i++) {
        const struct agx_operand *operand = i ? &inst->source[i - 1] : &inst->dst;
        const uint32_t width = operand->place == AGX_PLACE_HALF ? 1 : operand->place == AGX_PLACE_WORD ? 2 : 4;
        if (operand->place >= AGX_PLACE_HALF && operand->place <= AGX_PLACE_PAIR && operand->index + width * operand->count > top)
            top = operand->index + width * operand->count;
    }
    return top;
}

/* --- instructions --- */

/* Behind an instruction that nothing follows, there is one that faults, so that handlers need not check. */
static const struct gpu_op *op_at(const struct gpu_group *group, uint32_t index)
{
    return &group->op[index == GPU_NO_INSTRUCTION ? group->program->count : index];
}

static void bind_op(struct gpu_group *group, uint32_t index, const uint16_t *uniforms)
{
    const struct gpu_inst *from = &group->program->inst[index];
    const struct agx_inst *inst = &from->inst;
    struct gpu_op *op = &group->op[index];
    op->inst = inst;
    op->index = index;
    op->entered = &group->entered[index];
    op->next = op_at(group, from->next);
    op->target = op_at(group, from->target);
    op->source_count = inst->source_count > 4 ? 4 : inst->source_count;
    bind_dst(op, &inst->dst);
    for (unsigned i = 0; i < op->source_count; i++)
        bind_operand(&op->source[i], &inst->source[i], uniforms, signed_by_operation(inst, i));
    op->touches = gpu_touches_memory(inst->op);
    op->touches_lines = gpu_touches_lines(inst->op);
    op->plain = gpu_plain_handler(inst);
    if (!op->plain)
        op->plain = no_handler;
    op->run = op->plain;
    if (group->launch.register_halves && highest_half(inst) > group->launch.register_halves)
        op->run = op->plain = too_many_registers;
    else if (group->vectors) {
        gpu_handler *fast = group->vectors->pick(op);
        op->vectorised = fast != NULL;
        op->run = fast ? fast : op->plain;
    }
    if (group->checks.steer && !from->steers && op->run != too_many_registers)
        op->run = op->touches ? gpu_reach : gpu_pass;
}

/* True when the following instruction always executes next, with the same mask. */
bool gpu_goes_straight(const struct agx_inst *inst)
{
    switch (inst->op) {
    case AGX_OP_IF_ICMP:
    case AGX_OP_IF_FCMP:
    case AGX_OP_ELSE_ICMP:
    case AGX_OP_ELSE_FCMP:
    case AGX_OP_WHILE_ICMP:
    case AGX_OP_WHILE_FCMP:
    case AGX_OP_POP_EXEC:
    case AGX_OP_JMP_EXEC_ANY:
    case AGX_OP_JMP_EXEC_NONE:
    case AGX_OP_CALL:
    case AGX_OP_CALL_REGISTER:
    case AGX_OP_RET:
    case AGX_OP_STOP:
    case AGX_OP_TRAP:
    case AGX_OP_THREADGROUP_BARRIER: return false;
    default: return true;
    }
}

static void set_idle(struct gpu_op *op, unsigned when, bool idle)
{
    const struct gpu_idle *rest = &op->next->idle[when];
    const bool goes_on = idle && gpu_goes_straight(op->inst) && rest->count > 0;
    op->idle[when] = (struct gpu_idle){idle ? 1 + (goes_on ? rest->count : 0) : 0, goes_on ? rest->last : op};
}

/* From the last address to the first, because a block depends on what follows it. */
static void set_blocks(struct gpu_group *group)
{
    for (uint32_t i = group->program->count; i-- > 0;) {
        struct gpu_op *op = &group->op[i];
        const bool passes = op->run == gpu_pass || op->run == gpu_reach;
        set_idle(op, 0, passes);
        set_idle(op, 1, passes && !op->touches_lines);
        op->straight = gpu_goes_straight(op->inst) ? op->next->straight + 1 : 1;
    }
}

void gpu_bind(struct gpu_group *group, const uint16_t *uniforms)
{
    const uint32_t count = group->program->count;
    for (uint32_t i = 0; i < count; i++)
        bind_op(group, i, uniforms);
    struct gpu_op *end = &group->op[count];
    end->run = end->plain = code_ends;
    end->next = end->target = end;
    end->inst = &group->program->inst[count - 1].inst;
    end->index = count - 1;
    end->entered = &group->entered[count];
    end->straight = 1;
    set_blocks(group);
}
