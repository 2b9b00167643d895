#include "sim/network/graph/graph.h"

#include "isa/list_grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- models ---- */

struct net_model *net_model_new(const char *path)
{
    struct net_model *const m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->folded_bytes_max = INT64_C(3) << 29;
    m->path = strdup(path);
    m->graph = net_graph_new("");
    if (!m->path || !m->graph || (net_symbol(m, "?"), m->symbols == 0)) {
        net_model_free(m);
        return NULL;
    }
    return m;
}

void net_model_free(struct net_model *model)
{
    if (!model)
        return;
    for (size_t i = 0; i < model->values; i++) {
        free(model->value[i].name);
        net_array_release(model->value[i].constant);
    }
    for (size_t i = 0; i < model->symbols; i++)
        free(model->symbol[i]);
    for (size_t i = 0; i < model->output_names; i++)
        free(model->output_name[i]);
    for (size_t i = 0; i < model->labels; i++)
        free(model->label[i]);
    net_graph_free(model->graph);
    free(model->label);
    free(model->usual);
    free(model->output_name);
    free(model->value);
    free(model->symbol);
    free(model->bound);
    free(model->path);
    free(model);
}

net_id net_value_add(struct net_model *model, const char *name)
{
    if (model->values >= NET_NONE - 1)
        return NET_NONE;
    struct net_value *const grown = list_grow(model->value, model->values, &model->room, sizeof *grown);
    if (!grown)
        return NET_NONE;
    model->value = grown;
    char *const copy = strdup(name);
    if (!copy)
        return NET_NONE;
    grown[model->values] = (struct net_value){.name = copy, .type = NET_TYPES, .declared = NET_TYPES};
    return (net_id)model->values++;
}

net_id net_constant_add(struct net_model *model, const char *name, struct net_array *array)
{
    const net_id id = array ? net_value_add(model, name) : NET_NONE;
    if (id == NET_NONE) {
        net_array_release(array);
        return NET_NONE;
    }
    struct net_value *const v = &model->value[id];
    v->constant = array;
    v->type = array->type;
    v->shape = (struct net_shape){.known = true, .dims = array->dims};
    memcpy(v->shape.dim, array->shape, sizeof array->shape);
    return id;
}

int64_t net_symbol(struct net_model *model, const char *name)
{
    if (!*name)
        return NET_UNKNOWN;
    for (size_t i = 0; i < model->symbols; i++)
        if (strcmp(model->symbol[i], name) == 0)
            return -1 - (int64_t)i;
    char **const symbol = realloc(model->symbol, (model->symbols + 1) * sizeof *symbol);
    if (symbol)
        model->symbol = symbol;
    int64_t *const bound = realloc(model->bound, (model->symbols + 1) * sizeof *bound);
    if (bound)
        model->bound = bound;
    int64_t *const usual = realloc(model->usual, (model->symbols + 1) * sizeof *usual);
    if (usual)
        model->usual = usual;
    char *const copy = symbol && bound && usual ? strdup(name) : NULL;
    if (!copy)
        return NET_UNKNOWN;
    symbol[model->symbols] = copy;
    bound[model->symbols] = -1;
    usual[model->symbols] = -1;
    return -1 - (int64_t)model->symbols++;
}

int64_t net_symbol_usual(struct net_model *model, const char *name, int64_t usual)
{
    const int64_t symbol = net_symbol(model, name);
    if (symbol < NET_UNKNOWN)
        model->usual[-1 - symbol] = usual;
    return symbol;
}

bool net_model_add_label(struct net_model *model, const char *label)
{
    char **const grown = (model->labels & (model->labels - 1)) == 0
                             ? realloc(model->label, (model->labels ? 2 * model->labels : 1) * sizeof *grown)
                             : model->label;
    char *const copy = grown ? strdup(label) : NULL;
    if (grown)
        model->label = grown;
    if (copy)
        model->label[model->labels++] = copy;
    return copy != NULL;
}

const char *net_symbol_name(const struct net_model *model, int64_t dim)
{
    const uint64_t index = (uint64_t)(-1 - dim);
    return dim < 0 && index < model->symbols ? model->symbol[index] : "?";
}

int64_t net_dim_bound(const struct net_model *model, int64_t dim)
{
    const uint64_t index = (uint64_t)(-1 - dim);
    return dim < 0 && index < model->symbols && model->bound[index] >= 0 ? model->bound[index] : dim;
}

/* ---- graphs ---- */

struct net_graph *net_graph_new(const char *name)
{
    struct net_graph *const g = calloc(1, sizeof *g);
    if (g && !(g->name = strdup(name))) {
        free(g);
        return NULL;
    }
    return g;
}

void net_graph_free(struct net_graph *graph)
{
    if (!graph)
        return;
    for (size_t i = 0; i < graph->nodes; i++)
        net_node_free(graph->node[i]);
    free(graph->node);
    free(graph->input);
    free(graph->output);
    free(graph->name);
    free(graph);
}

static bool add_id(net_id **list, size_t *count, net_id value)
{
    net_id *const grown = realloc(*list, (*count + 1) * sizeof *grown);
    if (!grown)
        return false;
    *list = grown;
    grown[(*count)++] = value;
    return true;
}

bool net_graph_add_input(struct net_graph *graph, net_id value)
{
    return add_id(&graph->input, &graph->inputs, value);
}

bool net_graph_add_output(struct net_graph *graph, net_id value)
{
    return add_id(&graph->output, &graph->outputs, value);
}

bool net_graph_insert(struct net_graph *graph, size_t at, struct net_node *node)
{
    struct net_node **const grown = node ? list_grow(graph->node, graph->nodes, &graph->room, sizeof *grown) : NULL;
    if (!grown) {
        net_node_free(node);
        return false;
    }
    graph->node = grown;
    memmove(grown + at + 1, grown + at, (graph->nodes - at) * sizeof *grown);
    grown[at] = node;
    graph->nodes++;
    return true;
}

void net_graph_sweep(struct net_graph *graph, const bool *gone)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->nodes; i++) {
        if (gone[i])
            net_node_free(graph->node[i]);
        else
            graph->node[kept++] = graph->node[i];
    }
    graph->nodes = kept;
}

bool net_model_add_output(struct net_model *model, net_id value)
{
    char **const grown = realloc(model->output_name, (model->output_names + 1) * sizeof *grown);
    if (!grown)
        return false;
    model->output_name = grown;
    if (!(grown[model->output_names] = strdup(model->value[value].name)))
        return false;
    model->output_names++;
    return net_graph_add_output(model->graph, value);
}

/* ---- nodes ---- */

struct net_node *net_node_new(const char *name, const char *op, const char *domain, size_t inputs, size_t outputs)
{
    struct net_node *const n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->name = strdup(name);
    n->op = strdup(op);
    n->domain = strdup(domain);
    n->output = calloc(outputs ? outputs : 1, sizeof *n->output);
    if (!n->name || !n->op || !n->domain || !n->output || !net_node_inputs(n, inputs)) {
        net_node_free(n);
        return NULL;
    }
    n->outputs = outputs;
    for (size_t i = 0; i < outputs; i++)
        n->output[i] = NET_NONE;
    return n;
}

static void clear_attribute(struct net_attribute *a)
{
    for (size_t i = 0; a->texts && i < a->count; i++)
        free(a->texts[i]);
    net_array_release(a->array);
    net_graph_free(a->graph);
    free(a->texts);
    free(a->name);
    free(a->text);
    free(a->integers);
    free(a->reals);
}

void net_node_free(struct net_node *node)
{
    if (!node)
        return;
    for (size_t i = 0; i < node->attributes; i++)
        clear_attribute(&node->attribute[i]);
    free(node->attribute);
    free(node->input);
    free(node->output);
    free(node->name);
    free(node->op);
    free(node->domain);
    free(node);
}

bool net_node_rename(struct net_node *node, const char *op, const char *domain)
{
    char *const new_op = strdup(op), *const new_domain = strdup(domain);
    if (!new_op || !new_domain) {
        free(new_op);
        free(new_domain);
        return false;
    }
    free(node->op);
    free(node->domain);
    node->op = new_op;
    node->domain = new_domain;
    return true;
}

bool net_node_inputs(struct net_node *node, size_t inputs)
{
    net_id *const grown = realloc(node->input, (inputs ? inputs : 1) * sizeof *grown);
    if (!grown)
        return false;
    node->input = grown;
    for (size_t i = node->inputs; i < inputs; i++)
        grown[i] = NET_NONE;
    node->inputs = inputs;
    return true;
}

/* ---- attributes ---- */

const struct net_attribute *net_attribute(const struct net_node *node, const char *name)
{
    for (size_t i = 0; i < node->attributes; i++)
        if (strcmp(node->attribute[i].name, name) == 0)
            return &node->attribute[i];
    return NULL;
}

int64_t net_attr_int(const struct net_node *node, const char *name, int64_t missing)
{
    const struct net_attribute *const a = net_attribute(node, name);
    return a && a->kind == NET_ATTR_INT ? a->integer : missing;
}

double net_attr_real(const struct net_node *node, const char *name, double missing)
{
    const struct net_attribute *const a = net_attribute(node, name);
    return a && a->kind == NET_ATTR_REAL ? a->real : missing;
}

const char *net_attr_text(const struct net_node *node, const char *name, const char *missing)
{
    const struct net_attribute *const a = net_attribute(node, name);
    return a && a->kind == NET_ATTR_TEXT ? a->text : missing;
}

const int64_t *net_attr_ints(const struct net_node *node, const char *name, size_t *count)
{
    const struct net_attribute *const a = net_attribute(node, name);
    *count = a && a->kind == NET_ATTR_INTS ? a->count : 0;
    return *count ? a->integers : NULL;
}

struct net_graph *net_attr_graph(const struct net_node *node, const char *name)
{
    const struct net_attribute *const a = net_attribute(node, name);
    return a && a->kind == NET_ATTR_GRAPH ? a->graph : NULL;
}

void net_attr_remove(struct net_node *node, const char *name)
{
    for (size_t i = 0; i < node->attributes; i++) {
        if (strcmp(node->attribute[i].name, name) != 0)
            continue;
        clear_attribute(&node->attribute[i]);
        node->attribute[i] = node->attribute[--node->attributes];
        return;
    }
}

struct net_attribute *net_attr_set(struct net_node *node, const char *name, enum net_attribute_kind kind)
{
    net_attr_remove(node, name);
    struct net_attribute *const grown = realloc(node->attribute, (node->attributes + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    node->attribute = grown;
    char *const copy = strdup(name);
    if (!copy)
        return NULL;
    grown[node->attributes] = (struct net_attribute){.name = copy, .kind = kind};
    return &grown[node->attributes++];
}

bool net_set_int(struct net_node *node, const char *name, int64_t value)
{
    struct net_attribute *const a = net_attr_set(node, name, NET_ATTR_INT);
    if (a)
        a->integer = value;
    return a != NULL;
}

bool net_set_real(struct net_node *node, const char *name, double value)
{
    struct net_attribute *const a = net_attr_set(node, name, NET_ATTR_REAL);
    if (a)
        a->real = value;
    return a != NULL;
}

bool net_set_text(struct net_node *node, const char *name, const char *value)
{
    struct net_attribute *const a = net_attr_set(node, name, NET_ATTR_TEXT);
    return a && (a->text = strdup(value)) != NULL;
}

bool net_set_ints(struct net_node *node, const char *name, const int64_t *value, size_t count)
{
    struct net_attribute *const a = net_attr_set(node, name, NET_ATTR_INTS);
    if (!a || !(a->integers = calloc(count ? count : 1, sizeof *value)))
        return false;
    if (count)
        memcpy(a->integers, value, count * sizeof *value);
    a->count = count;
    return true;
}

static bool same_attribute(const struct net_attribute *a, const struct net_attribute *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    switch (a->kind) {
    case NET_ATTR_INT: return a->integer == b->integer;
    case NET_ATTR_REAL: return a->real == b->real;
    case NET_ATTR_TEXT: return strcmp(a->text, b->text) == 0;
    case NET_ATTR_INTS: return memcmp(a->integers, b->integers, a->count * sizeof *a->integers) == 0;
    case NET_ATTR_REALS: return memcmp(a->reals, b->reals, a->count * sizeof *a->reals) == 0;
    case NET_ATTR_TEXTS:
        for (size_t i = 0; i < a->count; i++)
            if (strcmp(a->texts[i], b->texts[i]) != 0)
                return false;
        return true;
    case NET_ATTR_ARRAY: return net_array_same(a->array, b->array);
    case NET_ATTR_GRAPH: break;
    }
    return false;
}

bool net_attributes_same(const struct net_node *a, const struct net_node *b)
{
    if (a->attributes != b->attributes)
        return false;
    for (size_t i = 0; i < a->attributes; i++) {
        const struct net_attribute *const other = net_attribute(b, a->attribute[i].name);
        if (!other || !same_attribute(&a->attribute[i], other))
            return false;
    }
    return true;
}
