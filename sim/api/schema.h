/* JSON schemas (draft 2020-12) of the documents that verbs give, made of the table in schema_keys.inc. */
#ifndef ORCHARD_SIM_API_SCHEMA_H
#define ORCHARD_SIM_API_SCHEMA_H

#include <json-c/json.h>
#include <stddef.h>

/* Names of documents, by place: "run" ...; NULL past the last. */
const char *schema_name_at(size_t index);
/* The schema of a document; NULL when there is none of that name or memory is short. Free with json_object_put. */
json_object *schema_of(const char *name);

#endif
