/* The verb kernels: lists the kernel library. */
#include "isa/array_count.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"
#include "sim/run/kernel_list.h"
#include "sim/run/workload_hint.h"
#include "sim/workload/gpu/frameworks/framework.h"

#include <string.h>

static const struct orchard_option option_table[] = {
    {"unit", 0, "UNIT", false, "only those of cpu, amx, gpu or ane"},
    {0},
};

/* Whether a kernel is one of those that are asked for. */
static bool is_asked(const struct api_context *context, const struct kernel_info *r)
{
    const char *const unit = api_value(&context->args, "unit");
    return !unit || strcmp(unit, r->units) == 0;
}

static json_object *row_json(struct kernel_info r)
{
    json_object *const o = json_object_new_object();
    json_add_text(o, "name", r.name);
    json_add_text(o, "shape", r.grammar);
    json_add_text(o, "units", r.units);
    json_add_text(o, "precisions", r.precisions);
    json_add_text(o, "text", r.text);
    return o;
}

static int list(struct api_context *context)
{
    static const struct table_column columns[] = {
        {"kernel", NULL, false, 0}, {"units", NULL, false, 0}, {"precisions", NULL, false, 0}, {"shape", NULL, false, 0}};
    if (api_wants_document(context)) {
        json_object *const rows = json_object_new_array();
        for (size_t i = 0; i < kernel_list_count(); i++) {
            const struct kernel_info r = kernel_list_at(i);
            if (is_asked(context, &r))
                json_object_array_add(rows, row_json(r));
        }
        api_document(context, rows);
    }
    if (!api_wants_text(context))
        return ORCH_OK;
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < kernel_list_count(); i++) {
        const struct kernel_info r = kernel_list_at(i);
        if (!is_asked(context, &r))
            continue;
        table_row(table);
        table_cell(table, "%s", r.name);
        table_cell(table, "%s", r.units);
        table_cell(table, "%s", r.precisions);
        table_cell(table, "%s:%s", r.name, r.grammar);
    }
    api_table(context, table);
    return ORCH_OK;
}

/* ---- whose kernels ---- */

static json_object *set_json(size_t number)
{
    const struct framework_set_info *const set = framework_set_at(number);
    json_object *const o = json_object_new_object(), *const kernels = json_object_new_array();
    json_add_text(o, "name", set->name);
    json_add_text(o, "versions", *set->versions ? set->versions : NULL);
    json_add_text(o, "text", set->text);
    for (size_t i = 0; i < framework_operator_count(); i++) {
        const struct framework_operator_info *const k = framework_operator_at(i);
        if (k->set != number)
            continue;
        json_object *const row = json_object_new_object();
        json_add_text(row, "name", k->name);
        json_add_text(row, "precisions", k->precisions);
        json_add_text(row, "text", k->text);
        json_object_array_add(kernels, row);
    }
    json_object_object_add(o, "kernels", kernels);
    return o;
}

static void print_sets(struct api_context *context)
{
    static const struct table_column columns[] = {
        {"set", NULL, false, 0}, {"kernel", NULL, false, 0}, {"precisions", NULL, false, 0}, {"how", NULL, false, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < framework_operator_count(); i++) {
        const struct framework_operator_info *const k = framework_operator_at(i);
        table_row(table);
        table_cell(table, "%s", framework_set_at(k->set)->name);
        table_cell(table, "%s", k->name);
        table_cell(table, "%s", k->precisions);
        table_cell(table, "%s", k->text);
    }
    api_table(context, table);
    for (size_t i = 0; i < framework_set_count(); i++) {
        const struct framework_set_info *const set = framework_set_at(i);
        fprintf(context->out, "%s%s: %s%s%s\n", i ? "" : "\n", set->name, set->text, *set->versions ? "; versions " : "",
                set->versions);
    }
}

/* Lists the sets that `run` takes as --kernels, with the operators that each has. */
static int list_sets(struct api_context *context)
{
    if (api_wants_document(context)) {
        json_object *const sets = json_object_new_array();
        for (size_t i = 0; i < framework_set_count(); i++)
            json_object_array_add(sets, set_json(i));
        api_document(context, sets);
    }
    if (api_wants_text(context))
        print_sets(context);
    return ORCH_OK;
}

static void print_sets_of(struct api_context *context, const char *name)
{
    for (size_t i = 0; i < framework_operator_count(); i++) {
        const struct framework_operator_info *const k = framework_operator_at(i);
        if (strcmp(k->name, name) == 0)
            fprintf(context->out, "  as %s (%s): %s\n", framework_set_at(k->set)->name, k->precisions, k->text);
    }
}

/* The unit that is asked for has no such kernel: names those that have it; no kernel of that name is anybody's. */
static bool tell_elsewhere(const struct api_context *context, const char *name, struct orch_error *error)
{
    bool any = false;
    for (size_t i = 0; i < kernel_list_count(); i++) {
        const struct kernel_info r = kernel_list_at(i);
        if (strcmp(r.name, name) != 0)
            continue;
        if (!any)
            orch_fail(error, ORCH_USAGE, "%s has no kernel '%.100s'; units that have it:", api_value(&context->args, "unit"),
                      name);
        orch_fail_more(error, "%s %s", any ? "," : "", r.units);
        any = true;
    }
    return any;
}

/* Shows the versions of a kernel on all units. The document is an object when there is one version, else a list. */
static int show(struct api_context *context, const char *name)
{
    struct orch_error error = {0};
    json_object *found = json_object_new_array();
    for (size_t i = 0; i < kernel_list_count(); i++) {
        const struct kernel_info r = kernel_list_at(i);
        if (strcmp(r.name, name) != 0 || !is_asked(context, &r))
            continue;
        json_object_array_add(found, row_json(r));
        if (api_wants_text(context))
            fprintf(context->out, "%s:%s\n  %s\n  units: %s\n  precisions: %s\n", r.name, r.grammar, r.text, r.units,
                    r.precisions);
        if (api_wants_text(context) && strcmp(r.units, "gpu") == 0)
            print_sets_of(context, name);
    }
    const size_t count = json_object_array_length(found);
    if (count && api_wants_document(context))
        api_documents(context, json_object_get(found));
    json_object_put(found);
    if (count)
        return ORCH_OK;
    if (!tell_elsewhere(context, name, &error))
        workload_unknown_kernel(name, &error);
    return api_fail(context, &error);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    static const char *const units[] = {"cpu", "amx", "gpu", "ane"};
    const char *const unit = api_value(&context->args, "unit");
    bool known = !unit;
    for (size_t i = 0; unit && i < ARRAY_COUNT(units); i++)
        known |= strcmp(unit, units[i]) == 0;
    if (!known)
        return api_usage(context, ORCH_OPTION("unit") " %.40s: cpu, amx, gpu or ane", unit);
    if (words == 0 || (words == 1 && strcmp(word[0], "list") == 0))
        return list(context);
    if (words == 2 && strcmp(word[0], "show") == 0)
        return show(context, word[1]);
    if (words == 1 && strcmp(word[0], "sets") == 0)
        return list_sets(context);
    if (words == 1)
        return api_usage(context, "'%s' is neither list nor sets; one kernel: show %s", word[0], word[0]);
    return api_usage(context, "'%s' is neither list nor sets nor show NAME", word[0]);
}

const struct api_verb verb_kernels = {
    .help =
        {
            .name = "kernels",
            .synopsis = "[list]\n"
                        "sets\n"
                        "show NAME",
            .summary = "the kernel library",
            .text = "Names, shapes, element types and units. sets: whose kernels the GPU can run in place of orchard's (run "
                    "--kernels).",
            .options = option_table,
            .examples = "orchard kernels\n"
                        "orchard kernels list --unit gpu\n"
                        "orchard kernels show gemm",
        },
    .ask = ask,
};
