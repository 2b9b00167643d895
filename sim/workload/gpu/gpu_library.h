/* A kernel of the GPU library as sim runs it: the steps that its builder made, each as a launch with its code and arguments, over
 * buffers that all steps share.
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
    /* By step and argument of it: where in the kernel's buffers it points; no meaning for scalars. */
    struct gpu_library_place {
        unsigned buffer;
        uint64_t offset_bytes;
    } place[GPU_KERNEL_STEPS][ABI_ARGS_MAX];
    char text[GPU_LIBRARY_TEXT_BYTES]; /* canonical: equal requests have equal texts */
};

/* Does the library have a kernel of that name ("softmax:...")? */
bool gpu_library_has(const char *workload);

/* Parses and builds. False with exit code 2 and what to type instead. Close in any case. */
bool gpu_library_open(struct gpu_library *library, const char *workload, const char *precision, enum gpu_generation generation,
                      uint32_t cores, struct orch_error *error);
void gpu_library_close(struct gpu_library *library);

/* Addresses of all buffers. `given` (may be NULL) has those of the caller in the kernel's order without scratch, filled already;
 * others are allocated and filled: inputs with reproducible numbers within the range that the kernel asks for, the rest with
 * zeros. False when memory is full or a given buffer too short. */
bool gpu_library_place(const struct gpu_library *library, struct mem_space *space, const uint64_t *given, uint64_t seed,
                       uint64_t *address, struct orch_error *error);

#endif
