/* The inside of a predecoded program, for the executing side. */
#ifndef ORCHARD_UNITS_GPU_GPU_PROGRAM_INTERNAL_H
#define ORCHARD_UNITS_GPU_GPU_PROGRAM_INTERNAL_H

#include "units/gpu/gpu_program.h"

#define GPU_NO_INSTRUCTION UINT32_MAX

struct gpu_inst {
    struct agx_inst inst;
    struct agx_effect effect;
    uint32_t pc;
    uint32_t next;   /* number of the following instruction, GPU_NO_INSTRUCTION when none was reached */
    uint32_t target; /* number of the branch target */
    bool steers;     /* gpu_program_steers */
};

struct gpu_program {
    struct gpu_inst *inst; /* by address */
    uint32_t count, entry, register_halves;
    enum gpu_generation generation;
    bool steered_by_memory;
    uint32_t *found; /* per half-word of code: number + 1 of the instruction that starts there */
    size_t found_count;
};

/* Number of the instruction that starts at byte offset `pc`. */
uint32_t gpu_program_find(const struct gpu_program *program, uint32_t pc);

/* Finds the instructions that steer. False when memory is out. */
bool gpu_program_find_steering(struct gpu_program *program);

/* 64-bit device atomics of M2. */
enum gpu_atomic_wide { GPU_ATOMIC_NARROW, GPU_ATOMIC_UMIN64, GPU_ATOMIC_UMAX64 };
enum gpu_atomic_wide gpu_atomic_wide(const struct agx_inst *inst, enum gpu_generation generation);

#endif
