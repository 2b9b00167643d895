/* Passes: what is done to a graph between the import and its use. Each is a function and a row of passes.inc; each says how much
 * it has changed, and leaves a graph that computes the same.
 */
#ifndef ORCHARD_SIM_NETWORK_PASSES_PASS_H
#define ORCHARD_SIM_NETWORK_PASSES_PASS_H

#include "sim/network/graph/graph.h"

struct net_pass {
    const char *name;
    int level; /* done at --opt LEVEL and above */
    /* Returns false with an error; *changes counts what was done. */
    bool (*run)(struct net_model *model, unsigned *changes, struct orch_error *error);
    const char *text; /* what it does */
};

const struct net_pass *net_pass_at(size_t index); /* in the order in which they are run; NULL past the last */
const struct net_pass *net_pass_find(const char *name, struct orch_error *error);

/* States types and shapes of all values, as far as they follow from those of the inputs, symbols that are bound, and constants.
 * False with an error that names a node whose inputs make no sense. */
bool net_infer_shapes(struct net_model *model, struct orch_error *error);
/* The same of one node, from what is known of its inputs. Does nothing for operators that are not there. */
bool net_infer_one(struct net_model *model, struct net_node *node, struct orch_error *error);

/* Removes nodes whose results nobody uses, and outputs of others; returns how many nodes went in `removed`. */
bool net_remove_dead(struct net_model *model, unsigned *removed, struct orch_error *error);

#endif
