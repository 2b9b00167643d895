#include "sim/network/onnx/parts.h"

#include "sim/network/operators/operator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void starve(struct onnx_parts *p)
{
    if (!p->failed)
        orch_no_memory(p->error);
    p->failed = true;
}

void onnx_part_refuse(struct onnx_parts *p, int exit_code, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!p->failed)
        orch_fail(p->error, exit_code, "%s", text);
    p->failed = true;
}

static const char *name_part(struct onnx_parts *p, char *text, size_t size)
{
    snprintf(text, size, "%.150s.%u", p->of->name, p->made++);
    return text;
}

/* ---- nodes ---- */

/* A dot in front means an operator that passes make. */
static struct net_node *node_of(struct onnx_parts *p, const char *op, const net_id *in, size_t inputs, size_t outputs)
{
    char name[192];
    const bool own = *op == '.';
    if (p->failed)
        return NULL;
    struct net_node *const node = net_node_new(name_part(p, name, sizeof name), op + own, own ? "orchard" : "", inputs, outputs);
    if (!node || !net_graph_insert(p->graph, p->graph->nodes, node)) {
        starve(p);
        return NULL;
    }
    memcpy(node->input, in, inputs * sizeof *in);
    node->version = p->of->version;
    node->row = net_operator_find(node->op, node->domain);
    for (size_t k = 0; k < outputs; k++) {
        snprintf(name, sizeof name, outputs > 1 ? "%.150s.%u.%zu" : "%.150s.%u", p->of->name, p->made - 1, k);
        node->output[k] = net_value_add(p->model, name);
        if (node->output[k] == NET_NONE)
            starve(p);
    }
    p->last = node;
    return p->failed ? NULL : node;
}

net_id onnx_part(struct onnx_parts *p, const char *op, const net_id *in, size_t inputs)
{
    const struct net_node *const node = node_of(p, op, in, inputs, 1);
    return node ? node->output[0] : NET_NONE;
}

bool onnx_part_outputs(struct onnx_parts *p, const char *op, const net_id *in, size_t inputs, net_id *to, size_t outputs)
{
    const struct net_node *const node = node_of(p, op, in, inputs, outputs);
    for (size_t k = 0; k < outputs; k++)
        to[k] = node ? node->output[k] : NET_NONE;
    return node != NULL;
}

bool onnx_part_split(struct onnx_parts *p, net_id x, const int64_t *length, size_t count, net_id *to)
{
    const net_id in[2] = {x, onnx_part_ints(p, length, count)};
    const bool ok = onnx_part_outputs(p, "Split", in, 2, to, count);
    onnx_part_int(p, "axis", -1);
    return ok;
}

void onnx_part_int(struct onnx_parts *p, const char *name, int64_t value)
{
    if (!p->failed && !net_set_int(p->last, name, value))
        starve(p);
}

void onnx_part_real(struct onnx_parts *p, const char *name, double value)
{
    if (!p->failed && !net_set_real(p->last, name, value))
        starve(p);
}

void onnx_part_text(struct onnx_parts *p, const char *name, const char *value)
{
    if (!p->failed && !net_set_text(p->last, name, value))
        starve(p);
}

void onnx_part_copy(struct onnx_parts *p, const char *const *name, size_t count)
{
    for (size_t k = 0; k < count && !p->failed; k++) {
        const struct net_attribute *const a = net_attribute(p->of, name[k]);
        const bool ok = !a                         ? true
                        : a->kind == NET_ATTR_INT  ? net_set_int(p->last, name[k], a->integer)
                        : a->kind == NET_ATTR_REAL ? net_set_real(p->last, name[k], a->real)
                        : a->kind == NET_ATTR_TEXT ? net_set_text(p->last, name[k], a->text)
                        : a->kind == NET_ATTR_INTS ? net_set_ints(p->last, name[k], a->integers, a->count)
                                                   : true;
        if (!ok)
            starve(p);
    }
}

/* ---- constants ---- */

net_id onnx_part_array(struct onnx_parts *p, struct net_array *array)
{
    char name[192];
    if (!array || p->failed) {
        net_array_release(array);
        p->failed = true; /* whoever made the array has said why */
        return NET_NONE;
    }
    const net_id id = net_constant_add(p->model, name_part(p, name, sizeof name), array);
    if (id == NET_NONE)
        starve(p);
    return id;
}

net_id onnx_part_ints(struct onnx_parts *p, const int64_t *value, size_t count)
{
    return p->failed ? NET_NONE : onnx_part_array(p, net_array_of_integers(NET_I64, value, count, p->error));
}

net_id onnx_part_integer(struct onnx_parts *p, int64_t value)
{
    struct net_array *const array = p->failed ? NULL : net_array_new(NET_I64, NULL, 0, p->error);
    if (array)
        net_write_integers(NET_I64, array->data, 0, 1, &value);
    return onnx_part_array(p, array);
}

/* Files keep their weights in the type that they compute in. */
net_id onnx_part_number(struct onnx_parts *p, double value)
{
    enum net_type type = NET_F32;
    for (size_t k = p->of->inputs; k-- > 0;) {
        const enum net_type own = onnx_part_type(p, p->of->input[k]);
        if (own != NET_TYPES && net_type_is_float(own))
            type = own;
    }
    return p->failed ? NET_NONE : onnx_part_array(p, net_array_of_scalar(type, value, p->error));
}

/* ---- what is often needed ---- */

net_id onnx_part_reshape(struct onnx_parts *p, net_id x, const int64_t *shape, size_t dims)
{
    return ONNX_PART(p, "Reshape", x, onnx_part_ints(p, shape, dims));
}

net_id onnx_part_turn(struct onnx_parts *p, net_id x, const int64_t *order, size_t dims)
{
    const net_id y = ONNX_PART(p, "Transpose", x);
    if (!p->failed && !net_set_ints(p->last, "perm", order, dims))
        starve(p);
    return y;
}

net_id onnx_part_slice(struct onnx_parts *p, net_id x, int64_t from, int64_t to, int64_t axis)
{
    return ONNX_PART(p, "Slice", x, onnx_part_ints(p, &from, 1), onnx_part_ints(p, &to, 1), onnx_part_ints(p, &axis, 1));
}

net_id onnx_part_length(struct onnx_parts *p, net_id x, int64_t axis)
{
    return onnx_part_slice(p, ONNX_PART(p, "Shape", x), axis, axis == -1 ? INT64_MAX : axis + 1, 0);
}

/* ---- the node ---- */

net_id onnx_part_in(const struct onnx_parts *p, size_t input)
{
    return net_input(p->of, input);
}

bool onnx_part_wanted(const struct onnx_parts *p, size_t output)
{
    return net_output(p->of, output) != NET_NONE;
}

static bool made_here(const struct onnx_parts *p, net_id value)
{
    for (size_t k = p->first; k < p->graph->nodes; k++)
        for (size_t o = 0; o < p->graph->node[k]->outputs; o++)
            if (p->graph->node[k]->output[o] == value)
                return true;
    return false;
}

void onnx_part_give(struct onnx_parts *p, size_t output, net_id value)
{
    const net_id to = net_output(p->of, output);
    if (p->failed || to == NET_NONE)
        return;
    if (!made_here(p, value)) { /* what the node was given, or a constant */
        value = ONNX_PART(p, "Identity", value);
        if (p->failed)
            return;
    }
    for (size_t k = p->first; k < p->graph->nodes; k++) {
        struct net_node *const node = p->graph->node[k];
        for (size_t i = 0; i < node->inputs; i++)
            node->input[i] = node->input[i] == value ? to : node->input[i];
        for (size_t o = 0; o < node->outputs; o++)
            node->output[o] = node->output[o] == value ? to : node->output[o];
    }
}

enum net_type onnx_part_type(const struct onnx_parts *p, net_id value)
{
    return value == NET_NONE ? NET_TYPES : p->model->value[value].type;
}

const struct net_array *onnx_part_constant(const struct onnx_parts *p, net_id value)
{
    return value == NET_NONE ? NULL : p->model->value[value].constant;
}

unsigned onnx_part_dims(const struct onnx_parts *p, net_id value, unsigned otherwise)
{
    return value != NET_NONE && p->model->value[value].shape.known ? p->model->value[value].shape.dims : otherwise;
}
