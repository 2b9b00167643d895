#include "sim/run/framework_check.h"

#include <stdlib.h>
#include <string.h>

bool framework_check_open(struct framework_check *check, const struct run_request *q, const struct gpu_library *l,
                          struct orch_error *error)
{
    check->library = calloc(1, sizeof *check->library);
    snprintf(check->result.kernel.name, sizeof check->result.kernel.name, "%.20s (%.30s)", l->request.info->name, q->kernels);
    return check->library
               ? gpu_library_open(check->library, q->workload, q->precision, l->request.generation, l->request.cores, error)
               : orch_no_memory(error);
}

void framework_check_close(struct framework_check *check)
{
    own_kernel_free(&check->result);
    if (check->library)
        gpu_library_close(check->library);
    free(check->library);
}

/* Operands stand in the same order in both, scratch buffers do not. Gives the operands' addresses to the reference, and scratch
 * buffers of its own when `space` is there. */
static bool place(const struct framework_check *check, struct mem_space *space, const struct gpu_library *l,
                  const uint64_t *address, uint64_t *own, struct orch_error *error)
{
    unsigned next = 0;
    for (unsigned i = 0; i < check->library->kernel.buffers; i++) {
        const struct gpu_kernel_buffer *const b = &check->library->kernel.buffer[i];
        while (b->role != GPU_BUFFER_SCRATCH && l->kernel.buffer[next].role == GPU_BUFFER_SCRATCH)
            next++;
        own[i] = b->role != GPU_BUFFER_SCRATCH ? address[next++]
                 : space                       ? mem_space_alloc(space, gpu_type_bytes(b->type, b->count), MEM_PAGE_BYTES)
                                               : 0;
        if (!own[i] && space)
            return orch_fail(error, ORCH_USAGE, "the simulated memory is full; make the shape smaller");
    }
    return true;
}

bool framework_check_expect(struct framework_check *check, const struct run_chain *c, const struct gpu_library *l,
                            const uint64_t *address)
{
    uint64_t own[GPU_KERNEL_BUFFERS];
    return !check->library ||
           (place(check, c->space, l, address, own, c->error) && own_kernel_expect(&check->result, c, check->library, own));
}

bool framework_check_compare(const struct framework_check *check, const struct run_chain *c, const struct gpu_library *l,
                             const uint64_t *address)
{
    uint64_t own[GPU_KERNEL_BUFFERS];
    return !check->library ||
           (place(check, NULL, l, address, own, c->error) && own_kernel_compare(&check->result, c, check->library, own));
}
