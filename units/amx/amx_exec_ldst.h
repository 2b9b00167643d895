/* Loads and stores: which registers, how many bytes, and what can go wrong (github corsix/amx ldst.md). */
#ifndef ORCHARD_UNITS_AMX_AMX_EXEC_LDST_H
#define ORCHARD_UNITS_AMX_AMX_EXEC_LDST_H

#include "isa/amx/amx_isa.h"
#include "units/amx/amx_exec_parts.h"
#include "units/mem/mem_space.h"
#include "units/unit_fault.h"

#define AMX_PAIR_BIT (UINT64_C(1) << 62)

struct amx_transfer {
    uint8_t *host;               /* the bytes in host memory */
    uint8_t count;               /* registers, 1, 2 or 4 */
    uint8_t first, stride, wrap; /* register k is (first + k*stride) mod wrap */
};

static inline unsigned amx_transfer_register(const struct amx_transfer *t, unsigned k)
{
    return (t->first + k * t->stride) % t->wrap;
}

/* Decodes op 0..7 and finds its memory. Returns false when it faults. */
bool amx_transfer_prepare(struct amx_transfer *t, const struct mem_space *space, unsigned op, uint64_t operand, enum amx_gen gen,
                          struct unit_fault *fault);

/* Moves the bytes of op 0..7 between `regs` and memory; *t was prepared before. */
void amx_transfer_run(const struct amx_transfer *t, const struct amx_regs *regs, unsigned op, uint64_t operand);

#endif
