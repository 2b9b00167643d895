/* The JSON documents of `--json`: json-c objects whose numbers are printed with as many digits as they are worth. */
#ifndef ORCHARD_SIM_BASE_JSON_OUT_H
#define ORCHARD_SIM_BASE_JSON_OUT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Ten significant digits; null for NaN and infinities. */
json_object *json_number(double number);
/* Add a member; a NULL text and a NaN become null. */
void json_add_number(json_object *object, const char *name, double number);
void json_add_count(json_object *object, const char *name, uint64_t count);
void json_add_bool(json_object *object, const char *name, bool value);
void json_add_text(json_object *object, const char *name, const char *text);
void json_add_null(json_object *object, const char *name);
/* Hashes and checksums: "0x" and 16 hexadecimal digits, since JSON numbers lose bits above 2^53. */
void json_add_hash(json_object *object, const char *name, uint64_t hash);
/* Prints the document and a newline, and releases the document. */
void json_print(json_object *object, FILE *out);

#endif
