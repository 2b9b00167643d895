/* Kernels of frameworks against the library's own, where results count: both run on the same operands, and outputs are compared
 * as those of a user's kernel are (own_kernel.h). */
#ifndef ORCHARD_SIM_RUN_GPU_FRAMEWORK_CHECK_H
#define ORCHARD_SIM_RUN_GPU_FRAMEWORK_CHECK_H

#include "sim/run/gpu/own_kernel.h"

struct framework_check {
    struct gpu_library *library; /* the operator with the library's own launches; NULL = nothing is checked */
    struct own_kernel result;    /* what it makes */
};

bool framework_check_open(struct framework_check *check, const struct run_request *request, const struct gpu_library *library,
                          struct orch_error *error);
void framework_check_close(struct framework_check *check);
/* Executes the library's own launches; operands are as before afterwards. */
bool framework_check_expect(struct framework_check *check, const struct run_chain *chain, const struct gpu_library *library,
                            const uint64_t *address);
/* Compares what memory holds now, and notes how many outputs are as expected. */
bool framework_check_compare(const struct framework_check *check, const struct run_chain *chain,
                             const struct gpu_library *library, const uint64_t *address);

#endif
