/* Operators that frameworks add to ONNX's, and ONNX's own that are made of others, as their parts. */
#ifndef ORCHARD_SIM_NETWORK_ONNX_EXTENDED_H
#define ORCHARD_SIM_NETWORK_ONNX_EXTENDED_H

#include "sim/network/onnx/parts.h"

/* Whether an operator is written as its parts. */
bool onnx_is_extended(const char *op, const char *domain);
/* Adds the parts of the node, which itself stays outside the graph. */
bool onnx_extend(struct net_model *model, struct net_graph *graph, const struct net_node *node, struct orch_error *error);

/* States what is known of the shapes of what the graph's nodes from `first` on compute; what makes no sense is told later. */
bool onnx_know_shapes(struct net_model *model, struct net_graph *graph, size_t first, struct orch_error *error);

/* ---- families: each writes the parts of one operator ---- */

#define EXTENDED(op, domain, function, ...) void onnx_extend_##function(struct onnx_parts *p);
#include "sim/network/onnx/extended.inc"
#undef EXTENDED

#endif
