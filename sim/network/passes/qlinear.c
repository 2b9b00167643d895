/* Operators between integers with scales as the operator of numbers between DequantizeLinear and QuantizeLinear, for which units
 * have kernels; where both operands are signed and without zero points the pass `integer` then multiplies the integers. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

/* ORDER: inputs of QLinearConv and QLinearMatMul. */
enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS };

struct place {
    struct net_match *m;
    const struct net_node *node;
    size_t at; /* where the next node goes */
};

/* Numbers of the operand that begins at an input; scales by channel along `axis`. */
static net_id numbers(struct place *p, size_t first, int64_t axis)
{
    const net_id in[3] = {p->node->input[first], p->node->input[first + 1], p->node->input[first + 2]};
    struct net_node *const back = net_put(p->m, p->node, &p->at, "DequantizeLinear", in, 3, 1, NET_F32);
    net_must(p->m, back && net_set_int(back, "axis", axis));
    return back ? back->output[0] : NET_NONE;
}

/* A bias is in steps of both scales. */
static net_id bias_of(struct place *p)
{
    const net_id bias = net_input(p->node, BIAS);
    const struct net_array *const x = net_constant(p->m, p->node->input[X_SCALE]), *const w = net_constant(
                                                                                       p->m, p->node->input[W_SCALE]);
    if (bias == NET_NONE)
        return NET_NONE;
    struct net_array *const scale = net_array_new(NET_F32, w->shape, w->dims, NULL);
    for (int64_t k = 0; scale && k < w->count; k++)
        ((float *)scale->data)[k] = (float)(net_array_double(x, 0) * net_array_double(w, k));
    const net_id in[2] = {bias, scale ? net_constant_add(p->m->model, p->node->name, scale) : NET_NONE};
    struct net_node *const back =
        in[1] == NET_NONE ? NULL : net_put(p->m, p->node, &p->at, "DequantizeLinear", in, 2, 1, NET_F32);
    net_must(p->m, back && net_set_int(back, "axis", 0));
    return back ? back->output[0] : NET_NONE;
}

/* Elements of a list or a single number; -1 = not known. */
static int64_t length_of(const struct net_match *m, net_id value)
{
    const struct net_shape *const s = net_value_shape(m, value);
    return !s->known || s->dims > 1 ? -1 : s->dims == 0 ? 1 : s->dim[0];
}

static bool is_scale(const struct net_match *m, net_id value)
{
    return m->model->value[value].type == NET_F32 && (!net_constant(m, value) || net_constant(m, value)->data);
}

/* One scale for all but for the weights: for each of their channels or columns. That of a bias follows from others that are
 * known. */
static bool fits(const struct net_match *m, const struct net_node *node, bool conv)
{
    const size_t least = Y_ZERO + 1;
    for (size_t k = 0; k < least; k++)
        if (node->inputs < least || node->input[k] == NET_NONE)
            return false;
    if (net_input(node, BIAS) != NET_NONE && !(net_constant(m, node->input[X_SCALE]) && net_constant(m, node->input[W_SCALE])))
        return false;
    const struct net_shape *const w = net_value_shape(m, node->input[W]);
    const int64_t scales = length_of(m, node->input[W_SCALE]);
    if (!is_scale(m, node->input[X_SCALE]) || !is_scale(m, node->input[W_SCALE]) || !is_scale(m, node->input[Y_SCALE]) ||
        length_of(m, node->input[X_SCALE]) != 1 || length_of(m, node->input[Y_SCALE]) != 1 || !w->known || w->dims < 2)
        return false;
    return length_of(m, node->input[W_ZERO]) == scales && (scales == 1 || scales == w->dim[conv ? 0 : w->dims - 1]);
}

static bool change(struct net_match *m, struct net_node *node)
{
    const bool conv = net_is(node, "QLinearConv");
    struct place p = {.m = m, .node = node};
    if ((!conv && !net_is(node, "QLinearMatMul")) || !fits(m, node, conv))
        return false;
    p.at = m->uses.position[node->output[0]];
    const struct net_shape *const w = net_value_shape(m, node->input[W]);
    const int64_t axis = conv ? 0 : (int64_t)w->dims - 1;
    const net_id a = numbers(&p, X, 1), b = numbers(&p, W, axis), bias = bias_of(&p), in[3] = {a, b, bias};
    struct net_node *const product =
        m->starved ? NULL : net_put(m, node, &p.at, conv ? "Conv" : "MatMul", in, bias == NET_NONE ? 2 : 3, 1, NET_F32);
    net_must(m, product && (!conv || net_copy_windows(node, product)));
    if (m->starved)
        return false;
    const net_id out[3] = {product->output[0], node->input[Y_SCALE], node->input[Y_ZERO]};
    return net_become(m, node, "QuantizeLinear", "", out, 3);
}

bool net_pass_qlinear(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, change, changes, error);
}
