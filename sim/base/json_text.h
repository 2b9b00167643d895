/* JSON files of the project: strict, limited in size and depth, errors with file and line. */
#ifndef ORCHARD_SIM_BASE_JSON_TEXT_H
#define ORCHARD_SIM_BASE_JSON_TEXT_H

#include "sim/base/error.h"

#include <json-c/json.h>
#include <stddef.h>

/* The object in the text; NULL with "STEM.json:LINE: reason". The caller puts it. */
json_object *json_text_parse(const char *stem, const char *text, size_t size, struct orch_error *error);

#endif
