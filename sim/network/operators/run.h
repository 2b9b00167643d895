/* Runs a network with the reference operators. */
#ifndef ORCHARD_SIM_NETWORK_OPERATORS_RUN_H
#define ORCHARD_SIM_NETWORK_OPERATORS_RUN_H

#include "sim/network/operators/operator.h"

/* Told after each node of the top graph; arrays as in struct net_call. */
typedef void net_observer(void *context, const struct net_node *node, struct net_array *const *in, struct net_array *const *out);

/* Computes a node, of a subgraph as well, in place of the reference, which is told by *done; else the reference computes it.
 * `out` is empty, and what is put there is handed over. */
typedef bool net_unit(void *context, const struct net_node *node, struct net_array *const *in, struct net_array **out, bool *done,
                      struct orch_error *error);

struct net_run {
    const struct net_model *model;
    struct net_array *const *input; /* by input of the graph; one that is a constant may be NULL */
    net_observer *observer;         /* NULL = nobody */
    net_unit *unit;                 /* asked first; NULL = the reference computes everything */
    void *context;                  /* of both */
};

/* Fills `output`, one array for each output of the graph, which the caller releases. False with an error that names the node;
 * then all are NULL. */
bool net_run(const struct net_run *run, struct net_array **output, struct orch_error *error);

/* Evaluates one node on arrays: its shape rule, outputs, its function. `machine` may be NULL for nodes without subgraphs. On
 * failure no output is left. */
bool net_evaluate_node(const struct net_node *node, struct net_array *const *in, struct net_array **out,
                       struct net_machine *machine, struct orch_error *error);

/* Runs a subgraph whose inputs are given; its outputs are retained for the caller. */
bool net_run_subgraph(struct net_machine *machine, const struct net_graph *graph, struct net_array *const *input, size_t inputs,
                      struct net_array **output, struct orch_error *error);

#endif
