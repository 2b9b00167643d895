/* Integer arithmetic with constants, and operations over the lanes of a simdgroup. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_emit.h"

#include <string.h>

void gpu_mov_imm(struct gpu_emit *e, unsigned to, uint32_t value)
{
    gpu_emit(e, "mov_imm r%u, %u", to, (unsigned)value);
}

void gpu_clear_words(struct gpu_emit *e, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gpu_mov_imm(e, first + i, 0);
}

void gpu_mov(struct gpu_emit *e, unsigned to, unsigned from)
{
    gpu_emit(e, "mov r%u, r%u", to, from);
}

void gpu_add_imm(struct gpu_emit *e, unsigned to, unsigned from, int64_t value)
{
    if (value < 0)
        gpu_emit(e, "isub r%u, r%u, %s", to, from, gpu_int(e, (uint32_t)-value));
    else
        gpu_emit(e, "iadd r%u, r%u, %s", to, from, gpu_int(e, (uint32_t)value));
}

void gpu_shl(struct gpu_emit *e, unsigned to, unsigned from, unsigned bits)
{
    gpu_emit(e, "bfi r%u, 0, r%u, %u", to, from, bits);
}

void gpu_shr(struct gpu_emit *e, unsigned to, unsigned from, unsigned bits)
{
    gpu_emit(e, "bfeil r%u, 0, r%u, %u", to, from, bits);
}

void gpu_and_imm(struct gpu_emit *e, unsigned to, unsigned from, uint32_t mask)
{
    gpu_emit(e, "and r%u, r%u, %s", to, from, gpu_int(e, mask));
}

static unsigned log2_of(uint32_t value)
{
    return 31U - (unsigned)__builtin_clz(value);
}

static bool is_power_of_two(uint32_t value)
{
    return value && !(value & (value - 1));
}

/* iadd can shift its second term by up to 4; other factors need the multiplier. */
void gpu_mad_imm(struct gpu_emit *e, unsigned to, unsigned a, uint32_t factor, unsigned b)
{
    const bool shifted = is_power_of_two(factor) && factor <= 16;
    const char *addend = b == GPU_NO_REGISTER ? "0" : gpu_r(e, b);
    if (factor == 1 && b == GPU_NO_REGISTER)
        gpu_mov(e, to, a);
    else if (factor == 1)
        gpu_emit(e, "iadd r%u, %s, r%u", to, addend, a);
    else if (shifted)
        gpu_emit(e, "iadd r%u, %s, r%u, lsl %u", to, addend, a, log2_of(factor));
    else
        gpu_emit(e, "imadd r%u, r%u, %s, %s", to, a, gpu_int(e, factor), addend);
}

void gpu_far_begin(struct gpu_emit *e, unsigned first, struct gpu_base base)
{
    const char file = base.in_registers ? 'r' : 'u';
    gpu_emit(e, "mov r%u, %c%u", first, file, base.number);
    gpu_emit(e, "mov r%u, %c%u", first + 1, file, base.number + 1);
}

/* The multiplier takes 32 bits by 32: the upper half of the factor only moves the upper word. */
void gpu_far_add(struct gpu_emit *e, unsigned first, unsigned place, uint64_t bytes)
{
    const uint32_t low = (uint32_t)bytes, high = (uint32_t)(bytes >> 32);
    const char *pair = gpu_run(e, first, 2);
    if (low)
        gpu_emit(e, "imadd %s, r%u, %s, %s", pair, place, gpu_int(e, low), pair);
    if (high)
        gpu_emit(e, "imadd r%u, r%u, %s, r%u", first + 1, place, gpu_int(e, high), first + 1);
}

void gpu_min_imm(struct gpu_emit *e, unsigned to, unsigned from, uint32_t most)
{
    const char *bound = gpu_int(e, most);
    gpu_emit(e, "icmpsel ult, r%u, r%u, %s, r%u, %s", to, from, bound, from, bound);
}

/* n / d for n < 2^31: the high part of n * ceil(2^(31 + l) / d), l = ceil(log2 d). The product is too large by less than n * 2^l
 * / d < 2^(31 + l) / d, so the quotient is exact. */
static void quotient_by_product(struct gpu_emit *e, unsigned to, unsigned n, uint32_t divisor)
{
    const unsigned l = log2_of(divisor - 1) + 1, pair = gpu_register(e, 2);
    const uint32_t factor = (uint32_t)(((UINT64_C(1) << (31 + l)) + divisor - 1) / divisor);
    gpu_emit(e, "imadd r%u_r%u, r%u, %s, 0", pair, pair + 1, n, gpu_argument_u32(e, factor));
    gpu_shr(e, to, pair + 1, l - 1);
    gpu_register_free(e, pair, 2);
}

void gpu_divide_imm(struct gpu_emit *e, unsigned quotient, unsigned remainder, unsigned n, uint32_t divisor)
{
    const bool own = quotient == GPU_NO_REGISTER && !is_power_of_two(divisor);
    const unsigned q = own ? gpu_register(e, 1) : quotient;
    if (is_power_of_two(divisor)) {
        if (remainder != GPU_NO_REGISTER)
            gpu_and_imm(e, remainder, n, divisor - 1);
        if (q != GPU_NO_REGISTER)
            gpu_shr(e, q, n, log2_of(divisor));
        return;
    }
    quotient_by_product(e, q, n, divisor);
    if (remainder != GPU_NO_REGISTER)
        gpu_emit(e, "imsub r%u, r%u, %s, r%u", remainder, q, gpu_int(e, divisor), n);
    if (remainder != GPU_NO_REGISTER)
        gpu_emit(e, "isub r%u, 0, r%u", remainder, remainder);
    if (own)
        gpu_register_free(e, q, 1);
}

/* ---- operations over lanes ---- */

static const char *reduction(const char *op)
{
    static const char *const names[][2] = {{"fadd", "simd_fadd"},  {"fmul", "simd_fmul"},  {"fmax", "simd_max.f"},
                                           {"fmin", "simd_min.f"}, {"umin", "simd_min.u"}, {"iadd", "simd_iadd"}};
    for (unsigned i = 0; i < ARRAY_COUNT(names); i++)
        if (strcmp(names[i][0], op) == 0)
            return names[i][1];
    return op;
}

void gpu_simd_reduce(struct gpu_emit *e, const char *op, unsigned to, unsigned from)
{
    gpu_emit(e, "%s r%u, r%u", reduction(op), to, from);
}

void gpu_lanes_reduce(struct gpu_emit *e, const char *op, unsigned value, unsigned lane_bits, unsigned scratch)
{
    for (unsigned bit = 1; bit < 32; bit <<= 1) {
        if (!(lane_bits & bit))
            continue;
        gpu_emit(e, "simd_shuffle_xor r%u, r%u, %u", scratch, value, bit);
        if (strcmp(op, "fmax") == 0)
            gpu_emit(e, "fcmpsel gtn, r%u, r%u, r%u, r%u, r%u", value, value, scratch, value, scratch);
        else
            gpu_emit(e, "fadd32 r%u, r%u, r%u", value, value, scratch);
    }
}
