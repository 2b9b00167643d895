/* GGUF files, versions 2 and 3: metadata and tensors, mapped into memory, of one file or of all parts of a split one.
 *
 * Everything that the file says about itself is checked when it is opened: counts against its size, strings, types, shapes,
 * alignment, places of tensors and that they do not overlap. Messages name the file, the place and what to do.
 * Format: ggml, docs/gguf.md.
 */
#ifndef ORCHARD_SIM_LANGUAGE_GGUF_H
#define ORCHARD_SIM_LANGUAGE_GGUF_H

#include "sim/language/weights.h"

/* In the order of their numbers in files. */
enum gguf_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPE_COUNT
};

struct gguf_value {
    const char *key;
    enum gguf_type type;
    enum gguf_type item;  /* of an array */
    uint64_t count;       /* items of an array, bytes of a string, else 1 */
    const uint8_t *bytes; /* the number, the characters, the first item; at any address */
    size_t size;          /* how many bytes these are together */
};

struct gguf;

/* Whether the file begins as GGUF files do. */
bool gguf_is(const void *bytes, size_t size);
/* Maps a file, and the other parts when it is the first of several. NULL = *error. */
struct gguf *gguf_open(const char *path, struct orch_error *error);
/* Reads one file that is in memory already and must stay there; `name` is for messages. */
struct gguf *gguf_parse(const char *name, const uint8_t *bytes, size_t size, struct orch_error *error);
void gguf_close(struct gguf *gguf);

const char *gguf_name(const struct gguf *gguf); /* the file's */
uint32_t gguf_version(const struct gguf *gguf);
uint32_t gguf_alignment(const struct gguf *gguf);
unsigned gguf_parts(const struct gguf *gguf);
uint64_t gguf_file_bytes(const struct gguf *gguf); /* of all parts */
const struct weight_list *gguf_weights(const struct gguf *gguf);

/* Metadata in the order of the file; NULL past the last, or when there is none of that key. */
const struct gguf_value *gguf_value_at(const struct gguf *gguf, size_t index);
const struct gguf_value *gguf_find(const struct gguf *gguf, const char *key);
const char *gguf_type_name(enum gguf_type type); /* "u32" */

/* Item `index` of an array of numbers, or the number itself at 0, as a double; booleans are 0 and 1. False for another type and
 * past the end. */
bool gguf_number(const struct gguf_value *value, uint64_t index, double *number);
/* The same for integers that are not negative. */
bool gguf_whole(const struct gguf_value *value, uint64_t index, uint64_t *number);

/* Items of an array of strings one after another; a string counts as an array of one. */
struct gguf_strings {
    const uint8_t *at;
    uint64_t left;
};
/* False when the value holds no strings. */
bool gguf_strings_of(const struct gguf_value *value, struct gguf_strings *strings);
bool gguf_next_string(struct gguf_strings *strings, const char **text, size_t *length);

/* Copies a string with a NUL behind it, cut to fit; "" when the value is NULL or of another type. */
const char *gguf_text(const struct gguf_value *value, char *text, size_t size);

#endif
