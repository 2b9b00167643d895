/* Conditions, the execution mask and control flow. */
#include "units/gpu/gpu_exec_numeric.h"
#include "units/gpu/gpu_exec_plain.h"

/* --- conditions, of all 32 lanes --- */

static bool int_holds(unsigned condition, uint64_t a, uint64_t b)
{
    const bool is_signed = condition & 4;
    switch (condition & 3) {
    case 0: return a == b;
    case 1: return is_signed ? (int64_t)a < (int64_t)b : a < b;
    default: return is_signed ? (int64_t)a > (int64_t)b : a > b;
    }
}

/* ltn and gtn: the "NaN loses" minimum and maximum of Mesa; the rule for the second operand is inferred. */
static bool float_holds(unsigned condition, float a, float b)
{
    switch (condition) {
    case AGX_FEQ: return a == b;
    case AGX_FLT: return a < b;
    case AGX_FGT: return a > b;
    case AGX_FLTN: return isnan(b) || a < b;
    case AGX_FGE: return a >= b;
    case AGX_FLE: return a <= b;
    default: return isnan(b) || a > b;
    }
}

static uint32_t int_condition(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    struct gpu_operand from[2] = {op->source[0], op->source[1]};
    uint64_t value[2][GPU_LANES];
    for (unsigned i = 0; i < 2; i++) {
        from[i].sign_extend = op->inst->condition & 4; /* each from its own width; scalars are extended by gpu_bind */
        gpu_read_int(group, &from[i], value[i]);
    }
    uint32_t holds = 0;
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        holds |= (uint32_t)int_holds(op->inst->condition, value[0][lane], value[1][lane]) << lane;
    return holds;
}

static uint32_t float_condition(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint32_t a[GPU_LANES], b[GPU_LANES], holds = 0;
    gpu_read_float(group, &op->source[0], a);
    gpu_read_float(group, &op->source[1], b);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        holds |= (uint32_t)float_holds(op->inst->condition, f32_of_bits(a[lane]), f32_of_bits(b[lane])) << lane;
    return holds;
}

uint32_t gpu_condition(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint32_t holds;
    switch (op->inst->op) {
    case AGX_OP_IF_FCMP:
    case AGX_OP_ELSE_FCMP:
    case AGX_OP_WHILE_FCMP:
    case AGX_OP_FCMPSEL:
    case AGX_OP_FCMP_BALLOT:
    case AGX_OP_FCMP_QUAD_BALLOT: holds = float_condition(group, op); break;
    default: holds = int_condition(group, op); break;
    }
    return op->inst->invert ? ~holds : holds;
}

/* --- the nesting counter r0l --- */

static uint16_t after_if(uint16_t v, bool holds, unsigned n)
{
    return v ? (uint16_t)(v + n) : !holds;
}

static uint16_t after_else(uint16_t v, bool holds, unsigned n)
{
    return v == 0 ? (uint16_t)n : v == 1 ? !holds : v;
}

static uint16_t after_while(uint16_t v, bool holds, unsigned n)
{
    return v < n ? (holds ? 0 : (uint16_t)n) : v;
}

static uint16_t after_pop(uint16_t v, bool holds, unsigned n)
{
    (void)holds;
    return v > n ? (uint16_t)(v - n) : 0;
}

/* For all 32 lanes, active or not; the mask follows from the counters. Lanes that do not exist stay off, but their counters
 * change, too. */
static const struct gpu_op *nest(struct gpu_simdgroup *group, const struct gpu_op *op, uint32_t holds,
                                 uint16_t (*after)(uint16_t v, bool holds, unsigned n))
{
    uint32_t mask = 0;
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint32_t word = group->word[0][lane];
        const uint16_t v = after((uint16_t)word, holds >> lane & 1, op->inst->nesting);
        group->word[0][lane] = (word & 0xffff0000) | v;
        mask |= (uint32_t)(v == 0) << lane;
    }
    group->mask = mask & group->exist;
    return op->next;
}

static const struct gpu_op *op_if(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return nest(group, op, gpu_condition(group, op), after_if);
}

static const struct gpu_op *op_else(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return nest(group, op, gpu_condition(group, op), after_else);
}

static const struct gpu_op *op_while(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return nest(group, op, gpu_condition(group, op), after_while);
}

static const struct gpu_op *op_pop(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return nest(group, op, 0, after_pop);
}

/* --- jumps --- */

static const struct gpu_op *jump_any(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return group->mask ? op->target : op->next;
}

static const struct gpu_op *jump_none(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return group->mask ? op->next : op->target;
}

static void set_link(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const uint32_t pc = gpu_program_pc(group->group->program, op->index) + op->inst->bytes;
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        if (group->mask >> lane & 1)
            group->word[1][lane] = pc;
}

static const struct gpu_op *call(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    set_link(group, op);
    return op->target;
}

/* Jumps to the address in a register. Which of several targets goes first is not understood (dougallj/applegpu), so they must
 * agree. With no active lane there is no address to jump to, and going on with the next instruction is wrong for ret: a fault. */
static const struct gpu_op *to_register(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct gpu_operand *from = &op->source[0];
    uint32_t address[GPU_LANES];
    gpu_read_raw(group, from, 0, address);
    if (!group->mask)
        return gpu_fault(group, op, UNIT_FAULT_UNMODELLED, 0, "jumps to a register with no active lane");
    const uint32_t target = address[__builtin_ctz(group->mask)];
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        if ((group->mask >> lane & 1) && address[lane] != target)
            return gpu_fault(group, op, UNIT_FAULT_UNMODELLED, 0, "lanes jump to different targets");
    const uint32_t index = gpu_program_find(group->group->program, target);
    if (index == GPU_NO_INSTRUCTION)
        return gpu_fault(group, op, UNIT_FAULT_UNMODELLED, target, "jumps to byte 0x%x, which no static path reaches", target);
    if (op->inst->op == AGX_OP_CALL_REGISTER)
        set_link(group, op);
    return &group->group->op[index];
}

static const struct gpu_op *barrier(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    struct gpu_group *all = group->group;
    group->at = op->next;
    if (++all->arrived + all->stopped < all->simdgroups) {
        group->state = GPU_AT_BARRIER;
        group->barrier_seen = all->barrier_openings;
        return NULL;
    }
    gpu_barrier_open(all);
    return op->next;
}

static const struct gpu_op *stop(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    struct gpu_group *all = group->group;
    group->at = op;
    group->state = GPU_STOPPED;
    all->stopped++;
    /* A simdgroup that has ended will never arrive: it does not hold up the others (a guess; Metal leaves it undefined). */
    if (all->arrived > 0 && all->arrived + all->stopped == all->simdgroups) {
        if (all->sanitizer)
            gpu_sanitizer_stopped_early(all->sanitizer, group);
        gpu_barrier_open(all);
    }
    return NULL;
}

static const struct gpu_op *trap(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    return gpu_fault(group, op, UNIT_FAULT_TRAP, 0, "runs into a trap");
}

static const struct gpu_op *nothing(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    (void)group;
    return op->next;
}

/* All it does is order accesses, and this side keeps the order among lanes anyway; other host threads must see it, too. */
static const struct gpu_op *fence(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    (void)group;
#ifndef __SANITIZE_THREAD__ /* thread sanitizers do not know fences */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
    return op->next;
}

gpu_handler *gpu_plain_mask(unsigned op)
{
    switch (op) {
    case AGX_OP_IF_ICMP:
    case AGX_OP_IF_FCMP: return op_if;
    case AGX_OP_ELSE_ICMP:
    case AGX_OP_ELSE_FCMP: return op_else;
    case AGX_OP_WHILE_ICMP:
    case AGX_OP_WHILE_FCMP: return op_while;
    case AGX_OP_POP_EXEC: return op_pop;
    case AGX_OP_JMP_EXEC_ANY: return jump_any;
    case AGX_OP_JMP_EXEC_NONE: return jump_none;
    case AGX_OP_CALL: return call;
    case AGX_OP_CALL_REGISTER:
    case AGX_OP_RET: return to_register;
    case AGX_OP_THREADGROUP_BARRIER: return barrier;
    case AGX_OP_STOP: return stop;
    case AGX_OP_TRAP: return trap;
    case AGX_OP_WAIT: return nothing; /* loads are complete at once */
    case AGX_OP_MEMORY_BARRIER: return fence;
    default: return NULL;
    }
}
