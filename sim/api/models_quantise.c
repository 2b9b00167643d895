#include "sim/api/models_quantise.h"
#include "sim/api/models_samples.h"

#include "isa/array_count.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/quantise/prune.h"
#include "sim/network/quantise/quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PERCENTILE 99.99

struct question {
    struct api_context *context;
    const char *path, *output;
    unsigned to, method;
    double percentile;
    struct net_model *before, *after;
    struct net_samples samples;
    double share; /* of weights that are pruned */
    struct net_quantised_count count;
    struct net_likenesses report;
};

static bool read_options(struct question *q, struct orch_error *error)
{
    const struct api_args *const args = &q->context->args;
    const char *const percentile = api_value(args, "percentile");
    char *end = NULL;
    q->output = api_value(args, "output");
    q->percentile = percentile ? strtod(percentile, &end) : PERCENTILE;
    if (!api_value(args, "to"))
        return orch_fail(error, ORCH_USAGE, "models quantize needs " ORCH_OPTION("to") " int8|int4|f16|sparse");
    if (!q->output)
        return orch_fail(error, ORCH_USAGE, "models quantize needs " ORCH_LETTER("o", "output") " FILE");
    if (percentile && (*end || !(q->percentile > 50 && q->percentile <= 100)))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("percentile") " %.40s: a number above 50, at most 100", percentile);
    q->share = 0.5;
    return api_number(args, "share", 0, 1, &q->share, error) && api_chosen(args, "to", "int8|int4|f16|sparse", &q->to, error) &&
           api_chosen(args, "method", "minmax|percentile|entropy", &q->method, error);
}

enum { SPARSE = NET_TO_F16 + 1 };

static bool prune(struct question *q, struct orch_error *error)
{
    struct net_pruned_count pruned;
    if (!net_prune(q->after, q->share, &pruned, error))
        return false;
    q->count = (struct net_quantised_count){
        .products = pruned.products, .bytes_before = pruned.bytes_before, .bytes_after = pruned.bytes_after};
    return true;
}

static bool quantise(struct question *q, struct orch_error *error)
{
    struct net_ranges ranges = {.most = NULL};
    const char *const calibrate = api_value(&q->context->args, "calibrate");
    if (q->to == NET_TO_INT8 && !calibrate)
        return orch_fail(error, ORCH_USAGE, "int8 needs samples of what goes in: give " ORCH_OPTION("calibrate") " DIR|FILE");
    bool ok = !calibrate || models_samples_load(q->context, q->path, calibrate, &q->samples, error);
    q->before = ok ? models_tidy_network(q->context, q->path, &q->samples, error) : NULL;
    q->after = q->before ? models_tidy_network(q->context, q->path, &q->samples, error) : NULL;
    ok = q->after && (q->to != NET_TO_INT8 ||
                      net_calibrate(q->after, &q->samples, (enum net_range_method)q->method, q->percentile, &ranges, error));
    ok = ok &&
         (q->to == SPARSE ? prune(q, error) : net_quantise(q->after, (enum net_quantise_to)q->to, &ranges, &q->count, error));
    net_ranges_free(&ranges);
    return ok;
}

static bool compare(struct question *q, struct orch_error *error)
{
    const char *const evaluate = api_value(&q->context->args, "evaluate");
    if (evaluate && !models_samples_load(q->context, q->path, evaluate, &q->samples, error))
        return false;
    return q->samples.count == 0 || net_compare_networks(q->before, q->after, &q->samples, &q->report, error);
}

/* ---- the answer ---- */

static void print(const struct question *q)
{
    static const struct table_column columns[] = {{"output", NULL, false, 0},
                                                  {"cosine", NULL, true, 0},
                                                  {"largest error", NULL, true, 0},
                                                  {"largest number", NULL, true, 0},
                                                  {"same first [%]", NULL, true, 0}};
    FILE *const out = q->context->out;
    fprintf(out, "%u products, weights of %llu bytes in %llu\n", q->count.products, (unsigned long long)q->count.bytes_before,
            (unsigned long long)q->count.bytes_after);
    struct table *const table = q->report.outputs ? table_create(columns, ARRAY_COUNT(columns)) : NULL;
    for (size_t k = 0; table && k < q->report.outputs; k++) {
        const struct net_likeness *const l = &q->report.output[k];
        table_row(table);
        table_cell(table, "%s", q->before->output_name[k]);
        table_cell(table, "%.6f", l->cosine);
        table_cell(table, "%.3g", l->largest_error);
        table_cell(table, "%.3g", l->largest);
        table_cell(table, isnan(l->top1) ? "-" : "%.2f", 100 * l->top1);
    }
    if (table) {
        fprintf(out, "against single precision, over %zu sample%s:\n", q->report.samples, q->report.samples == 1 ? "" : "s");
        api_table(q->context, table);
    }
    fprintf(out, "%s\n", q->output);
}

static json_object *document(const struct question *q)
{
    static const char *const types[] = {"int8", "int4", "f16", "sparse"};
    json_object *const o = json_object_new_object(), *const list = json_object_new_array();
    json_add_text(o, "model", q->path);
    json_add_text(o, "output", q->output);
    json_add_text(o, "to", types[q->to]);
    json_add_count(o, "products", q->count.products);
    json_add_count(o, "weight_bytes_before", q->count.bytes_before);
    json_add_count(o, "weight_bytes_after", q->count.bytes_after);
    json_add_count(o, "samples", q->report.samples);
    for (size_t k = 0; k < q->report.outputs; k++) {
        const struct net_likeness *const l = &q->report.output[k];
        json_object *const one = json_object_new_object();
        json_add_text(one, "name", q->before->output_name[k]);
        json_add_number(one, "cosine", l->cosine);
        json_add_number(one, "largest_error", l->largest_error);
        json_add_number(one, "largest_number", l->largest);
        json_add_number(one, "top1_agreement", l->top1);
        json_object_array_add(list, one);
    }
    json_object_object_add(o, "outputs", list);
    return o;
}

int models_quantise(struct api_context *context, const char *path)
{
    struct question q = {.context = context, .path = path};
    struct orch_error error = {0};
    const bool ok =
        read_options(&q, &error) && quantise(&q, &error) && compare(&q, &error) && onnx_export(q.after, q.output, &error);
    if (ok && api_wants_document(context))
        api_document(context, document(&q));
    if (ok && api_wants_text(context))
        print(&q);
    net_model_free(q.before);
    net_model_free(q.after);
    net_samples_free(&q.samples);
    net_likenesses_free(&q.report);
    return ok ? ORCH_OK : api_fail(context, &error);
}
