/* Host kernels of the executing side; all sets give the same bits. */
#ifndef ORCHARD_UNITS_ANE_ANE_KERNEL_SET_H
#define ORCHARD_UNITS_ANE_ANE_KERNEL_SET_H

#include "units/ane/ane_exec.h"

#define ANE_MAC_LANES 32u /* columns of a panel */

/* Sums of products of one panel: out[row][lane] = sum over k of panel[k][lane] * weight[row][k], under the rules of the MAC. */
struct ane_mac_block {
    const float *panel;  /* [k][ANE_MAC_LANES], aligned to 64 bytes */
    const float *weight; /* [rows][k] */
    float *out;          /* [rows][ANE_MAC_LANES] */
    float *peak;         /* of the same shape: the largest partial sum by magnitude; NULL = not wanted */
    size_t k;            /* a multiple of the group */
    size_t rows;
    uint32_t group; /* products that are added first; 1 = none */
    float align;    /* 2^(24 - bits of the group's adder) */
};

struct ane_kernel_set {
    const char *name;
    bool (*usable)(void);
    void (*mac)(const struct ane_mac_block *block); /* any group */
    /* Convert fp16 rows to numbers and back, by ane_operand_value, ane_mac_value, ane_result_bits. */
    void (*expand)(const struct ane_numeric *rules, bool mac, const uint8_t *from, float *to, size_t count);
    void (*reduce)(const struct ane_numeric *rules, const float *from, uint8_t *to, size_t count);
};
extern const struct ane_kernel_set ane_set_avx512, ane_set_avx2, ane_set_portable, ane_set_reference;

/* The rule itself, for one column whose elements are `stride` apart. Returns the sum; *peak is the largest partial sum by
 * magnitude. The first partial sum whose magnitude reaches `limit` decides: the result is then infinite (limit 0 = none). */
float ane_mac_column(const struct ane_mac_block *block, const float *column, const float *weight, float limit, float *peak);

#endif
