/* Networks with given inputs and expected outputs, in two layouts: `model.onnx` with golden/golden.json and .npy files, and
 * ONNX's own backend tests, `model.onnx` with test_data_set_N/{input,output}_M.pb.
 */
#ifndef ORCHARD_SIM_NETWORK_CASE_H
#define ORCHARD_SIM_NETWORK_CASE_H

#include "sim/network/graph/graph.h"

#include <stddef.h>

/* One set of inputs and expected outputs, in the order of the model's. */
struct net_case {
    struct net_array **input, **expected;
    size_t inputs, outputs;
};

/* Sets of a folder: golden data count as one. */
size_t net_case_sets(const char *folder, size_t *count, bool *golden);
/* Reads a set for a model. Golden data are matched by name. Free in any case. */
bool net_case_load(const char *folder, size_t set, const struct net_model *model, struct net_case *c, struct orch_error *error);
void net_case_free(struct net_case *c);

/* How far an output is from what is expected. */
struct net_difference {
    double largest;   /* absolute */
    double magnitude; /* of the largest expected number */
    double worst;     /* of |got - expected| / (absolute + relative |expected|); 1 = the limit */
    bool fits;        /* type and shape are as expected */
};
struct net_difference net_compare(const struct net_array *got, const struct net_array *expected, double relative,
                                  double absolute);

#endif
