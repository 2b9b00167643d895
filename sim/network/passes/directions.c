/* Recurrent operators in both directions, as one node for each: kernels know one direction. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include "sim/network/operators/operator.h"

#include <string.h>

enum { X, W, R, B, LENGTHS, H, C, INPUTS };

struct pair {
    struct net_match *m;
    struct net_node *node;
    net_id half[INPUTS][2];
    size_t at; /* where the next node goes */
};

static struct net_node *put(struct pair *p, const char *op, const net_id *in, size_t inputs, size_t outputs)
{
    return net_put(p->m, p->node, &p->at, op, in, inputs, outputs, p->m->model->value[p->node->input[W]].type);
}

/* Halves along the first dimension: a constant is cut at once. */
static void halve(struct pair *p, size_t input)
{
    const net_id id = net_input(p->node, input);
    const struct net_array *const a = net_constant(p->m, id);
    if (id == NET_NONE || p->m->starved)
        return;
    if (a) {
        int64_t shape[NET_DIMS_MAX];
        memcpy(shape, a->shape, a->dims * sizeof *shape);
        shape[0] /= 2;
        for (size_t k = 0; k < 2; k++) {
            struct net_array *const part = (a->data ? net_array_new : net_array_blank)(a->type, shape, a->dims, NULL);
            const size_t bytes = part ? (size_t)part->count * net_type_bytes(a->type) : 0;
            if (part && a->data)
                memcpy(part->data, (const char *)a->data + k * bytes, bytes);
            p->half[input][k] = part ? net_constant_add(p->m->model, p->node->name, part) : NET_NONE;
            net_must(p->m, p->half[input][k] != NET_NONE);
        }
        return;
    }
    struct net_node *const split = put(p, "Split", &id, 1, 2);
    net_must(p->m, split && net_set_int(split, "axis", 0) && net_set_int(split, "num_outputs", 2));
    for (size_t k = 0; split && k < 2; k++)
        p->half[input][k] = split->output[k];
}

static struct net_node *one_way(struct pair *p, size_t which)
{
    const bool lstm = strcmp(p->node->op, "LSTM") == 0;
    net_id in[INPUTS];
    for (size_t k = 0; k < INPUTS; k++)
        in[k] = k == X ? p->node->input[X] : p->half[k][which];
    struct net_node *const node = put(p, p->node->op, in, lstm ? INPUTS : C, lstm ? 3 : 2);
    net_must(p->m, node && net_set_int(node, "hidden_size", net_attr_int(p->node, "hidden_size", 0)) &&
                       net_set_int(node, "linear_before_reset", net_attr_int(p->node, "linear_before_reset", 0)) &&
                       (!net_attribute(p->node, NET_ROUNDED_STATE) || net_set_int(node, NET_ROUNDED_STATE, 1)) &&
                       net_set_text(node, "direction", which ? "reverse" : "forward") && net_copy_function(p->node, node, which));
    return node;
}

static bool has_pairs(const struct net_match *m, const struct net_node *node)
{
    for (size_t k = W; k < node->inputs; k++)
        if (node->input[k] != NET_NONE &&
            (!net_value_shape(m, node->input[k])->known || net_value_shape(m, node->input[k])->dims < 1 ||
             net_value_shape(m, node->input[k])->dim[0] != 2))
            return false;
    return true;
}

static bool change(struct net_match *m, struct net_node *node)
{
    struct pair p = {.m = m, .node = node};
    if ((!net_is(node, "LSTM") && !net_is(node, "GRU") && !net_is(node, "RNN")) || node->inputs < 3 ||
        node->input[X] == NET_NONE || !net_is_plain_recurrent(node) ||
        strcmp(net_attr_text(node, "direction", "forward"), "bidirectional") != 0 || !has_pairs(m, node))
        return false;
    for (size_t i = 0; i < m->model->graph->nodes; i++)
        p.at = m->model->graph->node[i] == node ? i : p.at;
    memset(p.half, 0xFF, sizeof p.half); /* NET_NONE */
    for (size_t k = W; k < INPUTS; k++)
        halve(&p, k);
    struct net_node *const ahead = m->starved ? NULL : one_way(&p, 0), *const back = m->starved ? NULL : one_way(&p, 1);
    for (size_t k = 0; k < node->outputs && !m->starved; k++) {
        if (node->output[k] == NET_NONE)
            continue;
        const net_id both[2] = {ahead->output[k], back->output[k]};
        struct net_node *const joined =
            put(&p, "Concat", both, 2, 1); /* Y is [steps, directions, ...], states are [directions, ...] */
        net_must(m, joined && net_set_int(joined, "axis", k == 0));
        if (joined)
            net_replace(m->model->graph, node->output[k], joined->output[0]);
    }
    for (size_t k = 0; k < node->inputs && !m->starved; k++)
        node->input[k] = NET_NONE;
    return !m->starved; /* nobody uses it, so it goes */
}

bool net_pass_directions(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, change, changes, error);
}
