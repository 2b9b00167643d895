/* Operators: what each takes, what shape its results have, and how the reference computes them.
 *
 * A row of operators.inc is an operator in the form that nodes have after the import (sim/network/onnx/normalise.c): the newest
 * one, where parameters that became inputs are inputs. The shape rule is given facts of the inputs and states facts of the
 * outputs; it also refuses nodes that make no sense. It is run when a network is opened, with what is known by then, and again
 * before the operator is evaluated, with every input known; outputs whose type and shape it states have been made, as zeros, when
 * `evaluate` is called, which fills them.
 *
 * The reference is for comparison, for folding of constants, and for operators that a unit does not have, under its own name. It
 * computes floating-point operators in double and rounds results once, and integers exactly.
 */
#ifndef ORCHARD_SIM_NETWORK_OPERATORS_OPERATOR_H
#define ORCHARD_SIM_NETWORK_OPERATORS_OPERATOR_H

#include "sim/network/graph/graph.h"

/* What is known of a value. */
struct net_fact {
    bool present; /* false = the input was left out, the output is not wanted */
    enum net_type type;
    struct net_shape shape;
    const struct net_array *constant;
};

struct net_infer {
    const struct net_node *node;
    const struct net_fact *in;
    size_t inputs;
    struct net_fact *out;
    size_t outputs;
    struct orch_error *error;
};

struct net_machine; /* what runs subgraphs: run.h */

struct net_call {
    const struct net_node *node;
    struct net_array *const *in; /* NULL = left out */
    size_t inputs;
    struct net_array **out;      /* NULL = not wanted, or to be made by `evaluate` */
    const struct net_fact *fact; /* what the rule stated of each output */
    size_t outputs;
    struct net_machine *machine;
    struct orch_error *error;
};

enum { NET_INPUTS_ANY = 1 << 20 };

struct net_operator {
    const char *name, *domain;
    int least_inputs, most_inputs;
    bool (*infer)(struct net_infer *infer);
    bool (*evaluate)(struct net_call *call); /* NULL = shapes only */
    bool own_outputs;                        /* `evaluate` makes the results: views, or shapes that depend on contents */
    bool impure;                             /* not to be folded or merged: subgraphs */
};

/* NULL when the reference has no such operator. */
const struct net_operator *net_operator_find(const char *name, const char *domain);
/* The axis along which Scan takes its input, or leaves its result, `scan` of so many dimensions; it may not be among them. */
int64_t net_scan_axis(const struct net_node *node, bool result, size_t scan, unsigned dims);
const struct net_operator *net_operator_at(size_t index); /* NULL past the last */

/* The rule of the node on these facts; the error names the node. */
bool net_infer_node(struct net_infer *infer);
/* "node 'conv1' (Conv)": for messages. Static text in `text`. */
const char *net_node_title(const struct net_node *node, char *text, size_t size);

/* ---- what rules share ---- */

bool net_refuse(struct orch_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A short list of integers: axes, pads, shapes. */
struct net_ints {
    unsigned count;
    int64_t at[2 * NET_DIMS_MAX];
};
/* Of an attribute (nothing when it is missing) and of an input whose contents are known (*known tells). */
bool net_ints_attr(struct net_infer *i, const char *name, struct net_ints *list);
bool net_ints_input(struct net_infer *i, size_t input, struct net_ints *list, bool *known);

static inline const struct net_fact *net_fact_in(const struct net_infer *i, size_t input)
{
    static const struct net_fact nothing = {.type = NET_TYPES};
    return input < i->inputs && i->in[input].present ? &i->in[input] : &nothing;
}
static inline bool net_shape_ready(const struct net_infer *i, size_t input)
{
    return net_fact_in(i, input)->shape.known;
}
/* States type and shape of an output if it is wanted. */
void net_state(struct net_infer *i, size_t output, enum net_type type, const struct net_shape *shape);
struct net_shape net_shape_of(const int64_t *dim, unsigned dims);
bool net_shape_complete(const struct net_shape *shape); /* no symbols */
/* An axis in -dims .. dims-1 as 0 .. dims-1; false with an error. */
bool net_axis(struct net_infer *i, int64_t axis, unsigned dims, unsigned *result);
/* The common shape of two; false with an error when there is none. */
bool net_broadcast_shapes(struct net_infer *i, const struct net_shape *a, const struct net_shape *b, struct net_shape *common);
/* Product of dimensions; NET_UNKNOWN when one is not known. */
int64_t net_product(const struct net_shape *shape, unsigned from, unsigned to);
/* The sum or difference of a dimension and a number; unknown stays unknown unless the number is 0. */
int64_t net_dim_plus(int64_t dim, int64_t number);

/* ---- rules that many operators have ---- */

bool net_rule_same(struct net_infer *i);      /* out 0 is like in 0 */
bool net_rule_broadcast(struct net_infer *i); /* of all inputs, type of the first */
bool net_rule_logical(struct net_infer *i);   /* the same, bool */

/* ---- what evaluation shares ---- */

/* Operands with the strides by which they are repeated over a common shape, adjacent dimensions merged where possible. */
struct net_walk {
    unsigned dims;
    int64_t shape[NET_DIMS_MAX];
    size_t operands;
    int64_t (*stride)[NET_DIMS_MAX]; /* by operand */
};
bool net_walk_broadcast(struct net_walk *walk, const struct net_array *result, struct net_array *const *in, size_t operands,
                        struct orch_error *error);
void net_walk_free(struct net_walk *walk);
/* The offset of each operand at row `row` (all dimensions but the last). */
void net_walk_row(const struct net_walk *walk, int64_t row, int64_t *offset);

/* Copies elements in the order of `shape`, read with the given strides from `first` on, to out from `at` on. */
void net_copy_strided(const struct net_array *from, int64_t first, const int64_t *stride, const int64_t *shape, unsigned dims,
                      struct net_array *out, int64_t at);
/* Makes output `index` when the rule could not. */
bool net_make_output(struct net_call *call, size_t index, enum net_type type, const int64_t *shape, unsigned dims);
/* All elements as doubles, from malloc; NULL with an error. */
double *net_doubles(const struct net_array *array, struct orch_error *error);
static inline struct net_array *net_in(const struct net_call *call, size_t index)
{
    return index < call->inputs ? call->in[index] : NULL;
}
static inline struct net_array *net_out(const struct net_call *call, size_t index)
{
    return index < call->outputs ? call->out[index] : NULL;
}

/* Applies an activation (a pointwise operator of one input) to numbers in place. False when there is none of that name. */
struct net_activation {
    void (*apply)(const double *const *in, double *out, size_t count, const double *parameter);
    double parameter[3];
};
bool net_activation_find(const char *name, struct net_activation *activation);
/* Of the attributes that fused nodes have: activation, activation_alpha, activation_beta. */
bool net_activation_of(const struct net_node *node, struct net_activation *activation);
void net_activate(const struct net_activation *activation, double *number, size_t count);

/* LSTM: a state is rounded to eight bits, as DynamicQuantizeLinear does, before its product with R. */
#define NET_ROUNDED_STATE "rounded_state"

#endif
