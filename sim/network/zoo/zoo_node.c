/* Nodes and constants of graphs of the zoo. */
#include "sim/base/splitmix64.h"
#include "sim/network/operators/operator.h"
#include "sim/network/passes/pass.h"
#include "sim/network/zoo/zoo_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int64_t zoo_dim(const struct zoo_build *z, net_id id, int axis)
{
    const struct net_shape *const s = &z->model->value[id].shape;
    const int at = axis < 0 ? axis + (int)s->dims : axis;
    return s->known && at >= 0 && at < (int)s->dims ? s->dim[at] : 0;
}

unsigned zoo_dims(const struct zoo_build *z, net_id id)
{
    return z->model->value[id].shape.dims;
}

/* ---- constants ---- */

static net_id add(struct zoo_build *z, struct net_array *array)
{
    char name[ZOO_NAME];
    snprintf(name, sizeof name, "w%u", z->weights++);
    const net_id id = net_constant_add(z->model, name, array);
    if (array && id == NET_NONE)
        orch_no_memory(z->error);
    return id;
}

/* Sums of so many products of such numbers and numbers near 1 are near 1. */
static void fill_random(struct zoo_build *z, struct net_array *a, int64_t inputs)
{
    const double scale = sqrt(6.0 / (double)(inputs > 0 ? inputs : 1));
    for (int64_t i = 0; i < a->count; i++) {
        const double number = scale * ((double)(splitmix64_next(&z->random) >> 11) * 0x1p-52 - 1);
        net_write_doubles(a->type, a->data, i, 1, &number);
    }
}

net_id zoo_weight(struct zoo_build *z, const int64_t *shape, unsigned dims, int64_t inputs)
{
    struct net_array *const a = (z->options->contents ? net_array_new : net_array_blank)(NET_F32, shape, dims, z->error);
    if (a) {
        z->parameters += (uint64_t)a->count;
        if (z->options->contents)
            fill_random(z, a, inputs);
    }
    return add(z, a);
}

net_id zoo_filled(struct zoo_build *z, int64_t count, double number, bool parameter)
{
    struct net_array *const a = (z->options->contents ? net_array_new : net_array_blank)(NET_F32, &count, 1, z->error);
    for (int64_t i = 0; a && z->options->contents && i < count; i++)
        net_write_doubles(NET_F32, a->data, i, 1, &number);
    z->parameters += parameter ? (uint64_t)count : 0;
    return add(z, a);
}

net_id zoo_scalar(struct zoo_build *z, double number)
{
    return add(z, net_array_of_scalar(NET_F32, number, z->error));
}

net_id zoo_integers(struct zoo_build *z, const int64_t *number, size_t count)
{
    return add(z, net_array_of_integers(NET_I64, number, count, z->error));
}

/* ---- nodes ---- */

struct net_node *zoo_node(struct zoo_build *z, const char *op, const net_id *input, size_t inputs, size_t outputs)
{
    char name[64];
    for (size_t k = 0; k < inputs; k++)
        if (input[k] == NET_NONE && (k == 0 || z->error->exit_code))
            return NULL;
    snprintf(name, sizeof name, "%s_%u", op, z->nodes++);
    struct net_node *const node = net_node_new(name, op, "", inputs, outputs);
    if (!node) {
        orch_no_memory(z->error);
        return NULL;
    }
    memcpy(node->input, input, inputs * sizeof *input);
    node->version = z->model->opset;
    node->row = net_operator_find(op, "");
    for (size_t k = 0; k < outputs; k++) {
        snprintf(name, sizeof name, outputs > 1 ? "%s_%u.%zu" : "%s_%u", op, z->nodes - 1, k);
        node->output[k] = net_value_add(z->model, name);
        if (node->output[k] == NET_NONE) {
            net_node_free(node);
            orch_no_memory(z->error);
            return NULL;
        }
    }
    return node;
}

bool zoo_put(struct zoo_build *z, struct net_node *node)
{
    if (!node)
        return z->error->exit_code ? false : orch_no_memory(z->error);
    z->current = node->output[0];
    return net_graph_insert(z->model->graph, z->model->graph->nodes, node) ? net_infer_one(z->model, node, z->error)
                                                                           : orch_no_memory(z->error);
}

bool zoo_one(struct zoo_build *z, const char *op, net_id x)
{
    return zoo_put(z, zoo_node(z, op, &x, 1, 1));
}

bool zoo_two(struct zoo_build *z, const char *op, net_id a, net_id b)
{
    const net_id input[2] = {a, b};
    return zoo_put(z, zoo_node(z, op, input, 2, 1));
}

bool zoo_reshape(struct zoo_build *z, net_id x, const int64_t *shape, unsigned dims)
{
    return zoo_two(z, "Reshape", x, zoo_integers(z, shape, dims));
}

bool zoo_transpose(struct zoo_build *z, net_id x, const int64_t *order, unsigned dims)
{
    struct net_node *const node = zoo_node(z, "Transpose", &x, 1, 1);
    return zoo_put(z, node && net_set_ints(node, "perm", order, dims) ? node : NULL);
}

bool zoo_slice(struct zoo_build *z, net_id x, int64_t from, int64_t to, int64_t axis)
{
    const net_id input[4] = {x, zoo_integers(z, &from, 1), zoo_integers(z, &to, 1), zoo_integers(z, &axis, 1)};
    return zoo_put(z, zoo_node(z, "Slice", input, 4, 1));
}

bool zoo_linear(struct zoo_build *z, net_id x, int64_t outputs, bool bias)
{
    const int64_t shape[2] = {zoo_dim(z, x, -1), outputs};
    return zoo_two(z, "MatMul", x, zoo_weight(z, shape, 2, shape[0])) &&
           (!bias || zoo_two(z, "Add", z->current, zoo_weight(z, &outputs, 1, 100 * shape[0])));
}
