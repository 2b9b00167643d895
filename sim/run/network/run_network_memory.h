/* The address space in which kernels that take buffers (run_kind.buffers) compute a network: one for the whole graph, so that a
 * result is where the next kernel reads it.
 *
 * A tensor is known by where the host has it. Whoever reads one that has no buffer, or another content than its buffer, gets it
 * written there first: weights, inputs, what another unit computed.
 */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_MEMORY_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_MEMORY_H

#include "sim/run/kind.h"

struct network_memory;

/* The space is the caller's. NULL = out of memory. */
struct network_memory *network_memory_create(struct mem_space *space);
void network_memory_free(struct network_memory *memory);

struct mem_space *network_memory_space(const struct network_memory *memory);

/* The host has made a tensor at this place: what was known there is gone. Without it the address of a tensor would hang on where
 * the host's allocator puts things. NULL is passed over. */
void network_memory_begin(struct network_memory *memory, const void *host);

/* A tensor of so many f32 that several units read or write parts of: kernels whose operands or results lie within it are given
 * addresses within its one buffer. */
bool network_memory_share(struct network_memory *memory, const void *host, uint64_t count, struct orch_error *error);

/* Finds the addresses of a kernel's buffers: what it reads has the operands' contents, unless `values` is false; then only places
 * in other buffers have. */
bool network_memory_give(struct network_memory *memory, const struct run_buffer *buffer, unsigned buffers,
                         const struct run_operands *operands, bool values, uint64_t *address, struct orch_error *error);
/* Hands the result of the kernel to the host. */
bool network_memory_take(const struct network_memory *memory, const struct run_buffer *buffer, unsigned buffers,
                         const struct run_operands *operands, const uint64_t *address, struct orch_error *error);

#endif
