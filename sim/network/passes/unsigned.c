/* Products of unsigned bytes, which dynamic quantisation makes, as products of signed ones, which kernels know:
 * sum (x - z) w = sum (x - 128) w + (128 - z) sum w. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include "sim/network/operators/operator.h"

#include <string.h>

enum { MIDDLE = 128 };

struct place {
    struct net_match *m;
    const struct net_node *node;
    size_t at; /* where the next node goes */
};

static net_id put(struct place *p, const char *op, net_id a, net_id b, enum net_type type)
{
    struct net_node *const node = net_put(p->m, p->node, &p->at, op, (const net_id[]){a, b}, b == NET_NONE ? 1 : 2, 1, type);
    net_must(p->m, node && (strcmp(op, "Cast") != 0 || net_set_int(node, "to", net_type_to_onnx(type))));
    return node ? node->output[0] : NET_NONE;
}

static net_id constant(struct place *p, struct net_array *array)
{
    const net_id id = array ? net_constant_add(p->m->model, p->node->name, array) : NET_NONE;
    net_must(p->m, id != NET_NONE);
    return id;
}

/* Of each column of the weights. */
static net_id sums(struct place *p, const struct net_array *w)
{
    struct net_array *const s = net_array_new(NET_I32, &w->shape[1], 1, NULL);
    for (int64_t k = 0; s && k < w->count; k++)
        ((int32_t *)s->data)[k % w->shape[1]] += ((const int8_t *)w->data)[k];
    return constant(p, s);
}

/* Weights are signed and lie around zero, and the zero point of the others is one for all. */
static bool fits(const struct net_match *m, const struct net_node *node)
{
    if (!net_is(node, "MatMulInteger") || node->inputs < 2 || node->input[0] == NET_NONE ||
        m->model->value[node->input[0]].type != NET_U8)
        return false;
    const struct net_array *const w = net_constant(m, node->input[1]), *const zero_w = net_constant(m, net_input(node, 3));
    const struct net_shape *const x = net_value_shape(m, node->input[0]);
    if (!w || !w->data || w->type != NET_I8 || w->dims != 2 || !x->known || x->dims < 2)
        return false;
    if (net_input(node, 3) != NET_NONE && !zero_w)
        return false;
    for (int64_t k = 0; zero_w && k < zero_w->count; k++)
        if (net_array_integer(zero_w, k) != 0)
            return false;
    if (net_input(node, 2) == NET_NONE)
        return true;
    const struct net_shape *const zero = net_value_shape(m, node->input[2]);
    return zero->known && (zero->dims == 0 || (zero->dims == 1 && zero->dim[0] == 1));
}

static bool change(struct net_match *m, struct net_node *node)
{
    struct place p = {.m = m, .node = node};
    if (!fits(m, node))
        return false;
    const net_id x = node->input[0], w = node->input[1], zero = net_input(node, 2);
    const net_id flip = constant(&p, net_array_of_scalar(NET_U8, MIDDLE, NULL)),
                 middle = constant(&p, net_array_of_scalar(NET_I32, MIDDLE, NULL));
    p.at = m->uses.position[node->output[0]];
    const net_id below = put(&p, "Cast", put(&p, "BitwiseXor", x, flip, NET_U8), NET_NONE, NET_I8);
    const net_id product = put(&p, "MatMulInteger", below, w, NET_I32);
    const net_id shift = zero == NET_NONE ? middle : put(&p, "Sub", middle, put(&p, "Cast", zero, NET_NONE, NET_I32), NET_I32);
    const net_id y = put(&p, "Add", product, put(&p, "Mul", sums(&p, net_constant(m, w)), shift, NET_I32), NET_I32);
    if (m->starved)
        return false;
    net_retire(m, node, y);
    return true;
}

bool net_pass_unsigned(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, change, changes, error);
}
