/* Tensors of the KServe protocol: as JSON numbers, or as bytes behind the JSON. */
#ifndef ORCHARD_SIM_SERVE_KSERVE_TENSOR_H
#define ORCHARD_SIM_SERVE_KSERVE_TENSOR_H

#include "reports/text.h"
#include "sim/base/json_read.h"
#include "sim/network/graph/graph.h"

/* "FP32"; NULL for types that the protocol does not have. */
const char *kserve_type_name(enum net_type type);
enum net_type kserve_type_named(const char *name); /* NET_TYPES = none */

/* Bytes behind the JSON, taken from the front. */
struct kserve_binary {
    const char *at;
    size_t left;
    size_t json; /* bytes of the JSON: more numbers than that are not there */
};
/* Reads an input: shape, datatype, data or parameters.binary_data_size. NULL after json_wrong or *error. */
struct net_array *kserve_read(const struct json_node *input, enum net_type expected, struct kserve_binary *binary,
                              struct orch_error *error);
/* Numbers in brackets; false for values that JSON has no form for. */
bool kserve_write(struct text *to, const struct net_array *array);

#endif
