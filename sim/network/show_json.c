#include "sim/base/json_out.h"
#include "sim/network/cost.h"
#include "sim/network/operators/operator.h"
#include "sim/network/show.h"
#include "sim/network/tally.h"

static json_object *shape_json(const struct net_model *model, const struct net_shape *shape)
{
    json_object *const list = shape->known ? json_object_new_array() : NULL;
    for (unsigned d = 0; shape->known && d < shape->dims; d++)
        json_object_array_add(list, shape->dim[d] >= 0 ? json_object_new_int64(shape->dim[d])
                                                       : json_object_new_string(net_symbol_name(model, shape->dim[d])));
    return list;
}

static json_object *value_json(const struct net_model *model, net_id id, const char *name)
{
    const struct net_value *const v = id == NET_NONE ? NULL : &model->value[id];
    json_object *const o = v ? json_object_new_object() : NULL;
    if (!v)
        return NULL;
    json_add_text(o, "name", name ? name : v->name);
    json_add_text(o, "type", v->type == NET_TYPES ? NULL : net_type_name(v->type));
    json_object_object_add(o, "shape", shape_json(model, &v->shape));
    if (v->constant)
        json_add_bool(o, "constant", true);
    return o;
}

static void add_cost(json_object *o, const struct net_cost *cost)
{
    json_add_count(o, "macs", cost->macs);
    json_add_count(o, "parameters", cost->parameters);
    json_add_count(o, "bytes", cost->bytes);
}

static json_object *ends_json(const struct net_model *model, bool inputs)
{
    json_object *const list = json_object_new_array();
    const struct net_graph *const graph = model->graph;
    for (size_t k = 0; k < (inputs ? graph->inputs : graph->outputs); k++)
        json_object_array_add(
            list, value_json(model, inputs ? graph->input[k] : graph->output[k], inputs ? NULL : model->output_name[k]));
    return list;
}

static json_object *node_json(const struct net_model *model, const struct net_node *node)
{
    json_object *const o = json_object_new_object(), *const in = json_object_new_array(), *const out = json_object_new_array();
    const struct net_cost cost = net_node_cost(model, node);
    char title[NET_TITLE_BYTES];
    json_add_text(o, "name", node->name);
    json_add_text(o, "operator", net_operator_title(node, title));
    if (net_attr_text(node, "activation", NULL))
        json_add_text(o, "activation", net_attr_text(node, "activation", NULL));
    for (size_t k = 0; k < node->inputs; k++)
        json_object_array_add(in, value_json(model, node->input[k], NULL));
    for (size_t k = 0; k < node->outputs; k++)
        json_object_array_add(out, value_json(model, node->output[k], NULL));
    json_object_object_add(o, "inputs", in);
    json_object_object_add(o, "outputs", out);
    add_cost(o, &cost);
    json_add_bool(o, "supported", node->row != NULL);
    return o;
}

static json_object *operators_json(const struct net_model *model)
{
    json_object *const list = json_object_new_array();
    struct net_tally tally;
    if (!net_tally_count(model, &tally))
        return list;
    for (size_t k = 0; k < tally.count; k++) {
        json_object *const o = json_object_new_object();
        json_add_text(o, "operator", tally.row[k].title);
        json_add_count(o, "nodes", tally.row[k].nodes);
        add_cost(o, &tally.row[k].cost);
        json_add_bool(o, "supported", tally.row[k].known);
        json_object_array_add(list, o);
    }
    net_tally_free(&tally);
    return list;
}

static json_object *passes_json(const struct net_report *report)
{
    json_object *const list = json_object_new_array();
    for (size_t k = 0; k < report->effects; k++) {
        const struct net_pass_effect *const e = &report->effect[k];
        json_object *const o = json_object_new_object();
        json_add_text(o, "pass", e->pass);
        json_add_count(o, "changes", e->changes);
        json_add_count(o, "nodes_before", e->nodes_before);
        json_add_count(o, "nodes_after", e->nodes_after);
        json_add_count(o, "macs_before", e->macs_before);
        json_add_count(o, "macs_after", e->macs_after);
        json_add_count(o, "bytes_before", e->bytes_before);
        json_add_count(o, "bytes_after", e->bytes_after);
        json_object_array_add(list, o);
    }
    return list;
}

static json_object *tensors_json(const struct net_model *model, const struct net_memory *memory)
{
    json_object *const list = json_object_new_array();
    for (size_t id = 0; id < model->values; id++) {
        const struct net_placement *const p = &memory->of[id];
        if (!p->placed)
            continue;
        json_object *const o = json_object_new_object();
        json_add_text(o, "name", model->value[id].name);
        json_add_count(o, "offset_bytes", p->offset_bytes);
        json_add_count(o, "bytes", p->bytes);
        json_add_count(o, "first_node", p->first);
        json_add_count(o, "last_node", memory->of[p->root].last);
        json_object_array_add(list, o);
    }
    return list;
}

json_object *net_json(const struct net_model *model, const struct net_report *report, const struct net_memory *memory)
{
    json_object *const o = json_object_new_object(), *const nodes = json_object_new_array(),
                       *const plan = json_object_new_object();
    const struct net_cost all = net_total_cost(model);
    json_add_text(o, "file", model->path);
    json_add_count(o, "opset", (uint64_t)model->opset);
    json_object_object_add(o, "inputs", ends_json(model, true));
    json_object_object_add(o, "outputs", ends_json(model, false));
    add_cost(o, &all);
    json_add_bool(o, "sizes_known", all.known);
    json_add_count(plan, "peak_bytes", memory->peak_bytes);
    json_add_count(plan, "live_bytes", memory->floor_bytes);
    json_add_count(plan, "unshared_bytes", memory->sum_bytes);
    json_object_object_add(plan, "tensors", tensors_json(model, memory));
    json_object_object_add(o, "memory", plan);
    json_object_object_add(o, "operators", operators_json(model));
    for (size_t i = 0; i < model->graph->nodes; i++)
        json_object_array_add(nodes, node_json(model, model->graph->node[i]));
    json_object_object_add(o, "nodes", nodes);
    json_object_object_add(o, "passes", passes_json(report));
    return o;
}
