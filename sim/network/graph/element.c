#include "sim/network/graph/element.h"

#include "isa/array_count.h"
#include "isa/float_bits.h"

#include <math.h>

static const struct {
    const char *name;
    uint8_t bytes, bits, kind, onnx, npy;
} types[NET_TYPES] = {
#define X(name, text, bytes, bits, kind, onnx, npy) [NET_##name] = {text, bytes, bits, kind, onnx, npy},
    NET_TYPE_TABLE(X)
#undef X
};

const char *net_type_name(enum net_type type)
{
    return type < NET_TYPES ? types[type].name : "?";
}

size_t net_type_bytes(enum net_type type)
{
    return type < NET_TYPES ? types[type].bytes : 0;
}

unsigned net_type_bits(enum net_type type)
{
    return type < NET_TYPES ? types[type].bits : 0;
}

enum net_kind net_type_kind(enum net_type type)
{
    return type < NET_TYPES ? (enum net_kind)types[type].kind : NET_FLOAT;
}

bool net_type_is_float(enum net_type type)
{
    return type < NET_TYPES && types[type].kind == NET_FLOAT;
}

enum net_type net_type_of_onnx(int64_t number)
{
    for (unsigned i = 0; i < NET_TYPES; i++)
        if (types[i].onnx == number)
            return (enum net_type)i;
    return NET_TYPES;
}

int64_t net_type_to_onnx(enum net_type type)
{
    return type == NET_TYPES ? 0 : types[type].onnx;
}

enum npy_type net_type_npy(enum net_type type)
{
    return (enum npy_type)types[type].npy;
}

const char *net_onnx_type_name(int64_t number)
{
    static const char *const names[] = {"undefined",      "float",    "uint8",        "int8",           "uint16",
                                        "int16",          "int32",    "int64",        "string",         "bool",
                                        "float16",        "double",   "uint32",       "uint64",         "complex64",
                                        "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
                                        "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0"};
    return number >= 0 && number < (int64_t)ARRAY_COUNT(names) ? names[number] : "unknown";
}

/* ---- small floating-point numbers ---- */

enum { HALF_BITS_LOST = 42 /* 52 bits of a double's fraction become 10 */, HALF_BIAS = 1023 - 15 };

double net_of_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const uint64_t normal = ((uint64_t)(bits & 0x7fff) << HALF_BITS_LOST) + ((uint64_t)HALF_BIAS << 52);
    double magnitude;
    if (exponent == 31)
        magnitude = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = fraction * 0x1p-24;
    else
        memcpy(&magnitude, &normal, sizeof magnitude);
    return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t net_half_of(double number)
{
    const uint16_t sign = signbit(number) ? 0x8000 : 0;
    const double magnitude = fabs(number);
    uint64_t bits;
    if (isnan(number))
        return sign | 0x7e00;
    if (magnitude >= 65520)
        return sign | 0x7c00;
    if (magnitude < 0x1p-14) /* subnormal: steps of 2^-24; 1024 of them are the smallest normal number */
        return sign | (uint16_t)nearbyint(magnitude * 0x1p24);
    memcpy(&bits, &magnitude, sizeof bits);
    bits += (UINT64_C(1) << (HALF_BITS_LOST - 1)) - 1 + (bits >> HALF_BITS_LOST & 1); /* ties to even; may carry on */
    return sign | (uint16_t)((bits >> HALF_BITS_LOST) - ((uint64_t)HALF_BIAS << 10));
}

/* A double that lies between two floats is not rounded twice: the first step rounds to odd. */
uint16_t net_bfloat_of(double number)
{
    if (isnan(number))
        return 0x7fc0;
    uint32_t bits = f32_bits((float)number);
    const double back = f32_of_bits(bits);
    if (back != number && !isinf(back) && (bits & 1) == 0)
        bits = fabs(back) > fabs(number) ? bits - 1 : bits + 1;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

int64_t net_truncate(double number)
{
    if (isnan(number))
        return 0;
    if (number >= 0x1p63)
        return INT64_MAX;
    return number <= -0x1p63 ? INT64_MIN : (int64_t)number;
}

/* ---- runs of elements ---- */

/* Calls M(type, C type, value of *p as a number) for each type whose elements C knows. */
/* clang-format off */
#define PLAIN_TYPES(M) \
    M(F64, double) M(F32, float) M(I8, int8_t) M(U8, uint8_t) M(I16, int16_t) M(U16, uint16_t) M(I32, int32_t) M(U32, uint32_t) \
    M(I64, int64_t) M(U64, uint64_t)
/* clang-format on */

static int sign_of_four(uint8_t byte)
{
    return (int)(byte & 15) - (byte & 8 ? 16 : 0);
}

void net_read_doubles(enum net_type type, const void *data, int64_t first, int64_t stride, size_t count, double *number)
{
    switch (type) {
#define CASE(name, ctype)                                                                                                        \
    case NET_##name: {                                                                                                           \
        const ctype *p = (const ctype *)data + first;                                                                            \
        for (size_t i = 0; i < count; i++)                                                                                       \
            number[i] = (double)p[(int64_t)i * stride];                                                                          \
        break;                                                                                                                   \
    }
        PLAIN_TYPES(CASE)
#undef CASE
    default:
        for (size_t i = 0; i < count; i++) {
            const int64_t at = first + (int64_t)i * stride;
            const uint8_t byte = net_type_bytes(type) == 1 ? ((const uint8_t *)data)[at] : 0;
            if (type == NET_F16)
                number[i] = net_of_half(((const uint16_t *)data)[at]);
            else if (type == NET_BF16)
                number[i] = f32_of_bits((uint32_t)((const uint16_t *)data)[at] << 16);
            else
                number[i] = type == NET_BOOL ? byte != 0 : type == NET_I4 ? sign_of_four(byte) : byte & 15;
        }
    }
}

static uint64_t unsigned_of(double number)
{
    return number >= 0x1p63 ? number >= 0x1p64 ? UINT64_MAX : (uint64_t)number : (uint64_t)net_truncate(number);
}

void net_write_doubles(enum net_type type, void *data, int64_t first, size_t count, const double *number)
{
    switch (type) {
    case NET_F64:
        for (size_t i = 0; i < count; i++)
            ((double *)data)[first + (int64_t)i] = number[i];
        break;
    case NET_F32:
        for (size_t i = 0; i < count; i++)
            ((float *)data)[first + (int64_t)i] = (float)number[i];
        break;
    case NET_F16:
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)data)[first + (int64_t)i] = net_half_of(number[i]);
        break;
    case NET_BF16:
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)data)[first + (int64_t)i] = net_bfloat_of(number[i]);
        break;
    case NET_BOOL:
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)data)[first + (int64_t)i] = number[i] != 0;
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            const int64_t integer = type == NET_U64 ? (int64_t)unsigned_of(number[i]) : net_truncate(number[i]);
            net_write_integers(type, data, first + (int64_t)i, 1, &integer);
        }
    }
}

void net_read_integers(enum net_type type, const void *data, int64_t first, int64_t stride, size_t count, int64_t *number)
{
    double one;
    if (net_type_is_float(type)) {
        for (size_t i = 0; i < count; i++) {
            net_read_doubles(type, data, first + (int64_t)i * stride, 1, 1, &one);
            number[i] = net_truncate(one);
        }
        return;
    }
    switch (type) {
#define CASE(name, ctype)                                                                                                        \
    case NET_##name: {                                                                                                           \
        const ctype *p = (const ctype *)data + first;                                                                            \
        for (size_t i = 0; i < count; i++)                                                                                       \
            number[i] = (int64_t)p[(int64_t)i * stride];                                                                         \
        break;                                                                                                                   \
    }
        PLAIN_TYPES(CASE)
#undef CASE
    default:
        for (size_t i = 0; i < count; i++) {
            const uint8_t byte = ((const uint8_t *)data)[first + (int64_t)i * stride];
            number[i] = type == NET_BOOL ? byte != 0 : type == NET_I4 ? sign_of_four(byte) : byte & 15;
        }
    }
}

void net_write_integers(enum net_type type, void *data, int64_t first, size_t count, const int64_t *number)
{
    switch (type) {
#define CASE(name, ctype)                                                                                                        \
    case NET_##name: {                                                                                                           \
        ctype *p = (ctype *)data + first;                                                                                        \
        for (size_t i = 0; i < count; i++)                                                                                       \
            p[i] = (ctype)number[i];                                                                                             \
        break;                                                                                                                   \
    }
        PLAIN_TYPES(CASE)
#undef CASE
    default:
        for (size_t i = 0; i < count; i++) {
            const double real = (double)number[i];
            if (net_type_is_float(type))
                net_write_doubles(type, data, first + (int64_t)i, 1, &real);
            else if (type == NET_BOOL)
                ((uint8_t *)data)[first + (int64_t)i] = number[i] != 0;
            else
                ((int8_t *)data)[first + (int64_t)i] =
                    (int8_t)(type == NET_I4 ? sign_of_four((uint8_t)number[i]) : number[i] & 15);
        }
    }
}
