/* Writes a graph as an ONNX model. Nodes are in the form of the newest operator set, so the file says opset 21. Values are called
 * by their numbers, but for inputs and outputs, which keep their names. */
#include "sim/base/output_file.h"
#include "sim/network/graph/uses.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IR_VERSION = 10, OPSET = 21, NAME_BYTES = 300 };

struct bytes {
    uint8_t *at;
    size_t size, room;
    bool starved;
};

struct export
{
    const struct net_model *model;
    const struct net_uses *uses;
    const net_id *renamed; /* by value: the place of the output that it is, or NET_NONE */
    struct orch_error *error;
};

/* ---- the wire format ---- */

static void put(struct bytes *b, const void *from, size_t size)
{
    if (b->size + size > b->room) {
        const size_t room = 2 * b->room > b->size + size ? 2 * b->room : b->size + size + 64;
        uint8_t *const grown = realloc(b->at, room);
        b->starved = b->starved || !grown;
        if (!grown)
            return;
        b->at = grown;
        b->room = room;
    }
    if (size)
        memcpy(b->at + b->size, from, size);
    b->size += size;
}

static void put_varint(struct bytes *b, uint64_t number)
{
    uint8_t byte[10];
    size_t count = 0;
    for (; number > 127; number >>= 7)
        byte[count++] = (uint8_t)(number | 128);
    byte[count++] = (uint8_t)number;
    put(b, byte, count);
}

static void put_number(struct bytes *b, unsigned field, int64_t number)
{
    put_varint(b, (uint64_t)field << 3);
    put_varint(b, (uint64_t)number);
}

static void put_bytes(struct bytes *b, unsigned field, const void *from, size_t size)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, size);
    put(b, from, size);
}

static void put_text(struct bytes *b, unsigned field, const char *text)
{
    put_bytes(b, field, text, strlen(text));
}

static void put_float(struct bytes *b, unsigned field, double number)
{
    const float single = (float)number;
    put_varint(b, (uint64_t)field << 3 | 5);
    put(b, &single, sizeof single);
}

/* A message into another; it is released. */
static void put_message(struct bytes *b, unsigned field, struct bytes *inner)
{
    b->starved = b->starved || inner->starved;
    put_bytes(b, field, inner->at, inner->size);
    free(inner->at);
    *inner = (struct bytes){.at = NULL};
}

/* ---- tensors, types ---- */

static int64_t number_of(enum net_type type)
{
    int64_t number = 1;
    while (number < 64 && net_type_of_onnx(number) != type)
        number++;
    return number;
}

static void put_tensor(struct bytes *b, unsigned field, const char *name, const struct net_array *a)
{
    struct bytes t = {.at = NULL};
    for (unsigned d = 0; d < a->dims; d++)
        put_number(&t, 1, a->shape[d]);
    put_number(&t, 2, number_of(a->type));
    if (name)
        put_text(&t, 8, name);
    if (net_type_bits(a->type) == 4) {
        const uint8_t *const from = a->data;
        uint8_t *const packed = calloc((size_t)a->count / 2 + 1, 1);
        for (int64_t k = 0; packed && k < a->count; k++)
            packed[k / 2] |= (uint8_t)((from[k] & 15) << 4 * (k & 1));
        t.starved = !packed;
        put_bytes(&t, 9, packed, packed ? (size_t)(a->count + 1) / 2 : 0);
        free(packed);
    } else {
        put_bytes(&t, 9, a->data, net_array_bytes(a));
    }
    put_message(b, field, &t);
}

static void put_value_info(const struct export *x, struct bytes *b, unsigned field, const char *name, const struct net_value *v)
{
    struct bytes info = {.at = NULL}, type = {.at = NULL}, tensor = {.at = NULL}, shape = {.at = NULL};
    put_text(&info, 1, name);
    if (v->type != NET_TYPES)
        put_number(&tensor, 1, number_of(v->type));
    for (unsigned d = 0; v->shape.known && d < v->shape.dims; d++) {
        struct bytes dim = {.at = NULL};
        if (v->shape.dim[d] >= 0)
            put_number(&dim, 1, v->shape.dim[d]);
        else if (v->shape.dim[d] < NET_UNKNOWN)
            put_text(&dim, 2, net_symbol_name(x->model, v->shape.dim[d]));
        put_message(&shape, 1, &dim);
    }
    if (v->shape.known)
        put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_message(&info, 2, &type);
    put_message(b, field, &info);
}

/* ---- nodes ---- */

static bool is_input(const struct net_model *model, net_id id)
{
    for (size_t k = 0; k < model->graph->inputs; k++)
        if (model->graph->input[k] == id)
            return true;
    return false;
}

static const char *name_of(const struct export *x, net_id id, char *text)
{
    if (id == NET_NONE)
        return "";
    if (x->renamed[id] != NET_NONE)
        return x->model->output_name[x->renamed[id]];
    if (is_input(x->model, id))
        return x->model->value[id].name;
    snprintf(text, NAME_BYTES, "v%lu", (unsigned long)id);
    return text;
}

static bool put_graph(const struct export *x, struct bytes *b, const struct net_graph *graph, bool top);

static bool put_attribute(const struct export *x, struct bytes *b, const struct net_attribute *a)
{
    static const int kinds[] = {[NET_ATTR_INT] = 2,   [NET_ATTR_REAL] = 1,  [NET_ATTR_TEXT] = 3,  [NET_ATTR_INTS] = 7,
                                [NET_ATTR_REALS] = 6, [NET_ATTR_TEXTS] = 8, [NET_ATTR_ARRAY] = 4, [NET_ATTR_GRAPH] = 5};
    struct bytes to = {.at = NULL}, graph = {.at = NULL};
    bool ok = true;
    put_text(&to, 1, a->name);
    switch (a->kind) {
    case NET_ATTR_INT: put_number(&to, 3, a->integer); break;
    case NET_ATTR_REAL: put_float(&to, 2, a->real); break;
    case NET_ATTR_TEXT: put_text(&to, 4, a->text); break;
    case NET_ATTR_ARRAY: put_tensor(&to, 5, NULL, a->array); break;
    case NET_ATTR_GRAPH:
        ok = put_graph(x, &graph, a->graph, false);
        put_message(&to, 6, &graph);
        break;
    default: break;
    }
    for (size_t k = 0; k < a->count; k++)
        if (a->kind == NET_ATTR_INTS)
            put_number(&to, 8, a->integers[k]);
        else if (a->kind == NET_ATTR_REALS)
            put_float(&to, 7, a->reals[k]);
        else if (a->kind == NET_ATTR_TEXTS)
            put_text(&to, 9, a->texts[k]);
    put_number(&to, 20, kinds[a->kind]);
    put_message(b, 5, &to);
    return ok;
}

static bool put_node(const struct export *x, struct bytes *b, const struct net_node *node)
{
    struct bytes to = {.at = NULL};
    char text[NAME_BYTES], title[256];
    bool ok = true;
    if (strcmp(node->domain, "orchard") == 0 || net_attr_int(node, "flat", 0))
        return orch_fail(x->error, ORCH_UNMODELLED, "%s has no form that ONNX files know",
                         net_node_title(node, title, sizeof title));
    for (size_t k = 0; k < node->inputs; k++)
        put_text(&to, 1, name_of(x, node->input[k], text));
    for (size_t k = 0; k < node->outputs; k++)
        put_text(&to, 2, name_of(x, node->output[k], text));
    put_text(&to, 3, node->name);
    put_text(&to, 4, node->op);
    for (size_t k = 0; ok && k < node->attributes; k++)
        ok = put_attribute(x, &to, &node->attribute[k]);
    if (*node->domain)
        put_text(&to, 7, node->domain);
    put_message(b, 1, &to);
    return ok;
}

/* ---- graphs ---- */

/* An output that no node computes alone: an input, a constant, or one that is there twice. */
static void put_identity(const struct export *x, struct bytes *b, net_id from, const char *to)
{
    struct bytes node = {.at = NULL};
    char text[NAME_BYTES];
    put_text(&node, 1, name_of(x, from, text));
    put_text(&node, 2, to);
    put_text(&node, 4, "Identity");
    put_message(b, 1, &node);
}

static void put_outputs(const struct export *x, struct bytes *b, const struct net_graph *graph, bool top)
{
    for (size_t k = 0; k < graph->outputs; k++) {
        char text[NAME_BYTES];
        const net_id id = graph->output[k];
        const char *const name = top ? x->model->output_name[k] : name_of(x, id, text);
        if (top && x->renamed[id] != k)
            put_identity(x, b, id, name);
        put_value_info(x, b, 12, name, &x->model->value[id]);
    }
}

static bool put_graph(const struct export *x, struct bytes *b, const struct net_graph *graph, bool top)
{
    char text[NAME_BYTES];
    bool ok = true;
    put_text(b, 2, *graph->name ? graph->name : "graph");
    for (size_t k = 0; ok && k < graph->nodes; k++)
        ok = put_node(x, b, graph->node[k]);
    for (size_t id = 0; top && id < x->model->values; id++)
        if (x->model->value[id].constant && x->uses->count[id])
            put_tensor(b, 5, name_of(x, (net_id)id, text), x->model->value[id].constant);
    for (size_t k = 0; k < graph->inputs; k++)
        put_value_info(x, b, 11, name_of(x, graph->input[k], text), &x->model->value[graph->input[k]]);
    put_outputs(x, b, graph, top);
    return ok;
}

/* Which outputs can be written by the node that computes them. */
static net_id *find_renamed(const struct net_model *model)
{
    net_id *const renamed = malloc((model->values + 1) * sizeof *renamed);
    for (size_t id = 0; renamed && id < model->values; id++)
        renamed[id] = NET_NONE;
    for (size_t k = 0; renamed && k < model->graph->outputs; k++) {
        const net_id id = model->graph->output[k];
        if (renamed[id] == NET_NONE && !model->value[id].constant && !is_input(model, id))
            renamed[id] = (net_id)k;
    }
    return renamed;
}

bool onnx_export(const struct net_model *model, const char *path, struct orch_error *error)
{
    struct net_uses uses = {.count = NULL};
    net_id *const renamed = find_renamed(model);
    const struct export x = {model, &uses, renamed, error};
    struct bytes file = {.at = NULL}, graph = {.at = NULL}, set = {.at = NULL};
    bool ok = (renamed && net_uses_find(model, model->graph, &uses)) || orch_no_memory(error);
    ok = ok && put_graph(&x, &graph, model->graph, true);
    put_number(&file, 1, IR_VERSION);
    put_text(&file, 2, "orchard");
    put_message(&file, 7, &graph);
    put_text(&set, 1, "");
    put_number(&set, 2, OPSET);
    put_message(&file, 8, &set);
    if (ok && file.starved)
        ok = orch_no_memory(error);
    ok = ok && (file.size <= ONNX_BYTES_MAX || orch_fail(error, ORCH_USAGE, "%s: longer than 2 GiB", path));
    ok = ok && output_file_write(path, file.at, file.size, error);
    free(file.at);
    free(renamed);
    net_uses_free(&uses);
    return ok;
}
