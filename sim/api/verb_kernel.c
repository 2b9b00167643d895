/* The verb kernel: checks GPU kernels against what they must compute. */
#include "sim/prove/check/gpu_kernels.h"
#include "isa/array_count.h"
#include "sim/api/verb_compile.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/prove/check/gpu_sources.h"

#include <math.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"path", 0, "PATH", false, "execute by fast (default) or reference, one lane at a time"},
    {"sanitize", 0, NULL, false, "also look for races, accesses out of bounds and reads before their wait"},
    {"compile", 0, NULL, false,
     "compile each folder's kernel.cl, .metal or .ll instead of taking its code; counts are not judged"},
    VERB_COMPILE_OPTIONS,
    {0},
};

/* ---- compiled from source ---- */

static void show_rows(struct api_context *context, const struct check_source_rows *rows)
{
    static const struct table_column columns[] = {{"kernel", NULL, false, 0},      {"outputs", NULL, false, 0},
                                                  {"instructions", NULL, true, 0}, {"reference", NULL, true, 0},
                                                  {"ratio", NULL, true, 0},        {"halves", "registers", true, 0},
                                                  {"spills", NULL, true, 0},       {"bytes", "code", true, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t i = 0; table && i < rows->count; i++) {
        const struct check_source_row *const r = &rows->row[i];
        table_row(table);
        table_cell(table, "%s", r->name);
        table_cell(table, "%s", r->right ? "right" : "wrong");
        table_cell(table, "%llu", (unsigned long long)r->instructions);
        if (r->reference) {
            table_cell(table, "%llu", (unsigned long long)r->reference);
            table_cell(table, "%.3f", (double)r->instructions / (double)r->reference);
        } else {
            table_cell(table, "-");
            table_cell(table, "-");
        }
        table_cell(table, "%u", r->register_halves);
        table_cell(table, "%u", r->spills);
        table_cell(table, "%u", r->code_bytes);
    }
    api_table(context, table);
    if (check_source_mean(rows) > 0)
        fprintf(context->out, "executed simdgroup instructions over the reference, geometric mean: %.3f\n",
                check_source_mean(rows));
}

static json_object *rows_json(const struct check_source_rows *rows)
{
    json_object *const list = json_object_new_array();
    for (size_t i = 0; i < rows->count; i++) {
        const struct check_source_row *const r = &rows->row[i];
        json_object *const o = json_object_new_object();
        json_add_text(o, "name", r->name);
        json_add_bool(o, "right", r->right);
        json_add_count(o, "simdgroup_instructions", r->instructions);
        if (r->reference) {
            json_add_count(o, "reference", r->reference);
            json_add_number(o, "ratio", (double)r->instructions / (double)r->reference);
        } else {
            json_add_null(o, "reference");
            json_add_null(o, "ratio");
        }
        json_add_count(o, "gpr_halfregs", r->register_halves);
        json_add_count(o, "spills", r->spills);
        json_add_count(o, "code_bytes", r->code_bytes);
        json_object_array_add(list, o);
    }
    return list;
}

static int report_sources(struct api_context *context, const struct check_report *report, const struct check_source_rows *rows)
{
    json_object *const document = api_wants_document(context) ? check_report_json(report) : NULL;
    if (document) {
        json_object_object_add(document, "kernels", rows_json(rows));
        json_add_number(document, "geometric_mean", check_source_mean(rows) > 0 ? check_source_mean(rows) : NAN);
        api_document(context, document);
    }
    if (api_wants_text(context)) {
        if (rows->count)
            show_rows(context, rows);
        check_print_details(report, context->out);
        check_print_closing(report, context->out);
    }
    return check_holds(report) ? ORCH_OK : ORCH_FAILED;
}

static int check_sources(struct api_context *context, int words, const char *const *word, const struct check_gpu_options *options)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    struct check_source_rows rows = {.count = 0};
    struct compile_request how = {.path = NULL};
    const bool ok = verb_compile_read(&context->args, &how, &error) &&
                    check_gpu_sources(word[1], word + 2, (size_t)words - 2, options, &how, &report, &rows, &error);
    const int code = ok ? report_sources(context, &report, &rows) : api_fail(context, &error);
    check_source_rows_free(&rows);
    check_report_free(&report);
    verb_compile_free(&how);
    return code;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    unsigned verb, path = 0;
    if (words < 2)
        return api_usage(context, "expected check and a folder of kernels");
    if (!api_choice("kernel command", word[0], "check", &verb, &error) ||
        !api_chosen(&context->args, "path", "fast|reference", &path, &error))
        return api_fail(context, &error);
    const struct check_gpu_options options = {context->common.threads, path == 1, api_has(&context->args, "sanitize")};
    if (api_has(&context->args, "compile"))
        return check_sources(context, words, word, &options);
    const bool ok = check_gpu_kernels(word[1], word + 2, (size_t)words - 2, &options, &report, &error);
    const int code = ok ? api_report(context, &report) : api_fail(context, &error);
    check_report_free(&report);
    return code;
}

const struct api_verb verb_kernel = {
    .help =
        {
            .name = "kernel",
            .synopsis = "check DIR [NAME...]\n"
                        "check DIR [NAME...] --compile",
            .summary = "GPU kernels against their expected results",
            .text = "DIR holds a folder per kernel with abi.json, machine code, inputs and expected outputs. Outputs are "
                    "compared by each\n"
                    "description's rule, dynamic instruction counts exactly. With --compile the source in the folder is compiled "
                    "and its code "
                    "launched instead;\n"
                    "outputs are judged the same way, executed instructions are set beside those of the description.",
            .examples = "orchard kernel check examples/gpu\n"
                        "orchard kernel check examples/gpu scale",
            .options = option_table,
        },
    .ask = ask,
};
