/* Arithmetic, comparisons, choices and conversions of whole numbers: bytes, words of 32 bits, and of 64. Loops are left to the
 * compiler's vectors. */
#include "units/cpu/kernels/native/whole.h"

void neon_integer(const struct pair_call *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_compare_whole(const struct pair_call *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_select(const struct select_call *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_cast_whole(const struct cast_call *c, uint64_t first, uint64_t end, uint64_t thread);

/* ---- arithmetic: sums wrap as the type does ---- */

/* What divides by 0 is 0, and by -1 wraps, as the cores' instruction has it; so a remainder by 0 is what was divided. */
static inline int64_t quotient(int64_t x, int64_t y)
{
    return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static inline int64_t rest(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x - (uint64_t)quotient(x, y) * (uint64_t)y);
}

static inline int64_t modulus(int64_t x, int64_t y)
{
    const int64_t r = rest(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

#define ARITHMETIC(name, type, wraps, bits)                                                                                      \
    static void name(const struct pair_call *c, int64_t i, int64_t end)                                                          \
    {                                                                                                                            \
        switch (c->op) {                                                                                                         \
        case OP_ADD: PAIRS(type, type, (type)((wraps)x + (wraps)y)); break;                                                      \
        case OP_SUB: PAIRS(type, type, (type)((wraps)x - (wraps)y)); break;                                                      \
        case OP_MUL: PAIRS(type, type, (type)((wraps)x * (wraps)y)); break;                                                      \
        case OP_MIN: PAIRS(type, type, x < y ? x : y); break;                                                                    \
        case OP_MAX: PAIRS(type, type, x < y ? y : x); break;                                                                    \
        case OP_AND: PAIRS(type, type, (type)((wraps)x & (wraps)y)); break;                                                      \
        case OP_OR: PAIRS(type, type, (type)((wraps)x | (wraps)y)); break;                                                       \
        case OP_DIV: PAIRS(type, type, (type)quotient(x, y)); break;                                                             \
        case OP_MOD: PAIRS(type, type, (type)modulus(x, y)); break;                                                              \
        case OP_REM: PAIRS(type, type, (type)rest(x, y)); break;                                                                 \
        case OP_SHL: PAIRS(type, type, (bits)y < 8 * sizeof(type) ? (type)((bits)x << y) : 0); break;                            \
        case OP_SHR: PAIRS(type, type, (bits)y < 8 * sizeof(type) ? (type)((bits)x >> y) : 0); break;                            \
        default: PAIRS(type, type, (type)((wraps)x ^ (wraps)y)); break;                                                          \
        }                                                                                                                        \
    }
ARITHMETIC(bytes, uint8_t, uint32_t, uint8_t)
ARITHMETIC(words, int32_t, uint32_t, uint32_t)
ARITHMETIC(longs, int64_t, uint64_t, uint64_t)

void neon_integer(const struct pair_call *c, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t from = (int64_t)first * BLOCK, to = least((int64_t)end * BLOCK, c->count);
    (void)thread;
    (c->of == OF_U8 ? bytes : c->of == OF_I32 ? words : longs)(c, from, to);
}

/* ---- comparisons ---- */

#define AS_IT_IS(x) (x)
COMPARISON(compare_bytes, uint8_t, AS_IT_IS)
COMPARISON(compare_words, int32_t, AS_IT_IS)
COMPARISON(compare_longs, int64_t, AS_IT_IS)

void neon_compare_whole(const struct pair_call *c, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t from = (int64_t)first * BLOCK, to = least((int64_t)end * BLOCK, c->count);
    (void)thread;
    (c->of == OF_U8 ? compare_bytes : c->of == OF_I32 ? compare_words : compare_longs)(c, from, to);
}

/* ---- choices: what the elements are does not matter, only how large they are ---- */

#define SELECTION(name, type)                                                                                                    \
    static void name(const struct select_call *c, int64_t i, int64_t end)                                                        \
    {                                                                                                                            \
        const uint8_t *const which = c->condition;                                                                               \
        const type *const a = c->a, *const b = c->b;                                                                             \
        type *const out = c->out;                                                                                                \
        const type one_a = *a, one_b = *b;                                                                                       \
        if (c->single == 0)                                                                                                      \
            INDEPENDENT for (; i < end; i++) out[i] = which[i] ? a[i] : b[i];                                                    \
        else if (c->single == 1)                                                                                                 \
            INDEPENDENT for (; i < end; i++) out[i] = which[i] ? one_a : b[i];                                                   \
        else if (c->single == 2)                                                                                                 \
            INDEPENDENT for (; i < end; i++) out[i] = which[i] ? a[i] : one_b;                                                   \
        else                                                                                                                     \
            INDEPENDENT for (; i < end; i++) out[i] = which[i] ? one_a : one_b;                                                  \
    }
SELECTION(select_8, uint8_t)
SELECTION(select_16, uint16_t)
SELECTION(select_32, uint32_t)
SELECTION(select_64, uint64_t)

void neon_select(const struct select_call *c, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t from = (int64_t)first * BLOCK, to = least((int64_t)end * BLOCK, c->count);
    (void)thread;
    (c->bytes == 1 ? select_8 : c->bytes == 2 ? select_16 : c->bytes == 4 ? select_32 : select_64)(c, from, to);
}

/* ---- conversions: from what is wider the low bits are kept ---- */

#define CAST(name, x_type)                                                                                                       \
    static void name(const struct cast_call *c, int64_t i, int64_t end)                                                          \
    {                                                                                                                            \
        const x_type *const x = c->x;                                                                                            \
        if (c->to == OF_U8)                                                                                                      \
            CASTS(uint8_t, (uint8_t)x[i])                                                                                        \
        else if (c->to == OF_I32)                                                                                                \
            CASTS(int32_t, (int32_t)x[i])                                                                                        \
        else if (c->to == OF_I64)                                                                                                \
            CASTS(int64_t, x[i])                                                                                                 \
        else                                                                                                                     \
            CASTS(uint8_t, x[i] != 0)                                                                                            \
    }
CAST(cast_bytes, uint8_t)
CAST(cast_words, int32_t)
CAST(cast_longs, int64_t)

void neon_cast_whole(const struct cast_call *c, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t from = (int64_t)first * BLOCK, to = least((int64_t)end * BLOCK, c->count);
    (void)thread;
    (c->from == OF_U8 ? cast_bytes : c->from == OF_I32 ? cast_words : cast_longs)(c, from, to);
}
