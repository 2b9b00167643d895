/* Activations in their parts: HardSigmoid, HardSwish, Gelu, Swish; and Swish(gate) up. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include <math.h>
#include <string.h>

/* ---- hard swish: x clip(x + 3, 0, 6) / 6 ---- */

/* The x of clip(x + 3, 0, 6). */
static net_id clipped(const struct net_match *m, net_id value)
{
    double low, high, three;
    const struct net_node *clip = net_made_by(m, value, "Clip", true);
    if (!clip || !net_scalar(m, net_input(clip, 1), &low) || !net_scalar(m, net_input(clip, 2), &high) || low != 0 || high != 6)
        return NET_NONE;
    const struct net_node *const add = net_made_by(m, clip->input[0], "Add", true);
    const net_id x = add ? net_beside_scalar(m, add, &three) : NET_NONE;
    return x != NET_NONE && three == 3 ? x : NET_NONE;
}

/* Division by six, or multiplication by a sixth: what is divided. */
static net_id sixth_of(const struct net_match *m, const struct net_node *node)
{
    double number;
    const net_id x = net_beside_scalar(m, node, &number);
    if (x == NET_NONE)
        return NET_NONE;
    if (net_is(node, "Div") && x == node->input[0] && number == 6)
        return x;
    return net_is(node, "Mul") && fabs(number - 1.0 / 6) < 1e-6 ? x : NET_NONE;
}

/* The x of clip(x + 3, 0, 6) / 6, also as HardSigmoid with those numbers. */
static net_id hard_gate(const struct net_match *m, net_id value)
{
    const struct net_node *const node = value == NET_NONE ? NULL : m->uses.producer[value];
    if (!node || m->uses.count[value] != 1)
        return NET_NONE;
    if (net_is(node, "HardSigmoid"))
        return fabs(net_attr_real(node, "alpha", 0.2) - 1.0 / 6) < 1e-6 && net_attr_real(node, "beta", 0.5) == 0.5
                   ? node->input[0]
                   : NET_NONE;
    const net_id x = sixth_of(m, node);
    return x == NET_NONE ? NET_NONE : clipped(m, x);
}

static bool hard_swish(struct net_match *m, struct net_node *node)
{
    for (size_t k = 0; net_is(node, "Mul") && k < 2; k++) /* x gate(x) */
        if (hard_gate(m, node->input[k]) == node->input[1 - k])
            return net_become(m, node, "HardSwish", "", &node->input[1 - k], 1);
    const net_id product = sixth_of(m, node); /* (x clip(x + 3)) / 6 */
    const struct net_node *const mul = product == NET_NONE ? NULL : net_made_by(m, product, "Mul", true);
    for (size_t k = 0; mul && k < 2; k++)
        if (clipped(m, mul->input[k]) == mul->input[1 - k])
            return net_become(m, node, "HardSwish", "", &mul->input[1 - k], 1);
    const net_id x = product == NET_NONE ? NET_NONE : clipped(m, product); /* the gate alone */
    if (x == NET_NONE || !net_become(m, node, "HardSigmoid", "", &x, 1))
        return false;
    net_must(m, net_set_real(node, "alpha", 1.0 / 6) && net_set_real(node, "beta", 0.5));
    return true;
}

bool net_pass_hard_swish(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, hard_swish, changes, error);
}

/* ---- gelu: 0.5 x (1 + erf(x / sqrt 2)), or with tanh ---- */

static bool is_root_half_of(const struct net_match *m, net_id value, net_id *x)
{
    const struct net_node *const node = value == NET_NONE ? NULL : m->uses.producer[value];
    double number;
    *x = node ? net_beside_scalar(m, node, &number) : NET_NONE;
    if (*x == NET_NONE)
        return false;
    return net_is(node, "Div") ? *x == node->input[0] && fabs(number - M_SQRT2) < 1e-4
                               : net_is(node, "Mul") && fabs(number - M_SQRT1_2) < 1e-4;
}

/* sqrt(2 / pi) (x + 0.044715 x^3) */
static bool is_tanh_argument(const struct net_match *m, net_id value, net_id *x)
{
    const struct net_node *const outer = net_made_by(m, value, "Mul", true);
    double number;
    const net_id sum_id = outer ? net_beside_scalar(m, outer, &number) : NET_NONE;
    const struct net_node *const sum =
        sum_id != NET_NONE && fabs(number - 0.7978845608) < 1e-4 ? net_made_by(m, sum_id, "Add", true) : NULL;
    for (size_t k = 0; sum && k < 2; k++) {
        const struct net_node *const cubic = net_made_by(m, sum->input[k], "Mul", true);
        const net_id cube = cubic ? net_beside_scalar(m, cubic, &number) : NET_NONE;
        const struct net_node *const power =
            cube != NET_NONE && fabs(number - 0.044715) < 1e-5 ? net_made_by(m, cube, "Pow", true) : NULL;
        *x = sum->input[1 - k];
        if (power && power->input[0] == *x && net_is_number(m, power->input[1], 3))
            return true;
    }
    return false;
}

/* 1 + erf(...) or 1 + tanh(...); *by_tanh tells which, *x the argument. */
static bool is_gelu_gate(const struct net_match *m, net_id value, net_id *x, bool *by_tanh)
{
    double one;
    const struct net_node *const add = net_made_by(m, value, "Add", true);
    const net_id curve = add ? net_beside_scalar(m, add, &one) : NET_NONE;
    if (curve == NET_NONE || one != 1)
        return false;
    const struct net_node *const erf_node = net_made_by(m, curve, "Erf", true), *const tanh_node =
                                                                                    net_made_by(m, curve, "Tanh", true);
    *by_tanh = tanh_node != NULL;
    return erf_node ? is_root_half_of(m, erf_node->input[0], x) : tanh_node && is_tanh_argument(m, tanh_node->input[0], x);
}

/* The product of three factors, one of which is 0.5, in any grouping: the other two. */
static bool other_factors(const struct net_match *m, const struct net_node *node, net_id *a, net_id *b)
{
    double half;
    const net_id product = net_beside_scalar(m, node, &half); /* 0.5 (a b) */
    const struct net_node *inner = product != NET_NONE && half == 0.5 ? net_made_by(m, product, "Mul", true) : NULL;
    if (inner) {
        *a = inner->input[0];
        *b = inner->input[1];
        return true;
    }
    for (size_t k = 0; k < 2; k++) { /* (0.5 a) b */
        inner = net_made_by(m, node->input[k], "Mul", true);
        *a = inner ? net_beside_scalar(m, inner, &half) : NET_NONE;
        *b = node->input[1 - k];
        if (*a != NET_NONE && half == 0.5)
            return true;
    }
    return false;
}

static bool gelu(struct net_match *m, struct net_node *node)
{
    net_id factor[2], x;
    bool by_tanh;
    if (!net_is(node, "Mul") || !other_factors(m, node, &factor[0], &factor[1]))
        return false;
    for (size_t k = 0; k < 2; k++) {
        if (!is_gelu_gate(m, factor[k], &x, &by_tanh) || x != factor[1 - k])
            continue;
        if (net_become(m, node, "Gelu", "", &x, 1) && by_tanh)
            net_must(m, net_set_text(node, "approximate", "tanh"));
        return true;
    }
    return false;
}

bool net_pass_gelu(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, gelu, changes, error);
}

/* ---- swish, and swish as a gate ---- */

static bool silu(struct net_match *m, struct net_node *node)
{
    for (size_t k = 0; net_is(node, "Mul") && k < 2; k++) {
        const struct net_node *const gate = net_made_by(m, node->input[k], "Sigmoid", true);
        if (gate && gate->input[0] == node->input[1 - k])
            return net_become(m, node, "Swish", "", &node->input[1 - k], 1);
    }
    return false;
}

bool net_pass_silu(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, silu, changes, error);
}

static bool swiglu(struct net_match *m, struct net_node *node)
{
    for (size_t k = 0; net_is(node, "Mul") && k < 2; k++) {
        const struct net_node *const swish = net_made_by(m, node->input[k], "Swish", true);
        const struct net_shape *const a = net_value_shape(m, node->input[0]), *const b = net_value_shape(m, node->input[1]);
        if (!swish || net_attr_real(swish, "alpha", 1) != 1 || !a->known || !b->known || a->dims != b->dims ||
            memcmp(a->dim, b->dim, a->dims * sizeof *a->dim) != 0)
            continue;
        const net_id input[2] = {swish->input[0], node->input[1 - k]};
        return net_become(m, node, "SwiGLU", "orchard", input, 2);
    }
    return false;
}

bool net_pass_swiglu(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, swiglu, changes, error);
}
