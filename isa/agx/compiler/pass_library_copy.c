/* llvm.memcpy, memmove and memset of constant size: loads and stores of the largest unit that both sides are known to be aligned
 * to. */
#include "isa/agx/compiler/pass_library.h"

#include <string.h>

#define MOST_BYTES 1024
#define BUILD      &w->b

/* Of the numbers that the variable behind a pointer is made of; 0 = not known. */
static uint64_t known_align(const struct ir_value *pointer)
{
    while (pointer->op == IR_GEP || pointer->op == IR_SPACECAST)
        pointer = pointer->operand[0];
    return pointer->held ? pointer->held->align : 0;
}

/* Copies come from assignments of one type, so that what is known of one side holds for the other. */
static uint64_t unit_of(const struct ir_value *to, const struct ir_value *from, uint64_t bytes)
{
    uint64_t a = known_align(to);
    const uint64_t b = from ? known_align(from) : 0;
    if (!a || (b && b < a))
        a = b;
    uint64_t unit = a >= 4 ? 4 : a >= 2 ? 2 : 1;
    while (bytes % unit)
        unit /= 2;
    return unit;
}

static struct ir_value *place(struct library_whole *w, struct ir_value *pointer, uint64_t at)
{
    return at ? build_gep(BUILD, pointer, ir_int(w->p->m, 8), build_bits(BUILD, ir_int(w->p->m, 64), at), 0) : pointer;
}

static void copy(struct library_whole *w, const struct ir_type *type, uint64_t bytes)
{
    struct ir_value *value[MOST_BYTES];
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

struct ir_value *lower_copy(struct library_whole *w, const char *name)
{
    const bool is_set = strncmp(name, "memset", 6) == 0;
    uint64_t bytes;
    if (!is_set && strncmp(name, "memcpy", 6) != 0 && strncmp(name, "memmove", 7) != 0)
        return NULL;
    if (w->operands < 3 || !pass_is_constant(w->operand[2], &bytes) || bytes > MOST_BYTES)
        return pass_refuse(w->p, w->v, "copying or setting memory of variable size or of more than %d bytes is not supported",
                           MOST_BYTES);
    const uint64_t unit = unit_of(w->operand[0], is_set ? NULL : w->operand[1], bytes);
    const struct ir_type *type = ir_int(w->p->m, 8 * (unsigned)unit);
    if (is_set)
        set(w, type, bytes);
    else
        copy(w, type, bytes);
    ir_remove(w->v);
    return w->v;
}
