#include "sim/run/network/run_network_node.h"

#include "sim/network/cost.h"
#include "sim/network/operators/run.h"
#include "sim/network/passes/pass.h"

#include <stdlib.h>
#include <string.h>

bool run_network_is_control(const struct net_node *node)
{
    return strcmp(node->op, "If") == 0 || strcmp(node->op, "Loop") == 0 || strcmp(node->op, "Scan") == 0;
}

bool run_network_in_halves(const struct run_network *n)
{
    const char *const precision = n->request->precision;
    return n->mixed || n->part == PART_ANE || (precision && strcmp(precision, "f16") == 0);
}

bool run_network_may_skip(struct net_array *const *out, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (out[k] && !net_type_is_float(out[k]->type))
            return false;
    return true;
}

bool run_network_fill(const struct net_node *node, struct net_array *const *in, struct net_array *const *out,
                      struct orch_error *error)
{
    struct net_array **const own = calloc(node->outputs + 1, sizeof(*own));
    const bool ok = own ? net_evaluate_node(node, in, own, NULL, error) : orch_no_memory(error);
    for (size_t k = 0; ok && k < node->outputs; k++)
        if (own[k] && out[k] && !net_type_is_float(out[k]->type) && net_array_bytes(own[k]) == net_array_bytes(out[k]))
            memcpy(out[k]->data, own[k]->data, net_array_bytes(own[k]));
    if (ok)
        run_network_drop(own, node->outputs);
    free(own);
    return ok;
}

bool run_network_needs_unit(const struct net_model *model, const struct net_node *node)
{
    for (size_t k = 0; k < node->inputs; k++) {
        const struct net_value *const v = node->input[k] == NET_NONE ? NULL : &model->value[node->input[k]];
        if (v && !v->constant && v->type != NET_TYPES && net_type_is_float(v->type))
            return true;
    }
    return false;
}

void run_network_drop(struct net_array **out, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        net_array_release(out[k]);
        out[k] = NULL;
    }
}

static struct net_fact fact_of(const struct net_array *array)
{
    if (!array)
        return (struct net_fact){.type = NET_TYPES};
    return (struct net_fact){
        .present = true, .type = array->type, .shape = net_shape_of(array->shape, array->dims), .constant = array};
}

bool run_network_make(const struct net_node *node, struct net_array *const *in, bool blank, struct net_array **out)
{
    struct orch_error unused = {0};
    struct net_fact *const fact = calloc(node->inputs + node->outputs + 1, sizeof *fact), *const facts = fact + node->inputs;
    struct net_infer infer = {node, fact, node->inputs, facts, node->outputs, &unused};
    bool ok = fact != NULL;
    for (size_t k = 0; ok && k < node->inputs; k++)
        fact[k] = fact_of(in[k]);
    for (size_t k = 0; ok && k < node->outputs; k++)
        facts[k] = (struct net_fact){.present = node->output[k] != NET_NONE, .type = NET_TYPES};
    ok = ok && net_infer_node(&infer);
    for (size_t k = 0; ok && k < node->outputs; k++) {
        const struct net_fact *const f = &facts[k];
        if (!f->present)
            continue;
        if (f->type != NET_TYPES && net_shape_complete(&f->shape))
            out[k] = (blank && net_type_is_float(f->type) ? net_array_blank : net_array_new)(f->type, f->shape.dim, f->shape.dims,
                                                                                             &unused);
        ok = out[k] != NULL;
    }
    free(fact);
    return ok;
}

bool run_network_make_by_values(const struct net_node *node, struct net_array *const *in, struct net_array **out)
{
    struct orch_error unused = {0};
    struct net_array **const own = calloc(node->outputs + 1, sizeof(*own));
    bool ok = own && net_evaluate_node(node, in, own, NULL, &unused);
    run_network_drop(out, node->outputs);
    for (size_t k = 0; ok && k < node->outputs; k++)
        if (own[k])
            ok = (out[k] = net_array_new(own[k]->type, own[k]->shape, own[k]->dims, &unused)) != NULL;
    if (own)
        run_network_drop(own, node->outputs);
    free(own);
    return ok;
}

static bool has_shapes(const struct net_model *model, const net_id *id, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (id[k] != NET_NONE && !(model->value[id[k]].shape.known && net_shape_complete(&model->value[id[k]].shape)))
            return false;
    return true;
}

double run_network_macs(const struct net_model *model, const struct net_node *node, struct net_array *const *in)
{
    if (run_network_is_control(node) ||
        (has_shapes(model, node->input, node->inputs) && has_shapes(model, node->output, node->outputs)))
        return (double)net_node_cost(model, node).macs;
    const size_t count = node->inputs + node->outputs;
    struct net_value *const value = calloc(count + 1, sizeof *value);
    net_id *const id = calloc(count + 1, sizeof *id);
    char empty[1] = "";
    struct net_model own = *model; /* the node's values alone */
    struct net_node one = *node;
    struct orch_error unused = {0};
    own.value = value;
    own.values = count;
    one.input = id;
    one.output = id + node->inputs;
    for (size_t k = 0; value && id && k < count; k++) {
        const struct net_array *const a = k < node->inputs ? in[k] : NULL;
        const net_id given = k < node->inputs ? node->input[k] : node->output[k - node->inputs];
        id[k] = given == NET_NONE ? NET_NONE : (net_id)k;
        value[k] = (struct net_value){.name = empty, .type = NET_TYPES, .declared = NET_TYPES};
        if (!a)
            continue;
        value[k].type = a->type;
        value[k].shape = net_shape_of(a->shape, a->dims);
        value[k].constant = net_type_is_float(a->type) ? NULL : in[k];
    }
    const double macs = value && id && net_infer_one(&own, &one, &unused) ? (double)net_node_cost(&own, &one).macs : 0;
    free(value);
    free(id);
    return macs;
}
