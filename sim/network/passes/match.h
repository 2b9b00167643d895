/* What passes that look for patterns share. */
#ifndef ORCHARD_SIM_NETWORK_PASSES_MATCH_H
#define ORCHARD_SIM_NETWORK_PASSES_MATCH_H

#include "sim/network/graph/uses.h"
#include "sim/network/passes/pass.h"

struct net_match {
    struct net_model *model;
    struct net_uses uses; /* of the top graph */
    bool starved;         /* memory ran out while the graph was changed */
};

/* Tries to begin a pattern at each node of the top graph. `change` returns whether it changed anything; what it leaves without
 * users is removed in the end. */
bool net_rewrite(struct net_model *model, bool (*change)(struct net_match *m, struct net_node *node), unsigned *changes,
                 struct orch_error *error);

/* The node that computes a value, if it is one of the operator; NULL otherwise. `alone`: nobody else uses the value. */
struct net_node *net_made_by(const struct net_match *m, net_id value, const char *op, bool alone);
/* One of ONNX's own operators, or of "orchard" when the name begins with a dot. */
bool net_is(const struct net_node *node, const char *op);
/* A constant of one element. */
bool net_scalar(const struct net_match *m, net_id value, double *number);
bool net_is_number(const struct net_match *m, net_id value, double number); /* within 1e-4 of it, relatively */
const struct net_array *net_constant(const struct net_match *m, net_id value);
const struct net_shape *net_value_shape(const struct net_match *m, net_id value);
/* Of a node with two inputs, of which one is `value`, the other; NET_NONE when it is not one. */
net_id net_other(const struct net_node *node, net_id value);
/* Of a node with two inputs, the one that is a constant of one element, and the other; NET_NONE when none is. */
net_id net_beside_scalar(const struct net_match *m, const struct net_node *node, double *number);
bool net_same_value(const struct net_match *m, net_id a, net_id b); /* the same or an equal constant */

/* Makes a node another operator with these inputs; its outputs stay, its attributes go. */
bool net_become(struct net_match *m, struct net_node *node, const char *op, const char *domain, const net_id *input,
                size_t inputs);
/* Lets another value take the place of what the node computes; the node is left without inputs and users, so that what it used
 * has one user less at once. */
void net_retire(struct net_match *m, struct net_node *node, net_id in_place);
/* Puts a node of ONNX's own, named after `of` and as new as that, in front of node *at, which counts up; its outputs are new
 * values of a type. NULL when memory is out. */
struct net_node *net_put(struct net_match *m, const struct net_node *of, size_t *at, const char *op, const net_id *input,
                         size_t inputs, size_t outputs, enum net_type type);
/* Remembers that an attribute could not be set. */
static inline void net_must(struct net_match *m, bool ok)
{
    m->starved = m->starved || !ok;
}
/* Gives a convolution the windows and groups of another; false when memory is out. */
bool net_copy_windows(const struct net_node *from, struct net_node *to);
/* A recurrent operator in the form that kernels know, of either direction or both: no functions of its own (but those of an RNN,
 * which has one), no clipping, no lengths of sequences, no peepholes, and time first. */
bool net_is_plain_recurrent(const struct net_node *node);
/* What a plain RNN computes of its sum, where the file says that, of one of its directions; false when memory is out. */
bool net_copy_function(const struct net_node *from, struct net_node *to, size_t which);

#endif
