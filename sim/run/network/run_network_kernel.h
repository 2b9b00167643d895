/* The kernels of a network that is composed of their characteristics: what each node needs is noted while the graph is gone
 * through, equal kernels once; then those that are not known are simulated, several at a time; then all are added up in order. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_KERNEL_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_KERNEL_H

#include "sim/run/lower/lowering.h"
#include "sim/run/network/run_network.h"

struct network_kernels;

struct network_kernels *network_kernels_create(void); /* NULL when memory is out */
void network_kernels_free(struct network_kernels *kernels);

/* Adds all steps of a node in their order, and their lines to the placement. *lacks tells that neither the asked unit nor the
 * CPU has a kernel for one of them, with the reason; *here that the unit's kernels do all its multiplications. */
bool network_kernels_add(struct run_network *network, const char *title, const struct lowering *lowering, bool *here,
                         struct orch_error *lacks, struct orch_error *error);
/* Times what is not known and adds everything up. */
bool network_kernels_finish(struct run_network *network, struct orch_error *error);

#endif
