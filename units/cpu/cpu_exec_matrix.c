/* Products of bytes with mixed signs and of small matrices (I8MM), and BFloat16 (BF16), which cores have from Armv8.6 on.
 *
 * BFDOT and BFMMLA have arithmetic of their own, whatever FPCR says: each product and sum is rounded to odd, denormal numbers
 * count as zero, NaN is the default one. It is done on integers here, so that the host's rounding mode has no part in it. */
#include "units/cpu/cpu_exec_fp.h"
#include "units/cpu/cpu_exec_vector.h"

#include <fenv.h>

/* ---- bytes ---- */

static int byte_of(const union cpu_vec *v, unsigned at, bool is_signed)
{
    return is_signed ? v->s8[at] : v->u8[at];
}

/* Four products to each 32-bit lane; one side is signed. */
static void run_mixed_dot(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool element = insn->form != A64_USDOT_V, signed_first = insn->form == A64_SUDOT_E;
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = core->v[insn->rd];
    for (unsigned i = 0; i < insn->lanes; i++)
        for (unsigned k = 0; k < 4; k++)
            r.u32[i] += (uint32_t)(byte_of(&n, 4 * i + k, signed_first) *
                                   byte_of(&m, 4 * (element ? insn->amount : i) + k, !signed_first));
    cpu_set_vector(core, insn, r);
}

/* 2 x 2 sums of 2 x 8 by 8 x 2 bytes; m has the columns of the second matrix. */
static void run_byte_matrix(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool n_signed = insn->form == A64_SMMLA_V, m_signed = insn->form != A64_UMMLA_V;
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = core->v[insn->rd];
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 8; k++)
            r.u32[i] += (uint32_t)(byte_of(&n, 8 * (i / 2) + k, n_signed) * byte_of(&m, 8 * (i % 2) + k, m_signed));
    core->v[insn->rd] = r;
}

/* ---- BFloat16: numbers rounded to odd ---- */

#define F32_NAN  UINT32_C(0x7fc00000)
#define F32_INF  UINT32_C(0x7f800000)
#define F32_SIGN UINT32_C(0x80000000)

static bool is_nan(uint32_t x)
{
    return (x & ~F32_SIGN) > F32_INF;
}

static bool is_inf(uint32_t x)
{
    return (x & ~F32_SIGN) == F32_INF;
}

/* |x| = mantissa * 2^exponent; denormal numbers are zero. */
struct number {
    bool negative;
    int exponent;
    uint64_t mantissa;
};

static struct number unpack(uint32_t x)
{
    const unsigned biased = x >> 23 & 255;
    return (struct number){x >> 31, (int)biased - 150, biased ? UINT64_C(1) << 23 | (x & 0x7fffff) : 0};
}

/* more: bits below the mantissa are not all zero. */
static uint32_t round_to_odd(const struct number *x, bool more)
{
    const uint32_t sign = x->negative ? F32_SIGN : 0;
    if (!x->mantissa)
        return sign;
    const int top = 63 - __builtin_clzll(x->mantissa), exponent = x->exponent + top;
    if (exponent < -126)
        return sign;
    if (exponent > 127)
        return sign | F32_INF;
    const uint64_t rest = top > 23 ? x->mantissa & ((UINT64_C(1) << (top - 23)) - 1) : 0;
    const uint64_t kept = top > 23 ? x->mantissa >> (top - 23) : x->mantissa << (23 - top);
    return sign | (uint32_t)(exponent + 127) << 23 | ((uint32_t)kept & 0x7fffff) | (more || rest);
}

static uint32_t odd_product(uint32_t a, uint32_t b)
{
    const struct number x = unpack(a), y = unpack(b);
    const bool negative = x.negative != y.negative;
    if (is_nan(a) || is_nan(b) || (is_inf(a) && !y.mantissa) || (is_inf(b) && !x.mantissa))
        return F32_NAN;
    if (is_inf(a) || is_inf(b))
        return (negative ? F32_SIGN : 0) | F32_INF;
    return round_to_odd(&(struct number){negative, x.exponent + y.exponent, x.mantissa * y.mantissa}, false);
}

static uint32_t odd_sum_of(struct number large, struct number small)
{
    enum { ROOM = 38 };
    const int down = large.exponent - ROOM - small.exponent;
    large.mantissa <<= ROOM;
    large.exponent -= ROOM;
    bool more = false;
    if (down <= 0) {
        small.mantissa <<= -down;
    } else {
        more = down > 63 ? small.mantissa != 0 : (small.mantissa & ((UINT64_C(1) << down) - 1)) != 0;
        small.mantissa = down > 63 ? 0 : small.mantissa >> down;
    }
    if (large.negative == small.negative)
        large.mantissa += small.mantissa;
    else if (large.mantissa >= small.mantissa + more)
        large.mantissa -= small.mantissa + more;
    else
        large = (struct number){small.negative, large.exponent, small.mantissa - large.mantissa};
    if (!large.mantissa && !more)
        large.negative = false;
    return round_to_odd(&large, more);
}

static uint32_t odd_sum(uint32_t a, uint32_t b)
{
    const struct number x = unpack(a), y = unpack(b);
    if (is_nan(a) || is_nan(b) || (is_inf(a) && is_inf(b) && x.negative != y.negative))
        return F32_NAN;
    if (is_inf(a) || is_inf(b))
        return (is_inf(a) ? a : b) & (F32_SIGN | F32_INF);
    if (!x.mantissa && !y.mantissa)
        return x.negative && y.negative ? F32_SIGN : 0;
    if (!x.mantissa || !y.mantissa)
        return round_to_odd(x.mantissa ? &x : &y, false);
    return x.exponent >= y.exponent ? odd_sum_of(x, y) : odd_sum_of(y, x);
}

static uint32_t wide(uint16_t x)
{
    return (uint32_t)x << 16;
}

/* sum + (a0 b0 + a1 b1) */
static uint32_t add_pair(uint32_t sum, const uint16_t *a, const uint16_t *b)
{
    return odd_sum(sum, odd_sum(odd_product(wide(a[0]), wide(b[0])), odd_product(wide(a[1]), wide(b[1]))));
}

static void run_bf_dot(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = core->v[insn->rd];
    for (unsigned i = 0; i < insn->lanes; i++)
        r.u32[i] = add_pair(r.u32[i], &n.u16[2 * i], &m.u16[2 * (insn->form == A64_BFDOT_E ? insn->amount : i)]);
    cpu_set_vector(core, insn, r);
}

static void run_bf_matrix(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = core->v[insn->rd];
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 4; k += 2)
            r.u32[i] = add_pair(r.u32[i], &n.u16[4 * (i / 2) + k], &m.u16[4 * (i % 2) + k]);
    core->v[insn->rd] = r;
}

/* Even elements (q = 0) or odd ones, with the rounding of FPCR. */
static void run_bf_widening(struct cpu_core *core, const struct a64_insn *insn)
{
    const bool element = insn->form == A64_BFMLALB_E || insn->form == A64_BFMLALT_E;
    const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm];
    union cpu_vec r = core->v[insn->rd];
    for (unsigned i = 0; i < 4; i++) {
        const unsigned at = 2 * i + insn->q;
        r.u32[i] = (uint32_t)fp_fma_32(core, r.u32[i], wide(n.u16[at]), wide(m.u16[element ? insn->amount : at]));
    }
    core->v[insn->rd] = r;
}

/* ---- BFloat16: conversion with the rounding of FPCR ---- */

static uint16_t to_bf(struct cpu_core *core, uint32_t x)
{
    const uint32_t rest = x & 0xffff, sign = x & F32_SIGN;
    if (is_nan(x)) {
        if (!(x & 0x400000))
            feraiseexcept(FE_INVALID);
        return core->fpcr & CPU_FPCR_DN ? 0x7fc0 : (uint16_t)(x >> 16 | 0x40);
    }
    if (core->fpcr & CPU_FPCR_FZ && !(x & F32_INF))
        return (uint16_t)(sign >> 16);
    if (rest && !is_inf(x))
        feraiseexcept(FE_INEXACT);
    bool up = false;
    switch (cpu_rounding_of(core)) {
    case CPU_ROUND_EVEN: up = rest > 0x8000 || (rest == 0x8000 && x & 0x10000); break;
    case CPU_ROUND_UP: up = rest && !sign; break;
    case CPU_ROUND_DOWN: up = rest && sign; break;
    default: break;
    }
    return (uint16_t)((x >> 16) + up); /* a carry goes into the exponent, up to infinity */
}

static void run_bf_convert(struct cpu_core *core, const struct a64_insn *insn)
{
    cpu_set_scalar(core, insn->rd, to_bf(core, core->v[insn->rn].u32[0]));
}

static void run_bf_narrow(struct cpu_core *core, const struct a64_insn *insn)
{
    const union cpu_vec n = core->v[insn->rn];
    union cpu_vec r = {.u64 = {insn->q ? core->v[insn->rd].u64[0] : 0, 0}};
    for (unsigned i = 0; i < 4; i++)
        r.u16[i + (insn->q ? 4 : 0)] = to_bf(core, n.u32[i]);
    core->v[insn->rd] = r;
}

cpu_handler *cpu_matrix_handler_of(const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_USDOT_V:
    case A64_USDOT_E:
    case A64_SUDOT_E: return run_mixed_dot;
    case A64_SMMLA_V:
    case A64_UMMLA_V:
    case A64_USMMLA_V: return run_byte_matrix;
    case A64_BFDOT_V:
    case A64_BFDOT_E: return run_bf_dot;
    case A64_BFMMLA_V: return run_bf_matrix;
    case A64_BFMLALB_V:
    case A64_BFMLALT_V:
    case A64_BFMLALB_E:
    case A64_BFMLALT_E: return run_bf_widening;
    case A64_BFCVT: return run_bf_convert;
    case A64_BFCVTN_V: return run_bf_narrow;
    default: return NULL;
    }
}
