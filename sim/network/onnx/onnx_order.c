/* The order of a graph's nodes. ONNX asks that what is used was computed before; exporters and tools do not always keep to it,
 * and onnxruntime reads their files all the same, so nodes are put behind those that they need. */
#include "sim/network/onnx/onnx_internal.h"

#include <stdlib.h>

enum { GRAPH_DEPTH_MAX = 16 };

struct order {
    Onnx__NodeProto *const *node;
    size_t nodes;
    struct onnx_names made; /* by which node, by name */
    size_t *need, needs, room;
    size_t *first; /* of each node among `need`, and the end */
    bool forward;  /* some node needs a later one */
    bool starved;
};

static void need(struct order *o, const char *name, size_t by)
{
    const net_id made = *name ? onnx_names_here(&o->made, name) : NET_NONE;
    if (made == NET_NONE || made == by)
        return;
    if (o->needs == o->room) {
        const size_t room = o->room ? 2 * o->room : 256;
        size_t *const grown = realloc(o->need, room * sizeof *grown);
        if (!grown) {
            o->starved = true;
            return;
        }
        o->need = grown;
        o->room = room;
    }
    o->need[o->needs++] = made;
    o->forward = o->forward || made > by;
}

/* What a node is given, and what the graphs within it take from around them. */
static void need_of(struct order *o, const Onnx__NodeProto *node, size_t by, unsigned depth)
{
    for (size_t k = 0; k < node->n_input && !o->starved; k++)
        need(o, node->input[k], by);
    for (size_t k = 0; k < node->n_attribute && depth < GRAPH_DEPTH_MAX; k++) {
        const Onnx__GraphProto *const g = node->attribute[k]->g;
        for (size_t i = 0; g && i < g->n_node; i++)
            need_of(o, g->node[i], by, depth + 1);
        for (size_t i = 0; g && i < g->n_output; i++)
            need(o, g->output[i]->name ? g->output[i]->name : "", by);
    }
}

static bool read_needs(struct order *o)
{
    o->first = calloc(o->nodes + 1, sizeof *o->first);
    for (size_t i = 0; o->first && i < o->nodes; i++)
        for (size_t k = 0; k < o->node[i]->n_output; k++)
            if (*o->node[i]->output[k] && onnx_names_here(&o->made, o->node[i]->output[k]) == NET_NONE &&
                !onnx_names_add(&o->made, o->node[i]->output[k], (net_id)i))
                return false;
    for (size_t i = 0; o->first && i < o->nodes && !o->starved; i++) {
        need_of(o, o->node[i], i, 0);
        o->first[i + 1] = o->needs;
    }
    return o->first && !o->starved;
}

/* Each node behind what it needs, else as the file has them; false when they need one another in a circle. */
static bool sort(const struct order *o, size_t *order, size_t *stack, size_t *next)
{
    enum { NEW, OPEN, DONE };
    size_t placed = 0;
    unsigned char *const state = calloc(o->nodes + 1, 1);
    bool ok = state != NULL;
    for (size_t i = 0; ok && i < o->nodes; i++) {
        size_t depth = 0;
        if (state[i] == NEW)
            stack[depth++] = i;
        while (ok && depth > 0) {
            const size_t at = stack[depth - 1];
            if (state[at] == NEW)
                next[at] = o->first[at];
            state[at] = OPEN;
            while (next[at] < o->first[at + 1] && state[o->need[next[at]]] == DONE)
                next[at]++;
            if (next[at] < o->first[at + 1]) {
                ok = state[o->need[next[at]]] == NEW;
                stack[depth++] = o->need[next[at]];
            } else {
                state[at] = DONE;
                order[placed++] = at;
                depth--;
            }
        }
    }
    free(state);
    return ok;
}

size_t *onnx_order(Onnx__NodeProto *const *node, size_t nodes)
{
    struct order o = {.node = node, .nodes = nodes};
    const bool wanted = read_needs(&o) && o.forward;
    size_t *order = wanted ? calloc(3 * nodes + 3, sizeof *order) : NULL;
    if (order && !sort(&o, order, order + nodes + 1, order + 2 * nodes + 2)) {
        free(order);
        order = NULL;
    }
    onnx_names_free(&o.made);
    free(o.need);
    free(o.first);
    return order;
}
