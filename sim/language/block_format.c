#include "sim/language/block_format.h"

#include "isa/array_count.h"

#include <math.h>
#include <string.h>

uint16_t block_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

uint32_t block_u32(const uint8_t *at)
{
    return block_u16(at) | (uint32_t)block_u16(at + 2) << 16;
}

uint64_t block_u64(const uint8_t *at)
{
    return block_u32(at) | (uint64_t)block_u32(at + 4) << 32;
}

static float float_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

float block_half(const uint8_t *at)
{
    const uint32_t bits = block_u16(at), sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 31)
        return float_of(sign | 0x7f800000 | fraction << 13);
    if (exponent)
        return float_of(sign | (exponent + 112) << 23 | fraction << 13);
    return sign ? -ldexpf((float)fraction, -24) : ldexpf((float)fraction, -24);
}

/* ---- single numbers ---- */

static void decode_f32(const uint8_t *at, float *value)
{
    *value = float_of(block_u32(at));
}

static void decode_f16(const uint8_t *at, float *value)
{
    *value = block_half(at);
}

static void decode_bf16(const uint8_t *at, float *value)
{
    *value = float_of((uint32_t)block_u16(at) << 16);
}

static void decode_f64(const uint8_t *at, float *value)
{
    const uint64_t bits = block_u64(at);
    double number;
    memcpy(&number, &bits, sizeof number);
    *value = (float)number;
}

static void decode_i8(const uint8_t *at, float *value)
{
    *value = (int8_t)*at;
}

static void decode_i16(const uint8_t *at, float *value)
{
    *value = (int16_t)block_u16(at);
}

static void decode_i32(const uint8_t *at, float *value)
{
    *value = (float)(int32_t)block_u32(at);
}

static void decode_i64(const uint8_t *at, float *value)
{
    *value = (float)(int64_t)block_u64(at);
}

/* Type numbers and sizes: ggml, include/ggml.h (enum ggml_type) and src/ggml-common.h. Blocks without a decoder are listed so
 * that files that hold them can be checked and shown. */
static const struct block_format formats[] = {
    {"f32", 0, 1, 4, decode_f32},
    {"f16", 1, 1, 2, decode_f16},
    {"bf16", 30, 1, 2, decode_bf16},
    {"f64", 28, 1, 8, decode_f64},
    {"i8", 24, 1, 1, decode_i8},
    {"i16", 25, 1, 2, decode_i16},
    {"i32", 26, 1, 4, decode_i32},
    {"i64", 27, 1, 8, decode_i64},
    {"q4_0", 2, 32, 18, block_decode_q4_0},
    {"q4_1", 3, 32, 20, block_decode_q4_1},
    {"q5_0", 6, 32, 22, block_decode_q5_0},
    {"q5_1", 7, 32, 24, block_decode_q5_1},
    {"q8_0", 8, 32, 34, block_decode_q8_0},
    {"q2_k", 10, 256, 84, block_decode_q2_k},
    {"q3_k", 11, 256, 110, block_decode_q3_k},
    {"q4_k", 12, 256, 144, block_decode_q4_k},
    {"q5_k", 13, 256, 176, block_decode_q5_k},
    {"q6_k", 14, 256, 210, block_decode_q6_k},
    {"mxfp4", 39, 32, 17, block_decode_mxfp4},
    {"q8_1", 9, 32, 36, NULL},
    {"q8_k", 15, 256, 292, NULL},
    {"iq2_xxs", 16, 256, 66, NULL},
    {"iq2_xs", 17, 256, 74, NULL},
    {"iq3_xxs", 18, 256, 98, NULL},
    {"iq1_s", 19, 256, 50, NULL},
    {"iq4_nl", 20, 32, 18, NULL},
    {"iq3_s", 21, 256, 110, NULL},
    {"iq2_s", 22, 256, 82, NULL},
    {"iq4_xs", 23, 256, 136, NULL},
    {"iq1_m", 29, 256, 56, NULL},
    {"tq1_0", 34, 256, 54, NULL},
    {"tq2_0", 35, 256, 66, NULL},
};

const struct block_format *block_format_at(size_t index)
{
    return index < ARRAY_COUNT(formats) ? &formats[index] : NULL;
}

const struct block_format *block_format_numbered(uint32_t number)
{
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
        if (formats[i].number == number)
            return &formats[i];
    return NULL;
}

const struct block_format *block_format_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

void block_decode(const struct block_format *format, const uint8_t *bytes, size_t first, size_t count, float *value)
{
    const uint8_t *at = bytes + first / format->values * format->bytes;
    for (size_t done = 0; done < count; done += format->values, at += format->bytes)
        format->decode(at, value + done);
}
