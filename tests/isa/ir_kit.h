/* Short forms for building functions of the intermediate representation in tests. Every instruction goes to the end of the block
 * at work. */
#ifndef ORCHARD_TESTS_ISA_IR_KIT_H
#define ORCHARD_TESTS_ISA_IR_KIT_H

#include "isa/agx/compiler/ir.h"
#include "isa/array_count.h"

typedef struct ir_value *val;

struct kit {
    struct ir_module *m;
    struct ir_function *f;
    struct ir_block *b; /* at work */
    const struct ir_type *none, *i1, *i8, *i16, *i32, *i64, *f16, *f32, *device, *group, *private;
};

static inline struct kit kit_begin(void)
{
    struct ir_module *const m = ir_module_create();
    return (struct kit){.m = m,
                        .none = ir_void(m),
                        .i1 = ir_int(m, 1),
                        .i8 = ir_int(m, 8),
                        .i16 = ir_int(m, 16),
                        .i32 = ir_int(m, 32),
                        .i64 = ir_int(m, 64),
                        .f16 = ir_float(m, 16),
                        .f32 = ir_float(m, 32),
                        .device = ir_pointer(m, IR_DEVICE),
                        .group = ir_pointer(m, IR_THREADGROUP),
                        .private = ir_pointer(m, IR_PRIVATE)};
}

/* Begins a function, with a first block. */
static inline struct ir_function *kit_function(struct kit *k, const char *name, const struct ir_type *result,
                                               const struct ir_type *const *argument, unsigned arguments)
{
    k->f = ir_add_function(k->m, name, result, argument, arguments);
    k->b = ir_add_block(k->f, "entry", NULL);
    return k->f;
}

/* A module with the kernel k(in, out, n): two buffers and a number. */
static inline struct kit kit_kernel(void)
{
    struct kit k = kit_begin();
    kit_function(&k, "k", k.none, (const struct ir_type *const[]){k.device, k.device, k.i32}, 3)->kernel = true;
    return k;
}

static inline val kit_put(struct kit *k, val v)
{
    ir_append(k->b, v);
    return v;
}

static inline val op1(struct kit *k, enum ir_op op, const struct ir_type *type, val a)
{
    return kit_put(k, ir_make(k->f, op, type, (val[]){a}, 1));
}

static inline val op2(struct kit *k, enum ir_op op, const struct ir_type *type, val a, val b)
{
    return kit_put(k, ir_make(k->f, op, type, (val[]){a, b}, 2));
}

static inline val op3(struct kit *k, enum ir_op op, const struct ir_type *type, val a, val b, val c)
{
    return kit_put(k, ir_make(k->f, op, type, (val[]){a, b, c}, 3));
}

static inline val builtin0(struct kit *k, enum ir_builtin builtin, const struct ir_type *type)
{
    return kit_put(k, ir_make_builtin(k->f, builtin, type, NULL, 0));
}

static inline val builtin1(struct kit *k, enum ir_builtin builtin, const struct ir_type *type, val a)
{
    return kit_put(k, ir_make_builtin(k->f, builtin, type, (val[]){a}, 1));
}

static inline val builtin2(struct kit *k, enum ir_builtin builtin, const struct ir_type *type, val a, val b)
{
    return kit_put(k, ir_make_builtin(k->f, builtin, type, (val[]){a, b}, 2));
}

static inline val builtin3(struct kit *k, enum ir_builtin builtin, const struct ir_type *type, val a, val b, val c)
{
    return kit_put(k, ir_make_builtin(k->f, builtin, type, (val[]){a, b, c}, 3));
}

static inline void kit_list(struct kit *k, val v, uint32_t number)
{
    v->list = ir_alloc(k->m, sizeof *v->list);
    v->list[0] = number;
    v->lists = 1;
}

static inline val number(struct kit *k, uint64_t bits)
{
    return ir_constant(k->m, k->i32, bits);
}

static inline val compare(struct kit *k, enum ir_condition condition, val a, val b)
{
    const val v = op2(k, a->type->kind == IR_FLOAT ? IR_FCMP : IR_ICMP, k->i1, a, b);
    v->condition = (uint8_t)condition;
    return v;
}

static inline val position(struct kit *k, enum ir_builtin builtin)
{
    return builtin1(k, builtin, k->i32, number(k, 0));
}

/* The address of the element with this 32-bit number. */
static inline val element(struct kit *k, val pointer, const struct ir_type *type, val index)
{
    const val wide = op1(k, IR_ZEXT, k->i64, index), v = op2(k, IR_GEP, pointer->type, pointer, wide);
    v->held = type;
    return v;
}

static inline val load(struct kit *k, const struct ir_type *type, val pointer, val index)
{
    return op1(k, IR_LOAD, type, element(k, pointer, type, index));
}

static inline val store(struct kit *k, val value, val pointer, val index)
{
    return op2(k, IR_STORE, k->none, value, element(k, pointer, value->type, index));
}

static inline val kit_end(struct kit *k, enum ir_op op, val a, struct ir_block *yes, struct ir_block *no)
{
    const val v = ir_make(k->f, op, k->none, &a, a ? 1 : 0);
    v->blocks = (yes ? 1U : 0U) + (no ? 1U : 0U);
    v->block = ir_alloc(k->m, 2 * sizeof(struct ir_block *));
    v->block[0] = yes;
    v->block[1] = no;
    return kit_put(k, v);
}

static inline void jump(struct kit *k, struct ir_block *to)
{
    kit_end(k, IR_JUMP, NULL, to, NULL);
}

static inline void branch(struct kit *k, val condition, struct ir_block *yes, struct ir_block *no)
{
    kit_end(k, IR_BRANCH, condition, yes, no);
}

static inline val give(struct kit *k, val value)
{
    return kit_end(k, IR_RETURN, value, NULL, NULL);
}

static inline struct ir_block *block(struct kit *k, const char *name)
{
    return ir_add_block(k->f, name, NULL);
}

static inline val phi(struct kit *k, const struct ir_type *type)
{
    return kit_put(k, ir_make(k->f, IR_PHI, type, NULL, 0));
}

static inline val call(struct kit *k, struct ir_function *f, val a, val b, val c)
{
    const val all[] = {ir_function_value(f), a, b, c};
    return kit_put(k, ir_make(k->f, IR_CALL, f->result, all, 1 + !!a + !!b + !!c));
}

#endif
