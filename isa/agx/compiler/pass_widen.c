/* Integers of widths that the hardware has not, in the next larger width: 32 bits for up to 31 (but 1 and 16), 64 for up to 63.
 * Bits above a value's own width are undefined in its container; what looks at them clears or extends first. Builtins of 16 bits
 * are done in 32 as well. */
#include "isa/agx/compiler/pass.h"

static bool is_odd(const struct ir_type *type)
{
    return type->kind == IR_INT && type->bits != 1 && type->bits != 16 && type->bits != 32 && type->bits < 64;
}

static unsigned container_bits(unsigned bits)
{
    return bits <= 32 ? 32 : 64;
}

/* The container of an operand; what was replaced is in it already, constants are not. */
static struct ir_value *contained(struct build *b, struct ir_value *x, unsigned bits)
{
    const struct ir_type *type = ir_int(b->m, container_bits(bits));
    if (x->type == type)
        return x;
    if (x->op == IR_CONSTANT)
        return ir_constant(b->m, type, x->bits);
    return x->op == IR_UNDEFINED ? ir_undefined(b->m, type) : build_resize(b, x, type, false);
}

static struct ir_value *cleared(struct build *b, struct ir_value *x, unsigned bits)
{
    x = contained(b, x, bits);
    return bits == x->type->bits || x->op == IR_CONSTANT ? x : build_2n(b, IR_AND, x, (UINT64_C(1) << bits) - 1);
}

static struct ir_value *extended(struct build *b, struct ir_value *x, unsigned bits)
{
    x = contained(b, x, bits);
    const unsigned up = x->type->bits - bits;
    return up ? build_2n(b, IR_ASHR, build_2n(b, IR_SHL, x, up), up) : x;
}

/* ---- operations ---- */

static struct ir_value *widen_binary(struct build *b, const struct ir_value *v, unsigned bits)
{
    struct ir_value *x = v->operand[0], *y = v->operand[1];
    switch (v->op) {
    case IR_UDIV:
    case IR_UREM:
    case IR_LSHR: return build_2(b, (enum ir_op)v->op, cleared(b, x, bits), cleared(b, y, bits));
    case IR_SDIV:
    case IR_SREM: return build_2(b, (enum ir_op)v->op, extended(b, x, bits), extended(b, y, bits));
    case IR_ASHR: return build_2(b, IR_ASHR, extended(b, x, bits), cleared(b, y, bits));
    case IR_SHL: return build_2(b, IR_SHL, contained(b, x, bits), cleared(b, y, bits));
    default: return build_2(b, (enum ir_op)v->op, contained(b, x, bits), contained(b, y, bits));
    }
}

static struct ir_value *clamped(struct build *b, struct ir_value *x, unsigned bits, bool is_signed)
{
    const uint64_t most = ((UINT64_C(1) << bits) - 1) >> is_signed;
    x = build_b2(b, IR_B_SMIN, x, build_like(b, x, most));
    return build_b2(b, IR_B_SMAX, x, build_like(b, x, is_signed ? ~most : 0));
}

/* Of less than 32 bits, in 32. */
static struct ir_value *widen_builtin(struct pass *p, struct build *b, struct ir_value *v, unsigned bits)
{
    struct ir_value *x = v->operand[0], *y = v->operands > 1 ? v->operand[1] : NULL;
    switch (v->builtin) {
    case IR_B_UMIN:
    case IR_B_UMAX: return build_b2(b, (enum ir_builtin)v->builtin, cleared(b, x, bits), cleared(b, y, bits));
    case IR_B_SMIN:
    case IR_B_SMAX: return build_b2(b, (enum ir_builtin)v->builtin, extended(b, x, bits), extended(b, y, bits));
    case IR_B_MUL_HIGH_U: return build_2n(b, IR_LSHR, build_2(b, IR_MUL, cleared(b, x, bits), cleared(b, y, bits)), bits);
    case IR_B_MUL_HIGH_S: return build_2n(b, IR_ASHR, build_2(b, IR_MUL, extended(b, x, bits), extended(b, y, bits)), bits);
    case IR_B_POPCOUNT: return build_b1(b, IR_B_POPCOUNT, cleared(b, x, bits));
    case IR_B_CLZ: return build_2n(b, IR_SUB, build_b1(b, IR_B_CLZ, cleared(b, x, bits)), 32 - bits);
    case IR_B_CTZ: return build_b1(b, IR_B_CTZ, build_2n(b, IR_OR, contained(b, x, bits), UINT64_C(1) << bits));
    case IR_B_BIT_REVERSE: return build_2n(b, IR_LSHR, build_b1(b, IR_B_BIT_REVERSE, contained(b, x, bits)), 32 - bits);
    case IR_B_FUNNEL_LEFT:
    case IR_B_FUNNEL_RIGHT: {
        if (bits > 16)
            break;
        struct ir_value *n = build_2(b, IR_UREM, cleared(b, v->operand[2], bits), build_i32(b, bits));
        struct ir_value *both = build_2(b, IR_OR, build_2n(b, IR_SHL, contained(b, x, bits), bits), cleared(b, y, bits));
        if (v->builtin == IR_B_FUNNEL_RIGHT)
            return build_2(b, IR_LSHR, both, n);
        return build_2n(b, IR_LSHR, build_2(b, IR_SHL, both, n), bits);
    }
    case IR_B_ADD_SAT_U: return clamped(b, build_2(b, IR_ADD, cleared(b, x, bits), cleared(b, y, bits)), bits, false);
    case IR_B_SUB_SAT_U: return clamped(b, build_2(b, IR_SUB, cleared(b, x, bits), cleared(b, y, bits)), bits, false);
    case IR_B_ADD_SAT_S: return clamped(b, build_2(b, IR_ADD, extended(b, x, bits), extended(b, y, bits)), bits, true);
    case IR_B_SUB_SAT_S: return clamped(b, build_2(b, IR_SUB, extended(b, x, bits), extended(b, y, bits)), bits, true);
    case IR_B_SIMD_SHUFFLE:
    case IR_B_SIMD_SHUFFLE_XOR:
    case IR_B_SIMD_SHUFFLE_UP:
    case IR_B_SIMD_SHUFFLE_DOWN:
    case IR_B_SIMD_BROADCAST: return build_b2(b, (enum ir_builtin)v->builtin, contained(b, x, bits), y);
    default: break;
    }
    return pass_refuse(p, v, "%s of %u-bit numbers is not supported", ir_builtin_name(v->builtin), bits);
}

static bool stays_in_16(unsigned builtin)
{
    return builtin == IR_B_UMIN || builtin == IR_B_UMAX || builtin == IR_B_SMIN || builtin == IR_B_SMAX ||
           (builtin >= IR_B_SIMD_REDUCE && builtin <= IR_B_MATRIX_FMA) || builtin < IR_B_FABS;
}

/* What gives a value of an odd width: its container. */
static struct ir_value *widen_result(struct pass *p, struct build *b, struct ir_value *v, unsigned from)
{
    const unsigned bits = v->type->bits;
    const struct ir_type *type = ir_int(p->m, container_bits(bits));
    struct ir_value *x = v->operands ? v->operand[0] : NULL;
    switch (v->op) {
    case IR_TRUNC: return build_resize(b, contained(b, x, from), type, false);
    case IR_ZEXT: return build_resize(b, from == 1 || from == 16 ? x : cleared(b, x, from), type, false);
    case IR_SEXT: return build_resize(b, from == 1 || from == 16 ? x : extended(b, x, from), type, true);
    case IR_FPTOUI:
    case IR_FPTOSI: return build_any(b, (enum ir_op)v->op, type, &x, 1);
    case IR_FREEZE: return contained(b, x, bits);
    case IR_PTRTOINT: return build_resize(b, build_convert(b, IR_PTRTOINT, x, ir_int(p->m, 64)), type, false);
    case IR_SELECT: return build_select(b, x, contained(b, v->operand[1], bits), contained(b, v->operand[2], bits));
    case IR_BUILTIN: return widen_builtin(p, b, v, bits);
    case IR_LOAD: {
        if (bits != 8)
            return pass_refuse(p, v, "loading an integer of %u bits is not supported", bits);
        struct ir_value *now = build_load(b, type, x, 1);
        now->held = v->type;
        now->is_volatile = v->is_volatile;
        return now;
    }
    default: break;
    }
    if (ir_op_kind(v->op) == IR_KIND_BINARY)
        return widen_binary(b, v, bits);
    return pass_refuse(p, v, "%s of an integer of %u bits is not supported", ir_op_name(v->op), bits);
}

static bool compares_signed(const struct ir_value *v)
{
    return v->condition >= IR_SGT && v->condition <= IR_SLE;
}

/* What takes values of an odd width. */
static struct ir_value *widen_use(struct pass *p, struct build *b, struct ir_value *v, unsigned from)
{
    struct ir_value *x = v->operand[0], *now;
    switch (v->op) {
    case IR_ICMP:
        now = compares_signed(v)
                  ? build_icmp(b, (enum ir_condition)v->condition, extended(b, x, from), extended(b, v->operand[1], from))
                  : build_icmp(b, (enum ir_condition)v->condition, cleared(b, x, from), cleared(b, v->operand[1], from));
        return now;
    case IR_ZEXT: return build_resize(b, cleared(b, x, from), v->type, false);
    case IR_SEXT: return build_resize(b, extended(b, x, from), v->type, true);
    case IR_TRUNC: return build_resize(b, contained(b, x, from), v->type, false);
    case IR_UITOFP: x = cleared(b, x, from); return build_any(b, IR_UITOFP, v->type, &x, 1);
    case IR_SITOFP: x = extended(b, x, from); return build_any(b, IR_SITOFP, v->type, &x, 1);
    case IR_INTTOPTR:
        return build_convert(b, IR_INTTOPTR, build_resize(b, cleared(b, x, from), ir_int(p->m, 64), false), v->type);
    case IR_STORE:
        if (from != 8)
            return pass_refuse(p, v, "storing an integer of %u bits is not supported", from);
        now = build_store(b, contained(b, x, from), v->operand[1], 1);
        now->held = ir_int(p->m, 8);
        now->is_volatile = v->is_volatile;
        ir_remove(v);
        return v;
    default: return NULL;
    }
}

static struct ir_value *rewrite_widen(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    const unsigned from = (unsigned)v->bits; /* see pass_widen */
    v->bits = 0;
    if (v->op == IR_PHI)
        return NULL;
    if (is_odd(v->type))
        return widen_result(p, &b, v, from);
    if (from && from != 1 && from != 16 && from != 32 && from < 64)
        return widen_use(p, &b, v, from);
    if (v->op == IR_BUILTIN && pass_is_int(v->type, 16) && !stays_in_16(v->builtin)) {
        struct ir_value *now = widen_builtin(p, &b, v, 16);
        return now ? build_resize(&b, now, v->type, false) : NULL;
    }
    return NULL;
}

/* Phis change their type in place: their operands may come from below. */
static void widen_phi(struct pass *p, struct ir_value *v)
{
    const unsigned bits = v->type->bits;
    v->type = ir_int(p->m, container_bits(bits));
    struct build b = {.m = p->m, .f = p->f, .at = v};
    for (unsigned i = 0; i < v->operands; i++)
        if (v->operand[i]->op == IR_CONSTANT || v->operand[i]->op == IR_UNDEFINED)
            v->operand[i] = contained(&b, v->operand[i], bits);
        else if (v->operand[i]->op == IR_ARGUMENT) {
            b.at = v->block[i]->last;
            v->operand[i] = contained(&b, v->operand[i], bits);
        }
}

bool pass_widen(struct pass *p)
{
    /* The width that the first operand has now is not seen any more when its container took its place: kept in `bits`, which has
     * no other use in these operations. */
    for (struct ir_block *block = p->f->first; block; block = block->next)
        for (struct ir_value *v = block->first; v; v = v->next)
            v->bits = v->operands && v->operand[0]->type->kind == IR_INT ? v->operand[0]->type->bits : 0;
    for (struct ir_block *block = p->f->first; block; block = block->next)
        for (struct ir_value *v = block->first; v; v = v->next)
            if (v->op == IR_PHI && is_odd(v->type))
                widen_phi(p, v);
    return pass_rewrite(p, rewrite_widen);
}
