/* Handlers for any host: 4 lanes per GNU vector; denormals are flushed in code. */
#include "units/gpu/gpu_exec.h"
#include "units/gpu/gpu_vector_sets.h"

#include <math.h>

#define VECTOR_BYTES 16
#define HOST_FLUSHES 0
typedef uint32_t vu __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES)));
typedef float vf __attribute__((vector_size(VECTOR_BYTES)));
typedef double vd __attribute__((vector_size(VECTOR_BYTES)));

static inline uint32_t vec_bits(vu lanes)
{
    return (lanes[0] & 1) | (lanes[1] & 2) | (lanes[2] & 4) | (lanes[3] & 8);
}

#include "units/gpu/gpu_vector_common.h"

static inline vu vec_select(uint32_t bits, vu yes, vu no)
{
    const vu places = {1, 2, 4, 8};
    return vec_choose((vu)(((bits - (vu){0}) & places) != 0), yes, no);
}

static inline vf vec_fma(vf a, vf b, vf c)
{
    return (vf){fmaf(a[0], b[0], c[0]), fmaf(a[1], b[1], c[1]), fmaf(a[2], b[2], c[2]), fmaf(a[3], b[3], c[3])};
}

static inline vf vec_from_half(vu half)
{
    const vu sign = (half & 0x8000) << 16, magnitude = half & 0x7fff;
    const vu normal = (magnitude << 13) + (112U << 23);
    const vu huge = normal + (112U << 23); /* infinity and NaN */
    const vf small = __builtin_convertvector((vi)magnitude, vf) * 0x1p-24f;
    const vu finite = vec_choose((vu)(magnitude < 0x400), (vu)small, normal);
    return (vf)(vec_choose((vu)(magnitude >= 0x7c00), huge, finite) | sign);
}

static inline vu vec_to_half(vf value)
{
    const vu bits = (vu)value, sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    const vu normal = (magnitude - (112U << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const vu small = (vu)((vf)magnitude + 0.5f) - 0x3f000000; /* the sum rounds to steps of 2^-24 */
    const vu infinity = (vu){0} + 0x7c00, nan = (vu){0} + 0x7e00;
    const vu finite = vec_choose((vu)(magnitude < 0x38800000), small, normal);
    const vu all = vec_choose((vu)(magnitude >= 0x477ff000), infinity, finite);
    return vec_choose((vu)(magnitude > 0x7f800000), nan, all | sign);
}

/* Rounding to whole numbers. */
#define ROUND(name, function)                                                                                                    \
    static inline vf name(vf x)                                                                                                  \
    {                                                                                                                            \
        return (vf){function(x[0]), function(x[1]), function(x[2]), function(x[3])};                                             \
    }
ROUND(vec_floor, floorf)
ROUND(vec_ceil, ceilf)
ROUND(vec_trunc, truncf)
ROUND(vec_rint, rintf)
#undef ROUND

/* Converts the first and the last lanes to doubles, and back. */
static inline vd vec_wide_low(vf x)
{
    return (vd){(double)x[0], (double)x[1]};
}

static inline vd vec_wide_high(vf x)
{
    return (vd){(double)x[2], (double)x[3]};
}

static inline vf vec_narrow(vd low, vd high)
{
    return (vf){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
}

/* Rounds twice: exact enough for its users, and without a call. */
static inline vd vec_wide_fma(vd a, vd b, vd c)
{
    return a * b + c;
}

static inline vd vec_inverse_root(vd x)
{
    return (vd){1.0 / sqrt(x[0]), 1.0 / sqrt(x[1])};
}

/* Bytes at base + offset of active lanes, 0 for others. */
static inline vu vec_gather(const uint8_t *base, vu offset, uint32_t active, unsigned item)
{
    return gather_each(base, offset, active, item);
}

/* Loads contiguous words of active lanes only. */
static inline vu vec_load_active(const uint8_t *from, uint32_t active)
{
    return gather_each(from, (vu){0, 4, 8, 12}, active, 4);
}

static unsigned enter(void)
{
    return 0;
}

static void leave(unsigned state)
{
    (void)state;
}

#include "units/gpu/gpu_vector_body.h"

const struct gpu_vector_set gpu_vectors_portable = VECTOR_SET("portable");
