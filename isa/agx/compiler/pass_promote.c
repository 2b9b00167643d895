/* Private variables to values: those that are only loaded and stored, whole or in parts that do not overlap and whose places are
 * constant. Phis are put into every block where control flow meets; those that are of no use are folded away later. Arrays with
 * variable indices stay. */
#include "isa/agx/compiler/pass.h"

#define MOST_PARTS 512

struct part { /* of a variable: what is accessed at one place */
    const struct ir_value *variable;
    uint64_t offset;
    const struct ir_type *type;
};

struct promote {
    struct pass *p;
    uint32_t known;
    struct ir_value **variable; /* by id of a pointer: the variable it points into */
    uint64_t *offset;           /* and where */
    bool *stays;                /* by id of a variable */
    struct part part[MOST_PARTS];
    unsigned parts;
    struct ir_value **now;   /* by id of a load: what took its place */
    struct ir_value **leave; /* by block and part: the value at its end */
    struct ir_value **enter; /* by block and part: the phi at its beginning */
};

static struct ir_value *pointer_of(const struct ir_value *v)
{
    return v->op == IR_LOAD ? v->operand[0] : v->op == IR_STORE ? v->operand[1] : NULL;
}

static struct ir_value *variable_of(const struct promote *s, const struct ir_value *pointer)
{
    return !pass_is_value(pointer) && pointer->id < s->known ? s->variable[pointer->id] : NULL;
}

static bool constant_offset(const struct ir_value *gep, uint64_t *offset)
{
    const struct ir_type *type = gep->held;
    *offset = (uint64_t)((int64_t)gep->offset * (int64_t)type->bytes);
    for (unsigned i = 1; i < gep->operands; i++) {
        uint64_t n;
        if (!pass_is_constant(gep->operand[i], &n))
            return false;
        const unsigned up = 64 - gep->operand[i]->type->bits;
        n = (uint64_t)((int64_t)(n << up) >> up);
        if (i > 1 && type->kind == IR_STRUCT) {
            if (n >= type->count)
                return false;
            *offset += type->member_offset[n];
            type = type->member[n];
            continue;
        }
        if (i > 1)
            type = type->element;
        *offset += n * type->bytes;
    }
    return true;
}

/* Follows pointers from variables; anything but loads, stores and constant places makes a variable stay. */
static void find_pointers(struct promote *s, struct ir_block **order, unsigned blocks)
{
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first; v; v = v->next) {
            uint64_t n;
            if (v->op == IR_ALLOCA) {
                s->variable[v->id] = v;
                s->stays[v->id] = !pass_is_constant(v->operand[0], &n) || n != 1;
                continue;
            }
            for (unsigned k = 0; k < v->operands; k++) {
                struct ir_value *variable = variable_of(s, v->operand[k]);
                if (!variable)
                    continue;
                const bool access =
                    v->operand[k] == pointer_of(v) && !(v->op == IR_STORE && k == 0) && !v->is_volatile && !v->held;
                if (v->op == IR_GEP && k == 0 && constant_offset(v, &n)) {
                    s->variable[v->id] = variable;
                    s->offset[v->id] = s->offset[v->operand[0]->id] + n;
                } else if (!access) {
                    s->stays[variable->id] = true;
                }
            }
        }
}

static bool same_bits(const struct ir_type *a, const struct ir_type *b)
{
    return a == b ||
           (a->kind != IR_POINTER && b->kind != IR_POINTER && a->kind != IR_VECTOR && b->kind != IR_VECTOR && a->bits == b->bits);
}

static void find_part(struct promote *s, const struct ir_value *v)
{
    const struct ir_value *pointer = pointer_of(v);
    const struct ir_value *variable = pointer ? variable_of(s, pointer) : NULL;
    if (!variable || s->stays[variable->id])
        return;
    const struct ir_type *type = v->op == IR_LOAD ? v->type : v->operand[0]->type;
    const uint64_t at = s->offset[pointer->id];
    for (unsigned i = 0; i < s->parts; i++) {
        const struct part *part = &s->part[i];
        if (part->variable != variable || at >= part->offset + part->type->bytes || part->offset >= at + type->bytes)
            continue;
        if (part->offset != at || !same_bits(part->type, type))
            s->stays[variable->id] = true;
        return;
    }
    if (s->parts == MOST_PARTS)
        s->stays[variable->id] = true;
    else
        s->part[s->parts++] = (struct part){variable, at, type};
}

static unsigned part_of(const struct promote *s, const struct ir_value *v)
{
    const struct ir_value *pointer = pointer_of(v), *variable = pointer ? variable_of(s, pointer) : NULL;
    if (variable && !s->stays[variable->id])
        for (unsigned i = 0; i < s->parts; i++)
            if (s->part[i].variable == variable && s->part[i].offset == s->offset[pointer->id])
                return i;
    return MOST_PARTS;
}

/* ---- values ---- */

static void begin_block(struct promote *s, struct ir_block *b, struct ir_value **current)
{
    for (unsigned i = 0; i < s->parts; i++) {
        if (s->stays[s->part[i].variable->id])
            continue;
        if (b->predecessors == 1) {
            current[i] = s->leave[b->predecessor[0]->id * s->parts + i];
        } else if (!b->predecessors) {
            current[i] = ir_undefined(s->p->m, s->part[i].type);
        } else {
            current[i] = ir_make(s->p->f, IR_PHI, s->part[i].type, NULL, 0);
            ir_insert_before(b->first, current[i]);
            s->enter[b->id * s->parts + i] = current[i];
        }
    }
}

static void walk_block(struct promote *s, struct ir_block *b, struct ir_value **current)
{
    for (struct ir_value *v = b->first, *next; v; v = next) {
        next = v->next;
        const unsigned i = part_of(s, v);
        if (i == MOST_PARTS)
            continue;
        struct build build = build_at(s->p, v);
        if (v->op == IR_LOAD)
            s->now[v->id] = build_convert(&build, IR_BITCAST, current[i], v->type);
        else
            current[i] = build_convert(&build, IR_BITCAST, v->operand[0], s->part[i].type);
        ir_remove(v);
        s->p->changed = true;
    }
}

static void fill_phis(struct promote *s, struct ir_block **order, unsigned blocks)
{
    for (unsigned k = 0; k < blocks; k++) {
        struct ir_block *b = order[k];
        for (unsigned i = 0; i < s->parts; i++) {
            struct ir_value *phi = s->enter[b->id * s->parts + i];
            for (unsigned n = 0; phi && n < b->predecessors; n++)
                ir_add_incoming(phi, s->leave[b->predecessor[n]->id * s->parts + i], b->predecessor[n]);
        }
    }
    for (unsigned k = 0; k < blocks; k++)
        for (struct ir_value *v = order[k]->first; v; v = v->next)
            for (unsigned i = 0; i < v->operands; i++)
                while (!pass_is_value(v->operand[i]) && v->operand[i]->id < s->known && s->now[v->operand[i]->id])
                    v->operand[i] = s->now[v->operand[i]->id];
}

bool pass_promote(struct pass *p)
{
    unsigned blocks;
    struct ir_block **order = pass_order(p, &blocks);
    ir_number(p->f);
    struct promote *s = ir_alloc(p->m, sizeof *s);
    s->p = p;
    s->known = p->f->next_id;
    s->variable = ir_alloc(p->m, (s->known + 1) * sizeof *s->variable);
    s->offset = ir_alloc(p->m, (s->known + 1) * sizeof *s->offset);
    s->stays = ir_alloc(p->m, s->known + 1);
    s->now = ir_alloc(p->m, (s->known + 1) * sizeof *s->now);
    if (ir_module_failed(p->m))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    find_pointers(s, order, blocks);
    for (unsigned i = 0; i < blocks; i++)
        for (const struct ir_value *v = order[i]->first; v; v = v->next)
            find_part(s, v);
    const size_t room = (size_t)blocks * s->parts * sizeof(struct ir_value *);
    if (!s->parts || room > IR_ALLOC_MOST)
        return true;
    s->leave = ir_alloc(p->m, room);
    s->enter = ir_alloc(p->m, room);
    if (ir_module_failed(p->m))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    for (unsigned i = 0; i < blocks; i++) {
        struct ir_value **current = s->leave + (size_t)order[i]->id * s->parts;
        begin_block(s, order[i], current);
        walk_block(s, order[i], current);
    }
    fill_phis(s, order, blocks);
    return true;
}
