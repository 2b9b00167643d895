/* Constants: nodes whose inputs are known are computed now, shapes that are known become numbers, and an If with a known
 * condition becomes the branch that is taken. */
#include "sim/network/graph/uses.h"
#include "sim/network/operators/run.h"
#include "sim/network/passes/passes.h"

#include <stdlib.h>
#include <string.h>

/* Sums of products that are worth computing ahead: a few seconds at most. */
#define FOLDED_PRODUCTS_MAX (INT64_C(1) << 31)

struct fold {
    struct net_model *model;
    int64_t bytes;
    unsigned *changes;
    struct orch_error *error;
};

static void settle(struct fold *f, net_id id, struct net_array *array)
{
    struct net_value *const v = &f->model->value[id];
    net_array_release(v->constant);
    v->constant = array;
    v->type = array->type;
    v->shape = net_shape_of(array->shape, array->dims);
    f->bytes += (int64_t)net_array_bytes(array);
}

/* Shape and Size need no values. */
static bool fold_shape(struct fold *f, const struct net_node *node)
{
    const struct net_value *const x = &f->model->value[node->input[0]];
    struct net_array *in = NULL, *out[1] = {NULL};
    struct orch_error ignored;
    if (!net_shape_complete(&x->shape) || x->type == NET_TYPES)
        return false;
    /* An array that claims the shape and has no elements to show for it. */
    struct net_array claim = {.type = x->type, .dims = x->shape.dims, .references = 1};
    memcpy(claim.shape, x->shape.dim, sizeof claim.shape);
    claim.count = net_product(&x->shape, 0, x->shape.dims);
    in = &claim;
    if (claim.count < 0 || !net_evaluate_node(node, &in, out, NULL, &ignored))
        return false;
    settle(f, node->output[0], out[0]);
    return true;
}

/* Operators whose work is not in proportion to what goes in and out. */
static bool is_heavy(const struct net_node *node)
{
    static const char *const heavy[] = {
        "Conv",     "ConvTranspose",   "ConvInteger", "QLinearConv", "MatMul",      "MatMulInteger", "QLinearMatMul",
        "Gemm",     "Einsum",          "LSTM",        "GRU",         "RNN",         "Unique",        "NonMaxSuppression",
        "RoiAlign", "GridSample",      "Resize",      "MaxPool",     "AveragePool", "LpPool",        "LRN",
        "Det",      "ReverseSequence", "DFT",         "STFT"};
    for (size_t k = 0; k < sizeof heavy / sizeof *heavy; k++)
        if (strcmp(node->op, heavy[k]) == 0)
            return true;
    return *node->domain != 0;
}

/* How many products an element of a result takes at most: a filter, of convolutions, and a row, of products of matrices whose
 * operands are known; 0 = there is no such rule. */
static int64_t products_each(const struct fold *f, const struct net_node *node)
{
    static const char *const names[] = {"Conv", "ConvInteger", "MatMul", "MatMulInteger"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const bool conv = k < 2;
        const net_id of = net_input(node, conv ? 1 : 0);
        const struct net_array *const a = of == NET_NONE ? NULL : f->model->value[of].constant;
        if (strcmp(node->op, names[k]) == 0 && a && a->dims >= (conv ? 3 : 1) && a->shape[0] > 0)
            return conv ? a->count / a->shape[0] : a->shape[a->dims - 1];
    }
    return 0;
}

static bool affordable(const struct fold *f, const struct net_node *node)
{
    int64_t bytes = 0, count, elements = 0, largest = 1, products;
    for (size_t k = 0; k < node->inputs; k++) {
        const struct net_array *const a = node->input[k] == NET_NONE ? NULL : f->model->value[node->input[k]].constant;
        largest = a && a->count > largest ? a->count : largest;
    }
    for (size_t k = 0; k < node->outputs; k++) {
        const struct net_value *const v = node->output[k] == NET_NONE ? NULL : &f->model->value[node->output[k]];
        if (!v || !net_shape_complete(&v->shape) || v->type == NET_TYPES)
            continue;
        if (!net_shape_count(v->type, v->shape.dim, v->shape.dims, &count))
            return false;
        bytes += count * (int64_t)net_type_bytes(v->type);
        elements += count;
    }
    const int64_t each = products_each(f, node);
    if (each == 0)
        elements = elements > largest ? elements : largest;
    if (is_heavy(node) && (__builtin_mul_overflow(elements, each ? each : largest, &products) || products > FOLDED_PRODUCTS_MAX))
        return false;
    return f->bytes + bytes <= f->model->folded_bytes_max;
}

/* Numbers that only weights have so many of; fewer may decide shapes. */
#define BLANK_FROM 4096

static bool may_be_blank(const struct net_value *v)
{
    return v->type != NET_TYPES && net_type_is_float(v->type) && net_shape_complete(&v->shape);
}

/* Where contents are not wanted, weights that follow from constants follow as blank ones, and so does all that follows from
 * blank ones. */
static bool fold_blank(struct fold *f, const struct net_node *node, struct net_array *const *in, bool *done)
{
    bool blank = false, all = true, large = true;
    *done = false;
    for (size_t k = 0; k < node->inputs; k++)
        blank |= in[k] && in[k]->blank;
    for (size_t k = 0; k < node->outputs; k++) {
        const struct net_value *const v = node->output[k] == NET_NONE ? NULL : &f->model->value[node->output[k]];
        all = all && v && may_be_blank(v);
        large = large && all && net_product(&v->shape, 0, v->shape.dims) >= BLANK_FROM;
    }
    if (!blank && !(f->model->shapes_only && large))
        return true;
    for (size_t k = 0; all && k < node->outputs; k++) {
        const struct net_value *const v = &f->model->value[node->output[k]];
        struct net_array *const array = net_array_blank(v->type, v->shape.dim, v->shape.dims, f->error);
        if (!array)
            return false;
        settle(f, node->output[k], array);
    }
    *done = all;
    return all;
}

static bool fold_node(struct fold *f, const struct net_node *node)
{
    bool done;
    struct net_array *in[16], *out[16] = {NULL};
    struct orch_error ignored;
    if (!node->row || node->row->impure || !node->row->evaluate || node->inputs > 16 || node->outputs > 16 ||
        !affordable(f, node))
        return false;
    for (size_t k = 0; k < node->inputs; k++) {
        in[k] = node->input[k] == NET_NONE ? NULL : f->model->value[node->input[k]].constant;
        if (node->input[k] != NET_NONE && !in[k])
            return (strcmp(node->op, "Shape") == 0 || strcmp(node->op, "Size") == 0) && !*node->domain &&
                   net_output(node, 0) != NET_NONE && fold_shape(f, node);
    }
    if (!fold_blank(f, node, in, &done) || done)
        return done;
    if (!net_evaluate_node(node, in, out, NULL, &ignored))
        return false; /* it will be said when it is run, if it ever is */
    for (size_t k = 0; k < node->outputs; k++)
        if (node->output[k] != NET_NONE)
            settle(f, node->output[k], out[k]);
        else
            net_array_release(out[k]);
    return true;
}

/* Puts the nodes of the branch that is taken in the place of the If, which is left without users. */
static bool unfold_if(struct fold *f, struct net_graph *graph, size_t at, bool *done)
{
    struct net_node *const node = graph->node[at];
    const struct net_array *const condition = strcmp(node->op, "If") == 0 && node->inputs && node->input[0] != NET_NONE
                                                  ? f->model->value[node->input[0]].constant
                                                  : NULL;
    *done = false;
    if (!condition || condition->count != 1)
        return true;
    struct net_graph *const branch = net_attr_graph(node, net_array_integer(condition, 0) ? "then_branch" : "else_branch");
    if (!branch || branch->outputs != node->outputs)
        return true;
    for (size_t k = 0; k < branch->nodes; k++) {
        struct net_node *const moved = branch->node[k];
        branch->node[k] = NULL;
        if (!net_graph_insert(graph, at + k, moved))
            return orch_no_memory(f->error);
    }
    branch->nodes = 0;
    for (size_t k = 0; k < node->outputs; k++)
        if (node->output[k] != NET_NONE)
            net_replace(f->model->graph, node->output[k], branch->output[k]);
    *done = true;
    return true;
}

/* Marks of nodes that go, and room for those that came in at `at`, with the If behind them marked. */
static bool shift_marks(bool **gone, size_t before, size_t at, size_t more)
{
    bool *const grown = realloc(*gone, before + more + 1);
    if (!grown)
        return false;
    memmove(grown + at + more, grown + at, before - at);
    memset(grown + at, 0, more);
    grown[at + more] = true;
    *gone = grown;
    return true;
}

static bool fold_graph(struct fold *f, struct net_graph *graph)
{
    bool *gone = calloc(graph->nodes + 1, sizeof *gone), unfolded = false;
    bool ok = gone || orch_no_memory(f->error);
    for (size_t i = 0; ok && i < graph->nodes; i += !unfolded) {
        const size_t before = graph->nodes;
        struct net_node *const node = graph->node[i];
        unfolded = false;
        if (gone[i])
            continue;
        ok = net_infer_one(f->model, node, f->error) && unfold_if(f, graph, i, &unfolded);
        if (ok && unfolded) {
            ok = shift_marks(&gone, before, i, graph->nodes - before) || orch_no_memory(f->error);
            ++*f->changes;
            continue;
        }
        gone[i] = ok && fold_node(f, node);
        *f->changes += gone[i];
        for (size_t k = 0; ok && !gone[i] && k < node->attributes; k++)
            if (node->attribute[k].kind == NET_ATTR_GRAPH) {
                struct orch_error ignored; /* a branch that is not taken need not make sense */
                struct fold inner = {f->model, f->bytes, f->changes, &ignored};
                (void)fold_graph(&inner, node->attribute[k].graph);
                f->bytes = inner.bytes;
            }
    }
    if (gone)
        net_graph_sweep(graph, gone);
    free(gone);
    return ok;
}

bool net_pass_fold(struct net_model *model, unsigned *changes, struct orch_error *error)
{
    struct fold f = {.model = model, .changes = changes, .error = error};
    return fold_graph(&f, model->graph);
}
