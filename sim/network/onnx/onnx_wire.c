/* The check before unpacking. The generated code recurses as deep as the file says, merges repeated messages, and makes objects
 * of hundreds of bytes for messages of two: none of that is left to the file. */
#include "sim/network/onnx/onnx_internal.h"

enum { DEPTH_MAX = 64, MESSAGES_MAX = 1 << 23, FIELDS_MAX = 1 << 28, FIELD_LIST_MAX = 64 };

struct wire {
    const uint8_t *start;
    uint64_t messages, fields;
    struct orch_error *error;
};

static bool damaged(const struct wire *w, const uint8_t *at, const char *what)
{
    return orch_fail(w->error, ORCH_USAGE, "byte %zu: %s", (size_t)(at - w->start), what);
}

static bool read_varint(const struct wire *w, const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *p = *at;
    *value = 0;
    for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
        *value |= shift < 64 ? (uint64_t)(*p & 127) << shift : 0;
        if (!(*p++ & 128)) {
            *at = p;
            return true;
        }
    }
    return damaged(w, *at, p < end ? "a number is too long" : "the file ends within a number");
}

static bool check_message(struct wire *w, const ProtobufCMessageDescriptor *message, const uint8_t *at, const uint8_t *end,
                          unsigned depth);

/* What follows the tag of a field. */
static bool check_field(struct wire *w, const ProtobufCFieldDescriptor *field, unsigned wire_type, const uint8_t **at,
                        const uint8_t *end, unsigned depth)
{
    uint64_t length;
    const bool nested = field && field->type == PROTOBUF_C_TYPE_MESSAGE;
    switch (wire_type) {
    case 0: return read_varint(w, at, end, &length);
    case 1:
    case 5:
        length = wire_type == 1 ? 8 : 4;
        if ((uint64_t)(end - *at) < length)
            return damaged(w, *at, "the file ends within a number");
        *at += length;
        return true;
    case 2:
        if (!read_varint(w, at, end, &length))
            return false;
        if (length > (uint64_t)(end - *at))
            return damaged(w, *at, "a field is longer than the file: it was cut off, or is no ONNX model");
        if (nested && !check_message(w, field->descriptor, *at, *at + length, depth + 1))
            return false;
        *at += length;
        return true;
    default: return damaged(w, *at, "no protobuf field: the file is damaged, or no ONNX model");
    }
}

static bool check_message(struct wire *w, const ProtobufCMessageDescriptor *message, const uint8_t *at, const uint8_t *end,
                          unsigned depth)
{
    uint64_t seen = 0; /* single messages, by place in the description */
    if (depth > DEPTH_MAX)
        return damaged(w, at, "messages are nested too deep");
    if (++w->messages > MESSAGES_MAX)
        return damaged(w, at, "too many messages");
    while (at < end) {
        const uint8_t *const start = at;
        uint64_t tag;
        if (!read_varint(w, &at, end, &tag))
            return false;
        if (tag >> 3 == 0 || tag >> 3 > 536870911)
            return damaged(w, start, "no protobuf field: the file is damaged, or no ONNX model");
        if (++w->fields > FIELDS_MAX)
            return damaged(w, start, "too many fields");
        const ProtobufCFieldDescriptor *const field = protobuf_c_message_descriptor_get_field(message, (unsigned)(tag >> 3));
        if (field && field->type == PROTOBUF_C_TYPE_MESSAGE && field->label != PROTOBUF_C_LABEL_REPEATED) {
            const size_t place = (size_t)(field - message->fields);
            if (place < FIELD_LIST_MAX && seen >> place & 1)
                return damaged(w, start, "a field that may stand once stands twice");
            seen |= place < FIELD_LIST_MAX ? UINT64_C(1) << place : 0;
        }
        if (!check_field(w, field, tag & 7, &at, end, depth))
            return false;
    }
    return true;
}

bool onnx_wire_check(const ProtobufCMessageDescriptor *message, const uint8_t *bytes, size_t size, struct orch_error *error)
{
    struct wire w = {.start = bytes, .error = error};
    return check_message(&w, message, bytes, bytes + size, 0);
}
