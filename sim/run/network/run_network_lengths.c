#include "sim/run/network/run_network_lengths.h"

#include "sim/network/graph/uses.h"

#include <string.h>

enum { NEW, FIRST, TOTAL, PAST, DEPTH_MOST = 16 };

struct tracing {
    const struct net_model *model;
    struct net_array **input;
    struct net_uses uses;
    int64_t total, number; /* places in all; what an input that is met becomes */
    bool seeks_total;      /* only reads it, where an input that was given says it */
    struct orch_error *error;
};

static bool fill(struct tracing *t, size_t k, int64_t number)
{
    const struct net_value *const v = &t->model->value[t->model->graph->input[k]];
    if (!v->shape.known || v->type == NET_TYPES || net_type_is_float(v->type))
        return true;
    for (unsigned d = 0; d < v->shape.dims; d++)
        if (v->shape.dim[d] < 0)
            return true; /* whoever generates the others says what is open */
    t->input[k] = net_array_new(v->type, v->shape.dim, v->shape.dims, t->error);
    for (int64_t i = 0; t->input[k] && i < t->input[k]->count; i++)
        net_write_integers(v->type, t->input[k]->data, i, 1, &number);
    return t->input[k] != NULL;
}

static bool meet_input(struct tracing *t, net_id value, bool counted)
{
    const struct net_graph *const g = t->model->graph;
    for (size_t k = 0; k < g->inputs; k++) {
        if (g->input[k] != value)
            continue;
        if (!t->input[k])
            return fill(t, k, counted ? 1 : t->number);
        if (t->seeks_total && t->input[k]->count == 1)
            t->total = net_array_integer(t->input[k], 0);
    }
    return true;
}

/* Goes back to the inputs from which a length is computed; those whose elements are summed are masks of ones. */
static bool trace(struct tracing *t, net_id value, bool counted, unsigned depth)
{
    const struct net_node *const node = value == NET_NONE ? NULL : t->uses.producer[value];
    bool ok = true;
    if (value == NET_NONE || t->model->value[value].constant || depth == DEPTH_MOST)
        return true;
    if (!node)
        return meet_input(t, value, counted);
    if (strcmp(node->op, "Shape") == 0)
        return true;
    for (size_t i = 0; ok && i < node->inputs; i++)
        ok = trace(t, node->input[i], counted || strcmp(node->op, "ReduceSum") == 0, depth + 1);
    return ok;
}

static int64_t rows_of(const struct net_model *model, net_id value)
{
    const struct net_shape *const s = value == NET_NONE ? NULL : &model->value[value].shape;
    return s && s->known && s->dims == 4 && s->dim[2] > 0 ? s->dim[2] : 0;
}

/* What was kept and the new ones, unless the file says that the buffer is shorter. */
static int64_t full(const struct tracing *t, const struct net_node *node)
{
    const struct net_graph *const g = t->model->graph;
    const int64_t rows = rows_of(t->model, node->input[NEW]) + rows_of(t->model, net_input(node, PAST));
    for (size_t k = 0; k < g->nodes; k++) {
        const int64_t buffer = strcmp(g->node[k]->op, "CacheBuffer") == 0 && g->node[k]->input[0] == node->output[0]
                                   ? rows_of(t->model, g->node[k]->output[0])
                                   : 0;
        if (buffer && buffer < rows)
            return buffer;
    }
    return rows;
}

static bool trace_node(struct tracing *t, const struct net_node *node)
{
    const struct net_array *const known = t->model->value[node->input[TOTAL]].constant;
    t->total = known ? net_array_integer(known, 0) : full(t, node);
    t->number = t->total;
    t->seeks_total = true;
    if (!trace(t, node->input[TOTAL], false, 0))
        return false;
    t->number = t->total - 1;
    t->seeks_total = false;
    return trace(t, node->input[FIRST], false, 0);
}

bool run_network_fill_lengths(const struct net_model *model, struct net_array **input, unsigned *filled, struct orch_error *error)
{
    struct tracing t = {.model = model, .input = input, .error = error};
    size_t before = 0, after = 0;
    if (!net_uses_find(model, model->graph, &t.uses))
        return orch_no_memory(error);
    bool ok = true;
    for (size_t k = 0; k < model->graph->inputs; k++)
        before += input[k] != NULL;
    for (size_t k = 0; ok && k < model->graph->nodes; k++)
        if (strcmp(model->graph->node[k]->op, "CacheRows") == 0)
            ok = trace_node(&t, model->graph->node[k]);
    for (size_t k = 0; k < model->graph->inputs; k++)
        after += input[k] != NULL;
    *filled += (unsigned)(after - before);
    net_uses_free(&t.uses);
    return ok;
}
