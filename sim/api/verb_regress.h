/* What the verbs regress and report share: opening a baseline. */
#ifndef ORCHARD_SIM_API_VERB_REGRESS_H
#define ORCHARD_SIM_API_VERB_REGRESS_H

#include "sim/api/api.h"
#include "sim/prove/regress/baseline.h"

/* Opens a file, or a name in the database. `default` is the baseline that comes with orchard until another one is recorded. */
bool verb_open_baseline(struct api_context *context, const char *name, struct baseline *b, struct orch_error *error);

#endif
