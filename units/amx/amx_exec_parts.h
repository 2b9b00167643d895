/* Building blocks of the executing side: circular spans, masks, shuffles, indexed loads, lane access.
 *
 * Lane sets are 64-bit words, bit k = lane k. Facts: github corsix/amx (RegisterFile.md and the per-instruction files), whose
 * model was compared with M1..M4 hardware.
 */
#ifndef ORCHARD_UNITS_AMX_AMX_EXEC_PARTS_H
#define ORCHARD_UNITS_AMX_AMX_EXEC_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define AMX_POOL_BYTES 512
#define AMX_ROW_BYTES  64

/* One architectural view of X, Y and Z; each pool is one circular buffer of 512 bytes. */
struct amx_regs {
    uint8_t *x;
    uint8_t *y;
    uint8_t (*z)[AMX_ROW_BYTES];
};

/* The `width`-bit field of an operand whose lowest bit is `bit`. */
static inline unsigned amx_field(uint64_t operand, unsigned bit, unsigned width)
{
    return (unsigned)(operand >> bit) & ((1u << width) - 1);
}

static inline bool amx_bit(uint64_t operand, unsigned bit)
{
    return (operand >> bit) & 1;
}

static inline uint64_t amx_load_lane(const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;
    switch (bytes) {
    case 1: return *from;
    case 2: memcpy(&value, from, 2); return value;
    case 4: memcpy(&value, from, 4); return value;
    default: memcpy(&value, from, 8); return value;
    }
}

static inline void amx_store_lane(uint8_t *to, uint64_t value, unsigned bytes)
{
    switch (bytes) {
    case 1: *to = (uint8_t)value; break;
    case 2: memcpy(to, &value, 2); break;
    case 4: memcpy(to, &value, 4); break;
    default: memcpy(to, &value, 8); break;
    }
}

/* A lane of `bytes` bytes, sign- or zero-extended to 64 bits. */
static inline int64_t amx_extend(uint64_t value, unsigned bytes, bool is_signed)
{
    switch (bytes) {
    case 1: return is_signed ? (int8_t)value : (int64_t)(uint8_t)value;
    case 2: return is_signed ? (int16_t)value : (int64_t)(uint16_t)value;
    case 4: return is_signed ? (int32_t)value : (int64_t)(uint32_t)value;
    default: return (int64_t)value;
    }
}

/* The 64 bytes of a pool that start at byte `offset`, wrapping from register 7 to register 0. */
static inline void amx_fetch(const uint8_t *pool, unsigned offset, uint8_t out[AMX_ROW_BYTES])
{
    const unsigned start = offset % AMX_POOL_BYTES;
    const unsigned room = AMX_POOL_BYTES - start;
    if (room >= AMX_ROW_BYTES) {
        memcpy(out, pool + start, AMX_ROW_BYTES);
        return;
    }
    memcpy(out, pool + start, room);
    memcpy(out + room, pool, AMX_ROW_BYTES - room);
}

static inline uint64_t amx_all_lanes(unsigned lanes)
{
    return lanes >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << lanes) - 1;
}

/* Write-enable masks: the 7-bit form (2-bit mode, 5-bit n) and the 9-bit form (3-bit mode, 6-bit n). */
uint64_t amx_mask_short(unsigned mode, unsigned n, unsigned lanes);
uint64_t amx_mask_long(unsigned mode, unsigned n, unsigned lanes);

/* out[k] = in[(k mod R)*(L/R) + k/R] with R = 2^shuffle, on lanes of `bytes` bytes, in place. */
void amx_shuffle(uint8_t lanes[AMX_ROW_BYTES], unsigned shuffle, unsigned bytes);

/* Replaces `span`, a little-endian string of index_bits-bit indices, by the lanes of the table that the indices name. */
void amx_lookup(uint8_t span[AMX_ROW_BYTES], const uint8_t table[AMX_ROW_BYTES], unsigned index_bits, unsigned lane_bytes);

/* Copies lane `lane` to every lane. */
void amx_broadcast(uint8_t lanes[AMX_ROW_BYTES], unsigned lane, unsigned bytes);

/* Right shift with optional rounding, then optional saturation to `bits` bits: shared by extrh/extrv and the
 * in-place modes of vecint and matint. */
struct amx_narrow {
    uint8_t shift;
    bool round, saturate;
    bool signed_range; /* saturate to a signed range */
    bool signed_input; /* the element was sign-extended */
    uint8_t bits;
};
int64_t amx_narrow_value(int64_t value, const struct amx_narrow *how);

#endif
