/* orchard kernels: the kernel library. */
#include "sim/cli/json_out.h"
#include "sim/cli/table.h"
#include "sim/cmd/cmd.h"
#include "sim/kernel/kernel.h"

#include <string.h>

static json_object *kernel_json(const struct kernel_info *k)
{
    json_object *o = json_object_new_object();
    json_add_text(o, "name", k->name);
    json_add_text(o, "shape", k->grammar);
    json_add_text(o, "units", k->units);
    json_add_text(o, "precisions", k->precisions);
    json_add_text(o, "text", k->text);
    return o;
}

static int list(struct cmd_context *context)
{
    static const struct table_column columns[] = {{"kernel", NULL, false, 0}, {"units", NULL, false, 0},
                                                  {"precisions", NULL, false, 0}, {"shape", NULL, false, 0}};
    json_object *rows = json_object_new_array();
    struct table *table = table_create(columns, 4);
    for (size_t i = 0; table && i < kernel_count(); i++) {
        const struct kernel_info *k = kernel_at(i);
        json_object_array_add(rows, kernel_json(k));
        table_row(table);
        table_cell(table, "%s", k->name);
        table_cell(table, "%s", k->units);
        table_cell(table, "%s", k->precisions);
        table_cell(table, "%s:%s", k->name, k->grammar);
    }
    if (context->common.json) {
        json_print(rows, context->out);
    } else {
        if (table)
            table_print(table, context->out, context->common.color);
        json_object_put(rows);
    }
    table_free(table);
    return ORCH_OK;
}

static int show(struct cmd_context *context, const char *name)
{
    struct orch_error error = {0};
    struct kernel_call ignored;
    char probe[64];
    for (size_t i = 0; i < kernel_count(); i++) {
        const struct kernel_info *k = kernel_at(i);
        if (strcmp(k->name, name) != 0)
            continue;
        if (context->common.json)
            json_print(kernel_json(k), context->out);
        else
            fprintf(context->out, "%s:%s\n  %s\n  units: %s\n  precisions: %s\n", k->name, k->grammar, k->text, k->units,
                    k->precisions);
        return ORCH_OK;
    }
    snprintf(probe, sizeof probe, "%.30s:1", name);
    kernel_parse(probe, NULL, &ignored, &error); /* says which kernel may have been meant */
    return cmd_fail(context, &error);
}

int cmd_kernels(struct cmd_context *context, int argc, char **argv)
{
    if (argc == 0 || (argc == 1 && strcmp(argv[0], "list") == 0))
        return list(context);
    if (argc == 2 && strcmp(argv[0], "show") == 0)
        return show(context, argv[1]);
    return cmd_usage(context, "'%s' is neither list nor show NAME", argv[0]);
}
