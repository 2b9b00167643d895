#include "sim/run/gpu/framework_check.h"

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

/* Elements of O C I from or to where they lie as O I C. */
static void turn(const struct gpu_library_turn *t, unsigned bytes, const uint8_t *from, uint8_t *to, bool back)
{
    for (uint64_t o = 0; o < t->outer; o++)
        for (uint64_t c = 0; c < t->channels; c++)
            for (uint64_t i = 0; i < t->inner; i++) {
                const uint64_t usual = ((o * t->channels + c) * t->inner + i) * bytes;
                const uint64_t last = ((o * t->inner + i) * t->channels + c) * bytes;
                memcpy(to + (back ? last : usual), from + (back ? usual : last), bytes);
            }
}

/* The operand of the reference that buffer `i` of the framework's kernels stands for. */
static unsigned operand_of(const struct framework_check *check, const struct gpu_library *l, unsigned i)
{
    unsigned before = 0, at = 0;
    for (unsigned k = 0; k < i; k++)
        before += l->kernel.buffer[k].role != GPU_BUFFER_SCRATCH;
    for (;; at++)
        if (check->library->kernel.buffer[at].role != GPU_BUFFER_SCRATCH && before-- == 0)
            return at;
}

/* Operands that lie otherwise have copies of their own for the reference. */
static bool turn_operands(const struct framework_check *check, const struct run_chain *c, const struct gpu_library *l,
                          const uint64_t *address, uint64_t *own)
{
    for (unsigned i = 0; i < l->kernel.buffers; i++) {
        const struct gpu_kernel_buffer *const b = &l->kernel.buffer[i];
        const uint64_t bytes = gpu_type_bytes(b->type, b->count);
        if (!l->turned[i].channels)
            continue;
        const uint64_t copy = mem_space_alloc(c->space, bytes, MEM_PAGE_BYTES);
        if (!copy)
            return orch_fail(c->error, ORCH_USAGE, "the simulated memory is full; make the shape smaller");
        turn(&l->turned[i], (unsigned)gpu_type_bytes(b->type, 1), mem_at(c->space, address[i], bytes, MEM_READ),
             mem_at(c->space, copy, bytes, MEM_WRITE), false);
        own[operand_of(check, l, i)] = copy;
    }
    return true;
}

static bool turn_expected(struct framework_check *check, const struct gpu_library *l, struct orch_error *error)
{
    for (unsigned i = 0; i < l->kernel.buffers; i++) {
        const struct gpu_kernel_buffer *const b = &l->kernel.buffer[i];
        if (!l->turned[i].channels)
            continue;
        uint8_t **const expected = &check->result.expected[operand_of(check, l, i)];
        uint8_t *const turned = malloc(gpu_type_bytes(b->type, b->count));
        if (!turned)
            return orch_no_memory(error);
        turn(&l->turned[i], (unsigned)gpu_type_bytes(b->type, 1), *expected, turned, true);
        free(*expected);
        *expected = turned;
    }
    return true;
}

bool framework_check_expect(struct framework_check *check, const struct run_chain *c, const struct gpu_library *l,
                            const uint64_t *address)
{
    uint64_t own[GPU_KERNEL_BUFFERS];
    return !check->library || (place(check, c->space, l, address, own, c->error) && turn_operands(check, c, l, address, own) &&
                               own_kernel_expect(&check->result, c, check->library, own) && turn_expected(check, l, c->error));
}

bool framework_check_compare(const struct framework_check *check, const struct run_chain *c, const struct gpu_library *l,
                             const uint64_t *address)
{
    uint64_t own[GPU_KERNEL_BUFFERS];
    return !check->library ||
           (place(check, NULL, l, address, own, c->error) && own_kernel_compare(&check->result, c, check->library, own));
}
