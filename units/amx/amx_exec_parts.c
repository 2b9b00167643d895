#include "units/amx/amx_exec_parts.h"

static uint64_t first_lanes(unsigned count)
{
    return amx_all_lanes(count);
}

static uint64_t last_lanes(unsigned count, unsigned lanes)
{
    return amx_all_lanes(lanes) & ~amx_all_lanes(lanes - count);
}

/* Alternate lanes: n = 0 all, 1 odd, 2 even. */
static uint64_t parity_lanes(unsigned n, unsigned lanes)
{
    static const uint64_t pattern[3] = {~UINT64_C(0), UINT64_C(0xaaaaaaaaaaaaaaaa), UINT64_C(0x5555555555555555)};
    return pattern[n] & amx_all_lanes(lanes);
}

uint64_t amx_mask_short(unsigned mode, unsigned n, unsigned lanes)
{
    const unsigned count = n % lanes;
    switch (mode) {
    case 0: return n <= 2 ? parity_lanes(n, lanes) : 0;
    case 1: return UINT64_C(1) << count;
    case 2: return count ? first_lanes(count) : amx_all_lanes(lanes);
    default: return count ? last_lanes(count, lanes) : amx_all_lanes(lanes);
    }
}

uint64_t amx_mask_long(unsigned mode, unsigned n, unsigned lanes)
{
    const unsigned count = n % lanes;
    switch (mode) {
    case 0:
        if (n <= 2)
            return parity_lanes(n, lanes);
        return n <= 5 ? amx_all_lanes(lanes) : 0; /* 3, 4, 5: all, with a side effect the instruction knows */
    case 1: return UINT64_C(1) << count;
    case 2: return count ? first_lanes(count) : amx_all_lanes(lanes);
    case 3: return count ? last_lanes(count, lanes) : amx_all_lanes(lanes);
    case 4: return first_lanes(count);
    case 5: return last_lanes(count, lanes);
    default: return 0;
    }
}

void amx_shuffle(uint8_t lanes[AMX_ROW_BYTES], unsigned shuffle, unsigned bytes)
{
    if (shuffle == 0)
        return;
    uint8_t in[AMX_ROW_BYTES];
    memcpy(in, lanes, sizeof in);
    const unsigned count = AMX_ROW_BYTES / bytes;
    const unsigned groups = 1u << shuffle;
    for (unsigned k = 0; k < count; k++) {
        const unsigned from = (k % groups) * (count / groups) + k / groups;
        memcpy(lanes + k * bytes, in + from * bytes, bytes);
    }
}

/* Index k of a little-endian bit string; an index never spans more than two bytes. */
static unsigned bit_string_index(const uint8_t *bits, unsigned k, unsigned index_bits)
{
    const unsigned bit = k * index_bits;
    const unsigned byte = bit / 8;
    const unsigned next = byte + 1 < AMX_ROW_BYTES ? bits[byte + 1] : 0;
    return ((bits[byte] | next << 8) >> (bit % 8)) & ((1u << index_bits) - 1);
}

void amx_lookup(uint8_t span[AMX_ROW_BYTES], const uint8_t table[AMX_ROW_BYTES], unsigned index_bits, unsigned lane_bytes)
{
    uint8_t out[AMX_ROW_BYTES];
    const unsigned count = AMX_ROW_BYTES / lane_bytes;
    for (unsigned k = 0; k < count; k++) {
        const unsigned index = bit_string_index(span, k, index_bits) % count;
        memcpy(out + k * lane_bytes, table + index * lane_bytes, lane_bytes);
    }
    memcpy(span, out, sizeof out);
}

void amx_broadcast(uint8_t lanes[AMX_ROW_BYTES], unsigned lane, unsigned bytes)
{
    uint8_t value[8];
    memcpy(value, lanes + lane * bytes, bytes);
    for (unsigned k = 0; k < AMX_ROW_BYTES; k += bytes)
        memcpy(lanes + k, value, bytes);
}

int64_t amx_narrow_value(int64_t value, const struct amx_narrow *how)
{
    if (how->shift > 0) {
        if (how->round)
            value += INT64_C(1) << (how->shift - 1);
        value >>= how->shift;
    }
    if (!how->saturate)
        return value;
    const int64_t high = INT64_C(1) << (how->bits - (how->signed_range ? 1 : 0));
    const int64_t low = how->signed_range ? -high : 0;
    if (value > high - 1)
        return high - 1;
    if (how->signed_input && value < low)
        return low;
    return value;
}
