/* Kernels in gcc's vector extensions and plain C: any host, AArch64 included. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define VEC_BYTES  16
#define VEC_GROUP  16
#define VEC_INLINE static inline __attribute__((always_inline))

typedef uint32_t vec __attribute__((vector_size(VEC_BYTES)));
typedef uint64_t vec_u64 __attribute__((vector_size(VEC_BYTES)));
typedef uint16_t vec_u16 __attribute__((vector_size(VEC_BYTES)));
typedef int32_t vec_i32 __attribute__((vector_size(VEC_BYTES)));
typedef float vec_f32 __attribute__((vector_size(VEC_BYTES)));
typedef double vec_f64 __attribute__((vector_size(VEC_BYTES)));

VEC_INLINE vec vec_load(const uint8_t *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

VEC_INLINE void vec_store(uint8_t *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

VEC_INLINE vec vec_broadcast32(const uint8_t *lane)
{
    uint32_t value;
    memcpy(&value, lane, sizeof value);
    return (vec){value, value, value, value};
}

VEC_INLINE vec vec_broadcast64(const uint8_t *lane)
{
    uint64_t value;
    memcpy(&value, lane, sizeof value);
    return (vec)(vec_u64){value, value};
}

VEC_INLINE vec vec_fma32(vec x, vec y, vec z)
{
    const vec_f32 a = (vec_f32)x, b = (vec_f32)y, c = (vec_f32)z;
    return (vec)(vec_f32){fmaf(a[0], b[0], c[0]), fmaf(a[1], b[1], c[1]), fmaf(a[2], b[2], c[2]), fmaf(a[3], b[3], c[3])};
}

VEC_INLINE vec vec_fma64(vec x, vec y, vec z)
{
    const vec_f64 a = (vec_f64)x, b = (vec_f64)y, c = (vec_f64)z;
    return (vec)(vec_f64){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])};
}

VEC_INLINE unsigned any_bit(vec v)
{
    const vec_u64 words = (vec_u64)v;
    return (words[0] | words[1]) != 0;
}

VEC_INLINE unsigned vec_any_nan32(vec a, vec b)
{
    return any_bit((vec)((vec_f32)a != (vec_f32)a) | (vec)((vec_f32)b != (vec_f32)b));
}

VEC_INLINE unsigned vec_any_nan64(vec a, vec b)
{
    return any_bit((vec)((vec_f64)a != (vec_f64)a) | (vec)((vec_f64)b != (vec_f64)b));
}

VEC_INLINE vec vec_nan32(vec z)
{
    const vec ordered = (vec)((vec_f32)z == (vec_f32)z);
    return (z & ordered) | (0x7fc00000 & ~ordered);
}

VEC_INLINE vec vec_nan64(vec z)
{
    const vec_u64 ordered = (vec_u64)((vec_f64)z == (vec_f64)z);
    return (vec)(((vec_u64)z & ordered) | (UINT64_C(0x7ff8000000000000) & ~ordered));
}

VEC_INLINE vec vec_mul16(vec x, vec y)
{
    return (vec)((vec_u16)x * (vec_u16)y);
}

VEC_INLINE vec vec_add16(vec x, vec y)
{
    return (vec)((vec_u16)x + (vec_u16)y);
}

VEC_INLINE vec vec_madd16(vec x, vec y)
{
    const vec x_low = (vec)((vec_i32)(x << 16) >> 16), y_low = (vec)((vec_i32)(y << 16) >> 16);
    const vec x_high = (vec)((vec_i32)x >> 16), y_high = (vec)((vec_i32)y >> 16);
    return x_low * y_low + x_high * y_high;
}

VEC_INLINE vec vec_add32(vec x, vec y)
{
    return x + y;
}

/* Rounds f32 lanes that were rounded to odd to the nearest even f16, kept as f32. Below 2^-14 f16 counts units of 2^-24, the last
 * place of numbers near 0.75. */
VEC_INLINE vec round_to_f16(vec v)
{
    const vec sign = v & 0x80000000, magnitude = v & 0x7fffffff;
    const vec rounded = (magnitude + 0xfff + (magnitude >> 13 & 1)) & ~(vec){0x1fff, 0x1fff, 0x1fff, 0x1fff};
    const vec is_small = (vec)(magnitude < 0x38800000);
    const vec is_large = (vec)(rounded >= 0x47800000); /* 65536 and above, infinities and NaNs */
    const vec is_nan = (vec)(magnitude > 0x7f800000);
    const vec small = (vec)(((vec_f32)magnitude + 0.75f) - 0.75f);
    const vec normal = (rounded & ~is_large) | (0x7f800000 & is_large);
    return (small & is_small) | (normal & ~is_small) | sign | (0x400000 & is_nan);
}

/* x*y + z of f16 values held in f32, rounded once: the product is exact in f32 (22 bits); the sum's error is known exactly
 * (two-sum) and makes its last bit odd before the rounding to f16. */
#define HAVE_FMA_F16_32
VEC_INLINE vec vec_fma_f16_32(vec x, vec y, vec z)
{
    const vec_f32 a = (vec_f32)x * (vec_f32)y, b = (vec_f32)z;
    const vec_f32 sum = a + b;
    const vec_f32 b_part = sum - a;
    const vec_f32 lost = (a - (sum - b_part)) + (b - b_part);
    const vec_f32 zero = {0};
    const vec inexact = (vec)(lost < zero) | (vec)(lost > zero); /* false for NaN */
    const vec even = ((vec)sum & 1) - 1;
    /* +1 where the lost part points away from zero, -1 where it points toward zero. */
    const vec signs_differ = (vec)((vec_i32)((vec)sum ^ (vec)lost) >> 31);
    return round_to_f16((vec)sum + (inexact & even & (signs_differ | 1)));
}

#include "units/amx/amx_kernel_kinds.h"

const struct amx_kernel_set amx_kernels_portable = KERNEL_SET("portable", &amx_dispatch_portable);
