#include "sim/network/graph/uses.h"

#include <stdlib.h>

void net_subgraphs(const struct net_node *node, void (*call)(struct net_graph *graph, void *context), void *context)
{
    for (size_t i = 0; i < node->attributes; i++)
        if (node->attribute[i].kind == NET_ATTR_GRAPH && node->attribute[i].graph)
            call(node->attribute[i].graph, context);
}

static void count_graph(struct net_graph *graph, void *context)
{
    uint32_t *const count = context;
    for (size_t i = 0; i < graph->nodes; i++) {
        const struct net_node *const n = graph->node[i];
        for (size_t k = 0; k < n->inputs; k++)
            if (n->input[k] != NET_NONE)
                count[n->input[k]]++;
        net_subgraphs(n, count_graph, count);
    }
    for (size_t i = 0; i < graph->outputs; i++)
        count[graph->output[i]]++;
}

bool net_uses_find(const struct net_model *model, const struct net_graph *graph, struct net_uses *uses)
{
    const size_t values = model->values ? model->values : 1;
    uses->count = calloc(values, sizeof *uses->count);
    uses->producer = calloc(values, sizeof *uses->producer);
    uses->position = calloc(values, sizeof *uses->position);
    if (!uses->count || !uses->producer || !uses->position) {
        net_uses_free(uses);
        return false;
    }
    count_graph(model->graph, uses->count);
    for (size_t i = 0; i < graph->nodes; i++)
        for (size_t k = 0; k < graph->node[i]->outputs; k++)
            if (graph->node[i]->output[k] != NET_NONE) {
                uses->producer[graph->node[i]->output[k]] = graph->node[i];
                uses->position[graph->node[i]->output[k]] = i;
            }
    return true;
}

void net_uses_free(struct net_uses *uses)
{
    free(uses->count);
    free(uses->producer);
    free(uses->position);
    *uses = (struct net_uses){.count = NULL};
}

struct replacement {
    net_id from, to;
};

static void replace_in(struct net_graph *graph, void *context)
{
    const struct replacement *const r = context;
    for (size_t i = 0; i < graph->nodes; i++) {
        struct net_node *const n = graph->node[i];
        for (size_t k = 0; k < n->inputs; k++)
            if (n->input[k] == r->from)
                n->input[k] = r->to;
        net_subgraphs(n, replace_in, context);
    }
    for (size_t i = 0; i < graph->outputs; i++)
        if (graph->output[i] == r->from)
            graph->output[i] = r->to;
}

void net_replace(struct net_graph *graph, net_id from, net_id to)
{
    struct replacement r = {from, to};
    replace_in(graph, &r);
}
