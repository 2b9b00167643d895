/* How long nodes take on a unit and what they cost there, for whoever chooses units: the network is gone through without values
 * as if that unit alone had to compute it, by the characteristics of its kernels; on the Neural Engine as parts of linked
 * programs, timed by the account of any program. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_ALONE_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_ALONE_H

#include "sim/run/network/run_network.h"

struct network_alone;

/* NULL with *error. The network is as run_network takes it. `e_core`: kernels of the CPU run on an E core. */
struct network_alone *network_alone_time(const struct run_network *network, enum orch_part part, bool e_core,
                                         struct orch_error *error);
void network_alone_free(struct network_alone *alone);

/* Seconds and joules of a node without its command buffer or request; INFINITY where another unit has to compute some of it. An
 * AMX block leaves to its core what its library lacks. Joules are NAN where the chip says nothing of power. */
double network_alone_seconds(const struct network_alone *alone, const struct net_node *node);
double network_alone_joules(const struct network_alone *alone, const struct net_node *node);
/* What a command buffer or a request costs beside its kernels. */
double network_alone_begin_s(const struct network_alone *alone);
double network_alone_begin_joules(const struct network_alone *alone);
/* What the unit draws, beside what the chip draws anyway, while it has a clock and waits for others. */
double network_alone_waiting_w(const struct network_alone *alone);

/* ---- for run_network.c ---- */

/* The node has been gone through; its kernels' lines end before this one. False = out of memory. */
bool network_alone_note(struct network_alone *alone, const struct net_node *node, size_t lines);

#endif
