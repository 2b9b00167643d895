/* How passes make instructions. */
#include "isa/agx/compiler/ir_interpret_number.h"
#include "isa/agx/compiler/pass.h"

#include <string.h>

struct build build_at(struct pass *p, struct ir_value *at)
{
    return (struct build){.m = p->m, .f = p->f, .at = at, .fast = at->fast || p->options->fast_math};
}

static struct ir_value *build_place(struct build *b, struct ir_value *v)
{
    v->line = b->at->line;
    v->file = b->at->file;
    ir_insert_before(b->at, v);
    return v;
}

struct ir_value *build_bits(struct build *b, const struct ir_type *type, uint64_t bits)
{
    const unsigned width = type->kind == IR_POINTER ? 64 : type->bits;
    return ir_constant(b->m, type, width >= 64 ? bits : bits & ((UINT64_C(1) << width) - 1));
}

struct ir_value *build_i32(struct build *b, uint32_t n)
{
    return ir_constant(b->m, ir_int(b->m, 32), n);
}

struct ir_value *build_f32(struct build *b, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return ir_constant(b->m, ir_float(b->m, 32), bits);
}

struct ir_value *build_float_like(struct build *b, const struct ir_value *like, double x)
{
    if (like->type->bits == 32)
        return build_f32(b, (float)x);
    return ir_constant(b->m, like->type, half_of_number(x));
}

struct ir_value *build_like(struct build *b, const struct ir_value *like, uint64_t bits)
{
    return build_bits(b, like->type, bits);
}

struct ir_value *build_any(struct build *b, enum ir_op op, const struct ir_type *type, struct ir_value *const *operand,
                           unsigned n)
{
    struct ir_value *v = ir_make(b->f, op, type, operand, n);
    v->fast = b->fast && (op == IR_FADD || op == IR_FSUB || op == IR_FMUL || op == IR_FMA);
    return build_place(b, v);
}

struct ir_value *build_1(struct build *b, enum ir_op op, struct ir_value *x)
{
    return build_any(b, op, x->type, &x, 1);
}

struct ir_value *build_2(struct build *b, enum ir_op op, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *const operand[] = {x, y};
    return build_any(b, op, x->type, operand, 2);
}

struct ir_value *build_2n(struct build *b, enum ir_op op, struct ir_value *x, uint64_t y)
{
    return build_2(b, op, x, build_like(b, x, y));
}

struct ir_value *build_fma(struct build *b, struct ir_value *x, struct ir_value *y, struct ir_value *z)
{
    struct ir_value *const operand[] = {x, y, z};
    return build_any(b, IR_FMA, x->type, operand, 3);
}

struct ir_value *build_convert(struct build *b, enum ir_op op, struct ir_value *x, const struct ir_type *type)
{
    return x->type == type ? x : build_any(b, op, type, &x, 1);
}

struct ir_value *build_resize(struct build *b, struct ir_value *x, const struct ir_type *type, bool is_signed)
{
    const unsigned from = x->type->kind == IR_VECTOR ? x->type->element->bits : x->type->bits;
    const unsigned to = type->kind == IR_VECTOR ? type->element->bits : type->bits;
    return build_convert(b, to < from ? IR_TRUNC : is_signed ? IR_SEXT : IR_ZEXT, x, type);
}

const struct ir_type *build_int(struct build *b, unsigned bits)
{
    return ir_int(b->m, bits);
}

const struct ir_type *build_shape(struct build *b, const struct ir_type *shape, const struct ir_type *element)
{
    return shape->kind == IR_VECTOR ? ir_vector(b->m, element, shape->count) : element;
}

static struct ir_value *build_compare(struct build *b, enum ir_op op, enum ir_condition c, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *const operand[] = {x, y};
    struct ir_value *v = build_any(b, op, build_shape(b, x->type, ir_int(b->m, 1)), operand, 2);
    v->condition = (uint8_t)c;
    return v;
}

struct ir_value *build_icmp(struct build *b, enum ir_condition c, struct ir_value *x, struct ir_value *y)
{
    return build_compare(b, IR_ICMP, c, x, y);
}

struct ir_value *build_icmpn(struct build *b, enum ir_condition c, struct ir_value *x, uint64_t y)
{
    return build_icmp(b, c, x, build_like(b, x, y));
}

struct ir_value *build_fcmp(struct build *b, enum ir_condition c, struct ir_value *x, struct ir_value *y)
{
    return build_compare(b, IR_FCMP, c, x, y);
}

struct ir_value *build_not(struct build *b, struct ir_value *x)
{
    return build_2n(b, IR_XOR, x, UINT64_MAX);
}

struct ir_value *build_select(struct build *b, struct ir_value *c, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *const operand[] = {c, x, y};
    return x == y ? x : build_any(b, IR_SELECT, x->type, operand, 3);
}

struct ir_value *build_builtin(struct build *b, enum ir_builtin builtin, const struct ir_type *type,
                               struct ir_value *const *operand, unsigned n)
{
    return build_place(b, ir_make_builtin(b->f, builtin, type, operand, n));
}

struct ir_value *build_b1(struct build *b, enum ir_builtin builtin, struct ir_value *x)
{
    return build_builtin(b, builtin, x->type, &x, 1);
}

struct ir_value *build_b2(struct build *b, enum ir_builtin builtin, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *const operand[] = {x, y};
    return build_builtin(b, builtin, x->type, operand, 2);
}

struct ir_value *build_b3(struct build *b, enum ir_builtin builtin, struct ir_value *x, struct ir_value *y, struct ir_value *z)
{
    struct ir_value *const operand[] = {x, y, z};
    return build_builtin(b, builtin, x->type, operand, 3);
}

struct ir_value *build_extract(struct build *b, struct ir_value *vector, unsigned lane)
{
    struct ir_value *const operand[] = {vector, build_i32(b, lane)};
    return build_any(b, IR_EXTRACT, vector->type->element, operand, 2);
}

struct ir_value *build_insert(struct build *b, struct ir_value *vector, struct ir_value *element, unsigned lane)
{
    struct ir_value *const operand[] = {vector, element, build_i32(b, lane)};
    return build_any(b, IR_INSERT, vector->type, operand, 3);
}

struct ir_value *build_vector(struct build *b, struct ir_value *const *lane, unsigned lanes)
{
    struct ir_value *v = ir_undefined(b->m, ir_vector(b->m, lane[0]->type, lanes));
    for (unsigned i = 0; i < lanes; i++)
        v = build_insert(b, v, lane[i], i);
    return v;
}

struct ir_value *build_gep(struct build *b, struct ir_value *base, const struct ir_type *held, struct ir_value *index,
                           int32_t offset)
{
    struct ir_value *const operand[] = {base, index};
    struct ir_value *v = build_any(b, IR_GEP, base->type, operand, 2);
    v->held = held;
    v->offset = offset;
    return v;
}

struct ir_value *build_load(struct build *b, const struct ir_type *type, struct ir_value *pointer, uint32_t align)
{
    struct ir_value *v = build_any(b, IR_LOAD, type, &pointer, 1);
    v->align = align;
    return v;
}

struct ir_value *build_store(struct build *b, struct ir_value *value, struct ir_value *pointer, uint32_t align)
{
    struct ir_value *const operand[] = {value, pointer};
    struct ir_value *v = build_any(b, IR_STORE, ir_void(b->m), operand, 2);
    v->align = align;
    return v;
}
