#include "sim/run/run_network.h"

#include "sim/network/cost.h"
#include "sim/network/operators/run.h"
#include "sim/run/lowering.h"
#include "sim/run/run_internal.h"
#include "sim/workload/cpu/cpu_library.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one kernel ---- */

static bool note(struct run_network *n, const char *title, const struct lowered_step *step, const struct run_result *r)
{
    char kernel[300], why[100] = "the library's kernel for it", name[60];
    struct run_placements *const list = &n->result->placement;
    snprintf(kernel, sizeof kernel, "%s %s", r->placement.count ? r->placement.item[0].kernel : "", step->workload);
    if (r->bound_by)
        snprintf(why, sizeof why, "bound by %s", r->bound_by);
    if (!run_placement_add(list, title, orch_part_name(PART_CPU), kernel, why))
        return false;
    if (n->request->mode == RUN_FUNCTIONAL)
        return true;
    snprintf(name, sizeof name, RUN_NETWORK_SECONDS, list->count);
    if (!run_values_add(&n->result->counters, name, r->seconds))
        return false;
    snprintf(name, sizeof name, RUN_NETWORK_JOULES, list->count);
    return isnan(r->joules) || run_values_add(&n->result->counters, name, r->joules);
}

/* The chip is the network's: whoever comes first opens it. */
static void add_measure(struct run_measure *sum, struct run_measure *pass)
{
    run_measure_add(sum, pass);
    sum->soc = pass->soc;
    sum->core_count = pass->core_count;
    memcpy(sum->cores, pass->cores, sizeof sum->cores);
    sum->shared |= pass->shared;
}

static bool run_step(struct run_network *n, const char *title, const struct lowered_step *step, struct orch_error *error)
{
    struct run_request q = *n->request;
    struct run_measure pass = {.soc = n->sum->soc};
    struct run_result r;
    q.workload = step->workload;
    q.unit = orch_part_name(PART_CPU);
    q.precision = "f32";
    q.operands = &step->operands;
    q.inputs = NULL;
    q.input_count = 0;
    q.output_folder = NULL;
    q.uncertainty = NULL;
    q.passes = NULL;
    q.dim_count = 0;
    q.evict = q.cold; /* programs have equal addresses: what one left would be found by the next */
    struct run *const run = run_prepare(&q, error);
    run_result_init(&r);
    bool ok = run && run_time_given(run, NULL, &pass, &r, error);
    if (ok) {
        add_measure(n->sum, &pass);
        n->flops += run->kind->operation(run).flops;
        n->kernels++;
        ok = note(n, title, step, &r) || orch_no_memory(error);
    }
    if (n->sum->soc)
        pass.soc = NULL;
    run_measure_release(&pass);
    run_result_free(&r);
    run_free(run);
    return ok || orch_fail_in(error, "%s", title);
}

/* ---- one node ---- */

static bool leave(struct run_network *n, const char *title, const char *why, struct orch_error *error)
{
    n->left++;
    return run_placement_add(&n->result->placement, title, RUN_NETWORK_REFERENCE, "none", why) || orch_no_memory(error);
}

static void drop(struct net_array **out, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        net_array_release(out[k]);
        out[k] = NULL;
    }
}

/* Results of the shapes that are known of them; false when one is not. */
static bool make(const struct run_network *n, const struct net_node *node, struct net_array **out)
{
    struct orch_error unused = {0};
    for (size_t k = 0; k < node->outputs; k++) {
        const struct net_value *const v = node->output[k] == NET_NONE ? NULL : &n->model->value[node->output[k]];
        if (!v)
            continue;
        for (unsigned d = 0; d < v->shape.dims; d++)
            if (v->shape.dim[d] < 0)
                return false;
        out[k] = v->shape.known && v->type != NET_TYPES ? net_array_new(v->type, v->shape.dim, v->shape.dims, &unused) : NULL;
        if (!out[k])
            return false;
    }
    return true;
}

/* The library's own word on shapes that rules do not know to be impossible. */
static bool has_kernels(const struct run_network *n, struct lowering *l)
{
    struct cpu_library *const library = malloc(sizeof *library);
    struct orch_error error = {0};
    const unsigned threads = n->request->cores ? n->request->cores : 1;
    bool ok = library || lowering_leave(l, "memory is out");
    for (unsigned i = 0; ok && i < l->steps; i++)
        ok = cpu_library_open(library, l->step[i].workload, "f32", threads, &error) || lowering_leave(l, "%.180s", error.text);
    free(library);
    return ok;
}

static bool compute(struct run_network *n, const struct lowering_rule *rule, const char *title, struct lowering *l, bool *done,
                    struct orch_error *error)
{
    const double macs = (double)net_node_cost(n->model, l->node).macs;
    n->macs_known += macs;
    if (!make(n, l->node, l->out))
        lowering_leave(l, "its shape is not known beforehand");
    if (!lowering_holds(l) || !lowering_apply(l, rule) || !has_kernels(n, l)) {
        drop(l->out, l->node->outputs);
        return leave(n, title, l->why, error);
    }
    for (unsigned i = 0; i < l->steps; i++)
        if (!run_step(n, title, &l->step[i], error))
            return false;
    n->macs_here += macs;
    *done = true;
    return true;
}

static bool node_on_unit(void *context, const struct net_node *node, struct net_array *const *in, struct net_array **out,
                         bool *done, struct orch_error *error)
{
    struct run_network *const n = context;
    const struct lowering_rule *const rule = lowering_rule(node);
    char title[200];
    snprintf(title, sizeof title, "%.60s%s%.120s", node->op, node->name && node->name[0] ? " " : "",
             node->name ? node->name : "");
    n->macs += (double)net_node_cost(n->model, node).macs;
    if (!rule)
        return leave(n, title, "no rule lowers this operator to kernels", error);
    if (!rule->lower)
        return run_placement_add(&n->result->placement, title, RUN_NETWORK_VIEW, "none", "the same elements in another shape") ||
               orch_no_memory(error);
    struct lowering *const l = calloc(1, sizeof *l);
    if (!l)
        return orch_no_memory(error);
    l->node = node;
    l->in = in;
    l->out = out;
    const bool ok = compute(n, rule, title, l, done, error);
    lowering_free(l);
    free(l);
    return ok;
}

bool run_network(struct run_network *n, struct net_array **output, struct orch_error *error)
{
    const struct net_run run = {.model = n->model, .input = n->input, .unit = node_on_unit, .context = n};
    return net_run(&run, output, error);
}
