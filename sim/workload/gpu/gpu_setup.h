/* A kernel laid out in simulated memory, decoded, its uniforms filled and its preamble run: ready for any number of passes. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_SETUP_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_SETUP_H

#include "sim/workload/gpu/abi_kernel.h"
#include "units/gpu/gpu_core.h"

struct gpu_setup {
    const struct abi_kernel *kernel;
    struct mem_space *space;
    uint64_t address[ABI_ARGS_MAX]; /* of buffers */
    uint64_t code_address;
    uint16_t uniforms[AGX_UNIFORM_HALVES];
    struct gpu_program *program;
    struct gpu_launch launch;
    struct gpu_buffer buffer[ABI_ARGS_MAX]; /* what the program is meant to touch */
    bool shared;                            /* the buffers are the caller's: other launches work on them, too */
    uint8_t *kept[ABI_ARGS_MAX];            /* of shared buffers, NULL = not kept */
    uint32_t groups[3];
    uint64_t group_count;
};

/* `given` (may be NULL) has addresses of buffers that the caller owns and has filled; 0 = lay it out here. Close in any case. */
bool gpu_setup_open(struct gpu_setup *setup, const struct abi_kernel *kernel, enum gpu_generation generation,
                    struct mem_space *space, const uint64_t *given, struct orch_error *error);
void gpu_setup_close(struct gpu_setup *setup);

/* Puts the start contents back into every buffer: those of the description, of shared buffers those that were kept last. */
void gpu_setup_restore(const struct gpu_setup *setup);
/* Takes what shared buffers hold now as their start contents; inputs never change and are not kept. False without memory. */
bool gpu_setup_keep(struct gpu_setup *setup, struct orch_error *error);
void gpu_setup_forget(struct gpu_setup *setup);
/* The buffer's bytes now. */
const uint8_t *gpu_setup_bytes(const struct gpu_setup *setup, unsigned arg);
/* Whether a buffer still holds its start contents. */
bool gpu_setup_is_start(const struct gpu_setup *setup, unsigned arg);
void gpu_setup_position(const struct gpu_setup *setup, uint64_t group, uint32_t position[3]);

/* Exit code 4 (3 for what is not modelled, 2 for what is no instruction at all) and one line: pc, instruction, what happened,
 * and which buffer was near. False. */
bool gpu_setup_explain(const struct gpu_setup *setup, const struct unit_fault *fault, struct orch_error *error);

/* Compares the buffers with what is expected: how many had an expectation, how many meet it. `text` names the first difference,
 * "" = none. */
void gpu_setup_compare(const struct gpu_setup *setup, unsigned *expected, unsigned *right, char *text, size_t size);

#endif
