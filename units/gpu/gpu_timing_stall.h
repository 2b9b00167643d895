/* Why a scheduler of the GPU does not issue: each of its cycles has one reason. */
#ifndef ORCHARD_UNITS_GPU_GPU_TIMING_STALL_H
#define ORCHARD_UNITS_GPU_GPU_TIMING_STALL_H

/* clang-format off */
#define GPU_STALL_TABLE(X) \
    X(ISSUE, "issue", "instructions issue") \
    X(ALU, "alu", "the arithmetic pipe of the next instruction is busy") \
    X(DEPENDENCY, "dependency", "waits for the result of an arithmetic instruction") \
    X(REGISTER_CACHE, "register_cache", "operands wait for register-file ports") \
    X(MEMORY, "memory", "waits for device memory") \
    X(MEMORY_QUEUE, "memory_queue", "the load/store path or a scoreboard slot is full") \
    X(THREADGROUP_MEMORY, "threadgroup_memory", "threadgroup memory is busy or its data are not there") \
    X(BARRIER, "barrier", "waits for other simdgroups at a barrier") \
    X(INSTRUCTION_FETCH, "instruction_fetch", "the instruction cache waits for the next line") \
    X(LAUNCH, "launch", "threadgroups are being started, or none is left (tail)")
/* clang-format on */

enum gpu_stall {
#define X(name, key, text) GPU_STALL_##name,
    GPU_STALL_TABLE(X)
#undef X
        GPU_STALL_COUNT
};
const char *gpu_stall_name(enum gpu_stall stall);

#endif
