/* How long nodes take on the Neural Engine as parts of linked programs, for whoever chooses units: the network is gone through
 * without values as if the engine had everything that it can do, and its requests are timed by the account of any program. */
#ifndef ORCHARD_SIM_RUN_RUN_NETWORK_ENGINE_H
#define ORCHARD_SIM_RUN_RUN_NETWORK_ENGINE_H

#include "sim/run/run_network.h"

struct network_engine;

/* NULL with *error. The network is as run_network takes it. */
struct network_engine *network_engine_time(const struct run_network *network, struct orch_error *error);
void network_engine_free(struct network_engine *engine);

/* Seconds of a node without its request; INFINITY where another unit has to compute some of it. */
double network_engine_seconds(const struct network_engine *engine, const struct net_node *node);
/* What a request costs beside its kernels. */
double network_engine_request_s(const struct network_engine *engine);

/* ---- for run_network.c ---- */

/* The node has been gone through; its kernels' lines end before this one. False = out of memory. */
bool network_engine_note(struct network_engine *engine, const struct net_node *node, size_t lines);

#endif
