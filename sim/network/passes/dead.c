/* Dead code: nodes whose results nobody uses. */
#include "sim/network/graph/uses.h"
#include "sim/network/passes/passes.h"

#include <stdlib.h>

/* Marks what a graph uses of the values around it, with everything in it. */
static void mark_all(struct net_graph *graph, void *context)
{
    bool *const needed = context;
    for (size_t i = 0; i < graph->nodes; i++) {
        for (size_t k = 0; k < graph->node[i]->inputs; k++)
            if (graph->node[i]->input[k] != NET_NONE)
                needed[graph->node[i]->input[k]] = true;
        net_subgraphs(graph->node[i], mark_all, context);
    }
    for (size_t i = 0; i < graph->outputs; i++)
        needed[graph->output[i]] = true;
}

static bool is_needed(const struct net_node *node, const bool *needed)
{
    for (size_t k = 0; k < node->outputs; k++)
        if (node->output[k] != NET_NONE && needed[node->output[k]])
            return true;
    return false;
}

bool net_remove_dead(struct net_model *model, unsigned *removed, struct orch_error *error)
{
    struct net_graph *const graph = model->graph;
    bool *const needed = calloc(model->values + 1, sizeof *needed), *const gone = calloc(graph->nodes + 1, sizeof *gone);
    *removed = 0;
    for (size_t i = 0; needed && i < graph->outputs; i++)
        needed[graph->output[i]] = true;
    for (size_t i = graph->nodes; needed && gone && i-- > 0;) {
        struct net_node *const node = graph->node[i];
        gone[i] = !is_needed(node, needed);
        *removed += gone[i];
        for (size_t k = 0; !gone[i] && k < node->outputs; k++)
            if (node->output[k] != NET_NONE && !needed[node->output[k]])
                node->output[k] = NET_NONE;
        for (size_t k = 0; !gone[i] && k < node->inputs; k++)
            if (node->input[k] != NET_NONE)
                needed[node->input[k]] = true;
        if (!gone[i])
            net_subgraphs(node, mark_all, needed);
    }
    for (size_t i = 0; needed && gone && i < model->values; i++) /* constants that have become part of others */
        if (!needed[i] && model->value[i].constant) {
            net_array_release(model->value[i].constant);
            model->value[i].constant = NULL;
        }
    if (needed && gone)
        net_graph_sweep(graph, gone);
    const bool ok = needed && gone;
    free(needed);
    free(gone);
    return ok || orch_no_memory(error);
}

bool net_pass_dead(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_remove_dead(model, changes, error);
}
