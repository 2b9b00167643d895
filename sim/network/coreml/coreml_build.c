/* Making nodes. Shapes are inferred as nodes are made, since what a layer becomes may hang on the ranks of its inputs, and small
 * nodes on constants are computed at once, since conditions of loops and shapes must be known. */
#include "sim/network/coreml/coreml_internal.h"
#include "sim/network/operators/run.h"
#include "sim/network/passes/pass.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1 << 20, FOLDED_ELEMENTS_MAX = 1 << 12, OPERANDS_MAX = 16 };

net_id coreml_fail(struct coreml *c, int code, const char *format, ...)
{
    char text[300];
    va_list list;
    if (c->failed)
        return NET_NONE;
    c->failed = true;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    orch_fail(c->error, code, "%s%s%s", c->place, c->place[0] ? ": " : "", text);
    return NET_NONE;
}

bool coreml_holds(struct coreml *c)
{
    if (c->wire.damage)
        coreml_fail(c, ORCH_USAGE, "byte %zu: %s", c->wire.damaged_at, c->wire.damage);
    return !c->failed;
}

void coreml_enter(struct coreml *c, const char *kind, const char *name, const char *type)
{
    snprintf(c->place, sizeof c->place, "%s '%.120s' (%.60s)", kind, name, type);
    snprintf(c->name, sizeof c->name, "%s", name);
    c->made = 0;
}

static net_id no_memory(struct coreml *c)
{
    if (!c->failed)
        orch_no_memory(c->error);
    c->failed = true;
    return NET_NONE;
}

void coreml_rename(struct coreml *c, net_id id, struct pb name, size_t first)
{
    char text[COREML_TEXT];
    if (c->failed || id < first || c->model->value[id].constant)
        return;
    char *const copy = strdup(pb_copy(name, text, sizeof text));
    if (!copy) {
        no_memory(c);
        return;
    }
    free(c->model->value[id].name);
    c->model->value[id].name = copy;
    const struct net_graph *const g = c->model->graph;
    for (size_t k = g->nodes; k-- > 0 && g->nodes - k <= c->made;)
        if (g->node[k]->output[0] == id) {
            char *const title = strdup(copy);
            free(title ? g->node[k]->name : NULL);
            g->node[k]->name = title ? title : g->node[k]->name;
            return;
        }
}

/* ---- nodes ---- */

struct net_node *coreml_node(struct coreml *c, const char *op, size_t outputs, const net_id *in, size_t inputs)
{
    char name[COREML_TEXT + 16];
    if (c->failed)
        return NULL;
    snprintf(name, sizeof name, c->made ? "%s.%zu" : "%s", c->name, c->made);
    struct net_node *const node = net_node_new(name, op, "", inputs, outputs);
    if (!node) {
        no_memory(c);
        return NULL;
    }
    node->version = 21;
    node->row = net_operator_find(op, "");
    memcpy(node->input, in, inputs * sizeof *in);
    return node;
}

static void keep(struct coreml *c, const struct net_node *node, bool set)
{
    if (node && !set)
        no_memory(c);
}

void coreml_set_int(struct coreml *c, struct net_node *node, const char *name, int64_t value)
{
    keep(c, node, node && net_set_int(node, name, value));
}

void coreml_set_real(struct coreml *c, struct net_node *node, const char *name, double value)
{
    keep(c, node, node && net_set_real(node, name, value));
}

void coreml_set_text(struct coreml *c, struct net_node *node, const char *name, const char *value)
{
    keep(c, node, node && net_set_text(node, name, value));
}

void coreml_set_ints(struct coreml *c, struct net_node *node, const char *name, const int64_t *value, size_t count)
{
    keep(c, node, node && net_set_ints(node, name, value, count));
}

static bool is_small(const struct net_model *model, const struct net_node *node)
{
    int64_t elements = 0;
    for (size_t k = 0; k < node->inputs + node->outputs; k++) {
        const net_id id = k < node->inputs ? node->input[k] : node->output[k - node->inputs];
        const struct net_value *const v = id == NET_NONE ? NULL : &model->value[id];
        if (v && (!net_shape_complete(&v->shape) || (k < node->inputs && !v->constant)))
            return false;
        const int64_t count = v ? net_product(&v->shape, 0, v->shape.dims) : 0;
        if (count < 0 || count > FOLDED_ELEMENTS_MAX)
            return false;
        elements += count;
    }
    return elements <= FOLDED_ELEMENTS_MAX;
}

/* Whether the node's results became constants. */
static bool compute_now(struct coreml *c, const struct net_node *node)
{
    struct net_array *in[OPERANDS_MAX], *out[OPERANDS_MAX] = {NULL};
    struct orch_error ignored;
    if (!node->row->evaluate || node->inputs > OPERANDS_MAX || node->outputs > OPERANDS_MAX || !is_small(c->model, node))
        return false;
    for (size_t k = 0; k < node->inputs; k++)
        in[k] = node->input[k] == NET_NONE ? NULL : c->model->value[node->input[k]].constant;
    if (!net_evaluate_node(node, in, out, NULL, &ignored))
        return false;
    for (size_t k = 0; k < node->outputs; k++) {
        struct net_value *const v = &c->model->value[node->output[k]];
        v->constant = out[k];
        v->type = out[k]->type;
        v->shape = net_shape_of(out[k]->shape, out[k]->dims);
    }
    return true;
}

static bool name_outputs(struct coreml *c, struct net_node *node)
{
    for (size_t k = 0; k < node->outputs; k++) {
        char name[COREML_TEXT + 16];
        snprintf(name, sizeof name, "%s.%zu", c->name, c->made++);
        node->output[k] = net_value_add(c->model, name);
        if (node->output[k] == NET_NONE)
            return false;
    }
    return true;
}

net_id coreml_add(struct coreml *c, struct net_node *node, net_id *out)
{
    struct orch_error error = {0};
    for (size_t k = 0; out && node && k < node->outputs; k++)
        out[k] = NET_NONE;
    if (!node || c->failed || ++c->nodes > NODES_MAX) {
        if (node && !c->failed)
            coreml_fail(c, ORCH_USAGE, "too many nodes");
        net_node_free(node);
        return NET_NONE;
    }
    if (!node->row || !name_outputs(c, node)) {
        net_node_free(node);
        return no_memory(c);
    }
    if (!net_infer_one(c->model, node, &error)) {
        coreml_fail(c, error.exit_code, "%s", error.text);
        net_node_free(node);
        return NET_NONE;
    }
    const net_id first = node->output[0];
    for (size_t k = 0; out && k < node->outputs; k++)
        out[k] = node->output[k];
    if (compute_now(c, node))
        net_node_free(node);
    else if (!net_graph_insert(c->model->graph, c->model->graph->nodes, node))
        return no_memory(c);
    return first;
}

/* ---- constants ---- */

net_id coreml_constant(struct coreml *c, struct net_array *array)
{
    char name[COREML_TEXT + 16];
    if (!array || c->failed) {
        net_array_release(array);
        c->failed = true;
        return NET_NONE;
    }
    snprintf(name, sizeof name, "%s.%zu", c->name, c->made++);
    const net_id id = net_constant_add(c->model, name, array);
    return id == NET_NONE ? no_memory(c) : id;
}

net_id coreml_number(struct coreml *c, double number)
{
    return c->failed ? NET_NONE : coreml_constant(c, net_array_of_scalar(NET_F32, number, c->error));
}

net_id coreml_ints(struct coreml *c, const int64_t *number, size_t count)
{
    return c->failed ? NET_NONE : coreml_constant(c, net_array_of_integers(NET_I64, number, count, c->error));
}

/* ---- nodes of a kind ---- */

net_id coreml_one(struct coreml *c, const char *op, net_id x)
{
    return coreml_add(c, coreml_node(c, op, 1, &x, 1), NULL);
}

net_id coreml_two(struct coreml *c, const char *op, net_id x, net_id y)
{
    return coreml_add(c, coreml_node(c, op, 1, (const net_id[]){x, y}, 2), NULL);
}

net_id coreml_scaled(struct coreml *c, net_id x, double scale, double shift)
{
    if (scale == -1)
        x = coreml_one(c, "Neg", x);
    else if (scale != 1)
        x = coreml_two(c, "Mul", x, coreml_number(c, scale));
    return shift != 0 ? coreml_two(c, "Add", x, coreml_number(c, shift)) : x;
}

net_id coreml_axis(struct coreml *c, const char *op, net_id x, int64_t axis)
{
    struct net_node *const node = coreml_node(c, op, 1, &x, 1);
    coreml_set_int(c, node, "axis", axis);
    return coreml_add(c, node, NULL);
}

net_id coreml_reshape(struct coreml *c, net_id x, const int64_t *shape, size_t dims)
{
    return coreml_two(c, "Reshape", x, coreml_ints(c, shape, dims));
}

net_id coreml_transpose(struct coreml *c, net_id x, const int64_t *order, size_t dims)
{
    struct net_node *const node = coreml_node(c, "Transpose", 1, &x, 1);
    coreml_set_ints(c, node, "perm", order, dims);
    return coreml_add(c, node, NULL);
}

net_id coreml_axes(struct coreml *c, const char *op, net_id x, const int64_t *axes, size_t count)
{
    return coreml_two(c, op, x, coreml_ints(c, axes, count));
}

net_id coreml_cast(struct coreml *c, net_id x, enum net_type type)
{
    static const int64_t onnx[NET_TYPES] = {[NET_F32] = 1, [NET_I32] = 6, [NET_I64] = 7, [NET_BOOL] = 9, [NET_F16] = 10};
    if (c->failed || x == NET_NONE || c->model->value[x].type == type)
        return x;
    struct net_node *const node = coreml_node(c, "Cast", 1, &x, 1);
    coreml_set_int(c, node, "to", onnx[type]);
    return coreml_add(c, node, NULL);
}

net_id coreml_clip(struct coreml *c, net_id x, double low, double high)
{
    const net_id in[3] = {x, isinf(low) ? NET_NONE : coreml_number(c, low), isinf(high) ? NET_NONE : coreml_number(c, high)};
    return coreml_add(c, coreml_node(c, "Clip", 1, in, 3), NULL);
}

net_id coreml_slice(struct coreml *c, net_id x, int64_t axis, int64_t from, int64_t to, int64_t step)
{
    const net_id in[5] = {x, coreml_ints(c, &from, 1), coreml_ints(c, &to, 1), coreml_ints(c, &axis, 1),
                          coreml_ints(c, &step, 1)};
    return coreml_add(c, coreml_node(c, "Slice", 1, in, 5), NULL);
}

net_id coreml_reduce(struct coreml *c, const char *op, net_id x, const int64_t *axes, size_t count, bool keep_dims)
{
    const net_id in[2] = {x, axes ? coreml_ints(c, axes, count) : NET_NONE};
    struct net_node *const node = coreml_node(c, op, 1, in, axes ? 2 : 1);
    coreml_set_int(c, node, "keepdims", keep_dims);
    return coreml_add(c, node, NULL);
}

net_id coreml_resize(struct coreml *c, net_id x, const char *mode, const char *where, const int64_t *size)
{
    int64_t sizes[NET_DIMS_MAX];
    const unsigned rank = coreml_rank(c, x);
    for (unsigned d = 0; d < rank; d++)
        sizes[d] = d + 2 < rank ? coreml_dim(c, x, d) : size[d + 2 - rank];
    const net_id in[4] = {x, NET_NONE, NET_NONE, coreml_ints(c, sizes, rank)};
    struct net_node *const node = coreml_node(c, "Resize", 1, in, 4);
    coreml_set_text(c, node, "mode", mode);
    coreml_set_text(c, node, "coordinate_transformation_mode", where);
    if (strcmp(mode, "nearest") == 0)
        coreml_set_text(c, node, "nearest_mode", "floor");
    return coreml_add(c, node, NULL);
}

net_id coreml_pooled(struct coreml *c, net_id x, const struct coreml_pool *pool)
{
    double area = 1;
    for (unsigned d = 0; d < pool->dims; d++)
        area *= (double)pool->kernel[d];
    if (pool->kind == 2)
        x = coreml_two(c, "Mul", x, x);
    struct net_node *const node = coreml_node(c, pool->kind == 0 ? "MaxPool" : "AveragePool", 1, &x, 1);
    coreml_set_ints(c, node, "kernel_shape", pool->kernel, pool->dims);
    coreml_set_ints(c, node, "strides", pool->stride, pool->dims);
    if (pool->automatic)
        coreml_set_text(c, node, "auto_pad", pool->automatic);
    else
        coreml_set_ints(c, node, "pads", pool->pad, 2 * pool->dims);
    coreml_set_int(c, node, "ceil_mode", pool->ceil);
    if (pool->kind)
        coreml_set_int(c, node, "count_include_pad", pool->kind == 2 || !pool->skips_padding);
    x = coreml_add(c, node, NULL);
    return pool->kind == 2 ? coreml_one(c, "Sqrt", coreml_two(c, "Mul", x, coreml_number(c, area))) : x;
}

/* ---- what is known of values ---- */

unsigned coreml_rank(struct coreml *c, net_id x)
{
    if (c->failed || x == NET_NONE)
        return coreml_fail(c, ORCH_USAGE, "an input is missing"), 0;
    const struct net_shape *const s = &c->model->value[x].shape;
    if (!s->known)
        return coreml_fail(c, ORCH_UNMODELLED, "the rank of '%.80s' is not known", c->model->value[x].name), 0;
    return s->dims;
}

int64_t coreml_dim(struct coreml *c, net_id x, int64_t axis)
{
    const int64_t rank = coreml_rank(c, x), at = axis < 0 ? axis + rank : axis;
    if (!c->failed && (at < 0 || at >= rank))
        coreml_fail(c, ORCH_USAGE, "axis %lld of an array of %lld dimensions", (long long)axis, (long long)rank);
    const int64_t dim = c->failed ? 1 : c->model->value[x].shape.dim[at];
    if (dim < 0)
        coreml_fail(c, ORCH_UNMODELLED, "dimension %lld of '%.80s' is not known", (long long)at, c->model->value[x].name);
    return dim < 0 ? 1 : dim;
}

bool coreml_integers_of(const struct coreml *c, net_id x, int64_t *list, size_t room, size_t *count)
{
    const struct net_array *const a = x == NET_NONE ? NULL : c->model->value[x].constant;
    if (!a || net_type_is_float(a->type) || a->count > (int64_t)room)
        return false;
    net_read_integers(a->type, a->data, 0, 1, (size_t)a->count, list);
    *count = (size_t)a->count;
    return true;
}
