#include "sim/run/run_network.h"

#include "sim/network/cost.h"
#include "sim/network/operators/run.h"
#include "sim/run/run_internal.h"
#include "sim/run/run_network_memory.h"
#include "sim/run/run_network_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Opens all kernels of a node; the libraries' own word on shapes that rules do not know to be impossible. */
static bool open_steps(const struct run_network *n, struct lowering *l, struct network_step *step, struct orch_error *error)
{
    struct orch_error why = {0};
    for (unsigned i = 0; i < l->steps; i++)
        if (!network_step_open(n, &l->step[i], &step[i], &why)) {
            if (why.exit_code == ORCH_INTERNAL)
                *error = why;
            return lowering_leave(l, "%.180s", why.text);
        }
    return true;
}

/* The node's multiplications are the asked unit's when all kernels that multiply are. */
static bool multiplies_here(const struct lowering *l, const struct network_step *step)
{
    for (unsigned i = 0; i < l->steps; i++)
        if (step[i].elsewhere && step[i].run->kind->operation(step[i].run).macs > 0)
            return false;
    return true;
}

static bool run_steps(struct run_network *n, const char *title, struct lowering *l, struct network_step *step,
                      struct orch_error *error)
{
    for (unsigned i = 0; i < l->steps; i++)
        if (!network_step_run(n, title, &l->step[i], &step[i], error))
            return false;
    return true;
}

static bool compute(struct run_network *n, const struct lowering_rule *rule, const char *title, struct lowering *l, bool *done,
                    struct orch_error *error)
{
    const double macs = (double)net_node_cost(n->model, l->node).macs;
    struct network_step *const step = calloc(LOWERED_STEPS, sizeof *step);
    n->macs_known += macs;
    if (!step)
        return orch_no_memory(error);
    if (!make(n, l->node, l->out))
        lowering_leave(l, "its shape is not known beforehand");
    bool ok = lowering_holds(l) && lowering_apply(l, rule) && open_steps(n, l, step, error);
    if (ok) {
        n->macs_here += multiplies_here(l, step) ? macs : 0;
        *done = ok = run_steps(n, title, l, step, error);
    } else if (!error->exit_code) {
        drop(l->out, l->node->outputs);
        ok = leave(n, title, l->why, error);
    }
    for (unsigned i = 0; i < l->steps; i++)
        network_step_close(&step[i]);
    free(step);
    return ok;
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
    l->part = n->part;
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
    n->memory = n->space ? network_memory_create(n->space) : NULL;
    const bool ok = (n->memory || !n->space || orch_no_memory(error)) && net_run(&run, output, error);
    network_memory_free(n->memory);
    n->memory = NULL;
    if (ok && n->command_buffers) {
        n->sum->gpu.overhead_ns = n->gpu.gpu.overhead_ns = n->command_buffers * n->overhead_ns;
        n->sum->end_ns += n->sum->gpu.overhead_ns;
        n->gpu.end_ns += n->sum->gpu.overhead_ns;
    }
    return ok;
}
