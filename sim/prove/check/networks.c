#include "sim/prove/check/networks.h"

#include "isa/list_grow.h"
#include "sim/network/case.h"
#include "sim/network/cost.h"
#include "sim/network/operators/run.h"
#include "sim/network/quantise/quantise.h"
#include "sim/prove/check/case_folders.h"
#include "sim/run/network/run_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const struct net_open_options *options;
    const struct run_request *request; /* NULL = by the reference */
    enum orch_part part;               /* the request's unit */
    double tolerance;                  /* for golden outputs, as a share of the largest number */
    bool half, bytes;
    struct check_report *report;
    struct check_network_rows *rows;
};

static const char *last_part(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool differs(const struct net_model *model, size_t output, const struct net_difference *d, const char *more,
                    struct orch_error *error)
{
    return orch_fail(error, ORCH_FAILED, "output '%.80s' differs by %.3g; the largest expected number is %.3g%s",
                     model->output_name[output], d->largest, d->magnitude, more);
}

/* Compares all outputs; `row` keeps the worst. ONNX's own cases are judged as there, whatever they are computed in. */
static bool compare(const struct job *job, const struct net_model *model, const struct net_case *c,
                    struct net_array *const *output, bool golden, struct check_network_row *row, struct orch_error *error)
{
    struct net_difference inexact = {.fits = false};
    size_t which = 0;
    for (size_t k = 0; k < c->outputs; k++) {
        const double relative = golden ? 0 : CHECK_NETWORK_RELATIVE, absolute = golden ? 1 : CHECK_NETWORK_ABSOLUTE;
        const struct net_difference d = net_case_compare(c, k, output[k], relative, absolute);
        if (!d.fits)
            return orch_fail(error, ORCH_FAILED, "output '%.80s' has another type or shape than expected", model->output_name[k]);
        if (d.largest >= row->difference) {
            row->difference = d.largest;
            row->magnitude = d.magnitude;
        }
        const bool exact = !golden && d.worst <= 1, near = d.largest <= job->tolerance * d.magnitude;
        if (!exact && !((golden || job->half) && near))
            return differs(model, k, &d, "", error);
        if (!exact && !golden && !inexact.fits) {
            inexact = d;
            which = k;
        }
    }
    row->by_half = inexact.fits;
    return !inexact.fits || differs(model, which, &inexact, ", to which it is as near as f16 is asked to be elsewhere", error);
}

/* What the reference had to compute, in words. */
static char *fallbacks_of(const struct run_result *r)
{
    char *text = NULL;
    size_t bytes;
    FILE *const out = open_memstream(&text, &bytes);
    for (size_t k = 0; out && k < r->placement.count; k++)
        if (strcmp(r->placement.item[k].unit, RUN_NETWORK_REFERENCE) == 0)
            fprintf(out, "%s: %s\n", r->placement.item[k].op, r->placement.item[k].why);
    if (out)
        fclose(out);
    return text;
}

static bool run_on_unit(const struct job *job, const struct net_model *model, struct net_array *const *input,
                        const struct net_mixed *mixed, struct net_array **output, struct check_network_row *row,
                        struct orch_error *error)
{
    struct run_measure sum = {.soc = NULL};
    struct run_result result;
    const char *const unit = job->request->unit;
    const bool automatic = unit && (strcmp(unit, "auto") == 0 || strcmp(unit, "hybrid") == 0);
    const bool buffers = automatic || job->part != PART_CPU;
    struct mem_space *const space = buffers ? mem_space_create(0) : NULL;
    struct run_network n = {.request = job->request,
                            .part = job->part,
                            .automatic = automatic,
                            .space = space,
                            .model = model,
                            .input = input,
                            .mixed = mixed,
                            .sum = &sum,
                            .result = &result};
    run_result_init(&result);
    const bool ok = (space || !buffers || orch_no_memory(error)) && run_network(&n, output, error);
    mem_space_free(space);
    free(row->fallbacks);
    row->fallbacks = ok ? fallbacks_of(&result) : NULL;
    row->share = n.macs_known > 0 ? n.macs_here / n.macs_known : NAN;
    row->kernels = n.kernels;
    row->left = n.left;
    row->elsewhere = n.elsewhere;
    run_result_free(&result);
    run_measure_release(&sum);
    return ok;
}

static bool compute(const struct job *job, const struct net_model *model, struct net_array *const *input,
                    const struct net_mixed *mixed, struct net_array **output, struct check_network_row *row,
                    struct orch_error *error)
{
    const struct net_run run = {.model = model, .input = input};
    return job->request ? run_on_unit(job, model, input, mixed, output, row, error) : net_run(&run, output, error);
}

static bool compute_and_compare(const struct job *job, const struct net_model *model, const struct net_case *c,
                                const struct net_mixed *mixed, bool golden, struct check_network_row *row,
                                struct orch_error *error)
{
    struct net_array **const output = calloc(c->outputs + 1, sizeof(*output));
    const bool ok = (output || orch_no_memory(error)) && compute(job, model, c->input, mixed, output, row, error) &&
                    compare(job, model, c, output, golden, row, error);
    for (size_t k = 0; output && k < c->outputs; k++)
        net_array_release(output[k]);
    free(output);
    return ok;
}

static double whole_macs(const struct net_model *model, const struct net_mixed *mixed)
{
    double macs = 0;
    for (size_t i = 0; i < mixed->nodes; i++)
        macs += mixed->whole[i] ? (double)net_node_cost(model, model->graph->node[i]).macs : 0;
    return macs / fmax(1, (double)net_total_cost(model).macs);
}

/* What f16 makes wrong, with as many nodes in f32 as it takes. */
static bool again_mixed(const struct job *job, const struct net_model *model, const struct net_case *c, bool golden,
                        struct check_network_row *row, struct orch_error *error)
{
    struct net_mixed mixed;
    row->half = fmax(row->half, row->difference);
    row->difference = row->magnitude = 0;
    row->by_half = false;
    *error = (struct orch_error){0};
    const bool ok = net_mixed_choose(model, c->input, job->tolerance, &mixed, error) &&
                    compute_and_compare(job, model, c, &mixed, golden, row, error);
    if (mixed.whole_nodes > row->whole) {
        row->whole = mixed.whole_nodes;
        row->whole_macs = whole_macs(model, &mixed);
    }
    row->nodes = mixed.nodes;
    net_mixed_free(&mixed);
    return ok;
}

static bool enough_here(const struct job *job, const struct check_network_row *row, struct orch_error *error)
{
    if (job->request && row->kernels == 0 && row->left > 0)
        return orch_fail(error, ORCH_UNMODELLED, "no node is lowered to kernels of the unit; %.*s",
                         (int)strcspn(row->fallbacks ? row->fallbacks : "", "\n"), row->fallbacks ? row->fallbacks : "");
    return !(row->share < CHECK_NETWORK_SHARE) ||
           orch_fail(error, ORCH_FAILED, "the unit computed %.1f %% of the multiplications that its library has kernels for",
                     100 * row->share);
}

/* Products that stay in f32, so that the others may be in integers; what is said of nodes in mixed precision is said of them. */
static void note_products(const struct net_model *model, const struct net_mixed *mixed, struct check_network_row *row)
{
    size_t whole = 0, products = 0;
    double macs = 0;
    for (size_t i = 0; i < mixed->nodes; i++) {
        const struct net_node *const node = model->graph->node[i];
        const bool product = net_weights_of(model, node) != 0;
        products += product;
        whole += product && mixed->whole[i];
        macs += product && mixed->whole[i] ? (double)net_node_cost(model, node).macs : 0;
    }
    row->bytes = true;
    row->half = fmax(row->half, mixed->error_half);
    row->whole_macs = fmax(row->whole_macs, macs / fmax(1, (double)net_total_cost(model).macs));
    row->whole = whole > row->whole ? whole : row->whole;
    row->nodes = products;
}

/* Weights and what they are multiplied with as integers, before operators are fused; `mixed`: but for products that cost too
 * much.
 */
static bool prepare_bytes(const struct job *job, struct net_model *model, const struct net_case *c, bool mixed,
                          struct check_network_row *row, struct orch_error *error)
{
    static const struct net_open_options tidy = {.level = 1};
    struct net_array **set = c->input;
    const struct net_samples samples = {.set = &set, .count = 1, .inputs = model->graph->inputs};
    struct net_ranges ranges = {.most = NULL};
    struct net_mixed choice = {.whole = NULL};
    struct net_quantised_count count = {.products = 0};
    bool ok = net_prepare(model, &tidy, NULL, error) && net_calibrate(model, &samples, NET_BY_MINMAX, 0, &ranges, error) &&
              (!mixed || net_mixed_choose_bytes(model, c->input, &ranges, job->tolerance, &choice, error));
    if (ok && mixed)
        note_products(model, &choice, row);
    ok = ok && net_quantise_but(model, NET_TO_INT8, &ranges, choice.whole, &count, error);
    net_ranges_free(&ranges);
    net_mixed_free(&choice);
    if (!ok && error->exit_code == ORCH_USAGE && count.products == 0) /* there is nothing to quantise: no case */
        error->exit_code = ORCH_UNMODELLED;
    return ok;
}

/* One call of a set of inputs. The model is opened anew for each, since passes use the sizes of the inputs. */
struct call {
    const char *path;
    size_t set, call;
    bool golden;
};

static bool try_call(const struct job *job, const struct call *at, bool mixed_bytes, struct check_network_row *row, size_t *calls,
                     struct orch_error *error)
{
    char file[CASE_PATH_BYTES + 300];
    struct net_case c = {.input = NULL};
    struct net_model *const model = net_case_model(at->path, file, sizeof file)
                                        ? net_import(file, error)
                                        : (orch_fail(error, ORCH_USAGE, "%.300s: no model", at->path), NULL);
    bool ok = model && net_case_load(at->path, at->set, at->call, model, &c, error) && net_bind_inputs(model, c.input, error) &&
              (!job->bytes || prepare_bytes(job, model, &c, mixed_bytes, row, error)) &&
              net_prepare(model, job->options, NULL, error);
    if (ok) {
        row->macs = net_total_cost(model).macs;
        ok = compute_and_compare(job, model, &c, NULL, at->golden, row, error);
        if (!ok && error->exit_code == ORCH_FAILED && job->half)
            ok = again_mixed(job, model, &c, at->golden, row, error);
        ok = ok && enough_here(job, row, error);
    }
    *calls = c.calls;
    net_case_free(&c);
    net_model_free(model);
    return ok;
}

static bool run_call(const struct job *job, const char *path, size_t set, size_t call, bool golden, struct check_network_row *row,
                     size_t *calls, struct orch_error *error)
{
    const struct call at = {path, set, call, golden};
    if (try_call(job, &at, false, row, calls, error))
        return true;
    if (!job->bytes || error->exit_code != ORCH_FAILED)
        return false;
    *error = (struct orch_error){0};
    row->difference = row->magnitude = 0;
    return try_call(job, &at, true, row, calls, error);
}

static bool run_set(const struct job *job, const char *path, size_t set, bool golden, struct check_network_row *row,
                    struct orch_error *error)
{
    size_t calls = 1;
    bool ok = true;
    for (size_t call = 0; ok && call < calls; call++)
        ok = run_call(job, path, set, call, golden, row, &calls, error);
    return ok;
}

static void keep(struct check_network_rows *rows, const struct check_network_row *row, const char *name)
{
    struct check_network_row *const grown = list_grow(rows->row, rows->count, &rows->room, sizeof *grown);
    if (!grown) {
        free(row->fallbacks);
        return;
    }
    rows->row = grown;
    grown[rows->count] = *row;
    grown[rows->count].name = strdup(name);
    if (grown[rows->count].name)
        rows->count++;
    else
        free(row->fallbacks);
}

static void check_case(void *context, const char *path)
{
    const struct job *const job = context;
    struct check_network_row row = {.right = true, .share = NAN};
    struct orch_error error = {0};
    size_t sets;
    bool golden;
    if (net_case_sets(path, &sets, &golden) == 0) {
        check_skip(job->report, "%s: no expected outputs", last_part(path));
        return;
    }
    for (size_t set = 0; row.right && set < sets; set++)
        row.right = run_set(job, path, set, golden, &row, &error);
    if (row.right)
        check_pass(job->report);
    else if (error.exit_code == ORCH_UNMODELLED)
        check_skip(job->report, "%s: %s", last_part(path), error.text);
    else
        check_fail(job->report, "%s: %s", last_part(path), error.text);
    if (row.right || error.exit_code != ORCH_UNMODELLED)
        keep(job->rows, &row, last_part(path));
    else
        free(row.fallbacks);
}

static bool is_case(const char *path)
{
    char model[CASE_PATH_BYTES + 300];
    return net_case_model(path, model, sizeof model);
}

bool check_networks(const char *folder, const char *const *names, size_t name_count, const struct net_open_options *options,
                    const struct run_request *request, struct check_report *report, struct check_network_rows *rows,
                    struct orch_error *error)
{
    const bool ane = request && request->unit && strcmp(request->unit, "ane") == 0;
    const char *const precision = request ? request->precision : NULL;
    const bool bytes = precision && strcmp(precision, "i8") == 0;
    const bool half = !bytes && (ane || (precision && strcmp(precision, "f16") == 0));
    struct run_request own = request ? *request : (struct run_request){.chip = NULL};
    own.precision = bytes ? NULL : precision; /* the graph says what is in integers */
    struct job job = {.options = options,
                      .request = request ? &own : NULL,
                      .half = half,
                      .bytes = bytes,
                      .tolerance = half    ? CHECK_NETWORK_F16
                                   : bytes ? CHECK_NETWORK_INT8
                                           : CHECK_NETWORK_F32,
                      .report = report,
                      .rows = rows};
    for (enum orch_part part = 0; request && request->unit && part < PART_COUNT; part++)
        if (strcmp(request->unit, orch_part_name(part)) == 0)
            job.part = part;
    const struct case_kind kind = {.noun = "network",
                                   .marker = "a model (model.onnx, model.mlmodel or the only .onnx, .mlmodel or .mlpackage)",
                                   .is_case = is_case,
                                   .check = check_case,
                                   .context = &job};
    return case_folders_run(folder, names, name_count, &kind, error);
}

void check_network_rows_free(struct check_network_rows *rows)
{
    for (size_t k = 0; k < rows->count; k++) {
        free(rows->row[k].name);
        free(rows->row[k].fallbacks);
    }
    free(rows->row);
    *rows = (struct check_network_rows){.row = NULL};
}
