/* Models: graphs, nodes, attributes, subgraphs. */
#include "sim/network/onnx/extended.h"
#include "sim/network/onnx/onnx_internal.h"
#include "sim/network/operators/operator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUBGRAPH_DEPTH_MAX = 8, CALL_DEPTH_MAX = 16, NODES_MAX = 1 << 22, NAME_BYTES = 4096, FIRST_WITH_ATTENTION = 23 };

/* A function of the model that is being put in the place of a node; functions may use functions. */
struct frame {
    const Onnx__NodeProto *call;
    const Onnx__FunctionProto *function;
    const struct frame *outer;
    unsigned depth;
};

struct import {
    struct net_model *model;
    const Onnx__ModelProto *proto;
    const struct frame *frame; /* NULL = of the model's own graph */
    bool ranks;                /* operators are written as their parts, which hang on how many dimensions there are */
    size_t nodes;              /* so far: functions of functions would double them at every depth */
    struct orch_error *error;
};

/* Names reach terminals and one-line messages: control characters do not. */
static char *clean(const char *name, char *text, size_t size)
{
    snprintf(text, size, "%s", name ? name : "");
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return text;
}

static net_id new_value(struct import *in, struct onnx_names *names, const char *name)
{
    char text[NAME_BYTES];
    const net_id id = net_value_add(in->model, clean(name, text, sizeof text));
    if (id == NET_NONE || !onnx_names_add(names, name, id)) {
        orch_no_memory(in->error);
        return NET_NONE;
    }
    return id;
}

/* ---- types ---- */

static bool read_type(struct import *in, const Onnx__ValueInfoProto *info, struct net_value *value)
{
    const Onnx__TypeProto *const type = info->type;
    const Onnx__TypeProto__Tensor *const tensor =
        type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? type->tensor_type : NULL;
    if (type && type->value_case != ONNX__TYPE_PROTO__VALUE__NOT_SET && !tensor)
        return orch_fail(in->error, ORCH_UNMODELLED, "'%.80s' is no tensor", value->name);
    if (!tensor)
        return true;
    value->type = net_type_of_onnx(tensor->elem_type);
    if (value->type == NET_TYPES && tensor->elem_type != 0)
        return orch_fail(in->error, ORCH_UNMODELLED, "'%.80s' has elements of type %s", value->name,
                         net_onnx_type_name(tensor->elem_type));
    if (!tensor->shape)
        return true;
    if (tensor->shape->n_dim > NET_DIMS_MAX)
        return orch_fail(in->error, ORCH_USAGE, "'%.80s' has %zu dimensions; at most %d are possible", value->name,
                         tensor->shape->n_dim, NET_DIMS_MAX);
    value->shape = (struct net_shape){.known = true, .dims = (unsigned)tensor->shape->n_dim};
    for (unsigned d = 0; d < value->shape.dims; d++) {
        const Onnx__TensorShapeProto__Dimension *const dim = tensor->shape->dim[d];
        char text[NAME_BYTES];
        snprintf(text, sizeof text, "%.4000s.%u", value->name, d); /* what has no name is called after its place */
        value->shape.dim[d] = NET_UNKNOWN;
        if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && dim->dim_value >= 0)
            value->shape.dim[d] = dim->dim_value;
        else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && *dim->dim_param)
            value->shape.dim[d] = net_symbol(in->model, clean(dim->dim_param, text, sizeof text));
        else
            value->shape.dim[d] = net_symbol(in->model, text);
    }
    return true;
}

/* ---- attributes ---- */

static bool import_graph(struct import *in, const Onnx__GraphProto *proto, const struct onnx_names *outer, unsigned depth,
                         struct net_graph *graph);

/* The attribute of that name of the node that a function stands for; that node may stand in a function itself. */
static const Onnx__AttributeProto *attribute_of_call(const struct import *in, const char *name)
{
    for (const struct frame *f = in->frame; f; f = f->outer) {
        const Onnx__AttributeProto *found = NULL;
        for (size_t k = 0; k < f->call->n_attribute; k++)
            if (f->call->attribute[k]->name && strcmp(f->call->attribute[k]->name, name) == 0)
                found = f->call->attribute[k];
        if (!found || !found->ref_attr_name || !*found->ref_attr_name)
            return found;
        name = found->ref_attr_name;
    }
    return NULL;
}

static bool import_attribute(struct import *in, const Onnx__AttributeProto *a, const struct onnx_names *names, unsigned depth,
                             struct net_node *node)
{
    char name[NAME_BYTES];
    struct net_attribute *to;
    clean(a->name, name, sizeof name);
    if (a->ref_attr_name && *a->ref_attr_name) {
        a = attribute_of_call(in, a->ref_attr_name);
        if (!a)
            return true; /* the call leaves it out, and so does the node */
    }
    switch (onnx_attribute_kind(a)) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT: return net_set_int(node, name, a->i) || orch_no_memory(in->error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT: return net_set_real(node, name, a->f) || orch_no_memory(in->error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
        to = net_attr_set(node, name, NET_ATTR_TEXT);
        return (to && (to->text = onnx_attribute_text(&a->s))) || orch_no_memory(in->error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR:
        to = net_attr_set(node, name, NET_ATTR_ARRAY);
        if (!to || !a->t)
            return to ? orch_fail(in->error, ORCH_USAGE, "attribute %.60s is empty", name) : orch_no_memory(in->error);
        to->array = onnx_tensor(a->t, in->model->path, in->error);
        return to->array || orch_fail_in(in->error, "attribute %.60s", name);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH:
        to = net_attr_set(node, name, NET_ATTR_GRAPH);
        if (!to || !a->g)
            return to ? orch_fail(in->error, ORCH_USAGE, "attribute %.60s is empty", name) : orch_no_memory(in->error);
        to->graph = net_graph_new(name);
        return to->graph ? import_graph(in, a->g, names, depth + 1, to->graph) : orch_no_memory(in->error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS: return onnx_attribute_list(a, node, name) || orch_no_memory(in->error);
    default: return orch_fail(in->error, ORCH_UNMODELLED, "attribute %.60s is of a kind that is not known", name);
    }
}

/* ---- nodes ---- */

static int64_t version_of(const struct import *in, const char *domain)
{
    Onnx__OperatorSetIdProto *const *const set = in->frame ? in->frame->function->opset_import : in->proto->opset_import;
    const size_t count = in->frame ? in->frame->function->n_opset_import : in->proto->n_opset_import;
    for (size_t k = 0; k < count; k++) {
        const char *const d = set[k]->domain ? set[k]->domain : "";
        if (strcmp(strcmp(d, "ai.onnx") == 0 ? "" : d, domain) == 0)
            return set[k]->version;
    }
    return 0;
}

static bool connect(struct import *in, const Onnx__NodeProto *proto, struct onnx_names *names, struct net_node *node)
{
    for (size_t k = 0; k < proto->n_input; k++) {
        char text[NAME_BYTES];
        if (!*proto->input[k])
            continue;
        node->input[k] = onnx_names_find(names, proto->input[k]);
        if (node->input[k] == NET_NONE)
            return orch_fail(in->error, ORCH_USAGE, "input '%.80s' is computed by nothing that stands before it",
                             clean(proto->input[k], text, sizeof text));
    }
    for (size_t k = 0; k < proto->n_output; k++) {
        char text[NAME_BYTES];
        if (!*proto->output[k])
            continue;
        if (onnx_names_here(names, proto->output[k]) != NET_NONE)
            return orch_fail(in->error, ORCH_USAGE, "'%.80s' is computed twice", clean(proto->output[k], text, sizeof text));
        node->output[k] = new_value(in, names, proto->output[k]);
        if (node->output[k] == NET_NONE)
            return false;
    }
    return true;
}

static bool fill_node(struct import *in, const Onnx__NodeProto *proto, struct onnx_names *names, unsigned depth,
                      struct net_node *node)
{
    for (size_t k = 0; k < proto->n_attribute; k++)
        if (!import_attribute(in, proto->attribute[k], names, depth, node))
            return false;
    return connect(in, proto, names, node);
}

static bool import_node(struct import *in, const Onnx__NodeProto *proto, struct onnx_names *names, unsigned depth,
                        struct net_graph *graph);

static bool import_nodes(struct import *in, Onnx__NodeProto *const *node, size_t nodes, struct onnx_names *names, unsigned depth,
                         struct net_graph *graph)
{
    size_t *const order = onnx_order(node, nodes);
    bool ok = true;
    for (size_t k = 0; ok && k < nodes; k++)
        ok = import_node(in, node[order ? order[k] : k], names, depth, graph);
    free(order);
    return ok;
}

/* ---- functions ---- */

static const Onnx__FunctionProto *function_of(const struct import *in, const Onnx__NodeProto *node)
{
    for (size_t k = 0; k < in->proto->n_functions; k++) {
        const Onnx__FunctionProto *const f = in->proto->functions[k];
        if (strcmp(f->name ? f->name : "", node->op_type ? node->op_type : "") == 0 &&
            strcmp(f->domain ? f->domain : "", node->domain ? node->domain : "") == 0)
            return f;
    }
    return NULL;
}

/* The nodes of the function between names of its own: its inputs are what the node is given, its outputs get the node's names. */
static bool fill_function(struct import *in, const struct frame *frame, struct onnx_names *names, struct onnx_names *inner,
                          struct net_graph *graph)
{
    const Onnx__FunctionProto *const f = frame->function;
    const Onnx__NodeProto *const call = frame->call;
    if (call->n_input > f->n_input || call->n_output > f->n_output)
        return orch_fail(in->error, ORCH_USAGE, "%zu inputs and %zu outputs, the function has %zu and %zu", call->n_input,
                         call->n_output, f->n_input, f->n_output);
    for (size_t k = 0; k < call->n_input; k++) {
        const net_id given = *call->input[k] ? onnx_names_find(names, call->input[k]) : NET_NONE;
        char text[NAME_BYTES];
        if (*call->input[k] && given == NET_NONE)
            return orch_fail(in->error, ORCH_USAGE, "input '%.80s' is computed by nothing that stands before it",
                             clean(call->input[k], text, sizeof text));
        if (given != NET_NONE && !onnx_names_add(inner, f->input[k], given))
            return orch_no_memory(in->error);
    }
    in->frame = frame;
    if (!import_nodes(in, f->node, f->n_node, inner, 0, graph))
        return false;
    for (size_t k = 0; k < call->n_output; k++) {
        const net_id made = onnx_names_here(inner, f->output[k]);
        if (!*call->output[k])
            continue;
        if (made == NET_NONE || onnx_names_here(names, call->output[k]) != NET_NONE)
            return orch_fail(in->error, ORCH_USAGE, "output %zu is not computed, or computed twice", k);
        if (!onnx_names_add(names, call->output[k], made))
            return orch_no_memory(in->error);
    }
    return true;
}

static bool import_function(struct import *in, const Onnx__NodeProto *call, const Onnx__FunctionProto *function,
                            struct onnx_names *names, struct net_graph *graph)
{
    const struct frame *const outer = in->frame, frame = {call, function, outer, outer ? outer->depth + 1 : 0};
    struct onnx_names inner = {.outer = NULL};
    char text[NAME_BYTES];
    bool ok = frame.depth < CALL_DEPTH_MAX || orch_fail(in->error, ORCH_USAGE, "functions are nested too deep");
    ok = ok && fill_function(in, &frame, names, &inner, graph);
    in->frame = outer;
    onnx_names_free(&inner);
    return ok || orch_fail_in(in->error, "function '%.80s'", clean(function->name, text, sizeof text));
}

/* Without a version nobody knows which form the nodes are in. Files of the first two versions of the format have none: 1. */
static bool check_version(const struct import *in, struct net_node *node)
{
    if (!*node->domain && node->version == 0 && !in->frame && in->proto->has_ir_version && in->proto->ir_version < 3)
        node->version = 1;
    if (*node->domain || node->version > 0)
        return true;
    return orch_fail(in->error, ORCH_USAGE, "no opset_import says which version of ONNX's operators it is of");
}

static bool import_node(struct import *in, const Onnx__NodeProto *proto, struct onnx_names *names, unsigned depth,
                        struct net_graph *graph)
{
    char name[NAME_BYTES], op[NAME_BYTES], domain[NAME_BYTES], title[256];
    bool constant = false;
    const Onnx__FunctionProto *const function = function_of(in, proto);
    if (++in->nodes > NODES_MAX)
        return orch_fail(in->error, ORCH_USAGE, "too many nodes");
    if (function)
        return import_function(in, proto, function, names, graph);
    clean(proto->domain, domain, sizeof domain);
    clean(proto->name && *proto->name ? proto->name : proto->n_output ? proto->output[0] : "", name, sizeof name);
    struct net_node *const node = net_node_new(name, clean(proto->op_type, op, sizeof op),
                                               strcmp(domain, "ai.onnx") == 0 ? "" : domain, proto->n_input, proto->n_output);
    if (!node)
        return orch_no_memory(in->error);
    node->version = version_of(in, node->domain);
    bool ok = check_version(in, node) && fill_node(in, proto, names, depth, node) && onnx_check_node(node, in->error) &&
              onnx_take_constant(in->model, node, &constant, in->error);
    if (ok && !constant) {
        ok = onnx_normalise(in->model, node, in->error);
        node->row = ok ? net_operator_find(node->op, node->domain) : NULL;
        if (ok && strcmp(node->domain, "orchard") == 0)
            ok = orch_fail(in->error, ORCH_USAGE, "the domain orchard is for fused operators");
    }
    const bool extended = ok && !constant && onnx_is_extended(node->op, node->domain);
    if (extended)
        ok = onnx_extend(in->model, graph, node, in->error);
    if (!ok)
        orch_fail_in(in->error, "%s", net_node_title(node, title, sizeof title));
    if (!ok || constant || extended) {
        net_node_free(node);
        return ok;
    }
    if (!net_graph_insert(graph, graph->nodes, node))
        return orch_no_memory(in->error);
    return !in->ranks || onnx_know_shapes(in->model, graph, graph->nodes - 1, in->error);
}

/* ---- graphs ---- */

static bool import_initialisers(struct import *in, const Onnx__GraphProto *proto, struct onnx_names *names)
{
    char text[NAME_BYTES];
    if (proto->n_sparse_initializer)
        return orch_fail(in->error, ORCH_UNMODELLED, "sparse initialisers");
    for (size_t k = 0; k < proto->n_initializer; k++) {
        const Onnx__TensorProto *const tensor = proto->initializer[k];
        const char *const name = tensor->name ? tensor->name : "";
        clean(name, text, sizeof text);
        if (onnx_names_here(names, name) != NET_NONE)
            return orch_fail(in->error, ORCH_USAGE, "initialiser '%.80s' twice", text);
        struct net_array *const array = onnx_tensor(tensor, in->model->path, in->error);
        if (!array)
            return orch_fail_in(in->error, "initialiser '%.80s'", text);
        const net_id id = net_constant_add(in->model, text, array);
        if (id == NET_NONE || !onnx_names_add(names, name, id))
            return orch_no_memory(in->error);
    }
    return true;
}

static bool import_inputs(struct import *in, const Onnx__GraphProto *proto, struct onnx_names *names, struct net_graph *graph)
{
    for (size_t k = 0; k < proto->n_input; k++) {
        char text[NAME_BYTES];
        const char *const name = proto->input[k]->name ? proto->input[k]->name : "";
        const net_id known = onnx_names_here(names, name);
        if (known != NET_NONE && in->model->value[known].constant) /* older files list initialisers among the inputs */
            continue;
        if (known != NET_NONE || !*name)
            return orch_fail(in->error, ORCH_USAGE, "input '%.80s' twice", clean(name, text, sizeof text));
        const net_id id = new_value(in, names, name);
        if (id == NET_NONE || !read_type(in, proto->input[k], &in->model->value[id]))
            return false;
        if (!net_graph_add_input(graph, id))
            return orch_no_memory(in->error);
    }
    return true;
}

static bool import_outputs(struct import *in, const Onnx__GraphProto *proto, const struct onnx_names *names,
                           struct net_graph *graph)
{
    for (size_t k = 0; k < proto->n_output; k++) {
        char text[NAME_BYTES];
        const char *const name = proto->output[k]->name ? proto->output[k]->name : "";
        const net_id id = onnx_names_find(names, name);
        struct net_value declared = {.name = clean(name, text, sizeof text), .type = NET_TYPES};
        if (!read_type(in, proto->output[k], &declared))
            return false;
        if (id == NET_NONE)
            return orch_fail(in->error, ORCH_USAGE, "output '%.80s' is computed by no node", clean(name, text, sizeof text));
        in->model->value[id].declared = declared.type;
        const bool ok = graph == in->model->graph ? net_model_add_output(in->model, id) : net_graph_add_output(graph, id);
        if (!ok)
            return orch_no_memory(in->error);
    }
    return true;
}

static bool import_graph(struct import *in, const Onnx__GraphProto *proto, const struct onnx_names *outer, unsigned depth,
                         struct net_graph *graph)
{
    struct onnx_names names = {.outer = outer};
    if (depth > SUBGRAPH_DEPTH_MAX)
        return orch_fail(in->error, ORCH_USAGE, "subgraphs are nested too deep");
    const bool ok = import_initialisers(in, proto, &names) && import_inputs(in, proto, &names, graph) &&
                    import_nodes(in, proto->node, proto->n_node, &names, depth, graph) &&
                    import_outputs(in, proto, &names, graph);
    onnx_names_free(&names);
    return ok;
}

/* ---- models ---- */

static bool import_model(struct import *in)
{
    if (!in->proto->graph)
        return orch_fail(in->error, ORCH_USAGE, "no graph: this is no ONNX model");
    if (!onnx_check_model(in->proto, in->error))
        return false;
    in->model->opset = version_of(in, "");
    in->ranks = in->model->opset >= FIRST_WITH_ATTENTION || version_of(in, "com.microsoft") > 0;
    return import_graph(in, in->proto->graph, NULL, 0, in->model->graph);
}

struct net_model *onnx_import(const char *path, const uint8_t *bytes, size_t size, struct orch_error *error)
{
    struct import in = {.error = error};
    bool ok = size <= ONNX_BYTES_MAX ? onnx_wire_check(&onnx__model_proto__descriptor, bytes, size, error)
                                     : orch_fail(error, ORCH_USAGE, "longer than 2 GiB");
    Onnx__ModelProto *const proto = ok ? onnx__model_proto__unpack(NULL, size, bytes) : NULL;
    ok = ok && (proto || orch_fail(error, ORCH_USAGE, "no ONNX model"));
    in.proto = proto;
    in.model = ok ? net_model_new(path) : NULL;
    if (ok)
        ok = in.model ? import_model(&in) : orch_no_memory(error);
    if (proto)
        onnx__model_proto__free_unpacked(proto, NULL);
    if (!ok) {
        net_model_free(in.model);
        in.model = NULL;
        orch_fail_in(error, "%s", path);
    }
    return in.model;
}
