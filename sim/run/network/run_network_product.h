/* One product of matrices as a network of one node, for units that compute it together (--policy split). */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PRODUCT_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PRODUCT_H

#include "sim/network/graph/graph.h"
#include "sim/run/run.h"

/* Whether the request wants a kernel to be split over units. */
bool run_network_is_product(const struct run_request *request);
/* c = a b of "gemm:MxNxK", whose operands are inputs. NULL with *error; other kernels and options cannot be split. */
struct net_model *run_network_product(const char *workload, struct orch_error *error);

#endif
