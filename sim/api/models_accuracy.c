#include "sim/api/models_accuracy.h"

#include "isa/array_count.h"
#include "sim/api/models_samples.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/network/quantise/prune.h"
#include "sim/network/quantise/quantise.h"

#include <math.h>

/* What is done to the weights; a share is pruned instead. */
static const struct way {
    const char *name;
    enum net_quantise_to to;
    double share;
} ways[] = {{"f16", NET_TO_F16, 0},   {"int8", NET_TO_INT8, 0}, {"int4", NET_TO_INT4, 0},
            {"sparse 25 %", 0, 0.25}, {"sparse 50 %", 0, 0.5},  {"sparse 75 %", 0, 0.75}};

/* The worst output of a way. */
struct row {
    unsigned products;
    uint64_t bytes;
    double cosine, error,
        top1; /* error: largest, as a share of the output's largest number; top1: NAN = outputs of one element */
};

struct question {
    struct api_context *context;
    const char *path;
    struct net_samples calibration, evaluation;
    const struct net_samples *judged; /* those of "evaluate", else those of "calibrate" */
    struct net_model *before;
    unsigned method;
    uint64_t bytes; /* of the weights in f32 */
    struct row row[ARRAY_COUNT(ways)];
};

static bool change(const struct question *q, const struct way *way, struct net_model *model, struct net_quantised_count *count,
                   struct orch_error *error)
{
    struct net_ranges ranges = {.most = NULL};
    struct net_pruned_count pruned;
    if (way->share > 0) {
        const bool ok = net_prune(model, way->share, &pruned, error);
        if (ok)
            *count = (struct net_quantised_count){
                .products = pruned.products, .bytes_before = pruned.bytes_before, .bytes_after = pruned.bytes_after};
        return ok;
    }
    const bool ok = (way->to != NET_TO_INT8 ||
                     net_calibrate(model, &q->calibration, (enum net_range_method)q->method, 99.99, &ranges, error)) &&
                    net_quantise(model, way->to, &ranges, count, error);
    net_ranges_free(&ranges);
    return ok;
}

static void keep_worst(struct row *row, const struct net_likenesses *report)
{
    *row = (struct row){.cosine = 1, .error = 0, .top1 = NAN};
    for (size_t k = 0; k < report->outputs; k++) {
        const struct net_likeness *const l = &report->output[k];
        row->cosine = fmin(row->cosine, l->cosine);
        row->error = fmax(row->error, l->largest > 0 ? l->largest_error / l->largest : l->largest_error);
        row->top1 = fmin(row->top1, l->top1); /* a number beats NAN */
    }
}

static bool judge(struct question *q, size_t number, struct orch_error *error)
{
    struct net_quantised_count count;
    struct net_likenesses report = {.output = NULL};
    struct net_model *const after = models_tidy_network(q->context, q->path, &q->calibration, error);
    const bool ok = after && change(q, &ways[number], after, &count, error) &&
                    net_compare_networks(q->before, after, q->judged, &report, error);
    if (ok) {
        keep_worst(&q->row[number], &report);
        q->row[number].products = count.products;
        q->row[number].bytes = count.bytes_after;
        q->bytes = count.bytes_before;
    }
    net_likenesses_free(&report);
    net_model_free(after);
    return ok;
}

/* ---- the answer ---- */

static void print(const struct question *q)
{
    static const struct table_column columns[] = {{"weights", NULL, false, 0},          {"bytes", NULL, true, 0},
                                                  {"of f32 [%]", NULL, true, 0},        {"cosine", NULL, true, 0},
                                                  {"largest error [%]", NULL, true, 0}, {"same first [%]", NULL, true, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    fprintf(q->context->out,
            "%u products, %llu bytes of weights in f32; the worst output over %zu sample%s, errors of its largest number:\n",
            q->row[0].products, (unsigned long long)q->bytes, q->judged->count, q->judged->count == 1 ? "" : "s");
    for (size_t i = 0; table && i < ARRAY_COUNT(ways); i++) {
        const struct row *const r = &q->row[i];
        table_row(table);
        table_cell(table, "%s", ways[i].name);
        table_cell(table, "%llu", (unsigned long long)r->bytes);
        table_cell(table, "%.1f", 100 * (double)r->bytes / (double)q->bytes);
        table_cell(table, "%.6f", r->cosine);
        table_cell(table, "%.3g", 100 * r->error);
        table_cell(table, isnan(r->top1) ? "-" : "%.2f", 100 * r->top1);
    }
    if (table)
        api_table(q->context, table);
}

static json_object *document(const struct question *q)
{
    json_object *const o = json_object_new_object(), *const list = json_object_new_array();
    json_add_text(o, "model", q->path);
    json_add_count(o, "products", q->row[0].products);
    json_add_count(o, "weight_bytes", q->bytes);
    json_add_count(o, "samples", q->judged->count);
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        const struct row *const r = &q->row[i];
        json_object *const one = json_object_new_object();
        json_add_text(one, "weights", ways[i].name);
        json_add_count(one, "weight_bytes", r->bytes);
        json_add_number(one, "cosine", r->cosine);
        json_add_number(one, "largest_error_share", r->error);
        json_add_number(one, "top1_agreement", r->top1);
        json_object_array_add(list, one);
    }
    json_object_object_add(o, "rows", list);
    return o;
}

static bool load(struct question *q, struct orch_error *error)
{
    const char *const calibrate = api_value(&q->context->args, "calibrate"), *const evaluate =
                                                                                 api_value(&q->context->args, "evaluate");
    if (!calibrate)
        return orch_fail(error, ORCH_USAGE,
                         "models accuracy needs samples of what goes in: give " ORCH_OPTION("calibrate") " DIR|FILE");
    if (!api_chosen(&q->context->args, "method", "minmax|percentile|entropy", &q->method, error) ||
        !models_samples_load(q->context, q->path, calibrate, &q->calibration, error) ||
        (evaluate && !models_samples_load(q->context, q->path, evaluate, &q->evaluation, error)))
        return false;
    q->judged = evaluate ? &q->evaluation : &q->calibration;
    q->before = models_tidy_network(q->context, q->path, &q->calibration, error);
    return q->before != NULL;
}

int models_accuracy(struct api_context *context, const char *path)
{
    struct question q = {.context = context, .path = path};
    struct orch_error error = {0};
    bool ok = load(&q, &error);
    for (size_t i = 0; ok && i < ARRAY_COUNT(ways); i++)
        ok = judge(&q, i, &error);
    if (ok && api_wants_document(context))
        api_document(context, document(&q));
    if (ok && api_wants_text(context))
        print(&q);
    net_model_free(q.before);
    net_samples_free(&q.calibration);
    net_samples_free(&q.evaluation);
    return ok ? ORCH_OK : api_fail(context, &error);
}
