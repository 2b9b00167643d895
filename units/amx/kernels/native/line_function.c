/* Functions of 64 numbers on the AMX block, in f32. The block has no shifts of exponents, no rounding to whole numbers and no
 * division: powers of two and first guesses of reciprocals come from tables (genlut). Bounds: units/routines/function_truth.c. */
#include "units/amx/kernels/native/line_function.h"
#include "units/kernel_function.h"

static const line one = EVERYWHERE(1), zero = EVERYWHERE(0), minus_one = EVERYWHERE(-1);

/* ---- e^x ---- */

/* e^x = 2^(n + m) e^r, n in steps of 16 from -127 on, m from 0 to 15, |r| <= ln2 / 2. */
static const line exp_most = EVERYWHERE(89), exp_least = EVERYWHERE(-88.3F), exp_none = EVERYWHERE(88.3F);
static const line exp_coarse_bounds = {-__builtin_inff(), -0x1.3524c6p+6F, -0x1.08c84p+6F, -0x1.b8d774p+5F,
                                       -0x1.601e68p+5F,   -0x1.07655cp+5F, -0x1.5d58ap+4F, -0x1.57cd0ep+3F,
                                       0x1.62e43p-2F,     0x1.6dfb52p+3F,  0x1.686fcp+4F,  0x1.0cf0ecp+5F,
                                       0x1.65a9f8p+5F,    0x1.be6304p+5F,  0x1.0b8e08p+6F, 0x1.37ea8ep+6F};
static const line exp_coarse = {-127, -111, -95, -79, -63, -47, -31, -15, 1, 17, 33, 49, 65, 81, 97, 113};
static const line exp_coarse_power = {0x1p-127F, 0x1p-111F, 0x1p-95F, 0x1p-79F, 0x1p-63F, 0x1p-47F, 0x1p-31F, 0x1p-15F,
                                      0x1p1F,    0x1p17F,   0x1p33F,  0x1p49F,  0x1p65F,  0x1p81F,  0x1p97F,  0x1p113F};
static const line exp_fine_bounds = {-__builtin_inff(), 0x1.62e43p-2F,  0x1.0a2b24p+0F, 0x1.bb9d3cp+0F,
                                     0x1.3687aap+1F,    0x1.8f40b6p+1F, 0x1.e7f9c2p+1F, 0x1.205966p+2F,
                                     0x1.4cb5ecp+2F,    0x1.791272p+2F, 0x1.a56ef8p+2F, 0x1.d1cb7ep+2F,
                                     0x1.fe2804p+2F,    0x1.154246p+3F, 0x1.2b7088p+3F, 0x1.419eccp+3F};
static const line exp_fine = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const line exp_fine_power = {0x1p0F, 0x1p1F, 0x1p2F,  0x1p3F,  0x1p4F,  0x1p5F,  0x1p6F,  0x1p7F,
                                    0x1p8F, 0x1p9F, 0x1p10F, 0x1p11F, 0x1p12F, 0x1p13F, 0x1p14F, 0x1p15F};
static const line ln2_high = EVERYWHERE(0x1.62e4p-1F), ln2_low = EVERYWHERE(0x1.7f7d1cp-20F);
static const line exp_series[] = {EVERYWHERE(1),
                                  EVERYWHERE(1),
                                  EVERYWHERE(0x1p-1F),
                                  EVERYWHERE(0x1.555556p-3F),
                                  EVERYWHERE(0x1.555556p-5F),
                                  EVERYWHERE(0x1.111112p-7F),
                                  EVERYWHERE(0x1.6c16c2p-10F),
                                  EVERYWHERE(0x1.a01a02p-13F)};

__attribute__((noinline)) void line_exp(void)
{
    enum { X, COUNT, COARSE, FINE, SUM, MORE, LEFT, ABOVE };
    line_limit(X, ALU_MIN, exp_most);
    line_limit(X, ALU_MAX, exp_least);
    line_copy(ABOVE, X);
    line_add_constant(ABOVE, exp_none);
    line_find(X, exp_coarse_bounds);
    line_look_up(COUNT, exp_coarse);
    line_look_up(COARSE, exp_coarse_power);
    line_copy(LEFT, X);
    line_scale_sub(LEFT, COUNT, ln2_high); /* rounded: good enough to find m, not for r */
    line_find(LEFT, exp_fine_bounds);
    line_look_up(MORE, exp_fine);
    line_look_up(FINE, exp_fine_power);
    line_add(COUNT, MORE);
    line_scale_sub(X, COUNT, ln2_high); /* exact: few bits */
    line_scale_sub(X, COUNT, ln2_low);
    line_polynomial(SUM, MORE, X, exp_series, 8);
    line_mul(X, SUM, FINE);
    line_mul(X, X, COARSE);
    line_choose(X, ABOVE, X); /* 0 from the limit on */
}

/* ---- 1 / x for x in [1, 5.3] ---- */

static const line reciprocal_bounds = {-__builtin_inff(), 0x1.1c1fap+0F,  0x1.3b562ep+0F, 0x1.5dfa9p+0F,
                                       0x1.846d34p+0F,    0x1.af1922p+0F, 0x1.de7522p+0F, 0x1.098286p+1F,
                                       0x1.26ad9ap+1F,    0x1.470cfep+1F, 0x1.6afadp+1F,  0x1.92db16p+1F,
                                       0x1.bf1cdp+1F,     0x1.f03b34p+1F, 0x1.135f7ep+2F, 0x1.319ff4p+2F};
static const line reciprocal_at_0 = {0x1.e5ffe8p+0F, 0x1.b5e4cap+0F, 0x1.8a8caap+0F, 0x1.637edep+0F,
                                     0x1.404eb2p+0F, 0x1.209a2ep+0F, 0x1.04091p+0F,  0x1.d497a8p-1F,
                                     0x1.a635a2p-1F, 0x1.7c6afp-1F,  0x1.56c33ep-1F, 0x1.34d5b8p-1F,
                                     0x1.1643eap-1F, 0x1.f57178p-2F, 0x1.c3cf04p-2F, 0x1.97164ap-2F};
static const line reciprocal_slope = {0x1.ccb1bap-1F, 0x1.76017ap-1F, 0x1.2fa12p-1F,  0x1.ecfdccp-2F,
                                      0x1.9039cp-2F,  0x1.44ea5cp-2F, 0x1.07c6cp-2F,  0x1.ac4898p-3F,
                                      0x1.5bb19cp-3F, 0x1.1a44bep-3F, 0x1.ca4efcp-4F, 0x1.7411a8p-4F,
                                      0x1.2e0e9cp-4F, 0x1.ea703ep-5F, 0x1.8e272cp-5F, 0x1.433b9ep-5F};

/* A line for each interval, within 0.0014; two steps of Newton's rule. */
LINE_INLINE void reciprocal(unsigned to, unsigned x, unsigned rest)
{
    line_find(x, reciprocal_bounds);
    line_look_up(to, reciprocal_at_0);
    line_look_up(rest, reciprocal_slope);
    line_mul_sub(to, rest, x);
    for (int i = 0; i < 2; i++) {
        line_set(rest, one);
        line_mul_sub(rest, to, x);
        line_mul_add(to, to, rest);
    }
}

/* |x| = max(x, -x) */
LINE_INLINE void absolute(unsigned to, unsigned x)
{
    line_scale(to, x, minus_one);
    line_max(to, x);
}

/* ---- functions of e^x: variables 8 and above outlive line_exp ---- */

enum { X = 0, KEPT = 8, RESULT, REST, FAR, NEAR, SQUARE, OTHER };

/* x and |x| are kept, and variable 0 = e^(factor |x|). */
LINE_INLINE void power_of_size(unsigned kept, unsigned size, const float *factor)
{
    line_copy(kept, X);
    absolute(size, X);
    line_scale(X, size, factor);
    line_exp();
}

/* Variable 0 = 1 / (1 + e^-x) = (x > 0 ? 1 : e) / (1 + e), e = e^-|x|. */
static __attribute__((noinline)) void sigmoid(void)
{
    power_of_size(RESULT, REST, minus_one);
    line_set(NEAR, one);
    line_choose(FAR, RESULT, NEAR);
    line_max(FAR, X); /* e <= 1 */
    line_add(NEAR, X);
    reciprocal(RESULT, NEAR, REST);
    line_mul(X, FAR, RESULT);
}

static void silu(void)
{
    line_copy(KEPT, X);
    sigmoid();
    line_mul(X, X, KEPT);
}

static const line gelu_cube = EVERYWHERE(0.0713548163F), gelu_linear = EVERYWHERE(1.59576912F);

static void gelu_tanh(void)
{
    line_copy(KEPT, X);
    line_mul(SQUARE, X, X);
    line_set(REST, gelu_linear);
    line_scale_add(REST, SQUARE, gelu_cube);
    line_mul(X, REST, X);
    sigmoid();
    line_mul(X, X, KEPT);
}

/* erfc(z) for z >= 0 is P(t) e^(-z z), t = 1 / (1 + 0.4 z): that of units/cpu/kernels/native/neon_math.h. */
static const line erfc_series[] = {EVERYWHERE(0.225077517F),  EVERYWHERE(0.235331982F),  EVERYWHERE(0.14323996F),
                                   EVERYWHERE(0.403749898F),  EVERYWHERE(-0.372310702F), EVERYWHERE(0.687840724F),
                                   EVERYWHERE(-0.398430963F), EVERYWHERE(0.0755015823F)};
static const line root_half = EVERYWHERE(0.707106781F), gelu_most = EVERYWHERE(15), erfc_factor = EVERYWHERE(0.4F),
                  half = EVERYWHERE(0.5F);

/* max(x, 0) - |x| erfc(|x| / sqrt 2) / 2 */
static __attribute__((noinline)) void gelu(void)
{
    line_copy(KEPT, X);
    absolute(OTHER, X);
    line_limit(OTHER, ALU_MIN, gelu_most); /* beyond it nothing is left of the second term */
    line_scale(FAR, OTHER, root_half);
    line_mul(X, FAR, FAR);
    line_scale(X, X, minus_one);
    line_exp();
    line_set(NEAR, one);
    line_scale_add(NEAR, FAR, erfc_factor);
    reciprocal(RESULT, NEAR, REST);
    line_polynomial(SQUARE, REST, RESULT, erfc_series, 8);
    line_mul(SQUARE, SQUARE, RESULT);
    line_mul(SQUARE, SQUARE, X);
    line_mul(SQUARE, SQUARE, OTHER);
    line_limit(KEPT, ALU_MAX, zero);
    line_scale_sub(KEPT, SQUARE, half);
    line_copy(X, KEPT);
}

static const line tanh_series[] = {EVERYWHERE(-0.333332993F), EVERYWHERE(0.133319582F), EVERYWHERE(-0.0537866814F),
                                   EVERYWHERE(0.0208053776F), EVERYWHERE(-0.0059058607F)};
static const line two = EVERYWHERE(2), minus_two = EVERYWHERE(-2);
/* 0.6, and the next number behind it */
static const line tanh_minus_limit = EVERYWHERE(-0x1.333334p-1F), tanh_behind = EVERYWHERE(0x1.333336p-1F);

/* |x| <= 0.6: x + x^3 P(x^2); otherwise (1 - q) / (1 + q) with the sign of x, q = e^-2|x|. */
static __attribute__((noinline)) void hyperbolic_tangent(void)
{
    power_of_size(KEPT, OTHER, minus_two);
    line_set(FAR, one);
    line_sub(FAR, X);
    line_set(NEAR, one);
    line_add(NEAR, X);
    reciprocal(RESULT, NEAR, REST);
    line_mul(FAR, FAR, RESULT);
    line_scale(REST, KEPT, two);
    line_limit(REST, ALU_MIN, one);
    line_limit(REST, ALU_MAX, minus_one);
    line_mul(FAR, FAR, REST);
    line_copy(REST, OTHER);
    line_add_constant(REST, tanh_minus_limit);
    line_choose(FAR, REST, FAR);
    line_mul(SQUARE, KEPT, KEPT);
    line_polynomial(NEAR, REST, SQUARE, tanh_series, 5);
    line_mul(SQUARE, SQUARE, KEPT);
    line_copy(X, KEPT);
    line_mul_add(X, NEAR, SQUARE);
    line_set(REST, tanh_behind);
    line_sub(REST, OTHER);
    line_choose(X, REST, X);
    line_add(X, FAR);
}

/* ---- the others ---- */

static const line three = EVERYWHERE(3), six = EVERYWHERE(6), sixth = EVERYWHERE(1.0F / 6.0F);

static void leaky_relu(const float *slope)
{
    line_scale(REST, X, minus_one);
    line_scale(NEAR, X, slope);
    line_choose(NEAR, REST, NEAR);
    line_choose(X, X, X);
    line_add(X, NEAR);
}

static void hard_sigmoid(void)
{
    line_add_constant(X, three);
    line_limit(X, ALU_MAX, zero);
    line_limit(X, ALU_MIN, six);
    line_scale(X, X, sixth);
}

static void of_two(uint64_t function)
{
    switch (function) {
    case KERNEL_ADD: line_add(0, 1); break;
    case KERNEL_SUB: line_sub(0, 1); break;
    case KERNEL_MUL: line_mul(0, 0, 1); break;
    case KERNEL_MAX: line_max(0, 1); break;
    default: line_min(0, 1); break;
    }
}

void line_function(uint64_t function, const float *alpha)
{
    switch (function) {
    case KERNEL_RELU: line_choose(X, X, X); break;
    case KERNEL_RELU6:
        line_choose(X, X, X);
        line_limit(X, ALU_MIN, six);
        break;
    case KERNEL_LEAKY_RELU: leaky_relu(alpha); break;
    case KERNEL_GELU: gelu(); break;
    case KERNEL_GELU_TANH: gelu_tanh(); break;
    case KERNEL_SILU: silu(); break;
    case KERNEL_SIGMOID: sigmoid(); break;
    case KERNEL_TANH: hyperbolic_tangent(); break;
    case KERNEL_HARD_SIGMOID: hard_sigmoid(); break;
    case KERNEL_HARD_SWISH:
        line_copy(KEPT, X);
        hard_sigmoid();
        line_mul(X, X, KEPT);
        break;
    case KERNEL_EXP: line_exp(); break;
    case KERNEL_ABS:
        line_copy(REST, X);
        absolute(X, REST);
        break;
    case KERNEL_NEG: line_scale(X, X, minus_one); break;
    case KERNEL_SQUARE: line_mul(X, X, X); break;
    default: of_two(function); break;
    }
}
