/* What a core executed: the basic blocks that ran and the addresses they touched, in order. Written by the executing side
 * (cpu_core.h), read by the timing side (cpu_timing.h). No data values.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_TRACE_H
#define ORCHARD_UNITS_CPU_CPU_TRACE_H

#include "isa/a64/a64_isa.h"

/* Straight-line code up to and including the instruction that may leave it. Blocks live as long as the core. */
struct cpu_block {
    uint64_t pc;
    uint32_t count;        /* instructions */
    uint32_t mem_count;    /* trace addresses the whole block appends (loads, stores, AMX operands) */
    uint32_t id;           /* dense number from 0: timing models keep tables by it */
    struct a64_insn *insn; /* count of them */
};

/* A stretch of execution. Block entries are in order. The addresses of their memory accesses follow one another in `address`: an
 * AMX instruction appends its 64-bit operand, a pair or multi-structure access one address. The last block may be cut short by a
 * fault or exit: last_count instructions of it ran. */
struct cpu_trace {
    const struct cpu_block **block;
    uint64_t *address;
    uint32_t blocks, addresses;
    uint32_t block_capacity, address_capacity;
    uint32_t last_count; /* instructions of the last block that ran (= its count unless cut) */
};

/* True when an instruction appends an address to the trace. */
static inline bool cpu_traces_address(const struct a64_insn *insn)
{
    return insn->mem_bytes != 0 || insn->form == A64_AMX;
}

/* A trace needs room for at least this many addresses, so that every block fits an empty one. */
#define CPU_TRACE_MIN_ADDRESSES 128

#endif
