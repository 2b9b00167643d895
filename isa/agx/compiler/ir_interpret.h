/* Runs a kernel on its intermediate representation, before or after lowering: the oracle between front end and back end.
 *
 * Threads run in simdgroups of 32 lanes, in threadgroups with barriers, over the whole grid; a last group that the grid cuts has
 * the fewer threads. Lanes that part run on their own until they meet again: always those at the lowest place in an order of the
 * blocks in which loops stand together, and in front of what follows them. What leads out of a loop counts as behind it,
 * so lanes that leave in different turns go on together. Simdgroup functions act on the lanes that are together.
 *
 * Arithmetic is IEEE, rounded to nearest, each operation once. Values that nothing has defined, and memory of threadgroups and
 * threads before its first write, read as bytes of IR_POISON_BYTE. What cannot be run is refused, with the source line.
 */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_H
#define ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_H

#include "isa/agx/compiler/ir.h"

#define IR_POISON_BYTE 0xa5u

struct ir_memory {
    /* Where `bytes` bytes of device memory from `address` lie; NULL = outside. */
    void *(*at)(void *context, uint64_t address, uint64_t bytes);
    void *context;
};

struct ir_counts {
    uint64_t simdgroup_steps, lane_steps; /* a step: one operation on one scalar or vector element */
};

struct ir_launch {
    uint32_t grid[3], group[3]; /* threads */
    /* As in abi.json: arguments in order, naturally aligned, but single bytes to two; pointers as u64 addresses; a threadgroup
     * pointer as the byte in `threadgroup_bytes`; what is passed by value as itself. */
    const void *arguments;
    size_t argument_bytes;
    const uint32_t *argument_offset; /* where each argument lies in the block, when it is elsewhere; NULL = as said above */
    uint64_t threadgroup_bytes;      /* for threadgroup pointers among the arguments */
    struct ir_memory memory;
    uint64_t most_instructions; /* steps of simdgroups in all; 0 = no limit */
    /* Metal and OpenCL want every thread at a barrier. The GPU waits for simdgroups that still run, whatever lanes of them are
     * left, and kernels that return early rely on it: false = such a kernel is refused. */
    bool ended_arrive;
    bool flush_subnormals;    /* of f32, in what goes into arithmetic and what comes out, as AGX does */
    struct ir_counts *counts; /* NULL = not wanted */
};

bool ir_interpret(const struct ir_function *kernel, const struct ir_launch *launch, struct isa_error *error);

#endif
