#include "sim/network/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "3:NAME" in place of the name. */
static bool prefix(char **name, unsigned number)
{
    const char *const old = *name ? *name : "";
    const size_t size = strlen(old) + 16;
    char *const text = malloc(size);
    if (!text)
        return false;
    snprintf(text, size, "%u:%s", number, old);
    free(*name);
    *name = text;
    return true;
}

/* ---- numbers of values ---- */

static void move_ids(net_id *id, size_t count, net_id by)
{
    for (size_t k = 0; k < count; k++)
        id[k] = id[k] == NET_NONE ? NET_NONE : id[k] + by;
}

static void move_graph(struct net_graph *graph, net_id by);

static void move_node(struct net_node *node, net_id by)
{
    move_ids(node->input, node->inputs, by);
    move_ids(node->output, node->outputs, by);
    for (size_t k = 0; k < node->attributes; k++)
        if (node->attribute[k].graph)
            move_graph(node->attribute[k].graph, by);
}

static void move_graph(struct net_graph *graph, net_id by)
{
    move_ids(graph->input, graph->inputs, by);
    move_ids(graph->output, graph->outputs, by);
    for (size_t k = 0; k < graph->nodes; k++)
        move_node(graph->node[k], by);
}

/* ---- what is moved ---- */

/* Dimensions that are open keep their names, one for each network. */
static bool move_values(struct net_model *to, struct net_model *from, unsigned number)
{
    for (size_t k = 0; k < from->values; k++) {
        struct net_value *const v = &from->value[k];
        const net_id id = prefix(&v->name, number) ? net_value_add(to, v->name) : NET_NONE;
        if (id == NET_NONE)
            return false;
        struct net_value *const moved = &to->value[id];
        moved->type = v->type;
        moved->shape = v->shape;
        moved->constant = v->constant;
        v->constant = NULL;
        for (unsigned d = 0; d < moved->shape.dims; d++)
            if (moved->shape.dim[d] < NET_UNKNOWN) {
                char name[200];
                snprintf(name, sizeof name, "%u:%.180s", number, net_symbol_name(from, moved->shape.dim[d]));
                moved->shape.dim[d] = net_symbol(to, name);
            }
    }
    return true;
}

static bool move_nodes(struct net_model *to, struct net_model *from, unsigned number)
{
    bool ok = true;
    for (size_t k = 0; ok && k < from->graph->nodes; k++) {
        struct net_node *const node = from->graph->node[k];
        from->graph->node[k] = NULL; /* taken over, even on failure */
        ok = prefix(&node->name, number) && net_graph_insert(to->graph, to->graph->nodes, node);
    }
    from->graph->nodes = ok ? 0 : from->graph->nodes;
    return ok;
}

static bool move_ports(struct net_model *to, struct net_model *from, unsigned number)
{
    bool ok = true;
    for (size_t k = 0; ok && k < from->graph->inputs; k++)
        ok = net_graph_add_input(to->graph, from->graph->input[k]);
    for (size_t k = 0; ok && k < from->graph->outputs; k++) {
        ok = net_model_add_output(to, from->graph->output[k]) && prefix(&from->output_name[k], number);
        if (!ok)
            break;
        free(to->output_name[to->output_names - 1]);
        to->output_name[to->output_names - 1] = from->output_name[k];
        from->output_name[k] = NULL;
    }
    return ok;
}

bool net_join(struct net_model *to, struct net_model *from)
{
    const unsigned number = to->parts + 1;
    if (to->parts == NET_PARTS_MAX)
        return false;
    move_graph(from->graph, (net_id)to->values);
    to->part_first[to->parts++] = to->graph->nodes;
    to->content = to->content * 31 + from->content;
    return move_values(to, from, number) && move_nodes(to, from, number) && move_ports(to, from, number);
}

unsigned net_part_begins(const struct net_model *model, const struct net_node *node)
{
    for (unsigned k = 0; k < model->parts; k++)
        if (model->part_first[k] < model->graph->nodes && model->graph->node[model->part_first[k]] == node)
            return k;
    return NET_PARTS_MAX;
}
