#include "units/cpu/kernels/native/neon_function.h"

#include "units/cpu/kernels/native/neon_math.h"
#include "units/kernel_function.h"

/* What is left of a block goes through a vector of its own. */
#define OVER_BLOCK(name, expression)                                                                                             \
    static void name##_block(float *to, const float *at, const float *other, int64_t count, float alpha)                         \
    {                                                                                                                            \
        (void)alpha;                                                                                                             \
        for (; count >= 4; count -= 4, to += 4, at += 4, other += 4) {                                                           \
            const float32x4_t x = vld1q_f32(at), y = vld1q_f32(other);                                                           \
            (void)y;                                                                                                             \
            vst1q_f32(to, expression);                                                                                           \
        }                                                                                                                        \
        if (count > 0) {                                                                                                         \
            float parts[2][4] = {{1, 1, 1, 1}, {1, 1, 1, 1}}, result[4];                                                         \
            for (int64_t i = 0; i < count; i++)                                                                                  \
                parts[0][i] = at[i], parts[1][i] = other[i];                                                                     \
            const float32x4_t x = vld1q_f32(parts[0]), y = vld1q_f32(parts[1]);                                                  \
            (void)y;                                                                                                             \
            vst1q_f32(result, expression);                                                                                       \
            for (int64_t i = 0; i < count; i++)                                                                                  \
                to[i] = result[i];                                                                                               \
        }                                                                                                                        \
    }

OVER_BLOCK(relu, vmaxq_f32(x, four(0)))
OVER_BLOCK(relu6, vminq_f32(vmaxq_f32(x, four(0)), four(6)))
OVER_BLOCK(leaky_relu, vbslq_f32(vcgtq_f32(x, four(0)), x, vmulq_f32(x, four(alpha != 0 ? alpha : 0.01F))))
OVER_BLOCK(gelu, gelu4(x))
OVER_BLOCK(gelu_tanh, gelu_tanh4(x))
OVER_BLOCK(silu, silu4(x))
OVER_BLOCK(sigmoid, sigmoid4(x))
OVER_BLOCK(tanh, tanh4(x))
OVER_BLOCK(elu, elu4(x, 1, alpha != 0 ? alpha : 1))
OVER_BLOCK(selu, elu4(x, 1.05070099F, 1.67326324F))
OVER_BLOCK(softplus, softplus4(x))
OVER_BLOCK(softsign, vdivq_f32(x, vaddq_f32(four(1), vabsq_f32(x))))
OVER_BLOCK(mish, mish4(x))
OVER_BLOCK(hard_sigmoid, hard_sigmoid4(x))
OVER_BLOCK(hard_swish, vmulq_f32(x, hard_sigmoid4(x)))
OVER_BLOCK(exp, exp4(x))
OVER_BLOCK(exp2, exp2_4(x))
OVER_BLOCK(log, log4(x))
OVER_BLOCK(log2, log2_4(x))
OVER_BLOCK(sqrt, vsqrtq_f32(x))
OVER_BLOCK(rsqrt, vdivq_f32(four(1), vsqrtq_f32(x)))
OVER_BLOCK(rcp, vdivq_f32(four(1), x))
OVER_BLOCK(abs, vabsq_f32(x))
OVER_BLOCK(neg, vnegq_f32(x))
OVER_BLOCK(square, vmulq_f32(x, x))
OVER_BLOCK(erf, erf4(x))
OVER_BLOCK(sin, sin4(x))
OVER_BLOCK(cos, cos4(x))
OVER_BLOCK(floor, vrndmq_f32(x))
OVER_BLOCK(ceil, vrndpq_f32(x))
OVER_BLOCK(round, vrndnq_f32(x))
OVER_BLOCK(trunc, vrndq_f32(x))
OVER_BLOCK(add, vaddq_f32(x, y))
OVER_BLOCK(sub, vsubq_f32(x, y))
OVER_BLOCK(mul, vmulq_f32(x, y))
OVER_BLOCK(div, vdivq_f32(x, y))
OVER_BLOCK(max, vmaxnmq_f32(x, y))
OVER_BLOCK(min, vminnmq_f32(x, y))
OVER_BLOCK(pow, pow4(x, y))

typedef void over_block(float *to, const float *x, const float *y, int64_t count, float alpha);
/* ORDER: enum kernel_function. */
static over_block *const blocks[KERNEL_FUNCTIONS] = {
    relu_block,       relu6_block, leaky_relu_block, gelu_block,     gelu_tanh_block, silu_block, sigmoid_block,
    tanh_block,       elu_block,   selu_block,       softplus_block, softsign_block,  mish_block, hard_sigmoid_block,
    hard_swish_block, exp_block,   exp2_block,       log_block,      log2_block,      sqrt_block, rsqrt_block,
    rcp_block,        abs_block,   neg_block,        square_block,   erf_block,       sin_block,  cos_block,
    floor_block,      ceil_block,  round_block,      trunc_block,    add_block,       sub_block,  mul_block,
    div_block,        max_block,   min_block,        pow_block,
};

void neon_function(uint64_t function, float *to, const float *x, const float *y, int64_t count, float alpha)
{
    blocks[function](to, x, y, count, alpha);
}
