/* Accesses to less than natural alignment, piece by piece: the hardware rounds an address down to a multiple of what it loads
 * there. Packed structures have such members, as blocks of quantised numbers. */
#include "isa/agx/compiler/pass.h"

/* The bytes of a piece; 0 = the access may stay whole. A 64-bit access is one of two words. */
static unsigned piece_bytes(const struct ir_value *v, const struct ir_type *type, const struct ir_value *pointer)
{
    const unsigned unit = type->bytes > 4 ? 4 : (unsigned)type->bytes;
    const bool scalar = (type->kind == IR_INT && type->bits % 8 == 0) || type->kind == IR_FLOAT;
    if (!scalar || v->is_volatile || pointer->type->space == IR_PRIVATE || v->align == 0 || v->align >= unit)
        return 0;
    return v->align;
}

static struct ir_value *piece_pointer(struct build *b, struct ir_value *pointer, const struct ir_type *type, unsigned number)
{
    return number ? build_gep(b, pointer, type, build_bits(b, ir_int(b->m, 64), number), 0) : pointer;
}

static struct ir_value *load_pieces(struct build *b, const struct ir_value *v, unsigned bytes)
{
    const struct ir_type *const piece = ir_int(b->m, 8 * bytes), *const whole = ir_int(b->m, 8 * (unsigned)v->type->bytes);
    struct ir_value *all = NULL;
    for (unsigned i = 0; i < v->type->bytes / bytes; i++) {
        struct ir_value *one = build_load(b, piece, piece_pointer(b, v->operand[0], piece, i), bytes);
        one = build_resize(b, one, whole, false);
        one = i ? build_2n(b, IR_SHL, one, UINT64_C(8) * bytes * i) : one;
        all = all ? build_2(b, IR_OR, all, one) : one;
    }
    return v->type->kind == IR_FLOAT ? build_convert(b, IR_BITCAST, all, v->type) : all;
}

static void store_pieces(struct build *b, const struct ir_value *v, unsigned bytes)
{
    const struct ir_type *const type = v->operand[0]->type;
    const struct ir_type *const piece = ir_int(b->m, 8 * bytes), *const whole = ir_int(b->m, 8 * (unsigned)type->bytes);
    struct ir_value *const all = type->kind == IR_FLOAT ? build_convert(b, IR_BITCAST, v->operand[0], whole) : v->operand[0];
    for (unsigned i = 0; i < type->bytes / bytes; i++) {
        struct ir_value *const one = i ? build_2n(b, IR_LSHR, all, UINT64_C(8) * bytes * i) : all;
        build_store(b, build_resize(b, one, piece, false), piece_pointer(b, v->operand[1], piece, i), bytes);
    }
}

static struct ir_value *rewrite_access(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    if (v->op == IR_LOAD) {
        const unsigned bytes = piece_bytes(v, v->type, v->operand[0]);
        return bytes ? load_pieces(&b, v, bytes) : NULL;
    }
    const unsigned bytes = v->op == IR_STORE ? piece_bytes(v, v->operand[0]->type, v->operand[1]) : 0;
    if (!bytes)
        return NULL;
    store_pieces(&b, v, bytes);
    ir_remove(v);
    return v;
}

bool pass_unaligned(struct pass *p)
{
    return pass_rewrite(p, rewrite_access);
}
