/* Types and shapes of all values, from those of the inputs. */
#include "sim/network/operators/operator.h"
#include "sim/network/passes/pass.h"

#include <stdlib.h>
#include <string.h>

static bool infer_graph(struct net_model *model, struct net_graph *graph, struct orch_error *error);

static void bind(const struct net_model *model, struct net_shape *shape)
{
    for (unsigned d = 0; shape->known && d < shape->dims; d++)
        shape->dim[d] = net_dim_bound(model, shape->dim[d]);
}

static struct net_fact fact_of(const struct net_model *model, net_id id)
{
    if (id == NET_NONE)
        return (struct net_fact){.type = NET_TYPES};
    const struct net_value *const v = &model->value[id];
    return (struct net_fact){.present = true, .type = v->type, .shape = v->shape, .constant = v->constant};
}

/* What holds for both: dimensions that differ are unknown. */
static struct net_shape common(const struct net_shape *a, const struct net_shape *b)
{
    struct net_shape s = *a;
    s.known = a->known && b->known && a->dims == b->dims;
    for (unsigned d = 0; s.known && d < s.dims; d++)
        if (a->dim[d] != b->dim[d])
            s.dim[d] = NET_UNKNOWN;
    return s;
}

static bool same_shape(const struct net_shape *a, const struct net_shape *b)
{
    return a->known == b->known && (!a->known || (a->dims == b->dims && memcmp(a->dim, b->dim, a->dims * sizeof *a->dim) == 0));
}

/* ---- subgraphs ---- */

static bool infer_if(struct net_model *model, struct net_node *node, struct orch_error *error)
{
    struct net_graph *const a = net_attr_graph(node, "then_branch"), *const b = net_attr_graph(node, "else_branch");
    if (!a || !b || a->outputs != node->outputs || b->outputs != node->outputs)
        return orch_fail(error, ORCH_USAGE, "branches that do not fit the outputs");
    const net_id condition = net_input(node, 0);
    const struct net_array *const known = condition == NET_NONE ? NULL : model->value[condition].constant;
    bool only_a = known && known->count == 1 && net_array_integer(known, 0), only_b = known && known->count == 1 && !only_a;
    /* A branch that is not taken need not make sense for these shapes; one that is says so when it is run. */
    struct orch_error ignored;
    const bool a_holds = !only_b && infer_graph(model, a, only_a ? error : &ignored);
    const bool b_holds = !only_a && infer_graph(model, b, a_holds ? &ignored : error);
    if (!a_holds && !b_holds)
        return false;
    only_a = !b_holds;
    only_b = !a_holds;
    for (size_t k = 0; k < node->outputs; k++) {
        if (node->output[k] == NET_NONE)
            continue;
        const struct net_value *const x = &model->value[a->output[k]], *const y = &model->value[b->output[k]];
        struct net_value *const v = &model->value[node->output[k]];
        v->type = only_a || x->type == y->type ? x->type : only_b ? y->type : NET_TYPES;
        v->shape = only_a ? x->shape : only_b ? y->shape : common(&x->shape, &y->shape);
    }
    return true;
}

/* Of a Loop (two inputs and one result before what is carried) or Scan (none): carried values may change shape on the way. */
static bool infer_loop(struct net_model *model, struct net_node *node, size_t before, size_t carried, struct orch_error *error)
{
    struct net_graph *const body = net_attr_graph(node, "body");
    const size_t results = before ? 1 : 0;
    int64_t length = NET_UNKNOWN; /* of a scan */
    if (!body || body->inputs != node->inputs || body->outputs < results + carried || node->outputs > body->outputs - results)
        return orch_fail(error, ORCH_USAGE, "a body that does not fit");
    for (size_t k = 0; k < body->inputs; k++) {
        struct net_value *const v = &model->value[body->input[k]];
        const struct net_fact given = fact_of(model, node->input[k]);
        if (k < before) {
            v->type = k == 0 ? NET_I64 : NET_BOOL;
            v->shape = (struct net_shape){.known = true};
            continue;
        }
        v->type = given.type != NET_TYPES ? given.type : v->type;
        v->shape = given.shape;
        if (!before && k >= carried && v->shape.known && v->shape.dims) {
            const int64_t axis = net_scan_axis(node, false, k - carried, v->shape.dims);
            if (axis < 0 || axis >= v->shape.dims)
                return orch_fail(error, ORCH_USAGE, "an input to scan without that axis");
            length = v->shape.dim[axis];
            v->shape.dims--;
            memmove(v->shape.dim + axis, v->shape.dim + axis + 1, (size_t)(v->shape.dims - axis) * sizeof *v->shape.dim);
        }
    }
    bool again = true;
    for (unsigned round = 0; again; round++) {
        again = false;
        if (!infer_graph(model, body, error))
            return false;
        for (size_t k = 0; k < carried; k++) {
            struct net_value *const v = &model->value[body->input[before + k]];
            struct net_shape both = common(&v->shape, &model->value[body->output[results + k]].shape);
            if (round > 0 && !same_shape(&both, &v->shape))
                both.known = false; /* nested loops would double the rounds at every depth */
            again = again || !same_shape(&both, &v->shape);
            v->shape = both;
        }
    }
    for (size_t k = 0; k < node->outputs; k++) {
        if (node->output[k] == NET_NONE)
            continue;
        const struct net_value *const from = &model->value[body->output[results + k]];
        struct net_value *const v = &model->value[node->output[k]];
        v->type = from->type;
        v->shape = from->shape;
        if (k < carried || !v->shape.known)
            continue;
        if (v->shape.dims == NET_DIMS_MAX)
            return orch_fail(error, ORCH_USAGE, "too many dimensions");
        const int64_t axis = before ? 0 : net_scan_axis(node, true, k - carried, v->shape.dims + 1);
        if (axis < 0 || axis > v->shape.dims)
            return orch_fail(error, ORCH_USAGE, "a result of a scan without that axis");
        memmove(v->shape.dim + axis + 1, v->shape.dim + axis, (size_t)(v->shape.dims++ - axis) * sizeof *v->shape.dim);
        v->shape.dim[axis] = length;
    }
    return true;
}

static bool infer_control(struct net_model *model, struct net_node *node, struct orch_error *error)
{
    if (strcmp(node->op, "If") == 0)
        return infer_if(model, node, error);
    if (strcmp(node->op, "Loop") == 0)
        return infer_loop(model, node, 2, node->inputs < 2 ? 0 : node->inputs - 2, error);
    const int64_t scans = net_attr_int(node, "num_scan_inputs", 0);
    if (node->version < 9)
        return true; /* the reference refuses it when it is run */
    if (scans < 1 || scans > (int64_t)node->inputs)
        return orch_fail(error, ORCH_USAGE, "%lld inputs to scan", (long long)scans);
    return infer_loop(model, node, 0, node->inputs - (size_t)scans, error);
}

/* ---- nodes ---- */

static bool infer_plain(struct net_model *model, const struct net_node *node, struct orch_error *error)
{
    struct net_fact *const fact = calloc(node->inputs + node->outputs + 1, sizeof *fact), *const out = fact + node->inputs;
    if (!fact)
        return orch_no_memory(error);
    for (size_t k = 0; k < node->inputs; k++)
        fact[k] = fact_of(model, node->input[k]);
    for (size_t k = 0; k < node->outputs; k++)
        out[k] = (struct net_fact){.present = node->output[k] != NET_NONE, .type = NET_TYPES};
    struct net_infer infer = {node, fact, node->inputs, out, node->outputs, error};
    const bool ok = net_infer_node(&infer);
    for (size_t k = 0; ok && k < node->outputs; k++) {
        if (!out[k].present || model->value[node->output[k]].constant)
            continue;
        model->value[node->output[k]].type = out[k].type;
        model->value[node->output[k]].shape = out[k].shape;
    }
    free(fact);
    return ok;
}

bool net_infer_one(struct net_model *model, struct net_node *node, struct orch_error *error)
{
    char title[256];
    if (!node->row)
        return true;
    if (!node->row->impure)
        return infer_plain(model, node, error);
    return infer_control(model, node, error) || orch_fail_in(error, "%s", net_node_title(node, title, sizeof title));
}

static bool infer_graph(struct net_model *model, struct net_graph *graph, struct orch_error *error)
{
    for (size_t i = 0; i < graph->nodes; i++)
        if (!net_infer_one(model, graph->node[i], error))
            return false;
    return true;
}

/* What reads the outputs goes by what the file says of them. */
static bool check_outputs(const struct net_model *model, struct orch_error *error)
{
    for (size_t k = 0; k < model->graph->outputs; k++) {
        const struct net_value *const v = &model->value[model->graph->output[k]];
        if (v->declared != NET_TYPES && v->type != NET_TYPES && v->declared != v->type)
            return orch_fail(error, ORCH_USAGE, "output '%.80s' is %s by its declaration, and %s by the node that computes it",
                             v->name, net_type_name(v->declared), net_type_name(v->type));
    }
    return true;
}

bool net_infer_shapes(struct net_model *model, struct orch_error *error)
{
    for (size_t k = 0; k < model->graph->inputs; k++)
        bind(model, &model->value[model->graph->input[k]].shape);
    return infer_graph(model, model->graph, error) && check_outputs(model, error);
}
