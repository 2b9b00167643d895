/* A kernel of the GPU library as launches: each step that its builder made has code and arguments, and all steps share the
 * kernel's buffers.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_LIBRARY_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_LIBRARY_H

#include "sim/workload/gpu/abi_kernel.h"
#include "units/gpu/kernels/gpu_kernels.h"
#include "units/mem/mem_space.h"

#define GPU_LIBRARY_TEXT_BYTES 512

struct gpu_library {
    struct gpu_kernel_request request;
    struct gpu_kernel kernel;
    struct abi_kernel step[GPU_KERNEL_STEPS];
    /* By step and argument: where the argument points in the kernel's buffers; no meaning for scalars. */
    struct gpu_library_place {
        unsigned buffer;
        uint64_t offset_bytes;
    } place[GPU_KERNEL_STEPS][ABI_ARGS_MAX];
    char text[GPU_LIBRARY_TEXT_BYTES];  /* canonical: equal requests have equal texts */
    uint8_t *fixed[GPU_KERNEL_BUFFERS]; /* contents that a buffer has in any case: numbers for launches; NULL = by its role */
    /* Operands whose middle dimension comes last in memory: O C I lies as O I C. channels 0 = as the kernel says. */
    struct gpu_library_turn {
        uint64_t outer, channels, inner;
    } turned[GPU_KERNEL_BUFFERS];
    bool empty; /* set by the owner: gpu_library_place leaves buffers as zeros that the host need not hold */
};

/* Bytes of all buffers. */
double gpu_library_bytes(const struct gpu_library *library);

/* Does the library have a kernel of that name ("softmax:...")? */
bool gpu_library_has(const char *workload);

/* Parses and builds. False with exit code 2 and a text that says what to type instead. Close in any case. */
bool gpu_library_open(struct gpu_library *library, const char *workload, const char *precision, enum gpu_generation generation,
                      uint32_t cores, struct orch_error *error);
void gpu_library_close(struct gpu_library *library);

/* Makes `arg` a buffer of the kernel, or what is behind an offset into it. */
void gpu_library_set_buffer(struct abi_arg *arg, const struct gpu_kernel_buffer *buffer, uint64_t offset_bytes);

/* Fills in the addresses of all buffers. `given` (may be NULL) has the addresses of buffers that the caller has filled, in the
 * kernel's order without scratch buffers. Buffers without an address there are allocated and filled: inputs with reproducible
 * numbers within the range that the kernel asks for, the others with zeros; without `contents` none is filled. Empty ones read as
 * zeros, except those whose values are places in others. False when memory is full or a given buffer is too short. */
bool gpu_library_place(const struct gpu_library *library, struct mem_space *space, const uint64_t *given, bool contents,
                       uint64_t seed, uint64_t *address, struct orch_error *error);
/* Finds whether contents of buffers have a say in the way or the addresses of any step. False on an error. */
bool gpu_library_steered(const struct gpu_library *library, enum gpu_generation generation, bool *steered,
                         struct orch_error *error);

#endif
