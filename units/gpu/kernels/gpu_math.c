#include "units/gpu/kernels/gpu_math.h"
#include "isa/array_count.h"

#include <math.h>

/* Two-part constants: value = high + low. */
#define LOG2E_HIGH 0x1.715476p+0F
#define LOG2E_LOW  0x1.4ae0cp-26F
#define LN2        0x1.62e43p-1F

/* A constant for operands that take no float immediate: a uniform; "0" for 0. */
static const char *gpu_math_constant(struct gpu_emit *e, float value)
{
    return f32_bits(value) == 0 ? "0" : gpu_argument_u32(e, f32_bits(value));
}

/* to = a (condition) b ? yes : no */
static void choose(struct gpu_emit *e, const char *condition, unsigned to, unsigned a, float b, const char *yes, const char *no)
{
    gpu_emit(e, "fcmpsel %s, r%u, r%u, %s, %s, %s", condition, to, a, gpu_float(e, b), yes, no);
}

/* to = c[0] + c[1] x + ... */
static void polynomial(struct gpu_emit *e, unsigned to, unsigned x, const float *c, unsigned count)
{
    gpu_mov_imm(e, to, f32_bits(c[count - 1]));
    for (unsigned i = count - 1; i-- > 0;)
        gpu_emit(e, "fmadd32 r%u, r%u, r%u, %s", to, to, x, gpu_float(e, c[i]));
}

/* e^x = p (1 + c), with p = 2^t, t = x log2(e) rounded, and c = ln2 times what the rounding lost. Where p overflows or vanishes,
 * c is left out, because it may be NaN there. */
static void emit_exp(struct gpu_emit *e, unsigned x)
{
    const unsigned t = gpu_register(e, 1), lost = gpu_register(e, 1), p = gpu_register(e, 1);
    gpu_emit(e, "fmul32 r%u, r%u, %s", t, x, gpu_float(e, LOG2E_HIGH));
    gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u.neg", lost, x, gpu_float(e, LOG2E_HIGH), t);
    gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", lost, x, gpu_float(e, LOG2E_LOW), lost);
    gpu_emit(e, "exp2 r%u, r%u", p, t);
    gpu_emit(e, "fmul32 r%u, r%u, %s", lost, lost, gpu_float(e, LN2));
    gpu_emit(e, "fmul32 r%u, r%u, r%u", lost, lost, p);
    gpu_emit(e, "fcmpsel lt, r%u, r%u.abs, %s, r%u, 0", lost, t, gpu_float(e, 128), lost);
    gpu_emit(e, "fadd32 r%u, r%u, r%u", x, p, lost);
    gpu_register_free(e, t, 1);
    gpu_register_free(e, lost, 1);
    gpu_register_free(e, p, 1);
}

static void emit_sigmoid(struct gpu_emit *e, unsigned x)
{
    gpu_emit(e, "fadd32 r%u, r%u.neg, -0.0", x, x);
    emit_exp(e, x);
    gpu_emit(e, "fadd32 r%u, r%u, 1.0", x, x);
    gpu_emit(e, "rcp r%u, r%u", x, x);
}

static void emit_silu(struct gpu_emit *e, unsigned x)
{
    const unsigned gate = gpu_register(e, 1);
    gpu_mov(e, gate, x);
    emit_sigmoid(e, gate);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, gate);
    gpu_register_free(e, gate, 1);
}

/* x / (1 + e^-2z), z = sqrt(2/pi) (x + 0.044715 x^3), which is x (1 + tanh z) / 2. */
static void emit_gelu_tanh(struct gpu_emit *e, unsigned x)
{
    const unsigned z = gpu_register(e, 1);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", z, x, x);
    gpu_emit(e, "fmadd32 r%u, r%u, %s, %s", z, z, gpu_float(e, 0.0713548163F), gpu_float(e, 1.59576912F));
    gpu_emit(e, "fmul32 r%u, r%u, r%u", z, z, x);
    emit_sigmoid(e, z);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, z);
    gpu_register_free(e, z, 1);
}

/* erfc(z) for z >= 0 is P(t) e^(-z z), t = 1 / (1 + 0.4 z); P, a minimax fit, is within 0.03 u. z is limited to 9.9, where the
 * result vanishes. */
static void emit_erfc(struct gpu_emit *e, unsigned to, unsigned z)
{
    static const float p[] = {0.225077517F,  0.235331982F, 0.14323996F,   0.403749898F,
                              -0.372310702F, 0.687840724F, -0.398430963F, 0.0755015823F};
    const unsigned t = gpu_register(e, 1);
    choose(e, "gt", z, z, 9.9F, gpu_math_constant(e, 9.9F), gpu_r(e, z));
    gpu_emit(e, "fmadd32 r%u, r%u, %s, 1.0", t, z, gpu_float(e, 0.4F));
    gpu_emit(e, "rcp r%u, r%u", t, t);
    polynomial(e, to, t, p, ARRAY_COUNT(p));
    gpu_emit(e, "fmul32 r%u, r%u, r%u", to, to, t);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", t, z, z);
    gpu_emit(e, "fmul32 r%u, r%u, %s", t, t, gpu_float(e, -LOG2E_HIGH));
    gpu_emit(e, "exp2 r%u, r%u", t, t);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", to, to, t);
    gpu_register_free(e, t, 1);
}

/* max(x, 0) - |x| erfc(|x| / sqrt 2) / 2: no cancellation on either side. */
static void emit_gelu(struct gpu_emit *e, unsigned x)
{
    const unsigned z = gpu_register(e, 1), tail = gpu_register(e, 1);
    gpu_emit(e, "fmul32 r%u, r%u.abs, %s", z, x, gpu_float(e, 0.707106781F));
    emit_erfc(e, tail, z);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", tail, tail, z);
    choose(e, "gt", x, x, 0, gpu_r(e, x), "0");
    gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", x, tail, gpu_float(e, -0.707106781F), x);
    gpu_register_free(e, z, 1);
    gpu_register_free(e, tail, 1);
}

/* Gives `size` the sign of x, in x. */
static void with_sign(struct gpu_emit *e, unsigned x, unsigned size)
{
    const unsigned negative = gpu_register(e, 1);
    gpu_emit(e, "fadd32 r%u, r%u.neg, -0.0", negative, size);
    choose(e, "lt", x, x, 0, gpu_r(e, negative), gpu_r(e, size));
    gpu_register_free(e, negative, 1);
}

static void emit_erf(struct gpu_emit *e, unsigned x)
{
    const unsigned z = gpu_register(e, 1), tail = gpu_register(e, 1);
    gpu_emit(e, "fadd32 r%u, r%u.abs, -0.0", z, x);
    emit_erfc(e, tail, z);
    gpu_emit(e, "fadd32 r%u, 1.0, r%u.neg", tail, tail);
    with_sign(e, x, tail);
    gpu_register_free(e, z, 1);
    gpu_register_free(e, tail, 1);
}

/* |x| < 0.6: x + x^3 P(x^2), within 0.05 u; otherwise 1 - 2 / (e^2|x| + 1). */
static void emit_tanh(struct gpu_emit *e, unsigned x)
{
    static const float p[] = {-0.333332993F, 0.133319582F, -0.0537866814F, 0.0208053776F, -0.0059058607F};
    const unsigned square = gpu_register(e, 1), small = gpu_register(e, 1), large = gpu_register(e, 1);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", square, x, x);
    polynomial(e, small, square, p, ARRAY_COUNT(p));
    gpu_emit(e, "fmul32 r%u, r%u, r%u", small, small, square);
    gpu_emit(e, "fmadd32 r%u, r%u, r%u, r%u", small, x, small, x);
    gpu_emit(e, "fmul32 r%u, r%u.abs, 2.0", large, x);
    emit_exp(e, large);
    gpu_emit(e, "fadd32 r%u, r%u, 1.0", large, large);
    gpu_emit(e, "rcp r%u, r%u", large, large);
    gpu_emit(e, "fmadd32 r%u, r%u, -2.0, 1.0", large, large);
    with_sign(e, x, large);
    choose(e, "lt", x, square, 0.36F, gpu_r(e, small), gpu_r(e, x));
    gpu_register_free(e, square, 1);
    gpu_register_free(e, small, 1);
    gpu_register_free(e, large, 1);
}

/* e^x - 1 for x <= 0: x + x^2 P(x) down to -0.5, within u / 1000. */
static void emit_expm1(struct gpu_emit *e, unsigned x)
{
    static const float p[] = {0.499999997F, 0.166666565F, 0.0416653322F, 0.00832528146F, 0.00136413722F, 0.000160247256F};
    const unsigned small = gpu_register(e, 1), large = gpu_register(e, 1);
    polynomial(e, small, x, p, ARRAY_COUNT(p));
    gpu_emit(e, "fmul32 r%u, r%u, r%u", small, small, x);
    gpu_emit(e, "fmadd32 r%u, r%u, r%u, r%u", small, small, x, x);
    gpu_mov(e, large, x);
    emit_exp(e, large);
    gpu_emit(e, "fadd32 r%u, r%u, -1.0", large, large);
    choose(e, "gt", x, x, -0.5F, gpu_r(e, small), gpu_r(e, large));
    gpu_register_free(e, small, 1);
    gpu_register_free(e, large, 1);
}

/* x > 0 ? scale x : scale alpha (e^x - 1) */
static void emit_elu(struct gpu_emit *e, unsigned x, float scale, float alpha)
{
    const unsigned low = gpu_register(e, 1);
    choose(e, "gt", low, x, 0, "0", gpu_r(e, x));
    emit_expm1(e, low);
    if (alpha != 1)
        gpu_emit(e, "fmul32 r%u, r%u, %s", low, low, gpu_float(e, alpha));
    choose(e, "gt", x, x, 0, gpu_r(e, x), gpu_r(e, low));
    if (scale != 1)
        gpu_emit(e, "fmul32 r%u, r%u, %s", x, x, gpu_float(e, scale));
    gpu_register_free(e, low, 1);
}

/* max(x, 0) + log(w), w = 1 + e^-|x| rounded, corrected by what the rounding lost, divided by w. */
static void emit_softplus(struct gpu_emit *e, unsigned x)
{
    const unsigned p = gpu_register(e, 1), w = gpu_register(e, 1), lost = gpu_register(e, 1);
    gpu_emit(e, "fadd32 r%u, r%u.abs.neg, -0.0", p, x);
    emit_exp(e, p);
    gpu_emit(e, "fadd32 r%u, r%u, 1.0", w, p);
    gpu_emit(e, "fadd32 r%u, r%u, -1.0", lost, w);
    gpu_emit(e, "fadd32 r%u, r%u, r%u.neg", lost, p, lost);
    gpu_emit(e, "rcp r%u, r%u", p, w);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", lost, lost, p);
    gpu_emit(e, "log2 r%u, r%u", w, w);
    gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", lost, w, gpu_float(e, LN2), lost);
    choose(e, "gt", x, x, 0, gpu_r(e, x), "0");
    gpu_emit(e, "fadd32 r%u, r%u, r%u", x, x, lost);
    gpu_register_free(e, p, 1);
    gpu_register_free(e, w, 1);
    gpu_register_free(e, lost, 1);
}

/* x tanh(log(1 + e^x)) = x n / (n + 2), n = e^x (e^x + 2); beyond 20 that is x. */
static void emit_mish(struct gpu_emit *e, unsigned x)
{
    const unsigned p = gpu_register(e, 1), n = gpu_register(e, 1);
    choose(e, "gt", p, x, 20, gpu_math_constant(e, 20), gpu_r(e, x));
    emit_exp(e, p);
    gpu_emit(e, "fadd32 r%u, r%u, 2.0", n, p);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", n, n, p);
    gpu_emit(e, "fadd32 r%u, r%u, 2.0", p, n);
    gpu_emit(e, "rcp r%u, r%u", p, p);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", n, n, p);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, n);
    gpu_register_free(e, p, 1);
    gpu_register_free(e, n, 1);
}

static void emit_softsign(struct gpu_emit *e, unsigned x)
{
    const unsigned d = gpu_register(e, 1);
    gpu_emit(e, "fadd32 r%u, r%u.abs, 1.0", d, x);
    gpu_emit(e, "rcp r%u, r%u", d, d);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, d);
    gpu_register_free(e, d, 1);
}

static void emit_sqrt(struct gpu_emit *e, unsigned x)
{
    const unsigned root = gpu_register(e, 1);
    gpu_emit(e, "rsqrt_special r%u, r%u", root, x);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, root);
    gpu_register_free(e, root, 1);
}

/* clamp(x + 3, 0, 6) / 6 */
static void emit_hard_sigmoid(struct gpu_emit *e, unsigned to, unsigned x)
{
    gpu_emit(e, "fadd32 r%u, r%u, 3.0", to, x);
    gpu_emit(e, "fmul32.sat r%u, r%u, %s", to, to, gpu_float(e, 1.0F / 6.0F));
}

static void emit_hard_swish(struct gpu_emit *e, unsigned x)
{
    const unsigned gate = gpu_register(e, 1);
    emit_hard_sigmoid(e, gate, x);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, gate);
    gpu_register_free(e, gate, 1);
}

/* Reduces x to quarter turns, -2 .. 2: the nearest whole number of turns is subtracted in three parts. */
static void emit_quarters(struct gpu_emit *e, unsigned x)
{
    const unsigned turns = gpu_register(e, 1);
    gpu_emit(e, "fmul32 r%u, r%u, %s", turns, x, gpu_float(e, 0.159154943F));
    gpu_emit(e, "rint r%u, r%u", turns, turns);
    gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", x, turns, gpu_float(e, -0x1.922p+2F), x);
    gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", x, turns, gpu_float(e, 0x1.2aep-16F), x);
    gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", x, turns, gpu_float(e, 0x1.de973ep-29F), x);
    gpu_emit(e, "fmul32 r%u, r%u, %s", x, x, gpu_float(e, 0.636619772F));
    gpu_register_free(e, turns, 1);
}

static void emit_sin(struct gpu_emit *e, unsigned x)
{
    const unsigned folded = gpu_register(e, 1), ratio = gpu_register(e, 1);
    emit_quarters(e, x);
    gpu_emit(e, "sin_pt_1 r%u, r%u.abs", folded, x);
    gpu_emit(e, "sin_pt_2 r%u, r%u", ratio, folded);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", folded, folded, ratio);
    with_sign(e, x, folded);
    gpu_register_free(e, folded, 1);
    gpu_register_free(e, ratio, 1);
}

static void emit_cos(struct gpu_emit *e, unsigned x)
{
    const unsigned ratio = gpu_register(e, 1);
    emit_quarters(e, x);
    gpu_emit(e, "fadd32 r%u, 1.0, r%u.abs.neg", x, x);
    gpu_emit(e, "sin_pt_2 r%u, r%u", ratio, x);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, ratio);
    gpu_register_free(e, ratio, 1);
}

static void emit_pow(struct gpu_emit *e, unsigned x, unsigned y)
{
    gpu_emit(e, "log2 r%u, r%u", x, x);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, y);
    gpu_emit(e, "exp2 r%u, r%u", x, x);
    choose(e, "eq", x, y, 0, gpu_math_constant(e, 1), gpu_r(e, x));
}

static void emit_div(struct gpu_emit *e, unsigned x, unsigned y)
{
    const unsigned r = gpu_register(e, 1);
    gpu_emit(e, "rcp r%u, r%u", r, y);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, r);
    gpu_register_free(e, r, 1);
}

static void emit_leaky_relu(struct gpu_emit *e, unsigned x, float slope)
{
    const unsigned low = gpu_register(e, 1);
    gpu_emit(e, "fmul32 r%u, r%u, %s", low, x, gpu_float(e, slope));
    choose(e, "gt", x, x, 0, gpu_r(e, x), gpu_r(e, low));
    gpu_register_free(e, low, 1);
}

/* NaN stays NaN. */
static void emit_relu(struct gpu_emit *e, unsigned x, bool six)
{
    choose(e, "lt", x, x, 0, "0", gpu_r(e, x));
    if (six)
        choose(e, "gt", x, x, 6, gpu_math_constant(e, 6), gpu_r(e, x));
}

_Static_assert((int)GPU_MATH_COUNT == (int)KERNEL_FUNCTIONS, "one list of functions");

/* ORDER: enum gpu_math. Functions of a single instruction are in the table: %u is x, then y where there are two. */
static const struct math_row {
    const char *name;
    bool binary;
    const char *instruction;
} rows[GPU_MATH_COUNT] = {
    {"relu", false, NULL},      {"relu6", false, NULL},        {"leaky_relu", false, NULL}, {"gelu", false, NULL},
    {"gelu_tanh", false, NULL}, {"silu", false, NULL},         {"sigmoid", false, NULL},    {"tanh", false, NULL},
    {"elu", false, NULL},       {"selu", false, NULL},         {"softplus", false, NULL},   {"softsign", false, NULL},
    {"mish", false, NULL},      {"hard_sigmoid", false, NULL}, {"hard_swish", false, NULL}, {"exp", false, NULL},
    {"exp2", false, "exp2"},    {"log", false, NULL},          {"log2", false, "log2"},     {"sqrt", false, NULL},
    {"rsqrt", false, "rsqrt"},  {"rcp", false, "rcp"},         {"abs", false, NULL},        {"neg", false, NULL},
    {"square", false, NULL},    {"erf", false, NULL},          {"sin", false, NULL},        {"cos", false, NULL},
    {"floor", false, "floor"},  {"ceil", false, "ceil"},       {"round", false, "rint"},    {"trunc", false, "trunc"},
    {"add", true, "fadd32"},    {"sub", true, NULL},           {"mul", true, "fmul32"},     {"div", true, NULL},
    {"max", true, NULL},        {"min", true, NULL},           {"pow", true, NULL},
};

bool gpu_math_is_binary(enum gpu_math function)
{
    return rows[function].binary;
}

const char *gpu_math_name(enum gpu_math function)
{
    return rows[function].name;
}

static void emit_binary(struct gpu_emit *e, enum gpu_math function, unsigned x, unsigned y)
{
    if (function == GPU_MATH_SUB)
        gpu_emit(e, "fadd32 r%u, r%u, r%u.neg", x, x, y);
    else if (function == GPU_MATH_DIV)
        emit_div(e, x, y);
    else if (function == GPU_MATH_POW)
        emit_pow(e, x, y);
    else
        gpu_emit(e, "fcmpsel %s, r%u, r%u, r%u, r%u, r%u", function == GPU_MATH_MAX ? "gtn" : "ltn", x, x, y, x, y);
}

void gpu_math_emit(struct gpu_emit *e, enum gpu_math function, unsigned x, unsigned y, float alpha)
{
    const struct math_row *row = &rows[function];
    if (row->instruction && row->binary) {
        gpu_emit(e, "%s r%u, r%u, r%u", row->instruction, x, x, y);
        return;
    }
    if (row->instruction) {
        gpu_emit(e, "%s r%u, r%u", row->instruction, x, x);
        return;
    }
    switch (function) {
    case GPU_MATH_RELU: emit_relu(e, x, false); break;
    case GPU_MATH_RELU6: emit_relu(e, x, true); break;
    case GPU_MATH_LEAKY_RELU: emit_leaky_relu(e, x, alpha != 0 ? alpha : 0.01F); break;
    case GPU_MATH_GELU: emit_gelu(e, x); break;
    case GPU_MATH_GELU_TANH: emit_gelu_tanh(e, x); break;
    case GPU_MATH_SILU: emit_silu(e, x); break;
    case GPU_MATH_SIGMOID: emit_sigmoid(e, x); break;
    case GPU_MATH_TANH: emit_tanh(e, x); break;
    case GPU_MATH_ELU: emit_elu(e, x, 1, alpha != 0 ? alpha : 1); break;
    case GPU_MATH_SELU: emit_elu(e, x, 1.05070099F, 1.67326324F); break;
    case GPU_MATH_SOFTPLUS: emit_softplus(e, x); break;
    case GPU_MATH_SOFTSIGN: emit_softsign(e, x); break;
    case GPU_MATH_MISH: emit_mish(e, x); break;
    case GPU_MATH_HARD_SIGMOID: emit_hard_sigmoid(e, x, x); break;
    case GPU_MATH_HARD_SWISH: emit_hard_swish(e, x); break;
    case GPU_MATH_EXP: emit_exp(e, x); break;
    case GPU_MATH_LOG:
        gpu_emit(e, "log2 r%u, r%u", x, x);
        gpu_emit(e, "fmul32 r%u, r%u, %s", x, x, gpu_float(e, LN2));
        break;
    case GPU_MATH_SQRT: emit_sqrt(e, x); break;
    case GPU_MATH_ABS: gpu_emit(e, "fadd32 r%u, r%u.abs, -0.0", x, x); break;
    case GPU_MATH_NEG: gpu_emit(e, "fadd32 r%u, r%u.neg, -0.0", x, x); break;
    case GPU_MATH_SQUARE: gpu_emit(e, "fmul32 r%u, r%u, r%u", x, x, x); break;
    case GPU_MATH_ERF: emit_erf(e, x); break;
    case GPU_MATH_SIN: emit_sin(e, x); break;
    case GPU_MATH_COS: emit_cos(e, x); break;
    default: emit_binary(e, function, x, y);
    }
}
