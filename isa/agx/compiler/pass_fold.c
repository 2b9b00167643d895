/* Constants and algebra: one instruction at a time, looking at what its operands are. */
#include "isa/agx/compiler/ir_compare.h"
#include "isa/agx/compiler/pass_fold.h"

/* ---- bits ---- */

static uint64_t mask_of(const struct ir_type *type)
{
    return type->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << type->bits) - 1;
}

static bool constant_of(const struct ir_value *v, uint64_t *bits)
{
    if (!pass_is_constant(v, bits) || v->type->kind != IR_INT)
        return false;
    *bits &= mask_of(v->type);
    return true;
}

static bool is_zero(const struct ir_value *v)
{
    uint64_t bits;
    return constant_of(v, &bits) && bits == 0;
}

static bool is_ones(const struct ir_value *v)
{
    uint64_t bits;
    return constant_of(v, &bits) && bits == mask_of(v->type);
}

/* ---- conversions ---- */

/* The low bits of `v`, made from the low bits of what it was made of, where that costs no more than v itself. NULL: not so. */
static struct ir_value *low_bits(struct build *b, struct ir_value *v, const struct ir_type *type, unsigned depth)
{
    uint64_t bits, by;
    if (v->type == type)
        return v;
    if (constant_of(v, &bits))
        return build_bits(b, type, bits);
    if (v->op == IR_UNDEFINED)
        return ir_undefined(b->m, type);
    if (v->op == IR_ZEXT || v->op == IR_SEXT) {
        struct ir_value *from = v->operand[0];
        if (from->type == type)
            return from;
        return build_any(b, from->type->bits > type->bits ? IR_TRUNC : (enum ir_op)v->op, type, &from, 1);
    }
    if (v->op == IR_TRUNC && v->operand[0]->type->bits > type->bits)
        return build_convert(b, IR_TRUNC, v->operand[0], type);
    if (!depth--)
        return NULL;
    switch (v->op) {
    case IR_SHL:
        if (!constant_of(v->operand[1], &by) || by >= type->bits)
            return NULL;
        break;
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_AND:
    case IR_OR:
    case IR_XOR: break;
    case IR_SELECT: {
        struct ir_value *x = low_bits(b, v->operand[1], type, depth), *y = x ? low_bits(b, v->operand[2], type, depth) : NULL;
        return y ? build_select(b, v->operand[0], x, y) : NULL;
    }
    default: return NULL;
    }
    struct ir_value *x = low_bits(b, v->operand[0], type, depth), *y = low_bits(b, v->operand[1], type, depth);
    x = x ? x : build_convert(b, IR_TRUNC, v->operand[0], type);
    y = y ? y : build_convert(b, IR_TRUNC, v->operand[1], type);
    return build_2(b, (enum ir_op)v->op, x, y);
}

struct ir_value *fold_low_bits(struct build *b, struct ir_value *v, const struct ir_type *type)
{
    struct ir_value *low = low_bits(b, v, type, 5);
    return low ? low : build_convert(b, IR_TRUNC, v, type);
}

static struct ir_value *fold_trunc(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *x = v->operand[0];
    if (v->type->bits == 1) /* a truth: comparing is what the back end does best */
        return x->op == IR_ZEXT && x->operand[0]->type->bits == 1 ? x->operand[0] : NULL;
    return low_bits(&b, x, v->type, 5);
}

static struct ir_value *fold_extend(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *x = v->operand[0];
    uint64_t bits;
    if (constant_of(x, &bits)) {
        const unsigned up = 64 - x->type->bits;
        return build_bits(&b, v->type, v->op == IR_SEXT ? (uint64_t)((int64_t)(bits << up) >> up) : bits);
    }
    if (x->op == IR_ZEXT)
        return build_convert(&b, IR_ZEXT, x->operand[0], v->type);
    if (v->op == IR_SEXT)
        return x->op == IR_SEXT ? build_convert(&b, IR_SEXT, x->operand[0], v->type)
               : x->type->bits > 1 && pass_most(p, x) <= mask_of(x->type) >> 1 ? build_convert(&b, IR_ZEXT, x, v->type)
                                                                               : NULL;
    if (x->op == IR_TRUNC && x->operand[0]->type == v->type && x->type->bits > 1) {
        if (pass_most(p, x->operand[0]) <= mask_of(x->type))
            return x->operand[0];
        return build_2n(&b, IR_AND, x->operand[0], mask_of(x->type));
    }
    return NULL;
}

static struct ir_value *fold_bitcast(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *x = v->operand[0];
    if (v->type == x->type)
        return x;
    if (x->op == IR_BITCAST)
        return build_convert(&b, IR_BITCAST, x->operand[0], v->type);
    if (x->op == IR_CONSTANT && (x->type->kind == IR_INT || x->type->kind == IR_FLOAT))
        return ir_constant(p->m, v->type, x->bits);
    return NULL;
}

static struct ir_value *fold_pointer(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *x = v->operand[0];
    if (v->op == IR_INTTOPTR && x->op == IR_PTRTOINT && x->operand[0]->type == v->type)
        return x->operand[0];
    if (v->op == IR_PTRTOINT && x->op == IR_INTTOPTR && x->operand[0]->type == v->type)
        return x->operand[0];
    if (v->op == IR_PTRTOINT && x->op == IR_CONSTANT)
        return build_bits(&b, v->type, x->bits);
    return NULL;
}

/* ---- integers of two operands ---- */

static bool two_constants(enum ir_op op, const struct ir_type *type, uint64_t x, uint64_t y, uint64_t *r)
{
    const unsigned up = 64 - type->bits;
    const int64_t sx = (int64_t)(x << up) >> up, sy = (int64_t)(y << up) >> up;
    const bool shifts = y < type->bits, divides = y != 0 && !(sy == -1 && (x << up) == UINT64_C(1) << 63);
    switch (op) {
    case IR_ADD: *r = x + y; return true;
    case IR_SUB: *r = x - y; return true;
    case IR_MUL: *r = x * y; return true;
    case IR_AND: *r = x & y; return true;
    case IR_OR: *r = x | y; return true;
    case IR_XOR: *r = x ^ y; return true;
    case IR_SHL: *r = shifts ? x << y : 0; return shifts;
    case IR_LSHR: *r = shifts ? x >> y : 0; return shifts;
    case IR_ASHR: *r = shifts ? (uint64_t)(sx >> y) : 0; return shifts;
    case IR_UDIV: *r = y ? x / y : 0; return y != 0;
    case IR_UREM: *r = y ? x % y : 0; return y != 0;
    case IR_SDIV: *r = divides ? (uint64_t)(sx / sy) : 0; return divides;
    case IR_SREM: *r = divides ? (uint64_t)(sx % sy) : 0; return divides;
    default: return false;
    }
}

static struct ir_value *fold_and(struct pass *p, struct ir_value *v, struct ir_value *x, struct ir_value *y)
{
    uint64_t mask, inner;
    struct build b = build_at(p, v);
    if (x == y || is_ones(y))
        return x;
    if (is_zero(y))
        return y;
    if (!constant_of(y, &mask))
        return NULL;
    if (((mask + 1) & mask) == 0 && pass_most(p, x) <= mask)
        return x;
    if (x->op == IR_AND && constant_of(x->operand[1], &inner))
        return build_2n(&b, IR_AND, x->operand[0], mask & inner);
    /* Of a 64-bit number only low bits are wanted: they are found in 32. */
    if (v->type->bits == 64 && mask <= UINT32_MAX) {
        struct ir_value *low = low_bits(&b, x, ir_int(p->m, 32), 5);
        if (!low)
            return NULL;
        if (mask < UINT32_MAX)
            low = build_2n(&b, IR_AND, low, mask);
        return build_convert(&b, IR_ZEXT, low, v->type);
    }
    return NULL;
}

/* x op c1 op c2 where the operation may be done in any order. */
static struct ir_value *fold_twice(struct build *b, const struct ir_value *v, struct ir_value *x, struct ir_value *y)
{
    uint64_t c1, c2, r = 0;
    if (x->op != v->op || !(ir_flags(v) & IR_C) || !constant_of(y, &c2) || !constant_of(x->operand[1], &c1))
        return NULL;
    two_constants((enum ir_op)v->op, v->type, c1, c2, &r);
    struct ir_value *now = build_2n(b, (enum ir_op)v->op, x->operand[0], r);
    now->exact = v->op == IR_ADD && v->exact && x->exact;
    return now;
}

static struct ir_value *fold_shift(struct build *b, const struct ir_value *v, struct ir_value *x, struct ir_value *y)
{
    uint64_t by, before;
    if (is_zero(y) || is_zero(x))
        return x;
    if (!constant_of(y, &by) || x->op != v->op || !constant_of(x->operand[1], &before))
        return NULL;
    if (by + before >= v->type->bits)
        return v->op == IR_ASHR ? build_2n(b, IR_ASHR, x->operand[0], v->type->bits - 1) : build_like(b, x, 0);
    return build_2n(b, (enum ir_op)v->op, x->operand[0], by + before);
}

static struct ir_value *fold_multiply(struct build *b, struct ir_value *x, struct ir_value *y)
{
    uint64_t n;
    if (!constant_of(y, &n))
        return NULL;
    if (n == 0)
        return y;
    if (n == 1)
        return x;
    return n & (n - 1) ? NULL : build_2n(b, IR_SHL, x, (unsigned)__builtin_ctzll(n));
}

static struct ir_value *fold_divide(struct build *b, const struct ir_value *v, struct ir_value *x, struct ir_value *y)
{
    uint64_t n;
    if (!constant_of(y, &n) || !n)
        return NULL;
    const bool power = (n & (n - 1)) == 0;
    if (n == 1)
        return v->op == IR_UDIV || v->op == IR_SDIV ? x : build_like(b, x, 0);
    if (v->op == IR_UDIV && power)
        return build_2n(b, IR_LSHR, x, (unsigned)__builtin_ctzll(n));
    return v->op == IR_UREM && power ? build_2n(b, IR_AND, x, n - 1) : NULL;
}

static struct ir_value *fold_integers(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *x = v->operand[0], *y = v->operand[1];
    uint64_t cx, cy, r;
    if (constant_of(x, &cx) && constant_of(y, &cy))
        return two_constants((enum ir_op)v->op, v->type, cx, cy, &r) ? build_bits(&b, v->type, r) : NULL;
    if (x->op == IR_CONSTANT && (ir_flags(v) & IR_C)) {
        v->operand[0] = y, v->operand[1] = x;
        x = v->operand[0], y = v->operand[1];
    }
    struct ir_value *twice = fold_twice(&b, v, x, y);
    if (twice)
        return twice;
    switch (v->op) {
    case IR_SUB:
        if (x == y)
            return build_like(&b, x, 0);
        return is_zero(y) ? x : constant_of(y, &cy) ? build_2n(&b, IR_ADD, x, 0 - cy) : NULL;
    case IR_ADD: return is_zero(y) ? x : NULL;
    case IR_OR: return x == y || is_zero(y) ? x : is_ones(y) ? y : NULL;
    case IR_XOR: return is_zero(y) ? x : x == y ? build_like(&b, x, 0) : NULL;
    case IR_AND: return fold_and(p, v, x, y);
    case IR_MUL: return fold_multiply(&b, x, y);
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR: return fold_shift(&b, v, x, y);
    default: return fold_divide(&b, v, x, y);
    }
}

/* ---- comparisons ---- */

static bool compare_bits(unsigned condition, const struct ir_type *type, uint64_t x, uint64_t y)
{
    const unsigned up = 64 - type->bits;
    return ir_compare(condition, x, y, (int64_t)(x << up), (int64_t)(y << up));
}

static enum ir_condition swapped(unsigned condition)
{
    static const uint8_t other[] = {IR_EQ, IR_NE, IR_ULT, IR_ULE, IR_UGT, IR_UGE, IR_SLT, IR_SLE, IR_SGT, IR_SGE};
    return (enum ir_condition)other[condition];
}

static enum ir_condition unsigned_of(unsigned condition)
{
    return condition >= IR_SGT && condition <= IR_SLE ? (enum ir_condition)(condition - IR_SGT + IR_UGT)
                                                      : (enum ir_condition)condition;
}

static enum ir_condition opposite(unsigned condition)
{
    static const uint8_t other[] = {IR_NE, IR_EQ, IR_ULE, IR_ULT, IR_UGE, IR_UGT, IR_SLE, IR_SLT, IR_SGE, IR_SGT};
    return (enum ir_condition)other[condition];
}

/* Both sides extended from the same width, or one of them and a constant that fits. */
static struct ir_value *compare_narrow(struct pass *p, struct ir_value *v, struct ir_value *x, struct ir_value *y)
{
    struct build b = build_at(p, v);
    const bool is_signed = x->op == IR_SEXT;
    if (x->op != IR_ZEXT && x->op != IR_SEXT)
        return NULL;
    const struct ir_type *narrow = x->operand[0]->type;
    uint64_t c;
    const enum ir_condition condition = is_signed ? (enum ir_condition)v->condition : unsigned_of(v->condition);
    if (y->op == x->op && y->operand[0]->type == narrow && narrow->bits > 1)
        return build_icmp(&b, condition, x->operand[0], y->operand[0]);
    if (is_signed || !constant_of(y, &c))
        return NULL;
    if (c <= mask_of(narrow) && narrow->bits > 1)
        return build_icmpn(&b, condition, x->operand[0], c);
    if (narrow->bits == 1 && c <= 1 && condition <= IR_NE)
        return (condition == IR_NE) == (c == 0) ? x->operand[0] : build_not(&b, x->operand[0]);
    return NULL;
}

static struct ir_value *fold_icmp(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *x = v->operand[0], *y = v->operand[1];
    uint64_t cx, cy;
    if (x->type->kind != IR_INT)
        return NULL;
    if (constant_of(x, &cx) && constant_of(y, &cy))
        return build_bits(&b, v->type, compare_bits(v->condition, x->type, cx, cy));
    if (x->op == IR_CONSTANT) {
        v->operand[0] = y, v->operand[1] = x;
        v->condition = (uint8_t)swapped(v->condition);
        x = v->operand[0], y = v->operand[1];
    }
    if (x == y)
        return build_bits(&b, v->type, compare_bits(v->condition, x->type, 0, 0));
    if (x->type->bits == 1 && constant_of(y, &cy) && v->condition <= IR_NE)
        return (v->condition == IR_NE) == (cy == 0) ? x : build_not(&b, x);
    if (constant_of(y, &cy)) {
        const uint64_t most = pass_most(p, x);
        if (most < cy && v->condition <= IR_ULE)
            return build_bits(&b, v->type, v->condition == IR_NE || v->condition == IR_ULT || v->condition == IR_ULE);
        if (cy == 0 && (v->condition == IR_ULT || v->condition == IR_UGE))
            return build_bits(&b, v->type, v->condition == IR_UGE);
        if (x->type->bits == 64 && most <= UINT32_MAX && cy <= UINT32_MAX) {
            struct ir_value *low = low_bits(&b, x, ir_int(p->m, 32), 5);
            return low ? build_icmpn(&b, unsigned_of(v->condition), low, cy) : NULL;
        }
    }
    return compare_narrow(p, v, x, y);
}

/* The opposite of a comparison of integers is one as well. */
static struct ir_value *fold_not(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *x = v->operand[0];
    if (v->type->bits != 1 || !is_ones(v->operand[1]))
        return NULL;
    if (x->op == IR_ICMP)
        return build_icmp(&b, opposite(x->condition), x->operand[0], x->operand[1]);
    return x->op == IR_XOR && is_ones(x->operand[1]) ? x->operand[0] : NULL;
}

/* ---- the rest ---- */

static struct ir_value *fold_select(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *c = v->operand[0], *x = v->operand[1], *y = v->operand[2];
    uint64_t bits;
    if (x == y)
        return x;
    if (pass_is_constant(c, &bits))
        return bits & 1 ? x : y;
    if (v->type->kind == IR_INT && v->type->bits == 1) {
        if (is_zero(y))
            return build_2(&b, IR_AND, c, x);
        if (is_ones(x))
            return build_2(&b, IR_OR, c, y);
        if (is_zero(x))
            return build_2(&b, IR_AND, build_not(&b, c), y);
        if (is_ones(y))
            return build_2(&b, IR_OR, build_not(&b, c), x);
    }
    if (c->op == IR_XOR && is_ones(c->operand[1]))
        return build_select(&b, c->operand[0], y, x);
    return NULL;
}

static struct ir_value *fold_phi(struct ir_value *v)
{
    struct ir_value *only = NULL;
    for (unsigned i = 0; i < v->operands; i++) {
        if (v->operand[i] == v)
            continue;
        if (only && only != v->operand[i])
            return NULL;
        only = v->operand[i];
    }
    return only;
}

static struct ir_value *fold_value(struct pass *p, struct ir_value *v)
{
    if (v->type->kind == IR_VECTOR)
        return NULL;
    switch (v->op) {
    case IR_FREEZE: return v->operand[0];
    case IR_PHI: return fold_phi(v);
    case IR_TRUNC: return fold_trunc(p, v);
    case IR_ZEXT:
    case IR_SEXT: return fold_extend(p, v);
    case IR_BITCAST: return v->operand[0]->type->kind == IR_VECTOR ? NULL : fold_bitcast(p, v);
    case IR_PTRTOINT:
    case IR_INTTOPTR: return fold_pointer(p, v);
    case IR_ICMP: return fold_icmp(p, v);
    case IR_SELECT: return fold_select(p, v);
    default: break;
    }
    if (ir_op_kind(v->op) == IR_KIND_BINARY && v->type->kind == IR_INT) {
        struct ir_value *now = v->op == IR_XOR ? fold_not(p, v) : NULL;
        return now ? now : fold_integers(p, v);
    }
    return fold_float(p, v);
}

bool pass_fold(struct pass *p)
{
    return pass_rewrite(p, fold_value);
}
