/* Networks, from a file to a graph that is ready to be lowered, printed or run by the reference.
 *
 *     struct net_model *model = net_import("x.onnx", &error);
 *     net_bind(model, "batch=4", &error);                     any dimension that the file leaves open
 *     net_prepare(model, &(struct net_open_options){.level = 2}, NULL, &error);
 */
#ifndef ORCHARD_SIM_NETWORK_NETWORK_H
#define ORCHARD_SIM_NETWORK_NETWORK_H

#include "sim/network/graph/graph.h"

struct net_open_options {
    int level;                  /* of optimisation: 0 only folds what shapes need, 1 tidies up, 2 also fuses */
    const char *const *without; /* names of passes that are left out */
    size_t without_count;
    const char *last; /* the pass after which to stop; NULL = all are run */
};

/* What a pass has done. */
struct net_pass_effect {
    const char *pass;
    unsigned changes;
    size_t nodes_before, nodes_after;
    uint64_t bytes_before, bytes_after; /* moved by all nodes (cost.h) */
    uint64_t macs_before, macs_after;
};

enum { NET_EFFECTS_MAX = 64 };
struct net_report {
    struct net_pass_effect effect[NET_EFFECTS_MAX];
    size_t effects;
};

/* Reads a file of any kind that is known; NULL with an error. */
struct net_model *net_import(const char *path, struct orch_error *error);
/* "NAME=N": a dimension. */
bool net_bind(struct net_model *model, const char *text, struct orch_error *error);
/* All dimensions of the inputs from arrays, of which some may be NULL. */
bool net_bind_inputs(struct net_model *model, struct net_array *const *input, struct orch_error *error);
/* "NAME=NUMBER": makes an input a constant of one element, so that what depends on it alone (an If on a sampling rate) is folded.
 */
bool net_fix(struct net_model *model, const char *text, struct orch_error *error);
/* Infers shapes and runs the passes; `report` may be NULL. */
bool net_prepare(struct net_model *model, const struct net_open_options *options, struct net_report *report,
                 struct orch_error *error);

#endif
