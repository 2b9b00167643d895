#include "sim/network/cost.h"

#include "sim/network/operators/operator.h"

#include <stdlib.h>
#include <string.h>

bool net_value_bytes(const struct net_model *model, net_id id, uint64_t *bytes)
{
    const struct net_value *const v = &model->value[id];
    int64_t count;
    if (v->type == NET_TYPES || !v->shape.known || !net_shape_complete(&v->shape) ||
        !net_shape_count(v->type, v->shape.dim, v->shape.dims, &count))
        return false;
    *bytes = ((uint64_t)count * net_type_bits(v->type) + 7) / 8;
    return true;
}

/* ---- multiplications ---- */

static int64_t elements(const struct net_model *model, net_id id)
{
    const struct net_shape *const s = id == NET_NONE ? NULL : &model->value[id].shape;
    return s && s->known ? net_product(s, 0, s->dims) : NET_UNKNOWN;
}

/* Dimension `d`, from the end when it is negative. */
static int64_t dim(const struct net_model *model, net_id id, int d)
{
    const struct net_shape *const s = id == NET_NONE ? NULL : &model->value[id].shape;
    const int at = s && d < 0 ? (int)s->dims + d : d;
    return s && s->known && at >= 0 && at < (int)s->dims ? s->dim[at] : NET_UNKNOWN;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? NET_UNKNOWN : product;
}

static int64_t convolution(const struct net_model *model, const struct net_node *node, size_t weights)
{
    const net_id w = net_input(node, weights);
    const int64_t filter = elements(model, w), filters = dim(model, w, 0);
    if (strcmp(node->op, "ConvTranspose") == 0)
        return filters > 0 ? times(elements(model, net_input(node, 0)), filter / filters) : NET_UNKNOWN;
    return filters > 0 ? times(elements(model, net_output(node, 0)), filter / filters) : NET_UNKNOWN;
}

static int64_t matrices(const struct net_model *model, const struct net_node *node)
{
    const bool vector = model->value[node->input[0]].shape.dims < 2;
    return times(elements(model, net_output(node, 0)),
                 dim(model, node->input[0], net_attr_int(node, "transA", 0) && !vector ? -2 : -1));
}

static int64_t recurrent(const struct net_model *model, const struct net_node *node)
{
    const int64_t steps = times(dim(model, node->input[0], 0), dim(model, node->input[0], 1));
    const int64_t w = elements(model, node->input[1]), r = elements(model, node->input[2]);
    return w < 0 || r < 0 ? NET_UNKNOWN : times(steps, w + r);
}

static int64_t attention(const struct net_model *model, const struct net_node *node)
{
    const int64_t depth = dim(model, node->input[0], -1), width = dim(model, node->input[2], -1),
                  keys = dim(model, node->input[2], -2);
    const int64_t queries = elements(model, node->input[0]);
    return depth <= 0 || width < 0 || queries < 0 ? NET_UNKNOWN : times(queries / depth, times(keys, depth + width));
}

/* NET_UNKNOWN when a size is not known; 0 for operators that are no sums of products. */
static int64_t macs_of(const struct net_model *model, const struct net_node *node)
{
    static const struct {
        const char *op;
        size_t weights;
        int64_t (*count)(const struct net_model *model, const struct net_node *node);
    } kinds[] = {
        {"Conv", 1, NULL},
        {"FusedConv", 1, NULL},
        {"ConvInteger", 1, NULL},
        {"ConvTranspose", 1, NULL},
        {"QLinearConv", 3, NULL},
        {"MatMul", 0, matrices},
        {"FusedMatMul", 0, matrices},
        {"Gemm", 0, matrices},
        {"MatMulInteger", 0, matrices},
        {"QLinearMatMul", 0, matrices},
        {"Attention", 0, attention},
        {"LSTM", 0, recurrent},
        {"GRU", 0, recurrent},
        {"RNN", 0, recurrent},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k].op, node->op) == 0)
            return kinds[k].count ? kinds[k].count(model, node) : convolution(model, node, kinds[k].weights);
    return 0;
}

/* ---- sums ---- */

static uint64_t parameters_of(const struct net_value *v)
{
    const bool counts = v->constant && v->type != NET_I64 && v->type != NET_BOOL;
    return counts ? (uint64_t)v->constant->count : 0;
}

static void add_bytes(const struct net_model *model, net_id id, struct net_cost *cost)
{
    uint64_t bytes = 0;
    if (id != NET_NONE && !net_value_bytes(model, id, &bytes))
        cost->known = false;
    cost->bytes += bytes;
}

static struct net_cost graph_cost(const struct net_model *model, const struct net_graph *graph)
{
    struct net_cost all = {.known = true};
    for (size_t i = 0; i < graph->nodes; i++) {
        const struct net_cost one = net_node_cost(model, graph->node[i]);
        all.macs += one.macs;
        all.parameters += one.parameters;
        all.bytes += one.bytes;
        all.known = all.known && one.known;
    }
    return all;
}

/* Of an If the branch with more work; of a Loop one iteration, since nobody knows how many there are. */
static struct net_cost control_cost(const struct net_model *model, const struct net_node *node)
{
    struct net_cost most = {.known = true};
    for (size_t k = 0; k < node->attributes; k++) {
        const struct net_graph *const graph = node->attribute[k].kind == NET_ATTR_GRAPH ? node->attribute[k].graph : NULL;
        const struct net_cost one = graph ? graph_cost(model, graph) : most;
        if (graph && (one.macs > most.macs || (one.macs == most.macs && one.bytes > most.bytes)))
            most = one;
    }
    most.known = most.known && strcmp(node->op, "If") == 0;
    return most;
}

struct net_cost net_node_cost(const struct net_model *model, const struct net_node *node)
{
    if (node->row && node->row->impure)
        return control_cost(model, node);
    struct net_cost cost = {.known = true};
    const int64_t macs = macs_of(model, node);
    cost.known = macs >= 0;
    cost.macs = macs > 0 ? (uint64_t)macs : 0;
    for (size_t k = 0; k < node->inputs; k++) {
        cost.parameters += node->input[k] == NET_NONE ? 0 : parameters_of(&model->value[node->input[k]]);
        add_bytes(model, node->input[k], &cost);
    }
    for (size_t k = 0; k < node->outputs; k++)
        add_bytes(model, node->output[k], &cost);
    return cost;
}

struct net_cost net_total_cost(const struct net_model *model)
{
    struct net_cost all = {.known = true};
    bool *const seen = calloc(model->values + 1, sizeof *seen);
    for (size_t i = 0; i < model->graph->nodes; i++) {
        const struct net_node *const node = model->graph->node[i];
        const struct net_cost one = net_node_cost(model, node);
        all.macs += one.macs;
        all.bytes += one.bytes;
        all.known = all.known && one.known;
        if (node->row && node->row->impure)
            all.parameters += one.parameters;
        for (size_t k = 0; seen && k < node->inputs; k++)
            if (node->input[k] != NET_NONE && !seen[node->input[k]]) {
                seen[node->input[k]] = true;
                all.parameters += parameters_of(&model->value[node->input[k]]);
            }
    }
    free(seen);
    return all;
}
