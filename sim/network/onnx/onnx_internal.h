/* Shared by the files of the ONNX import. */
#ifndef ORCHARD_SIM_NETWORK_ONNX_ONNX_INTERNAL_H
#define ORCHARD_SIM_NETWORK_ONNX_ONNX_INTERNAL_H

#include "sim/network/graph/graph.h"
#include "sim/network/onnx/onnx.h"

#include <onnx.pb-c.h>

/* Walks the wire format of a message by its description: false with an error when it is damaged, nested too deep, or would unpack
 * to more than it is worth. */
bool onnx_wire_check(const ProtobufCMessageDescriptor *message, const uint8_t *bytes, size_t size, struct orch_error *error);

/* A tensor's values. `path` names the model whose folder may hold external data; NULL = none may. */
struct net_array *onnx_tensor(const Onnx__TensorProto *tensor, const char *path, struct orch_error *error);

/* Names and what they stand for, one map for each graph; a name that a graph does not have is looked for around it. */
struct onnx_names {
    const struct onnx_names *outer;
    const char **name; /* borrowed */
    net_id *id;
    size_t count, room;
};
bool onnx_names_add(struct onnx_names *names, const char *name, net_id id); /* false when memory is out */
net_id onnx_names_here(const struct onnx_names *names, const char *name);
net_id onnx_names_find(const struct onnx_names *names, const char *name);
void onnx_names_free(struct onnx_names *names);

/* The order in which nodes are computed, for free(); NULL = the file's: it will do, or none does (they need one another, which is
 * told when they are read; or memory is out). */
size_t *onnx_order(Onnx__NodeProto *const *node, size_t nodes);

/* The kind of an attribute; older files leave it out. */
Onnx__AttributeProto__AttributeType onnx_attribute_kind(const Onnx__AttributeProto *a);
char *onnx_attribute_text(const ProtobufCBinaryData *bytes); /* for free(); NULL when memory is out */
/* Gives the node a list under that name, nothing when the attribute is none; false when memory is out. */
bool onnx_attribute_list(const Onnx__AttributeProto *a, struct net_node *node, const char *name);

/* A Constant is no node: its output becomes a constant of the model, and *taken is set. */
bool onnx_take_constant(struct net_model *model, const struct net_node *node, bool *taken, struct orch_error *error);

/* Refuses operator sets and formats that are newer than what is known. */
bool onnx_check_model(const Onnx__ModelProto *model, struct orch_error *error);
/* Refuses operators and attributes that the node's operator set does not have, attributes of another kind, words that say
 * nothing, and what may not be left out and is. */
bool onnx_check_node(const struct net_node *node, struct orch_error *error);

/* Brings a node to the form of the newest operator set; new constants go to the model. */
bool onnx_normalise(struct net_model *model, struct net_node *node, struct orch_error *error);

#endif
