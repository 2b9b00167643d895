/* JSON documents that are written: json-c objects with numbers in the digits they are worth. */
#ifndef ORCHARD_SIM_BASE_JSON_OUT_H
#define ORCHARD_SIM_BASE_JSON_OUT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Ten significant digits; null for NaN and infinities. */
json_object *json_number(double number);
/* All digits, shortest spelling: for texts that are read back to the same number. Infinities are written as numbers that are too
 * large; null for NaN. */
json_object *json_exact_number(double number);
/* Members; a NULL text and a NaN become null. */
void json_add_number(json_object *object, const char *name, double number);
/* So many significant digits, fewer where they say the same; null for NaN and infinities. */
void json_add_digits(json_object *object, const char *name, double number, int digits);
/* All digits, integers with ".0"; null for NaN and infinities. */
void json_add_all_digits(json_object *object, const char *name, double number);
void json_add_count(json_object *object, const char *name, uint64_t count);
void json_add_bool(json_object *object, const char *name, bool value);
void json_add_text(json_object *object, const char *name, const char *text);
void json_add_null(json_object *object, const char *name);
/* Hashes and checksums: "0x" and 16 hexadecimal digits, since JSON numbers lose bits above 2^53. */
void json_add_hash(json_object *object, const char *name, uint64_t hash);
/* Prints the document and a newline, and releases the document. */
void json_print(json_object *object, FILE *out);
/* The document as one line without a newline, released; the caller frees the text. NULL when memory is out. */
char *json_line(json_object *object);

#endif
