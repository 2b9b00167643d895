/* Networks with given inputs and expected outputs, in two layouts: a model with golden/golden.json and .npy files, and ONNX's own
 * backend tests, a model with test_data_set_N/{input,output}_M.pb. The model is model.onnx, model.mlmodel, a .mlpackage, or
 * an encoder of texts: a .gguf, or the folder itself.
 */
#ifndef ORCHARD_SIM_NETWORK_CASE_H
#define ORCHARD_SIM_NETWORK_CASE_H

#include "sim/network/graph/graph.h"

#include <stddef.h>

/* One set of inputs and expected outputs, in the order of the model's. */
struct net_case {
    struct net_array **input, **expected;
    size_t inputs, outputs;
    size_t declared; /* outputs that the model declares; those behind them are values inside it */
    size_t calls;    /* that the set holds: files may have one more dimension than the inputs, of calls one after another */
};

/* The path of the model of a folder; false when there is none. */
bool net_case_model(const char *folder, char *path, size_t size);
/* Sets of a folder. */
size_t net_case_sets(const char *folder, size_t *count, bool *golden);
/* Reads a call of a set for a model. Golden data are matched by name; what they expect of a value that is no output becomes one.
 * Free in any case. */
bool net_case_load(const char *folder, size_t set, size_t call, struct net_model *model, struct net_case *c,
                   struct orch_error *error);
void net_case_free(struct net_case *c);

/* How far an output is from what is expected. */
struct net_difference {
    double largest;   /* absolute */
    double magnitude; /* of the largest expected number */
    double worst;     /* of |got - expected| / (absolute + relative |expected|); 1 = the limit */
    bool fits;        /* type and shape are as expected */
};
/* Of an output of a case. A value inside the model may have dimensions of one that the expected numbers do not have. */
struct net_difference net_case_compare(const struct net_case *c, size_t output, const struct net_array *got, double relative,
                                       double absolute);
struct net_difference net_compare(const struct net_array *got, const struct net_array *expected, double relative,
                                  double absolute);

#endif
