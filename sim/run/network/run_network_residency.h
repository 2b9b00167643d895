/* Which operands of a network's kernels are in the caches when a kernel begins.
 *
 * A network whose weights and tensors do not fit the system-level cache finds none of its weights there when it runs again, since
 * everything else has come by in between; a tensor is there as long as no more than the cache holds has been read or written
 * since. That is a cache of whole tensors that drops what was used least recently; which lines of a tensor are in which cache,
 * and what they cost, is the kernel's simulation (run_request.present). */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_RESIDENCY_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_RESIDENCY_H

#include "sim/run/lower/lowering.h"
#include "sim/run/network/run_network.h"

struct network_residency;

/* Of the network's chip. *residency is NULL where all of it fits: each kernel is then warm by itself, as in a run of its own.
 * False with *error. */
bool network_residency_open(const struct run_network *network, struct network_residency **residency, struct orch_error *error);
void network_residency_free(struct network_residency *residency);

/* The host has made a tensor of so many bytes there: what was in this memory before does not matter any more. A residency that is
 * NULL is passed over. */
void network_residency_begin(struct network_residency *residency, const void *host, uint64_t bytes);
/* A kernel comes next: the operands that it finds in the caches, a bit each (0 without residency). */
uint32_t network_residency_use(struct network_residency *residency, const struct lowered_step *step);
/* Asks for a kernel with these operands in the caches, and nothing else. */
void network_residency_ask(const struct network_residency *residency, uint32_t present, struct run_request *request);

#endif
