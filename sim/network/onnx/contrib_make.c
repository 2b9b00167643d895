/* New nodes and constants in the place of a node. */
#include "sim/network/onnx/contrib_internal.h"
#include "sim/network/operators/operator.h"

#include <stdio.h>

net_id contrib_refuse(struct contrib_builder *b, const char *what)
{
    if (b->ok)
        orch_fail(b->error, ORCH_UNMODELLED, "%s is not modelled", what);
    b->ok = false;
    return NET_NONE;
}

static net_id new_value(struct contrib_builder *b)
{
    char name[256];
    snprintf(name, sizeof name, "%.200s.%u", b->from->name, b->made++);
    return net_value_add(b->model, name);
}

/* A node with `outputs` new values, but `to` first where that is not NET_NONE. Missing inputs are left out at the end. */
struct net_node *contrib_node(struct contrib_builder *b, const char *op, const net_id *input, size_t inputs, net_id to,
                              size_t outputs)
{
    char name[256];
    snprintf(name, sizeof name, "%.200s.%s.%u", b->from->name, op, b->made++);
    struct net_node *const n = b->ok ? net_node_new(name, op, "", inputs, outputs) : NULL;
    if (!n) {
        b->ok = b->ok && orch_no_memory(b->error);
        return NULL;
    }
    for (size_t i = 0; i < inputs; i++)
        n->input[i] = input[i];
    for (size_t i = 0; i < outputs; i++)
        n->output[i] = i || to == NET_NONE ? new_value(b) : to;
    n->version = b->model->opset;
    n->row = net_operator_find(op, "");
    b->ok = net_graph_insert(b->graph, b->graph->nodes, n) || orch_no_memory(b->error);
    return b->ok ? n : NULL;
}

net_id contrib_make_into(struct contrib_builder *b, const char *op, net_id to, net_id x, net_id y, net_id z)
{
    const net_id input[] = {x, y, z};
    const struct net_node *const n = contrib_node(b, op, input, z != NET_NONE ? 3 : y != NET_NONE ? 2 : 1, to, 1);
    return n ? n->output[0] : NET_NONE;
}

net_id contrib_make(struct contrib_builder *b, const char *op, net_id x, net_id y)
{
    return contrib_make_into(b, op, NET_NONE, x, y, NET_NONE);
}

net_id contrib_constant(struct contrib_builder *b, struct net_array *array)
{
    char name[256];
    snprintf(name, sizeof name, "%.200s.constant.%u", b->from->name, b->made++);
    if (!array) {
        b->ok = false;
        return NET_NONE;
    }
    return net_constant_add(b->model, name, array);
}

net_id contrib_integers(struct contrib_builder *b, const int64_t *value, size_t count)
{
    return contrib_constant(b, b->ok ? net_array_of_integers(NET_I64, value, count, b->error) : NULL);
}

net_id contrib_integer(struct contrib_builder *b, int64_t value)
{
    struct net_array *const a = b->ok ? net_array_new(NET_I64, NULL, 0, b->error) : NULL;
    if (a)
        *(int64_t *)a->data = value;
    return contrib_constant(b, a);
}

net_id contrib_number(struct contrib_builder *b, enum net_type type, double value)
{
    return contrib_constant(b, b->ok ? net_array_of_scalar(type, value, b->error) : NULL);
}

net_id contrib_reshape(struct contrib_builder *b, net_id to, net_id x, const int64_t *shape, size_t dims)
{
    return contrib_make_into(b, "Reshape", to, x, contrib_integers(b, shape, dims), NET_NONE);
}

net_id contrib_turn(struct contrib_builder *b, net_id x)
{
    static const int64_t middle[] = {0, 2, 1, 3};
    struct net_node *const n = contrib_node(b, "Transpose", &x, 1, NET_NONE, 1);
    b->ok = n && (net_set_ints(n, "perm", middle, 4) || orch_no_memory(b->error));
    return b->ok ? n->output[0] : NET_NONE;
}

net_id contrib_join(struct contrib_builder *b, net_id to, net_id x, net_id y, int64_t axis)
{
    const net_id both[] = {x, y};
    struct net_node *const n = contrib_node(b, "Concat", both, 2, to, 1);
    b->ok = n && (net_set_int(n, "axis", axis) || orch_no_memory(b->error));
    return b->ok ? n->output[0] : NET_NONE;
}

/* Parts of the last dimension. */
bool contrib_cut(struct contrib_builder *b, net_id x, const int64_t *size, size_t parts, net_id *part)
{
    const net_id input[] = {x, contrib_integers(b, size, parts)};
    struct net_node *const n = contrib_node(b, "Split", input, 2, NET_NONE, parts);
    b->ok = n && (net_set_int(n, "axis", -1) || orch_no_memory(b->error));
    for (size_t i = 0; i < parts; i++)
        part[i] = b->ok ? n->output[i] : NET_NONE;
    return b->ok;
}

net_id contrib_unsqueeze(struct contrib_builder *b, net_id x, int64_t axis)
{
    return contrib_make(b, "Unsqueeze", x, contrib_integers(b, &axis, 1));
}

/* A dimension as a number. */
net_id contrib_length_of(struct contrib_builder *b, net_id x, int64_t dim)
{
    return contrib_make(b, "Gather", contrib_make(b, "Shape", x, NET_NONE), contrib_integer(b, dim));
}

int64_t contrib_last_dim(const struct contrib_builder *b, net_id id)
{
    const struct net_shape *const s = &b->model->value[id].shape;
    return s->known && s->dims ? s->dim[s->dims - 1] : NET_UNKNOWN;
}

bool contrib_has_output(const struct contrib_builder *b, size_t k)
{
    return net_output(b->from, k) != NET_NONE;
}
