/* Recurrent operators over a sequence of known length, as one step after the other: kernels know steps. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include "sim/network/operators/operator.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 1024 };
enum { X, W, R, B, LENGTHS, H, C };

struct chain {
    struct net_match *m;
    struct net_node *node;
    net_id part[STEPS_MOST], all[STEPS_MOST], h, c;
    int64_t steps;
    size_t at; /* where the next node goes */
};

static struct net_node *put(struct chain *ch, const char *op, const net_id *in, size_t inputs, size_t outputs)
{
    return net_put(ch->m, ch->node, &ch->at, op, in, inputs, outputs, NET_F32);
}

static void split_input(struct chain *ch)
{
    struct net_node *const node = put(ch, "Split", &ch->node->input[X], 1, (size_t)ch->steps);
    net_must(ch->m, node && net_set_int(node, "axis", 0) && net_set_int(node, "num_outputs", ch->steps));
    for (int64_t k = 0; node && k < ch->steps; k++)
        ch->part[k] = node->output[k];
}

/* A state as eight bits can say it, where the product with it is one of integers. */
static net_id rounded(struct chain *ch, net_id state)
{
    if (state == NET_NONE || !net_attr_int(ch->node, NET_ROUNDED_STATE, 0))
        return state;
    struct net_node *const few = put(ch, "DynamicQuantizeLinear", &state, 1, 3);
    if (!few)
        return NET_NONE;
    ch->m->model->value[few->output[0]].type = ch->m->model->value[few->output[2]].type = NET_U8;
    struct net_node *const back = put(ch, "DequantizeLinear", few->output, 3, 1);
    return back ? back->output[0] : NET_NONE;
}

static void add_step(struct chain *ch, int64_t k)
{
    const bool lstm = strcmp(ch->node->op, "LSTM") == 0;
    const net_id h = rounded(ch, ch->h);
    const net_id in[7] = {ch->part[k], ch->node->input[W], ch->node->input[R], net_input(ch->node, B), NET_NONE, h, ch->c};
    struct net_node *const step = put(ch, ch->node->op, in, lstm ? 7 : 6, lstm ? 3 : 2);
    net_must(ch->m, step && net_set_int(step, "hidden_size", net_attr_int(ch->node, "hidden_size", 0)) &&
                        net_set_int(step, "linear_before_reset", net_attr_int(ch->node, "linear_before_reset", 0)) &&
                        net_copy_function(ch->node, step, 0));
    if (!step)
        return;
    ch->all[k] = step->output[0];
    ch->h = step->output[1];
    ch->c = lstm ? step->output[2] : NET_NONE;
}

static bool change(struct net_match *m, struct net_node *node)
{
    struct chain ch = {.m = m, .node = node};
    if ((!net_is(node, "LSTM") && !net_is(node, "GRU") && !net_is(node, "RNN")) || node->inputs < 3 ||
        node->input[X] == NET_NONE || !net_is_plain_recurrent(node) ||
        strcmp(net_attr_text(node, "direction", "forward"), "bidirectional") == 0)
        return false;
    const struct net_shape *const x = net_value_shape(m, node->input[X]);
    const bool backward = strcmp(net_attr_text(node, "direction", "forward"), "reverse") == 0;
    ch.steps = x->known && x->dims == 3 ? x->dim[0] : 0;
    if (ch.steps < 1 || ch.steps > STEPS_MOST || (ch.steps == 1 && !backward))
        return false;
    for (size_t i = 0; i < m->model->graph->nodes; i++)
        ch.at = m->model->graph->node[i] == node ? i : ch.at;
    ch.h = net_input(node, H);
    ch.c = strcmp(node->op, "LSTM") == 0 ? net_input(node, C) : NET_NONE;
    split_input(&ch);
    for (int64_t k = 0; k < ch.steps && !m->starved; k++)
        add_step(&ch, backward ? ch.steps - 1 - k : k);
    struct net_node *const all = m->starved ? NULL : put(&ch, "Concat", ch.all, (size_t)ch.steps, 1);
    net_must(m, all && net_set_int(all, "axis", 0));
    if (m->starved)
        return false;
    const net_id made[3] = {all->output[0], ch.h, ch.c};
    for (size_t k = 0; k < node->outputs; k++)
        if (node->output[k] != NET_NONE)
            net_replace(m->model->graph, node->output[k], made[k]);
    for (size_t k = 0; k < node->inputs; k++)
        node->input[k] = NET_NONE;
    return true; /* nobody uses it, so it goes */
}

bool net_pass_steps(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, change, changes, error);
}
