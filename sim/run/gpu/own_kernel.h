/* A kernel of a user in the place of the library's own for an operator of the GPU: `--kernel gemm=my.metal`.
 *
 * Its arguments are those buffers of the operator that are no scratch, in the operator's order (`orchard kernels show gemm` names
 * operands in that order: a, b, c), then as many of the operator's parameters as it takes, in the order of the operator's text
 * (m, n, k, batch, ta ...): numbers or constant buffers of one number. Without a grid there is a thread for each element of the
 * first output. Results are compared with what the library's own programs make of the same operands. */
#ifndef ORCHARD_SIM_RUN_GPU_OWN_KERNEL_H
#define ORCHARD_SIM_RUN_GPU_OWN_KERNEL_H

#include "sim/run/gpu/run_chain.h"
#include "sim/workload/gpu/gpu_library.h"

struct own_kernel {
    const char *file;             /* NULL = the library's own programs run */
    struct abi_kernel kernel;     /* bound to the operator */
    unsigned place[ABI_ARGS_MAX]; /* by argument: the operator's buffer */
    uint8_t *expected[GPU_KERNEL_BUFFERS];
};

/* Finds and reads the file that the request names for this operator. False when it does not fit; without one `file` stays NULL.
 */
bool own_kernel_open(struct own_kernel *own, struct run *run, const struct gpu_library *library, struct orch_error *error);
void own_kernel_free(struct own_kernel *own);
/* Executes the library's programs for what is expected, and puts the operands back. `address` is by buffer of the operator;
 * buffers are filled. */
bool own_kernel_expect(struct own_kernel *own, const struct run_chain *chain, const struct gpu_library *library,
                       const uint64_t *address);
/* Compares the outputs that memory has now, and notes how many are as expected. */
bool own_kernel_compare(const struct own_kernel *own, const struct run_chain *chain, const struct gpu_library *library,
                        const uint64_t *address);

#endif
