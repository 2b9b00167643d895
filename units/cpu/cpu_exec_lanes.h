/* Access to the elements of vectors by size (log2 bytes). */
#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_LANES_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_LANES_H

#include "units/cpu/cpu_exec.h"

static inline uint64_t cpu_lane(const union cpu_vec *v, unsigned size, unsigned i)
{
    switch (size) {
    case 0: return v->u8[i];
    case 1: return v->u16[i];
    case 2: return v->u32[i];
    default: return v->u64[i];
    }
}

static inline int64_t cpu_lane_signed(const union cpu_vec *v, unsigned size, unsigned i)
{
    switch (size) {
    case 0: return v->s8[i];
    case 1: return v->s16[i];
    case 2: return v->s32[i];
    default: return v->s64[i];
    }
}

static inline void cpu_set_lane(union cpu_vec *v, unsigned size, unsigned i, uint64_t value)
{
    switch (size) {
    case 0: v->u8[i] = (uint8_t)value; break;
    case 1: v->u16[i] = (uint16_t)value; break;
    case 2: v->u32[i] = (uint32_t)value; break;
    default: v->u64[i] = value; break;
    }
}

/* Writes the destination of a vector instruction: one on 64 bits clears the upper half. */
static inline void cpu_set_vector(struct cpu_core *core, const struct a64_insn *insn, union cpu_vec value)
{
    if (!insn->q)
        value.u64[1] = 0;
    core->v[insn->rd] = value;
}

#endif
