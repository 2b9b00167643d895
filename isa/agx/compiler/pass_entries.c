/* Loops with several entries get one: a block that they all go through, with a number that says which was meant.
 *
 * Values that cross blocks would then be used where they are not defined on every way, so all of them go through private
 * variables first; pass_promote makes values of those again. It is rare (goto into loops) and need not be fast. */
#include "isa/agx/compiler/pass.h"

struct entries {
    struct pass *p;
    struct ir_block **order;
    unsigned blocks;
    uint32_t *number; /* by id of a block: its component + 1 while that is searched, 0 = none */
    uint32_t *low, *index;
    struct ir_block **stack;
    unsigned depth, next;
    bool *on_stack, *cut; /* cut: edges to this header count as gone, so that inner loops are found */
};

/* ---- components of the flow graph (Tarjan), without edges to headers that are done ---- */

static void component(struct entries *e, struct ir_block *b, uint32_t *found)
{
    /* Depth first without recursion: `at` holds the next target of each block on the way. */
    struct ir_block **const way = ir_alloc(e->p->m, ((size_t)e->blocks + 1) * sizeof(struct ir_block *));
    unsigned *const at = ir_alloc(e->p->m, ((size_t)e->blocks + 1) * sizeof(unsigned)), depth = 0;
    if (ir_module_failed(e->p->m))
        return;
    way[depth++] = b;
    e->index[b->id] = e->low[b->id] = ++e->next;
    e->stack[e->depth++] = b;
    e->on_stack[b->id] = true;
    while (depth) {
        struct ir_block *const now = way[depth - 1];
        if (at[depth - 1] < pass_targets(now->last)) {
            struct ir_block *const to = now->last->block[at[depth - 1]++];
            if (e->cut[to->id])
                continue;
            if (!e->index[to->id]) {
                e->index[to->id] = e->low[to->id] = ++e->next;
                e->stack[e->depth++] = to;
                e->on_stack[to->id] = true;
                at[depth] = 0;
                way[depth++] = to;
            } else if (e->on_stack[to->id] && e->index[to->id] < e->low[now->id]) {
                e->low[now->id] = e->index[to->id];
            }
            continue;
        }
        depth--;
        if (depth && e->low[now->id] < e->low[way[depth - 1]->id])
            e->low[way[depth - 1]->id] = e->low[now->id];
        if (e->low[now->id] != e->index[now->id])
            continue;
        ++*found;
        for (struct ir_block *member = NULL; member != now;) {
            member = e->stack[--e->depth];
            e->on_stack[member->id] = false;
            e->number[member->id] = *found;
        }
    }
}

static uint32_t components(struct entries *e)
{
    uint32_t found = 0;
    e->next = e->depth = 0;
    for (unsigned i = 0; i < e->blocks; i++)
        e->index[e->order[i]->id] = e->number[e->order[i]->id] = 0;
    for (unsigned i = 0; i < e->blocks && !ir_module_failed(e->p->m); i++)
        if (!e->index[e->order[i]->id])
            component(e, e->order[i], &found);
    return found;
}

/* Whether an edge comes to b from outside of its component. */
static bool is_entry(const struct entries *e, const struct ir_block *b)
{
    if (b == e->p->f->first)
        return true;
    for (unsigned i = 0; i < b->predecessors; i++)
        if (e->number[b->predecessor[i]->id] != e->number[b->id])
            return true;
    return false;
}

static bool has_inner_edge(const struct entries *e, const struct ir_block *b)
{
    for (unsigned i = 0; i < b->predecessors; i++)
        if (e->number[b->predecessor[i]->id] == e->number[b->id] && !e->cut[b->id])
            return true;
    return false;
}

/* ---- values to variables ---- */

static struct ir_value *variable_for(struct pass *p, const struct ir_type *type)
{
    struct build b = build_at(p, p->f->first->first);
    struct ir_value *one = build_i32(&b, 1);
    struct ir_value *v = build_any(&b, IR_ALLOCA, ir_pointer(p->m, IR_PRIVATE), &one, 1);
    v->held = type;
    return v;
}

static void load_before_use(struct pass *p, struct ir_value *user, unsigned operand, struct ir_value *variable)
{
    struct build b = build_at(p, user->op == IR_PHI ? user->block[operand]->last : user);
    user->operand[operand] = build_load(&b, variable->held, variable, 0);
}

/* A value that is used in other blocks is stored where it is made and loaded where it is used. */
static void demote(struct pass *p, struct ir_value *v)
{
    struct ir_value *variable = NULL;
    for (struct ir_block *block = p->f->first; block; block = block->next)
        for (struct ir_value *user = block->first; user; user = user->next)
            for (unsigned i = 0; i < user->operands; i++) {
                if (user->operand[i] != v || (block == v->home && user->op != IR_PHI && v->op != IR_PHI))
                    continue;
                variable = variable ? variable : variable_for(p, v->type);
                load_before_use(p, user, i, variable);
            }
    if (!variable || v->op == IR_PHI)
        return;
    struct build b = build_at(p, v->next);
    build_store(&b, v, variable, 0);
}

/* A phi becomes a variable that each predecessor writes. */
static void demote_phi(struct pass *p, struct ir_value *phi)
{
    struct ir_value *variable = variable_for(p, phi->type), *after = phi;
    while (after->op == IR_PHI)
        after = after->next;
    for (unsigned i = 0; i < phi->operands; i++) {
        struct build b = build_at(p, phi->block[i]->last);
        build_store(&b, phi->operand[i], variable, 0);
    }
    struct build b = build_at(p, after);
    struct ir_value *now = build_load(&b, phi->type, variable, 0);
    ir_replace(p->f, phi, now);
    ir_remove(phi);
}

static void demote_all(struct pass *p)
{
    for (struct ir_block *b = p->f->first; b; b = b->next) {
        /* All of a block's phis are read before any is written again: first what their operands are is fixed as values. */
        for (struct ir_value *v = b->first, *next; v && v->op == IR_PHI; v = next) {
            next = v->next;
            demote_phi(p, v);
        }
    }
    for (struct ir_block *b = p->f->first; b; b = b->next)
        for (struct ir_value *v = b->first; v; v = v->next)
            if (v->type->kind != IR_VOID && v->op != IR_ALLOCA)
                demote(p, v);
}

/* ---- the one entry ---- */

static struct ir_value *end_of(struct pass *p, struct ir_value *condition, struct ir_block *yes, struct ir_block *no)
{
    struct ir_value *end = ir_make(p->f, condition ? IR_BRANCH : IR_JUMP, ir_void(p->m), &condition, condition ? 1 : 0);
    end->block = ir_alloc(p->m, 2 * sizeof *end->block);
    end->blocks = condition ? 2 : 1;
    end->block[0] = yes;
    if (condition)
        end->block[1] = no;
    return end;
}

/* Every edge to an entry goes through a block that notes the number of the entry: one for those from inside of the loop, one for
 * those from outside, so that the loop is entered behind it. */
static void through(struct entries *e, struct ir_block *entry, bool inside, unsigned number, struct ir_value *variable,
                    struct ir_block *to)
{
    struct pass *const p = e->p;
    struct ir_block *const note = ir_add_block(p->f, NULL, e->order[0]);
    for (unsigned k = 0; k < e->blocks; k++) {
        const struct ir_block *const b = e->order[k];
        for (unsigned i = 0; i < pass_targets(b->last); i++)
            if (b->last->block[i] == entry && (e->number[b->id] == e->number[entry->id]) == inside)
                b->last->block[i] = note;
    }
    struct ir_value *end = end_of(p, NULL, to, NULL);
    ir_append(note, end);
    struct build build = build_at(p, end);
    build_store(&build, build_i32(&build, number), variable, 0);
}

static void join(struct entries *e, struct ir_block **entry, unsigned entries)
{
    struct pass *const p = e->p;
    struct ir_value *variable = variable_for(p, ir_int(p->m, 32));
    struct ir_block *choose = ir_add_block(p->f, NULL, e->order[0]), *const first = choose;
    for (unsigned i = 0; i < 2 * entries; i++)
        through(e, entry[i / 2], i % 2, i / 2, variable, first);
    for (unsigned i = 0; i + 1 < entries; i++) {
        struct ir_block *const next = i + 2 < entries ? ir_add_block(p->f, NULL, choose) : entry[i + 1];
        struct ir_value *place = end_of(p, NULL, next, NULL);
        ir_append(choose, place);
        struct build b = build_at(p, place);
        struct ir_value *is = build_icmpn(&b, IR_EQ, build_load(&b, ir_int(p->m, 32), variable, 0), i);
        ir_remove(place);
        ir_append(choose, end_of(p, is, entry[i], next));
        choose = next;
    }
}

/* ---- the pass ---- */

static bool start(struct entries *e)
{
    e->order = pass_order(e->p, &e->blocks);
    ir_number(e->p->f);
    const size_t room = (size_t)e->p->f->next_id + e->blocks + 1;
    e->number = ir_alloc(e->p->m, room * sizeof *e->number);
    e->low = ir_alloc(e->p->m, room * sizeof *e->low);
    e->index = ir_alloc(e->p->m, room * sizeof *e->index);
    e->stack = ir_alloc(e->p->m, room * sizeof *e->stack);
    e->on_stack = ir_alloc(e->p->m, room);
    e->cut = ir_alloc(e->p->m, room);
    return !ir_module_failed(e->p->m) || pass_refuse(e->p, NULL, "out of memory") != NULL;
}

/* Finds a loop with several entries; loops with one are looked into by cutting the way back to their header. */
static unsigned find(struct entries *e, struct ir_block **entry)
{
    for (;;) {
        bool cut = false;
        const uint32_t found = components(e);
        for (uint32_t number = 1; number <= found; number++) {
            unsigned entries = 0;
            struct ir_block *header = NULL;
            bool loops = false;
            for (unsigned i = 0; i < e->blocks; i++) {
                struct ir_block *const b = e->order[i];
                if (e->number[b->id] != number)
                    continue;
                loops = loops || has_inner_edge(e, b);
                if (is_entry(e, b) && !e->cut[b->id])
                    entry[entries++] = header = b;
            }
            if (loops && entries > 1)
                return entries;
            if (loops && header) {
                e->cut[header->id] = true;
                cut = true;
            }
        }
        if (!cut)
            return 0;
    }
}

/* A way back in the order of blocks that does not lead to a block that dominates where it comes from. */
static bool has_entries(struct pass *p)
{
    unsigned blocks;
    struct ir_block **order = pass_order(p, &blocks);
    if (!ir_number(p->f) || !ir_dominate(p->f) || ir_module_failed(p->m))
        return false;
    uint32_t *const place = ir_alloc(p->m, ((size_t)p->f->next_id + blocks + 1) * sizeof *place);
    for (unsigned i = 0; i < blocks; i++)
        place[order[i]->id] = i;
    for (unsigned i = 0; i < blocks; i++)
        for (unsigned k = 0; k < pass_targets(order[i]->last); k++) {
            const struct ir_block *const to = order[i]->last->block[k];
            if (place[to->id] <= i && !ir_dominates(to, order[i]))
                return true;
        }
    return false;
}

bool pass_entries(struct pass *p)
{
    if (!has_entries(p))
        return true;
    for (unsigned round = 0; round < 64; round++) {
        struct entries e = {.p = p};
        if (!start(&e))
            return false;
        struct ir_block **const entry = ir_alloc(p->m, ((size_t)e.blocks + 1) * sizeof(struct ir_block *));
        if (ir_module_failed(p->m))
            return pass_refuse(p, NULL, "out of memory") != NULL;
        const unsigned entries = find(&e, entry);
        if (!entries)
            return round == 0 || pass_promote(p);
        if (round == 0)
            demote_all(p);
        join(&e, entry, entries);
        p->changed = true;
    }
    return pass_refuse(p, NULL, "control flow in which more than 64 loops have several entries is not supported") != NULL;
}
