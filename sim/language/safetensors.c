#include "sim/language/safetensors.h"

#include "isa/array_count.h"
#include "sim/base/json_read.h"
#include "sim/language/mapped_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, PARTS_MAX = 4096 };

struct safetensors {
    struct mapped_files files;
    struct weight_list weights;
};

bool safetensors_is(const void *bytes, size_t size, uint64_t file_bytes)
{
    return size > LENGTH_BYTES && ((const char *)bytes)[LENGTH_BYTES] == '{' && block_u64(bytes) <= file_bytes - LENGTH_BYTES;
}

/* Types by their names; what GGUF has no number for stands here. The eight-bit floats have no decoder. */
static const struct block_format *format_named(const char *dtype)
{
    static const struct {
        const char *dtype, *name;
    } same[] = {{"F64", "f64"}, {"F32", "f32"}, {"F16", "f16"}, {"BF16", "bf16"},
                {"I64", "i64"}, {"I32", "i32"}, {"I16", "i16"}, {"I8", "i8"}};
    static const struct block_format others[] = {
        {"u8", UINT32_MAX, 1, 1, NULL},      {"bool", UINT32_MAX, 1, 1, NULL}, {"u16", UINT32_MAX, 1, 2, NULL},
        {"u32", UINT32_MAX, 1, 4, NULL},     {"u64", UINT32_MAX, 1, 8, NULL},  {"f8_e4m3", UINT32_MAX, 1, 1, NULL},
        {"f8_e5m2", UINT32_MAX, 1, 1, NULL},
    };
    for (size_t i = 0; i < ARRAY_COUNT(same); i++)
        if (strcmp(same[i].dtype, dtype) == 0)
            return block_format_named(same[i].name);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (strcasecmp(others[i].name, dtype) == 0)
            return &others[i];
    return NULL;
}

static void read_shape(const struct json_node *record, struct weight_tensor *tensor)
{
    const struct json_node shape = json_get_array(record, "shape", 0, WEIGHT_DIMS_MAX);
    struct json_node item;
    tensor->dims = (unsigned)json_count(&shape);
    for (struct json_walk walk = {.of = &shape}; json_next(&walk, &item);)
        tensor->shape[tensor->dims - 1 - item.index] = json_get_integer(&item, NULL, 0, INT64_MAX);
}

/* One record of the header; tensors without values (a dimension of 0) are left out. */
static bool read_tensor(struct safetensors *file, const struct json_node *record, const uint8_t *data, uint64_t data_bytes,
                        unsigned part)
{
    static const char *const members[] = {"dtype", "shape", "data_offsets"};
    struct weight_tensor tensor = {.name = record->name, .part = part};
    uint64_t end = 0;
    json_known(record, members, ARRAY_COUNT(members));
    const char *const dtype = json_get_string(record, "dtype");
    read_shape(record, &tensor);
    const struct json_node offsets = json_get_array(record, "data_offsets", 2, 2);
    struct json_node item;
    for (struct json_walk walk = {.of = &offsets}; json_next(&walk, &item);)
        *(item.index == 0 ? &tensor.offset : &end) = json_get_integer(&item, NULL, 0, data_bytes);
    if (!json_ok(record))
        return false;
    if (strlen(record->name) > WEIGHT_NAME_MAX)
        return json_wrong(record, NULL, "a name of more than %d bytes", WEIGHT_NAME_MAX);
    tensor.format = format_named(dtype);
    if (!tensor.format)
        return json_wrong(record, "dtype", "type \"%.40s\" is not known", dtype);
    for (unsigned i = 0; i < tensor.dims; i++)
        if (tensor.shape[i] == 0)
            return end == tensor.offset || json_wrong(record, "data_offsets", "a tensor without values has bytes");
    if (!weight_measure(&tensor, record->reader->error))
        return json_wrong_in(record, NULL);
    if (end < tensor.offset || end - tensor.offset != tensor.bytes)
        return json_wrong(record, "data_offsets",
                          "expected %" PRIu64 " bytes for that type and shape, got %" PRIu64 " to %" PRIu64, tensor.bytes,
                          tensor.offset, end);
    tensor.data = data + tensor.offset;
    return weight_add(&file->weights, &tensor, record->reader->error) || (record->reader->ok = false);
}

static bool read_header(struct safetensors *file, const char *name, const uint8_t *bytes, size_t size, unsigned part,
                        struct orch_error *error)
{
    struct json_reader reader;
    struct json_node record;
    const uint64_t length = size >= LENGTH_BYTES ? block_u64(bytes) : 0;
    if (size < LENGTH_BYTES || length > size - LENGTH_BYTES)
        return orch_fail(error, ORCH_USAGE,
                         "%.300s: its header of %" PRIu64
                         " bytes ends behind the file (%zu bytes); the file is cut off, fetch it again",
                         name, length, size);
    char *const text = malloc((size_t)length + 1); /* the reader wants a NUL behind it */
    if (!text)
        return orch_no_memory(error);
    memcpy(text, bytes + LENGTH_BYTES, (size_t)length);
    text[length] = 0;
    size_t end = (size_t)length;
    while (end && text[end - 1] == ' ') /* padding, which aligns the data */
        text[--end] = 0;
    bool ok = json_reader_open(&reader, name, text, end, error);
    if (ok) {
        const struct json_node top = json_top(&reader);
        const size_t first = file->weights.count;
        const uint64_t data_bytes = size - LENGTH_BYTES - length;
        uint64_t used = 0;
        json_names_differ(&reader, text, end);
        for (struct json_walk walk = {.of = &top}; json_next(&walk, &record);)
            if (strcmp(record.name, "__metadata__") != 0)
                read_tensor(file, &record, bytes + LENGTH_BYTES + length, data_bytes, part);
        for (size_t i = first; i < file->weights.count; i++)
            used += file->weights.tensor[i].bytes;
        if (reader.ok && used != data_bytes)
            reader.ok =
                orch_fail(error, ORCH_USAGE,
                          "%.300s: its tensors have %" PRIu64 " bytes, but %" PRIu64 " follow the header; the file is damaged",
                          name, used, data_bytes);
        ok = json_reader_close(&reader);
    }
    free(text);
    return ok;
}

static bool add_part(struct safetensors *file, const char *name, struct mapped_file part, struct orch_error *error)
{
    return mapped_files_add(&file->files, part, error) &&
           read_header(file, name, part.bytes, part.size, (unsigned)file->files.count - 1, error);
}

static bool open_part(struct safetensors *file, const char *path, struct orch_error *error)
{
    struct mapped_file part;
    return mapped_file_open(&part, path, error) && add_part(file, path, part, error);
}

struct safetensors *safetensors_parse(const char *name, const uint8_t *bytes, size_t size, struct orch_error *error)
{
    struct safetensors *const file = calloc(1, sizeof *file);
    if (!file)
        orch_no_memory(error);
    if (file && add_part(file, name, (struct mapped_file){bytes, size, false}, error)) {
        if (weight_list_is_sound(&file->weights, error))
            return file;
        orch_fail_in(error, "%.300s", name);
    }
    safetensors_close(file);
    return NULL;
}

/* ---- several files ---- */

struct part_names {
    const char *name[PARTS_MAX];
    size_t count;
};

/* Opens the file of a tensor unless that has been done; file names are beside the index and lead nowhere else. */
static void open_part_of(struct safetensors *file, struct part_names *parts, const char *index, const struct json_node *tensor)
{
    const char *const name = json_get_string(tensor, NULL), *const slash = strrchr(index, '/');
    char path[4096];
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->name[i], name) == 0)
            return;
    if (json_ok(tensor) && (*name == 0 || *name == '.' || strchr(name, '/')))
        json_wrong(tensor, NULL, "\"%.80s\" is no name of a file in the folder of the index", name);
    if (json_ok(tensor) && parts->count == PARTS_MAX)
        json_wrong(tensor, NULL, "more than %d files", PARTS_MAX);
    if (!json_ok(tensor))
        return;
    parts->name[parts->count++] = name;
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - index) : 0, index, name);
    if (!open_part(file, path, tensor->reader->error))
        tensor->reader->ok = false;
}

static bool open_index(struct safetensors *file, const char *path, struct orch_error *error)
{
    struct mapped_file text;
    struct json_reader reader;
    struct json_node tensor;
    if (!mapped_file_open(&text, path, error))
        return false;
    struct part_names *const parts = calloc(1, sizeof *parts);
    char *const copy = strndup((const char *)text.bytes, text.size);
    bool ok = (parts && copy) || orch_no_memory(error);
    if (ok && (ok = json_reader_open(&reader, path, copy, strlen(copy), error))) {
        const struct json_node top = json_top(&reader), map = json_get_object(&top, "weight_map");
        for (struct json_walk walk = {.of = &map}; json_next(&walk, &tensor);)
            open_part_of(file, parts, path, &tensor);
        for (struct json_walk walk = {.of = &map}; json_next(&walk, &tensor);)
            if (!weight_find(&file->weights, tensor.name))
                json_wrong(&tensor, NULL, "the file \"%.80s\" has no such tensor", json_get_string(&tensor, NULL));
        ok = json_reader_close(&reader);
    }
    free(copy);
    free(parts);
    mapped_file_close(&text);
    return ok;
}

struct safetensors *safetensors_open(const char *path, struct orch_error *error)
{
    const size_t length = strlen(path);
    const bool index = length > 5 && strcmp(path + length - 5, ".json") == 0;
    struct safetensors *const file = calloc(1, sizeof *file);
    if (!file)
        orch_no_memory(error);
    if (file && (index ? open_index(file, path, error) : open_part(file, path, error))) {
        if (weight_list_is_sound(&file->weights, error))
            return file;
        orch_fail_in(error, "%.300s", path);
    }
    safetensors_close(file);
    return NULL;
}

void safetensors_close(struct safetensors *file)
{
    if (!file)
        return;
    weight_list_free(&file->weights);
    mapped_files_close(&file->files);
    free(file);
}

const struct weight_list *safetensors_weights(const struct safetensors *file)
{
    return &file->weights;
}

uint64_t safetensors_file_bytes(const struct safetensors *file)
{
    return mapped_files_bytes(&file->files);
}

unsigned safetensors_parts(const struct safetensors *file)
{
    return (unsigned)file->files.count;
}
