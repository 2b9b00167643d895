/* Networks as text, for tests:
 *
 *     in x f32[1,3,batch]              an input; f32? has no known shape
 *     const w f32[8,3] random          or numbers: const k i64[2] 1 2
 *     y = Conv(x, w, ) pads=1,1,1,1 mode=linear alpha=0.5     attributes: lists of integers, texts, numbers with a point
 *     out y
 */
#ifndef ORCHARD_TESTS_SIM_NETWORK_NETWORK_TEXT_H
#define ORCHARD_TESTS_SIM_NETWORK_NETWORK_TEXT_H

#include "sim/network/graph/graph.h"
#include "sim/network/operators/operator.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline net_id text_value(struct net_model *m, const char *name)
{
    for (size_t k = 0; k < m->values; k++)
        if (strcmp(m->value[k].name, name) == 0)
            return (net_id)k;
    return net_value_add(m, name);
}

/* "f32[1,3,batch]" */
static inline void text_type(struct net_model *m, char *text, enum net_type *type, struct net_shape *shape)
{
    char *const bracket = strpbrk(text, "[?");
    *shape = (struct net_shape){.known = bracket && *bracket == '['};
    *type = NET_TYPES;
    for (unsigned t = 0; bracket && t < NET_TYPES; t++)
        if (strncmp(net_type_name((enum net_type)t), text, (size_t)(bracket - text)) == 0 &&
            strlen(net_type_name((enum net_type)t)) == (size_t)(bracket - text))
            *type = (enum net_type)t;
    char *rest = NULL;
    for (char *dim = shape->known ? strtok_r(bracket + 1, ",]", &rest) : NULL; dim; dim = strtok_r(NULL, ",]", &rest)) {
        char *end;
        const long long size = strtoll(dim, &end, 10);
        shape->dim[shape->dims++] = *end ? strcmp(dim, "?") == 0 ? NET_UNKNOWN : net_symbol(m, dim) : size;
    }
}

static inline void text_constant(struct net_model *m, char *name, char *type_text, char *numbers)
{
    static uint64_t state = 7;
    enum net_type type;
    struct net_shape shape;
    text_type(m, type_text, &type, &shape);
    struct net_array *const a = net_array_new(type, shape.dim, shape.dims, NULL);
    const bool random = numbers && strncmp(numbers, "random", 6) == 0;
    for (int64_t k = 0; a && k < a->count; k++) {
        const double number = random    ? 0.1 + (double)(suite_random(&state) % 1000) / 1000
                              : numbers ? strtod(numbers, &numbers)
                                        : 0;
        net_write_doubles(type, a->data, k, 1, &number);
    }
    struct net_value *const v = &m->value[text_value(m, name)];
    v->constant = a;
    v->type = type;
    v->shape = shape;
}

static inline void text_attribute(struct net_node *node, const char *name, char *value)
{
    int64_t list[32];
    size_t count = 0;
    if (!strpbrk(value, "0123456789") || strpbrk(value, "abcdfghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
        net_set_text(node, name, value);
    } else if (strchr(value, '.')) {
        net_set_real(node, name, strtod(value, NULL));
    } else {
        char *rest = NULL;
        const bool single = !strchr(value, ',');
        for (char *one = strtok_r(value, ",", &rest); one && count < 32; one = strtok_r(NULL, ",", &rest))
            list[count++] = strtoll(one, NULL, 10);
        if (single)
            net_set_int(node, name, list[0]);
        else
            net_set_ints(node, name, list, count);
    }
}

/* "y, z = Op(a, , b) name=value ..." A list of one number is written "1,". */
static inline void text_node(struct net_model *m, char *line)
{
    char *const equals = strstr(line, " = "), *const open = strchr(line, '('), *const close = strchr(line, ')'), *rest = NULL;
    *equals = *open = *close = 0;
    size_t inputs = close > open + 1, outputs = 1;
    for (const char *c = open + 1; *c; c++)
        inputs += *c == ',';
    for (const char *c = line; *c; c++)
        outputs += *c == ',';
    char *const op = equals + 3, *const dot = strchr(op, '.');
    if (dot)
        *dot = 0;
    struct net_node *const node = net_node_new(line, dot ? dot + 1 : op, dot ? op : "", inputs, outputs);
    char *at = open + 1;
    for (size_t k = 0; k < inputs; k++) {
        char *const end = at + strcspn(at, ",");
        const bool last = !*end;
        *end = 0;
        at += strspn(at, " ");
        node->input[k] = *at ? text_value(m, at) : NET_NONE;
        at = last ? end : end + 1;
    }
    size_t k = 0;
    for (char *name = strtok_r(line, ", ", &rest); name && k < outputs; name = strtok_r(NULL, ", ", &rest))
        node->output[k++] = text_value(m, name);
    for (char *one = strtok_r(close + 1, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        char *const is = strchr(one, '=');
        *is = 0;
        text_attribute(node, one, is + 1);
    }
    node->version = 21;
    node->row = net_operator_find(node->op, node->domain);
    net_graph_insert(m->graph, m->graph->nodes, node);
}

static inline struct net_model *network_of(const char *text)
{
    struct net_model *const m = net_model_new("text");
    char *const copy = strdup(text), *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char name[64], type[128];
        int used = 0;
        if (sscanf(line, "in %63s %127s", name, type) == 2) {
            const net_id id = text_value(m, name);
            text_type(m, type, &m->value[id].type, &m->value[id].shape);
            net_graph_add_input(m->graph, id);
        } else if (sscanf(line, "const %63s %127s %n", name, type, &used) == 2) {
            text_constant(m, name, type, line + used);
        } else if (sscanf(line, "out %63s", name) == 1) {
            net_model_add_output(m, text_value(m, name));
        } else {
            text_node(m, line);
        }
    }
    free(copy);
    return m;
}

#endif
