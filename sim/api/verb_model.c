/* The verb model: checks networks against expected outputs. */
#include "isa/array_count.h"
#include "sim/api/api.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/prove/check/networks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"unit", 0, "NAME", false,
     "what computes: reference (the operators of sim/network, in double; default), or cpu, amx, gpu or ane (kernels of its "
     "library, "
     "executed; the cpu's where the others have none), or auto (each operator by the one that is predicted to be done first), or "
     "hybrid (the same, of units that work at the "
     "same time)"},
    {"precision", 0, "P", false, "f32 (default), int8, on gpu, auto and hybrid also f16; on the ane f16"},
    {"opt", 0, "0|1|2", false, "passes before that: 0 folds constants, 1 also tidies up, 2 (default) also fuses"},
    {"no-pass", 0, "NAME", true, "leave a pass out; repeats"},
    {0},
};

static const char *computed_by(const struct check_network_row *r, const char *unit, char *text, size_t size)
{
    char elsewhere[40] = "", share[60] = "", whole[120] = "";
    if (!r->fallbacks)
        return "reference";
    if (r->elsewhere)
        snprintf(elsewhere, sizeof elsewhere, ", cpu (%u)", r->elsewhere);
    if (!isnan(r->share))
        snprintf(share, sizeof share, ", %.1f %% of the MACs it has kernels for", 100 * r->share);
    if (r->whole)
        snprintf(whole, sizeof whole, "; %zu of %zu %s in f32 with %.1f %% of the MACs, %.2g off in %s", r->whole, r->nodes,
                 r->bytes ? "products" : "nodes", 100 * r->whole_macs, r->half, r->bytes ? "int8" : "f16");
    snprintf(text, size, "%s (%u kernels%s)%s, reference (%u nodes)%s", unit, r->kernels - r->elsewhere, share, elsewhere,
             r->left, whole);
    return text;
}

/* Nodes that the unit did not compute are named, each with the reason. */
static void show_fallbacks(struct api_context *context, const struct check_network_rows *rows)
{
    for (size_t k = 0; k < rows->count; k++) {
        const char *at = rows->row[k].fallbacks ? rows->row[k].fallbacks : "";
        for (size_t length; (length = strcspn(at, "\n")) > 0; at += length + (at[length] != 0))
            fprintf(context->out, "fallback: %s: %.*s\n", rows->row[k].name, (int)length, at);
    }
}

static void show_rows(struct api_context *context, const struct check_network_rows *rows, const char *unit)
{
    static const struct table_column columns[] = {
        {"network", NULL, false, 0},         {"outputs", NULL, false, 0}, {"largest difference", NULL, true, 0},
        {"largest expected", NULL, true, 0}, {"MACs", NULL, true, 0},     {"computed by", NULL, false, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    for (size_t k = 0; k < rows->count; k++) {
        const struct check_network_row *const r = &rows->row[k];
        char text[320];
        table_row(table);
        table_cell(table, "%s", r->name);
        table_cell(table, "%s", r->right ? "right" : r->by_half ? "wrong, but for f16" : "wrong");
        table_cell(table, "%.2g", r->difference);
        table_cell(table, "%.3g", r->magnitude);
        table_cell(table, "%llu", (unsigned long long)r->macs);
        table_cell(table, "%s", computed_by(r, unit, text, sizeof text));
    }
    api_table(context, table);
}

static json_object *rows_json(const struct check_network_rows *rows, const char *unit)
{
    json_object *const list = json_object_new_array();
    for (size_t k = 0; k < rows->count; k++) {
        const struct check_network_row *const r = &rows->row[k];
        json_object *const o = json_object_new_object();
        json_add_text(o, "name", r->name);
        json_add_bool(o, "right", r->right);
        json_add_number(o, "largest_difference", r->difference);
        json_add_number(o, "largest_expected", r->magnitude);
        json_add_count(o, "macs", r->macs);
        json_add_text(o, "unit", r->fallbacks ? unit : "reference");
        if (r->fallbacks) {
            json_add_number(o, "supported_mac_share", r->share);
            json_add_count(o, "kernels", r->kernels);
            if (r->elsewhere)
                json_add_count(o, "kernels_of_cpu", r->elsewhere);
            if (r->whole) {
                json_add_count(o, "nodes_in_f32", r->whole);
                json_add_count(o, "nodes", r->nodes);
                json_add_number(o, "mac_share_in_f32", r->whole_macs);
                json_add_number(o, r->bytes ? "largest_difference_in_int8" : "largest_difference_in_f16", r->half);
            }
            json_add_count(o, "fallback_nodes", r->left);
            json_add_text(o, "fallbacks", r->fallbacks);
        }
        json_object_array_add(list, o);
    }
    return list;
}

static int answer(struct api_context *context, const struct check_report *report, const struct check_network_rows *rows,
                  const char *unit)
{
    json_object *const document = api_wants_document(context) ? check_report_json(report) : NULL;
    if (document) {
        json_object_object_add(document, "networks", rows_json(rows, unit));
        api_document(context, document);
    }
    if (api_wants_text(context)) {
        if (rows->count)
            show_rows(context, rows, unit);
        show_fallbacks(context, rows);
        check_print_details(report, context->out);
        check_print_closing(report, context->out);
    }
    return check_holds(report) ? ORCH_OK : ORCH_FAILED;
}

static int check(struct api_context *context, const char *folder, const char *const *names, size_t count,
                 const struct run_request *request)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    struct check_network_rows rows = {.row = NULL};
    const size_t left_out = api_count(&context->args, "no-pass");
    const char **const without = calloc(left_out + 1, sizeof(*without));
    unsigned level = 2;
    bool ok = without || orch_no_memory(&error);
    for (size_t k = 0; ok && k < left_out; k++)
        without[k] = api_value_at(&context->args, "no-pass", k);
    ok = ok && api_chosen(&context->args, "opt", "0|1|2", &level, &error);
    const struct net_open_options options = {(int)level, without, left_out, NULL};
    ok = ok && check_networks(folder, names, count, &options, request, &report, &rows, &error);
    const int code = ok ? answer(context, &report, &rows, request ? request->unit : "reference") : api_fail(context, &error);
    check_network_rows_free(&rows);
    check_report_free(&report);
    free(without);
    return code;
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Kernels are executed without time: on which chip decides nothing but the rules of its cores. */
static int check_on_unit(struct api_context *context, const char *unit, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct api_chips chips = {0};
    if (!api_chips_open(context, NULL, &chips, &error))
        return api_fail(context, &error);
    const char *const precision = api_value(&context->args, "precision");
    const struct run_request request = {.chip = chips.chip[0],
                                        .unit = unit,
                                        .precision = precision && is(precision, "int8") ? "i8" : precision,
                                        .mode = RUN_FUNCTIONAL};
    const int code = check(context, word[1], word + 2, (size_t)words - 2, &request);
    api_chips_close(&chips);
    return code;
}

static bool has_precision(const char *unit, const char *precision)
{
    const bool halves = is(unit, "ane") || is(unit, "gpu") || is(unit, "auto") || is(unit, "hybrid");
    return !precision || (is(precision, "f16") && halves) ||
           (!is(unit, "ane") && (is(precision, "f32") || is(precision, "int8")));
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    unsigned verb;
    const char *const unit = api_value(&context->args, "unit");
    if (words < 2)
        return api_usage(context, "expected check and a folder of networks");
    if (!api_choice("model command", word[0], "check", &verb, &error))
        return api_fail(context, &error);
    if (!unit || is(unit, "reference"))
        return check(context, word[1], word + 2, (size_t)words - 2, NULL);
    if (!api_unit_is_known(&context->args, &error))
        return api_fail(context, &error);
    const char *const precision = api_value(&context->args, "precision");
    if (!has_precision(unit, precision))
        orch_fail(&error, ORCH_UNMODELLED,
                  ORCH_OPTION("precision") " %s: networks are computed in f32 and int8, on gpu, auto and hybrid also and on the "
                                           "ane only in f16",
                  precision);
    else
        return check_on_unit(context, unit, words, word);
    return api_fail(context, &error);
}

const struct api_verb verb_model = {
    .help =
        {
            .name = "model",
            .synopsis = "check DIR [NAME...]",
            .summary = "networks against their expected outputs",
            .text =
                "DIR holds a folder per network: model.onnx, model.mlmodel or the only .onnx, .mlmodel or .mlpackage, with "
                "golden/golden.json and .npy files\n"
                "(outputs within 2e-4 of the largest expected number), or with test_data_set_N of ONNX's backend tests (each\n"
                "number within 1e-3 of it and 1e-7). Folders of such folders are looked into.\n"
                "Networks with operators that are not known are skipped by name. On a unit, operators without a kernel are "
                "computed by the reference and\n"
                "named; of the multiplications of operators with a kernel, the unit's kernels must compute 95 %. In f16, "
                "outputs are met within 2e-2 (those of ONNX that need it are \"right in f16\"); a network that misses that is "
                "computed\n"
                "again in mixed precision: nodes that add most to the error stay in f32 (ane: on cores). int8 quantises products "
                "with\n"
                "constant weights, by ranges from the golden inputs, and asks for 5e-2; products that cost too much stay in f32 "
                "then.",
            .examples = "orchard model check examples/networks\n"
                        "orchard model check examples/networks digits --opt 0\n"
                        "orchard model check examples/networks digits --unit cpu",
            .options = option_table,
        },
    .ask = ask,
};
