/* Structures and arrays as values to their members. Each such value gets a list of its leaves, depth first, as scalars or
 * vectors. */
#include "isa/agx/compiler/pass.h"

#define MOST_LEAVES 256

struct leaves {
    unsigned count;
    struct ir_value **leaf;
};

struct aggregates {
    struct pass *p;
    struct leaves *of; /* by id below `known` */
    uint32_t known;
};

static bool is_aggregate(const struct ir_type *type)
{
    return type->kind == IR_STRUCT || type->kind == IR_ARRAY;
}

static const struct ir_type *member_type(const struct ir_type *type, uint64_t i, uint64_t *offset)
{
    *offset = type->kind == IR_STRUCT ? type->member_offset[i] : i * type->element->bytes;
    return type->kind == IR_STRUCT ? type->member[i] : type->element;
}

/* Leaves with their offsets; returns how many there are, also beyond `room`. */
static unsigned list_leaves(const struct ir_type *type, uint64_t at, const struct ir_type **leaf, uint64_t *offset, unsigned room)
{
    /* Types nest as deeply as the text that was read, which bounds its own nesting. */
    if (!is_aggregate(type)) {
        if (room) {
            *leaf = type;
            *offset = at;
        }
        return 1;
    }
    unsigned count = 0;
    for (uint64_t i = 0; i < type->count && count <= MOST_LEAVES; i++) {
        uint64_t inner;
        const struct ir_type *member = member_type(type, i, &inner);
        const unsigned used = count < room ? count : room;
        count += list_leaves(member, at + inner, leaf + used, offset + used, room - used);
    }
    return count;
}

static unsigned count_leaves(const struct ir_type *type)
{
    const struct ir_type *leaf;
    uint64_t offset;
    return list_leaves(type, 0, &leaf, &offset, 0);
}

static struct leaves new_leaves(struct pass *p, unsigned count)
{
    return (struct leaves){count, ir_alloc(p->m, (count + 1) * sizeof(struct ir_value *))};
}

static void constant_leaves(struct pass *p, struct ir_value *v, struct leaves *to)
{
    if (v->op == IR_AGGREGATE && is_aggregate(v->type)) {
        for (unsigned i = 0; i < v->operands; i++)
            constant_leaves(p, v->operand[i], to);
    } else if (!is_aggregate(v->type)) {
        to->leaf[to->count++] = v;
    } else {
        for (uint64_t i = 0; i < v->type->count; i++) {
            uint64_t offset;
            const struct ir_type *type = member_type(v->type, i, &offset);
            constant_leaves(p, v->op == IR_CONSTANT ? ir_constant(p->m, type, 0) : ir_undefined(p->m, type), to);
        }
    }
}

static struct leaves leaves_of(struct aggregates *a, struct ir_value *v)
{
    if (!pass_is_value(v))
        return v->id < a->known ? a->of[v->id] : (struct leaves){0, NULL};
    struct leaves l = new_leaves(a->p, count_leaves(v->type));
    l.count = 0;
    constant_leaves(a->p, v, &l);
    return l;
}

/* Where the indices lead among the leaves. */
static unsigned first_leaf(const struct ir_type *type, const struct ir_value *v, const struct ir_type **inner)
{
    unsigned first = 0;
    for (unsigned i = 0; i < v->lists && is_aggregate(type); i++) {
        uint64_t offset;
        for (uint32_t k = 0; k < v->list[i]; k++)
            first += count_leaves(member_type(type, k, &offset));
        type = member_type(type, v->list[i], &offset);
    }
    *inner = type;
    return first;
}

static struct ir_value *leaf_pointer(struct build *b, struct ir_value *pointer, uint64_t offset)
{
    const struct ir_type *i64 = ir_int(b->m, 64);
    return offset ? build_gep(b, pointer, ir_int(b->m, 8), build_bits(b, i64, offset), 0) : pointer;
}

/* ---- operations ---- */

static void load_leaves(struct aggregates *a, struct ir_value *v, struct leaves *l)
{
    const struct ir_type *type[MOST_LEAVES];
    uint64_t offset[MOST_LEAVES];
    struct build b = build_at(a->p, v);
    list_leaves(v->type, 0, type, offset, l->count);
    for (unsigned i = 0; i < l->count; i++)
        l->leaf[i] = build_load(&b, type[i], leaf_pointer(&b, v->operand[0], offset[i]), (uint32_t)type[i]->align);
}

static void store_leaves(struct aggregates *a, struct ir_value *v)
{
    const struct ir_type *type[MOST_LEAVES];
    uint64_t offset[MOST_LEAVES];
    struct build b = build_at(a->p, v);
    const struct leaves l = leaves_of(a, v->operand[0]);
    list_leaves(v->operand[0]->type, 0, type, offset, l.count);
    for (unsigned i = 0; i < l.count; i++)
        build_store(&b, l.leaf[i], leaf_pointer(&b, v->operand[1], offset[i]), (uint32_t)type[i]->align);
    ir_remove(v);
}

static void insert_leaves(struct aggregates *a, const struct ir_value *v, struct leaves *l)
{
    const struct ir_type *inner;
    const struct leaves from = leaves_of(a, v->operand[0]);
    const unsigned first = first_leaf(v->type, v, &inner);
    for (unsigned i = 0; i < l->count && i < from.count; i++)
        l->leaf[i] = from.leaf[i];
    if (!is_aggregate(inner)) {
        l->leaf[first] = v->operand[1];
        return;
    }
    const struct leaves part = leaves_of(a, v->operand[1]);
    for (unsigned i = 0; i < part.count && first + i < l->count; i++)
        l->leaf[first + i] = part.leaf[i];
}

static void phi_leaves(struct aggregates *a, struct ir_value *v, struct leaves *l)
{
    const struct ir_type *type[MOST_LEAVES];
    uint64_t offset[MOST_LEAVES];
    list_leaves(v->type, 0, type, offset, l->count);
    for (unsigned i = 0; i < l->count; i++) {
        l->leaf[i] = ir_make(a->p->f, IR_PHI, type[i], NULL, 0);
        ir_insert_before(v, l->leaf[i]);
    }
}

static bool visit_result(struct aggregates *a, struct ir_value *v)
{
    const unsigned count = count_leaves(v->type);
    if (count > MOST_LEAVES)
        return pass_refuse(a->p, v, "a structure of more than %d members as a value is not supported", MOST_LEAVES) != NULL;
    struct leaves l = new_leaves(a->p, count);
    struct build b = build_at(a->p, v);
    const struct ir_type *inner;
    if (v->op == IR_LOAD) {
        load_leaves(a, v, &l);
    } else if (v->op == IR_INSERT_VALUE) {
        insert_leaves(a, v, &l);
    } else if (v->op == IR_PHI) {
        phi_leaves(a, v, &l);
    } else if (v->op == IR_SELECT) {
        const struct leaves x = leaves_of(a, v->operand[1]), y = leaves_of(a, v->operand[2]);
        for (unsigned i = 0; i < count; i++)
            l.leaf[i] = build_select(&b, v->operand[0], x.leaf[i], y.leaf[i]);
    } else if (v->op == IR_EXTRACT_VALUE) {
        const struct leaves from = leaves_of(a, v->operand[0]);
        const unsigned first = first_leaf(v->operand[0]->type, v, &inner);
        for (unsigned i = 0; i < count; i++)
            l.leaf[i] = from.leaf[first + i];
    } else if (v->op == IR_FREEZE) {
        l = leaves_of(a, v->operand[0]);
    } else {
        return pass_refuse(a->p, v, "%s of a structure is not supported", ir_op_name(v->op)) != NULL;
    }
    a->of[v->id] = l;
    return true;
}

static struct ir_value *extracted(struct aggregates *a, struct ir_value *v)
{
    const struct ir_type *inner;
    const struct leaves from = leaves_of(a, v->operand[0]);
    const unsigned first = first_leaf(v->operand[0]->type, v, &inner);
    return first < from.count ? from.leaf[first] : ir_undefined(a->p->m, v->type);
}

static void follow(struct aggregates *a, struct ir_value *v)
{
    for (unsigned i = 0; i < v->operands; i++)
        while (!pass_is_value(v->operand[i]) && v->operand[i]->id < a->known && !is_aggregate(v->operand[i]->type) &&
               a->of[v->operand[i]->id].count)
            v->operand[i] = a->of[v->operand[i]->id].leaf[0];
}

static bool visit(struct aggregates *a, struct ir_value *v)
{
    if (v->id >= a->known)
        return true;
    if (is_aggregate(v->type) && !pass_is_value(v))
        return visit_result(a, v);
    if (v->op == IR_EXTRACT_VALUE) {
        struct leaves one = new_leaves(a->p, 1);
        one.leaf[0] = extracted(a, v);
        a->of[v->id] = one;
    } else if (v->op == IR_STORE && is_aggregate(v->operand[0]->type)) {
        store_leaves(a, v);
    }
    return true;
}

static void finish(struct aggregates *a, struct ir_value *v)
{
    follow(a, v);
    if (v->id >= a->known || !a->of[v->id].count)
        return;
    if (v->op == IR_PHI)
        for (unsigned k = 0; k < v->operands; k++) {
            const struct leaves from = leaves_of(a, v->operand[k]);
            for (unsigned i = 0; i < from.count; i++)
                ir_add_incoming(a->of[v->id].leaf[i], from.leaf[i], v->block[k]);
        }
    ir_remove(v);
}

static bool has_aggregates(const struct ir_function *f)
{
    for (const struct ir_block *b = f->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next)
            if (is_aggregate(v->type) || v->op == IR_EXTRACT_VALUE || (v->op == IR_STORE && is_aggregate(v->operand[0]->type)))
                return true;
    return false;
}

bool pass_aggregates(struct pass *p)
{
    if (!has_aggregates(p->f))
        return true;
    unsigned blocks;
    struct ir_block **order = pass_order(p, &blocks);
    ir_number(p->f);
    struct aggregates a = {.p = p, .known = p->f->next_id};
    a.of = ir_alloc(p->m, a.known * sizeof *a.of);
    if (ir_module_failed(p->m))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first, *next; v; v = next) {
            next = v->next;
            follow(&a, v);
            if (!visit(&a, v))
                return false;
        }
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first, *next; v; v = next) {
            next = v->next;
            finish(&a, v);
        }
    p->changed = true;
    return !p->failed;
}
