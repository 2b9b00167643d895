#include "units/amx/amx_kernel_vec512.h"

#define HAVE_NATIVE_F16
VEC_INLINE vec vec_fma16(vec x, vec y, vec z)
{
    __asm__("vfmadd231ph %2, %1, %0" : "+v"(z) : "v"(x), "v"(y));
    return z;
}

VEC_INLINE unsigned vec_any_nan16(vec a, vec b)
{
    return _mm512_cmp_ph_mask(_mm512_castsi512_ph(a), _mm512_castsi512_ph(b), _CMP_UNORD_Q);
}

VEC_INLINE vec vec_nan16(vec z)
{
    const __mmask32 nan = _mm512_cmp_ph_mask(_mm512_castsi512_ph(z), _mm512_castsi512_ph(z), _CMP_UNORD_Q);
    return _mm512_mask_mov_epi16(z, nan, _mm512_set1_epi16(0x7e00));
}

/* One lane for all: the load port broadcasts it. */
struct lane16 {
    uint8_t bytes[2];
};
VEC_INLINE vec vec_fma16_lane(vec x, const uint8_t *lane, vec z)
{
    __asm__("vfmadd231ph %2%{1to32%}, %1, %0" : "+v"(z) : "v"(x), "m"(*(const struct lane16 *)lane));
    return z;
}

#define HAVE_MADD_ADD
VEC_INLINE vec vec_madd_add32(vec x, const uint8_t *lane, vec z)
{
    __asm__("vpdpwssd %2, %1, %0" : "+v"(z) : "v"(x), "v"(vec_broadcast32(lane)));
    return z;
}

#include "units/amx/amx_kernel_kinds.h"

const struct amx_kernel_set amx_kernels_avx512fp16 = KERNEL_SET("avx512fp16", &amx_dispatch_avx512);
