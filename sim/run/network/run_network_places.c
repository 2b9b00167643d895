#include "sim/run/network/run_network_places.h"

#include "isa/array_count.h"

#include <stdlib.h>
#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return b >= 0 && b < a ? b : a;
}

/* Operators whose result holds the elements of an input. */
static bool hands_on(const char *op)
{
    static const char *const ops[] = {"Cast",  "Identity", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Transpose",
                                      "Slice", "Concat",   "Split",   "Expand",    "Tile",    "Where",   "Gather"};
    for (size_t k = 0; k < ARRAY_COUNT(ops); k++)
        if (strcmp(ops[k], op) == 0)
            return true;
    return false;
}

/* The shortest of the dimensions; the one of an attribute `axis` alone where `by_axis`. */
static int64_t dimension(const struct net_shape *s, const struct net_node *node, bool by_axis, int64_t most)
{
    int64_t axis = net_attr_int(node, "axis", 0);
    if (!s->known)
        return most;
    axis += axis < 0 ? s->dims : 0;
    for (unsigned d = 0; d < s->dims; d++)
        if (!by_axis || d == axis)
            most = least(most, s->dim[d]);
    return most;
}

/* What an operator makes of its second input, or of a later one. */
static int64_t places_of(const struct net_model *model, const struct net_node *node, size_t input, int64_t most)
{
    static const struct {
        const char *op;
        size_t input;
        bool by_axis, axes; /* axes: the numbers are dimensions themselves, of which the first is always there */
    } rows[] = {{"Gather", 1, true, false},
                {"GatherElements", 1, true, false},
                {"ScatterElements", 1, true, false},
                {"GatherND", 1, false, false},
                {"ScatterND", 1, false, false},
                {"CumSum", 1, false, true},
                {"Unsqueeze", 1, false, true},
                {"ReduceSum", 1, false, true},
                {"ReduceMean", 1, false, true},
                {"ReduceMax", 1, false, true},
                {"ReduceMin", 1, false, true},
                {"NegativeLogLikelihoodLoss", 1, false, false},
                {"SoftmaxCrossEntropyLoss", 1, false, false}};
    for (size_t k = 0; k < ARRAY_COUNT(rows); k++)
        if (rows[k].input == input && strcmp(rows[k].op, node->op) == 0)
            return rows[k].axes ? 1 : dimension(&model->value[node->input[0]].shape, node, rows[k].by_axis, most);
    return most;
}

/* Marks what a node hands on of marked values. */
static void hand_on(const struct net_node *node, size_t input, bool *marked)
{
    const bool table = strcmp(node->op, "Gather") == 0 && input > 0;
    for (size_t k = 0; hands_on(node->op) && !table && k < node->outputs; k++)
        if (node->output[k] != NET_NONE)
            marked[node->output[k]] = true;
}

int64_t run_network_places(const struct net_model *model, net_id value, int64_t most)
{
    const struct net_graph *const g = model->graph;
    bool *const marked = calloc(model->values + 1, sizeof *marked);
    if (!marked)
        return 1;
    marked[value] = true;
    for (size_t n = 0; n < g->nodes; n++) /* a value is computed before it is used */
        for (size_t k = 0; k < g->node[n]->inputs; k++) {
            const net_id in = g->node[n]->input[k];
            if (in == NET_NONE || !marked[in])
                continue;
            most = places_of(model, g->node[n], k, most);
            hand_on(g->node[n], k, marked);
        }
    free(marked);
    return most > 0 ? most : 1;
}
