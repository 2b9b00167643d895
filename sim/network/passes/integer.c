/* Products of integers: where both operands of a product are integers with scales, the integers are multiplied, exactly, and the
 * sums are scaled once. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include "sim/network/operators/operator.h"

#include <stdlib.h>
#include <string.h>

/* The integers and scales that a DequantizeLinear makes numbers of. */
struct operand {
    net_id integers;
    const struct net_array *scale;
};

static bool all_zero(const struct net_match *m, net_id id)
{
    const struct net_array *const zero = net_constant(m, id);
    for (int64_t k = 0; zero && k < zero->count; k++)
        if (net_array_integer(zero, k) != 0)
            return false;
    return id == NET_NONE || zero;
}

/* Only of eight bits with a sign and without zero point: padding is zero then, and kernels know these. */
static bool read_operand(const struct net_match *m, net_id value, struct operand *o)
{
    const struct net_node *const back = net_made_by(m, value, "DequantizeLinear", false);
    if (!back || net_attr_int(back, "block_size", 0) || !all_zero(m, net_input(back, 2)))
        return false;
    *o = (struct operand){back->input[0], net_constant(m, back->input[1])};
    return o->scale && o->scale->type == NET_F32 && m->model->value[o->integers].type == NET_I8;
}

/* One scale for all, or one for each place of `axis`. */
static bool weights_fit(const struct net_match *m, net_id value, unsigned axis, const struct operand *w)
{
    const struct net_array *const q = net_constant(m, w->integers);
    const struct net_node *const back = net_made_by(m, value, "DequantizeLinear", false);
    const int64_t given = net_attr_int(back, "axis", 1);
    if (!q || q->dims < 2 || axis >= q->dims)
        return false;
    return w->scale->count == 1 || (w->scale->count == q->shape[axis] && (given < 0 ? given + q->dims : given) == (int64_t)axis);
}

static net_id products_of(struct net_match *m, const struct operand *x, const struct operand *w, const char *name)
{
    struct net_array *const scale = net_array_new(NET_F32, w->scale->shape, w->scale->dims, NULL);
    for (int64_t k = 0; scale && k < scale->count; k++)
        ((float *)scale->data)[k] = (float)(net_array_double(x->scale, 0) * net_array_double(w->scale, k));
    const net_id id = scale ? net_constant_add(m->model, name, scale) : NET_NONE;
    net_must(m, id != NET_NONE);
    return id;
}

/* Rows as columns. */
static net_id turned(struct net_match *m, net_id weights, const char *name)
{
    const struct net_array *const w = net_constant(m, weights);
    const int64_t shape[2] = {w->shape[1], w->shape[0]};
    struct net_array *const t = net_array_new(NET_I8, shape, 2, NULL);
    for (int64_t k = 0; t && k < w->count; k++)
        ((int8_t *)t->data)[k % shape[0] * shape[1] + k / shape[0]] = ((const int8_t *)w->data)[k];
    const net_id id = t ? net_constant_add(m->model, name, t) : NET_NONE;
    net_must(m, id != NET_NONE);
    return id;
}

/* The node gives sums; one behind it scales them, adds the bias, and has the node's old result. */
static bool split(struct net_match *m, struct net_node *node, const char *op, const net_id *in, net_id scale, net_id bias,
                  int64_t axis)
{
    const size_t at = m->uses.position[node->output[0]];
    struct net_node *const behind = net_node_new(node->name, "Rescale", "orchard", bias == NET_NONE ? 2 : 3, 1);
    const net_id sums = behind ? net_value_add(m->model, node->name) : NET_NONE;
    if (sums == NET_NONE || !net_set_int(behind, "axis", axis) || !net_node_rename(node, op, "") || !net_node_inputs(node, 2)) {
        net_node_free(behind);
        net_must(m, false);
        return false;
    }
    behind->row = net_operator_find("Rescale", "orchard");
    behind->input[0] = sums;
    behind->input[1] = scale;
    if (bias != NET_NONE)
        behind->input[2] = bias;
    behind->output[0] = node->output[0];
    node->output[0] = sums;
    memcpy(node->input, in, 2 * sizeof *in);
    node->row = net_operator_find(op, "");
    net_must(m, net_graph_insert(m->model->graph, at + 1, behind));
    return !m->starved;
}

static bool plain_gemm(const struct net_match *m, const struct net_node *node, int64_t outputs)
{
    const struct net_array *const bias = net_constant(m, net_input(node, 2));
    const bool biased = net_input(node, 2) != NET_NONE;
    return !net_attr_int(node, "transA", 0) && net_attr_real(node, "alpha", 1) == 1 && net_attr_real(node, "beta", 1) == 1 &&
           (!biased || (bias && (bias->count == 1 || (bias->count == outputs && bias->shape[bias->dims - 1] == outputs))));
}

static bool change(struct net_match *m, struct net_node *node)
{
    const bool conv = net_is(node, "Conv"), gemm = net_is(node, "Gemm");
    const bool turn = gemm && net_attr_int(node, "transB", 0);
    const unsigned axis = conv || turn ? 0 : 1;
    struct operand x, w;
    if ((!conv && !gemm && !net_is(node, "MatMul")) || !read_operand(m, node->input[0], &x) ||
        !read_operand(m, node->input[1], &w) || x.scale->count != 1 || !weights_fit(m, node->input[1], axis, &w))
        return false;
    const struct net_array *const q = net_constant(m, w.integers);
    if ((!conv && q->dims != 2) || (gemm && !plain_gemm(m, node, q->shape[axis])))
        return false;
    const net_id scale = products_of(m, &x, &w, node->name), bias = net_input(node, 2);
    const net_id in[2] = {x.integers, turn ? turned(m, w.integers, node->name) : w.integers};
    if (m->starved)
        return false;
    while (gemm && node->attributes)
        net_attr_remove(node, node->attribute[0].name);
    return split(m, node, conv ? "ConvInteger" : "MatMulInteger", in, scale, bias, conv ? 1 : -1);
}

bool net_pass_integer(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, change, changes, error);
}
