/* What commands about baselines share. */
#ifndef ORCHARD_SIM_API_VERB_REGRESS_H
#define ORCHARD_SIM_API_VERB_REGRESS_H

#include "sim/api/api.h"
#include "sim/prove/regress/baseline.h"

/* A file, or a name in the database; `default` is the one that orchard ships with until another is recorded. */
bool verb_open_baseline(struct api_context *context, const char *name, struct baseline *b, struct orch_error *error);

#endif
