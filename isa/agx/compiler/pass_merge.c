/* Adjacent loads and stores to vectors of up to four: components of 16 or 32 bits, without a hole, at the same base and index.
 * Loads move up to the first of them when nothing in between writes such memory; stores move down to the last when nothing in
 * between reads or writes it. */
#include "isa/agx/compiler/pass.h"

#define FAR 96 /* instructions looked at */

struct place {
    const struct ir_value *base, *index;
    const struct ir_type *unit;
    bool exact;
    int64_t offset;
};

static struct place place_of(const struct ir_value *pointer)
{
    if (pointer->op != IR_GEP)
        return (struct place){pointer, NULL, NULL, true, 0};
    const bool plain = pointer->operand[1]->op == IR_CONSTANT && pointer->operand[1]->bits == 0;
    return (struct place){pointer->operand[0], plain ? NULL : pointer->operand[1], pointer->held, plain || pointer->exact,
                          pointer->offset};
}

static bool may_merge(const struct ir_value *v, enum ir_op op)
{
    if (v->op != op || v->is_volatile || v->held)
        return false;
    const struct ir_type *type = op == IR_LOAD ? v->type : v->operand[0]->type;
    const enum ir_space space = v->operand[op == IR_STORE]->type->space;
    if ((type->kind != IR_INT && type->kind != IR_FLOAT) || (type->bits != 16 && type->bits != 32))
        return false;
    if (v->align && v->align < type->bytes)
        return false;
    const struct ir_value *pointer = v->operand[op == IR_STORE];
    return (space == IR_DEVICE || space == IR_CONSTANT_SPACE || space == IR_CONSTANT_HOST || space == IR_PRIVATE ||
            space == IR_THREADGROUP) &&
           (pointer->op != IR_GEP || pointer->held->bytes == type->bytes);
}

static bool next_to(const struct ir_value *first, const struct ir_value *other, enum ir_op op, int64_t *apart)
{
    const unsigned at = op == IR_STORE;
    const struct place a = place_of(first->operand[at]), b = place_of(other->operand[at]);
    const struct ir_type *x = op == IR_LOAD ? first->type : first->operand[0]->type;
    const struct ir_type *y = op == IR_LOAD ? other->type : other->operand[0]->type;
    if (a.base != b.base || a.index != b.index || a.exact != b.exact || x != y)
        return false;
    *apart = b.offset - a.offset;
    return true;
}

/* Whether `v` may touch the memory that `space` is in: device, threadgroup and private memory are three. */
static bool may_touch(const struct ir_value *v, enum ir_space space)
{
    if (v->is_volatile || (v->op != IR_LOAD && v->op != IR_STORE))
        return (ir_flags(v) & IR_E) || v->op == IR_LOAD;
    const enum ir_space own = v->operand[v->op == IR_STORE]->type->space;
    const bool apart = own == IR_PRIVATE || own == IR_THREADGROUP, other_apart = space == IR_PRIVATE || space == IR_THREADGROUP;
    return own == IR_GENERIC || own == space || (!apart && !other_apart);
}

static bool stands_between(const struct ir_value *v, enum ir_op op, enum ir_space space)
{
    return ir_op_kind(v->op) == IR_KIND_END || ((op == IR_STORE || v->op != IR_LOAD || v->is_volatile) && may_touch(v, space));
}

/* The run of consecutive places around the first one: `lane` by distance from -3 to 3. Returns the lowest distance. */
static int run_of(struct ir_value *const *lane, unsigned *count)
{
    int low = 3;
    while (low > 0 && lane[low - 1])
        low--;
    unsigned n = 0;
    while (low + (int)n < 7 && lane[low + (int)n])
        n++;
    /* More than four: those that begin with the lowest, which the others then are near to as well. */
    *count = n > 4 ? 4 : n;
    return low;
}

static void collect(struct ir_value *first, enum ir_op op, struct ir_value **lane)
{
    const enum ir_space space = first->operand[op == IR_STORE]->type->space;
    unsigned far = 0;
    for (unsigned i = 0; i < 7; i++)
        lane[i] = NULL;
    lane[3] = first;
    for (struct ir_value *v = first->next; v && far < FAR; v = v->next, far++) {
        int64_t apart;
        if (may_merge(v, op) && next_to(first, v, op, &apart)) {
            if (apart == 0 && op == IR_STORE)
                return;
            if (apart >= -3 && apart <= 3 && !lane[3 + apart])
                lane[3 + apart] = v;
            continue;
        }
        if (stands_between(v, op, space))
            return;
    }
}

/* An address computed later than the first access cannot be used there: it is computed anew from the first one's. */
static struct ir_value *pointer_at(struct build *b, const struct ir_value *pointer, const struct ir_type *unit, int64_t by)
{
    if (pointer->op != IR_GEP)
        return by ? build_gep(b, (struct ir_value *)pointer, unit, build_i32(b, 0), (int32_t)by) : (struct ir_value *)pointer;
    struct ir_value *gep = build_gep(b, pointer->operand[0], pointer->held, pointer->operand[1], (int32_t)(pointer->offset + by));
    gep->exact = pointer->exact;
    return gep;
}

static bool merge_loads(struct pass *p, struct ir_value *first)
{
    struct ir_value *lane[7];
    unsigned count;
    collect(first, IR_LOAD, lane);
    const int low = run_of(lane, &count);
    if (count < 2 || low + (int)count <= 3)
        return false;
    struct build b = build_at(p, first);
    const struct ir_type *unit = ir_int(p->m, first->type->bits);
    struct ir_value *pointer = pointer_at(&b, first->operand[0], unit, low - 3);
    struct ir_value *vector = build_load(&b, ir_vector(p->m, first->type, count), pointer, (uint32_t)first->type->bytes);
    struct ir_value *part[4];
    for (unsigned i = 0; i < count; i++)
        part[i] = build_extract(&b, vector, i);
    for (unsigned i = 0; i < count; i++) {
        ir_replace(p->f, lane[low + (int)i], part[i]);
        ir_remove(lane[low + (int)i]);
    }
    p->changed = true;
    return true;
}

static bool merge_stores(struct pass *p, struct ir_value *first)
{
    struct ir_value *lane[7];
    unsigned count;
    collect(first, IR_STORE, lane);
    const int low = run_of(lane, &count);
    if (count < 2 || low + (int)count <= 3)
        return false;
    struct ir_value *last = first;
    for (struct ir_value *v = first; v; v = v->next)
        for (unsigned i = 0; i < count; i++)
            last = lane[low + (int)i] == v ? v : last;
    struct build b = build_at(p, last);
    struct ir_value *value[4];
    for (unsigned i = 0; i < count; i++)
        value[i] = lane[low + (int)i]->operand[0];
    const struct ir_type *unit = ir_int(p->m, value[0]->type->bits);
    struct ir_value *pointer = pointer_at(&b, first->operand[1], unit, low - 3);
    build_store(&b, build_vector(&b, value, count), pointer, (uint32_t)value[0]->type->bytes);
    for (unsigned i = 0; i < count; i++)
        ir_remove(lane[low + (int)i]);
    p->changed = true;
    return true;
}

static bool merge_once(struct pass *p, struct ir_block *b, enum ir_op op)
{
    for (struct ir_value *v = b->first; v; v = v->next)
        if (may_merge(v, op) && (op == IR_LOAD ? merge_loads(p, v) : merge_stores(p, v)))
            return true;
    return false;
}

bool pass_merge(struct pass *p)
{
    for (struct ir_block *b = p->f->first; b; b = b->next) {
        while (merge_once(p, b, IR_LOAD))
            ;
        while (merge_once(p, b, IR_STORE))
            ;
    }
    return true;
}
