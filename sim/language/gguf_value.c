/* Values of the metadata, by type. */
#include "sim/language/gguf_internal.h"

#include <stdio.h>
#include <string.h>

const char *gguf_type_name(enum gguf_type type)
{
    static const char *const names[GGUF_TYPE_COUNT] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                       "bool", "string", "array", "u64", "i64", "f64"};
    return names[type];
}

/* Where a number stands; NULL when there is none. */
static const uint8_t *number_at(const struct gguf_value *value, uint64_t index)
{
    const unsigned bytes = gguf_type_bytes(value->item);
    return bytes && index < value->count ? value->bytes + index * bytes : NULL;
}

static int64_t signed_at(const uint8_t *at, unsigned bytes)
{
    switch (bytes) {
    case 1: return (int8_t)*at;
    case 2: return (int16_t)block_u16(at);
    case 4: return (int32_t)block_u32(at);
    default: return (int64_t)block_u64(at);
    }
}

static uint64_t unsigned_at(const uint8_t *at, unsigned bytes)
{
    switch (bytes) {
    case 1: return *at;
    case 2: return block_u16(at);
    case 4: return block_u32(at);
    default: return block_u64(at);
    }
}

static bool is_signed(enum gguf_type type)
{
    return type == GGUF_I8 || type == GGUF_I16 || type == GGUF_I32 || type == GGUF_I64;
}

bool gguf_number(const struct gguf_value *value, uint64_t index, double *number)
{
    const uint8_t *const at = number_at(value, index);
    if (!at)
        return false;
    if (value->item == GGUF_F32) {
        const uint32_t bits = block_u32(at);
        float f;
        memcpy(&f, &bits, sizeof f);
        *number = f;
    } else if (value->item == GGUF_F64) {
        const uint64_t bits = block_u64(at);
        memcpy(number, &bits, sizeof *number);
    } else {
        const unsigned bytes = gguf_type_bytes(value->item);
        *number = is_signed(value->item) ? (double)signed_at(at, bytes) : (double)unsigned_at(at, bytes);
    }
    return true;
}

bool gguf_whole(const struct gguf_value *value, uint64_t index, uint64_t *number)
{
    const uint8_t *const at = number_at(value, index);
    const unsigned bytes = gguf_type_bytes(value->item);
    if (!at || value->item == GGUF_F32 || value->item == GGUF_F64 || (is_signed(value->item) && signed_at(at, bytes) < 0))
        return false;
    *number = is_signed(value->item) ? (uint64_t)signed_at(at, bytes) : unsigned_at(at, bytes);
    return true;
}

bool gguf_strings_of(const struct gguf_value *value, struct gguf_strings *strings)
{
    if (value->item != GGUF_STRING)
        return false;
    const bool single = value->type == GGUF_STRING; /* its length stands in front of it, as with the items of an array */
    *strings = (struct gguf_strings){single ? value->bytes - 8 : value->bytes, single ? 1 : value->count};
    return true;
}

bool gguf_next_string(struct gguf_strings *strings, const char **text, size_t *length)
{
    if (strings->left == 0)
        return false;
    strings->left--;
    *length = (size_t)block_u64(strings->at);
    *text = (const char *)strings->at + 8;
    strings->at += 8 + *length;
    return true;
}

const char *gguf_text(const struct gguf_value *value, char *text, size_t size)
{
    const bool is_text = value && value->type == GGUF_STRING;
    snprintf(text, size, "%.*s", is_text ? (int)(value->count < size ? value->count : size) : 0,
             is_text ? (const char *)value->bytes : "");
    return text;
}
