/* The table of verbs. */
#ifndef ORCHARD_SIM_API_VERBS_H
#define ORCHARD_SIM_API_VERBS_H

#include "sim/api/api.h"

/* In the order of the help; NULL past the last. */
const struct api_verb *verb_at(size_t index);
/* By name; NULL with a suggestion. */
const struct api_verb *verb_find(const char *name, struct orch_error *error);

#endif
