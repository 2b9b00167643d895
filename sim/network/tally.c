#include "sim/network/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *net_operator_title(const struct net_node *node, char text[NET_TITLE_BYTES])
{
    snprintf(text, NET_TITLE_BYTES, "%.50s%s%.70s", node->domain, *node->domain ? "." : "", node->op);
    return text;
}

static int by_title(const void *a, const void *b)
{
    return strcmp(((const struct net_tally_row *)a)->title, ((const struct net_tally_row *)b)->title);
}

bool net_tally_count(const struct net_model *model, struct net_tally *tally)
{
    const struct net_graph *const graph = model->graph;
    *tally = (struct net_tally){.row = calloc(graph->nodes + 1, sizeof *tally->row)};
    if (!tally->row)
        return false;
    for (size_t i = 0; i < graph->nodes; i++) {
        const struct net_cost cost = net_node_cost(model, graph->node[i]);
        char title[NET_TITLE_BYTES];
        size_t at = 0;
        net_operator_title(graph->node[i], title);
        while (at < tally->count && strcmp(tally->row[at].title, title) != 0)
            at++;
        struct net_tally_row *const r = &tally->row[at];
        if (at == tally->count) {
            tally->count++;
            memcpy(r->title, title, sizeof title);
            r->known = graph->node[i]->row != NULL;
        }
        r->nodes++;
        r->cost.macs += cost.macs;
        r->cost.parameters += cost.parameters;
        r->cost.bytes += cost.bytes;
    }
    qsort(tally->row, tally->count, sizeof *tally->row, by_title);
    return true;
}

void net_tally_free(struct net_tally *tally)
{
    free(tally->row);
    tally->row = NULL;
}
