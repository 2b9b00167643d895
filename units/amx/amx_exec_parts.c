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
        return n <= 5 ? amx_all_lanes(lanes) : 0; /* 3, 4, 5: all lanes, with a side effect that the instruction handles */
    case 1: return UINT64_C(1) << count;
    case 2: return count ? first_lanes(count) : amx_all_lanes(lanes);
    case 3: return count ? last_lanes(count, lanes) : amx_all_lanes(lanes);
    case 4: return first_lanes(count);
    case 5: return last_lanes(count, lanes);
    default: return 0;
    }
}

/* Interleaves the lanes of the lower and the upper half of 64 bytes. */
#define DEFINE_ZIP(name, element, low, high)                                                                                     \
    static void name(uint8_t lanes[AMX_ROW_BYTES])                                                                               \
    {                                                                                                                            \
        typedef element part __attribute__((vector_size(16)));                                                                   \
        part in[4], out[4];                                                                                                      \
        memcpy(in, lanes, sizeof in);                                                                                            \
        for (unsigned h = 0; h < 2; h++) {                                                                                       \
            out[2 * h] = __builtin_shufflevector(in[h], in[h + 2], low);                                                         \
            out[2 * h + 1] = __builtin_shufflevector(in[h], in[h + 2], high);                                                    \
        }                                                                                                                        \
        memcpy(lanes, out, sizeof out);                                                                                          \
    }
#define LANES(...) __VA_ARGS__
DEFINE_ZIP(zip_1, uint8_t, LANES(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
           LANES(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
DEFINE_ZIP(zip_2, uint16_t, LANES(0, 8, 1, 9, 2, 10, 3, 11), LANES(4, 12, 5, 13, 6, 14, 7, 15))
DEFINE_ZIP(zip_4, uint32_t, LANES(0, 4, 1, 5), LANES(2, 6, 3, 7))
DEFINE_ZIP(zip_8, uint64_t, LANES(0, 2), LANES(1, 3))

/* Lane k of shuffle s is lane k / 2^s of group k mod 2^s among 2^s groups: interleaving the two halves s times. */
void amx_shuffle(uint8_t lanes[AMX_ROW_BYTES], unsigned shuffle, unsigned bytes)
{
    for (; shuffle > 0; shuffle--)
        switch (bytes) {
        case 1: zip_1(lanes); break;
        case 2: zip_2(lanes); break;
        case 4: zip_4(lanes); break;
        default: zip_8(lanes);
        }
}

/* Returns index k of a little-endian bit string; an index never spans more than two bytes. */
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
