/* Blocks that no kernel of the units multiplies by are restated when weights are placed; no value changes. Bytes of q8_0 hold the
 * values of q5_0, and twice those of MXFP4; what has scales of its own within a block, or a least value, becomes f32.
 */
#include "sim/run/language/language_step_internal.h"

#include "isa/array_count.h"

#include <string.h>

enum { VALUES = 32, MXFP4_BYTES = 17, Q5_0_BYTES = 22, Q8_0_BYTES = 34 };
/* A scale of MXFP4 is 2^(byte - 127); with doubled values half of it, which f16 has from 2^-24 to 2^15. */
enum { HALF_LEAST = -24, HALF_NORMAL = -14, HALF_MOST = 15, HALF_BIAS = 15, SCALE_BIAS = 128 };

static bool is_zero(const uint8_t *block)
{
    bool zero = true;
    for (unsigned i = 1; i < MXFP4_BYTES; i++)
        zero &= (block[i] & 0x77) == 0;
    return zero;
}

/* Whether halves have the scales of all blocks. */
static bool has_half_scales(const struct decoder_matrix *m)
{
    const uint8_t *block = decoder_matrix_data(m);
    const uint64_t blocks = m->rows * m->columns / VALUES;
    for (uint64_t i = 0; i < blocks; i++, block += MXFP4_BYTES) {
        const int power = block[0] - SCALE_BIAS;
        if (!is_zero(block) && (power < HALF_LEAST || power > HALF_MOST))
            return false;
    }
    return true;
}

const char *language_restated(const struct decoder_matrix *m)
{
    static const char *const multiplied[] = {"f32", "f16", "bf16", "q4_0", "q8_0", "q4_k", "q6_k"};
    const char *const name = m->tensor->format->name;
    for (size_t i = 0; i < ARRAY_COUNT(multiplied); i++)
        if (strcmp(multiplied[i], name) == 0)
            return name;
    return strcmp(name, "q5_0") == 0 || (strcmp(name, "mxfp4") == 0 && has_half_scales(m)) ? "q8_0" : "f32";
}

static void put_half(uint8_t *to, unsigned bits)
{
    to[0] = (uint8_t)bits;
    to[1] = (uint8_t)(bits >> 8);
}

static unsigned half_of_power(int power)
{
    return power < HALF_LEAST ? 0 : power < HALF_NORMAL ? 1U << (power - HALF_LEAST) : (unsigned)(power + HALF_BIAS) << 10;
}

/* Values are those of the decoder, less their scale. */
static void restate_block(const struct block_format *format, const uint8_t *block, uint8_t *to)
{
    static const int8_t twice[8] = {0, 1, 2, 3, 4, 6, 8, 12}; /* E2M1 */
    const bool micro = format->bytes == MXFP4_BYTES;
    for (unsigned i = 0; i < VALUES; i++) {
        const unsigned shift = i < VALUES / 2 ? 0 : 4, at = i % (VALUES / 2);
        const unsigned code = micro ? block[1 + at] >> shift & 15u : block[6 + at] >> shift & 15u;
        const unsigned high = micro ? 0 : (unsigned)(block[2 + i / 8] >> i % 8 & 1);
        const int value = micro ? (code & 8 ? -twice[code & 7] : twice[code & 7]) : (int)(code | high << 4) - 16;
        to[2 + i] = (uint8_t)(int8_t)value;
    }
    put_half(to,
             micro ? half_of_power(is_zero(block) ? HALF_LEAST : block[0] - SCALE_BIAS) : (unsigned)(block[0] | block[1] << 8));
}

void language_restate(const struct decoder_matrix *m, const char *format, void *to)
{
    const struct block_format *const own = m->tensor->format;
    if (strcmp(format, "f32") == 0) {
        for (uint64_t row = 0; row < m->rows; row++)
            weight_row(m->tensor, m->first_row + row, (float *)to + row * m->columns);
        return;
    }
    const uint8_t *block = decoder_matrix_data(m);
    uint8_t *at = to;
    for (uint64_t i = 0; i < m->rows * m->columns / VALUES; i++, block += own->bytes, at += Q8_0_BYTES)
        restate_block(own, block, at);
}
