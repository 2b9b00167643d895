/* A kernel laid out in simulated memory, decoded, its uniforms filled and its preamble run: ready for any number of passes. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_SETUP_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_SETUP_H

#include "sim/base/work_progress.h"
#include "sim/workload/gpu/abi_kernel.h"
#include "units/gpu/gpu_core.h"

/* A simdgroup that has executed this many instructions is taken to run for ever. On hardware the driver ends command buffers
 * after some seconds (guess: the limit is not published; a core issues this many instructions of one simdgroup in about three
 * seconds). */
#define GPU_WATCHDOG_INSTRUCTIONS (UINT64_C(1) << 32)

struct gpu_setup {
    const struct abi_kernel *kernel;
    struct mem_space *space;
    uint64_t address[ABI_ARGS_MAX]; /* of buffers */
    uint64_t code_address;
    uint16_t uniforms[AGX_UNIFORM_HALVES];
    struct gpu_program *program;
    struct gpu_launch launch;
    struct gpu_buffer buffer[ABI_ARGS_MAX]; /* what the program is meant to touch */
    bool shared;                            /* the caller owns the buffers, and other launches use them as well */
    bool contents;                          /* buffers have contents; without, nothing ever reads them */
    uint8_t *kept[ABI_ARGS_MAX];            /* start contents of shared buffers; NULL = not kept */
    uint32_t groups[3];
    uint64_t group_count;
    uint64_t instruction_limit;           /* that the user sets, of each simdgroup; 0 = only that of the watchdog */
    const struct work_progress *progress; /* who waits for passes; NULL = nobody */
};

/* The launch of a kernel without its place in memory. */
struct gpu_launch gpu_setup_launch(const struct abi_kernel *kernel, const struct gpu_program *program);

/* `given` (may be NULL) has, by argument, the addresses of buffers that the caller owns and has filled; a buffer without one is
 * allocated. Close in any case. */
bool gpu_setup_open(struct gpu_setup *setup, const struct abi_kernel *kernel, enum gpu_generation generation,
                    struct mem_space *space, const uint64_t *given, struct orch_error *error);
/* The same for passes that execute only what steers: buffers that it allocates have no contents unless their values steer. */
bool gpu_setup_open_steering(struct gpu_setup *setup, const struct abi_kernel *kernel, enum gpu_generation generation,
                             struct mem_space *space, const uint64_t *given, struct orch_error *error);
void gpu_setup_close(struct gpu_setup *setup);

/* Puts the start contents back into every buffer that has any: those of the description or, for shared buffers, those that were
 * kept last. */
void gpu_setup_restore(const struct gpu_setup *setup);
/* Keeps what shared buffers hold now as their start contents; inputs never change and are not kept. False when memory ran out. */
bool gpu_setup_keep(struct gpu_setup *setup, struct orch_error *error);
/* The present contents of a buffer. */
const uint8_t *gpu_setup_bytes(const struct gpu_setup *setup, unsigned arg);
/* The position in the grid of the threadgroup with this number. */
void gpu_setup_position(const struct gpu_setup *setup, uint64_t number, uint32_t position[3]);
/* Begins the threadgroup with this number. */
void gpu_setup_start(const struct gpu_setup *setup, struct gpu_group *group, uint64_t number, uint32_t core);
/* How many instructions a simdgroup may execute: an endless loop ends as a fault. */
uint64_t gpu_setup_instruction_limit(const struct gpu_setup *setup);
/* Makes an object that executes threadgroups for what steers them only. NULL when memory ran out. */
struct gpu_group *gpu_setup_steering_group(const struct gpu_setup *setup);

/* Turns a fault into exit code 4 (3 for what is not modelled, 2 for what is no instruction at all) and one line of text: pc,
 * instruction, what happened, and which buffer was near. Returns false. */
bool gpu_setup_explain(const struct gpu_setup *setup, const struct unit_fault *fault, struct orch_error *error);
/* The same of the threadgroup with this number, and names it. Returns false. */
bool gpu_setup_explain_group(const struct gpu_setup *setup, const struct unit_fault *fault, uint64_t number,
                             struct orch_error *error);

/* Compares the buffers with what is expected: *expected counts those with an expectation, *right those that meet it. `text` names
 * the first difference; "" = none. */
void gpu_setup_compare(const struct gpu_setup *setup, unsigned *expected, unsigned *right, char *text, size_t size);

#endif
