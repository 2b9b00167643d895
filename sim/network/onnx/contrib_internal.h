/* What the files of the lowering of onnxruntime's operators share (contrib.c). */
#ifndef ORCHARD_SIM_NETWORK_ONNX_CONTRIB_INTERNAL_H
#define ORCHARD_SIM_NETWORK_ONNX_CONTRIB_INTERNAL_H

#include "sim/network/onnx/onnx_internal.h"

/* New nodes in the place of one. What has gone wrong leaves NET_NONE everywhere, and `ok` false. */
struct contrib_builder {
    struct net_model *model;
    struct net_graph *graph;
    const struct net_node *from;
    struct orch_error *error;
    unsigned made;
    bool ok;
};

/* NET_NONE, with the error that this is not modelled. */
net_id contrib_refuse(struct contrib_builder *b, const char *what);
/* A node with `outputs` new values, but `to` first where that is not NET_NONE. */
struct net_node *contrib_node(struct contrib_builder *b, const char *op, const net_id *input, size_t inputs, net_id to,
                              size_t outputs);
/* A node with one value; operands behind the last are NET_NONE. */
net_id contrib_make_into(struct contrib_builder *b, const char *op, net_id to, net_id x, net_id y, net_id z);
net_id contrib_make(struct contrib_builder *b, const char *op, net_id x, net_id y);
/* Takes the array over. */
net_id contrib_constant(struct contrib_builder *b, struct net_array *array);
net_id contrib_integers(struct contrib_builder *b, const int64_t *value, size_t count);
net_id contrib_integer(struct contrib_builder *b, int64_t value);
net_id contrib_number(struct contrib_builder *b, enum net_type type, double value);
net_id contrib_reshape(struct contrib_builder *b, net_id to, net_id x, const int64_t *shape, size_t dims);
/* The two dimensions in the middle of four change places. */
net_id contrib_turn(struct contrib_builder *b, net_id x);
net_id contrib_join(struct contrib_builder *b, net_id to, net_id x, net_id y, int64_t axis);
/* Parts of the last dimension. */
bool contrib_cut(struct contrib_builder *b, net_id x, const int64_t *size, size_t parts, net_id *part);
net_id contrib_unsqueeze(struct contrib_builder *b, net_id x, int64_t axis);
/* A dimension as a number. */
net_id contrib_length_of(struct contrib_builder *b, net_id x, int64_t dim);
/* What is known of it; else a negative number. */
int64_t contrib_last_dim(const struct contrib_builder *b, net_id id);
bool contrib_has_output(const struct contrib_builder *b, size_t k);

/* contrib_attention.c */
void contrib_rotary(struct contrib_builder *b);
void contrib_grouped(struct contrib_builder *b);

#endif
