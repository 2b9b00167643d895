/* Folding of floating point and of builtins. Nothing here changes a result but for the sign of a not-a-number. */
#include "isa/agx/compiler/pass_fold.h"

#include "isa/agx/compiler/ir_interpret_number.h"

#include <math.h>
#include <string.h>

static bool known_number(const struct ir_value *v, float *x)
{
    if (v->op != IR_CONSTANT || v->type->kind != IR_FLOAT)
        return false;
    if (v->type->bits == 32) {
        const uint32_t bits = (uint32_t)v->bits;
        memcpy(x, &bits, sizeof bits);
        return true;
    }
    if (v->type->bits == 16) {
        *x = (float)number_of_half(v->bits);
        return true;
    }
    return false;
}

static bool is_number(const struct ir_value *v, float n)
{
    float x;
    return known_number(v, &x) && x == n && !signbit(x) == !signbit(n);
}

/* Results that are subnormal are left to the hardware, which may flush them. */
static struct ir_value *number(struct build *b, const struct ir_value *like, float x)
{
    return x == 0 || isnormal(x) || isinf(x) ? build_float_like(b, like, (double)x) : NULL;
}

static struct ir_value *fold_two(struct build *b, const struct ir_value *v)
{
    float x, y;
    if (v->type->bits != 32 || !known_number(v->operand[0], &x) || !known_number(v->operand[1], &y))
        return NULL;
    switch (v->op) {
    case IR_FADD: return number(b, v, x + y);
    case IR_FSUB: return number(b, v, x - y);
    case IR_FMUL: return number(b, v, x * y);
    case IR_FDIV: return number(b, v, x / y);
    default: return NULL;
    }
}

static struct ir_value *fold_conversion(struct build *b, const struct ir_value *v)
{
    float x;
    const struct ir_value *from = v->operand[0];
    if (v->op == IR_FPEXT && known_number(from, &x) && v->type->bits == 32)
        return number(b, v, x);
    if (v->op == IR_FPTRUNC && known_number(from, &x) && v->type->bits == 16 && (x == 0 || fabsf(x) >= 0x1p-14f))
        return build_float_like(b, v, (double)x);
    if (v->op == IR_FPTRUNC && from->op == IR_FPEXT && from->operand[0]->type == v->type)
        return from->operand[0];
    if (from->op != IR_CONSTANT || from->type->kind != IR_INT || v->type->bits != 32)
        return NULL;
    const unsigned up = 64 - from->type->bits;
    if (v->op == IR_UITOFP)
        return build_float_like(b, v, (double)(float)(from->bits << up >> up));
    return v->op == IR_SITOFP ? build_float_like(b, v, (double)(float)((int64_t)(from->bits << up) >> up)) : NULL;
}

static struct ir_value *fold_multiply_add(struct build *b, const struct ir_value *v)
{
    if (is_number(v->operand[1], 1))
        return build_2(b, IR_FADD, v->operand[0], v->operand[2]);
    if (is_number(v->operand[0], 1))
        return build_2(b, IR_FADD, v->operand[1], v->operand[2]);
    return NULL;
}

/* Reads a constant table where the index is known. */
static struct ir_value *fold_load(struct build *b, const struct ir_value *v)
{
    const struct ir_value *from = v->operand[0];
    if (from->op == IR_GLOBAL && from->initial && from->type->space == IR_CONSTANT_SPACE && from->initial->op == IR_CONSTANT &&
        from->initial->type == v->type)
        return ir_constant(b->m, v->type, from->initial->bits);
    return NULL;
}

static struct ir_value *fold_builtin(struct build *b, const struct ir_value *v)
{
    uint64_t by;
    struct ir_value *x = v->operands ? v->operand[0] : NULL;
    switch (v->builtin) {
    case IR_B_FUNNEL_LEFT:
    case IR_B_FUNNEL_RIGHT:
        if (pass_is_constant(v->operand[2], &by) && by % v->type->bits == 0)
            return v->operand[v->builtin == IR_B_FUNNEL_RIGHT];
        return NULL;
    case IR_B_UMIN:
    case IR_B_UMAX:
    case IR_B_SMIN:
    case IR_B_SMAX:
    case IR_B_FMIN:
    case IR_B_FMAX: return x == v->operand[1] ? x : NULL;
    case IR_B_FABS:
        if (x->op == IR_FNEG || (x->op == IR_BUILTIN && x->builtin == IR_B_FABS))
            return build_b1(b, IR_B_FABS, x->operand[0]);
        return NULL;
    default: return NULL;
    }
}

struct ir_value *fold_float(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    b.fast = v->fast;
    float x;
    struct ir_value *now;
    switch (v->op) {
    case IR_FADD: /* -0 is what does not change a sum */
        now = fold_two(&b, v);
        return now ? now : is_number(v->operand[1], -0.0F) ? v->operand[0] : NULL;
    case IR_FSUB:
        now = fold_two(&b, v);
        if (!now && is_number(v->operand[0], -0.0F))
            return build_1(&b, IR_FNEG, v->operand[1]);
        return now ? now : is_number(v->operand[1], 0) ? v->operand[0] : NULL;
    case IR_FMUL:
        now = fold_two(&b, v);
        if (!now && is_number(v->operand[1], -1))
            return build_1(&b, IR_FNEG, v->operand[0]);
        return now ? now : is_number(v->operand[1], 1) ? v->operand[0] : is_number(v->operand[0], 1) ? v->operand[1] : NULL;
    case IR_FDIV:
        now = fold_two(&b, v);
        if (now || !known_number(v->operand[1], &x))
            return now;
        /* By a power of two: the reciprocal is exact. */
        if (v->type->bits == 32 && isnormal(x) && isnormal(1 / x) && fabsf(x) == ldexpf(1, ilogbf(x)))
            return build_2(&b, IR_FMUL, v->operand[0], build_f32(&b, 1 / x));
        return NULL;
    case IR_FNEG: return v->operand[0]->op == IR_FNEG ? v->operand[0]->operand[0] : NULL;
    case IR_FMA: return fold_multiply_add(&b, v);
    case IR_FPEXT:
    case IR_FPTRUNC:
    case IR_UITOFP:
    case IR_SITOFP: return fold_conversion(&b, v);
    case IR_LOAD: return fold_load(&b, v);
    case IR_BUILTIN: return fold_builtin(&b, v);
    default: return NULL;
    }
}
