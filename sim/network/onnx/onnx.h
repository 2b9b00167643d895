/* ONNX files: models, and tensors by themselves (the .pb files of test data).
 *
 * Models of opsets 7 to 21 (and earlier and later ones, as far as their operators are the same) become graphs in the one form
 * that sim/network/operators knows: normalise.c turns what older sets had as attributes into inputs, and so on. Names are the
 * file's.
 *
 * A file is believed nothing. Before the generated code unpacks it, the nesting, the number of messages and the lengths are
 * checked; sizes are checked against the data that is there before memory is asked for; external data is read only from files
 * inside the model's folder, through no symbolic link. What is wrong is one line with file and node, ORCH_USAGE; what is right
 * but not known is ORCH_UNMODELLED.
 */
#ifndef ORCHARD_SIM_NETWORK_ONNX_ONNX_H
#define ORCHARD_SIM_NETWORK_ONNX_ONNX_H

#include "sim/network/graph/graph.h"

/* protobuf's own limit of a message. */
#define ONNX_BYTES_MAX ((size_t)INT32_MAX)

/* A model that is in memory. `path` is for messages, and its folder is where external data may be. NULL with an error. */
struct net_model *onnx_import(const char *path, const uint8_t *bytes, size_t size, struct orch_error *error);
/* The same from disk. */
struct net_model *onnx_load(const char *path, struct orch_error *error);
/* Whether bytes look like a model: they begin with one of its fields, and a graph is among those that follow. */
bool onnx_is(const void *bytes, size_t size);

/* Writes a model of ONNX's own operators (no fused ones), with all its weights inside, as opset 21. */
bool onnx_export(const struct net_model *model, const char *path, struct orch_error *error);

/* A serialised TensorProto; its name goes to `name`, which may be NULL. NULL with an error. */
struct net_array *onnx_tensor_load(const char *path, char *name, size_t name_size, struct orch_error *error);

#endif
