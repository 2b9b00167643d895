/* Reads the header, metadata and tensor records of one file. */
#include "sim/language/gguf_internal.h"

#include "isa/list_grow.h"
#include "sim/language/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Limits are far above any real file; they bound the work that a damaged one can ask for. */
enum { VALUES_MAX = 1 << 16, TENSORS_MAX = 1 << 17, KEY_MAX = 1024, NESTING_MAX = 4, ALIGNMENT_MAX = 1 << 20 };
enum { LEAST_VALUE_BYTES = 8 + 4 + 1, LEAST_TENSOR_BYTES = 8 + 4 + 4 + 8, HEADER_BYTES = 24 };

/* Reads stop at the first error; whoever reads several things asks `ok` once. */
struct cursor {
    const uint8_t *bytes;
    size_t size, at;
    struct orch_error *error;
    bool ok;
};

static bool wrong(struct cursor *c, const char *what)
{
    if (c->ok)
        orch_fail(c->error, ORCH_USAGE, "byte %zu: %s", c->at, what);
    return c->ok = false;
}

static const uint8_t *take(struct cursor *c, uint64_t count)
{
    if (!c->ok)
        return NULL;
    if (count > c->size - c->at) {
        orch_fail(c->error, ORCH_USAGE,
                  "byte %zu: %" PRIu64 " bytes are announced, %zu are left; the file is damaged or cut off, fetch it again",
                  c->at, count, c->size - c->at);
        c->ok = false;
        return NULL;
    }
    const uint8_t *const bytes = c->bytes + c->at;
    c->at += (size_t)count;
    return bytes;
}

static uint32_t take_u32(struct cursor *c)
{
    const uint8_t *const bytes = take(c, 4);
    return bytes ? block_u32(bytes) : 0;
}

static uint64_t take_u64(struct cursor *c)
{
    const uint8_t *const bytes = take(c, 8);
    return bytes ? block_u64(bytes) : 0;
}

/* A number of things that need so many bytes each. */
static uint64_t take_count(struct cursor *c, const char *what, uint64_t least_bytes, uint64_t most)
{
    const size_t at = c->at;
    const uint64_t count = take_u64(c);
    if (c->ok && (count > most || count > (c->size - c->at) / least_bytes)) {
        orch_fail(c->error, ORCH_USAGE,
                  "byte %zu: %" PRIu64 " %s do not fit into the %zu bytes that follow%s; the file is damaged or cut off, "
                  "fetch it again",
                  at, count, what, c->size - c->at, count > most ? " (or are more than is read)" : "");
        c->ok = false;
    }
    return c->ok ? count : 0;
}

/* A name that may stand in messages: UTF-8 without control characters. */
static char *take_name(struct cursor *c, const char *what, size_t longest)
{
    const size_t at = c->at;
    const uint64_t length = take_u64(c);
    const uint8_t *const bytes = c->ok && length > longest ? NULL : take(c, length);
    bool right = bytes && length > 0 && utf8_is_valid(bytes, (size_t)length, NULL);
    for (size_t i = 0; right && i < length; i++)
        right = bytes[i] >= ' ' && bytes[i] != 0x7f;
    if (!right) {
        if (c->ok)
            orch_fail(c->error, ORCH_USAGE, "byte %zu: %s is no text of 1 to %zu bytes; the file is damaged, fetch it again", at,
                      what, longest);
        c->ok = false;
        return NULL;
    }
    char *const name = strndup((const char *)bytes, (size_t)length);
    if (!name)
        c->ok = orch_no_memory(c->error);
    return name;
}

unsigned gguf_type_bytes(enum gguf_type type)
{
    static const uint8_t bytes[GGUF_TYPE_COUNT] = {
        [GGUF_U8] = 1,  [GGUF_I8] = 1,   [GGUF_U16] = 2, [GGUF_I16] = 2, [GGUF_U32] = 4, [GGUF_I32] = 4,
        [GGUF_F32] = 4, [GGUF_BOOL] = 1, [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8,
    };
    return bytes[type];
}

static enum gguf_type take_type(struct cursor *c)
{
    const uint32_t type = take_u32(c);
    if (c->ok && type >= GGUF_TYPE_COUNT) {
        c->at -= 4;
        wrong(c, "unknown type of metadata; the file is damaged or of a later version of the format");
    }
    return c->ok ? (enum gguf_type)type : GGUF_U8;
}

static void skip_items(struct cursor *c, enum gguf_type type, uint64_t count, unsigned depth);

/* The items of an array whose type and count come first. */
static void take_array(struct cursor *c, struct gguf_value *value, unsigned depth)
{
    value->item = take_type(c);
    const unsigned bytes = gguf_type_bytes(value->item);
    value->count = take_count(c, "items of an array", bytes ? bytes : 8, UINT64_MAX);
    value->bytes = c->bytes + c->at;
    skip_items(c, value->item, value->count, depth);
}

static void skip_items(struct cursor *c, enum gguf_type type, uint64_t count, unsigned depth)
{
    const unsigned bytes = gguf_type_bytes(type);
    struct gguf_value inner;
    if (bytes) {
        take(c, count * bytes); /* count was checked against the bytes that are left */
        return;
    }
    if (type == GGUF_ARRAY && depth >= NESTING_MAX)
        wrong(c, "arrays within arrays within arrays; the file is damaged");
    for (uint64_t i = 0; c->ok && i < count; i++) {
        if (type == GGUF_STRING)
            take(c, take_u64(c));
        else
            take_array(c, &inner, depth + 1);
    }
}

static void take_value(struct cursor *c, struct gguf_value *value)
{
    value->type = value->item = take_type(c);
    value->count = 1;
    value->bytes = c->bytes + c->at;
    if (value->type == GGUF_STRING) {
        value->count = take_u64(c);
        value->bytes = take(c, value->count);
    } else if (value->type == GGUF_ARRAY) {
        take_array(c, value, 0);
    } else {
        take(c, gguf_type_bytes(value->type));
        if (c->ok && value->type == GGUF_BOOL && *value->bytes > 1)
            wrong(c, "a boolean that is neither 0 nor 1; the file is damaged");
    }
    if (c->ok)
        value->size = (size_t)(c->bytes + c->at - value->bytes);
}

static int by_key(const void *a, const void *b)
{
    const struct gguf_value *const *const x = a, *const *const y = b;
    return strcmp((*x)->key, (*y)->key);
}

static bool keys_differ(const struct gguf *gguf, struct orch_error *error)
{
    const struct gguf_value **const sorted = malloc((gguf->values + 1) * sizeof *sorted);
    bool differ = true;
    if (!sorted)
        return orch_no_memory(error);
    for (size_t i = 0; i < gguf->values; i++)
        sorted[i] = &gguf->value[i];
    qsort(sorted, gguf->values, sizeof *sorted, by_key);
    for (size_t i = 1; differ && i < gguf->values; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            differ = orch_fail(error, ORCH_USAGE, "metadata: key '%.80s' stands there twice", sorted[i]->key);
    free(sorted);
    return differ;
}

/* Of the later parts of a split file only the alignment counts. */
static void read_values(struct gguf *gguf, struct cursor *c, uint64_t count, unsigned part, uint64_t *alignment)
{
    for (uint64_t i = 0; c->ok && i < count; i++) {
        struct gguf_value value = {.key = take_name(c, "a key of the metadata", KEY_MAX)};
        const size_t at = c->at;
        if (c->ok)
            take_value(c, &value);
        if (!c->ok)
            orch_fail_in(c->error, "metadata %" PRIu64 " of %" PRIu64 "%s%.80s", i + 1, count, value.key ? ", " : "",
                         value.key ? value.key : "");
        if (c->ok && strcmp(value.key, "general.alignment") == 0 &&
            (value.type != GGUF_U32 || !gguf_whole(&value, 0, alignment) || *alignment == 0 || *alignment > ALIGNMENT_MAX ||
             *alignment & (*alignment - 1)))
            c->ok = orch_fail(c->error, ORCH_USAGE, "byte %zu: general.alignment is no u32 that is a power of two up to %d", at,
                              ALIGNMENT_MAX);
        struct gguf_value *const grown =
            c->ok && part == 0 ? list_grow(gguf->value, gguf->values, &gguf->value_room, sizeof *grown) : NULL;
        if (c->ok && part == 0 && !grown)
            c->ok = orch_no_memory(c->error);
        if (!grown) {
            free((void *)(uintptr_t)value.key);
            continue;
        }
        gguf->value = grown;
        gguf->value[gguf->values++] = value;
    }
}

static void take_shape(struct cursor *c, struct weight_tensor *tensor)
{
    tensor->dims = take_u32(c);
    if (c->ok && tensor->dims > 4) {
        c->at -= 4;
        wrong(c, "more than 4 dimensions; the file is damaged");
    }
    for (unsigned i = 0; c->ok && i < tensor->dims; i++)
        tensor->shape[i] = take_u64(c);
    const uint32_t number = take_u32(c);
    tensor->format = block_format_numbered(number);
    if (c->ok && !tensor->format)
        c->ok =
            orch_fail(c->error, ORCH_UNMODELLED,
                      "byte %zu: tensor type %" PRIu32 " is not known; convert the file to a type that is (f16, q8_0, q4_k ...)",
                      c->at - 4, number);
    tensor->offset = take_u64(c);
}

/* Records first, for only behind them it is known where the data begin. */
static void read_tensors(struct gguf *gguf, struct cursor *c, uint64_t count, unsigned part)
{
    for (uint64_t i = 0; c->ok && i < count; i++) {
        char *const name = take_name(c, "the name of a tensor", WEIGHT_NAME_MAX);
        struct weight_tensor tensor = {.name = name, .part = part};
        if (c->ok)
            take_shape(c, &tensor);
        if (!c->ok)
            orch_fail_in(c->error, "tensor %" PRIu64 " of %" PRIu64 "%s%.80s", i + 1, count, name ? ", " : "", name ? name : "");
        c->ok = c->ok && weight_measure(&tensor, c->error) && weight_add(&gguf->weights, &tensor, c->error);
        free(name);
    }
}

/* Where the data begin; the tensors must lie within them. */
static void place_tensors(struct gguf *gguf, struct cursor *c, size_t first, uint64_t alignment)
{
    const size_t data = (size_t)((c->at + alignment - 1) / alignment * alignment);
    for (size_t i = first; c->ok && i < gguf->weights.count; i++) {
        struct weight_tensor *const t = &gguf->weights.tensor[i];
        if (t->offset % alignment != 0)
            c->ok = orch_fail(c->error, ORCH_USAGE, "tensor '%.80s': offset %" PRIu64 " is no multiple of the alignment %" PRIu64,
                              t->name, t->offset, alignment);
        else if (data > c->size || t->offset > c->size - data || t->bytes > c->size - data - t->offset)
            c->ok = orch_fail(c->error, ORCH_USAGE,
                              "tensor '%.80s': its %" PRIu64 " bytes at %" PRIu64
                              " of the data end behind the file (%zu bytes); the file is "
                              "cut off, fetch it again",
                              t->name, t->bytes, t->offset, c->size);
        if (c->ok)
            t->data = c->bytes + data + t->offset;
    }
}

static bool read_header(struct gguf *gguf, struct cursor *c, unsigned part)
{
    if (!gguf_is(c->bytes, c->size))
        return orch_fail(c->error, ORCH_USAGE, "does not begin with GGUF%s",
                         c->size > 2 && c->bytes[0] == 0x1f && c->bytes[1] == 0x8b ? "; it is compressed, unpack it with gunzip"
                                                                                   : "");
    c->at = 4;
    const uint32_t version = take_u32(c);
    if (!c->ok)
        return false;
    if (version > 0 && (version & 0xffff) == 0)
        return orch_fail(c->error, ORCH_USAGE, "byte 4: written for big-endian machines; convert it to little-endian");
    if (version != 2 && version != 3)
        return orch_fail(c->error, ORCH_USAGE, "byte 4: version %" PRIu32 " of the format; versions 2 and 3 are read%s", version,
                         version == 1 ? ", convert it again from its source" : "");
    if (part == 0)
        gguf->version = version;
    return true;
}

bool gguf_read(struct gguf *gguf, const uint8_t *bytes, size_t size, unsigned part, struct orch_error *error)
{
    struct cursor cursor = {.bytes = bytes, .size = size, .error = error, .ok = true}, *const c = &cursor;
    const size_t first = gguf->weights.count;
    uint64_t alignment = 32;
    if (!read_header(gguf, c, part))
        return false;
    const uint64_t tensors = take_count(c, "tensors", LEAST_TENSOR_BYTES, TENSORS_MAX),
                   values = take_count(c, "metadata", LEAST_VALUE_BYTES, VALUES_MAX);
    read_values(gguf, c, values, part, &alignment);
    read_tensors(gguf, c, tensors, part);
    if (c->ok)
        place_tensors(gguf, c, first, alignment);
    if (part == 0)
        gguf->alignment = (uint32_t)alignment;
    return c->ok && (part != 0 || keys_differ(gguf, error));
}
