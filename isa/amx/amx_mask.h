/* Write-enable masks of AMX operands as sets of lanes, for everything that must agree on them.
 * Source: github corsix/amx, commit 483714b (Instructions.md, emulate.h).
 */
#ifndef ORCHARD_ISA_AMX_AMX_MASK_H
#define ORCHARD_ISA_AMX_AMX_MASK_H

#include <stdint.h>

/* In mode 0 of the 9-bit form, these values of n enable all lanes and do something else besides. */
enum amx_mask_special { AMX_MASK_WRITE_ZERO = 3, AMX_MASK_ZERO_X = 4, AMX_MASK_ZERO_Y = 5 };

#define AMX_ODD_LANES  UINT64_C(0xaaaaaaaaaaaaaaaa)
#define AMX_EVEN_LANES UINT64_C(0x5555555555555555)

/* The first n of up to 64 lanes. */
static inline uint64_t amx_first_lanes(unsigned n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* The last n (1..lanes) of `lanes`. */
static inline uint64_t amx_last_lanes(unsigned n, unsigned lanes)
{
    return amx_first_lanes(lanes) & ~amx_first_lanes(lanes - n);
}

/* The 7-bit form has a mode of 2 bits and n of 5 bits. `lanes` is a power of two up to 64. */
static inline uint64_t amx_mask7(unsigned mode, unsigned n, unsigned lanes)
{
    const unsigned reduced = n & (lanes - 1), count = reduced ? reduced : lanes;
    switch (mode) {
    case 0: return (n == 0 ? UINT64_MAX : n == 1 ? AMX_ODD_LANES : n == 2 ? AMX_EVEN_LANES : 0) & amx_first_lanes(lanes);
    case 1: return UINT64_C(1) << reduced;
    case 2: return amx_first_lanes(count);
    default: return amx_last_lanes(count, lanes);
    }
}

/* The 9-bit form has a mode of 3 bits and n of 6 bits. Mode 0 with n = 3, 4, 5 enables all lanes. Mode 1 is "only lane n"; vecint
 * and vecfp, which broadcast instead, do not call this. */
static inline uint64_t amx_mask9(unsigned mode, unsigned n, unsigned lanes)
{
    const unsigned reduced = n & (lanes - 1);
    if (mode == 0 && n >= AMX_MASK_WRITE_ZERO && n <= AMX_MASK_ZERO_Y)
        return amx_first_lanes(lanes);
    if (mode < 4)
        return amx_mask7(mode, n, lanes);
    if (mode > 5 || reduced == 0)
        return 0;
    return mode == 4 ? amx_first_lanes(reduced) : amx_last_lanes(reduced, lanes);
}

#endif
