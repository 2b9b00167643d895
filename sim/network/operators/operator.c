#include "sim/network/operators/operator.h"

#include "isa/array_count.h"
#include "sim/network/operators/families.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct net_operator operators[] = {
#define OP(name, domain, least, most, infer, evaluate, ...)                                                                      \
    {#name, domain, least, most, net_rule_##infer, net_eval_##evaluate, __VA_ARGS__},
#include "sim/network/operators/operators.inc"
#undef OP
};

const struct net_operator *net_operator_at(size_t index)
{
    return index < ARRAY_COUNT(operators) ? &operators[index] : NULL;
}

const struct net_operator *net_operator_find(const char *name, const char *domain)
{
    for (size_t i = 0; i < ARRAY_COUNT(operators); i++)
        if (strcmp(operators[i].name, name) == 0 && strcmp(operators[i].domain, domain) == 0)
            return &operators[i];
    return NULL;
}

const char *net_node_title(const struct net_node *node, char *text, size_t size)
{
    snprintf(text, size, "node '%.80s' (%s%s%.60s)", node->name, node->domain, *node->domain ? "." : "", node->op);
    return text;
}

bool net_refuse(struct orch_error *error, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return orch_fail(error, ORCH_USAGE, "%s", text);
}

/* Operators whose inputs have one type, and which of them: "T" of their schemas. */
static const struct {
    const char *op;
    size_t first, last;
} of_one_type[] = {
    {"Add", 0, 1},    {"And", 0, 1},        {"BitwiseAnd", 0, 1},     {"BitwiseOr", 0, 1},  {"BitwiseXor", 0, 1},
    {"Clip", 0, 2},   {"Conv", 0, 2},       {"ConvTranspose", 0, 2},  {"Div", 0, 1},        {"Equal", 0, 1},
    {"Gemm", 0, 2},   {"Greater", 0, 1},    {"GreaterOrEqual", 0, 1}, {"Less", 0, 1},       {"LessOrEqual", 0, 1},
    {"MatMul", 0, 1}, {"Max", 0, SIZE_MAX}, {"Mean", 0, SIZE_MAX},    {"Min", 0, SIZE_MAX}, {"Mod", 0, 1},
    {"Mul", 0, 1},    {"Or", 0, 1},         {"PRelu", 0, 1},          {"Sub", 0, 1},        {"Sum", 0, SIZE_MAX},
    {"Where", 1, 2},  {"Xor", 0, 1},
};

static bool types_agree(const struct net_infer *i, size_t first, size_t last)
{
    for (size_t k = first + 1; k <= last && k < i->inputs; k++) {
        const enum net_type a = i->in[first].type, b = i->in[k].type;
        if (i->in[k].present && a != NET_TYPES && b != NET_TYPES && a != b)
            return net_refuse(i->error, "input %zu is %s, input %zu is %s", first, net_type_name(a), k, net_type_name(b));
    }
    return true;
}

static bool types_fit(const struct net_infer *i)
{
    for (size_t k = 0; !*i->node->domain && k < ARRAY_COUNT(of_one_type); k++)
        if (strcmp(of_one_type[k].op, i->node->op) == 0)
            return types_agree(i, of_one_type[k].first, of_one_type[k].last);
    return true;
}

static bool refuse_unknown(const struct net_node *node, struct orch_error *error)
{
    char title[256];
    net_node_title(node, title, sizeof title);
    if (strcmp(node->domain, "ai.onnx.ml") == 0)
        return orch_fail(error, ORCH_UNMODELLED, "%s: trees, linear models and the like (ai.onnx.ml) are no networks here",
                         title);
    if (*node->domain)
        return orch_fail(
            error, ORCH_UNMODELLED,
            "%s: not among the operators of %.60s that are known; " ORCH_OPTION("kernel") " gives one a kernel for the GPU",
            title, node->domain);
    return orch_fail(error, ORCH_UNMODELLED, "%s: this operator of opset %lld is not modelled", title, (long long)node->version);
}

bool net_infer_node(struct net_infer *infer)
{
    const struct net_operator *const row = infer->node->row;
    char title[256];
    size_t given = infer->inputs;
    if (!row)
        return refuse_unknown(infer->node, infer->error);
    while (given && !infer->in[given - 1].present)
        given--;
    bool ok = given >= (size_t)row->least_inputs && given <= (size_t)row->most_inputs;
    if (!ok)
        net_refuse(infer->error, "%zu inputs, %d to %d are possible", given, row->least_inputs, row->most_inputs);
    for (int k = 0; ok && k < row->least_inputs; k++)
        if (!infer->in[k].present)
            ok = net_refuse(infer->error, "input %d is left out", k);
    if (ok && types_fit(infer) && row->infer(infer))
        return true;
    return orch_fail_in(infer->error, "%s", net_node_title(infer->node, title, sizeof title));
}

/* ---- what rules share ---- */

bool net_ints_attr(struct net_infer *i, const char *name, struct net_ints *list)
{
    size_t count;
    const int64_t *const at = net_attr_ints(i->node, name, &count);
    if (count > ARRAY_COUNT(list->at))
        return net_refuse(i->error, "%s has %zu numbers", name, count);
    list->count = (unsigned)count;
    if (count)
        memcpy(list->at, at, count * sizeof *at);
    return true;
}

bool net_ints_input(struct net_infer *i, size_t input, struct net_ints *list, bool *known)
{
    const struct net_fact *const f = net_fact_in(i, input);
    list->count = 0;
    *known = !f->present || f->constant;
    if (!f->constant)
        return true;
    if (net_type_is_float(f->constant->type) || f->constant->dims > 1)
        return net_refuse(i->error, "input %zu is no list of integers", input);
    if (f->constant->count > (int64_t)ARRAY_COUNT(list->at))
        return net_refuse(i->error, "input %zu has %lld numbers", input, (long long)f->constant->count);
    list->count = (unsigned)f->constant->count;
    net_read_integers(f->constant->type, f->constant->data, 0, 1, list->count, list->at);
    return true;
}

void net_state(struct net_infer *i, size_t output, enum net_type type, const struct net_shape *shape)
{
    if (output >= i->outputs || !i->out[output].present)
        return;
    i->out[output].type = type;
    if (shape)
        i->out[output].shape = *shape;
}

struct net_shape net_shape_of(const int64_t *dim, unsigned dims)
{
    struct net_shape s = {.known = true, .dims = dims};
    if (dims)
        memcpy(s.dim, dim, dims * sizeof *dim);
    return s;
}

bool net_shape_complete(const struct net_shape *shape)
{
    for (unsigned i = 0; i < shape->dims; i++)
        if (shape->dim[i] < 0)
            return false;
    return shape->known;
}

bool net_axis(struct net_infer *i, int64_t axis, unsigned dims, unsigned *result)
{
    if (axis < -(int64_t)dims || axis >= (int64_t)dims)
        return net_refuse(i->error, "axis %lld of a tensor with %u dimensions", (long long)axis, dims);
    *result = (unsigned)(axis < 0 ? axis + dims : axis);
    return true;
}

bool net_broadcast_shapes(struct net_infer *i, const struct net_shape *a, const struct net_shape *b, struct net_shape *common)
{
    const unsigned dims = a->dims > b->dims ? a->dims : b->dims;
    struct net_shape result = {.known = true, .dims = dims};
    for (unsigned k = 1; k <= dims; k++) {
        const int64_t x = k <= a->dims ? a->dim[a->dims - k] : 1, y = k <= b->dims ? b->dim[b->dims - k] : 1;
        int64_t *const out = &result.dim[dims - k];
        if (x == 1 || (x == y && x != NET_UNKNOWN))
            *out = y;
        else if (y == 1 || (x > 1 && y < 0))
            *out = x;
        else if (x < 0)
            *out = y < 0 ? NET_UNKNOWN : y;
        else
            return net_refuse(i->error, "dimensions %lld and %lld do not broadcast", (long long)x, (long long)y);
    }
    *common = result;
    return true;
}

int64_t net_product(const struct net_shape *shape, unsigned from, unsigned to)
{
    int64_t product = 1;
    for (unsigned i = from; i < to; i++)
        if (shape->dim[i] == 0)
            return 0;
    for (unsigned i = from; i < to; i++)
        if (shape->dim[i] < 0 || __builtin_mul_overflow(product, shape->dim[i], &product))
            return to - from == 1 ? shape->dim[i] : NET_UNKNOWN;
    return product;
}

int64_t net_dim_plus(int64_t dim, int64_t number)
{
    return number == 0 || dim >= 0 ? dim + number : NET_UNKNOWN;
}

/* ---- rules that many operators have ---- */

bool net_rule_same(struct net_infer *i)
{
    net_state(i, 0, i->in[0].type, i->in[0].shape.known ? &i->in[0].shape : NULL);
    return true;
}

static bool broadcast_all(struct net_infer *i, enum net_type type)
{
    struct net_shape common = i->in[0].shape;
    for (size_t k = 1; k < i->inputs && common.known; k++) {
        if (!i->in[k].present)
            continue;
        if (!i->in[k].shape.known)
            common.known = false;
        else if (!net_broadcast_shapes(i, &common, &i->in[k].shape, &common))
            return false;
    }
    net_state(i, 0, type, common.known ? &common : NULL);
    return true;
}

bool net_rule_broadcast(struct net_infer *i)
{
    return broadcast_all(i, i->in[0].type);
}

bool net_rule_logical(struct net_infer *i)
{
    return broadcast_all(i, NET_BOOL);
}

/* Of both branches; the condition takes part in the shape alone. */
bool net_rule_where(struct net_infer *i)
{
    return broadcast_all(i, i->in[1].type);
}
