/* The JSON document of a run. */
#ifndef ORCHARD_SIM_LISTEN_RUN_JSON_H
#define ORCHARD_SIM_LISTEN_RUN_JSON_H

#include "sim/base/run_result.h"
#include "sim/chip/chip.h"

#include <json-c/json.h>

/* Makes an object with every key of the contract; a value that does not apply is null. The caller frees it with json_object_put.
 * NULL when memory has run out. The chip, with what was set on it, gives the peaks of peak_share; NULL = these are null. */
struct json_object *run_json(const struct run_result *result, const struct chip *chip);

/* profile_json.c: the member "profile" of runs that have one. */
struct json_object *profile_json(const struct line_profile *profile);

#endif
