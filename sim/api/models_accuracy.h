/* orchard models accuracy: what smaller weights cost a network's outputs. */
#ifndef ORCHARD_SIM_API_MODELS_ACCURACY_H
#define ORCHARD_SIM_API_MODELS_ACCURACY_H

#include "sim/api/api.h"

int models_accuracy(struct api_context *context, const char *path);

#endif
