/* orchard models quantize: a network with integers in the place of its weights, and how near it is to the one that it was. */
#ifndef ORCHARD_SIM_API_MODELS_QUANTISE_H
#define ORCHARD_SIM_API_MODELS_QUANTISE_H

#include "sim/api/api.h"

/* clang-format off */
#define MODELS_QUANTISE_OPTIONS \
    {"to", 0, "TYPE", false, "quantize: int8 (weights and what goes into products; needs --calibrate), int4, f16 or sparse (weights)"}, \
    {"share", 0, "S", false, "quantize: of weights that become zeros with --to sparse (default 0.5)"}, \
    {"calibrate", 0, "PATH", false, "quantize, accuracy: samples of the inputs: a folder of .npy, .npz, .png, .jpg, or a .npz or .npy of many"}, \
    {"evaluate", 0, "PATH", false, "quantize, accuracy: samples for the report (default: those of " ORCH_OPTION("calibrate") ")"}, \
    {"method", 0, "NAME", false, "quantize: ranges by minmax (default), percentile (99.99 %) or entropy"}, \
    {"percentile", 0, "P", false, "quantize: another percentile, above 50"}, \
    {"mean", 0, "M[,M,M]", false, "quantize: taken from each pixel (0 to 255) of images"}, \
    {"std", 0, "S[,S,S]", false, "quantize: what the pixels are divided by then"}, \
    {"output", 'o', "FILE", false, "quantize: where the network goes, as ONNX"}
/* clang-format on */

int models_quantise(struct api_context *context, const char *path);

#endif
