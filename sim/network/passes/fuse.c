/* Biases and activations that become part of the convolution or product in front of them. */
#include "sim/network/passes/match.h"
#include "sim/network/operators/operator.h"
#include "sim/network/passes/passes.h"

#include <math.h>
#include <string.h>

/* An activation that a kernel can apply to each result: its parameters, or false. */
static bool activation_of(const struct net_match *m, const struct net_node *node, double *alpha, double *beta)
{
    static const struct {
        const char *op, *alpha, *beta;
        double alpha_missing, beta_missing;
    } known[] = {
        {"Relu", NULL, NULL, 0, 0},      {"LeakyRelu", "alpha", NULL, 0.01, 0}, {"Sigmoid", NULL, NULL, 0, 0},
        {"Tanh", NULL, NULL, 0, 0},      {"Elu", "alpha", NULL, 1, 0},          {"HardSigmoid", "alpha", "beta", 0.2, 0.5},
        {"HardSwish", NULL, NULL, 0, 0}, {"Swish", "alpha", NULL, 1, 0},
    };
    *alpha = *beta = 0;
    if (net_is(node, "Clip")) {
        *alpha = -INFINITY;
        *beta = INFINITY;
        return (net_input(node, 1) == NET_NONE || net_scalar(m, node->input[1], alpha)) &&
               (net_input(node, 2) == NET_NONE || net_scalar(m, node->input[2], beta));
    }
    if (net_is(node, "Gelu")) {
        *alpha = strcmp(net_attr_text(node, "approximate", "none"), "tanh") == 0;
        return true;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (net_is(node, known[k].op)) {
            *alpha = known[k].alpha ? net_attr_real(node, known[k].alpha, known[k].alpha_missing) : 0;
            *beta = known[k].beta ? net_attr_real(node, known[k].beta, known[k].beta_missing) : 0;
            return true;
        }
    return false;
}

/* Lets the producer compute the activation: it takes over the output of the activation's node. */
static bool take_activation(struct net_match *m, struct net_node *producer, struct net_node *node, const char *op)
{
    double alpha, beta;
    if (!activation_of(m, node, &alpha, &beta) || net_attribute(producer, "activation"))
        return false;
    net_must(m, net_node_rename(producer, op, "orchard") && net_set_text(producer, "activation", node->op) &&
                    net_set_real(producer, "activation_alpha", alpha) && net_set_real(producer, "activation_beta", beta));
    producer->row = net_operator_find(op, "orchard");
    net_retire(m, node, producer->output[0]);
    return true;
}

static bool conv(struct net_match *m, struct net_node *node)
{
    struct net_node *const producer = node->inputs ? net_made_by(m, node->input[0], "Conv", true) : NULL;
    return producer && take_activation(m, producer, node, "FusedConv");
}

bool net_pass_conv(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, conv, changes, error);
}

/* ---- sums: of a block and what goes around it ---- */

static bool sum(struct net_match *m, struct net_node *node)
{
    struct net_node *const producer = net_is(node, "Relu") && node->inputs ? net_made_by(m, node->input[0], "Add", true) : NULL;
    const struct net_shape *const shape = producer ? net_value_shape(m, node->input[0]) : NULL;
    const bool known = producer && (net_constant(m, producer->input[0]) || net_constant(m, producer->input[1]));
    return producer && shape->known && !known && take_activation(m, producer, node, "FusedAdd");
}

bool net_pass_sum(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, sum, changes, error);
}

/* ---- products ---- */

/* A constant vector along the columns of the product. */
static bool is_bias(const struct net_match *m, net_id value, net_id product)
{
    const struct net_array *const a = net_constant(m, value);
    const struct net_shape *const shape = net_value_shape(m, product);
    return a && shape->known && shape->dims && a->dims <= shape->dims && a->dims && a->shape[a->dims - 1] == a->count &&
           a->count == shape->dim[shape->dims - 1];
}

static bool take_bias(struct net_match *m, struct net_node *node)
{
    for (size_t k = 0; net_is(node, "Add") && k < 2; k++) {
        struct net_node *const product = net_made_by(m, node->input[k], "MatMul", true);
        if (!product || !is_bias(m, node->input[1 - k], node->input[k]))
            continue;
        const net_id input[3] = {product->input[0], product->input[1], node->input[1 - k]};
        return net_become(m, node, "FusedMatMul", "orchard", input, 3);
    }
    return false;
}

static bool matmul(struct net_match *m, struct net_node *node)
{
    if (take_bias(m, node))
        return true;
    for (size_t k = 0; node->inputs && k < 2; k++) {
        struct net_node *const product = net_made_by(m, node->input[0], k ? "Gemm" : ".FusedMatMul", true);
        if (product && take_activation(m, product, node, "FusedMatMul"))
            return true;
    }
    struct net_node *const plain = node->inputs ? net_made_by(m, node->input[0], "MatMul", true) : NULL;
    return plain && take_activation(m, plain, node, "FusedMatMul");
}

bool net_pass_matmul(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, matmul, changes, error);
}
