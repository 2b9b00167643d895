/* Common subexpressions and dead code.
 *
 * A value may take the place of another that does the same where it dominates it. Of what depends on other threads only copies in
 * the same block are one. Loads are one only within a block and while nothing was stored. */
#include "isa/agx/compiler/pass.h"

struct common {
    struct pass *p;
    struct ir_value **slot; /* a table by hash; chains by `note` of the value */
    size_t slots;
};

static uint64_t mix(uint64_t hash, uint64_t with)
{
    hash = (hash ^ with) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct ir_value *v)
{
    uint64_t hash = mix(v->op, (uint64_t)v->builtin << 8 | v->condition);
    hash = mix(hash, (uintptr_t)v->type);
    for (unsigned i = 0; i < v->operands; i++)
        hash = mix(hash, (uintptr_t)v->operand[i]);
    return mix(hash, (uint64_t)(uint32_t)v->offset);
}

static bool same(const struct ir_value *a, const struct ir_value *b)
{
    if (a->op != b->op || a->builtin != b->builtin || a->condition != b->condition || a->type != b->type || a->held != b->held ||
        a->operands != b->operands || a->lists != b->lists || a->offset != b->offset || a->bits != b->bits)
        return false;
    if (a->op == IR_GEP && a->exact != b->exact)
        return false;
    for (unsigned i = 0; i < a->operands; i++)
        if (a->operand[i] != b->operand[i])
            return false;
    for (unsigned i = 0; i < a->lists; i++)
        if (a->list[i] != b->list[i])
            return false;
    return true;
}

static bool has_effect(const struct ir_value *v)
{
    return (ir_flags(v) & IR_E) || v->is_volatile;
}

static bool is_constant_memory(const struct ir_value *pointer)
{
    return pointer->type->space == IR_CONSTANT_SPACE || pointer->type->space == IR_CONSTANT_HOST;
}

static bool may_share(const struct ir_value *v)
{
    return !has_effect(v) && v->op != IR_PHI && (v->op != IR_LOAD || is_constant_memory(v->operand[0])) &&
           v->type->kind != IR_VOID;
}

static struct ir_value *find_same(struct common *c, struct ir_value *v)
{
    struct ir_value **slot = &c->slot[hash_of(v) % c->slots];
    for (struct ir_value *other = *slot; other; other = other->note)
        if (same(other, v) && (ir_flags(v) & IR_M ? other->home == v->home : ir_dominates(other->home, v->home))) {
            other->exact = other->exact && v->exact;
            other->fast = other->fast && v->fast;
            return other;
        }
    v->note = *slot;
    *slot = v;
    return NULL;
}

/* A load of what was loaded or stored from the same place in this block, with no effect in between. */
static struct ir_value *find_load(const struct ir_value *v)
{
    unsigned far = 0;
    for (struct ir_value *other = v->previous; other && far < 64; other = other->previous, far++) {
        if (other->op == IR_LOAD && same(other, v) && !other->is_volatile)
            return other;
        if (other->op == IR_STORE && !other->is_volatile && !other->held && !v->held && other->operand[1] == v->operand[0] &&
            other->operand[0]->type == v->type)
            return other->operand[0];
        if (has_effect(other))
            return NULL;
    }
    return NULL;
}

static void replace_uses(struct ir_block **order, unsigned blocks, struct ir_value **now)
{
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first; v; v = v->next)
            for (unsigned k = 0; k < v->operands; k++)
                while (!pass_is_value(v->operand[k]) && now[v->operand[k]->id])
                    v->operand[k] = now[v->operand[k]->id];
}

static void common_blocks(struct common *c, struct ir_block **order, unsigned blocks, struct ir_value **now)
{
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first, *next; v; v = next) {
            next = v->next;
            for (unsigned k = 0; k < v->operands; k++)
                while (!pass_is_value(v->operand[k]) && now[v->operand[k]->id])
                    v->operand[k] = now[v->operand[k]->id];
            struct ir_value *other = NULL;
            if (may_share(v))
                other = find_same(c, v);
            else if (v->op == IR_LOAD && !v->is_volatile)
                other = find_load(v);
            if (other) {
                now[v->id] = other;
                ir_remove(v);
                c->p->changed = true;
            }
        }
}

bool pass_common(struct pass *p)
{
    unsigned blocks;
    struct ir_block **order = pass_order(p, &blocks);
    ir_number(p->f);
    if (!ir_dominate(p->f))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    struct common c = {.p = p, .slots = p->f->next_id + 1};
    c.slot = ir_alloc(p->m, c.slots * sizeof *c.slot);
    struct ir_value **now = ir_alloc(p->m, c.slots * sizeof *now);
    if (ir_module_failed(p->m))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first; v; v = v->next)
            v->note = NULL;
    common_blocks(&c, order, blocks, now);
    replace_uses(order, blocks, now);
    return true;
}

/* ---- dead code ---- */

/* Marks what is needed, beginning with what has an effect; the list of those to be visited goes through `note`. */
bool pass_dead(struct pass *p)
{
    unsigned blocks;
    struct ir_block **order = pass_order(p, &blocks);
    ir_number(p->f);
    bool *needed = ir_alloc(p->m, p->f->next_id + 1);
    struct ir_value *list = NULL;
    if (ir_module_failed(p->m))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first; v; v = v->next)
            if (has_effect(v) && v->op != IR_ALLOCA) {
                needed[v->id] = true;
                v->note = list;
                list = v;
            }
    while (list) {
        const struct ir_value *v = list;
        list = v->note;
        for (unsigned i = 0; i < v->operands; i++) {
            struct ir_value *x = v->operand[i];
            if (!pass_is_value(x) && !needed[x->id]) {
                needed[x->id] = true;
                x->note = list;
                list = x;
            }
        }
    }
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first, *next; v; v = next) {
            next = v->next;
            if (!needed[v->id]) {
                ir_remove(v);
                p->changed = true;
            }
        }
    return true;
}
