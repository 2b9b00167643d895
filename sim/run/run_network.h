/* A network, node by node, by kernels of the CPU's library on the tensors' values: results of a kernel are operands of the next.
 * Each kernel is a run of its own, behind the warm-up that such runs have, and the network's measure is the sum of theirs. */
#ifndef ORCHARD_SIM_RUN_RUN_NETWORK_H
#define ORCHARD_SIM_RUN_RUN_NETWORK_H

#include "sim/network/graph/graph.h"
#include "sim/run/measure.h"
#include "sim/run/run.h"

/* Units of the placement of nodes that no kernel computes. */
#define RUN_NETWORK_REFERENCE "reference"
#define RUN_NETWORK_VIEW      "view"
/* Counters of the kernel that stands at this place of the placement, from 1. */
#define RUN_NETWORK_SECONDS "network.kernel%zu.seconds"
#define RUN_NETWORK_JOULES  "network.kernel%zu.joules"

struct run_network {
    const struct run_request *request; /* how kernels are run: chip, mode, cores ... */
    const struct net_model *model;     /* with its shapes */
    struct net_array *const *input;    /* by input of the graph; one that is a constant may be NULL */
    struct run_measure *sum;           /* the caller releases it */
    struct run_result *result;         /* gets the placement and the counters */

    /* Filled in. */
    double macs, macs_known, macs_here; /* of all nodes, of operators that have a kernel at all, of what kernels computed */
    double flops;                       /* of the kernels */
    unsigned kernels, left;             /* kernels that ran; nodes that the reference computed */
};

/* Fills `output`, one array for each output of the graph, which the caller releases. */
bool run_network(struct run_network *network, struct net_array **output, struct orch_error *error);

#endif
