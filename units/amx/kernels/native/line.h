/* Elementwise arithmetic in f32 on the AMX block, as AArch64 code: sixteen variables of 64 numbers, which are four rows of Z
 * each.
 *
 * An operation brings its operands from Z to X and Y, computes in vector form and leaves its result in Z, four rows at a time, so
 * that the rows hide each other's latency. Constants and tables are lines of sixteen numbers in memory. Every instruction is one
 * that M1 has.
 */
#ifndef ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_H
#define ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_H

#include "units/amx/kernels/amx_intrinsics.h"

enum { LINE = 16, LINE_ROWS = 4, VARIABLE = LINE * LINE_ROWS };

typedef float line[LINE] __attribute__((aligned(64)));
/* clang-format off */
#define EVERYWHERE(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}
/* clang-format on */

#define LINE_INLINE static inline __attribute__((always_inline))
#define FOUR_ROWS   _Pragma("GCC unroll 4") for (unsigned i = 0; i < LINE_ROWS; i++)

/* X registers 0 to 3 and Y registers 0 to 3 stage operands, X registers 4 to 7 keep indices, Y register 7 a constant or table. */
enum { INDEX = 4, CONSTANT = 7 };
/* Of vecfp. */
enum { ALU_SELECT = 4, ALU_MIN = 5, ALU_MAX = 7 };
#define SKIP_Y (UINT64_C(1) << 28)
#define SKIP_X (UINT64_C(1) << 29)

LINE_INLINE uint64_t line_z(unsigned variable, unsigned i)
{
    return AMX_ZROW(LINE_ROWS * variable + i);
}

LINE_INLINE uint64_t line_address(const float *at)
{
    return (uint64_t)(uintptr_t)at;
}

LINE_INLINE void line_enter(void)
{
    AMX_SET(NULL);
}

LINE_INLINE void line_leave(void)
{
    AMX_CLR(NULL);
}

LINE_INLINE void line_load(unsigned to, const float *from)
{
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_LDZ, line_address(from + LINE * i) | AMX_REG(LINE_ROWS * to + i));
}

LINE_INLINE void line_store(float *to, unsigned from)
{
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_STZ, line_address(to + LINE * i) | AMX_REG(LINE_ROWS * from + i));
}

/* ---- operands ---- */

LINE_INLINE void line_to_x(unsigned variable)
{
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_EXTRX, AMX_XOFF(64 * i) | line_z(variable, i) | UINT64_C(1) << 28);
}

LINE_INLINE void line_to_y(unsigned variable)
{
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_EXTRX,
                        AMX_YOFF(64 * i) | UINT64_C(1) << 10 | UINT64_C(8) << 11 | line_z(variable, i) | UINT64_C(1) << 26);
}

LINE_INLINE void line_constant(const float *constant)
{
    AMX_ISSUE(NULL, AMXI_LDY, line_address(constant) | AMX_REG(CONSTANT));
}

/* ---- arithmetic: X with Y, or with the constant ---- */

#define LINE_FMA(op, to, flags)                                                                                                  \
    FOUR_ROWS AMX_ISSUE(NULL, op, AMX_FMA_VECTOR | AMX_XOFF(64 * i) | AMX_YOFF(64 * i) | line_z(to, i) | (flags))
#define LINE_FMA_CONSTANT(op, to, flags)                                                                                         \
    FOUR_ROWS AMX_ISSUE(NULL, op, AMX_FMA_VECTOR | AMX_XOFF(64 * i) | AMX_YOFF(64 * CONSTANT) | line_z(to, i) | (flags))

/* to = constant */
LINE_INLINE void line_set(unsigned to, const float *constant)
{
    line_constant(constant);
    LINE_FMA_CONSTANT(AMXI_FMA32, to, SKIP_X | AMX_SKIP_Z);
}

/* to = a */
LINE_INLINE void line_copy(unsigned to, unsigned a)
{
    line_to_x(a);
    LINE_FMA(AMXI_FMA32, to, SKIP_Y | AMX_SKIP_Z);
}

/* to = a b; to += a b; to -= a b: each rounded once; the same with a constant in place of b */
#define LINE_PRODUCT(name, op, flags)                                                                                            \
    LINE_INLINE void line_mul##name(unsigned to, unsigned a, unsigned b)                                                         \
    {                                                                                                                            \
        line_to_x(a);                                                                                                            \
        line_to_y(b);                                                                                                            \
        LINE_FMA(op, to, flags);                                                                                                 \
    }                                                                                                                            \
    LINE_INLINE void line_scale##name(unsigned to, unsigned a, const float *constant)                                            \
    {                                                                                                                            \
        line_constant(constant);                                                                                                 \
        line_to_x(a);                                                                                                            \
        LINE_FMA_CONSTANT(op, to, flags);                                                                                        \
    }
LINE_PRODUCT(, AMXI_FMA32, AMX_SKIP_Z)
LINE_PRODUCT(_add, AMXI_FMA32, 0)
LINE_PRODUCT(_sub, AMXI_FMS32, 0)

/* to += a; to -= a; to += constant */
LINE_INLINE void line_add(unsigned to, unsigned a)
{
    line_to_x(a);
    LINE_FMA(AMXI_FMA32, to, SKIP_Y);
}

LINE_INLINE void line_sub(unsigned to, unsigned a)
{
    line_to_x(a);
    LINE_FMA(AMXI_FMS32, to, SKIP_Y);
}

LINE_INLINE void line_add_constant(unsigned to, const float *constant)
{
    line_constant(constant);
    LINE_FMA_CONSTANT(AMXI_FMA32, to, SKIP_X);
}

LINE_INLINE void line_sub_constant(unsigned to, const float *constant)
{
    line_constant(constant);
    LINE_FMA_CONSTANT(AMXI_FMS32, to, SKIP_X);
}

/* ---- largest, smallest, choice ---- */

#define LINE_VECFP(alu, to)                                                                                                      \
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_VECFP, AMX_LANES(4) | AMX_ALU(alu) | AMX_XOFF(64 * i) | AMX_YOFF(64 * i) | line_z(to, i))

/* to = max(to, a); to = min(to, a) */
LINE_INLINE void line_max(unsigned to, unsigned a)
{
    line_to_x(a);
    LINE_VECFP(ALU_MAX, to);
}

LINE_INLINE void line_min(unsigned to, unsigned a)
{
    line_to_x(a);
    LINE_VECFP(ALU_MIN, to);
}

LINE_INLINE void line_limit(unsigned to, unsigned alu, const float *constant)
{
    AMX_ISSUE(NULL, AMXI_LDX, line_address(constant) | AMX_REG(0));
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_VECFP, AMX_LANES(4) | AMX_ALU(alu) | line_z(to, i));
}

/* to = a <= 0 ? 0 : b */
LINE_INLINE void line_choose(unsigned to, unsigned a, unsigned b)
{
    line_to_x(a);
    line_to_y(b);
    LINE_VECFP(ALU_SELECT, to);
}

/* ---- tables ---- */

/* Keeps in the index registers which of the ascending bounds is the last one that is not above a. The first one must be below
 * everything. */
LINE_INLINE void line_find(unsigned a, const float *bounds)
{
    line_constant(bounds);
    line_to_x(a);
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_GENLUT,
                        AMX_YOFF(64 * i) | (uint64_t)(INDEX + i) << 20 | UINT64_C(1) << 59 | (uint64_t)CONSTANT << 60);
}

/* to = the element of the table at what line_find found */
LINE_INLINE void line_look_up(unsigned to, const float *table)
{
    line_constant(table);
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_GENLUT,
                        AMX_YOFF(64 * (INDEX + i)) | UINT64_C(1) << 26 | line_z(to, i) | UINT64_C(11) << 53 | UINT64_C(1) << 59 |
                            (uint64_t)CONSTANT << 60);
}

/* ---- polynomials ---- */

/* to = c[0] + c[1] x + ... by Horner's rule; `to` and `other` take turns, and an odd count ends in `to`. */
LINE_INLINE void line_polynomial(unsigned to, unsigned other, unsigned x, const line *c, unsigned count)
{
    unsigned sum = count % 2 ? to : other;
    line_set(sum, c[count - 1]);
    line_to_y(x);
#pragma GCC unroll 8
    for (unsigned k = count - 1; k-- > 0;) {
        const unsigned next = sum == to ? other : to;
        line_set(next, c[k]);
        line_to_x(sum);
        LINE_FMA(AMXI_FMA32, next, 0);
        sum = next;
    }
}

#endif
