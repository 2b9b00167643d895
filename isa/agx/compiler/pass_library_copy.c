/* llvm.memcpy, memmove and memset: loads and stores of the largest unit that both sides are known to be aligned to, one after
 * another when they are few, else in a loop. */
#include "isa/agx/compiler/pass_library.h"

#include <string.h>

/* Units that are copied without a loop: more of them when the variable may become values. */
#define MOST_UNITS  64
#define MOST_VALUES 1024
#define BUILD       &w->b

/* Of the numbers that the variable behind a pointer is made of; 0 = not known. */
static uint64_t known_align(const struct ir_value *pointer)
{
    while (pointer->op == IR_GEP || pointer->op == IR_SPACECAST)
        pointer = pointer->operand[0];
    return pointer->held ? pointer->held->align : 0;
}

/* Copies come from assignments of one type, so that what is known of one side holds for the other. `stated`: what the call says
 * of both; 0 = nothing. */
static uint64_t unit_of(const struct ir_value *to, const struct ir_value *from, uint64_t stated, uint64_t multiple)
{
    uint64_t a = known_align(to);
    const uint64_t b = from ? known_align(from) : 0;
    if (!a || (b && b < a))
        a = b;
    if (stated > a)
        a = stated;
    uint64_t unit = a >= 4 ? 4 : a >= 2 ? 2 : 1;
    while (unit > multiple)
        unit /= 2;
    return unit;
}

/* A power of two of which the number is known to be a multiple. */
static uint64_t known_multiple(const struct ir_value *v)
{
    uint64_t n;
    if (pass_is_constant(v, &n))
        return n ? n & -n : 4;
    switch (v->op) {
    case IR_SHL: return !pass_is_constant(v->operand[1], &n) ? 1 : n < 2 ? UINT64_C(1) << n : 4;
    case IR_MUL: return pass_is_constant(v->operand[1], &n) && n ? n & -n : 1;
    case IR_AND: return pass_is_constant(v->operand[1], &n) && n ? n & -n : 1;
    case IR_ZEXT:
    case IR_FREEZE: return known_multiple(v->operand[0]);
    case IR_ADD: {
        const uint64_t a = known_multiple(v->operand[0]), b = known_multiple(v->operand[1]);
        return a < b ? a : b;
    }
    default: return 1;
    }
}

static struct ir_value *place(struct library_whole *w, struct ir_value *pointer, uint64_t at)
{
    return at ? build_gep(BUILD, pointer, ir_int(w->p->m, 8), build_bits(BUILD, ir_int(w->p->m, 64), at), 0) : pointer;
}

static void copy(struct library_whole *w, const struct ir_type *type, uint64_t bytes)
{
    struct ir_value *value[MOST_VALUES];
    const uint32_t unit = (uint32_t)type->bytes;
    /* All are loaded first: memmove may overlap. */
    for (uint64_t at = 0; at < bytes; at += unit)
        value[at / unit] = build_load(BUILD, type, place(w, w->operand[1], at), unit);
    for (uint64_t at = 0; at < bytes; at += unit)
        build_store(BUILD, value[at / unit], place(w, w->operand[0], at), unit);
}

static void set(struct library_whole *w, const struct ir_type *type, uint64_t bytes)
{
    const uint32_t unit = (uint32_t)type->bytes;
    struct ir_value *value = build_resize(BUILD, w->operand[1], type, false);
    if (unit > 1)
        value = build_2n(BUILD, IR_MUL, value, UINT64_C(0x01010101));
    for (uint64_t at = 0; at < bytes; at += unit)
        build_store(BUILD, value, place(w, w->operand[0], at), unit);
}

/* ---- loops ---- */

static const struct ir_value *root_of(const struct ir_value *pointer)
{
    while (pointer->op == IR_GEP || pointer->op == IR_SPACECAST)
        pointer = pointer->operand[0];
    return pointer;
}

/* Whether a variable of the thread is accessed at constant places only. */
static bool may_be_values(const struct ir_function *f, const struct ir_value *variable)
{
    uint64_t n;
    if (variable->op != IR_ALLOCA)
        return false;
    for (const struct ir_block *b = f->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next)
            for (unsigned i = 1; v->op == IR_GEP && i < v->operands; i++)
                if (!pass_is_constant(v->operand[i], &n) && root_of(v) == variable)
                    return false;
    return true;
}

static uint64_t most_units(const struct library_whole *w)
{
    for (unsigned i = 0; i < 2; i++)
        if (w->operand[i]->type->kind == IR_POINTER && may_be_values(w->p->f, root_of(w->operand[i])))
            return MOST_VALUES;
    return MOST_UNITS;
}

static struct ir_value *place_of(struct build *b, struct ir_value *pointer, const struct ir_type *type, struct ir_value *index)
{
    return build_gep(b, pointer, type, index, 0);
}

/* The kind of memory as far as casts tell it. */
static enum ir_space space_behind(const struct ir_value *pointer)
{
    return root_of(pointer)->type->space;
}

/* Whether a copy must begin at the end, because it goes up over what it still has to read. */
static struct ir_value *backwards(struct library_whole *w)
{
    struct ir_value *to = w->operand[0], *from = w->operand[1];
    return space_behind(to) == space_behind(from) && to->type == from->type ? build_icmp(BUILD, IR_UGT, to, from) : NULL;
}

static void loop(struct library_whole *w, const struct ir_type *type, bool is_set, bool may_overlap)
{
    const struct ir_type *i64 = ir_int(w->p->m, 64);
    const unsigned up = type->bytes == 4 ? 2 : type->bytes == 2 ? 1 : 0;
    struct ir_value *count = build_resize(BUILD, w->operand[2], i64, false);
    count = up ? build_2n(BUILD, IR_LSHR, count, up) : count;
    struct ir_value *zero = build_bits(BUILD, i64, 0), *down = may_overlap ? backwards(w) : NULL, *value = NULL;
    if (is_set) {
        value = build_resize(BUILD, w->operand[1], type, false);
        value = up ? build_2n(BUILD, IR_MUL, value, UINT64_C(0x01010101)) : value;
    }
    struct build_loop l = build_loop_open(BUILD, build_icmpn(BUILD, IR_NE, count, 0));
    struct ir_value *turn = build_loop_phi(&l, zero), *next = build_2n(&l.b, IR_ADD, turn, 1), *index = turn;
    if (down)
        index = build_select(&l.b, down, build_2(&l.b, IR_SUB, count, next), turn);
    if (!is_set)
        value = build_load(&l.b, type, place_of(&l.b, w->operand[1], type, index), (uint32_t)type->bytes);
    build_store(&l.b, value, place_of(&l.b, w->operand[0], type, index), (uint32_t)type->bytes);
    build_loop_next(&l, turn, next);
    build_loop_close(&l, build_icmp(&l.b, IR_ULT, next, count));
}

struct ir_value *lower_copy(struct library_whole *w, const char *name)
{
    const bool is_set = strncmp(name, "memset", 6) == 0;
    uint64_t bytes = 0;
    if (!is_set && strncmp(name, "memcpy", 6) != 0 && strncmp(name, "memmove", 7) != 0)
        return NULL;
    if (w->operands < 3)
        return NULL;
    const bool fixed = pass_is_constant(w->operand[2], &bytes);
    const uint64_t unit = unit_of(w->operand[0], is_set ? NULL : w->operand[1], w->v->align, known_multiple(w->operand[2]));
    const struct ir_type *type = ir_int(w->p->m, 8 * (unsigned)unit);
    if (!fixed || bytes / unit > most_units(w))
        loop(w, type, is_set, strncmp(name, "memmove", 7) == 0);
    else if (is_set)
        set(w, type, bytes);
    else
        copy(w, type, bytes);
    ir_remove(w->v);
    return w->v;
}
