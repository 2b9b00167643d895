/* Arguments of the kernels of whole numbers, and the loops over their elements. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_WHOLE_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_WHOLE_H

#include "units/cpu/kernels/native/neon.h"

/* ORDER: ROUTINE_WHOLE_WORDS, ROUTINE_CAST_WORDS, ROUTINE_INTEGER_WORDS, ROUTINE_COMPARE_WORDS. */
enum { OF_NUMBER, OF_U8, OF_I32, OF_I64, OF_BOOL, OF_F32 };
enum { OP_ADD, OP_SUB, OP_MUL, OP_MIN, OP_MAX, OP_AND, OP_OR, OP_XOR, OP_DIV, OP_MOD, OP_REM, OP_SHL, OP_SHR };
enum { OP_EQ, OP_LT, OP_LE, OP_GT, OP_GE };
enum { BLOCK = 4096 }; /* ORDER: cpu_kernel_integer.c */

/* ORDER of all: cpu_kernel_integer.c. */
struct pair_call {
    const void *a, *b;
    void *out;
    int64_t op, of, count, period;
};
struct select_call {
    const void *condition, *a, *b;
    void *out;
    int64_t bytes, count, single; /* single: 0 = none of a and b, 1 = a, 2 = b, 3 = both are one element */
};
struct cast_call {
    const void *x;
    void *out;
    int64_t from, to, count;
};

/* No iteration reads what another one writes: results lie on their operands or elsewhere. */
#define INDEPENDENT _Pragma("GCC ivdep")

/* Elements that stand together from place `at` of b on, which begins again after `period` elements unless that is 0. */
static inline int64_t together(const struct pair_call *c, int64_t at, int64_t left)
{
    return c->period == 0 ? left : least(c->period - at, left);
}

/* out[i] = expression of x and y for elements i .. end - 1. */
#define PAIRS(type, result, expression)                                                                                          \
    for (const type *const a = c->a, *const b = c->b; i < end;) {                                                                \
        const int64_t at = c->period ? i % c->period : i, n = c->period == 1 ? end - i : together(c, at, end - i);               \
        result *const out = (result *)c->out + i;                                                                                \
        if (c->period == 1) {                                                                                                    \
            const type y = *b;                                                                                                   \
            INDEPENDENT for (int64_t k = 0; k < n; k++)                                                                          \
            {                                                                                                                    \
                const type x = a[i + k];                                                                                         \
                out[k] = expression;                                                                                             \
            }                                                                                                                    \
        } else {                                                                                                                 \
            INDEPENDENT for (int64_t k = 0; k < n; k++)                                                                          \
            {                                                                                                                    \
                const type x = a[i + k], y = b[at + k];                                                                          \
                out[k] = expression;                                                                                             \
            }                                                                                                                    \
        }                                                                                                                        \
        i += n;                                                                                                                  \
    }

#define COMPARISON(name, type, as)                                                                                               \
    static void name(const struct pair_call *c, int64_t i, int64_t end)                                                          \
    {                                                                                                                            \
        switch (c->op) {                                                                                                         \
        case OP_EQ: PAIRS(type, uint8_t, as(x) == as(y)); break;                                                                 \
        case OP_LT: PAIRS(type, uint8_t, as(x) < as(y)); break;                                                                  \
        case OP_LE: PAIRS(type, uint8_t, as(x) <= as(y)); break;                                                                 \
        case OP_GT: PAIRS(type, uint8_t, as(x) > as(y)); break;                                                                  \
        default: PAIRS(type, uint8_t, as(x) >= as(y)); break;                                                                    \
        }                                                                                                                        \
    }

#define CASTS(type, expression)                                                                                                  \
    {                                                                                                                            \
        type *const out = c->out;                                                                                                \
        INDEPENDENT for (; i < end; i++) out[i] = expression;                                                                    \
    }

#endif
