/* What a loop computes anew each time round although it never changes moves in front of the loop. Clang has done so with what it
 * could see through; left are positions of threads, which it must not move, what depends on them, and what lowering made.
 * Operations that their users take over (small shifts, extensions, compares ...) move only along with others: alone they would
 * save nothing and take a register. */
#include "isa/agx/compiler/pass.h"

enum { MOST_MOVED = 24 }; /* per loop: each takes a register in it */

struct loop {
    struct pass *p;
    bool *inside;         /* by id of a block */
    struct ir_value *end; /* of the block in front, before which values are put */
    const uint32_t *uses;
    uint32_t values; /* ids below belong to values that were there before */
    bool *is_base;   /* by id of a value: an address to which others add */
    unsigned moved;
};

/* An address that the hardware does not add up by itself: it is a base for others, or its index has 64 bits. */
static bool is_costly_address(const struct loop *l, const struct ir_value *v)
{
    const struct ir_value *const index = v->operand[1];
    const bool is_short = index->type->bits == 32 || pass_is_value(index) || index->op == IR_ZEXT || index->op == IR_SEXT ||
                          (index->op == IR_SHL && (index->operand[0]->op == IR_ZEXT || index->operand[0]->op == IR_SEXT));
    return v->type->space != IR_THREADGROUP && v->type->space != IR_PRIVATE &&
           (!is_short || (v->id < l->values && l->is_base[v->id]));
}

static bool is_free(const struct loop *l, const struct ir_value *v)
{
    uint64_t bits;
    switch (v->op) {
    case IR_ZEXT:
    case IR_SEXT:
    case IR_TRUNC:
    case IR_BITCAST:
    case IR_PTRTOINT:
    case IR_INTTOPTR:
    case IR_SPACECAST:
    case IR_FREEZE:
    case IR_FNEG:
    case IR_FPEXT:
    case IR_ICMP:
    case IR_FCMP:
    case IR_EXTRACT:
    case IR_INSERT: return true;
    case IR_GEP: return !is_costly_address(l, v);
    case IR_SHL: return pass_is_constant(v->operand[1], &bits) && bits <= 4;
    case IR_BUILTIN: return v->builtin == IR_B_FABS || v->builtin == IR_B_GLOBAL_SIZE || v->builtin == IR_B_GROUP_COUNT;
    default: return v->type->kind == IR_INT && v->type->bits == 1;
    }
}

static bool has_one_use(const struct loop *l, const struct ir_value *v)
{
    return v->home && v->id < l->values && l->uses[v->id] == 1;
}

/* A product of one use becomes part of the addition that uses it. */
static bool is_part_of_user(const struct loop *l, const struct ir_value *v)
{
    return (v->op == IR_MUL || v->op == IR_FMUL) && has_one_use(l, v);
}

static bool may_move(const struct ir_value *v)
{
    return !(ir_flags(v) & (IR_E | IR_M)) && !v->is_volatile && v->op != IR_PHI && v->op != IR_LOAD &&
           ir_op_kind(v->op) != IR_KIND_END;
}

/* Whether `v` is outside, or may be moved there with all that it is made of. */
static bool is_invariant(const struct loop *l, const struct ir_value *v, unsigned depth)
{
    if (pass_is_value(v) || !l->inside[v->home->id])
        return true;
    if (!may_move(v) || depth > 8)
        return false;
    for (unsigned i = 0; i < v->operands; i++)
        if (!is_invariant(l, v->operand[i], depth + 1))
            return false;
    return true;
}

static void move(struct loop *l, struct ir_value *v)
{
    if (pass_is_value(v) || !l->inside[v->home->id])
        return;
    for (unsigned i = 0; i < v->operands; i++)
        move(l, v->operand[i]);
    ir_remove(v);
    ir_insert_before(l->end, v);
    l->p->changed = true;
}

/* (a + b) * u + c, where only a changes, becomes a * u + (b * u + c): one instruction in the loop, and one register. */
static void distribute(struct loop *l, struct ir_value *v)
{
    struct ir_value *product = NULL, *rest = NULL;
    for (unsigned i = 0; i < 2 && !product; i++)
        if (v->operand[i]->op == IR_MUL && has_one_use(l, v->operand[i]) && is_invariant(l, v->operand[1 - i], 0)) {
            product = v->operand[i];
            rest = v->operand[1 - i];
        }
    for (unsigned i = 0; product && i < 2; i++) {
        struct ir_value *const sum = product->operand[i], *const by = product->operand[1 - i];
        if (sum->op != IR_ADD || !has_one_use(l, sum) || !is_invariant(l, by, 0) || is_invariant(l, sum, 0))
            continue;
        for (unsigned k = 0; k < 2; k++) {
            struct ir_value *const fixed = sum->operand[k];
            if (!is_invariant(l, fixed, 0) || pass_is_value(fixed))
                continue;
            move(l, rest);
            move(l, by);
            move(l, fixed);
            struct build before = build_at(l->p, l->end), here = build_at(l->p, v);
            struct ir_value *const base = build_2(&before, IR_ADD, build_2(&before, IR_MUL, fixed, by), rest);
            v->operand[0] = build_2(&here, IR_MUL, sum->operand[1 - k], by);
            v->operand[1] = base;
            v->exact = false;
            l->p->changed = true;
            return;
        }
    }
}

static void move_all(struct loop *l, struct ir_block *const *order, unsigned blocks)
{
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first, *next; v && l->inside[order[i]->id] && l->moved < MOST_MOVED; v = next) {
            next = v->next;
            if (v->op == IR_ADD && v->type->bits == 32 && v->id < l->values)
                distribute(l, v);
            if (v->id >= l->values) /* just made */
                continue;
            if (is_free(l, v) || is_part_of_user(l, v) || !is_invariant(l, v, 0))
                continue;
            move(l, v);
            l->moved++;
        }
}

/* A loop that goes on while i < n compares i + 1, which it needs anyway, with n + 1: i itself ends before. */
static void compare_next(struct pass *p, struct ir_block *b)
{
    struct ir_value *const end = b->last, *const test = end->op == IR_BRANCH ? end->operand[0] : NULL;
    uint64_t limit, by;
    if (!test || test->op != IR_ICMP || test->home != b || !pass_is_constant(test->operand[1], &limit) ||
        test->operand[0]->op != IR_PHI || test->operand[0]->type->bits != 32)
        return;
    const struct ir_value *const counter = test->operand[0];
    struct ir_value *next = NULL;
    for (unsigned i = 0; i < counter->operands; i++)
        if (counter->block[i] == b && counter->operand[i]->op == IR_ADD && counter->operand[i]->home == b)
            next = counter->operand[i];
    if (!next || next->operand[0] != counter || !pass_is_constant(next->operand[1], &by))
        return;
    const bool equal = test->condition == IR_EQ || test->condition == IR_NE, is_unsigned = test->condition <= IR_ULE && !equal;
    if (!equal && !(is_unsigned && next->exact && limit + by <= UINT32_MAX))
        return;
    struct build builder = build_at(p, end);
    end->operand[0] = build_icmpn(&builder, (enum ir_condition)test->condition, next, (uint32_t)(limit + by));
    p->changed = true;
}

/* Marks the blocks of the loop of `header`; false when there is none. `list` has room for all blocks. */
static bool find_loop(bool *inside, struct ir_block *header, struct ir_block **list, uint32_t ids)
{
    unsigned listed = 0;
    for (uint32_t i = 0; i < ids; i++)
        inside[i] = false;
    inside[header->id] = true;
    for (unsigned i = 0; i < header->predecessors; i++) {
        struct ir_block *const from = header->predecessor[i];
        if (!ir_dominates(header, from))
            continue;
        if (from == header)
            return true;
        if (!inside[from->id])
            list[listed++] = from;
        inside[from->id] = true;
    }
    for (unsigned next = 0; next < listed; next++)
        for (unsigned i = 0; i < list[next]->predecessors; i++) {
            struct ir_block *const from = list[next]->predecessor[i];
            if (!inside[from->id])
                list[listed++] = from;
            inside[from->id] = true;
        }
    return listed > 0;
}

static uint32_t *find_depths(struct pass *p, struct ir_block *const *order, unsigned blocks, struct loop *l,
                             struct ir_block **list, uint32_t ids)
{
    uint32_t *const depth = ir_alloc(p->m, ids * sizeof *depth);
    if (ir_module_failed(p->m))
        return depth;
    for (unsigned i = 0; i < blocks; i++)
        if (find_loop(l->inside, order[i], list, ids))
            for (uint32_t k = 0; k < ids; k++)
                depth[k] += l->inside[k];
    return depth;
}

bool pass_invariant(struct pass *p)
{
    unsigned blocks;
    struct ir_block **const order = pass_order(p, &blocks);
    struct loop l = {.p = p, .uses = pass_count_uses(p)};
    if (!ir_dominate(p->f))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    l.values = p->f->next_id;
    uint32_t ids = 1;
    for (unsigned i = 0; i < blocks; i++)
        ids = order[i]->id >= ids ? order[i]->id + 1 : ids;
    struct ir_block **const list = ir_alloc(p->m, ids * sizeof(void *));
    l.inside = ir_alloc(p->m, ids);
    l.is_base = ir_alloc(p->m, p->f->next_id + 1);
    const uint32_t *const depth = find_depths(p, order, blocks, &l, list, ids);
    if (ir_module_failed(p->m))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    for (unsigned i = 0; i < blocks; i++)
        for (const struct ir_value *v = order[i]->first; v; v = v->next)
            if (v->op == IR_GEP && !pass_is_value(v->operand[0]))
                l.is_base[v->operand[0]->id] = true;
    for (unsigned i = 0; i < blocks; i++)
        compare_next(p, order[i]);
    for (unsigned i = blocks; i-- > 0;) { /* inner loops first */
        struct ir_block *const before = ir_immediate_dominator(order[i]);
        if (!before || depth[before->id] >= depth[order[i]->id] || !find_loop(l.inside, order[i], list, ids))
            continue;
        l.end = before->last;
        l.moved = 0;
        move_all(&l, order, blocks);
    }
    return true;
}
