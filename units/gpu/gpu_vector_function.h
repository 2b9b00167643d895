/* Vector handlers: functions of one float, correctly rounded. Included once per host instruction set.
 *
 * A function is evaluated in doubles to 2^-46 of its value or better. Where that value, give or take SLACK, rounds to a single
 * float, this float is the result; other lanes (one in some thousand instructions) go through gpu_function.
 */
#include "isa/array_count.h"

#define SLACK 0x1p-42

struct wide {
    vd half[2];
};
#define EACH_HALF _Pragma("GCC unroll 2") for (unsigned h = 0; h < 2; h++)

ALWAYS struct wide widen(vf value)
{
    return (struct wide){{vec_wide_low(value), vec_wide_high(value)}};
}

ALWAYS vf round_wide(const struct wide *value, uint32_t *undecided)
{
    const vd *v = value->half;
    const vf low = vec_narrow(v[0] - v[0] * SLACK, v[1] - v[1] * SLACK);
    const vf high = vec_narrow(v[0] + v[0] * SLACK, v[1] + v[1] * SLACK);
    *undecided = vec_fne(low, high);
    return low;
}

/* Sum of c[k] * x^k. */
ALWAYS vd polynomial(vd x, const double *c, unsigned count)
{
    vd sum = c[count - 1] - (vd){0};
#pragma GCC unroll 16
    for (unsigned k = count - 1; k-- > 0;)
        sum = vec_wide_fma(sum, x, c[k] - (vd){0});
    return sum;
}

/* Each part function gives the results of ordinary and of special arguments, which have been flushed. *look receives the lanes
 * that it leaves to gpu_function. */

/* 2^n * 2^f, |f| <= 1/2; Taylor series of 2^f: the omitted terms are below 2^-52. */
ALWAYS vu exp2_part(vu bits, uint32_t *look)
{
    static const double c[] = {1.0,
                               0x1.62e42fefa39efp-1,
                               0x1.ebfbdff82c58fp-3,
                               0x1.c6b08d704a0c0p-5,
                               0x1.3b2ab6fba4e77p-7,
                               0x1.5d87fe78a6731p-10,
                               0x1.430912f86c787p-13,
                               0x1.ffcbfc588b0c7p-17,
                               0x1.62c0223a5c824p-20,
                               0x1.b5253d395e7c4p-24,
                               0x1.e4cf5158b8ecap-28,
                               0x1.e8cac7351bb25p-32,
                               0x1.c3bd650fc2986p-36};
    const vf zero = {0}, x = (vf)bits;
    const uint32_t large = vec_fge(x, zero + 128.0f), small = vec_flt(x, zero - 126.0f), nan = vec_fne(x, x);
    const vf inside = (vf)vec_select(large | small | nan, vec_all(0), bits), n = vec_rint(inside);
    struct wide f = widen(inside - n);
    EACH_HALF f.half[h] = polynomial(f.half[h], c, ARRAY_COUNT(c));
    const vu root = (vu)round_wide(&f, look), scaled = root + ((vu) __builtin_convertvector(n, vi) << 23);
    return vec_select(nan, vec_all(GPU_NAN32), vec_select(large, vec_all(GPU_INF32), vec_select(small, vec_all(0), scaled)));
}

/* e + log2(m), with m between the roots of 1/2 and 2; log2(m) = 2 / ln 2 * artanh(s), s = (m - 1) / (m + 1). */
ALWAYS vu log2_part(vu bits, uint32_t *look)
{
    static const double c[] = {0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1, 0x1.a61762a7aded9p-2,
                               0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2, 0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3,
                               0x1.5b9ac9b743f0dp-3, 0x1.3703c1f4d0ffep-3};
    const vf zero = {0}, x = (vf)bits;
    const uint32_t ordinary = vec_fgt(x, zero) & vec_lt(bits, vec_all(GPU_INF32)), none = vec_feq(x, zero);
    const vu from = vec_select(ordinary, bits, vec_all(GPU_ONE32)), root_half = vec_all(0x3f3504f3);
    const vi e = (vi)(from - root_half) >> 23;
    struct wide m = widen((vf)(from - ((vu)e << 23))), up = widen(__builtin_convertvector(e, vf));
    EACH_HALF
    {
        const vd s = (m.half[h] - 1.0) / (m.half[h] + 1.0);
        m.half[h] = vec_wide_fma(s, polynomial(s * s, c, ARRAY_COUNT(c)), up.half[h]);
    }
    const vu out = vec_select(vec_eq(bits, vec_all(GPU_INF32)), bits, vec_all(GPU_NAN32));
    return vec_select(ordinary, (vu)round_wide(&m, look), vec_select(none, vec_all(GPU_INF32 | GPU_SIGN32), out));
}

/* sin(x * pi/2) / x for the results of sin_pt_1, -1 <= x <= 1. */
ALWAYS vu sinc_part(vu bits, uint32_t *look)
{
    static const double c[] = {0x1.921fb54442d18p+0,  -0x1.4abbce625be53p-1,  0x1.466bc6775aae2p-4,  -0x1.32d2cce62bd86p-8,
                               0x1.50783487ee782p-13, -0x1.e3074fde8871fp-19, 0x1.e8f434d018d63p-25, -0x1.6fadb9f155744p-31,
                               0x1.aaec32af93359p-38, -0x1.8a404211f9547p-45, 0x1.2877020d52cf0p-52};
    const uint32_t outside = vec_gt(bits & ~GPU_SIGN32, vec_all(GPU_ONE32));
    struct wide x = widen((vf)vec_select(outside, vec_all(0), bits));
    EACH_HALF x.half[h] = polynomial(x.half[h] * x.half[h], c, ARRAY_COUNT(c));
    const vu out = (vu)round_wide(&x, look);
    *look |= outside;
    return out;
}

ALWAYS vu rsqrt_part(vu bits, uint32_t *look, bool special)
{
    const vf zero = {0}, x = (vf)bits;
    const uint32_t ordinary = vec_fgt(x, zero) & vec_lt(bits, vec_all(GPU_INF32)), none = vec_feq(x, zero);
    const vu one = vec_all(GPU_ONE32), infinity = vec_all(GPU_INF32);
    struct wide r = widen((vf)vec_select(ordinary, bits, one));
    EACH_HALF r.half[h] = vec_inverse_root(r.half[h]);
    vu out = vec_select(vec_eq(bits, infinity), special ? one : vec_all(0), vec_all(GPU_NAN32));
    out = vec_select(none, special ? one : bits | infinity, out);
    return vec_select(ordinary, (vu)round_wide(&r, look), out);
}

/* Exact steps; gpu_exec_function.c explains them. */
ALWAYS vu fold_part(vu bits)
{
    const vf zero = {0}, x = (vf)bits;
    const vu far = vec_select(vec_flt(x, zero + 3.0f), (vu)(2.0f - x), (vu)(x - 4.0f));
    const vu out = vec_select(vec_flt(x, zero + 1.0f), bits, far);
    return vec_select(vec_lt(bits & ~GPU_SIGN32, vec_all(GPU_INF32)), flush_part(out), vec_all(GPU_NAN32));
}

ALWAYS vu function_part(unsigned op, vu bits, uint32_t *look)
{
    const vf x = (vf)bits;
    const uint32_t nan = vec_fne(x, x);
    *look = 0;
    switch (op) {
    case AGX_OP_FLOOR: return vec_select(nan, vec_all(GPU_NAN32), (vu)vec_floor(x));
    case AGX_OP_CEIL: return vec_select(nan, vec_all(GPU_NAN32), (vu)vec_ceil(x));
    case AGX_OP_TRUNC: return vec_select(nan, vec_all(GPU_NAN32), (vu)vec_trunc(x));
    case AGX_OP_RINT: return vec_select(nan, vec_all(GPU_NAN32), (vu)vec_rint(x));
    case AGX_OP_SIN_PT_1: return fold_part(bits);
    case AGX_OP_SIN_PT_2: return sinc_part(bits, look);
    case AGX_OP_LOG2: return log2_part(bits, look);
    case AGX_OP_RSQRT: return rsqrt_part(bits, look, false);
    case AGX_OP_RSQRT_SPECIAL: return rsqrt_part(bits, look, true);
    default: return exp2_part(bits, look);
    }
}

static void look_closer(unsigned op, const struct lanes *from, uint32_t lanes, struct lanes *out)
{
    for (; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(lanes);
        out->part[lane / PART_LANES][lane % PART_LANES] = gpu_function(op, from->part[lane / PART_LANES][lane % PART_LANES]);
    }
}

ALWAYS const struct gpu_op *function_op(struct gpu_simdgroup *group, const struct gpu_op *op, unsigned which)
{
    struct lanes a = read_float(group, &op->source[0], GPU_NONE), out;
    uint32_t lanes = 0;
    EACH_PART
    {
        uint32_t look;
        a.part[p] = flush_part(a.part[p]);
        out.part[p] = function_part(which, a.part[p], &look);
        lanes |= look << (p * PART_LANES % 32);
    }
    lanes &= group->mask;
    if (!LIKELY(lanes == 0))
        look_closer(which, &a, lanes, &out);
    write_float(group, op, &out);
    return op->next;
}

HANDLER(function_floor)
{
    return function_op(group, op, AGX_OP_FLOOR);
}
HANDLER(function_ceil)
{
    return function_op(group, op, AGX_OP_CEIL);
}
HANDLER(function_trunc)
{
    return function_op(group, op, AGX_OP_TRUNC);
}
HANDLER(function_rint)
{
    return function_op(group, op, AGX_OP_RINT);
}
HANDLER(function_fold)
{
    return function_op(group, op, AGX_OP_SIN_PT_1);
}
HANDLER(function_sinc)
{
    return function_op(group, op, AGX_OP_SIN_PT_2);
}
HANDLER(function_log2)
{
    return function_op(group, op, AGX_OP_LOG2);
}
HANDLER(function_exp2)
{
    return function_op(group, op, AGX_OP_EXP2);
}
HANDLER(function_rsqrt)
{
    return function_op(group, op, AGX_OP_RSQRT);
}
HANDLER(function_rsqrt_special)
{
    return function_op(group, op, AGX_OP_RSQRT_SPECIAL);
}

static gpu_handler *pick_function(unsigned op)
{
    switch (op) {
    case AGX_OP_FLOOR: return function_floor;
    case AGX_OP_CEIL: return function_ceil;
    case AGX_OP_TRUNC: return function_trunc;
    case AGX_OP_RINT: return function_rint;
    case AGX_OP_SIN_PT_1: return function_fold;
    case AGX_OP_SIN_PT_2: return function_sinc;
    case AGX_OP_LOG2: return function_log2;
    case AGX_OP_EXP2: return function_exp2;
    case AGX_OP_RSQRT: return function_rsqrt;
    case AGX_OP_RSQRT_SPECIAL: return function_rsqrt_special;
    default: return NULL;
    }
}
#undef SLACK
#undef EACH_HALF
