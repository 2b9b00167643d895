/* Networks for the verb models. */
#include "sim/api/models_network.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/network/passes/pass.h"
#include "sim/network/show.h"
#include "sim/network/zoo/zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pass that is no change of the graph but a plan. */
static const char memory_pass[] = "memory";

const char **models_dims(const struct api_context *context, struct orch_error *error)
{
    const size_t count = api_count(&context->args, "dim");
    const char **const dim = calloc(count + 1, sizeof(*dim));
    for (size_t k = 0; dim && k < count; k++)
        dim[k] = api_value_at(&context->args, "dim", k);
    if (!dim)
        orch_no_memory(error);
    return dim;
}

static struct net_model *build(struct api_context *context, const struct net_zoo_model *zoo, struct orch_error *error)
{
    const char **const dim = models_dims(context, error);
    const struct net_zoo_options options = {.dims = dim, .dim_count = api_count(&context->args, "dim")};
    struct net_model *const model = dim ? net_zoo_build(zoo, &options, NULL, error) : NULL;
    free(dim);
    return model;
}

static struct net_model *import(struct api_context *context, const char *path, struct orch_error *error)
{
    const struct net_zoo_model *const zoo = net_zoo_find(path);
    return zoo ? build(context, zoo, error) : net_import(path, error);
}

struct net_model *models_open_network(struct api_context *context, const char *path, const struct net_open_options *passes,
                                      struct net_report *report, struct orch_error *error)
{
    struct net_model *const model = import(context, path, error);
    bool ok = model != NULL;
    for (size_t k = 0; ok && k < api_count(&context->args, "dim") && !net_zoo_find(path); k++)
        ok = net_bind(model, api_value_at(&context->args, "dim", k), error);
    for (size_t k = 0; ok && k < api_count(&context->args, "value"); k++)
        ok = net_fix(model, api_value_at(&context->args, "value", k), error);
    if (ok && net_prepare(model, passes, report, error))
        return model;
    net_model_free(model);
    return NULL;
}

static bool open_model(struct api_context *context, const char *path, const char *last, struct net_model **model,
                       struct net_report *report, struct orch_error *error)
{
    const size_t count = api_count(&context->args, "no-pass");
    const char **const without = calloc(count + 1, sizeof(*without));
    unsigned level = 2;
    bool ok = without || orch_no_memory(error);
    for (size_t k = 0; ok && k < count; k++)
        without[k] = api_value_at(&context->args, "no-pass", k);
    const struct net_pass *const pass = ok && last && strcmp(last, memory_pass) != 0 ? net_pass_find(last, error) : NULL;
    ok = ok && (!last || pass || strcmp(last, memory_pass) == 0) && api_chosen(&context->args, "opt", "0|1|2", &level, error);
    if (pass && (int)level < pass->level)
        level = (unsigned)pass->level;
    const struct net_open_options options = {(int)level, without, count, pass ? pass->name : NULL};
    *model = ok ? models_open_network(context, path, &options, report, error) : NULL;
    free(without);
    return *model != NULL;
}

int models_show_onnx(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct net_model *model = NULL;
    struct net_report report = {.effects = 0};
    struct net_memory memory = {.of = NULL};
    const char *const last = api_value(&context->args, "pass");
    bool ok = open_model(context, path, last, &model, &report, &error) && net_memory_plan(model, &memory, &error);
    if (ok && api_wants_document(context))
        api_document(context, net_json(model, &report, &memory));
    if (ok && api_wants_text(context) &&
        !net_print(model, &report, &memory, last && strcmp(last, memory_pass) == 0, context->out, context->common.color))
        ok = orch_no_memory(&error);
    net_memory_free(&memory);
    net_model_free(model);
    return ok ? ORCH_OK : api_fail(context, &error);
}

/* ---- the list ---- */

void models_network_list(struct api_context *context, json_object *rows)
{
    static const struct table_column columns[] = {
        {"network", NULL, false, 0}, {"parameters", NULL, true, 0}, {"what", NULL, false, 0}};
    struct table *const table = api_wants_text(context) ? table_create(columns, ARRAY_COUNT(columns)) : NULL;
    const struct net_zoo_model *zoo;
    for (size_t i = 0; (zoo = net_zoo_at(i)); i++) {
        char text[FORMAT_SIZE];
        if (api_wants_document(context)) {
            json_object *const o = json_object_new_object();
            json_add_text(o, "name", zoo->name);
            json_add_text(o, "kind", "network");
            json_add_count(o, "parameters", zoo->parameters);
            json_add_text(o, "what", zoo->text);
            json_add_text(o, "source", zoo->source);
            json_object_array_add(rows, o);
        }
        if (!table)
            continue;
        table_row(table);
        table_cell(table, "%s", zoo->name);
        table_cell(table, "%s", format_si(text, (double)zoo->parameters, ""));
        table_cell(table, "%s", zoo->text);
    }
    if (table) {
        fprintf(context->out, "\n");
        api_table(context, table);
    }
}

/* A serialised ModelProto has no magic number. Its writers begin with the version of the format, a small number. */
bool models_is_onnx(const char *path, const void *head, size_t size, uint64_t file_bytes)
{
    enum { VERSION_FIELD = 0x08, VERSION_MOST = 64 };
    const uint8_t *const bytes = head;
    const char *const dot = strrchr(path, '.');
    (void)file_bytes;
    return (dot && strcmp(dot, ".onnx") == 0) ||
           (size > 2 && bytes[0] == VERSION_FIELD && bytes[1] > 0 && bytes[1] < VERSION_MOST);
}
