#include "units/gpu/gpu_exec_format.h"

#include "isa/agx/agx_isa.h"
#include "units/gpu/gpu_exec_numeric.h"

uint32_t gpu_format_bytes(unsigned format)
{
    switch (format) {
    case AGX_FORMAT_I8:
    case AGX_FORMAT_U8NORM:
    case AGX_FORMAT_S8NORM:
    case AGX_FORMAT_SRGBA8: return 1;
    case AGX_FORMAT_I16:
    case AGX_FORMAT_F16:
    case AGX_FORMAT_U16NORM:
    case AGX_FORMAT_S16NORM: return 2;
    default: return 4;
    }
}

unsigned gpu_format_packed(unsigned format)
{
    if (format == AGX_FORMAT_RGB10A2)
        return 4;
    return format >= AGX_FORMAT_RG11B10F ? 3 : 0;
}

/* --- loading --- */

static double normalised(int64_t value, int64_t top)
{
    return (double)(value < -top ? -top : value) / (double)top;
}

/* Colours are quantised to 12 bits; the fourth component is not. */
static double srgb_to_linear(unsigned c, uint32_t raw)
{
    const double v = raw / 255.0;
    if (c == 3)
        return v;
    const double linear = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
    return rint(linear * 4095) / 4095;
}

/* Unsigned floats with 6 (5) fraction bits and 5 exponent bits. */
static double small_float(uint32_t bits, unsigned fraction_bits)
{
    const uint32_t exponent = bits >> fraction_bits, fraction = bits & ((1U << fraction_bits) - 1);
    if (exponent == 31)
        return fraction ? (double)NAN : (double)INFINITY;
    if (exponent == 0)
        return ldexp(fraction, -14 - (int)fraction_bits);
    return ldexp(fraction + (1U << fraction_bits), (int)exponent - 15 - (int)fraction_bits);
}

static double load_value(unsigned format, unsigned c, uint32_t raw)
{
    switch (format) {
    case AGX_FORMAT_U8NORM: return normalised((uint8_t)raw, UINT8_MAX);
    case AGX_FORMAT_S8NORM: return normalised((int8_t)raw, INT8_MAX);
    case AGX_FORMAT_U16NORM: return normalised((uint16_t)raw, UINT16_MAX);
    case AGX_FORMAT_S16NORM: return normalised((int16_t)raw, INT16_MAX);
    case AGX_FORMAT_RGB10A2: return c == 3 ? normalised(raw >> 30, 3) : normalised(raw >> 10 * c & 1023, 1023);
    case AGX_FORMAT_SRGBA8: return srgb_to_linear(c, raw);
    case AGX_FORMAT_RG11B10F:
    case AGX_FORMAT_RG11B10F_RTZ: return c == 2 ? small_float(raw >> 22, 5) : small_float(raw >> 11 * c & 0x7ff, 6);
    default: return ldexp(raw >> 9 * c & 511, (int)(raw >> 27) - 24); /* rgb9e5: m/512 * 2^(e-15) */
    }
}

uint32_t gpu_format_load(unsigned format, unsigned c, uint32_t raw, bool wide)
{
    if (format <= AGX_FORMAT_F16)
        return raw;
    const double value = load_value(format, c, raw);
    return wide ? gpu_float_from_double(value, false) : gpu_half_from_double(value, false);
}

/* --- storing --- */

static double clamped(double value, double low, double high)
{
    return isnan(value) ? 0 : value < low ? low : value > high ? high : value;
}

static uint32_t to_normalised(double value, bool is_signed, double top)
{
    return (uint32_t)(int32_t)rint(clamped(value, is_signed ? -1 : 0, 1) * top);
}

static uint32_t linear_to_srgb(unsigned c, double value)
{
    const double v = clamped(value, 0, 1);
    const double curved = v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
    return (uint32_t)rint((c == 3 ? v : curved) * 255);
}

static double rounded(double value, bool to_zero)
{
    return to_zero ? trunc(value) : rint(value);
}

static uint32_t to_small_float(double value, unsigned fraction_bits, bool to_zero)
{
    const uint32_t infinity = 31U << fraction_bits;
    if (isnan(value))
        return infinity | 1U << (fraction_bits - 1);
    if (value <= 0)
        return 0;
    if (isinf(value))
        return infinity;
    int exponent;
    (void)frexp(value, &exponent); /* value = f * 2^exponent, f in [0.5, 1) */
    const int scale = exponent - 1 < -14 ? -14 : exponent - 1;
    const double steps = rounded(ldexp(value, (int)fraction_bits - scale), to_zero);
    /* A carry out of the fraction increments the exponent by itself. */
    const double bits = steps + ldexp(scale + 14, (int)fraction_bits);
    if (bits >= infinity)
        return to_zero ? infinity - 1 : infinity;
    return (uint32_t)bits;
}

/* The shared exponent is that of the largest component (EXT_texture_shared_exponent). */
static uint32_t to_shared_exponent(const double value[3], bool to_zero)
{
    const double most = 511.0 / 512 * 65536;
    double part[3], largest = 0;
    for (unsigned i = 0; i < 3; i++) {
        part[i] = clamped(value[i], 0, most);
        largest = part[i] > largest ? part[i] : largest;
    }
    int exponent = 0;
    if (largest > 0)
        (void)frexp(largest, &exponent); /* floor(log2) + 1 */
    exponent = exponent < -15 || largest <= 0 ? -15 : exponent;
    if (rounded(ldexp(largest, 9 - exponent), to_zero) >= 512)
        exponent++;
    uint32_t out = (uint32_t)(exponent + 15) << 27;
    for (unsigned i = 0; i < 3; i++)
        out |= (uint32_t)rounded(ldexp(part[i], 9 - exponent), to_zero) << 9 * i;
    return out;
}

static uint32_t store_packed(unsigned format, const double value[4])
{
    const bool to_zero = format == AGX_FORMAT_RG11B10F_RTZ || format == AGX_FORMAT_RGB9E5_RTZ;
    switch (format) {
    case AGX_FORMAT_RGB10A2:
        return to_normalised(value[0], false, 1023) | to_normalised(value[1], false, 1023) << 10 |
               to_normalised(value[2], false, 1023) << 20 | to_normalised(value[3], false, 3) << 30;
    case AGX_FORMAT_RG11B10F:
    case AGX_FORMAT_RG11B10F_RTZ:
        return to_small_float(value[0], 6, to_zero) | to_small_float(value[1], 6, to_zero) << 11 |
               to_small_float(value[2], 5, to_zero) << 22;
    default: return to_shared_exponent(value, to_zero);
    }
}

uint32_t gpu_format_store(unsigned format, unsigned c, const uint32_t value[4], bool wide)
{
    if (format <= AGX_FORMAT_F16)
        return value[0];
    double number[4];
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t bits = wide ? gpu_flush32(value[i]) : gpu_float_from_half((uint16_t)value[i]);
        number[i] = (double)f32_of_bits(bits);
    }
    switch (format) {
    case AGX_FORMAT_U8NORM: return to_normalised(number[0], false, UINT8_MAX);
    case AGX_FORMAT_S8NORM: return to_normalised(number[0], true, INT8_MAX);
    case AGX_FORMAT_U16NORM: return to_normalised(number[0], false, UINT16_MAX);
    case AGX_FORMAT_S16NORM: return to_normalised(number[0], true, INT16_MAX);
    case AGX_FORMAT_SRGBA8: return linear_to_srgb(c, number[0]);
    default: return store_packed(format, number);
    }
}
