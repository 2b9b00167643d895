/* Common subexpressions: equal constants become one, and so do equal nodes with equal inputs. */
#include "sim/network/graph/uses.h"
#include "sim/network/operators/operator.h"
#include "sim/network/passes/passes.h"

#include <stdlib.h>
#include <string.h>

enum { CONSTANT_BYTES_MAX = 4096 }; /* larger ones are hardly ever equal */

struct keyed {
    uint64_t key;
    size_t index;
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *const x = a, *const y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->index > y->index) - (x->index < y->index);
}

static void merge_constants(struct net_model *model, struct keyed *list, unsigned *changes)
{
    size_t count = 0;
    for (size_t i = 0; i < model->values; i++) {
        const struct net_array *const a = model->value[i].constant;
        if (a && net_array_bytes(a) <= CONSTANT_BYTES_MAX)
            list[count++] = (struct keyed){mix(a->type, a->data, net_array_bytes(a)), i};
    }
    qsort(list, count, sizeof *list, by_key);
    for (size_t k = 1; k < count; k++) {
        const struct net_value *const a = &model->value[list[k - 1].index], *const b = &model->value[list[k].index];
        if (list[k - 1].key != list[k].key || !net_array_same(a->constant, b->constant))
            continue;
        net_replace(model->graph, (net_id)list[k].index, (net_id)list[k - 1].index);
        list[k].index = list[k - 1].index;
        ++*changes;
    }
}

static bool same_nodes(const struct net_node *a, const struct net_node *b)
{
    if (strcmp(a->op, b->op) != 0 || strcmp(a->domain, b->domain) != 0 || a->inputs != b->inputs || a->outputs != b->outputs ||
        memcmp(a->input, b->input, a->inputs * sizeof *a->input) != 0)
        return false;
    for (size_t k = 0; k < a->outputs; k++)
        if (a->output[k] == NET_NONE && b->output[k] != NET_NONE)
            return false;
    return net_attributes_same(a, b);
}

/* In the order of the graph: a node that is equal to an earlier one hands its users over, and later ones may become equal by
 * that. */
static bool merge_nodes(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    struct net_graph *const graph = model->graph;
    size_t room = 64, *chain = calloc(graph->nodes + 1, sizeof *chain);
    while (room < 2 * graph->nodes)
        room *= 2;
    size_t *const head = calloc(room, sizeof *head); /* 1 + position; 0 = none */
    bool *const gone = calloc(graph->nodes + 1, sizeof *gone);
    const bool ok = chain && head && gone;
    for (size_t i = 0; ok && i < graph->nodes; i++) {
        const struct net_node *const node = graph->node[i];
        if (!node->row || node->row->impure)
            continue;
        size_t *const first =
            &head[mix(mix(1, node->op, strlen(node->op)), node->input, node->inputs * sizeof *node->input) & (room - 1)];
        size_t at = *first;
        while (at && !same_nodes(graph->node[at - 1], node))
            at = chain[at - 1];
        if (!at) {
            chain[i] = *first;
            *first = i + 1;
            continue;
        }
        for (size_t k = 0; k < node->outputs; k++)
            if (node->output[k] != NET_NONE)
                net_replace(graph, node->output[k], graph->node[at - 1]->output[k]);
        gone[i] = true;
        ++*changes;
    }
    if (ok)
        net_graph_sweep(graph, gone);
    free(chain);
    free(head);
    free(gone);
    return ok || orch_no_memory(error);
}

bool net_pass_cse(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    unsigned removed;
    struct keyed *const list = calloc(model->values + 1, sizeof *list);
    if (!list)
        return orch_no_memory(error);
    merge_constants(model, list, changes);
    free(list);
    return merge_nodes(model, changes, error) && net_remove_dead(model, &removed, error);
}
