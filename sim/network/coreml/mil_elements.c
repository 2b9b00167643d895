/* Operations element by element, reductions. */
#include "sim/network/coreml/mil.h"

#include <float.h>
#include <string.h>

void mil_same(struct mil_op *o)
{
    mil_set(o, coreml_one(o->c, "Identity", mil_in(o, "x")));
}

void mil_one(struct mil_op *o)
{
    mil_set(o, coreml_one(o->c, o->op, mil_in(o, "x")));
}

/* Operands of whole numbers beside real ones become real. */
static void both(struct mil_op *o, net_id *x, net_id *y)
{
    *x = mil_in(o, "x");
    *y = mil_in(o, "y");
    if (o->c->failed)
        return;
    const enum net_type a = o->c->model->value[*x].type, b = o->c->model->value[*y].type;
    if (a == b)
        return;
    const enum net_type common = a == NET_F32 || b == NET_F32 ? NET_F32 : NET_I64;
    *x = coreml_cast(o->c, *x, common);
    *y = coreml_cast(o->c, *y, common);
}

void mil_two(struct mil_op *o)
{
    net_id x, y;
    both(o, &x, &y);
    mil_set(o, coreml_two(o->c, o->op, x, y));
}

void mil_compare_not(struct mil_op *o)
{
    mil_two(o);
    mil_set(o, coreml_one(o->c, "Not", o->out[0].id));
}

void mil_logical(struct mil_op *o)
{
    const bool two = strcmp(o->op, "Not") != 0;
    const net_id x = coreml_cast(o->c, mil_in(o, "x"), NET_BOOL);
    mil_set(o, two ? coreml_two(o->c, o->op, x, coreml_cast(o->c, mil_in(o, "y"), NET_BOOL)) : coreml_one(o->c, "Not", x));
}

void mil_floor_div(struct mil_op *o)
{
    net_id x, y;
    both(o, &x, &y);
    const bool whole = !o->c->failed && !net_type_is_float(o->c->model->value[x].type);
    const net_id q = coreml_two(o->c, "Div", coreml_cast(o->c, x, NET_F32), coreml_cast(o->c, y, NET_F32));
    const net_id floored = coreml_one(o->c, "Floor", q);
    mil_set(o, whole ? coreml_cast(o->c, floored, NET_I64) : floored);
}

/* With the sign of the divisor. */
void mil_mod(struct mil_op *o)
{
    net_id x, y;
    both(o, &x, &y);
    if (!o->c->failed && !net_type_is_float(o->c->model->value[x].type)) {
        mil_set(o, coreml_two(o->c, "Mod", x, y));
        return;
    }
    const net_id q = coreml_one(o->c, "Floor", coreml_two(o->c, "Div", x, y));
    mil_set(o, coreml_two(o->c, "Sub", x, coreml_two(o->c, "Mul", q, y)));
}

void mil_exp2(struct mil_op *o)
{
    mil_set(o, coreml_two(o->c, "Pow", coreml_number(o->c, 2), mil_in(o, "x")));
}

void mil_square(struct mil_op *o)
{
    const net_id x = mil_in(o, "x");
    mil_set(o, coreml_two(o->c, "Mul", x, x));
}

/* What is added before a logarithm or a root. Numbers below the least normal one are nothing to units, which flush them. */
static net_id with_epsilon(struct mil_op *o, double absent)
{
    const double epsilon = mil_real(o, "epsilon", absent);
    return coreml_scaled(o->c, mil_in(o, "x"), 1, epsilon < FLT_MIN ? 0 : epsilon);
}

void mil_log(struct mil_op *o)
{
    mil_set(o, coreml_one(o->c, "Log", with_epsilon(o, 1e-45)));
}

void mil_rsqrt(struct mil_op *o)
{
    mil_set(o, coreml_one(o->c, "Reciprocal", coreml_one(o->c, "Sqrt", with_epsilon(o, 1e-12))));
}

void mil_inverse(struct mil_op *o)
{
    mil_set(o, coreml_one(o->c, "Reciprocal", with_epsilon(o, 1e-4)));
}

void mil_clip(struct mil_op *o)
{
    mil_set(o, coreml_clip(o->c, mil_in(o, "x"), mil_real(o, "alpha", -INFINITY), mil_real(o, "beta", INFINITY)));
}

void mil_threshold(struct mil_op *o)
{
    mil_set(o, coreml_clip(o->c, mil_in(o, "x"), mil_real(o, "alpha", 0), INFINITY));
}

void mil_relu6(struct mil_op *o)
{
    mil_set(o, coreml_clip(o->c, mil_in(o, "x"), 0, 6));
}

static net_id with(struct mil_op *o, const char *op, net_id x, const double *beta)
{
    struct net_node *const node = coreml_node(o->c, op, 1, &x, 1);
    coreml_set_real(o->c, node, "alpha", mil_real(o, "alpha", 1));
    if (beta)
        coreml_set_real(o->c, node, "beta", *beta);
    return coreml_add(o->c, node, NULL);
}

void mil_alpha(struct mil_op *o)
{
    mil_set(o, with(o, o->op, mil_in(o, "x"), NULL));
}

void mil_hard(struct mil_op *o)
{
    const double beta = mil_real(o, "beta", 0.5);
    mil_set(o, with(o, "HardSigmoid", mil_in(o, "x"), &beta));
}

void mil_clamped(struct mil_op *o)
{
    mil_set(o, coreml_clip(o->c, with(o, "LeakyRelu", mil_in(o, "x"), NULL), -INFINITY, mil_real(o, "beta", 0)));
}

void mil_gelu(struct mil_op *o)
{
    char text[40];
    const char *const mode = mil_word(o, "mode", "EXACT", text, sizeof text);
    const net_id x = mil_in(o, "x");
    if (strcmp(mode, "SIGMOID_APPROXIMATION") == 0) {
        mil_set(o, coreml_two(o->c, "Mul", x, coreml_one(o->c, "Sigmoid", coreml_scaled(o->c, x, 1.702, 0))));
        return;
    }
    struct net_node *const node = coreml_node(o->c, "Gelu", 1, &x, 1);
    coreml_set_text(o->c, node, "approximate", strcmp(mode, "EXACT") == 0 ? "none" : "tanh");
    mil_set(o, coreml_add(o->c, node, NULL));
}

void mil_silu(struct mil_op *o)
{
    const net_id x = mil_in(o, "x");
    mil_set(o, coreml_two(o->c, "Mul", x, coreml_one(o->c, "Sigmoid", x)));
}

void mil_scaled_tanh(struct mil_op *o)
{
    const net_id inner = coreml_scaled(o->c, mil_in(o, "x"), mil_real(o, "beta", 1), 0);
    mil_set(o, coreml_scaled(o->c, coreml_one(o->c, "Tanh", inner), mil_real(o, "alpha", 1), 0));
}

void mil_linear_activation(struct mil_op *o)
{
    mil_set(o, coreml_scaled(o->c, mil_in(o, "x"), mil_real(o, "alpha", 1), mil_real(o, "beta", 0)));
}

/* Numbers for the channels, [C], spread over [N, C, ...]. */
static net_id for_channels(struct mil_op *o, const char *name, net_id x)
{
    int64_t shape[NET_DIMS_MAX];
    const unsigned rank = coreml_rank(o->c, x);
    for (unsigned d = 0; d + 1 < rank; d++)
        shape[d] = d ? 1 : -1;
    return rank > 2 ? coreml_reshape(o->c, mil_in(o, name), shape, rank - 1) : mil_in(o, name);
}

void mil_prelu(struct mil_op *o)
{
    const net_id x = mil_in(o, "x");
    mil_set(o, coreml_two(o->c, "PRelu", x, for_channels(o, "alpha", x)));
}

/* alpha log(1 + e^(beta x)) */
void mil_parametric(struct mil_op *o)
{
    const net_id x = mil_in(o, "x"), inner = coreml_two(o->c, "Mul", x, for_channels(o, "beta", x));
    mil_set(o, coreml_two(o->c, "Mul", coreml_one(o->c, "Softplus", inner), for_channels(o, "alpha", x)));
}

void mil_cast(struct mil_op *o)
{
    char text[16];
    const char *const to = mil_word(o, "dtype", "", text, sizeof text);
    const bool real = strncmp(to, "fp", 2) == 0, whole = strncmp(to, "int", 3) == 0 || strncmp(to, "uint", 4) == 0;
    if (!real && !whole && strcmp(to, "bool") != 0)
        coreml_fail(o->c, ORCH_UNMODELLED, "a cast to '%s'", to);
    mil_set(o, coreml_cast(o->c, coreml_one(o->c, "Identity", mil_in(o, "x")), real ? NET_F32 : whole ? NET_I64 : NET_BOOL));
}

void mil_select(struct mil_op *o)
{
    const net_id in[3] = {coreml_cast(o->c, mil_in(o, "cond"), NET_BOOL), mil_in(o, "a"), mil_in(o, "b")};
    mil_set(o, coreml_add(o->c, coreml_node(o->c, "Where", 1, in, 3), NULL));
}

void mil_softmax(struct mil_op *o)
{
    mil_set(o, coreml_axis(o->c, "Softmax", mil_in(o, "x"), mil_int(o, "axis", -1)));
}

/* ---- reductions ---- */

void mil_reduce(struct mil_op *o)
{
    int64_t axes[NET_DIMS_MAX];
    const size_t count = mil_ints(o, "axes", axes, NET_DIMS_MAX);
    net_id x = mil_in(o, "x");
    if (strcmp(o->op, "ReduceLogSum") == 0)
        x = with_epsilon(o, 0);
    mil_set(o, coreml_reduce(o->c, o->op, x, count ? axes : NULL, count, mil_flag(o, "keep_dims", false)));
}

void mil_arg(struct mil_op *o)
{
    const net_id x = mil_in(o, "x");
    struct net_node *const node = coreml_node(o->c, o->op, 1, &x, 1);
    coreml_set_int(o->c, node, "axis", mil_int(o, "axis", -1));
    coreml_set_int(o->c, node, "keepdims", mil_flag(o, "keep_dims", false));
    mil_set(o, coreml_add(o->c, node, NULL));
}

void mil_top_k(struct mil_op *o)
{
    const int64_t k = mil_int(o, "k", 1);
    const net_id in[2] = {mil_in(o, "x"), coreml_ints(o->c, &k, 1)};
    struct net_node *const node = coreml_node(o->c, "TopK", 2, in, 2);
    net_id out[2];
    coreml_set_int(o->c, node, "axis", mil_int(o, "axis", -1));
    coreml_set_int(o->c, node, "largest", !mil_flag(o, "ascending", false));
    coreml_add(o->c, node, out);
    o->out[0] = coreml_tensor(out[0]);
    o->out[1] = coreml_tensor(out[1]);
}

void mil_cum_sum(struct mil_op *o)
{
    const int64_t axis = mil_int(o, "axis", 0);
    const net_id in[2] = {mil_in(o, "x"), coreml_ints(o->c, &axis, 1)};
    struct net_node *const node = coreml_node(o->c, "CumSum", 1, in, 2);
    coreml_set_int(o->c, node, "exclusive", mil_flag(o, "exclusive", false));
    coreml_set_int(o->c, node, "reverse", mil_flag(o, "reverse", false));
    mil_set(o, coreml_add(o->c, node, NULL));
}
