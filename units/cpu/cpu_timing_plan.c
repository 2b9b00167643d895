/* Turns decoded instructions into what the scoreboard needs of them. */
#include "isa/amx/amx_isa.h"
#include "units/cpu/cpu_timing_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned rounded(double cycles, unsigned least, unsigned most)
{
    const double r = nearbyint(cycles);
    return r <= least ? least : r >= most ? most : (unsigned)r;
}

/* STNP: a load/store pair without allocation that stores. */
static bool is_stream_store(const struct a64_insn *insn)
{
    return (insn->flags & A64_INSN_STORE) && (insn->word & UINT32_C(0x3bc00000)) == UINT32_C(0x28000000);
}

static uint8_t kind_of(const struct a64_insn *insn)
{
    unsigned kind = 0;
    if (insn->cls == A64_C_AMX)
        return CPU_OP_AMX | (cpu_amx_stores((unsigned)insn->imm) ? CPU_OP_AMX_STORE : 0);
    if (insn->mem_bytes > 0 && (insn->flags & A64_INSN_LOAD))
        kind |= CPU_OP_LOAD;
    if (insn->mem_bytes > 0 && (insn->flags & A64_INSN_STORE))
        kind |= CPU_OP_STORE;
    if (kind && (insn->flags & A64_INSN_WRITEBACK))
        kind |= CPU_OP_WRITEBACK;
    if (kind == CPU_OP_LOAD && insn->cls == A64_C_LOAD)
        kind |= CPU_OP_POINTER;
    return (uint8_t)(kind | (is_stream_store(insn) ? CPU_OP_STREAM : 0) | (insn->form == A64_DSB ? CPU_OP_SYNC : 0));
}

/* Each port of a group moves its share of what the L1 delivers per cycle. */
static unsigned hold_of(const struct cpu_timing *t, const struct cpu_class_params *c, const struct cpu_op *op)
{
    unsigned hold = rounded(c->issue_cycles, 1, 255);
    const double width = t->port ? mem_port_l1_width(t->port) : 0.0;
    if (width <= 0.0 || !(op->kind & (CPU_OP_LOAD | CPU_OP_STORE)) || op->uops == 0 || op->group >= CPU_PORT_GROUP_COUNT)
        return hold;
    const double cycles = (double)op->bytes / op->uops * t->params.port_count[op->group] / width;
    const unsigned need = rounded(ceil(cycles - 1e-9), 1, 255);
    return need > hold ? need : hold;
}

/* Loads and stores share the width of the L1. Those that keep their ports longer, because it is less wide, take a share of it. */
static uint8_t l1_parts_of(const struct cpu_timing *t, const struct cpu_op *op)
{
    if (!(op->kind & (CPU_OP_LOAD | CPU_OP_STORE)) || op->uops == 0 || t->capacity[CPU_GROUP_L1] == 0)
        return 0;
    const unsigned cycles = op->uops * op->hold, each = (op->bytes + cycles - 1u) / cycles;
    const unsigned parts = (each + CPU_L1_PART - 1) / CPU_L1_PART;
    const unsigned most = t->capacity[CPU_GROUP_L1] < CPU_L1_PARTS_MAX ? t->capacity[CPU_GROUP_L1] : CPU_L1_PARTS_MAX;
    return (uint8_t)(parts < most ? parts : most);
}

/* Returns up to where there are any. */
static unsigned copy_registers(uint8_t *to, unsigned to_count, const uint8_t *from, unsigned from_count)
{
    unsigned end = 0;
    for (unsigned i = 0; i < to_count; i++) {
        to[i] = i < from_count && from[i] < A64_DEP_COUNT ? from[i] : CPU_REG_NONE;
        end = to[i] != CPU_REG_NONE ? i + 1 : end;
    }
    return end;
}

static void make_op(const struct cpu_timing *t, const struct a64_insn *insn, uint32_t index, struct cpu_op *op)
{
    const struct cpu_class_params *c = &t->params.cls[insn->cls < A64_CLASS_COUNT ? insn->cls : A64_C_SYSTEM];
    memset(op, 0, sizeof *op);
    op->kind = kind_of(insn);
    op->bytes = insn->mem_bytes;
    op->uops = c->uops;
    op->group = c->ports < CPU_PORTS_NONE && t->params.port_count[c->ports] > 0 ? c->ports : CPU_GROUP_NONE;
    if (op->kind & CPU_OP_AMX)
        op->group = CPU_GROUP_AMX;
    op->hold = (uint8_t)hold_of(t, c, op);
    op->l1_parts = l1_parts_of(t, op);
    op->base = op->kind & (CPU_OP_LOAD | CPU_OP_STORE) ? insn->rn : (uint8_t)CPU_REG_NONE;
    op->amx_op = (uint8_t)insn->imm;
    op->pc_offset = 4 * index;
    const unsigned sources = copy_registers(op->src, 4, insn->src, sizeof insn->src);
    op->operands = (uint8_t)(sources | copy_registers(op->dst, 3, insn->dst, sizeof insn->dst) << 4);
    const double extra = op->kind & CPU_OP_LOAD ? t->params.cls[A64_C_LOAD].latency_cycles : 0.0;
    op->latency = (uint16_t)rounded(c->latency_cycles - extra, 0, UINT16_MAX);
}

static enum cpu_branch_kind branch_kind(const struct a64_insn *insn)
{
    const uint32_t indirect = insn->word & UINT32_C(0xfffffc1f);
    switch (insn->cls) {
    case A64_C_BRANCH_COND: return CPU_BRANCH_CONDITIONAL;
    case A64_C_BRANCH_INDIRECT:
        return indirect == UINT32_C(0xd65f0000)   ? CPU_BRANCH_RETURN
               : indirect == UINT32_C(0xd63f0000) ? CPU_BRANCH_INDIRECT_CALL
                                                  : CPU_BRANCH_INDIRECT;
    case A64_C_BRANCH: return insn->dst[0] == 30 ? CPU_BRANCH_CALL : CPU_BRANCH_DIRECT;
    default: return CPU_BRANCH_NONE;
    }
}

static void list_accesses(struct cpu_plan *plan)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->count && n < plan->addresses; i++) {
        const struct cpu_op *op = &plan->op[i];
        if (!(op->kind & (CPU_OP_LOAD | CPU_OP_STORE | CPU_OP_AMX)))
            continue;
        const bool loads = op->kind & CPU_OP_LOAD;
        const enum mem_access_kind kind = loads                      ? MEM_ACCESS_LOAD
                                          : op->kind & CPU_OP_STREAM ? MEM_ACCESS_STORE_STREAM
                                                                     : MEM_ACCESS_STORE;
        plan->access[n++] = (struct cpu_access){.kind = op->kind & CPU_OP_AMX ? CPU_ACCESS_AMX : (uint8_t)kind,
                                                .bytes = op->kind & CPU_OP_AMX ? op->amx_op : op->bytes,
                                                .also_stores = loads && (op->kind & CPU_OP_STORE),
                                                .pc_offset = op->pc_offset};
    }
}

static struct cpu_plan *make_plan(const struct cpu_timing *t, const struct cpu_block *block)
{
    const size_t bytes = sizeof(struct cpu_plan) + block->count * sizeof(struct cpu_op);
    struct cpu_plan *plan = calloc(1, bytes + block->mem_count * sizeof plan->access[0]);
    if (!plan)
        return NULL;
    plan->access = (struct cpu_access *)(void *)(plan->op + block->count);
    plan->pc = block->pc;
    plan->count = block->count;
    plan->addresses = block->mem_count;
    plan->end_pc = block->pc + 4 * (uint64_t)block->count;
    plan->only_words = block->mem_count > 0;
    for (uint32_t i = 0; i < block->count; i++) {
        make_op(t, &block->insn[i], i, &plan->op[i]);
        plan->only_words &= !(plan->op[i].kind & (CPU_OP_LOAD | CPU_OP_STORE | CPU_OP_AMX_STORE));
        plan->has_amx |= (plan->op[i].kind & CPU_OP_AMX) != 0;
        plan->has_sync |= (plan->op[i].kind & CPU_OP_SYNC) != 0;
    }
    list_accesses(plan);
    plan->branch = block->count ? branch_kind(&block->insn[block->count - 1]) : CPU_BRANCH_NONE;
    cpu_plan_activity(block, block->count, &plan->once);
    return plan;
}

static bool grow(struct cpu_timing *t, uint32_t id)
{
    uint32_t capacity = t->plan_capacity ? t->plan_capacity : 256;
    while (capacity <= id)
        capacity *= 2;
    struct cpu_plan **plan = realloc(t->plan, capacity * sizeof plan[0]);
    if (!plan)
        return false;
    memset(plan + t->plan_capacity, 0, (capacity - t->plan_capacity) * sizeof plan[0]);
    t->plan = plan;
    t->plan_capacity = capacity;
    return true;
}

/* True when the plan is the one that is needed, apart from its counts. */
static bool same_plan(const struct cpu_plan *a, const struct cpu_plan *b)
{
    return a->pc == b->pc && a->end_pc == b->end_pc && a->count == b->count && a->addresses == b->addresses &&
           a->branch == b->branch && a->has_amx == b->has_amx && memcmp(&a->once, &b->once, sizeof a->once) == 0 &&
           memcmp(a->op, b->op, a->count * sizeof a->op[0]) == 0;
}

static void forget_stale(struct cpu_timing *t)
{
    cpu_memo_clear(t);
    for (uint32_t i = 0; i < t->plan_capacity; i++)
        if (t->plan[i] && t->plan[i]->stale) {
            free(t->plan[i]);
            t->plan[i] = NULL;
        }
}

/* Called when a plan is first needed after blocks may have gone away. If the block differs from the earlier one, what was
 * remembered of the old one is of no use any more. */
static struct cpu_plan *renew(struct cpu_timing *t, const struct cpu_block *block)
{
    struct cpu_plan *fresh = make_plan(t, block), *old = t->plan[block->id];
    if (fresh && old && same_plan(old, fresh)) {
        free(fresh);
        old->stale = false;
        return old;
    }
    if (old)
        forget_stale(t);
    return fresh;
}

struct cpu_plan *cpu_plan_of(struct cpu_timing *t, const struct cpu_block *block)
{
    if (block->id >= t->plan_capacity && !grow(t, block->id))
        return NULL;
    struct cpu_plan *plan = t->plan[block->id];
    if (!plan || plan->stale)
        plan = t->plan[block->id] = renew(t, block);
    return plan;
}

void cpu_plan_part(struct cpu_timing *t)
{
    for (uint32_t i = 0; i < t->plan_capacity; i++)
        if (t->plan[i]) {
            cpu_plan_settle(t->plan[i], &t->activity);
            t->plan[i]->stale = true;
        }
}

void cpu_plan_forget(struct cpu_timing *t)
{
    for (uint32_t i = 0; i < t->plan_capacity; i++) {
        free(t->plan[i]);
        t->plan[i] = NULL;
    }
}

/* Advanced SIMD with several lanes, by the encoding: bit 31 clear, bits 28..25 = 0111 (Arm ARM, top-level encoding). */
static unsigned lanes_of(const struct a64_insn *insn)
{
    const bool vector = (insn->word >> 31) == 0 && (insn->word >> 25 & 15) == 7;
    const unsigned lanes = (insn->q ? 16u : 8u) >> (insn->size < 4 ? insn->size : 4);
    return vector && lanes ? lanes : 1;
}

static void count_insn(const struct a64_insn *insn, struct activity *into)
{
    uint64_t *count = into->count;
    switch (insn->cls) {
    case A64_C_INT:
    case A64_C_INT_SHIFT:
    case A64_C_INT_FLAGS: count[ACT_CPU_INT_OPS]++; break;
    case A64_C_MUL:
    case A64_C_MADD:
    case A64_C_DIV: count[ACT_CPU_MUL_DIV_OPS]++; break;
    case A64_C_BRANCH:
    case A64_C_BRANCH_COND:
    case A64_C_BRANCH_INDIRECT: count[ACT_CPU_BRANCHES]++; break;
    case A64_C_FP_ADD:
    case A64_C_FP_MUL:
    case A64_C_FP_FMA:
    case A64_C_FP_DIV:
    case A64_C_FP_DIV_S:
    case A64_C_FP_DIV_H:
    case A64_C_FP_SQRT:
    case A64_C_FP_SQRT_D:
    case A64_C_FP_CVT:
    case A64_C_FP_CMP:
    case A64_C_FP_MINMAX:
    case A64_C_FP_ESTIMATE: count[ACT_CPU_FP_LANE_OPS] += lanes_of(insn); break;
    case A64_C_V_INT:
    case A64_C_V_MUL:
    case A64_C_V_PERM:
    case A64_C_V_REDUCE: count[ACT_CPU_SIMD_INT_LANE_OPS] += lanes_of(insn); break;
    default: break;
    }
    if (insn->mem_bytes && (insn->flags & A64_INSN_LOAD))
        count[ACT_CPU_LOADS]++;
    if (insn->mem_bytes && (insn->flags & A64_INSN_STORE))
        count[ACT_CPU_STORES]++;
}

void cpu_plan_activity(const struct cpu_block *block, uint32_t count, struct activity *into)
{
    into->count[ACT_CPU_INSTRUCTIONS] += count;
    for (uint32_t i = 0; i < count; i++)
        count_insn(&block->insn[i], into);
}

void cpu_plan_settle(struct cpu_plan *plan, struct activity *into)
{
    for (int i = 0; plan->runs && i < ACT_COUNT; i++)
        into->count[i] += plan->runs * plan->once.count[i];
    plan->runs = 0;
}
