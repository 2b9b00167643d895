/* Control flow: branches on constants, blocks in a row, and ifs whose arms only compute a little to selects. */
#include "isa/agx/compiler/pass.h"

/* What an arm may hold to be computed whether or not it is needed. */
#define MOST_IN_ARM 6

static void flow_forget(struct ir_block *to, const struct ir_block *from)
{
    for (struct ir_value *v = to->first; v && v->op == IR_PHI; v = v->next)
        for (unsigned i = 0; i < v->operands; i++)
            if (v->block[i] == from) {
                v->operands--;
                v->blocks--;
                v->operand[i] = v->operand[v->operands];
                v->block[i] = v->block[v->blocks];
                break;
            }
}

static void flow_renamed(struct ir_block *to, const struct ir_block *from, struct ir_block *now)
{
    for (struct ir_value *v = to->first; v && v->op == IR_PHI; v = v->next)
        for (unsigned i = 0; i < v->blocks; i++)
            if (v->block[i] == from)
                v->block[i] = now;
}

static void flow_jump(struct pass *p, struct ir_block *b, struct ir_block *to)
{
    struct ir_value *old = b->last, *jump = ir_make(p->f, IR_JUMP, ir_void(p->m), NULL, 0);
    jump->line = old->line;
    jump->file = old->file;
    jump->block = ir_alloc(p->m, sizeof *jump->block);
    jump->block[0] = to;
    jump->blocks = 1;
    ir_remove(old);
    ir_append(b, jump);
    p->changed = true;
}

static bool flow_constant(struct pass *p, struct ir_block *b)
{
    const struct ir_value *end = b->last;
    uint64_t bits;
    if (end->op != IR_BRANCH)
        return false;
    struct ir_block *yes = end->block[0], *no = end->block[1];
    if (yes == no) {
        flow_jump(p, b, yes);
        return true;
    }
    if (end->operand[0]->op == IR_UNDEFINED)
        bits = 0;
    else if (!pass_is_constant(end->operand[0], &bits))
        return false;
    flow_forget(bits & 1 ? no : yes, b);
    flow_jump(p, b, bits & 1 ? yes : no);
    return true;
}

/* The only successor of b follows it only: both become one. */
static bool flow_join(struct pass *p, struct ir_block *b)
{
    if (b->last->op != IR_JUMP)
        return false;
    struct ir_block *to = b->last->block[0];
    if (to == b || to == p->f->first || to->predecessors != 1)
        return false;
    while (to->first->op == IR_PHI) {
        struct ir_value *phi = to->first, *value = phi->operand[0];
        ir_remove(phi);
        ir_replace(p->f, phi, value);
    }
    ir_remove(b->last);
    while (to->first) {
        struct ir_value *v = to->first;
        ir_remove(v);
        ir_append(b, v);
    }
    for (unsigned i = 0; i < pass_targets(b->last); i++)
        flow_renamed(b->last->block[i], to, b);
    ir_remove_block(p->f, to);
    p->changed = true;
    return true;
}

/* ---- ifs to selects ---- */

static bool flow_is_arm(const struct ir_block *arm, const struct ir_block *head)
{
    unsigned count = 0;
    if (arm->predecessors != 1 || arm->predecessor[0] != head || arm->last->op != IR_JUMP)
        return false;
    for (const struct ir_value *v = arm->first; v != arm->last; v = v->next, count++) {
        const enum ir_op_kind kind = ir_op_kind(v->op);
        if (kind == IR_KIND_MEMORY && v->op != IR_GEP)
            return false;
        if (v->op == IR_PHI || v->op == IR_CALL || (ir_flags(v) & (IR_E | IR_M)) || v->op == IR_FDIV)
            return false;
        if (v->op == IR_UDIV || v->op == IR_SDIV || v->op == IR_UREM || v->op == IR_SREM || v->op == IR_FREM)
            return false;
    }
    return count <= MOST_IN_ARM;
}

static void flow_hoist(struct ir_block *arm, const struct ir_block *head)
{
    while (arm->first != arm->last) {
        struct ir_value *v = arm->first;
        ir_remove(v);
        ir_insert_before(head->last, v);
    }
}

static struct ir_value *flow_incoming(const struct ir_value *phi, const struct ir_block *from)
{
    for (unsigned i = 0; i < phi->blocks; i++)
        if (phi->block[i] == from)
            return phi->operand[i];
    return NULL;
}

static unsigned flow_phis(const struct ir_block *b)
{
    unsigned count = 0;
    for (const struct ir_value *v = b->first; v && v->op == IR_PHI; v = v->next)
        count++;
    return count;
}

static bool flow_select(struct pass *p, struct ir_block *head)
{
    const struct ir_value *end = head->last;
    if (end->op != IR_BRANCH || end->block[0] == end->block[1])
        return false;
    struct ir_block *yes = end->block[0], *no = end->block[1];
    const bool yes_is_arm = flow_is_arm(yes, head), no_is_arm = flow_is_arm(no, head);
    struct ir_block *join;
    if (yes_is_arm && no_is_arm && yes->last->block[0] == no->last->block[0])
        join = yes->last->block[0];
    else if (yes_is_arm && yes->last->block[0] == no)
        join = no;
    else if (no_is_arm && no->last->block[0] == yes)
        join = yes;
    else
        return false;
    if (join == head || flow_phis(join) == 0 || flow_phis(join) > 3)
        return false;
    struct ir_block *from_yes = yes == join ? head : yes, *from_no = no == join ? head : no;
    if (from_yes != head)
        flow_hoist(yes, head);
    if (from_no != head)
        flow_hoist(no, head);
    struct build b = build_at(p, head->last);
    for (struct ir_value *phi = join->first; phi->op == IR_PHI; phi = phi->next) {
        struct ir_value *now =
            build_select(&b, head->last->operand[0], flow_incoming(phi, from_yes), flow_incoming(phi, from_no));
        for (unsigned i = 0; i < phi->blocks; i++)
            if (phi->block[i] == from_yes)
                phi->operand[i] = now;
    }
    flow_forget(join, from_no);
    flow_renamed(join, from_yes, head);
    flow_jump(p, head, join);
    if (from_yes != head)
        ir_remove_block(p->f, yes);
    if (from_no != head)
        ir_remove_block(p->f, no);
    return true;
}

bool pass_flow(struct pass *p)
{
    unsigned blocks;
    pass_order(p, &blocks);
    ir_number(p->f);
    for (struct ir_block *b = p->f->first; b; b = b->next)
        /* Predecessors have changed after each of them. */
        while (flow_constant(p, b) || flow_select(p, b) || flow_join(p, b)) {
            pass_order(p, &blocks);
            ir_number(p->f);
        }
    if (ir_module_failed(p->m))
        pass_refuse(p, NULL, "out of memory");
    return !p->failed;
}

/* ---- switches ---- */

static struct ir_block *switch_test(struct pass *p, struct ir_block *at, struct ir_value *value, struct ir_value *is,
                                    struct ir_block *yes, struct ir_block *no)
{
    struct ir_value *const compared[] = {value, is};
    struct ir_value *test = ir_make(p->f, IR_ICMP, ir_int(p->m, 1), compared, 2);
    test->condition = IR_EQ;
    ir_append(at, test);
    struct ir_value *branch = ir_make(p->f, IR_BRANCH, ir_void(p->m), &test, 1);
    branch->blocks = 2;
    branch->block = ir_alloc(p->m, 2 * sizeof *branch->block);
    branch->block[0] = yes;
    branch->block[1] = no;
    ir_append(at, branch);
    return at;
}

/* Phis of `to` that had a value from `from` get the same one from `now` as well. */
static void switch_also(struct ir_block *to, const struct ir_block *from, struct ir_block *now)
{
    for (struct ir_value *phi = to->first; phi && phi->op == IR_PHI; phi = phi->next)
        if (!flow_incoming(phi, now))
            ir_add_incoming(phi, flow_incoming(phi, from), now);
}

static void switch_to_branches(struct pass *p, struct ir_block *b)
{
    struct ir_value *end = b->last;
    const unsigned cases = end->blocks - 1;
    if (!cases) {
        flow_jump(p, b, end->block[0]);
        return;
    }
    ir_remove(end);
    struct ir_block *at = b;
    bool first_keeps = false, default_keeps = false;
    for (unsigned i = 0; i < cases; i++) {
        const bool last = i + 1 == cases;
        struct ir_block *no = last ? end->block[0] : ir_add_block(p->f, NULL, at);
        switch_test(p, at, end->operand[0], end->operand[i + 1], end->block[i + 1], no);
        if (at != b)
            switch_also(end->block[i + 1], b, at);
        if (last && at != b)
            switch_also(end->block[0], b, at);
        at = no;
    }
    /* The switch's own block now leads to the first case only, and to the default only when there is one case. */
    for (unsigned i = 0; i <= cases; i++) {
        first_keeps = end->block[i] == end->block[1];
        default_keeps = cases == 1 && i == 0;
        bool done = false;
        for (unsigned k = 0; k < i; k++)
            done = done || end->block[k] == end->block[i];
        if (!first_keeps && !default_keeps && !done)
            flow_forget(end->block[i], b);
    }
    p->changed = true;
}

bool pass_switches(struct pass *p)
{
    for (struct ir_block *b = p->f->first; b; b = b->next)
        if (b->last->op == IR_SWITCH)
            switch_to_branches(p, b);
    return true;
}
