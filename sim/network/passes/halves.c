/* Numbers of 16 bits as float32, which kernels take: what comes in as halves is widened first, and what goes out is rounded last.
 * Between operators nothing is rounded then, unless the network is asked for in f16. */
#include "sim/network/operators/operator.h"
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include <stdlib.h>

static bool is_half(enum net_type type)
{
    return type == NET_F16 || type == NET_BF16;
}

/* Graphs within nodes have values of their own, whose types others state. */
static bool has_subgraphs(const struct net_graph *graph)
{
    for (size_t i = 0; i < graph->nodes; i++)
        for (size_t k = 0; k < graph->node[i]->attributes; k++)
            if (graph->node[i]->attribute[k].kind == NET_ATTR_GRAPH)
                return true;
    return false;
}

static bool any_half(const struct net_model *model)
{
    for (size_t i = 0; i < model->values; i++)
        if (is_half(model->value[i].type))
            return true;
    return false;
}

static struct net_array *widened(const struct net_array *a)
{
    enum { CHUNK = 1024 };
    struct net_array *const to = (a->blank ? net_array_blank : net_array_new)(NET_F32, a->shape, a->dims, NULL);
    double number[CHUNK];
    for (int64_t at = 0; to && !a->blank && at < a->count; at += CHUNK) {
        const size_t some = (size_t)(a->count - at < CHUNK ? a->count - at : CHUNK);
        net_read_doubles(a->type, a->data, at, 1, some, number);
        net_write_doubles(NET_F32, to->data, at, some, number);
    }
    return to;
}

static bool widen_values(struct net_model *model, unsigned *changes)
{
    for (size_t i = 0; i < model->values; i++) {
        struct net_value *const v = &model->value[i];
        if (!is_half(v->type) && !(v->constant && is_half(v->constant->type)))
            continue;
        struct net_array *const wide = v->constant ? widened(v->constant) : NULL;
        if (v->constant && !wide)
            return false;
        net_array_release(v->constant);
        v->constant = wide;
        v->type = NET_F32;
        v->declared = is_half(v->declared) ? NET_TYPES : v->declared;
        (*changes)++;
    }
    return true;
}

/* Types and arrays that nodes state. */
static bool widen_attributes(struct net_graph *graph)
{
    static const char *const names[] = {"to", "dtype", "output_dtype"};
    for (size_t i = 0; i < graph->nodes; i++) {
        struct net_node *const node = graph->node[i];
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (is_half(net_type_of_onnx(net_attr_int(node, names[k], 0))) &&
                !net_set_int(node, names[k], net_type_to_onnx(NET_F32)))
                return false;
        for (size_t k = 0; k < node->attributes; k++) {
            struct net_attribute *const a = &node->attribute[k];
            if (a->kind != NET_ATTR_ARRAY || !a->array || !is_half(a->array->type))
                continue;
            struct net_array *const wide = widened(a->array);
            if (!wide)
                return false;
            net_array_release(a->array);
            a->array = wide;
        }
    }
    return true;
}

/* A node at the place that makes a value of another type; NET_NONE when memory is out. */
static net_id cast(struct net_model *model, size_t at, net_id from, enum net_type to)
{
    struct net_node *const node = net_node_new(model->value[from].name, "Cast", "", 1, 1);
    if (!node || !net_graph_insert(model->graph, at, node))
        return NET_NONE;
    const net_id out = net_value_add(model, model->value[from].name);
    node->input[0] = from;
    node->output[0] = out;
    node->version = model->opset;
    node->row = net_operator_find("Cast", "");
    if (out == NET_NONE || !net_set_int(node, "to", net_type_to_onnx(to)))
        return NET_NONE;
    model->value[out].type = to;
    model->value[out].shape = model->value[from].shape;
    return out;
}

/* What comes in and goes out keeps the type that the file says. */
static bool keep_edges(struct net_model *model, const enum net_type *in, const enum net_type *out)
{
    struct net_graph *const g = model->graph;
    size_t at = 0;
    for (size_t k = 0; k < g->outputs; k++) {
        const net_id value = is_half(out[k]) ? cast(model, g->nodes, g->output[k], out[k]) : g->output[k];
        if (value == NET_NONE)
            return false;
        g->output[k] = value;
    }
    for (size_t k = 0; k < g->inputs; k++) {
        if (!is_half(in[k]))
            continue;
        const net_id wide = cast(model, at++, g->input[k], NET_F32);
        if (wide == NET_NONE)
            return false;
        net_replace(g, g->input[k], wide);
        g->node[at - 1]->input[0] = g->input[k];
        model->value[g->input[k]].type = in[k];
    }
    return true;
}

bool net_pass_halves(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    struct net_graph *const g = model->graph;
    if (!any_half(model) || has_subgraphs(g))
        return true;
    enum net_type *const type = calloc(g->inputs + g->outputs + 1, sizeof *type), *const out = type + g->inputs;
    for (size_t k = 0; type && k < g->inputs; k++)
        type[k] = model->value[g->input[k]].constant ? NET_TYPES : model->value[g->input[k]].type;
    for (size_t k = 0; type && k < g->outputs; k++)
        out[k] = model->value[g->output[k]].type;
    const bool ok = type && widen_values(model, changes) && widen_attributes(g) && keep_edges(model, type, out);
    free(type);
    return ok || orch_no_memory(error);
}
