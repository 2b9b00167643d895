/* Each number is a difference between two runs of the network, which are those of `orchard run --mode timing`: behind the passes
 * up to one and behind those up to the one before it, and behind all passes and all but one. Kernels that both have are timed
 * once. */
#include "sim/api/models_passes.h"

#include "isa/array_count.h"
#include "sim/api/models_network.h"
#include "sim/ask/study/known.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/db/db.h"
#include "sim/network/memory.h"
#include "sim/network/passes/pass.h"
#include "sim/network/zoo/zoo.h"
#include "sim/run/run.h"
#include "sim/run/network/run_network.h"
#include "sim/run/run_timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A network behind some passes. */
struct state {
    double seconds, joules;
    unsigned launches;   /* kernels that take time */
    unsigned hand_overs; /* command buffers of the GPU, requests to the Neural Engine */
    unsigned left;       /* nodes that the reference computes, in no time: beside others that is no saving */
    double tensor_bytes; /* of inputs and of what nodes compute, in the types of the graph */
};

struct row {
    const struct net_pass *pass;
    unsigned changes;
    size_t nodes;
    struct state now, without; /* behind it and all before it; behind all but it */
};

struct question {
    struct api_context *context;
    const char *path;
    char workload[512];
    struct run_request request;
    struct run_known ask;
    struct net_report report; /* of all passes */
    struct state none, all;
    size_t nodes; /* before any pass */
    struct row row[NET_EFFECTS_MAX];
    size_t rows;
    char unit[32], precision[16];
};

/* ---- one network ---- */

static void count_kernels(const struct run_result *r, struct state *s)
{
    const double buffers = run_values_get(&r->counters, "network.command_buffers"),
                 requests = run_values_get(&r->counters, "network.requests");
    s->hand_overs = (unsigned)(fmax(0, buffers) + fmax(0, requests)); /* fmax: 0 where there is no such counter */
    s->launches = s->left = 0;
    for (size_t i = 0; i < r->placement.count; i++) {
        char name[60];
        snprintf(name, sizeof name, RUN_NETWORK_SECONDS, i + 1);
        s->launches += run_values_get(&r->counters, name) > 0;
        s->left += strcmp(r->placement.item[i].unit, RUN_NETWORK_REFERENCE) == 0;
    }
}

static bool measure_tensors(struct question *q, const struct net_open_options *passes, struct net_report *report, double *bytes,
                            struct orch_error *error)
{
    struct net_memory memory = {.of = NULL};
    struct net_model *const model = models_open_network(q->context, q->path, passes, report, error);
    const bool ok = model && net_memory_plan(model, &memory, error);
    *bytes = (double)memory.sum_bytes;
    net_memory_free(&memory);
    net_model_free(model);
    return ok;
}

static bool find_state(struct question *q, const struct net_open_options *passes, struct net_report *report, struct state *s,
                       struct orch_error *error)
{
    struct run_result result;
    q->request.passes = passes;
    struct run *const run = run_prepare(&q->request, error);
    run_result_init(&result);
    const bool ok =
        run && run_execute(run, NULL, 1, &result, error) && measure_tensors(q, passes, report, &s->tensor_bytes, error);
    if (ok) {
        s->seconds = result.seconds;
        s->joules = result.joules;
        count_kernels(&result, s);
        snprintf(q->unit, sizeof q->unit, "%s", result.unit);
        snprintf(q->precision, sizeof q->precision, "%s", result.precision);
    }
    run_result_free(&result);
    run_free(run);
    return ok;
}

/* ---- all passes ---- */

static bool find_all_states(struct question *q, int level, struct orch_error *error)
{
    const char *every[NET_EFFECTS_MAX];
    size_t count = 0;
    for (size_t k = 0; net_pass_at(k) && count < ARRAY_COUNT(every); k++)
        every[count++] = net_pass_at(k)->name;
    const struct net_open_options none = {.level = level, .without = every, .without_count = count}, all = {.level = level};
    return find_state(q, &none, NULL, &q->none, error) && find_state(q, &all, &q->report, &q->all, error);
}

/* A pass that changes nothing leaves everything as it is. */
static bool find_row(struct question *q, const struct net_pass_effect *effect, int level, const struct state *before,
                     struct orch_error *error)
{
    struct row *const row = &q->row[q->rows++];
    *row = (struct row){.pass = net_pass_find(effect->pass, error),
                        .changes = effect->changes,
                        .nodes = effect->nodes_after,
                        .now = *before,
                        .without = q->all};
    const struct net_open_options up_to = {.level = level, .last = effect->pass},
                                  without = {.level = level, .without = &effect->pass, .without_count = 1};
    return effect->changes == 0 ||
           (find_state(q, &up_to, NULL, &row->now, error) && find_state(q, &without, NULL, &row->without, error));
}

static bool find_rows(struct question *q, int level, struct orch_error *error)
{
    bool ok = find_all_states(q, level, error);
    q->rows = 0;
    q->nodes = ok && q->report.effects ? q->report.effect[0].nodes_before : 0;
    for (size_t i = 0; ok && i < q->report.effects; i++)
        ok = find_row(q, &q->report.effect[i], level, i ? &q->row[i - 1].now : &q->none, error);
    return ok;
}

/* ---- the answer ---- */

/* Times of two networks can be compared where units compute the same share of both. */
static bool comparable(const struct state *a, const struct state *b)
{
    return a->left == b->left;
}

/* "-" where a difference says nothing, or there is none. */
static void cell_saved(struct table *table, double before, double after, double unit, bool means)
{
    const double saved = (before - after) / unit;
    if (!means || !(fabs(saved) > 0))
        table_cell(table, means && !isnan(saved) ? "0" : "-");
    else
        table_cell(table, "%.3g", saved);
}

static void cells_saved(struct table *table, const struct state *before, const struct state *after)
{
    const bool means = comparable(before, after);
    cell_saved(table, before->seconds, after->seconds, 1e-3, means);
    cell_saved(table, before->joules, after->joules, 1e-3, means);
    table_cell(table, "%d", (int)before->launches - (int)after->launches);
}

static void print_end(const struct question *q)
{
    char times[2][FORMAT_SIZE], joules[2][FORMAT_SIZE];
    FILE *const out = q->context->out;
    bool first = true;
    for (size_t i = 0; i < q->rows; i++)
        if (q->row[i].changes == 0) {
            fprintf(out, "%s%s", first ? "change nothing " : ", ", q->row[i].pass->name);
            first = false;
        }
    fprintf(out, first ? "" : "\n");
    const struct state *const ends[] = {&q->none, &q->all};
    for (unsigned i = 0; i < ARRAY_COUNT(ends); i++)
        fprintf(out, "%-14s %s, %s, %u launches in %u command buffers and requests, %.4g MB of tensors%s\n",
                i ? "all passes" : "without any", format_quantity(times[i], ends[i]->seconds, "s"),
                format_quantity(joules[i], ends[i]->joules, "J"), ends[i]->launches, ends[i]->hand_overs,
                1e-6 * ends[i]->tensor_bytes, ends[i]->left ? "; nodes that no kernel computes take no time" : "");
}

static void print(const struct question *q)
{
    static const struct table_column columns[] = {{"pass", NULL, false, 0},        {"changes", NULL, true, 0},
                                                  {"nodes", NULL, true, 0},        {"saves [ms]", NULL, true, 0},
                                                  {"[mJ]", NULL, true, 0},         {"launches", NULL, true, 0},
                                                  {"tensors [MB]", NULL, true, 0}, {"alone left out [ms]", NULL, true, 0},
                                                  {"[mJ]", NULL, true, 0},         {"launches", NULL, true, 0},
                                                  {"by reference", NULL, true, 0}};
    struct table *const table = table_create(columns, ARRAY_COUNT(columns));
    fprintf(q->context->out, "%s %s on %s %s: what each pass saves behind those above it, and what leaving it out costs\n",
            q->path, q->precision, chip_id(q->request.chip), q->unit);
    for (size_t i = 0; table && i < q->rows; i++) {
        const struct row *const r = &q->row[i];
        const struct state *const before = i ? &q->row[i - 1].now : &q->none;
        if (r->changes == 0)
            continue;
        table_row(table);
        table_cell(table, "%s", r->pass->name);
        table_cell(table, "%u", r->changes);
        table_cell(table, "%zu", r->nodes);
        cells_saved(table, before, &r->now);
        cell_saved(table, before->tensor_bytes, r->now.tensor_bytes, 1e6, true);
        cells_saved(table, &r->without, &q->all);
        table_cell(table, "%u", r->now.left);
    }
    if (table)
        api_table(q->context, table);
    print_end(q);
}

static json_object *state_json(const struct state *s)
{
    json_object *const o = json_object_new_object();
    json_add_number(o, "seconds", s->seconds);
    json_add_number(o, "joules", s->joules);
    json_add_count(o, "launches", s->launches);
    json_add_count(o, "command_buffers_and_requests", s->hand_overs);
    json_add_number(o, "tensor_bytes", s->tensor_bytes);
    json_add_count(o, "reference_nodes", s->left);
    return o;
}

static json_object *document(const struct question *q)
{
    json_object *const o = json_object_new_object(), *const list = json_object_new_array();
    json_add_text(o, "model", q->path);
    json_add_text(o, "chip", chip_id(q->request.chip));
    json_add_text(o, "unit", q->unit);
    json_add_text(o, "precision", q->precision);
    json_object_object_add(o, "without_any", state_json(&q->none));
    json_object_object_add(o, "all", state_json(&q->all));
    for (size_t i = 0; i < q->rows; i++) {
        const struct row *const r = &q->row[i];
        json_object *const one = json_object_new_object();
        json_add_text(one, "pass", r->pass->name);
        json_add_text(one, "what", r->pass->text);
        json_add_count(one, "changes", r->changes);
        json_add_count(one, "nodes", r->nodes);
        json_object_object_add(one, "behind", state_json(&r->now));
        json_object_object_add(one, "left_out", state_json(&r->without));
        json_object_array_add(list, one);
    }
    json_object_object_add(o, "passes", list);
    return o;
}

/* ---- the question ---- */

static bool read_question(struct question *q, int *level, struct orch_error *error)
{
    const struct api_args *const a = &q->context->args;
    unsigned opt = 2;
    const char *const refused[] = {"no-pass", "pass", "value"};
    for (size_t i = 0; i < ARRAY_COUNT(refused); i++)
        if (api_has(a, refused[i]))
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") ": of models show; models passes leaves out each pass in turn",
                             refused[i]);
    if (!api_chosen(a, "opt", "0|1|2", &opt, error))
        return false;
    *level = (int)opt;
    const struct net_zoo_model *const zoo = net_zoo_find(q->path);
    if (!zoo && !run_is_network(q->path))
        return orch_fail(error, ORCH_USAGE, "%.300s: passes are done to networks (.onnx, .mlmodel, .mlpackage, model:NAME)",
                         q->path);
    snprintf(q->workload, sizeof q->workload, "%s%.480s", zoo ? NET_ZOO : "", zoo ? zoo->name : q->path);
    q->request = (struct run_request){.workload = q->workload,
                                      .unit = api_value(a, "unit"),
                                      .precision = api_value(a, "precision"),
                                      .mode = RUN_TIMING,
                                      .threads = q->context->common.threads,
                                      .seed = q->context->common.seed,
                                      .known = &q->ask,
                                      .dims = models_dims(q->context, error),
                                      .dim_count = api_count(a, "dim")};
    return q->request.dims != NULL;
}

static bool answer(struct question *q, const struct chip *chip, int level, json_object *documents, struct orch_error *error)
{
    q->request.chip = chip;
    if (!find_rows(q, level, error))
        return false;
    if (api_wants_document(q->context))
        json_object_array_add(documents, document(q));
    if (api_wants_text(q->context))
        print(q);
    return true;
}

int models_passes(struct api_context *context, const char *path)
{
    struct question q = {.context = context, .path = path};
    struct orch_error error = {0};
    struct api_chips chips = {0};
    int level = 2;
    json_object *const documents = json_object_new_array();
    struct orch_db *db = NULL;
    struct known *known = NULL;
    bool ok = read_question(&q, &level, &error) && api_chips_open(context, NULL, &chips, &error);
    db = ok ? db_open(context->common.db, DB_WRITE, &error) : NULL;
    known = db ? known_create(db, &error) : NULL;
    q.ask = known_as_run(known);
    ok = known != NULL;
    for (size_t i = 0; ok && i < chips.count; i++)
        ok = answer(&q, chips.chip[i], level, documents, &error);
    if (ok && api_wants_document(context))
        api_documents(context, json_object_get(documents));
    json_object_put(documents);
    known_free(known);
    db_close(db);
    api_chips_close(&chips);
    free((void *)q.request.dims);
    return ok ? ORCH_OK : api_fail(context, &error);
}
