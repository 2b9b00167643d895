/* Floating-point arithmetic of the architecture on bit patterns, for 16, 32 and 64 bits: NaN rules, flushing, rounding by FPCR.
 * While a core runs, the host's rounding mode is that of the core, so that +, * and fma of the host round as FPCR says.
 *
 * Functions end in the width: fp_add_32(core, a, b). The bodies are in cpu_exec_arith_body.h, which is included once per width.
 * Rules: Arm Architecture Reference Manual (DDI 0487), shared pseudocode FPAdd, FPMulAdd, FPProcessNaNs, FPRecipEstimate, ...
 */
#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_ARITH_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_ARITH_H

#include "units/cpu/cpu_exec_float.h"

#include <string.h>

enum cpu_rounding { CPU_ROUND_EVEN, CPU_ROUND_UP, CPU_ROUND_DOWN, CPU_ROUND_ZERO, CPU_ROUND_AWAY };

static inline enum cpu_rounding cpu_rounding_of(const struct cpu_core *core)
{
    return (enum cpu_rounding)(core->fpcr >> CPU_FPCR_RMODE_SHIFT & 3);
}

/* 2^exponent, of a normal double. A power by its bits costs conversions less than a call of ldexp. */
static inline double cpu_power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* Functions of two operands, of three (d + n * m) and of one; operands are in the low bits. */
typedef uint64_t cpu_fp2(struct cpu_core *core, uint64_t n, uint64_t m);
typedef uint64_t cpu_fp3(struct cpu_core *core, uint64_t d, uint64_t n, uint64_t m);
typedef uint64_t cpu_fp1(struct cpu_core *core, uint64_t n);

#define CPU_FP_WIDTHS(type, name) type name##_16, name##_32, name##_64
CPU_FP_WIDTHS(cpu_fp2, fp_add);
CPU_FP_WIDTHS(cpu_fp2, fp_sub);
CPU_FP_WIDTHS(cpu_fp2, fp_mul);
CPU_FP_WIDTHS(cpu_fp2, fp_nmul);
CPU_FP_WIDTHS(cpu_fp2, fp_div);
CPU_FP_WIDTHS(cpu_fp2, fp_max);
CPU_FP_WIDTHS(cpu_fp2, fp_min);
CPU_FP_WIDTHS(cpu_fp2, fp_maxnm);
CPU_FP_WIDTHS(cpu_fp2, fp_minnm);
CPU_FP_WIDTHS(cpu_fp2, fp_mulx);
CPU_FP_WIDTHS(cpu_fp2, fp_abd);
CPU_FP_WIDTHS(cpu_fp2, fp_recps);
CPU_FP_WIDTHS(cpu_fp2, fp_rsqrts);
CPU_FP_WIDTHS(cpu_fp2, fp_cmeq);
CPU_FP_WIDTHS(cpu_fp2, fp_cmge);
CPU_FP_WIDTHS(cpu_fp2, fp_cmgt);
CPU_FP_WIDTHS(cpu_fp2, fp_acge);
CPU_FP_WIDTHS(cpu_fp2, fp_acgt);
CPU_FP_WIDTHS(cpu_fp3, fp_fma);  /* d + n m */
CPU_FP_WIDTHS(cpu_fp3, fp_fms);  /* d - n m */
CPU_FP_WIDTHS(cpu_fp3, fp_fnma); /* -d - n m */
CPU_FP_WIDTHS(cpu_fp3, fp_fnms); /* -d + n m */
CPU_FP_WIDTHS(cpu_fp1, fp_sqrt);
CPU_FP_WIDTHS(cpu_fp1, fp_abs);
CPU_FP_WIDTHS(cpu_fp1, fp_neg);
CPU_FP_WIDTHS(cpu_fp1, fp_recpe);
CPU_FP_WIDTHS(cpu_fp1, fp_rsqrte);
CPU_FP_WIDTHS(cpu_fp1, fp_recpx);
CPU_FP_WIDTHS(cpu_fp1, fp_rint_even);
CPU_FP_WIDTHS(cpu_fp1, fp_rint_up);
CPU_FP_WIDTHS(cpu_fp1, fp_rint_down);
CPU_FP_WIDTHS(cpu_fp1, fp_rint_zero);
CPU_FP_WIDTHS(cpu_fp1, fp_rint_away);
CPU_FP_WIDTHS(cpu_fp1, fp_rint_mode);
/* To what an integer of 32 or 64 bits holds; there is no half precision of these. */
cpu_fp1 fp_rint_32_zero_32, fp_rint_32_zero_64, fp_rint_32_mode_32, fp_rint_32_mode_64;
cpu_fp1 fp_rint_64_zero_32, fp_rint_64_zero_64, fp_rint_64_mode_32, fp_rint_64_mode_64;

/* Returns the NZCV of a comparison as bits 3..0. */
typedef unsigned cpu_fp_compare(struct cpu_core *core, uint64_t n, uint64_t m);
CPU_FP_WIDTHS(cpu_fp_compare, fp_compare);
/* Converts to an integer of `width` bits, the value times 2^fraction, saturating; and from an integer, divided by 2^fraction. */
typedef uint64_t cpu_fp_to_int(struct cpu_core *core, uint64_t n, enum cpu_rounding mode, unsigned width, bool is_signed,
                               unsigned fraction);
CPU_FP_WIDTHS(cpu_fp_to_int, fp_to_int);
typedef uint64_t cpu_fp_from_int(struct cpu_core *core, uint64_t value, bool is_signed, unsigned fraction);
CPU_FP_WIDTHS(cpu_fp_from_int, fp_from_int);

/* Conversions between formats (FCVT and its vector forms). */
cpu_fp1 fp_16_to_32, fp_16_to_64, fp_32_to_16, fp_32_to_64, fp_64_to_16, fp_64_to_32, fp_64_to_32_odd;

/* FMLAL: d is single precision, n and m are half. Flushes halves according to FZ16, as arithmetic on them does. */
cpu_fp3 fp_widening_fma;
uint64_t fp_half_input(const struct cpu_core *core, uint64_t n);

/* cpu_exec_half.c: converts half precision to double, which holds every value, and back with one rounding by FPCR. */
double cpu_half_value(uint16_t bits, bool alternative);
uint16_t cpu_half_round(const struct cpu_core *core, double value, bool alternative, bool flush);
/* Rounds x to an integral value, independently of the host's rounding mode. */
double cpu_round_integral(double x, enum cpu_rounding mode);
/* The eight-bit estimates of the architecture: 256..511 -> 256..511 and 128..511 -> 256..511. */
unsigned cpu_recip_estimate(unsigned a);
unsigned cpu_rsqrt_estimate(unsigned a);

#endif
