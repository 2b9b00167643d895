/* 64-bit operations that the back end has not, from halves of 32 bits. It has add, sub, mul, and, or, xor, shl and lshr by
 * constants, extensions, truncation, comparisons, select, phi, load and store. */
#include "isa/agx/compiler/pass_fold.h"
#include "isa/agx/compiler/pass_library.h"

struct halves {
    struct ir_value *low, *high;
};

static struct halves split(struct build *b, struct ir_value *x)
{
    const struct ir_type *i32 = ir_int(b->m, 32);
    uint64_t bits;
    if (pass_is_constant(x, &bits))
        return (struct halves){build_i32(b, (uint32_t)bits), build_i32(b, (uint32_t)(bits >> 32))};
    if (x->op == IR_ZEXT)
        return (struct halves){build_resize(b, x->operand[0], i32, false), build_i32(b, 0)};
    if (x->op == IR_SEXT && x->operand[0]->type == i32)
        return (struct halves){x->operand[0], build_2n(b, IR_ASHR, x->operand[0], 31)};
    return (struct halves){build_convert(b, IR_TRUNC, x, i32), build_convert(b, IR_TRUNC, build_2n(b, IR_LSHR, x, 32), i32)};
}

static struct ir_value *whole(struct build *b, struct halves h)
{
    const struct ir_type *i64 = ir_int(b->m, 64);
    struct ir_value *low = build_convert(b, IR_ZEXT, h.low, i64), *high = build_convert(b, IR_ZEXT, h.high, i64);
    return build_2(b, IR_OR, build_2n(b, IR_SHL, high, 32), low);
}

/* The sum of two numbers and whether it wrapped, as 0 or 1. */
static struct ir_value *add_carry(struct build *b, struct ir_value *x, struct ir_value *y, struct ir_value **carry)
{
    struct ir_value *sum = build_2(b, IR_ADD, x, y);
    *carry = build_convert(b, IR_ZEXT, build_icmp(b, IR_ULT, sum, x), x->type);
    return sum;
}

static struct ir_value *multiply_high(struct build *b, struct ir_value *x, struct ir_value *y, bool is_signed)
{
    const struct halves p = split(b, x), q = split(b, y);
    struct ir_value *c0, *c1;
    /* the middle column: high(low * low) + low(low * high) + low(high * low) */
    struct ir_value *sum = add_carry(b, build_b2(b, IR_B_MUL_HIGH_U, p.low, q.low), build_2(b, IR_MUL, p.low, q.high), &c0);
    add_carry(b, sum, build_2(b, IR_MUL, p.high, q.low), &c1);
    const struct ir_type *i64 = ir_int(b->m, 64);
    struct ir_value *r =
        whole(b, (struct halves){build_2(b, IR_MUL, p.high, q.high), build_b2(b, IR_B_MUL_HIGH_U, p.high, q.high)});
    struct ir_value *const more[] = {build_b2(b, IR_B_MUL_HIGH_U, p.low, q.high), build_b2(b, IR_B_MUL_HIGH_U, p.high, q.low), c0,
                                     c1};
    for (unsigned i = 0; i < 4; i++)
        r = build_2(b, IR_ADD, r, build_convert(b, IR_ZEXT, more[i], i64));
    if (!is_signed)
        return r;
    struct ir_value *zero = build_like(b, x, 0);
    r = build_2(b, IR_SUB, r, build_select(b, build_icmpn(b, IR_SLT, x, 0), y, zero));
    return build_2(b, IR_SUB, r, build_select(b, build_icmpn(b, IR_SLT, y, 0), x, zero));
}

/* Shifts by n < 64: within a half by n mod 32, then by a whole half. */
static struct ir_value *shift(struct build *b, enum ir_op op, struct ir_value *x, struct ir_value *n)
{
    const struct halves h = split(b, x);
    struct ir_value *by = fold_low_bits(b, n, ir_int(b->m, 32));
    struct ir_value *small = build_2n(b, IR_AND, by, 31), *far = build_icmpn(b, IR_NE, build_2n(b, IR_AND, by, 32), 0);
    struct ir_value *zero = build_i32(b, 0);
    struct halves r;
    if (op == IR_SHL) {
        struct ir_value *low = build_2(b, IR_SHL, h.low, small);
        r.high = build_select(b, far, low, build_b3(b, IR_B_FUNNEL_LEFT, h.high, h.low, small));
        r.low = build_select(b, far, zero, low);
    } else {
        struct ir_value *high = build_2(b, op, h.high, small), *fill = op == IR_ASHR ? build_2n(b, IR_ASHR, h.high, 31) : zero;
        r.low = build_select(b, far, high, build_b3(b, IR_B_FUNNEL_RIGHT, h.high, h.low, small));
        r.high = build_select(b, far, fill, high);
    }
    return whole(b, r);
}

static struct ir_value *shift_by_constant(struct build *b, struct ir_value *x, unsigned n)
{
    const struct halves h = split(b, x);
    struct ir_value *sign = build_2n(b, IR_ASHR, h.high, 31);
    if (n >= 32)
        return whole(b, (struct halves){n == 32 ? h.high : build_2n(b, IR_ASHR, h.high, n - 32), sign});
    return whole(
        b, (struct halves){build_b3(b, IR_B_FUNNEL_RIGHT, h.high, h.low, build_i32(b, n)), build_2n(b, IR_ASHR, h.high, n)});
}

/* ---- builtins ---- */

static struct ir_value *extreme(struct build *b, enum ir_condition first, struct ir_value *x, struct ir_value *y)
{
    return build_select(b, build_icmp(b, first, x, y), x, y);
}

static struct ir_value *funnel(struct build *b, const struct ir_value *v, bool left)
{
    struct ir_value *n = build_2n(b, IR_AND, fold_low_bits(b, v->operand[2], ir_int(b->m, 32)), 63);
    struct ir_value *rest = build_2(b, IR_SUB, build_i32(b, 63), n), *one = build_i32(b, 1);
    struct ir_value *x = v->operand[0], *y = v->operand[1];
    if (left)
        return build_2(b, IR_OR, shift(b, IR_SHL, x, n), shift(b, IR_LSHR, shift(b, IR_LSHR, y, one), rest));
    return build_2(b, IR_OR, shift(b, IR_LSHR, y, n), shift(b, IR_SHL, shift(b, IR_SHL, x, one), rest));
}

/* Signed sums overflow when both operands have a sign that the result has not. */
static struct ir_value *saturating(struct build *b, const struct ir_value *v)
{
    struct ir_value *x = v->operand[0], *y = v->operand[1];
    const bool add = v->builtin == IR_B_ADD_SAT_U || v->builtin == IR_B_ADD_SAT_S;
    struct ir_value *r = build_2(b, add ? IR_ADD : IR_SUB, x, y);
    if (v->builtin == IR_B_ADD_SAT_U)
        return build_select(b, build_icmp(b, IR_ULT, r, x), build_like(b, x, UINT64_MAX), r);
    if (v->builtin == IR_B_SUB_SAT_U)
        return build_select(b, build_icmp(b, IR_ULT, x, y), build_like(b, x, 0), r);
    struct ir_value *differs = build_2(b, IR_XOR, r, x), *other = build_2(b, IR_XOR, add ? r : x, y);
    struct ir_value *over = build_icmpn(b, IR_SLT, build_2(b, IR_AND, differs, other), 0);
    struct ir_value *limit =
        build_select(b, build_icmpn(b, IR_SLT, x, 0), build_like(b, x, UINT64_C(1) << 63), build_like(b, x, INT64_MAX));
    return build_select(b, over, limit, r);
}

static struct ir_value *count(struct build *b, const struct ir_value *v)
{
    const struct halves h = split(b, v->operand[0]);
    struct ir_value *low = build_b1(b, (enum ir_builtin)v->builtin, h.low),
                    *high = build_b1(b, (enum ir_builtin)v->builtin, h.high);
    struct ir_value *r;
    if (v->builtin == IR_B_POPCOUNT)
        r = build_2(b, IR_ADD, low, high);
    else if (v->builtin == IR_B_CLZ)
        r = build_select(b, build_icmpn(b, IR_EQ, h.high, 0), build_2n(b, IR_ADD, low, 32), high);
    else
        r = build_select(b, build_icmpn(b, IR_EQ, h.low, 0), build_2n(b, IR_ADD, high, 32), low);
    return build_convert(b, IR_ZEXT, r, v->type);
}

static struct ir_value *per_half(struct build *b, const struct ir_value *v)
{
    const struct halves h = split(b, v->operand[0]);
    struct ir_value *part[2] = {h.low, h.high};
    for (unsigned i = 0; i < 2; i++) {
        struct ir_value *const operand[] = {part[i], v->operands > 1 ? v->operand[1] : NULL};
        part[i] = build_builtin(b, (enum ir_builtin)v->builtin, part[i]->type, operand, v->operands);
    }
    return whole(b, (struct halves){part[0], part[1]});
}

/* ---- functions of simdgroups ---- */

static struct ir_value *kind_builtin(struct build *b, const struct ir_value *v, unsigned kind, struct ir_value *x)
{
    return lower_with_kind(b, (enum ir_builtin)v->builtin, kind, x->type, &x, 1);
}

/* Sums of quarters have room to spare, so that the whole is put together from them. */
static struct ir_value *sum_of_lanes(struct build *b, const struct ir_value *v)
{
    const struct halves h = split(b, v->operand[0]);
    struct ir_value *const word[] = {h.low, h.high};
    struct ir_value *sum = NULL;
    for (unsigned i = 0; i < 4; i++) {
        struct ir_value *quarter = i % 2 ? build_2n(b, IR_LSHR, word[i / 2], 16) : build_2n(b, IR_AND, word[i / 2], 0xffff);
        quarter = build_convert(b, IR_ZEXT, kind_builtin(b, v, IR_REDUCE_ADD, quarter), v->type);
        quarter = i ? build_2n(b, IR_SHL, quarter, 16 * i) : quarter;
        sum = sum ? build_2(b, IR_ADD, sum, quarter) : quarter;
    }
    return sum;
}

/* The extreme of the high words, then that of the low words of the lanes that have it. */
static struct ir_value *extreme_of_lanes(struct build *b, const struct ir_value *v, unsigned kind)
{
    const struct halves h = split(b, v->operand[0]);
    const bool least = kind == IR_REDUCE_UMIN || kind == IR_REDUCE_SMIN;
    struct ir_value *high = kind_builtin(b, v, kind, h.high), *among = build_icmp(b, IR_EQ, high, h.high);
    struct ir_value *low = build_select(b, among, h.low, build_i32(b, least ? UINT32_MAX : 0));
    return whole(b, (struct halves){kind_builtin(b, v, least ? IR_REDUCE_UMIN : IR_REDUCE_UMAX, low), high});
}

static struct ir_value *from_below(struct build *b, struct ir_value *x, unsigned distance)
{
    const struct halves h = split(b, x);
    struct ir_value *by = build_i32(b, distance);
    return whole(b, (struct halves){build_b2(b, IR_B_SIMD_SHUFFLE_UP, h.low, by), build_b2(b, IR_B_SIMD_SHUFFLE_UP, h.high, by)});
}

/* In five steps, each of which looks twice as far down; then all moves up by one lane. */
static struct ir_value *extreme_below(struct build *b, const struct ir_value *v, unsigned kind)
{
    static const enum ir_condition first[] = {
        [IR_REDUCE_UMIN] = IR_ULT, [IR_REDUCE_UMAX] = IR_UGT, [IR_REDUCE_SMIN] = IR_SLT, [IR_REDUCE_SMAX] = IR_SGT};
    static const uint64_t none[] = {
        [IR_REDUCE_UMIN] = UINT64_MAX, [IR_REDUCE_UMAX] = 0, [IR_REDUCE_SMIN] = INT64_MAX, [IR_REDUCE_SMAX] = UINT64_C(1) << 63};
    struct ir_value *lane = build_builtin(b, IR_B_LANE, ir_int(b->m, 32), NULL, 0), *x = v->operand[0];
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        struct ir_value *other = from_below(b, x, distance);
        struct ir_value *better =
            build_2(b, IR_AND, build_icmpn(b, IR_UGE, lane, distance), build_icmp(b, first[kind], other, x));
        x = build_select(b, better, other, x);
    }
    return build_select(b, build_icmpn(b, IR_EQ, lane, 0), build_like(b, x, none[kind]), from_below(b, x, 1));
}

static struct ir_value *lanes_together(struct pass *p, struct build *b, struct ir_value *v)
{
    const unsigned kind = v->lists ? v->list[0] : 0;
    switch (kind) {
    case IR_REDUCE_ADD: return sum_of_lanes(b, v);
    case IR_REDUCE_AND:
    case IR_REDUCE_OR:
    case IR_REDUCE_XOR: {
        const struct halves h = split(b, v->operand[0]);
        return whole(b, (struct halves){kind_builtin(b, v, kind, h.low), kind_builtin(b, v, kind, h.high)});
    }
    case IR_REDUCE_UMIN:
    case IR_REDUCE_UMAX:
    case IR_REDUCE_SMIN:
    case IR_REDUCE_SMAX: return v->builtin == IR_B_SIMD_PREFIX ? extreme_below(b, v, kind) : extreme_of_lanes(b, v, kind);
    default: return pass_refuse(p, v, "%s of 64-bit numbers is not supported", ir_builtin_name(v->builtin));
    }
}

static struct ir_value *wide_builtin(struct pass *p, struct build *b, struct ir_value *v)
{
    struct ir_value *x = v->operands ? v->operand[0] : NULL, *y = v->operands > 1 ? v->operand[1] : NULL;
    switch (v->builtin) {
    case IR_B_UMIN: return extreme(b, IR_ULT, x, y);
    case IR_B_UMAX: return extreme(b, IR_UGT, x, y);
    case IR_B_SMIN: return extreme(b, IR_SLT, x, y);
    case IR_B_SMAX: return extreme(b, IR_SGT, x, y);
    case IR_B_MUL_HIGH_U: return multiply_high(b, x, y, false);
    case IR_B_MUL_HIGH_S: return multiply_high(b, x, y, true);
    case IR_B_FUNNEL_LEFT: return funnel(b, v, true);
    case IR_B_FUNNEL_RIGHT: return funnel(b, v, false);
    case IR_B_ADD_SAT_U:
    case IR_B_ADD_SAT_S:
    case IR_B_SUB_SAT_U:
    case IR_B_SUB_SAT_S: return saturating(b, v);
    case IR_B_POPCOUNT:
    case IR_B_CLZ:
    case IR_B_CTZ: return count(b, v);
    case IR_B_BIT_REVERSE: {
        const struct halves h = split(b, x);
        return whole(b, (struct halves){build_b1(b, IR_B_BIT_REVERSE, h.high), build_b1(b, IR_B_BIT_REVERSE, h.low)});
    }
    case IR_B_SIMD_SHUFFLE:
    case IR_B_SIMD_SHUFFLE_XOR:
    case IR_B_SIMD_SHUFFLE_UP:
    case IR_B_SIMD_SHUFFLE_DOWN:
    case IR_B_SIMD_BROADCAST: return per_half(b, v);
    case IR_B_SIMD_REDUCE:
    case IR_B_SIMD_PREFIX:
    case IR_B_QUAD_REDUCE: return lanes_together(p, b, v);
    default: return pass_refuse(p, v, "%s of 64-bit numbers is not supported", ir_builtin_name(v->builtin));
    }
}

/* ---- to and from floating point ---- */

/* The highest 32 bits, the last of which stands for all below as well, round as the whole number does. */
static struct ir_value *to_float(struct build *b, struct ir_value *x, bool is_signed)
{
    const struct ir_type *i32 = ir_int(b->m, 32), *f32 = ir_float(b->m, 32);
    struct ir_value *negative = NULL;
    if (is_signed) {
        negative = build_icmpn(b, IR_SLT, x, 0);
        x = build_select(b, negative, build_2(b, IR_SUB, build_like(b, x, 0), x), x);
    }
    struct halves h = split(b, x);
    struct ir_value *none = build_icmpn(b, IR_EQ, h.high, 0);
    struct ir_value *n = build_select(b, none, build_i32(b, 32), build_b1(b, IR_B_CLZ, h.high));
    h = split(b, shift(b, IR_SHL, x, n));
    struct ir_value *sticky = build_convert(b, IR_ZEXT, build_icmpn(b, IR_NE, h.low, 0), i32);
    struct ir_value *top = build_2(b, IR_OR, h.high, sticky);
    struct ir_value *f = build_any(b, IR_UITOFP, f32, &top, 1);
    /* times 2^(32 - n) */
    struct ir_value *power = build_2n(b, IR_SHL, build_2(b, IR_SUB, build_i32(b, 127 + 32), n), 23);
    f = build_2(b, IR_FMUL, f, build_convert(b, IR_BITCAST, power, f32));
    return negative ? build_select(b, negative, build_1(b, IR_FNEG, f), f) : f;
}

static struct ir_value *from_float(struct build *b, struct ir_value *x, bool is_signed)
{
    const struct ir_type *i32 = ir_int(b->m, 32), *f32 = ir_float(b->m, 32);
    x = build_b1(b, IR_B_TRUNCATE, build_convert(b, IR_FPEXT, x, f32));
    struct ir_value *size = is_signed ? build_b1(b, IR_B_FABS, x) : x;
    struct ir_value *high = build_b1(b, IR_B_TRUNCATE, build_2(b, IR_FMUL, size, build_f32(b, 0x1p-32F)));
    struct ir_value *low = build_fma(b, high, build_f32(b, -0x1p+32F), size);
    const struct halves h = {build_any(b, IR_FPTOUI, i32, &low, 1), build_any(b, IR_FPTOUI, i32, &high, 1)};
    struct ir_value *r = whole(b, h);
    if (!is_signed)
        return r;
    struct ir_value *negative = build_fcmp(b, IR_OLT, x, build_f32(b, 0));
    return build_select(b, negative, build_2(b, IR_SUB, build_like(b, r, 0), r), r);
}

static bool is_wide(const struct ir_type *type)
{
    return type->kind == IR_INT && type->bits == 64;
}

static struct ir_value *rewrite_wide(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    uint64_t n;
    if ((v->op == IR_UITOFP || v->op == IR_SITOFP) && is_wide(v->operand[0]->type)) {
        struct ir_value *f = to_float(&b, v->operand[0], v->op == IR_SITOFP);
        return build_convert(&b, IR_FPTRUNC, f, v->type);
    }
    if (!is_wide(v->type))
        return NULL;
    switch (v->op) {
    case IR_SHL:
    case IR_LSHR: return pass_is_constant(v->operand[1], &n) ? NULL : shift(&b, (enum ir_op)v->op, v->operand[0], v->operand[1]);
    case IR_ASHR:
        if (pass_is_constant(v->operand[1], &n) && n < 64 && n)
            return shift_by_constant(&b, v->operand[0], (unsigned)n);
        return shift(&b, IR_ASHR, v->operand[0], v->operand[1]);
    case IR_FPTOUI: return from_float(&b, v->operand[0], false);
    case IR_FPTOSI: return from_float(&b, v->operand[0], true);
    case IR_BUILTIN: return wide_builtin(p, &b, v);
    default: return NULL;
    }
}

bool pass_wide(struct pass *p)
{
    return pass_rewrite(p, rewrite_wide);
}
