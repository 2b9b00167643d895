/* Layers of several operands, functions element by element, reductions. */
#include "sim/network/coreml/layer.h"

#include <math.h>
#include <string.h>

static void chain(struct layer *l)
{
    l->out[0] = l->in[0];
    for (size_t k = 1; k < l->inputs; k++)
        l->out[0] = coreml_two(l->c, l->op, l->out[0], l->in[k]);
}

/* With one input the other operand is the number alpha. */
void layer_sum(struct layer *l)
{
    if (l->inputs > 1)
        chain(l);
    else
        l->out[0] = coreml_two(l->c, "Add", l->in[0], coreml_number(l->c, layer_real(l, 1, 0)));
}

void layer_product(struct layer *l)
{
    if (l->inputs > 1)
        chain(l);
    else
        l->out[0] = coreml_two(l->c, "Mul", l->in[0], coreml_number(l->c, layer_real(l, 1, 0)));
}

void layer_variadic(struct layer *l)
{
    l->out[0] = coreml_add(l->c, coreml_node(l->c, l->op, 1, l->in, l->inputs), NULL);
}

void layer_pair(struct layer *l)
{
    if (l->inputs < 2)
        coreml_fail(l->c, ORCH_USAGE, "one input where two are wanted");
    else
        chain(l);
}

void layer_one(struct layer *l)
{
    l->out[0] = coreml_one(l->c, l->op, l->in[0]);
}

/* ---- comparisons: results are numbers, 0 and 1 ---- */

static net_id other(struct layer *l, unsigned field)
{
    return l->inputs > 1 ? l->in[1] : coreml_number(l->c, layer_real(l, field, 0));
}

void layer_compare(struct layer *l)
{
    const unsigned field = strcmp(l->op, "Equal") == 0 ? 1 : 2;
    l->out[0] = coreml_cast(l->c, coreml_two(l->c, l->op, l->in[0], other(l, field)), NET_F32);
}

void layer_not_equal(struct layer *l)
{
    const net_id same = coreml_two(l->c, "Equal", l->in[0], other(l, 1));
    l->out[0] = coreml_cast(l->c, coreml_one(l->c, "Not", same), NET_F32);
}

void layer_logical(struct layer *l)
{
    const net_id x = coreml_cast(l->c, l->in[0], NET_BOOL);
    const bool two = strcmp(l->op, "Not") != 0;
    if (two && l->inputs < 2)
        coreml_fail(l->c, ORCH_USAGE, "one input where two are wanted");
    const net_id y = two && l->inputs > 1 ? coreml_cast(l->c, l->in[1], NET_BOOL) : NET_NONE;
    l->out[0] = coreml_cast(l->c, two ? coreml_two(l->c, l->op, x, y) : coreml_one(l->c, l->op, x), NET_F32);
}

void layer_where(struct layer *l)
{
    const net_id in[3] = {coreml_cast(l->c, l->in[0], NET_BOOL), l->in[1], l->in[2]};
    if (l->inputs != 3)
        coreml_fail(l->c, ORCH_USAGE, "%zu inputs where three are wanted", l->inputs);
    else
        l->out[0] = coreml_add(l->c, coreml_node(l->c, "Where", 1, in, 3), NULL);
}

/* ---- functions ---- */

void layer_floor_div(struct layer *l)
{
    if (l->inputs < 2)
        coreml_fail(l->c, ORCH_USAGE, "one input where two are wanted");
    else
        l->out[0] = coreml_one(l->c, "Floor", coreml_two(l->c, "Div", l->in[0], l->in[1]));
}

void layer_exp2(struct layer *l)
{
    l->out[0] = coreml_two(l->c, "Pow", coreml_number(l->c, 2), l->in[0]);
}

void layer_clip(struct layer *l)
{
    l->out[0] = coreml_clip(l->c, l->in[0], layer_real(l, 1, 0), layer_real(l, 2, 0));
}

/* x where it is positive, alpha x elsewhere, and at most beta. */
void layer_clamped_relu(struct layer *l)
{
    struct net_node *const node = coreml_node(l->c, "LeakyRelu", 1, l->in, 1);
    coreml_set_real(l->c, node, "alpha", layer_real(l, 1, 0));
    l->out[0] = coreml_clip(l->c, coreml_add(l->c, node, NULL), -INFINITY, layer_real(l, 2, 0));
}

void layer_gelu(struct layer *l)
{
    const int64_t mode = layer_int(l, 1, 0);
    if (mode == 2) {
        const net_id s = coreml_one(l->c, "Sigmoid", coreml_scaled(l->c, l->in[0], 1.702, 0));
        l->out[0] = coreml_two(l->c, "Mul", l->in[0], s);
        return;
    }
    struct net_node *const node = coreml_node(l->c, "Gelu", 1, l->in, 1);
    coreml_set_text(l->c, node, "approximate", mode == 1 ? "tanh" : "none");
    l->out[0] = coreml_add(l->c, node, NULL);
}

void layer_dot(struct layer *l)
{
    static const int64_t axes[3] = {-3, -2, -1};
    struct coreml *const c = l->c;
    if (l->inputs != 2) {
        coreml_fail(c, ORCH_USAGE, "%zu inputs where two are wanted", l->inputs);
        return;
    }
    net_id norm = NET_NONE;
    for (unsigned k = 0; k < 2 && layer_int(l, 1, 0); k++) {
        const net_id one = coreml_reduce(c, "ReduceL2", l->in[k], axes, 3, true);
        norm = k ? coreml_two(c, "Mul", norm, one) : one;
    }
    l->out[0] = coreml_reduce(c, "ReduceSum", coreml_two(c, "Mul", l->in[0], l->in[1]), axes, 3, true);
    if (norm != NET_NONE)
        l->out[0] = coreml_two(c, "Div", l->out[0], norm);
}

/* ---- reductions ---- */

void layer_reduce(struct layer *l)
{
    static const char *const ops[] = {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceLogSum", "ReduceSumSquare",
                                      "ReduceL1",  "ReduceL2",   "ReduceMax",  "ReduceMin",    "ArgMax"};
    static const int64_t axes[5][3] = {{-3, -2, -1}, {-2, -1}, {-3}, {-2}, {-1}};
    static const size_t counts[5] = {3, 2, 1, 1, 1};
    const int64_t mode = layer_int(l, 1, 0), over = layer_int(l, 3, 0);
    const double epsilon = layer_real(l, 2, 0);
    net_id x = l->in[0];
    if (mode < 0 || mode > 9 || over < 0 || over > 4 || (mode == 9 && counts[over] != 1)) {
        coreml_fail(l->c, ORCH_UNMODELLED, "a reduction of the kind %lld over axes %lld", (long long)mode, (long long)over);
        return;
    }
    if (mode == 9) {
        l->out[0] = coreml_cast(l->c, coreml_axis(l->c, "ArgMax", x, axes[over][0]), NET_F32);
        return;
    }
    if (mode == 3) /* LOGSUM adds 1e-6 unless another number is given */
        x = coreml_scaled(l->c, x, 1, epsilon == 0 ? 1e-6 : epsilon);
    l->out[0] = coreml_reduce(l->c, ops[mode], x, axes[over], counts[over], true);
}

void layer_reduce_nd(struct layer *l)
{
    int64_t axes[NET_DIMS_MAX];
    const size_t count = layer_list(l, 1, axes);
    const bool all = layer_int(l, 3, 0) || count == 0;
    l->out[0] = coreml_reduce(l->c, l->op, l->in[0], all ? NULL : axes, count, layer_int(l, 2, 0));
    if (!l->c->failed && coreml_rank(l->c, l->out[0]) == 0) {
        const int64_t one = 1; /* there are no scalars in networks */
        l->out[0] = coreml_reshape(l->c, l->out[0], &one, 1);
    }
}

void layer_arg(struct layer *l)
{
    struct net_node *const node = coreml_node(l->c, l->op, 1, l->in, 1);
    coreml_set_int(l->c, node, "axis", layer_int(l, 1, 0));
    coreml_set_int(l->c, node, "keepdims", !layer_int(l, 2, 0));
    l->out[0] = coreml_cast(l->c, coreml_add(l->c, node, NULL), NET_F32);
}

void layer_top_k(struct layer *l)
{
    const int64_t k = layer_int(l, 2, 0);
    const net_id in[2] = {l->in[0], coreml_ints(l->c, &k, 1)};
    if (l->inputs != 1) {
        coreml_fail(l->c, ORCH_UNMODELLED, "a number of results that is computed");
        return;
    }
    struct net_node *const node = coreml_node(l->c, "TopK", 2, in, 2);
    coreml_set_int(l->c, node, "axis", layer_int(l, 1, 0));
    coreml_set_int(l->c, node, "largest", !layer_int(l, 3, 0));
    coreml_add(l->c, node, l->out);
    l->out[1] = coreml_cast(l->c, l->out[1], NET_F32);
}
