#include "sim/network/operators/run.h"

#include "sim/network/graph/uses.h"

#include <stdlib.h>

struct net_machine {
    const struct net_model *model;
    struct net_array **value; /* by id; retained */
    const struct net_run *run;
};

/* ---- one node ---- */

static void give_up(struct net_array **out, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        net_array_release(out[k]);
        out[k] = NULL;
    }
}

static void state_inputs(struct net_array *const *in, size_t count, struct net_fact *fact)
{
    for (size_t k = 0; k < count; k++) {
        fact[k] = (struct net_fact){.present = in[k] != NULL, .type = NET_TYPES};
        if (in[k]) {
            fact[k].type = in[k]->type;
            fact[k].shape = net_shape_of(in[k]->shape, in[k]->dims);
            fact[k].constant = in[k];
        }
    }
}

static bool make_outputs(const struct net_node *node, const struct net_fact *fact, struct net_array **out,
                         struct orch_error *error)
{
    for (size_t k = 0; k < node->outputs; k++) {
        if (!fact[k].present || node->row->own_outputs)
            continue;
        if (fact[k].type == NET_TYPES || !net_shape_complete(&fact[k].shape))
            return orch_fail(error, ORCH_INTERNAL, "the shape of output %zu is not known", k);
        out[k] = net_array_new(fact[k].type, fact[k].shape.dim, fact[k].shape.dims, error);
        if (!out[k])
            return false;
    }
    return true;
}

static bool evaluate(const struct net_node *node, const struct net_fact *facts, struct net_array *const *in,
                     struct net_array **out, struct net_machine *machine, struct orch_error *error)
{
    struct net_call call = {.node = node,
                            .in = in,
                            .inputs = node->inputs,
                            .out = out,
                            .fact = facts,
                            .outputs = node->outputs,
                            .machine = machine,
                            .error = error};
    if (!node->row->evaluate)
        return orch_fail(error, ORCH_UNMODELLED, "the reference does not compute it");
    if (!make_outputs(node, facts, out, error) || !node->row->evaluate(&call))
        return false;
    for (size_t k = 0; k < node->outputs; k++)
        if (facts[k].present && !out[k])
            return orch_fail(error, ORCH_UNMODELLED, "output %zu is not computed", k);
    return true;
}

bool net_evaluate_node(const struct net_node *node, struct net_array *const *in, struct net_array **out,
                       struct net_machine *machine, struct orch_error *error)
{
    char title[256];
    struct net_fact *const fact = calloc(node->inputs + node->outputs + 1, sizeof *fact), *const facts = fact + node->inputs;
    if (!fact)
        return orch_no_memory(error);
    for (size_t k = 0; k < node->outputs; k++) {
        out[k] = NULL;
        facts[k] = (struct net_fact){.present = node->output[k] != NET_NONE, .type = NET_TYPES};
    }
    state_inputs(in, node->inputs, fact);
    struct net_infer infer = {node, fact, node->inputs, facts, node->outputs, error};
    bool ok = net_infer_node(&infer);
    if (ok && !evaluate(node, facts, in, out, machine, error)) {
        ok = false;
        orch_fail_in(error, "%s", net_node_title(node, title, sizeof title));
    }
    if (!ok)
        give_up(out, node->outputs);
    free(fact);
    return ok;
}

/* ---- graphs ---- */

static void put(struct net_machine *m, net_id id, struct net_array *array)
{
    net_array_release(m->value[id]);
    m->value[id] = array;
}

/* By the unit of the run where it takes the node, else by the reference. */
static bool compute(struct net_machine *m, const struct net_node *node, struct net_array *const *in, struct net_array **out,
                    struct orch_error *error)
{
    bool done = false;
    const bool ok = !m->run->unit || m->run->unit(m->run->context, node, in, out, &done, error);
    if (!ok)
        give_up(out, node->outputs);
    return ok && (done || net_evaluate_node(node, in, out, m, error));
}

static bool run_node(struct net_machine *m, const struct net_node *node, bool top, struct orch_error *error)
{
    struct net_array **const in = calloc(node->inputs + node->outputs + 1, sizeof(*in)), **const out = in + node->inputs;
    bool ok = in != NULL;
    if (!ok)
        return orch_no_memory(error);
    for (size_t k = 0; k < node->inputs && ok; k++) {
        in[k] = node->input[k] == NET_NONE ? NULL : m->value[node->input[k]];
        if (node->input[k] != NET_NONE && !in[k])
            ok = orch_fail(error, ORCH_USAGE, "value '%.100s' is used before it is computed",
                           m->model->value[node->input[k]].name);
    }
    ok = ok && compute(m, node, in, out, error);
    if (ok && top && m->run->observer)
        m->run->observer(m->run->context, node, in, out);
    for (size_t k = 0; ok && k < node->outputs; k++)
        if (node->output[k] != NET_NONE)
            put(m, node->output[k], out[k]);
        else
            net_array_release(out[k]);
    free(in);
    return ok;
}

struct last_use {
    size_t *position, at;
};

static void note_uses(struct net_graph *graph, void *context)
{
    const struct last_use *const last = context;
    for (size_t i = 0; i < graph->nodes; i++) {
        for (size_t k = 0; k < graph->node[i]->inputs; k++)
            if (graph->node[i]->input[k] != NET_NONE)
                last->position[graph->node[i]->input[k]] = last->at;
        net_subgraphs(graph->node[i], note_uses, context);
    }
    for (size_t i = 0; i < graph->outputs; i++)
        last->position[graph->output[i]] = last->at;
}

/* By value: the last node of the graph that needs it. */
static size_t *last_uses(const struct net_model *model, const struct net_graph *graph)
{
    struct last_use last = {calloc(model->values + 1, sizeof *last.position), 0};
    for (size_t i = 0; last.position && i < graph->nodes; i++) {
        last.at = i;
        for (size_t k = 0; k < graph->node[i]->inputs; k++)
            if (graph->node[i]->input[k] != NET_NONE)
                last.position[graph->node[i]->input[k]] = i;
        net_subgraphs(graph->node[i], note_uses, &last);
    }
    for (size_t i = 0; last.position && i < graph->outputs; i++)
        last.position[graph->output[i]] = SIZE_MAX;
    return last.position;
}

/* Lets go of what a node was the last to need. */
static void let_go(struct net_machine *m, const struct net_node *node, size_t at, const size_t *last)
{
    for (size_t k = 0; k < node->inputs; k++)
        if (node->input[k] != NET_NONE && last[node->input[k]] == at && !m->model->value[node->input[k]].constant)
            put(m, node->input[k], NULL);
}

bool net_run_subgraph(struct net_machine *machine, const struct net_graph *graph, struct net_array *const *input, size_t inputs,
                      struct net_array **output, struct orch_error *error)
{
    bool ok = true;
    if (inputs != graph->inputs)
        return net_refuse(error, "a subgraph with %zu inputs is given %zu", graph->inputs, inputs);
    for (size_t k = 0; k < inputs; k++)
        put(machine, graph->input[k], net_array_retain(input[k]));
    for (size_t i = 0; ok && i < graph->nodes; i++)
        ok = run_node(machine, graph->node[i], false, error);
    for (size_t k = 0; k < graph->outputs; k++) {
        output[k] = ok ? net_array_retain(machine->value[graph->output[k]]) : NULL;
        if (ok && !output[k])
            ok = net_refuse(error, "output %zu of the subgraph is not computed", k);
    }
    for (size_t i = 0; i < graph->nodes; i++)
        for (size_t k = 0; k < graph->node[i]->outputs; k++)
            if (graph->node[i]->output[k] != NET_NONE)
                put(machine, graph->node[i]->output[k], NULL);
    if (!ok)
        give_up(output, graph->outputs);
    return ok;
}

/* "[1,?,3]" behind what is told already. */
static void tell_shape(struct orch_error *error, const int64_t *dim, unsigned dims)
{
    for (unsigned d = 0; d < dims; d++)
        if (dim[d] < 0)
            orch_fail_more(error, "%s?", d ? "," : "[");
        else
            orch_fail_more(error, "%s%lld", d ? "," : "[", (long long)dim[d]);
    orch_fail_more(error, dims ? "]" : "[]");
}

static bool refuse_shape(const struct net_value *v, const struct net_array *array, struct orch_error *error)
{
    orch_fail(error, ORCH_USAGE, "the shape of input '%.100s' is not that of the network: ", v->name);
    tell_shape(error, array->shape, array->dims);
    orch_fail_more(error, ", not ");
    tell_shape(error, v->shape.dim, v->shape.dims);
    return false;
}

static bool check_input(const struct net_model *model, net_id id, const struct net_array *array, struct orch_error *error)
{
    const struct net_value *const v = &model->value[id];
    if (!array)
        return v->constant || orch_fail(error, ORCH_USAGE, "input '%.100s' has no values", v->name);
    if (v->type != NET_TYPES && v->type != array->type)
        return orch_fail(error, ORCH_USAGE, "input '%.100s' is %s, not %s", v->name, net_type_name(v->type),
                         net_type_name(array->type));
    bool fits = !v->shape.known || v->shape.dims == array->dims;
    for (unsigned d = 0; fits && v->shape.known && d < array->dims; d++)
        fits = v->shape.dim[d] < 0 || v->shape.dim[d] == array->shape[d];
    return fits || refuse_shape(v, array, error);
}

static bool run_top(struct net_machine *m, struct orch_error *error)
{
    const struct net_graph *const graph = m->model->graph;
    size_t *const last = last_uses(m->model, graph);
    bool ok = last != NULL || orch_no_memory(error);
    for (size_t k = 0; ok && k < m->model->values; k++)
        m->value[k] = net_array_retain(m->model->value[k].constant);
    for (size_t k = 0; ok && k < graph->inputs; k++) {
        ok = check_input(m->model, graph->input[k], m->run->input[k], error);
        if (ok && m->run->input[k])
            put(m, graph->input[k], net_array_retain(m->run->input[k]));
    }
    for (size_t i = 0; ok && i < graph->nodes; i++) {
        ok = run_node(m, graph->node[i], true, error);
        if (ok)
            let_go(m, graph->node[i], i, last);
    }
    free(last);
    return ok;
}

bool net_run(const struct net_run *run, struct net_array **output, struct orch_error *error)
{
    const struct net_graph *const graph = run->model->graph;
    struct net_machine m = {run->model, calloc(run->model->values + 1, sizeof *m.value), run};
    bool ok = m.value ? run_top(&m, error) : orch_no_memory(error);
    for (size_t k = 0; k < graph->outputs; k++) {
        output[k] = ok ? net_array_retain(m.value[graph->output[k]]) : NULL;
        if (ok && !output[k])
            ok = orch_fail(error, ORCH_USAGE, "output '%.100s' is not computed", run->model->output_name[k]);
    }
    if (!ok) {
        give_up(output, graph->outputs);
        orch_fail_in(error, "%s", run->model->path);
    }
    for (size_t k = 0; m.value && k < run->model->values; k++)
        net_array_release(m.value[k]);
    free(m.value);
    return ok;
}
