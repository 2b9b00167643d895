/* Division: integers exactly, by constants through the high half of a product (Granlund and Montgomery, "Division by Invariant
 * Integers using Multiplication", 1994), else through a floating-point reciprocal that is corrected; floats through RCP with a
 * correction by the remainder. */
#include "isa/agx/compiler/pass_divide.h"

#include <math.h>
#include <string.h>

/* ---- by constants ---- */

/* x / d as the high half of one product, where a multiplier of 32 bits is exact enough for x < 2^(32 - zeros); NULL: none is. */
static struct ir_value *udiv_by_product(struct build *b, struct ir_value *x, uint32_t d, unsigned zeros)
{
    for (unsigned by = 0; by < 32; by++) {
        const uint64_t power = UINT64_C(1) << (32 + by), magic = power / d + 1;
        if (magic > UINT32_MAX)
            return NULL;
        if (magic * d - power <= UINT64_C(1) << (by + zeros))
            return build_2n(b, IR_LSHR, build_b2(b, IR_B_MUL_HIGH_U, x, build_i32(b, (uint32_t)magic)), by);
    }
    return NULL;
}

/* x / d for 32-bit unsigned x and 2 < d, no power of two. */
static struct ir_value *udiv_by(struct build *b, struct ir_value *x, uint32_t d)
{
    const unsigned zeros = (unsigned)__builtin_ctz(d);
    struct ir_value *const product = udiv_by_product(b, x, d, 0);
    struct ir_value *const shifted =
        product || !zeros ? product : udiv_by_product(b, build_2n(b, IR_LSHR, x, zeros), d >> zeros, zeros);
    if (shifted)
        return shifted;
    const unsigned log = 32 - (unsigned)__builtin_clz(d - 1);
    const uint64_t high = ((UINT64_C(1) << log) - d) << 32;
    const uint32_t magic = (uint32_t)(high / d + 1); /* 2^32 less than the multiplier */
    struct ir_value *t = build_b2(b, IR_B_MUL_HIGH_U, x, build_i32(b, magic));
    struct ir_value *rest = build_2n(b, IR_LSHR, build_2(b, IR_SUB, x, t), 1);
    return build_2n(b, IR_LSHR, build_2(b, IR_ADD, t, rest), log - 1);
}

/* x / d for 32-bit signed x, 1 < |d| < 2^31. */
static struct ir_value *sdiv_by(struct build *b, struct ir_value *x, int32_t d)
{
    const uint32_t size = d < 0 ? 0U - (uint32_t)d : (uint32_t)d;
    struct ir_value *sign = build_2n(b, IR_ASHR, x, 31), *q;
    if ((size & (size - 1)) == 0) {
        const unsigned log = (unsigned)__builtin_ctz(size);
        struct ir_value *up = build_2n(b, IR_LSHR, sign, 32 - log);
        q = build_2n(b, IR_ASHR, build_2(b, IR_ADD, x, up), log);
    } else {
        const unsigned log = 32 - (unsigned)__builtin_clz(size - 1);
        const uint64_t magic = (UINT64_C(1) << (31 + log)) / size + 1 - (UINT64_C(1) << 32);
        q = build_2(b, IR_ADD, x, build_b2(b, IR_B_MUL_HIGH_S, x, build_i32(b, (uint32_t)magic)));
        q = build_2(b, IR_SUB, log > 1 ? build_2n(b, IR_ASHR, q, log - 1) : q, sign);
    }
    return d < 0 ? build_2(b, IR_SUB, build_i32(b, 0), q) : q;
}

/* ---- by what is not known ---- */

/* 2^32 / y from below within one step of Newton's method, then at most two corrections of the quotient. */
static void udivrem(struct build *b, struct ir_value *x, struct ir_value *y, struct ir_value **quotient, struct ir_value **rest)
{
    struct ir_value *size = build_any(b, IR_UITOFP, ir_float(b->m, 32), &y, 1);
    struct ir_value *scaled = build_2(b, IR_FMUL, build_b1(b, IR_B_RCP, size), build_f32(b, 0x1.fffffcp+31F));
    struct ir_value *r = build_any(b, IR_FPTOUI, ir_int(b->m, 32), &scaled, 1);
    struct ir_value *minus = build_2(b, IR_SUB, build_i32(b, 0), y), *off = build_2(b, IR_MUL, minus, r);
    r = build_2(b, IR_ADD, r, build_b2(b, IR_B_MUL_HIGH_U, r, off));
    struct ir_value *q = build_b2(b, IR_B_MUL_HIGH_U, x, r);
    struct ir_value *left = build_2(b, IR_ADD, build_2(b, IR_MUL, q, minus), x);
    for (unsigned i = 0; i < 2; i++) {
        struct ir_value *more = build_icmp(b, IR_UGE, left, y);
        q = build_select(b, more, build_2n(b, IR_ADD, q, 1), q);
        left = build_select(b, more, build_2(b, IR_SUB, left, y), left);
    }
    *quotient = q;
    *rest = left;
}

static struct ir_value *with_sign_of(struct build *b, struct ir_value *x, struct ir_value *sign)
{
    return build_2(b, IR_SUB, build_2(b, IR_XOR, x, sign), sign);
}

static struct ir_value *divide_unknown(struct build *b, enum ir_op op, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *quotient, *rest;
    if (op == IR_UDIV || op == IR_UREM) {
        udivrem(b, x, y, &quotient, &rest);
        return op == IR_UDIV ? quotient : rest;
    }
    struct ir_value *sx = build_2n(b, IR_ASHR, x, 31), *sy = build_2n(b, IR_ASHR, y, 31);
    udivrem(b, with_sign_of(b, x, sx), with_sign_of(b, y, sy), &quotient, &rest);
    return op == IR_SDIV ? with_sign_of(b, quotient, build_2(b, IR_XOR, sx, sy)) : with_sign_of(b, rest, sx);
}

static struct ir_value *divide_32(struct build *b, enum ir_op op, struct ir_value *x, struct ir_value *y)
{
    uint64_t d;
    if (!pass_is_constant(y, &d) || (uint32_t)d < 2 ||
        (op == IR_SDIV && ((uint32_t)d == 0x80000000 || (uint32_t)d == UINT32_MAX)) ||
        (op == IR_SREM && ((uint32_t)d == 0x80000000 || (uint32_t)d == UINT32_MAX)))
        return divide_unknown(b, op, x, y);
    struct ir_value *q;
    if (op == IR_SDIV || op == IR_SREM)
        q = sdiv_by(b, x, (int32_t)(uint32_t)d);
    else if ((d & (d - 1)) == 0)
        q = build_2n(b, IR_LSHR, x, (unsigned)__builtin_ctzll(d));
    else
        q = udiv_by(b, x, (uint32_t)d);
    /* the rest as one product and sum */
    return op == IR_UDIV || op == IR_SDIV ? q : build_2(b, IR_ADD, build_2n(b, IR_MUL, q, (uint32_t)(0 - d)), x);
}

static struct ir_value *divide_integers(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *x = v->operand[0], *y = v->operand[1];
    const bool is_signed = v->op == IR_SDIV || v->op == IR_SREM;
    const struct ir_type *i32 = ir_int(p->m, 32);
    if (v->type->bits == 32)
        return divide_32(&b, (enum ir_op)v->op, x, y);
    const bool fits = pass_most(p, x) <= UINT32_MAX && pass_most(p, y) <= UINT32_MAX;
    if (v->type->bits < 32 || (fits && !is_signed)) {
        struct ir_value *r =
            divide_32(&b, (enum ir_op)v->op, build_resize(&b, x, i32, is_signed), build_resize(&b, y, i32, is_signed));
        return build_resize(&b, r, v->type, is_signed);
    }
    return v->type->bits == 64 ? divide_long(p, v) : NULL;
}

/* ---- floating point ---- */

static bool constant_float(const struct ir_value *v, float *x)
{
    const uint32_t bits = (uint32_t)v->bits;
    memcpy(x, &bits, sizeof bits);
    return v->op == IR_CONSTANT;
}

/* q = x * (1/y) corrected by its remainder. A huge y is made smaller first, for its reciprocal would be subnormal. Where the
 * remainder is not a number the quotient is zero, infinite or not a number already. */
static struct ir_value *divide_single(struct build *b, struct ir_value *x, struct ir_value *y)
{
    float by = 0;
    struct ir_value *r, *scale = NULL;
    if (constant_float(y, &by) && fabsf(by) > 0x1p-96F && fabsf(by) < 0x1p+96F) {
        r = build_f32(b, 1 / by);
    } else {
        struct ir_value *huge = build_fcmp(b, IR_OGT, build_b1(b, IR_B_FABS, y), build_f32(b, 0x1p+96F));
        scale = build_select(b, huge, build_f32(b, 0x1p-32F), build_f32(b, 1));
        y = build_2(b, IR_FMUL, y, scale);
        r = build_b1(b, IR_B_RCP, y);
    }
    struct ir_value *q = build_2(b, IR_FMUL, x, r);
    struct ir_value *rest = build_fma(b, build_1(b, IR_FNEG, y), q, x), *better = build_fma(b, rest, r, q);
    q = build_select(b, build_fcmp(b, IR_UNO, better, better), q, better);
    return scale ? build_2(b, IR_FMUL, q, scale) : q;
}

static struct ir_value *divide_floats(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    const struct ir_type *f32 = ir_float(p->m, 32);
    struct ir_value *x = v->operand[0], *y = v->operand[1], *r;
    const bool fast = p->options->fast_math || v->fast || v->type->bits == 16;
    float by;
    b.fast = v->fast;
    if (v->type->bits > 32)
        return NULL;
    x = build_convert(&b, IR_FPEXT, x, f32);
    y = build_convert(&b, IR_FPEXT, y, f32);
    if (!fast)
        return divide_single(&b, x, y);
    if (constant_float(y, &by) && isnormal(by) && isnormal(1 / by))
        r = build_f32(&b, 1 / by);
    else
        r = build_b1(&b, IR_B_RCP, y);
    return build_convert(&b, IR_FPTRUNC, build_2(&b, IR_FMUL, x, r), v->type);
}

static struct ir_value *rewrite_division(struct pass *p, struct ir_value *v)
{
    switch (v->op) {
    case IR_UDIV:
    case IR_SDIV:
    case IR_UREM:
    case IR_SREM: return divide_integers(p, v);
    case IR_FDIV: return divide_floats(p, v);
    case IR_FREM: return pass_refuse(p, v, "the remainder of floating-point numbers (frem, fmod) is not supported");
    default: return NULL;
    }
}

bool pass_divide(struct pass *p)
{
    return pass_rewrite(p, rewrite_division);
}
