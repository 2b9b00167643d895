/* Division, remainders and shifts of whole numbers, which the device has no instruction for, or none for all distances.
 * 32 bits and bytes: a quotient through the floating-point reciprocal of the divisor, brought within one step of Newton's method
 * and corrected twice (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994, have the
 * arithmetic; compilers of GPUs divide so). 64 bits: one bit of the quotient after the other.
 * As on cores, what divides by 0 is 0, its remainder is what was divided, and the least number by -1 wraps. */
#include "units/gpu/kernels/gpu_whole.h"

/* Registers of its own: numbers without their signs, quotient, rest, signs; of 64 bits in pairs. */
enum { X = 0, Y = 2, REST = 4, SIGN_X = 6, SIGN_Y = 7, TURN = 8 };

/* to = (from ^ sign) - sign: its magnitude, or its negative, where sign is all ones. `wide`: of two words each. */
static void emit_sign(const struct whole *w, unsigned to, unsigned from, unsigned sign, bool wide)
{
    if (!wide) {
        gpu_emit(w->e, "xor r%u, r%u, r%u", w->r, from, sign);
        gpu_emit(w->e, "isub r%u, r%u, r%u", to, w->r, sign);
        return;
    }
    for (unsigned k = 0; k < 2; k++) {
        gpu_emit(w->e, "xor r%u, r%u, r%u", w->r + k, from + k, sign);
        gpu_mov(w->e, w->r + 2 + k, sign);
    }
    gpu_emit(w->e, "isub r%u_r%u, r%u_r%u, r%u_r%u", to, to + 1, w->r, w->r + 1, w->r + 2, w->r + 3);
}

/* X, REST = X / Y and what is left, without signs, of 32 bits. */
static void emit_quotient(const struct whole *w)
{
    const unsigned x = w->own + X, y = w->own + Y, rest = w->own + REST, r = w->r;
    gpu_emit(w->e, "convert u32_to_f, r%u, r%u, rte", r, y);
    gpu_emit(w->e, "rcp r%u, r%u", r, r);
    gpu_emit(w->e, "fmul32 r%u, r%u, %s", r, r, gpu_float(w->e, 0x1.fffffcp+31F)); /* below 2^32 by more than the errors */
    gpu_emit(w->e, "convert f_to_u32, r%u, r%u, rtz", r + 2, r);
    gpu_emit(w->e, "isub r%u, 0, r%u", r + 3, y);
    gpu_emit(w->e, "imadd r%u, r%u, r%u, 0", r, r + 3, r + 2);
    gpu_emit(w->e, "imadd r%u_r%u, r%u, r%u, 0", r, r + 1, r + 2, r);
    gpu_emit(w->e, "iadd r%u, r%u, r%u", r + 2, r + 2, r + 1);
    gpu_emit(w->e, "imadd r%u_r%u, r%u, r%u, 0", r, r + 1, x, r + 2);
    gpu_emit(w->e, "imadd r%u, r%u, r%u, r%u", rest, r + 1, r + 3, x);
    gpu_mov(w->e, r + 2, x);
    gpu_mov(w->e, x, r + 1);
    for (unsigned i = 0; i < 2; i++) {
        gpu_emit(w->e, "icmpsel ult, r%u, r%u, r%u, 0, 1", r, rest, y);
        gpu_emit(w->e, "isub r%u, r%u, r%u", r + 1, rest, y);
        gpu_emit(w->e, "icmpsel ult, r%u, r%u, r%u, r%u, r%u", rest, rest, y, rest, r + 1);
        gpu_emit(w->e, "iadd r%u, r%u, r%u", x, x, r);
    }
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, 0, r%u", x, y, x);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", rest, y, r + 2, rest);
}

/* The same of 64 bits: the dividend leaves at its high end, bit by bit, while the quotient comes in at the low one. */
static void emit_long_quotient(const struct whole *w)
{
    enum { BITS = 64 };
    const unsigned x = w->own + X, y = w->own + Y, rest = w->own + REST, r = w->r, turn = w->own + TURN;
    gpu_clear_words(w->e, rest, 2);
    gpu_mov_imm(w->e, turn, 0);
    gpu_do(w->e);
    gpu_shr(w->e, r, x + 1, 31);
    gpu_emit(w->e, "iadd r%u_r%u, r%u_r%u, r%u_r%u", rest, rest + 1, rest, rest + 1, rest, rest + 1);
    gpu_emit(w->e, "or r%u, r%u, r%u", rest, rest, r);
    gpu_emit(w->e, "iadd r%u_r%u, r%u_r%u, r%u_r%u", x, x + 1, x, x + 1, x, x + 1);
    gpu_emit(w->e, "icmpsel ult, r%u, r%u, r%u, 1, 0", r, rest, y);
    gpu_emit(w->e, "icmpsel ult, r%u, r%u, r%u, 1, 0", r + 1, rest + 1, y + 1);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, r%u, r%u, r%u", r, rest + 1, y + 1, r, r + 1);
    gpu_emit(w->e, "isub r%u_r%u, r%u_r%u, r%u_r%u", r + 2, r + 3, rest, rest + 1, y, y + 1);
    for (unsigned k = 0; k < 2; k++)
        gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", rest + k, r, r + 2 + k, rest + k);
    gpu_emit(w->e, "xor r%u, r%u, 1", r, r);
    gpu_emit(w->e, "or r%u, r%u, r%u", x, x, r);
    gpu_add_imm(w->e, turn, turn, 1);
    gpu_while(w->e, "ult", gpu_r(w->e, turn), gpu_int(w->e, BITS));
    gpu_emit(w->e, "or r%u, r%u, r%u", r, y, y + 1);
    for (unsigned k = 0; k < 2; k++)
        gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, 0, r%u", x + k, r, x + k);
}

/* to = the rest, and the divisor more where it is of the other sign: remainders of the sign of the divisor. */
static void emit_modulus(const struct whole *w, unsigned y, unsigned to, bool wide)
{
    const unsigned rest = w->own + REST, top = wide ? 1 : 0, r = w->r;
    if (wide)
        gpu_emit(w->e, "iadd r%u_r%u, r%u_r%u, r%u_r%u", r, r + 1, rest, rest + 1, y, y + 1);
    else
        gpu_emit(w->e, "iadd r%u, r%u, r%u", r, rest, y);
    gpu_emit(w->e, "xor r%u, r%u, r%u", r + 2, rest + top, y + top);
    gpu_emit(w->e, "icmpsel slt, r%u, r%u, 0, 1, 0", r + 2, r + 2);
    if (wide)
        gpu_emit(w->e, "or r%u, r%u, r%u", r + 3, rest, rest + 1);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, 0, r%u", r + 2, wide ? r + 3 : rest, r + 2);
    for (unsigned k = 0; k <= top; k++)
        gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", to + k, r + 2, rest + k, r + k);
}

void gpu_whole_divide(const struct whole *w, enum gpu_whole_part part, unsigned a, unsigned b, unsigned to)
{
    const bool wide = w->out.of == I64, is_signed = w->out.of != U8;
    const unsigned x = w->own + X, y = w->own + Y, rest = w->own + REST, width = wide ? 2 : 1;
    for (unsigned k = 0; k < width; k++) {
        gpu_mov(w->e, x + k, a + k);
        gpu_mov(w->e, y + k, b + k);
    }
    for (unsigned k = 0; is_signed && k < 2; k++) {
        gpu_emit(w->e, "asr r%u, r%u, 31", w->own + SIGN_X + k, (k ? b : a) + width - 1);
        emit_sign(w, k ? y : x, k ? y : x, w->own + SIGN_X + k, wide);
    }
    if (wide)
        emit_long_quotient(w);
    else
        emit_quotient(w);
    if (is_signed && part != GPU_WHOLE_QUOTIENT)
        emit_sign(w, rest, rest, w->own + SIGN_X, wide);
    if (is_signed && part == GPU_WHOLE_QUOTIENT) {
        gpu_emit(w->e, "xor r%u, r%u, r%u", w->own + SIGN_X, w->own + SIGN_X, w->own + SIGN_Y);
        emit_sign(w, x, x, w->own + SIGN_X, wide);
    }
    if (is_signed && part == GPU_WHOLE_MODULUS) {
        emit_modulus(w, b, to, wide);
        return;
    }
    for (unsigned k = 0; k < width; k++)
        gpu_mov(w->e, to + k, (part == GPU_WHOLE_QUOTIENT ? x : rest) + k);
}

/* ---- shifts: as far as the type is wide, or further, nothing is left ---- */

static const char *shift_name(bool left)
{
    return left ? "bfi" : "bfeil";
}

/* Both words by less than 32; what leaves one comes into the other, in two steps because none may be as far as 32. By 32 and
 * more, a word takes the other's place. */
static void shift_long(const struct whole *w, bool left, unsigned a, unsigned b, unsigned to)
{
    const unsigned near = a + !left, far = a + left, r = w->r, x = w->own + X; /* bits leave `near` for `far` */
    gpu_and_imm(w->e, r, b, 31);
    gpu_emit(w->e, "isub r%u, %s, r%u", r + 1, gpu_int(w->e, 31), r);
    gpu_emit(w->e, "%s r%u, 0, r%u, 1", shift_name(!left), r + 2, near);
    gpu_emit(w->e, "%s r%u, 0, r%u, r%u", shift_name(!left), r + 2, r + 2, r + 1);
    gpu_emit(w->e, "%s r%u, 0, r%u, r%u", shift_name(left), r + 3, far, r);
    gpu_emit(w->e, "or r%u, r%u, r%u", x + 1, r + 3, r + 2);
    gpu_emit(w->e, "%s r%u, 0, r%u, r%u", shift_name(left), x, near, r);
    gpu_and_imm(w->e, r, b, 32);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", x + 1, r, x + 1, x);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, r%u, 0", x, r, x);
    gpu_emit(w->e, "icmpsel ult, r%u, r%u, 64, 1, 0", r, b);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, r%u, 0", r, b + 1, r);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, 0, r%u", to + left, r, x + 1);
    gpu_emit(w->e, "icmpsel ueq, r%u, r%u, 0, 0, r%u", to + !left, r, x);
}

void gpu_whole_shift(const struct whole *w, bool left, unsigned a, unsigned b, unsigned to)
{
    if (w->out.of == I64) {
        shift_long(w, left, a, b, to);
        return;
    }
    gpu_and_imm(w->e, w->r, b, 31);
    gpu_emit(w->e, "%s r%u, 0, r%u, r%u", shift_name(left), w->r, a, w->r);
    gpu_emit(w->e, "icmpsel ult, r%u, r%u, %d, r%u, 0", to, b, w->out.of == U8 ? 8 : 32, w->r);
}
