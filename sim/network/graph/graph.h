/* Networks as graphs: values (tensors with type, shape and perhaps contents), and nodes that compute values from values.
 *
 * All values of a network, those of subgraphs too, stand in one list and are named by their place in it. A node of a subgraph
 * therefore uses values of the graphs around it like its own. Nodes stand in an order in which every value is computed before it
 * is used. A value has one producer; what has none is an input of its graph or a constant.
 *
 * A dimension that is not known is a negative number, the name of a symbol: two dimensions with the same symbol are equal.
 * NET_UNKNOWN is the symbol of dimensions of which nothing is known, not even that.
 */
#ifndef ORCHARD_SIM_NETWORK_GRAPH_GRAPH_H
#define ORCHARD_SIM_NETWORK_GRAPH_GRAPH_H

#include "sim/network/graph/array.h"

typedef uint32_t net_id; /* of a value */
#define NET_NONE UINT32_MAX

#define NET_UNKNOWN (-1)

struct net_shape {
    bool known; /* how many dimensions, at least */
    unsigned dims;
    int64_t dim[NET_DIMS_MAX];
};

struct net_value {
    char *name;
    enum net_type type;     /* NET_TYPES = not known yet */
    enum net_type declared; /* of an output of the model: what the file says; NET_TYPES = nothing */
    struct net_shape shape;
    struct net_array *constant; /* NULL = computed or an input */
};

enum net_attribute_kind {
    NET_ATTR_INT,
    NET_ATTR_REAL,
    NET_ATTR_TEXT,
    NET_ATTR_INTS,
    NET_ATTR_REALS,
    NET_ATTR_TEXTS,
    NET_ATTR_ARRAY,
    NET_ATTR_GRAPH
};

struct net_attribute {
    char *name;
    enum net_attribute_kind kind;
    int64_t integer;
    double real;
    char *text;
    int64_t *integers;
    double *reals;
    char **texts;
    size_t count; /* of a list */
    struct net_array *array;
    struct net_graph *graph;
};

struct net_operator; /* a row of sim/network/operators */

struct net_node {
    char *name, *op, *domain; /* domain "" is ONNX's own, "orchard" that of fused operators */
    int64_t version;          /* of the operator set that the node was written in */
    const struct net_operator *row;
    net_id *input, *output; /* NET_NONE = left out */
    size_t inputs, outputs;
    struct net_attribute *attribute;
    size_t attributes;
};

struct net_graph {
    char *name;
    net_id *input, *output;
    size_t inputs, outputs;
    struct net_node **node;
    size_t nodes, room;
};

struct net_model {
    char *path; /* for messages */
    struct net_value *value;
    size_t values, room;
    char **symbol;  /* names of dimensions; symbol[0] stands for NET_UNKNOWN */
    int64_t *bound; /* what each is, or -1 */
    int64_t *usual; /* what each is when nobody says, or -1 */
    size_t symbols;
    struct net_graph *graph;
    char **output_name; /* of the graph's outputs as the file calls them: passes may let other values take their places */
    size_t output_names;
    char **label; /* names of classes that the file holds, by their number */
    size_t labels;
    bool blue_first;          /* images are given as blue, green, red */
    size_t part_first[5];     /* of networks that were joined (sim/network/join.h): the node that each begins with, */
    unsigned parts;           /* and how many they are; 0 = it is one network */
    uint64_t content;         /* a checksum of a model's files, where it has several; else 0 */
    int64_t opset;            /* of ONNX's own operators */
    int64_t folded_bytes_max; /* of constants that folding may make */
    bool shapes_only;         /* weights need no contents: large constants that passes make are blank */
};

/* ---- models ---- */

struct net_model *net_model_new(const char *path); /* NULL when memory is out */
void net_model_free(struct net_model *model);      /* NULL is allowed */
/* A second one that may be changed by itself; both share their arrays. NULL when memory is out. */
struct net_model *net_model_copy(const struct net_model *model);
/* A new value; NET_NONE when memory is out. */
net_id net_value_add(struct net_model *model, const char *name);
/* A new constant, whose array is taken over (NULL is passed on as NET_NONE). */
net_id net_constant_add(struct net_model *model, const char *name, struct net_array *array);
/* An output of the top graph, under the value's present name. */
bool net_model_add_output(struct net_model *model, net_id value);
/* The dimension of that name, an old one or a new one; NET_UNKNOWN for an empty name or when memory is out. */
int64_t net_symbol(struct net_model *model, const char *name);
/* The same, with what it is when it is not bound. */
int64_t net_symbol_usual(struct net_model *model, const char *name, int64_t usual);
/* Another name of a class; false when memory is out. */
bool net_model_add_label(struct net_model *model, const char *label);
/* "batch", "?"; the name of a negative dimension. */
const char *net_symbol_name(const struct net_model *model, int64_t dim);
/* The dimension with its symbol replaced by what that is bound to, if it is. */
int64_t net_dim_bound(const struct net_model *model, int64_t dim);

/* ---- graphs and nodes ---- */

struct net_graph *net_graph_new(const char *name);
void net_graph_free(struct net_graph *graph);
bool net_graph_add_input(struct net_graph *graph, net_id value);
bool net_graph_add_output(struct net_graph *graph, net_id value);
/* Takes the node over, even on failure. `at` = graph->nodes appends. */
bool net_graph_insert(struct net_graph *graph, size_t at, struct net_node *node);
/* Removes the nodes whose mark is set (by position), and frees them. */
void net_graph_sweep(struct net_graph *graph, const bool *gone);

struct net_node *net_node_new(const char *name, const char *op, const char *domain, size_t inputs, size_t outputs);
void net_node_free(struct net_node *node);
bool net_node_rename(struct net_node *node, const char *op, const char *domain);
/* Makes the node have so many inputs; new ones are left out. */
bool net_node_inputs(struct net_node *node, size_t inputs);
static inline net_id net_input(const struct net_node *node, size_t index)
{
    return index < node->inputs ? node->input[index] : NET_NONE;
}
static inline net_id net_output(const struct net_node *node, size_t index)
{
    return index < node->outputs ? node->output[index] : NET_NONE;
}

/* ---- attributes ---- */

const struct net_attribute *net_attribute(const struct net_node *node, const char *name);
int64_t net_attr_int(const struct net_node *node, const char *name, int64_t missing);
double net_attr_real(const struct net_node *node, const char *name, double missing);
const char *net_attr_text(const struct net_node *node, const char *name, const char *missing);
/* NULL and 0 when there is none of that kind. */
const int64_t *net_attr_ints(const struct net_node *node, const char *name, size_t *count);
struct net_graph *net_attr_graph(const struct net_node *node, const char *name);

/* A new attribute of that name in place of the old one; NULL when memory is out. The caller fills it. */
struct net_attribute *net_attr_set(struct net_node *node, const char *name, enum net_attribute_kind kind);
bool net_set_int(struct net_node *node, const char *name, int64_t value);
bool net_set_real(struct net_node *node, const char *name, double value);
bool net_set_text(struct net_node *node, const char *name, const char *value);
bool net_set_ints(struct net_node *node, const char *name, const int64_t *value, size_t count);
void net_attr_remove(struct net_node *node, const char *name);
/* Equal names, kinds and contents; attributes with subgraphs never are. */
bool net_attributes_same(const struct net_node *a, const struct net_node *b);

#endif
