/* What the amx_effect_*.c files share. */
#ifndef ORCHARD_ISA_AMX_AMX_EFFECT_PARTS_H
#define ORCHARD_ISA_AMX_AMX_EFFECT_PARTS_H

#include "isa/amx/amx_mask.h"
#include "isa/amx/amx_table.h"

static inline uint64_t amx_bit(unsigned n)
{
    return UINT64_C(1) << (n & 63);
}

static inline unsigned amx_count(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

/* The registers of a pool that `bytes` (1..64) bytes from a byte offset touch; the pool is circular. */
static inline uint8_t amx_span(unsigned offset, unsigned bytes)
{
    return (uint8_t)(1u << (offset >> 6 & 7) | 1u << ((offset + bytes - 1) >> 6 & 7));
}

/* Whether a 9-bit mask asks for this side effect. */
static inline bool amx_mask_is(unsigned mode, unsigned n, enum amx_mask_special special)
{
    return mode == 0 && n == (unsigned)special;
}

/* The integer element of that many bytes. */
static inline enum amx_element amx_integer(unsigned bytes)
{
    return bytes == 1 ? AMX_E_I8 : bytes == 2 ? AMX_E_I16 : AMX_E_I32;
}

/* The Z rows of an outer product with lanes of `lane_bytes` on both axes and Z elements of z_bytes: either the same size, or
 * 16-bit lanes with interleaved pairs of 32-bit Z rows. x_lanes and y_lanes are the enabled lanes; z selects the accumulator. */
uint64_t amx_matrix_rows(uint64_t x_lanes, uint64_t y_lanes, unsigned lane_bytes, unsigned z_bytes, unsigned z);

void amx_effect_vec(unsigned op, uint64_t operand, enum amx_gen gen, struct amx_effect *e);
void amx_effect_mat(unsigned op, uint64_t operand, enum amx_gen gen, struct amx_effect *e);
void amx_effect_extract(unsigned op, uint64_t operand, enum amx_gen gen, struct amx_effect *e);
void amx_effect_genlut(uint64_t operand, enum amx_gen gen, struct amx_effect *e);

#endif
