#include "sim/prove/check/amx_vector_state.h"
#include "isa/array_count.h"
#include "sim/base/splitmix64.h"

#include <string.h>

enum fill { FILL_BITS, FILL_FLOAT, FILL_SMALL_INT, FILL_SPECIAL_FLOAT };
enum order { ORDER_NONE, ORDER_FLOAT, ORDER_SIGNED, ORDER_UNSIGNED };

/* A float format as the kinds use it: exponents start at `exponent` and vary in `spread` bits. */
struct format {
    unsigned bits, fraction_bits, exponent, spread;
    uint64_t special[16]; /* zeros, denormals, largest values, infinities, NaNs, ones */
};

struct kind {
    const char *name;
    enum fill fill;
    enum order order;
    unsigned lane_bits;
    const struct format *format;
    unsigned int_mask, int_bias;
};

static const struct format f16 = {16,
                                  10,
                                  11,
                                  3,
                                  {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00,
                                   0xfe00, 0x7c01, 0x3c00, 0xbc00}};
static const struct format bf16 = {16,
                                   7,
                                   123,
                                   3,
                                   {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
                                    0x7fc0, 0xffc0, 0x7f81, 0x3f80, 0xbf80}};
static const struct format f32 = {32,
                                  23,
                                  119,
                                  4,
                                  {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x7f7fffff,
                                   0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0x3f800000,
                                   0xbf800000}};
static const struct format f64 = {64,
                                  52,
                                  1015,
                                  4,
                                  {0, UINT64_C(0x8000000000000000), 1, UINT64_C(0x8000000000000001), UINT64_C(0x000fffffffffffff),
                                   UINT64_C(0x800fffffffffffff), UINT64_C(0x0010000000000000), UINT64_C(0x7fefffffffffffff),
                                   UINT64_C(0xffefffffffffffff), UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000),
                                   UINT64_C(0x7ff8000000000000), UINT64_C(0xfff8000000000000), UINT64_C(0x7ff0000000000001),
                                   UINT64_C(0x3ff0000000000000), UINT64_C(0xbff0000000000000)}};

static const struct kind kinds[] = {
    {"R", FILL_BITS, ORDER_NONE, 64, NULL, 0, 0},
    {"F16", FILL_FLOAT, ORDER_NONE, 16, &f16, 0, 0},
    {"BF16", FILL_FLOAT, ORDER_NONE, 16, &bf16, 0, 0},
    {"F32", FILL_FLOAT, ORDER_NONE, 32, &f32, 0, 0},
    {"F64", FILL_FLOAT, ORDER_NONE, 64, &f64, 0, 0},
    {"I8", FILL_SMALL_INT, ORDER_NONE, 8, NULL, 15, 8},
    {"I16", FILL_SMALL_INT, ORDER_NONE, 16, NULL, 255, 128},
    {"S16", FILL_SPECIAL_FLOAT, ORDER_NONE, 16, &f16, 0, 0},
    {"SB16", FILL_SPECIAL_FLOAT, ORDER_NONE, 16, &bf16, 0, 0},
    {"S32", FILL_SPECIAL_FLOAT, ORDER_NONE, 32, &f32, 0, 0},
    {"S64", FILL_SPECIAL_FLOAT, ORDER_NONE, 64, &f64, 0, 0},
    {"GF16", FILL_FLOAT, ORDER_FLOAT, 16, &f16, 0, 0},
    {"GBF16", FILL_FLOAT, ORDER_FLOAT, 16, &bf16, 0, 0},
    {"GF32", FILL_FLOAT, ORDER_FLOAT, 32, &f32, 0, 0},
    {"GF64", FILL_FLOAT, ORDER_FLOAT, 64, &f64, 0, 0},
    {"GI16", FILL_BITS, ORDER_SIGNED, 16, NULL, 0, 0},
    {"GI32", FILL_BITS, ORDER_SIGNED, 32, NULL, 0, 0},
    {"GU16", FILL_BITS, ORDER_UNSIGNED, 16, NULL, 0, 0},
    {"GU32", FILL_BITS, ORDER_UNSIGNED, 32, NULL, 0, 0},
};

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t float_lane(const struct format *format, uint64_t r)
{
    const uint64_t sign = r & UINT64_C(1) << (format->bits - 1);
    const uint64_t exponent = format->exponent + low_bits(r >> format->fraction_bits, format->spread);
    return sign | exponent << format->fraction_bits | low_bits(r, format->fraction_bits);
}

static uint64_t map_lane(const struct kind *kind, uint64_t r)
{
    switch (kind->fill) {
    case FILL_FLOAT: return float_lane(kind->format, r);
    case FILL_SPECIAL_FLOAT: return r & 3 ? float_lane(kind->format, r) : kind->format->special[r >> 2 & 15];
    case FILL_SMALL_INT: return low_bits((r & kind->int_mask) - kind->int_bias, kind->lane_bits);
    case FILL_BITS: break;
    }
    return r;
}

static void fill_bytes(const struct kind *kind, uint64_t *random, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i += 8) {
        const uint64_t r = splitmix64_next(random);
        uint64_t mapped = 0;
        for (unsigned b = 0; b < 64; b += kind->lane_bits)
            mapped |= map_lane(kind, low_bits(r >> b, kind->lane_bits)) << b;
        memcpy(bytes + i, &mapped, 8);
    }
}

/* Unsigned number in the order of the lane's value. Kinds that are sorted as floats have no NaNs or zeros. */
static uint64_t sort_key(const struct kind *kind, uint64_t lane)
{
    const uint64_t sign = UINT64_C(1) << (kind->lane_bits - 1);
    if (kind->order == ORDER_UNSIGNED)
        return lane;
    if (kind->order == ORDER_FLOAT && lane & sign)
        return low_bits(~lane, kind->lane_bits);
    return lane ^ sign;
}

static void sort_register(const struct kind *kind, uint8_t *bytes)
{
    const unsigned lane_bytes = kind->lane_bits / 8, lanes = 64 / lane_bytes;
    uint64_t sorted[32];
    for (unsigned i = 0; i < lanes; i++) {
        uint64_t lane = 0;
        memcpy(&lane, bytes + i * lane_bytes, lane_bytes);
        unsigned at = i;
        for (; at > 0 && sort_key(kind, sorted[at - 1]) > sort_key(kind, lane); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = lane;
    }
    for (unsigned i = 0; i < lanes; i++)
        memcpy(bytes + i * lane_bytes, &sorted[i], lane_bytes);
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

bool amx_vector_fill(const char *kind_name, uint64_t seed, struct amx_vector_state *state)
{
    const struct kind *const kind = find_kind(kind_name);
    struct amx_state *const registers = &state->registers;
    uint64_t random = seed;
    if (!kind)
        return false;
    fill_bytes(kind, &random, registers->x, sizeof registers->x);
    fill_bytes(kind, &random, registers->y, sizeof registers->y);
    fill_bytes(kind, &random, registers->z[0], sizeof registers->z);
    fill_bytes(kind, &random, state->memory, sizeof state->memory);
    for (unsigned r = 0; r < 8 && kind->order != ORDER_NONE; r++) {
        sort_register(kind, registers->x + 64 * r);
        sort_register(kind, registers->y + 64 * r);
    }
    return true;
}

/* FNV-1a, 64 bits. */
static uint64_t fnv1a(const uint8_t *bytes, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void amx_vector_hash(const struct amx_vector_state *state, struct amx_vector_hashes *hashes)
{
    hashes->x = fnv1a(state->registers.x, sizeof state->registers.x);
    hashes->y = fnv1a(state->registers.y, sizeof state->registers.y);
    hashes->z = fnv1a(state->registers.z[0], sizeof state->registers.z);
    hashes->memory = fnv1a(state->memory, sizeof state->memory);
}
