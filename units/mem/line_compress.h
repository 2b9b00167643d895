/* An estimate of how much smaller memory traffic could be with lossless compression of lines, from the bytes themselves.
 *
 * Per line of 128 bytes the smallest of: zeros; one value repeated; a base and small differences, for values of 8, 4 or 2 bytes
 * (base-delta-immediate: Pekhimenko et al., PACT 2012); or else the line as it is. Sizes are rounded up to the least that DRAM
 * moves.
 */
#ifndef ORCHARD_UNITS_MEM_LINE_COMPRESS_H
#define ORCHARD_UNITS_MEM_LINE_COMPRESS_H

#include "units/mem/mem_space.h"

/* The least that is moved: half a burst of LPDDR5 on a 32-bit pair of channels. A guess. */
#define MEM_COMPRESS_SECTOR 32u

/* Bytes that the line would take: 32, 64, 96 or 128. */
uint32_t mem_line_compressed_bytes(const uint8_t line[MEM_LINE_BYTES]);

/* Mean over the lines of all mapped memory: compressed bytes per byte. Looks at about `lines` lines at most, evenly spread. Pages
 * of nothing but zeros are left out, because they cannot be told from pages never used. 1 when nothing is left. */
double mem_space_compressed_share(const struct mem_space *space, uint64_t lines);

#endif
