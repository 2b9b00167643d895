/* orchard models passes: what each pass over a network's graph saves on a unit of a chip. */
#ifndef ORCHARD_SIM_API_MODELS_PASSES_H
#define ORCHARD_SIM_API_MODELS_PASSES_H

#include "sim/api/api.h"

int models_passes(struct api_context *context, const char *path);

#endif
