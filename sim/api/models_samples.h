/* Networks and samples of their inputs, as the options of the verb models state them. */
#ifndef ORCHARD_SIM_API_MODELS_SAMPLES_H
#define ORCHARD_SIM_API_MODELS_SAMPLES_H

#include "sim/api/api.h"
#include "sim/network/network.h"
#include "sim/network/quantise/samples.h"

/* Without fused operators, which ONNX files do not know, and with the dimensions of the samples and of the option "dim". NULL
 * with *error. */
struct net_model *models_tidy_network(struct api_context *context, const char *path, const struct net_samples *samples,
                                      struct orch_error *error);
/* In the place of those that were there; images are scaled by the options "mean" and "std". */
bool models_samples_load(struct api_context *context, const char *path, const char *from, struct net_samples *samples,
                         struct orch_error *error);

#endif
