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

static struct net_fact fact_of(const struct net_array *array)
{
    if (!array)
        return (struct net_fact){.type = NET_TYPES};
    return (struct net_fact){
        .present = true, .type = array->type, .shape = net_shape_of(array->shape, array->dims), .constant = array};
}

/* Results of the shapes that the node's rule states of these operands; false when it leaves one open. */
static bool make(const struct net_node *node, struct net_array *const *in, struct net_array **out)
{
    struct orch_error unused = {0};
    struct net_fact *const fact = calloc(node->inputs + node->outputs + 1, sizeof *fact), *const facts = fact + node->inputs;
    struct net_infer infer = {node, fact, node->inputs, facts, node->outputs, &unused};
    bool ok = fact != NULL;
    for (size_t k = 0; ok && k < node->inputs; k++)
        fact[k] = fact_of(in[k]);
    for (size_t k = 0; ok && k < node->outputs; k++)
        facts[k] = (struct net_fact){.present = node->output[k] != NET_NONE, .type = NET_TYPES};
    ok = ok && net_infer_node(&infer);
    for (size_t k = 0; ok && k < node->outputs; k++) {
        const struct net_fact *const f = &facts[k];
        if (!f->present)
            continue;
        out[k] = f->type != NET_TYPES && net_shape_complete(&f->shape)
                     ? net_array_new(f->type, f->shape.dim, f->shape.dims, &unused)
                     : NULL;
        ok = out[k] != NULL;
    }
    free(fact);
    return ok;
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
    if (!make(l->node, l->in, l->out))
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

static bool is_control(const struct net_node *node)
{
    return strcmp(node->op, "If") == 0 || strcmp(node->op, "Loop") == 0 || strcmp(node->op, "Scan") == 0;
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
    if (is_control(node))
        return run_placement_add(&n->result->placement, title, RUN_NETWORK_CONTROL, "none", "its nodes follow one by one") ||
               orch_no_memory(error);
    if (!rule)
        return leave(n, title, "no rule lowers this operator to kernels", error);
    if (lowering_is_view(rule, node, in))
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
