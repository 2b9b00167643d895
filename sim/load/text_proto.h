/* Protobuf's text format, as config.pbtxt files are written in it: names with values, messages in braces, lists in brackets. The
 * fields' types are not known here: numbers and words stay texts until somebody asks for them, and each field knows its line.
 *
 *     struct text_proto *file = text_proto_parse("config.pbtxt", text, size, &error);
 *     for (size_t i = 0; i < file->count; i++)
 *         if (strcmp(file->field[i].name, "max_batch_size") == 0) ...
 */
#ifndef ORCHARD_SIM_LOAD_TEXT_PROTO_H
#define ORCHARD_SIM_LOAD_TEXT_PROTO_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { TEXT_PROTO_DEPTH = 32 };

struct text_proto_field {
    char *name;
    unsigned line; /* of the value, from 1 */
    enum { TEXT_PROTO_WORD, TEXT_PROTO_STRING, TEXT_PROTO_MESSAGE } kind;
    char *text;                 /* of a word (number, enumerator, boolean) or a string, decoded; NUL stands behind it */
    size_t length;              /* of a string, which may hold NUL */
    struct text_proto *message; /* of a message */
};

/* The fields in the order of the file; each element of a list is a field of its own. */
struct text_proto {
    struct text_proto_field *field;
    size_t count, room;
};

/* NULL with "FILE:LINE: what is wrong". */
struct text_proto *text_proto_parse(const char *file, const char *text, size_t size, struct orch_error *error);
void text_proto_free(struct text_proto *message);

/* The values of fields; false with "FILE:LINE: ..." when a field is of another type or out of range. */
bool text_proto_integer(const char *file, const struct text_proto_field *field, int64_t lowest, int64_t highest, int64_t *value,
                        struct orch_error *error);
bool text_proto_number(const char *file, const struct text_proto_field *field, double *value, struct orch_error *error);
bool text_proto_boolean(const char *file, const struct text_proto_field *field, bool *value, struct orch_error *error);
const char *text_proto_string(const char *file, const struct text_proto_field *field, struct orch_error *error);
/* An enumerator, as it stands there. */
const char *text_proto_word(const char *file, const struct text_proto_field *field, struct orch_error *error);
const struct text_proto *text_proto_message(const char *file, const struct text_proto_field *field, struct orch_error *error);

#endif
