/* Files of weights: metadata, tensors, and what they make. */
#include "isa/array_count.h"
#include "sim/api/models_language.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/language/safetensors.h"
#include "sim/language/shape.h"
#include "sim/language/transformers.h"
#include "sim/language/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS_SHOWN = 16, TEXT_SHOWN = 60 };

/* ---- tensors ---- */

static void shape_text(const struct weight_tensor *t, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = t->dims; i-- > 0 && used < size;)
        used += (size_t)snprintf(text + used, size - used, "%s%llu", used ? " x " : "", (unsigned long long)t->shape[i]);
}

static json_object *tensor_json(const struct weight_tensor *t)
{
    json_object *const o = json_object_new_object(), *const shape = json_object_new_array();
    json_add_text(o, "name", t->name);
    json_add_text(o, "type", t->format->name);
    for (unsigned i = t->dims; i-- > 0;)
        json_object_array_add(shape, json_object_new_int64((int64_t)t->shape[i]));
    json_object_object_add(o, "shape", shape);
    json_add_count(o, "bytes", t->bytes);
    json_add_count(o, "part", t->part);
    return o;
}

/* Sums over the tensors of one type. */
struct by_type {
    const struct block_format *format;
    size_t tensors;
    uint64_t values, bytes;
};

/* How many types there are, at most ARRAY_COUNT of the array. */
static size_t sum_types(const struct weight_list *list, struct by_type *types, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t at = 0;
        while (at < count && types[at].format != list->tensor[i].format)
            at++;
        if (at == room)
            continue;
        if (at == count)
            types[count++] = (struct by_type){.format = list->tensor[i].format};
        types[at].tensors++;
        types[at].values += list->tensor[i].count;
        types[at].bytes += list->tensor[i].bytes;
    }
    return count;
}

enum { TYPES_MAX = 48 };

void models_tensors_json(json_object *document, const struct weight_list *list)
{
    struct by_type types[TYPES_MAX];
    const size_t count = sum_types(list, types, TYPES_MAX);
    json_object *const tensors = json_object_new_array(), *const sums = json_object_new_object();
    uint64_t values = 0, bytes = 0;
    for (size_t i = 0; i < list->count; i++)
        json_object_array_add(tensors, tensor_json(&list->tensor[i]));
    for (size_t i = 0; i < count; i++) {
        json_object *const row = json_object_new_object();
        json_add_count(row, "tensors", types[i].tensors);
        json_add_count(row, "values", types[i].values);
        json_add_count(row, "bytes", types[i].bytes);
        json_object_object_add(sums, types[i].format->name, row);
        values += types[i].values;
        bytes += types[i].bytes;
    }
    json_add_count(document, "stored_values", values);
    json_add_count(document, "stored_bytes", bytes);
    json_object_object_add(document, "types", sums);
    json_object_object_add(document, "tensors", tensors);
}

void models_tensors_text(struct api_context *context, const struct weight_list *list)
{
    static const struct table_column columns[] = {
        {"tensor", NULL, false, 60}, {"type", NULL, false, 0}, {"shape", NULL, true, 0}, {"bytes", NULL, true, 0}};
    struct by_type types[TYPES_MAX];
    const size_t count = sum_types(list, types, TYPES_MAX);
    char text[FORMAT_SIZE], shape[128];
    if (list->count == 0) {
        fputs("\nno tensors\n", context->out);
        return;
    }
    fputc('\n', context->out);
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < list->count; i++) {
        const struct weight_tensor *const t = &list->tensor[i];
        shape_text(t, shape, sizeof shape);
        table_row(table);
        table_cell(table, "%s", t->name);
        table_cell(table, "%s", t->format->name);
        table_cell(table, "%s", shape);
        table_cell(table, "%s", format_bytes(text, t->bytes));
    }
    api_table(context, table);
    fprintf(context->out, "\n%zu tensors", list->count);
    for (size_t i = 0; i < count; i++)
        fprintf(context->out, "%s%zu of %s (%s)", i ? ", " : ": ", types[i].tensors, types[i].format->name,
                format_bytes(text, types[i].bytes));
    fputc('\n', context->out);
}

/* ---- metadata ---- */

/* Text of a file as UTF-8 on one line: what is none becomes U+FFFD, and control characters question marks. */
static char *clean(const char *bytes, size_t length)
{
    char *const text = malloc(3 * length + 1);
    size_t used = 0;
    for (size_t at = 0; text && at < length;) {
        uint32_t code = UTF8_REPLACEMENT;
        const unsigned size = utf8_read(bytes + at, length - at, &code);
        used += utf8_write(code < ' ' || code == 0x7f ? '?' : code, text + used);
        at += size ? size : 1;
    }
    if (text)
        text[used] = 0;
    return text;
}

static json_object *item_json(const struct gguf_value *value, uint64_t index)
{
    double number;
    uint64_t whole;
    if (value->item == GGUF_BOOL)
        return json_object_new_boolean(gguf_whole(value, index, &whole) && whole);
    if (gguf_whole(value, index, &whole))
        return json_object_new_uint64(whole);
    return gguf_number(value, index, &number) ? json_number(number) : NULL;
}

static json_object *text_json(const char *bytes, size_t length)
{
    char *const text = clean(bytes, length);
    json_object *const o = text ? json_object_new_string(text) : NULL;
    free(text);
    return o;
}

/* Long arrays are described, short ones given. */
static json_object *value_json(const struct gguf_value *value)
{
    struct gguf_strings strings;
    const char *text;
    size_t length;
    if (value->type == GGUF_STRING)
        return text_json((const char *)value->bytes, (size_t)value->count);
    if (value->type != GGUF_ARRAY)
        return item_json(value, 0);
    if (value->count > ITEMS_SHOWN || value->item == GGUF_ARRAY) {
        json_object *const o = json_object_new_object();
        json_add_text(o, "array_of", gguf_type_name(value->item));
        json_add_count(o, "count", value->count);
        return o;
    }
    json_object *const items = json_object_new_array();
    if (gguf_strings_of(value, &strings))
        while (gguf_next_string(&strings, &text, &length))
            json_object_array_add(items, text_json(text, length));
    else
        for (uint64_t i = 0; i < value->count; i++)
            json_object_array_add(items, item_json(value, i));
    return items;
}

static json_object *metadata_json(const struct gguf *gguf)
{
    json_object *const o = json_object_new_object();
    const struct gguf_value *value;
    for (size_t i = 0; (value = gguf_value_at(gguf, i)); i++)
        json_object_object_add(o, value->key, value_json(value));
    return o;
}

static void print_metadata(struct api_context *context, const struct gguf *gguf)
{
    static const struct table_column columns[] = {
        {"metadata", NULL, false, 60}, {"type", NULL, false, 0}, {"value", NULL, false, TEXT_SHOWN}};
    const struct gguf_value *value;
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; (value = gguf_value_at(gguf, i)); i++) {
        json_object *const json = value_json(value);
        table_row(table);
        table_cell(table, "%s", value->key);
        table_cell(table, "%s", gguf_type_name(value->type));
        if (value->type == GGUF_ARRAY && json_object_is_type(json, json_type_object))
            table_cell(table, "%llu of %s", (unsigned long long)value->count, gguf_type_name(value->item));
        else
            table_cell(table, "%s", json_object_get_string(json));
        json_object_put(json);
    }
    fputc('\n', context->out);
    api_table(context, table);
}

/* ---- GGUF ---- */

bool models_is_gguf(const char *path, const void *head, size_t size, uint64_t file_bytes)
{
    (void)path;
    (void)file_bytes;
    return gguf_is(head, size);
}

static json_object *gguf_json(const struct gguf *gguf, const struct language_shape *shape)
{
    json_object *const o = json_object_new_object();
    json_add_text(o, "file", gguf_name(gguf));
    json_add_text(o, "kind", "gguf");
    json_add_text(o, "architecture", shape ? shape->family->name : NULL);
    json_add_count(o, "version", gguf_version(gguf));
    json_add_count(o, "parts", gguf_parts(gguf));
    json_add_count(o, "file_bytes", gguf_file_bytes(gguf));
    json_add_count(o, "alignment", gguf_alignment(gguf));
    if (shape)
        json_add_count(o, "parameters", shape_sizes(shape).parameters);
    else
        json_add_null(o, "parameters");
    json_object_object_add(o, "metadata", metadata_json(gguf));
    models_tensors_json(o, gguf_weights(gguf));
    return o;
}

int models_show_gguf(struct api_context *context, const char *path)
{
    struct orch_error error = {0}, no_shape = {0};
    struct language_shape shape;
    struct gguf *const gguf = gguf_open(path, &error);
    if (!gguf)
        return api_fail(context, &error);
    const bool described = shape_of_gguf(gguf, &shape, &no_shape);
    json_object *const document = gguf_json(gguf, described ? &shape : NULL);
    if (api_wants_text(context)) {
        char text[FORMAT_SIZE];
        fprintf(context->out, "%s\n  GGUF version %u, %s%s\n", path, gguf_version(gguf),
                format_bytes(text, gguf_file_bytes(gguf)), gguf_parts(gguf) > 1 ? " in several parts" : "");
        print_metadata(context, gguf);
        models_tensors_text(context, gguf_weights(gguf));
        fputc('\n', context->out);
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < gguf_weights(gguf)->count; i++)
        bytes += gguf_weights(gguf)->tensor[i].bytes;
    gguf_close(gguf);
    if (described)
        return models_shape_answer(context, document, &shape, bytes);
    api_note(context, "%s", no_shape.text);
    json_object_object_add(document, "fits", NULL);
    if (api_wants_document(context))
        api_document(context, document);
    else
        json_object_put(document);
    return ORCH_OK;
}

/* ---- safetensors ---- */

bool models_is_safetensors(const char *path, const void *head, size_t size, uint64_t file_bytes)
{
    const size_t length = strlen(path);
    return safetensors_is(head, size, file_bytes) || (length > 11 && strcmp(path + length - 11, ".index.json") == 0);
}

int models_show_safetensors(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct safetensors *const file = safetensors_open(path, &error);
    if (!file)
        return api_fail(context, &error);
    if (api_wants_document(context)) {
        json_object *const o = json_object_new_object();
        json_add_text(o, "file", path);
        json_add_text(o, "kind", "safetensors");
        json_add_count(o, "parts", safetensors_parts(file));
        json_add_count(o, "file_bytes", safetensors_file_bytes(file));
        models_tensors_json(o, safetensors_weights(file));
        api_document(context, o);
    }
    if (api_wants_text(context)) {
        char text[FORMAT_SIZE];
        fprintf(context->out, "%s\n  safetensors, %s\n", path, format_bytes(text, safetensors_file_bytes(file)));
        models_tensors_text(context, safetensors_weights(file));
    }
    safetensors_close(file);
    return ORCH_OK;
}

/* ---- folders of transformers ---- */

int models_show_folder(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct transformers *const m = transformers_open(path, &error);
    if (!m)
        return api_fail(context, &error);
    const struct language_shape shape = *transformers_shape(m);
    const struct weight_list *const list = transformers_list(m);
    const uint64_t bytes = transformers_file_bytes(m);
    json_object *const o = json_object_new_object();
    json_add_text(o, "file", path);
    json_add_text(o, "kind", "transformers");
    json_add_text(o, "architecture", shape.family->name);
    json_add_count(o, "file_bytes", bytes);
    json_add_count(o, "parameters", shape_sizes(&shape).parameters);
    models_tensors_json(o, list);
    if (api_wants_text(context)) {
        char text[FORMAT_SIZE];
        fprintf(context->out, "%s\n  config.json, safetensors and a vocabulary, %s; tensors as they are named in GGUF files\n",
                path, format_bytes(text, bytes));
        models_tensors_text(context, list);
        fputc('\n', context->out);
    }
    transformers_close(m);
    return models_shape_answer(context, o, &shape, bytes);
}
