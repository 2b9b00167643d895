/* The zoo, and what a shape means: counts, bytes, memories that hold it. */
#include "sim/api/models_language.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/language/shape.h"
#include "sim/run/language/language_options.h"

#include <stdlib.h>
#include <string.h>

/* Formats that weights are usually stored in. */
static const char *const formats[] = {"f32", "f16", "q8_0", "q6_k", "q4_k", "q4_0", "q3_k", "q2_k"};
static const char *const listed_formats[] = {"f16", "q8_0", "q4_k"};

static const double gpu_share = LANGUAGE_GPU_SHARE;

/* ---- the list ---- */

static json_object *bytes_json(const struct language_shape *shape)
{
    json_object *const o = json_object_new_object();
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
        json_add_count(o, formats[i], shape_bytes(shape, block_format_named(formats[i])));
    return o;
}

static void add_dimensions(json_object *o, const struct language_shape *s)
{
    const struct {
        const char *name;
        unsigned number;
    } dimensions[] = {
        {"layers", s->layers},         {"width", s->width},
        {"heads", s->heads},           {"kv_heads", s->kv_heads},
        {"head_size", s->head_size},   {"feed_forward", s->feed_forward},
        {"vocabulary", s->vocabulary}, {"context", s->context},
        {"experts", s->experts},       {"experts_used", s->experts_used},
        {"window", s->window},         {"encoder_layers", s->encoder_layers},
    };
    json_add_text(o, "architecture", s->family->name);
    for (size_t i = 0; i < ARRAY_COUNT(dimensions); i++)
        json_add_count(o, dimensions[i].name, dimensions[i].number);
    json_add_bool(o, "tied", s->tied);
    const struct shape_sizes sizes = shape_sizes(s);
    json_add_count(o, "parameters", sizes.parameters);
    json_add_count(o, "active_parameters", sizes.active_parameters);
    json_object_object_add(o, "bytes", bytes_json(s));
    json_add_count(o, "cache_bytes_per_token_f16", shape_cache_bytes(s, 2));
}

static json_object *published_json(const struct shape_published *model, struct language_shape *shape)
{
    json_object *const o = json_object_new_object();
    shape_of_published(model, shape);
    json_add_text(o, "name", model->name);
    json_add_text(o, "kind", "language");
    add_dimensions(o, shape);
    json_add_text(o, "source", model->source);
    return o;
}

static void list_row(struct table *table, const struct shape_published *model)
{
    struct language_shape s;
    char text[FORMAT_SIZE];
    shape_of_published(model, &s);
    table_row(table);
    table_cell(table, "%s", model->name);
    table_cell(table, "%s", format_si(text, (double)shape_sizes(&s).parameters, ""));
    table_cell(table, "%u", s.layers);
    table_cell(table, "%u", s.width);
    table_cell(table, "%u/%u x %u", s.heads, s.kv_heads, s.head_size);
    table_cell(table, s.experts ? "%u x %u" : "%u", s.feed_forward, s.experts);
    table_cell(table, "%u", s.vocabulary);
    table_cell(table, "%u", s.context);
    for (size_t i = 0; i < ARRAY_COUNT(listed_formats); i++)
        table_cell(table, "%s", format_bytes(text, shape_bytes(&s, block_format_named(listed_formats[i]))));
    table_cell(table, "%s", format_bytes(text, shape_cache_bytes(&s, 2)));
}

void models_language_list(struct api_context *context, json_object *rows)
{
    static const struct table_column columns[] = {
        {"model", NULL, false, 0},     {"parameters", NULL, true, 0}, {"layers", NULL, true, 0},
        {"width", NULL, true, 0},      {"heads/kv", NULL, true, 0},   {"feed-forward", NULL, true, 0},
        {"vocabulary", NULL, true, 0}, {"context", NULL, true, 0},    {"f16", NULL, true, 0},
        {"q8_0", NULL, true, 0},       {"q4_k", NULL, true, 0},       {"cache/token", NULL, true, 0}};
    const struct shape_published *model;
    struct language_shape shape;
    if (api_wants_document(context))
        for (size_t i = 0; (model = shape_published_at(i)); i++)
            json_object_array_add(rows, published_json(model, &shape));
    if (!api_wants_text(context))
        return;
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; (model = shape_published_at(i)); i++)
        list_row(table, model);
    api_table(context, table);
}

/* ---- which memories hold it ---- */

/* Sizes of memory that are on sale, each once, and the chips that come with them: "M1 Max, M2 Max". */
struct memories {
    struct memory_size {
        double gib;
        char chips[240];
    } size[64];
    size_t count;
};

static int by_size(const void *a, const void *b)
{
    const struct memory_size *const x = a, *const y = b;
    return x->gib < y->gib ? -1 : x->gib > y->gib;
}

/* Chips that differ in cores alone are one name. */
static void add_chip(struct memory_size *m, const char *name)
{
    const size_t length = strlen(name), used = strlen(m->chips);
    for (const char *at = m->chips; (at = strstr(at, name)); at += length)
        if (at[length] == '\0' || at[length] == ',')
            return;
    snprintf(m->chips + used, sizeof m->chips - used, "%s%s", used ? ", " : "", name);
}

static bool read_memories(struct api_context *context, struct memories *m, struct orch_error *error)
{
    struct api_chips chips;
    m->count = 0;
    if (!api_chips_open_or_all(context, &chips, error))
        return false;
    for (size_t c = 0; c < chips.count; c++) {
        const struct chip_value *const v = chip_value(chips.chip[c], "memory_options_GB");
        for (size_t i = 0; v && v->known && i < v->count; i++) {
            size_t at = 0;
            while (at < m->count && m->size[at].gib != v->list[i])
                at++;
            if (at == m->count && m->count < ARRAY_COUNT(m->size))
                m->size[m->count++] = (struct memory_size){.gib = v->list[i]};
            if (at < m->count)
                add_chip(&m->size[at], chip_name(chips.chip[c]));
        }
    }
    api_chips_close(&chips);
    qsort(m->size, m->count, sizeof *m->size, by_size);
    return true;
}

/* For how many tokens of context there is room beside the weights; -1 when these do not fit. */
static double context_of(const struct language_shape *s, double gib, uint64_t weight_bytes)
{
    const double left = gib * gpu_share * 0x1p30 - (double)weight_bytes, tokens = left / (double)shape_cache_bytes(s, 2);
    return left < 0 ? -1 : tokens < s->context ? (double)(uint64_t)tokens : s->context;
}

/* Bytes of the weights in the formats that are asked about: as they are, or in each of the usual ones. */
struct choices {
    const char *name[ARRAY_COUNT(formats)];
    uint64_t bytes[ARRAY_COUNT(formats)];
    size_t count;
};

static struct choices choices_of(const struct language_shape *s, uint64_t file_bytes)
{
    struct choices c = {.name = {"file"}, .bytes = {file_bytes}, .count = 1};
    if (file_bytes)
        return c;
    c.count = ARRAY_COUNT(formats);
    for (size_t i = 0; i < c.count; i++) {
        c.name[i] = formats[i];
        c.bytes[i] = shape_bytes(s, block_format_named(formats[i]));
    }
    return c;
}

static json_object *fits_json(const struct language_shape *s, const struct choices *choices, const struct memories *m)
{
    json_object *const rows = json_object_new_array();
    for (size_t i = 0; i < m->count; i++) {
        json_object *const row = json_object_new_object(), *const contexts = json_object_new_object();
        json_add_number(row, "memory_gib", m->size[i].gib);
        for (size_t k = 0; k < choices->count; k++) {
            const double tokens = context_of(s, m->size[i].gib, choices->bytes[k]);
            if (tokens < 0)
                json_add_null(contexts, choices->name[k]);
            else
                json_add_count(contexts, choices->name[k], (uint64_t)tokens);
        }
        json_object_object_add(row, "context", contexts);
        json_add_text(row, "chips", m->size[i].chips);
        json_object_array_add(rows, row);
    }
    return rows;
}

static void print_fits(struct api_context *context, const struct language_shape *s, const struct choices *choices,
                       const struct memories *m)
{
    struct table_column columns[2 + ARRAY_COUNT(formats)] = {{"memory", "GiB", true, 0}};
    for (size_t k = 0; k < choices->count; k++)
        columns[1 + k] = (struct table_column){choices->name[k], NULL, true, 0};
    columns[1 + choices->count] = (struct table_column){"chips", NULL, false, 0};
    struct table *const table = table_create(columns, 2 + choices->count);
    table_row(table);
    table_cell(table, "weights");
    char text[FORMAT_SIZE];
    for (size_t k = 0; k < choices->count; k++)
        table_cell(table, "%s", format_bytes(text, choices->bytes[k]));
    table_cell(table, "%s", "");
    for (size_t i = 0; i < m->count; i++) {
        table_row(table);
        table_cell(table, "%g", m->size[i].gib);
        for (size_t k = 0; k < choices->count; k++) {
            const double tokens = context_of(s, m->size[i].gib, choices->bytes[k]);
            table_cell(table, tokens < 0 ? "no" : "%.0f", tokens);
        }
        table_cell(table, "%s", m->size[i].chips);
    }
    fprintf(context->out,
            "\ntokens of context beside the weights, keys and values in f16, in %.0f %% of the memory (what a GPU may hold)\n",
            100 * gpu_share);
    api_table(context, table);
}

static void print_shape(struct api_context *context, const struct language_shape *s)
{
    char text[FORMAT_SIZE];
    const struct shape_sizes sizes = shape_sizes(s);
    fprintf(context->out, "  architecture %s, %u layers of width %u, %u heads of %u (%u of keys and values), feed-forward %u",
            s->family->name, s->layers, s->width, s->heads, s->head_size, s->kv_heads, s->feed_forward);
    if (s->experts)
        fprintf(context->out, " x %u experts, %u used", s->experts, s->experts_used);
    fprintf(context->out, "\n  vocabulary %u%s, context %u\n", s->vocabulary, s->tied ? " (output matrix = embedding)" : "",
            s->context);
    if (s->encoder_layers)
        fprintf(context->out, "  encoder of %u layers, %u positions", s->encoder_layers, s->encoder_context);
    if (s->encoder_layers)
        fprintf(context->out, s->encoder_channels ? ", %u channels\n" : " of text\n", s->encoder_channels);
    fprintf(context->out, "  parameters %llu", (unsigned long long)sizes.parameters);
    if (s->experts)
        fprintf(context->out, ", %llu for one token", (unsigned long long)sizes.active_parameters);
    fprintf(context->out, "\n  keys and values %s a token in f16\n", format_bytes(text, shape_cache_bytes(s, 2)));
}

int models_shape_answer(struct api_context *context, json_object *document, const struct language_shape *shape,
                        uint64_t file_bytes)
{
    struct orch_error error = {0};
    struct memories memories;
    if (!read_memories(context, &memories, &error)) {
        json_object_put(document);
        return api_fail(context, &error);
    }
    const struct choices choices = choices_of(shape, file_bytes);
    json_object_object_add(document, "fits", fits_json(shape, &choices, &memories));
    if (api_wants_text(context)) {
        print_shape(context, shape);
        print_fits(context, shape, &choices, &memories);
    }
    if (api_wants_document(context))
        api_document(context, document);
    else
        json_object_put(document);
    return ORCH_OK;
}

int models_language_show(struct api_context *context, const struct shape_published *model)
{
    struct language_shape shape;
    json_object *const document = published_json(model, &shape);
    if (api_wants_text(context))
        fprintf(context->out, "%s\n  source %s\n", model->name, model->source);
    return models_shape_answer(context, document, &shape, 0);
}

bool models_is_config(const char *path, const void *head, size_t size, uint64_t file_bytes)
{
    const size_t length = strlen(path);
    (void)file_bytes;
    return length > 5 && strcmp(path + length - 5, ".json") == 0 &&
           !(length > 11 && strcmp(path + length - 11, ".index.json") == 0) && size && *(const char *)head == '{';
}

int models_show_config(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct language_shape shape;
    uint8_t *bytes;
    size_t size;
    if (!api_read_file(path, &bytes, &size, &error))
        return api_fail(context, &error);
    const bool ok = shape_of_config(path, (char *)bytes, size, &shape, &error);
    free(bytes);
    if (!ok)
        return api_fail(context, &error);
    json_object *const document = json_object_new_object();
    json_add_text(document, "file", path);
    json_add_text(document, "kind", "config");
    add_dimensions(document, &shape);
    if (api_wants_text(context))
        fprintf(context->out, "%s\n", path);
    return models_shape_answer(context, document, &shape, 0);
}
