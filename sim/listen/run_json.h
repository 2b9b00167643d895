/* The JSON document of a run. */
#ifndef ORCHARD_SIM_LISTEN_RUN_JSON_H
#define ORCHARD_SIM_LISTEN_RUN_JSON_H

#include "sim/base/run_result.h"

#include <json-c/json.h>

/* A new object with every key of the contract, null where a value does not apply; json_object_put frees it. NULL when
 * memory is short. */
struct json_object *run_json(const struct run_result *result);

#endif
