/* Blocks of ggml. In blocks of 32, byte j holds value j in its low and value j + 16 in its high nibble. In blocks of 256 ("K"),
 * groups of 16 or 32 values have small scales of their own, which one half scales again.
 * Layout: ggml, src/ggml-common.h; microscaling: OCP Microscaling Formats (MX) 1.0, with the block's exponent first.
 */
#include "sim/language/block_format.h"

#include <math.h>
#include <stdbool.h>

static unsigned nibble(const uint8_t *packed, unsigned index)
{
    return index < 16 ? packed[index] & 15u : packed[index - 16] >> 4;
}

void block_decode_q4_0(const uint8_t *block, float *value)
{
    const float scale = block_half(block);
    for (unsigned i = 0; i < 32; i++)
        value[i] = scale * (float)((int)nibble(block + 2, i) - 8);
}

void block_decode_q4_1(const uint8_t *block, float *value)
{
    const float scale = block_half(block), least = block_half(block + 2);
    for (unsigned i = 0; i < 32; i++)
        value[i] = scale * (float)nibble(block + 4, i) + least;
}

/* Of values of five bits, the highest ones stand together in 32 bits. */
static unsigned five_bits(const uint8_t *high, const uint8_t *packed, unsigned index)
{
    return nibble(packed, index) | (block_u32(high) >> index & 1) << 4;
}

void block_decode_q5_0(const uint8_t *block, float *value)
{
    const float scale = block_half(block);
    for (unsigned i = 0; i < 32; i++)
        value[i] = scale * (float)((int)five_bits(block + 2, block + 6, i) - 16);
}

void block_decode_q5_1(const uint8_t *block, float *value)
{
    const float scale = block_half(block), least = block_half(block + 2);
    for (unsigned i = 0; i < 32; i++)
        value[i] = scale * (float)five_bits(block + 4, block + 8, i) + least;
}

void block_decode_q8_0(const uint8_t *block, float *value)
{
    const float scale = block_half(block);
    for (unsigned i = 0; i < 32; i++)
        value[i] = scale * (float)(int8_t)block[2 + i];
}

void block_decode_mxfp4(const uint8_t *block, float *value)
{
    static const float magnitude[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6}; /* E2M1 */
    for (unsigned i = 0; i < 32; i++) {
        const unsigned code = nibble(block + 1, i);
        const float number = ldexpf(magnitude[code & 7], block[0] - 127);
        value[i] = code & 8 ? -number : number;
    }
}

/* ---- blocks of 256 ---- */

/* Two bits of value i: each 32 bytes hold four groups of 32 values, lowest bits first. */
static unsigned two_bits(const uint8_t *packed, unsigned i)
{
    return packed[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3u;
}

/* Four bits of value i: each 32 bytes hold two groups of 32 values. */
static unsigned four_bits(const uint8_t *packed, unsigned i)
{
    return packed[i / 64 * 32 + i % 32] >> i % 64 / 32 * 4 & 15u;
}

void block_decode_q2_k(const uint8_t *block, float *value)
{
    const float scale = block_half(block + 80), least = block_half(block + 82);
    for (unsigned i = 0; i < 256; i++) {
        const unsigned group = block[i / 16];
        value[i] = scale * (float)(group & 15) * (float)two_bits(block + 16, i) - least * (float)(group >> 4);
    }
}

/* Sixteen scales of six bits: eight bytes hold the low nibbles of scales g and g + 8, four the high pairs of g, g + 4, g + 8 and
 * g + 12. */
static int q3_k_scale(const uint8_t *packed, unsigned group)
{
    const unsigned low = packed[group % 8] >> group / 8 * 4 & 15u, high = packed[8 + group % 4] >> group / 4 * 2 & 3u;
    return (int)(low | high << 4) - 32;
}

void block_decode_q3_k(const uint8_t *block, float *value)
{
    const float scale = block_half(block + 108);
    for (unsigned i = 0; i < 256; i++) {
        const bool high = block[i % 32] >> i / 32 & 1; /* clear: four less */
        const int number = (int)two_bits(block + 32, i) - (high ? 0 : 4);
        value[i] = scale * (float)q3_k_scale(block + 96, i / 16) * (float)number;
    }
}

/* Eight scales and eight minima of six bits in twelve bytes: those of the first four groups whole, and above them two bits each
 * of the others, whose nibbles stand in the last four bytes. */
static void scale_and_least(const uint8_t *packed, unsigned group, unsigned *scale, unsigned *least)
{
    if (group < 4) {
        *scale = packed[group] & 63;
        *least = packed[group + 4] & 63;
    } else {
        *scale = (packed[group + 4] & 15u) | packed[group - 4] >> 6 << 4;
        *least = packed[group + 4] >> 4 | packed[group] >> 6 << 4;
    }
}

/* `high` holds the fifth bits, or is NULL. */
static void decode_with_least(const uint8_t *block, const uint8_t *high, const uint8_t *low, float *value)
{
    const float scale = block_half(block), least = block_half(block + 2);
    for (unsigned group = 0; group < 8; group++) {
        unsigned s, m;
        scale_and_least(block + 4, group, &s, &m);
        for (unsigned i = 32 * group; i < 32 * group + 32; i++) {
            const unsigned fifth = high ? high[i % 32] >> group & 1u : 0;
            value[i] = scale * (float)s * (float)(four_bits(low, i) | fifth << 4) - least * (float)m;
        }
    }
}

void block_decode_q4_k(const uint8_t *block, float *value)
{
    decode_with_least(block, NULL, block + 16, value);
}

void block_decode_q5_k(const uint8_t *block, float *value)
{
    decode_with_least(block, block + 16, block + 48, value);
}

void block_decode_q6_k(const uint8_t *block, float *value)
{
    const float scale = block_half(block + 208);
    for (unsigned i = 0; i < 256; i++) {
        const unsigned low = block[i / 128 * 64 + i % 64] >> i % 128 / 64 * 4 & 15u;
        const int number = (int)(low | two_bits(block + 128, i) << 4) - 32;
        value[i] = scale * (float)(int8_t)block[192 + i / 16] * (float)number;
    }
}
