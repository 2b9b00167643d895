/* Nodes that change nothing. */
#include "sim/network/passes/match.h"
#include "sim/network/passes/passes.h"

#include <string.h>

static bool same_complete_shape(const struct net_match *m, net_id a, net_id b)
{
    const struct net_shape *const x = net_value_shape(m, a), *const y = net_value_shape(m, b);
    if (!x->known || !y->known || x->dims != y->dims || m->model->value[a].type != m->model->value[b].type)
        return false;
    for (unsigned d = 0; d < x->dims; d++)
        if (x->dim[d] != y->dim[d] || x->dim[d] == NET_UNKNOWN)
            return false;
    return true;
}

static bool sorted_permutation(const struct net_node *node)
{
    size_t count;
    const int64_t *const perm = net_attr_ints(node, "perm", &count);
    for (size_t k = 0; k < count; k++)
        if (perm[k] != (int64_t)k)
            return false;
    return count > 0;
}

static bool all_zero(const struct net_array *a)
{
    for (int64_t k = 0; a && k < a->count; k++)
        if (net_array_integer(a, k) != 0)
            return false;
    return a != NULL;
}

/* A constant that is the same small whole number everywhere, beside another operand. */
static net_id beside_even(const struct net_match *m, const struct net_node *node, int64_t number)
{
    for (size_t k = 0; k < 2 && node->inputs == 2; k++) {
        const struct net_array *const a = net_constant(m, node->input[k]);
        bool even = a && a->count > 0 && !a->blank;
        for (int64_t i = 0; even && i < a->count; i++)
            even = net_array_double(a, i) == (double)number;
        if (even)
            return node->input[1 - k];
    }
    return NET_NONE;
}

/* Adding nothing, multiplying by one: only where the constant does not widen the shape. */
static bool neutral(const struct net_match *m, const struct net_node *node, net_id *kept)
{
    const bool sum = net_is(node, "Add"), product = net_is(node, "Mul");
    const bool second = net_is(node, "Sub") || net_is(node, "Div") || net_is(node, "Pow");
    double number;
    if (!sum && !product && !second)
        return false;
    *kept = net_beside_scalar(m, node, &number);
    if (*kept == NET_NONE && !second) { /* masks that hide nothing */
        *kept = beside_even(m, node, product);
        number = product;
    }
    if (*kept == NET_NONE || (second && *kept != node->input[0]))
        return false;
    return number == (sum || net_is(node, "Sub") ? 0 : 1) && same_complete_shape(m, *kept, node->output[0]);
}

/* At inference: training is not asked for, and nobody wants the mask. */
static bool idle_dropout(const struct net_match *m, const struct net_node *node)
{
    double training = 0;
    if (!net_is(node, "Dropout") || net_output(node, 1) != NET_NONE)
        return false;
    return net_input(node, 2) == NET_NONE || (net_scalar(m, node->input[2], &training) && training == 0);
}

/* Of one element each, all dimensions that are reduced. */
static bool reduces_nothing(const struct net_match *m, const struct net_node *node)
{
    static const char *const ops[] = {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        if (net_is(node, ops[k]))
            return same_complete_shape(m, node->input[0], node->output[0]);
    return false;
}

static bool changes_nothing(const struct net_match *m, const struct net_node *node, net_id *kept)
{
    static const char *const by_shape[] = {"Reshape", "Expand", "Squeeze", "Unsqueeze", "Flatten", "Slice", "Tile", "Cast"};
    *kept = node->input[0];
    if (net_is(node, "Identity") || idle_dropout(m, node))
        return true;
    if ((net_is(node, "Concat") || net_is(node, "Sum") || net_is(node, "Max") || net_is(node, "Min") || net_is(node, "Mean")) &&
        node->inputs == 1)
        return true;
    if (net_is(node, "Clip"))
        return net_input(node, 1) == NET_NONE && net_input(node, 2) == NET_NONE;
    if (reduces_nothing(m, node))
        return true;
    if (net_is(node, "Transpose"))
        return sorted_permutation(node);
    if (net_is(node, "Pad"))
        return all_zero(net_constant(m, net_input(node, 1)));
    for (size_t k = 0; k < sizeof by_shape / sizeof *by_shape; k++)
        if (net_is(node, by_shape[k])) {
            double step = 1; /* a reversed slice has the same shape */
            const bool reversed =
                net_is(node, "Slice") && net_input(node, 4) != NET_NONE && !(net_scalar(m, node->input[4], &step) && step > 0);
            return !reversed && same_complete_shape(m, node->input[0], node->output[0]);
        }
    return neutral(m, node, kept);
}

static bool drop(struct net_match *m, struct net_node *node)
{
    net_id kept;
    if (node->inputs == 0 || node->input[0] == NET_NONE || net_output(node, 0) == NET_NONE ||
        m->uses.count[node->output[0]] == 0 || !changes_nothing(m, node, &kept))
        return false;
    net_retire(m, node, kept);
    return true;
}

/* Two transpositions in a row are one. */
static bool join_transposes(struct net_match *m, struct net_node *node)
{
    const struct net_node *const first = net_is(node, "Transpose") ? net_made_by(m, node->input[0], "Transpose", false) : NULL;
    size_t count, count_first;
    int64_t both[NET_DIMS_MAX];
    const int64_t *const perm = net_attr_ints(node, "perm", &count);
    const int64_t *const before = first ? net_attr_ints(first, "perm", &count_first) : NULL;
    if (!before || !perm || count != count_first || count > NET_DIMS_MAX)
        return false;
    for (size_t k = 0; k < count; k++)
        both[k] = before[perm[k]];
    node->input[0] = first->input[0];
    net_must(m, net_set_ints(node, "perm", both, count));
    return true;
}

/* A softmax over all dimensions from an axis on, where only the last of them is more than 1, is the plain one. */
static bool plain_softmax(struct net_match *m, struct net_node *node)
{
    const struct net_shape *const x = net_attr_int(node, "flat", 0) ? net_value_shape(m, node->input[0]) : NULL;
    if (!x || !x->known || x->dims == 0)
        return false;
    const int64_t given = net_attr_int(node, "axis", 1), axis = given < 0 ? given + x->dims : given;
    for (int64_t d = axis; d + 1 < (int64_t)x->dims; d++)
        if (x->dim[d] != 1)
            return false;
    if (axis >= (int64_t)x->dims)
        return false;
    net_attr_remove(node, "flat");
    net_must(m, net_set_int(node, "axis", -1));
    return true;
}

/* A constant bias that is taken several times is another constant. */
static bool plain_bias(struct net_match *m, struct net_node *node)
{
    const struct net_array *const bias = net_is(node, "Gemm") ? net_constant(m, net_input(node, 2)) : NULL;
    const double beta = net_attr_real(node, "beta", 1);
    if (!bias || !bias->data || beta == 1 || !net_type_is_float(bias->type))
        return false;
    struct net_array *const own = net_array_new(bias->type, bias->shape, bias->dims, NULL);
    for (int64_t k = 0; own && k < bias->count; k++) {
        const double number = beta * net_array_double(bias, k);
        net_write_doubles(own->type, own->data, k, 1, &number);
    }
    const net_id id = own ? net_constant_add(m->model, node->name, own) : NET_NONE;
    net_must(m, id != NET_NONE);
    if (id == NET_NONE)
        return false;
    net_attr_remove(node, "beta");
    node->input[2] = id;
    return true;
}

static bool simplify(struct net_match *m, struct net_node *node)
{
    return plain_softmax(m, node) || plain_bias(m, node) || join_transposes(m, node) || drop(m, node);
}

bool net_pass_identity(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    return net_rewrite(model, simplify, changes, error);
}
