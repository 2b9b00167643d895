#include "sim/workload/element_type.h"

#include "isa/float_bits.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned bytes;
    enum npy_type npy;
} types[ELEMENT_TYPE_COUNT] = {
#define X(name, text, bytes, npy) [ELEMENT_##name] = {text, bytes, npy},
    ELEMENT_TYPE_TABLE(X)
#undef X
};

enum element_type element_type_find(const char *text)
{
    const bool is_signed = text[0] == 's' && text[1] >= '0' && text[1] <= '9';
    for (unsigned i = 0; i < ELEMENT_TYPE_COUNT; i++)
        if (strcmp(types[i].name, text) == 0 ||
            (is_signed && types[i].name[0] == 'i' && strcmp(types[i].name + 1, text + 1) == 0))
            return (enum element_type)i;
    return ELEMENT_TYPE_COUNT;
}

const char *element_type_name(enum element_type type)
{
    return types[type].name;
}

unsigned element_type_bytes(enum element_type type)
{
    return types[type].bytes;
}

enum npy_type element_type_npy(enum element_type type)
{
    return types[type].npy;
}

enum element_type element_type_of_npy(enum npy_type npy)
{
    for (unsigned i = 0; i < ELEMENT_TYPE_COUNT; i++)
        if (types[i].npy == npy && i != ELEMENT_BF16)
            return (enum element_type)i;
    return ELEMENT_TYPE_COUNT;
}

bool element_type_float(enum element_type type)
{
    return type <= ELEMENT_F64;
}

static double read_integer(enum element_type type, const uint8_t *at)
{
    const unsigned bytes = types[type].bytes;
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    if (types[type].name[0] == 'u')
        return (double)bits;
    const unsigned unused = 64 - 8 * bytes;
    int64_t number;
    bits <<= unused;
    memcpy(&number, &bits, sizeof number);
    return (double)(number >> unused);
}

double element_read(enum element_type type, const uint8_t *at)
{
    float single;
    double number;
    _Float16 half;
    uint16_t upper;
    switch (type) {
    case ELEMENT_F32: memcpy(&single, at, sizeof single); return single;
    case ELEMENT_F16: memcpy(&half, at, sizeof half); return (double)half;
    case ELEMENT_BF16: {
        memcpy(&upper, at, sizeof upper);
        return f32_of_bits((uint32_t)upper << 16);
    }
    case ELEMENT_F64: memcpy(&number, at, sizeof number); return number;
    default: return read_integer(type, at);
    }
}

static bool write_integer(enum element_type type, double number, uint8_t *at)
{
    const unsigned bits = 8 * types[type].bytes;
    const bool is_signed = types[type].name[0] == 'i';
    const double lowest = is_signed ? -ldexp(1, (int)bits - 1) : 0, end = ldexp(1, (int)bits - is_signed);
    number = nearbyint(number);
    if (!(number >= lowest && number < end))
        return false;
    const uint64_t raw = number < 0 ? 0 - (uint64_t)-number : (uint64_t)number;
    memcpy(at, &raw, types[type].bytes);
    return true;
}

/* Rounds to nearest, ties to even; a carry out of the fraction increments the exponent, as it should. */
static uint16_t bf16_bits(float single)
{
    const uint32_t bits = f32_bits(single);
    if (isnan(single))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

bool element_write(enum element_type type, double number, uint8_t *at)
{
    const float single = (float)number;
    const _Float16 half = (_Float16)number;
    const uint16_t upper = bf16_bits(single);
    switch (type) {
    case ELEMENT_F32: memcpy(at, &single, sizeof single); return true;
    case ELEMENT_F16: memcpy(at, &half, sizeof half); return true;
    case ELEMENT_BF16: memcpy(at, &upper, sizeof upper); return true;
    case ELEMENT_F64: memcpy(at, &number, sizeof number); return true;
    default: return write_integer(type, number, at);
    }
}
