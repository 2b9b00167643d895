/* Integer arithmetic of the loop: sums and comparisons with their flags, shifts, division, rotation. */
#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_ALU_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_ALU_H

#include "units/cpu/cpu_exec.h"

/* An extended or bit-field operand: shifted left by op->a, then right by op->b. */
static inline uint64_t alu_shift_pair(uint64_t value, const struct cpu_op *op, bool is_signed)
{
    const uint64_t up = value << op->a;
    return is_signed ? (uint64_t)((int64_t)up >> op->b) : up >> op->b;
}

static inline uint64_t alu_add_flags_w(struct cpu_flags *f, uint32_t a, uint32_t b, uint32_t carry)
{
    const uint64_t sum = (uint64_t)a + b + carry;
    const uint32_t r = (uint32_t)sum;
    f->n = (int32_t)r;
    f->z = r;
    f->c = sum >> 32;
    f->v = ((a ^ r) & (b ^ r)) >> 31;
    return r;
}

static inline uint64_t alu_add_flags_x(struct cpu_flags *f, uint64_t a, uint64_t b, uint64_t carry)
{
    uint64_t r;
    const bool c1 = __builtin_add_overflow(a, b, &r), c2 = __builtin_add_overflow(r, carry, &r);
    f->n = (int64_t)r;
    f->z = r;
    f->c = c1 | c2;
    f->v = ((a ^ r) & (b ^ r)) >> 63;
    return r;
}

static inline uint64_t alu_compare_w(struct cpu_flags *f, uint32_t a, uint32_t b)
{
    const uint32_t r = a - b;
    f->n = (int32_t)r;
    f->z = r;
    f->c = a >= b;
    f->v = ((a ^ b) & (a ^ r)) >> 31;
    return r;
}

static inline uint64_t alu_compare_x(struct cpu_flags *f, uint64_t a, uint64_t b)
{
    const uint64_t r = a - b;
    f->n = (int64_t)r;
    f->z = r;
    f->c = a >= b;
    f->v = ((a ^ b) & (a ^ r)) >> 63;
    return r;
}

static inline uint64_t alu_logic_flags(struct cpu_flags *f, uint64_t r, bool is_w)
{
    f->n = is_w ? (int32_t)r : (int64_t)r;
    f->z = r;
    f->c = f->v = 0;
    return r;
}

static inline uint64_t alu_divide_signed(uint64_t a, uint64_t b, bool is_w)
{
    const int64_t n = is_w ? (int32_t)a : (int64_t)a, d = is_w ? (int32_t)b : (int64_t)b;
    if (d == 0)
        return 0;
    return d == -1 ? 0 - (uint64_t)n : (uint64_t)(n / d);
}

static inline uint32_t alu_rotate_w(uint32_t v, unsigned by)
{
    return v >> (by & 31) | v << (-by & 31);
}

static inline uint64_t alu_rotate_x(uint64_t v, unsigned by)
{
    return v >> (by & 63) | v << (-by & 63);
}

#endif
