/* Core ML files: .mlmodel (one protobuf message) and .mlpackage (a folder with such a message and a file of weights).
 *
 * Neural networks (specifications 1 to 5) and ML programs (from 6 on) become graphs of the operators that ONNX's newest set has,
 * in single precision: the types of a program are the least precision that it asks for. Arrays of the older networks, which Core
 * ML sees as [sequence, batch, channel, height, width], are [sequence, channel, height, width] here.
 *
 * A file is believed nothing: sizes are compared with the data that is there before memory is asked for, nesting is bounded, and
 * weights are read only from files inside the package, through no symbolic link. What is wrong is one line with file and layer or
 * operation, ORCH_USAGE; what is right but not known is ORCH_UNMODELLED.
 */
#ifndef ORCHARD_SIM_NETWORK_COREML_COREML_H
#define ORCHARD_SIM_NETWORK_COREML_COREML_H

#include "sim/network/graph/graph.h"

/* A Model message in memory. `path` is for messages, and beside it are the weights of a program (NULL: there are none). */
struct net_model *coreml_import(const char *path, const uint8_t *bytes, size_t size, struct orch_error *error);
/* The same from disk: a file, or a package. */
struct net_model *coreml_load(const char *path, struct orch_error *error);
/* By the name: .mlmodel, .mlpackage. */
bool coreml_is_named(const char *path);

#endif
