/* A second network like the first. Arrays are shared, as nobody writes into those of a model. */
#include "sim/network/graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* Memory with the same bytes; NULL with *ok false when there is none left. */
static void *same(const void *from, size_t bytes, bool *ok)
{
    void *const to = *ok && from ? malloc(bytes ? bytes : 1) : NULL;
    if (to && bytes)
        memcpy(to, from, bytes);
    *ok = *ok && (to || !from);
    return to;
}

static char *same_text(const char *from, bool *ok)
{
    return same(from, from ? strlen(from) + 1 : 0, ok);
}

static char **same_texts(char *const *from, size_t count, bool *ok)
{
    char **const to = *ok && from ? calloc(count + 1, sizeof *to) : NULL;
    *ok = *ok && (to || !from);
    for (size_t i = 0; to && i < count; i++)
        to[i] = same_text(from[i], ok);
    return to;
}

static struct net_graph *same_graph(const struct net_graph *from, bool *ok);

static void copy_attribute(const struct net_attribute *from, struct net_node *node, bool *ok)
{
    struct net_attribute *const to = *ok ? net_attr_set(node, from->name, from->kind) : NULL;
    *ok = to != NULL;
    if (!to)
        return;
    to->integer = from->integer;
    to->real = from->real;
    to->count = from->count;
    to->text = same_text(from->text, ok);
    to->integers = same(from->integers, from->count * sizeof *from->integers, ok);
    to->reals = same(from->reals, from->count * sizeof *from->reals, ok);
    to->texts = same_texts(from->texts, from->count, ok);
    to->array = from->array ? net_array_retain(from->array) : NULL;
    to->graph = from->graph ? same_graph(from->graph, ok) : NULL;
}

static struct net_node *same_node(const struct net_node *from, bool *ok)
{
    struct net_node *const to = *ok ? net_node_new(from->name, from->op, from->domain, from->inputs, from->outputs) : NULL;
    *ok = to != NULL;
    if (!to)
        return NULL;
    to->version = from->version;
    to->row = from->row;
    memcpy(to->input, from->input, from->inputs * sizeof *to->input);
    memcpy(to->output, from->output, from->outputs * sizeof *to->output);
    for (size_t i = 0; *ok && i < from->attributes; i++)
        copy_attribute(&from->attribute[i], to, ok);
    return to;
}

static struct net_graph *same_graph(const struct net_graph *from, bool *ok)
{
    struct net_graph *const to = *ok ? net_graph_new(from->name ? from->name : "") : NULL;
    *ok = to != NULL;
    for (size_t i = 0; *ok && i < from->inputs; i++)
        *ok = net_graph_add_input(to, from->input[i]);
    for (size_t i = 0; *ok && i < from->outputs; i++)
        *ok = net_graph_add_output(to, from->output[i]);
    for (size_t i = 0; *ok && i < from->nodes; i++) {
        struct net_node *const node = same_node(from->node[i], ok);
        if (*ok)
            *ok = net_graph_insert(to, i, node);
        else
            net_node_free(node);
    }
    return to;
}

static void copy_values(const struct net_model *from, struct net_model *to, bool *ok)
{
    for (size_t i = 0; *ok && i < from->values; i++) {
        const struct net_value *const v = &from->value[i];
        const net_id id = net_value_add(to, v->name);
        *ok = id == i;
        if (!*ok)
            return;
        char *const name = to->value[id].name;
        to->value[id] = *v;
        to->value[id].name = name;
        to->value[id].constant = v->constant ? net_array_retain(v->constant) : NULL;
    }
}

struct net_model *net_model_copy(const struct net_model *from)
{
    struct net_model *const to = net_model_new(from->path);
    bool ok = to != NULL;
    if (!ok)
        return NULL;
    const struct net_model made = *to;
    net_graph_free(made.graph);
    *to = *from; /* numbers; what is owned follows */
    to->path = made.path;
    to->value = NULL;
    to->values = to->room = 0;
    to->graph = NULL;
    for (size_t i = 0; i < made.symbols; i++)
        free(made.symbol[i]);
    free(made.symbol);
    free(made.bound);
    free(made.usual);
    to->symbol = same_texts(from->symbol, from->symbols, &ok);
    to->bound = same(from->bound, from->symbols * sizeof *from->bound, &ok);
    to->usual = same(from->usual, from->symbols * sizeof *from->usual, &ok);
    to->output_name = same_texts(from->output_name, from->output_names, &ok);
    to->label = same_texts(from->label, from->labels, &ok);
    to->symbols = to->symbol ? to->symbols : 0;
    to->output_names = to->output_name ? to->output_names : 0;
    to->labels = to->label ? to->labels : 0;
    copy_values(from, to, &ok);
    to->graph = same_graph(from->graph, &ok);
    if (ok)
        return to;
    net_model_free(to);
    return NULL;
}
