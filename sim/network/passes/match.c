#include "sim/network/passes/match.h"

#include "sim/network/operators/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool net_rewrite(struct net_model *model, bool (*change)(struct net_match *m, struct net_node *node), unsigned *changes,
                 struct orch_error *error)
{
    struct net_match m = {.model = model};
    unsigned removed;
    if (!net_uses_find(model, model->graph, &m.uses))
        return orch_no_memory(error);
    for (size_t i = 0; i < model->graph->nodes && !m.starved; i++) {
        if (!change(&m, model->graph->node[i]))
            continue;
        ++*changes;
        net_uses_free(&m.uses);
        if (!net_uses_find(model, model->graph, &m.uses))
            return orch_no_memory(error);
    }
    net_uses_free(&m.uses);
    return m.starved ? orch_no_memory(error) : net_remove_dead(model, &removed, error);
}

bool net_is(const struct net_node *node, const char *op)
{
    return *op == '.' ? strcmp(node->domain, "orchard") == 0 && strcmp(node->op, op + 1) == 0
                      : !*node->domain && strcmp(node->op, op) == 0;
}

struct net_node *net_made_by(const struct net_match *m, net_id value, const char *op, bool alone)
{
    struct net_node *const node = value == NET_NONE ? NULL : m->uses.producer[value];
    return node && net_is(node, op) && (!alone || m->uses.count[value] == 1) ? node : NULL;
}

const struct net_array *net_constant(const struct net_match *m, net_id value)
{
    return value == NET_NONE ? NULL : m->model->value[value].constant;
}

const struct net_shape *net_value_shape(const struct net_match *m, net_id value)
{
    return &m->model->value[value].shape;
}

bool net_scalar(const struct net_match *m, net_id value, double *number)
{
    const struct net_array *const a = net_constant(m, value);
    if (!a || a->count != 1)
        return false;
    *number = net_array_double(a, 0);
    return true;
}

bool net_is_number(const struct net_match *m, net_id value, double number)
{
    double own;
    return net_scalar(m, value, &own) && fabs(own - number) <= 1e-4 * fabs(number);
}

net_id net_other(const struct net_node *node, net_id value)
{
    return node->inputs != 2         ? NET_NONE
           : node->input[0] == value ? node->input[1]
           : node->input[1] == value ? node->input[0]
                                     : NET_NONE;
}

net_id net_beside_scalar(const struct net_match *m, const struct net_node *node, double *number)
{
    for (size_t k = 0; node->inputs == 2 && k < 2; k++)
        if (net_scalar(m, node->input[k], number))
            return node->input[1 - k];
    return NET_NONE;
}

bool net_same_value(const struct net_match *m, net_id a, net_id b)
{
    const struct net_array *const x = net_constant(m, a), *const y = net_constant(m, b);
    return a == b || (x && y && net_array_same(x, y));
}

struct net_node *net_put(struct net_match *m, const struct net_node *of, size_t *at, const char *op, const net_id *input,
                         size_t inputs, size_t outputs, enum net_type type)
{
    struct net_node *const node = m->starved ? NULL : net_node_new(of->name, op, "", inputs, outputs);
    if (!node || !net_graph_insert(m->model->graph, *at, node)) {
        net_must(m, false);
        return NULL;
    }
    ++*at;
    memcpy(node->input, input, inputs * sizeof *input);
    node->version = of->version;
    node->row = net_operator_find(op, "");
    for (size_t k = 0; k < outputs; k++) {
        node->output[k] = net_value_add(m->model, of->name);
        net_must(m, node->output[k] != NET_NONE);
        if (node->output[k] != NET_NONE)
            m->model->value[node->output[k]].type = type;
    }
    return m->starved ? NULL : node;
}

bool net_become(struct net_match *m, struct net_node *node, const char *op, const char *domain, const net_id *input,
                size_t inputs)
{
    net_id kept[8];
    memcpy(kept, input, inputs * sizeof *kept);
    while (node->attributes)
        net_attr_remove(node, node->attribute[0].name);
    if (!net_node_rename(node, op, domain) || !net_node_inputs(node, inputs)) {
        m->starved = true;
        return false;
    }
    memcpy(node->input, kept, inputs * sizeof *kept);
    node->row = net_operator_find(op, domain);
    return true;
}

void net_retire(struct net_match *m, struct net_node *node, net_id in_place)
{
    net_replace(m->model->graph, node->output[0], in_place);
    for (size_t k = 0; k < node->inputs; k++)
        node->input[k] = NET_NONE;
}

bool net_copy_windows(const struct net_node *from, struct net_node *to)
{
    static const char *const lists[] = {"dilations", "kernel_shape", "pads", "strides"};
    size_t count;
    bool ok = !net_attribute(from, "auto_pad") || net_set_text(to, "auto_pad", net_attr_text(from, "auto_pad", "NOTSET"));
    ok = ok && (!net_attribute(from, "group") || net_set_int(to, "group", net_attr_int(from, "group", 1)));
    for (size_t k = 0; ok && k < sizeof lists / sizeof *lists; k++) {
        const int64_t *const list = net_attr_ints(from, lists[k], &count);
        ok = !list || net_set_ints(to, lists[k], list, count);
    }
    return ok;
}

bool net_is_plain_recurrent(const struct net_node *node)
{
    enum { LENGTHS = 4, PEEPHOLES = 7 };
    static const char *const others[] = {"activations", "activation_alpha", "activation_beta"};
    for (size_t k = strcmp(node->op, "RNN") == 0; k < sizeof others / sizeof *others; k++)
        if (net_attribute(node, others[k]))
            return false;
    return net_attr_real(node, "clip", 0) == 0 && !net_attr_int(node, "input_forget", 0) && !net_attr_int(node, "layout", 0) &&
           net_input(node, LENGTHS) == NET_NONE && net_input(node, PEEPHOLES) == NET_NONE;
}

bool net_copy_function(const struct net_node *from, struct net_node *to, size_t which)
{
    const struct net_attribute *const names = net_attribute(from, "activations");
    if (!names || names->kind != NET_ATTR_TEXTS || names->count <= which)
        return true;
    struct net_attribute *const own = net_attr_set(to, "activations", NET_ATTR_TEXTS);
    if (own)
        own->texts = calloc(1, sizeof *own->texts);
    if (!own || !own->texts || !(own->texts[0] = strdup(names->texts[which])))
        return false;
    own->count = 1;
    return true;
}
