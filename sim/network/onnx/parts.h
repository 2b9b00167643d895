/* Operators that are written as others: the nodes that stand for one node, which are added behind the graph's last one.
 *
 * Shapes are not known yet when a file is read, so parts copy dimensions (0 and -1 of Reshape) and compute with Shape; folding
 * makes constants of that. What fails, fails once: later parts do nothing.
 */
#ifndef ORCHARD_SIM_NETWORK_ONNX_PARTS_H
#define ORCHARD_SIM_NETWORK_ONNX_PARTS_H

#include "sim/network/graph/graph.h"

#include <stddef.h>

struct onnx_parts {
    struct net_model *model;
    struct net_graph *graph;
    const struct net_node *of; /* what the parts stand for */
    size_t first;              /* of the graph's nodes that is a part */
    unsigned made;
    bool failed;
    struct net_node *last; /* for attributes */
    struct orch_error *error;
};

/* A node with one output, whose value is returned; inputs that are NET_NONE are left out. NET_NONE when something has failed. */
net_id onnx_part(struct onnx_parts *p, const char *op, const net_id *in, size_t inputs);
#define ONNX_PART(p, op, ...)                                                                                                    \
    onnx_part(p, op, (const net_id[]){__VA_ARGS__}, sizeof((const net_id[]){__VA_ARGS__}) / sizeof(net_id))
/* The same with several outputs. */
bool onnx_part_outputs(struct onnx_parts *p, const char *op, const net_id *in, size_t inputs, net_id *to, size_t outputs);
/* Slices of a Split into parts of these lengths along the last dimension. */
bool onnx_part_split(struct onnx_parts *p, net_id x, const int64_t *length, size_t count, net_id *to);

/* Attributes of the last node. */
void onnx_part_int(struct onnx_parts *p, const char *name, int64_t value);
void onnx_part_real(struct onnx_parts *p, const char *name, double value);
void onnx_part_text(struct onnx_parts *p, const char *name, const char *value);
/* The attributes of the node that it stands for. */
void onnx_part_copy(struct onnx_parts *p, const char *const *name, size_t count);

/* Constants: integers in a row, one integer without dimensions, one number of the type of the node's weights. */
net_id onnx_part_ints(struct onnx_parts *p, const int64_t *value, size_t count);
net_id onnx_part_integer(struct onnx_parts *p, int64_t value);
net_id onnx_part_number(struct onnx_parts *p, double value);
net_id onnx_part_array(struct onnx_parts *p, struct net_array *array); /* is taken over; NULL fails */

net_id onnx_part_reshape(struct onnx_parts *p, net_id x, const int64_t *shape, size_t dims);
net_id onnx_part_turn(struct onnx_parts *p, net_id x, const int64_t *order, size_t dims);
/* The length of a dimension, as a list of one. */
net_id onnx_part_length(struct onnx_parts *p, net_id x, int64_t axis);
/* Elements [from, to) along an axis. */
net_id onnx_part_slice(struct onnx_parts *p, net_id x, int64_t from, int64_t to, int64_t axis);

/* What the node's inputs and outputs are; the value becomes the output. */
net_id onnx_part_in(const struct onnx_parts *p, size_t input);
void onnx_part_give(struct onnx_parts *p, size_t output, net_id value);
bool onnx_part_wanted(const struct onnx_parts *p, size_t output);
/* Element type that is known of a value; NET_TYPES = none is. */
enum net_type onnx_part_type(const struct onnx_parts *p, net_id value);
/* The contents of a constant; NULL = it is none. */
const struct net_array *onnx_part_constant(const struct onnx_parts *p, net_id value);
/* How many dimensions a value has, or `otherwise` when that is not known yet. */
unsigned onnx_part_dims(const struct onnx_parts *p, net_id value, unsigned otherwise);
/* The node is of a kind that is not modelled, or wrong. */
void onnx_part_refuse(struct onnx_parts *p, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
