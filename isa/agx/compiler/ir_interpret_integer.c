/* Integer operations, comparisons and selections on all lanes. */
#include "isa/agx/compiler/ir_compare.h"
#include "isa/agx/compiler/ir_interpret_parts.h"

#include <stddef.h>

#define EACH_LANE for (unsigned lane = 0; lane < LANES; lane++)

#define PURE(name)                                                                                                               \
    void name(const struct step *step, uint64_t *restrict d, const uint64_t *restrict a, const uint64_t *restrict b,             \
              const uint64_t *restrict c)

#define INTEGER(name, expression)                                                                                                \
    static PURE(name)                                                                                                            \
    {                                                                                                                            \
        const uint64_t mask = step->mask;                                                                                        \
        const unsigned bits = step->bits, from = step->from;                                                                     \
        (void)b, (void)c, (void)bits, (void)from;                                                                                \
        EACH_LANE                                                                                                                \
        {                                                                                                                        \
            const uint64_t x = a[lane], y = b[lane], z = c[lane];                                                                \
            (void)y, (void)z;                                                                                                    \
            d[lane] = (expression)&mask;                                                                                         \
        }                                                                                                                        \
    }

#define SX sign_extended(x, bits)
#define SY sign_extended(y, bits)

PURE(pure_copy)
{
    (void)step, (void)b, (void)c;
    EACH_LANE
    d[lane] = a[lane];
}

PURE(pure_gep)
{
    (void)c;
    const uint64_t stride = step->imm;
    const unsigned from = step->from;
    EACH_LANE
    d[lane] = a[lane] + (uint64_t)sign_extended(b[lane], from) * stride;
}

PURE(pure_select)
{
    (void)step;
    EACH_LANE
    d[lane] = a[lane] & 1 ? b[lane] : c[lane];
}

/* OpenCL's select on vectors: by the sign of the choice, which has `from` bits. */
PURE(pure_select_sign)
{
    const unsigned shift = step->from - 1U;
    EACH_LANE
    d[lane] = a[lane] >> shift & 1 ? b[lane] : c[lane];
}

/* b where a is the number in `from`. */
PURE(pure_pick)
{
    const unsigned number = step->from;
    EACH_LANE
    d[lane] = a[lane] == number ? b[lane] : c[lane];
}

static uint64_t divide_signed(int64_t x, int64_t y, bool remainder)
{
    if (y == 0)
        return POISON;
    if (y == -1)
        return remainder ? 0 : 0 - (uint64_t)x;
    return (uint64_t)(remainder ? x % y : x / y);
}

static uint64_t saturate_signed(__int128 value, unsigned bits)
{
    const __int128 most = (__int128)(mask_of(bits) >> 1);
    return (uint64_t)(value > most ? most : value < -most - 1 ? -most - 1 : value);
}

static uint64_t reverse_bits(uint64_t x, unsigned bits)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < bits; i++)
        out |= (x >> i & 1) << (bits - 1 - i);
    return out;
}

/* The high word, then the low one, moved left. */
static uint64_t funnel_left(uint64_t high, uint64_t low, unsigned amount, unsigned bits)
{
    amount %= bits;
    return amount ? high << amount | low >> (bits - amount) : high;
}

#define SUM_OVER(x, y) ((__int128)(x) + (__int128)(y))

INTEGER(integer_add, x + y)
INTEGER(integer_sub, x - y)
INTEGER(integer_mul, x *y)
INTEGER(integer_udiv, y ? x / y : POISON)
INTEGER(integer_urem, y ? x % y : POISON)
INTEGER(integer_sdiv, divide_signed(SX, SY, false))
INTEGER(integer_srem, divide_signed(SX, SY, true))
INTEGER(integer_shl, y < bits ? x << y : POISON)
INTEGER(integer_lshr, y < from ? x >> y : POISON)
INTEGER(integer_ashr, y < bits ? (uint64_t)(SX >> y) : POISON)
INTEGER(integer_and, x &y)
INTEGER(integer_or, x | y)
INTEGER(integer_xor, x ^ y)
INTEGER(integer_trunc, x)
INTEGER(integer_sext, (uint64_t)sign_extended(x, from))
INTEGER(integer_compare, ir_compare(step->which, x, y, sign_extended(x, from), sign_extended(y, from)))
INTEGER(integer_umin, x < y ? x : y)
INTEGER(integer_umax, x > y ? x : y)
INTEGER(integer_smin, SX < SY ? x : y)
INTEGER(integer_smax, SX > SY ? x : y)
INTEGER(integer_high_unsigned, (uint64_t)((unsigned __int128)x *y >> bits))
INTEGER(integer_high_signed, (uint64_t)((__int128)SX *SY >> bits))
INTEGER(integer_popcount, (uint64_t)__builtin_popcountll(x))
INTEGER(integer_clz, x ? (uint64_t)__builtin_clzll(x) - (64 - bits) : bits)
INTEGER(integer_ctz, x ? (uint64_t)__builtin_ctzll(x) : bits)
INTEGER(integer_reverse, reverse_bits(x, bits))
INTEGER(integer_funnel_left, funnel_left(x, y, (unsigned)(z % bits), bits))
INTEGER(integer_funnel_right, z % bits ? funnel_left(x, y, bits - (unsigned)(z % bits), bits) : y)
INTEGER(integer_add_sat_unsigned, SUM_OVER(x, y) > (__int128)mask ? mask : x + y)
INTEGER(integer_sub_sat_unsigned, x > y ? x - y : 0)
INTEGER(integer_add_sat_signed, saturate_signed(SUM_OVER(SX, SY), bits))
INTEGER(integer_sub_sat_signed, saturate_signed((__int128)SX - SY, bits))

/* The common comparisons of an unsigned loop, where the compiler can take lanes together. */
INTEGER(integer_less, x < y)
INTEGER(integer_equal, x == y)

/* Chooses among comparisons by the condition of the step. */
static PURE(integer_compared)
{
    if (step->which == IR_ULT)
        integer_less(step, d, a, b, c);
    else if (step->which == IR_EQ)
        integer_equal(step, d, a, b, c);
    else
        integer_compare(step, d, a, b, c);
}

static pure_function *const integer_ops[IR_OP_COUNT] = {
    [IR_ADD] = integer_add,       [IR_SUB] = integer_sub,     [IR_MUL] = integer_mul,    [IR_UDIV] = integer_udiv,
    [IR_SDIV] = integer_sdiv,     [IR_UREM] = integer_urem,   [IR_SREM] = integer_srem,  [IR_SHL] = integer_shl,
    [IR_LSHR] = integer_lshr,     [IR_ASHR] = integer_ashr,   [IR_AND] = integer_and,    [IR_OR] = integer_or,
    [IR_XOR] = integer_xor,       [IR_TRUNC] = integer_trunc, [IR_ZEXT] = integer_trunc, [IR_SEXT] = integer_sext,
    [IR_ICMP] = integer_compared,
};

static pure_function *const integer_builtins[IR_BUILTIN_COUNT] = {
    [IR_B_UMIN] = integer_umin,
    [IR_B_UMAX] = integer_umax,
    [IR_B_SMIN] = integer_smin,
    [IR_B_SMAX] = integer_smax,
    [IR_B_MUL_HIGH_U] = integer_high_unsigned,
    [IR_B_MUL_HIGH_S] = integer_high_signed,
    [IR_B_POPCOUNT] = integer_popcount,
    [IR_B_CLZ] = integer_clz,
    [IR_B_CTZ] = integer_ctz,
    [IR_B_BIT_REVERSE] = integer_reverse,
    [IR_B_FUNNEL_LEFT] = integer_funnel_left,
    [IR_B_FUNNEL_RIGHT] = integer_funnel_right,
    [IR_B_ADD_SAT_U] = integer_add_sat_unsigned,
    [IR_B_ADD_SAT_S] = integer_add_sat_signed,
    [IR_B_SUB_SAT_U] = integer_sub_sat_unsigned,
    [IR_B_SUB_SAT_S] = integer_sub_sat_signed,
};

pure_function *pure_of_op(unsigned op)
{
    return op >= IR_OP_COUNT ? NULL : integer_ops[op] ? integer_ops[op] : float_pure_of_op(op);
}

pure_function *pure_of_builtin(unsigned builtin)
{
    return builtin >= IR_BUILTIN_COUNT ? NULL
           : integer_builtins[builtin] ? integer_builtins[builtin]
                                       : float_pure_of_builtin(builtin);
}
