/* Operators that work element by element. */
#include "sim/network/operators/families.h"

#include "isa/array_count.h"
#include "sim/network/operators/pointwise_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, OPERANDS_MAX = 3 };

struct pointwise {
    const char *name;
    net_real_function *real;          /* NULL = not for floating point */
    net_integer_function *integer;    /* NULL = not for integers */
    net_integer_function *unsigned64; /* where u64 differs; NULL = as other integers */
    struct {
        const char *name;
        double missing;
    } parameter[3];
};

static const struct pointwise table[] = {
#define ROW(name, real, integer, unsigned64, ...) {#name, real, integer, unsigned64, {__VA_ARGS__}},
#include "sim/network/operators/pointwise.inc"
#undef ROW
};

static const struct pointwise *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

/* Words of attributes count as 1 when they ask for the less usual way. */
static double parameter_of(const struct net_node *node, const char *name, double missing)
{
    const struct net_attribute *const a = net_attribute(node, name);
    if (!a)
        return missing;
    if (a->kind == NET_ATTR_TEXT)
        return strcmp(a->text, "LEFT") == 0 || strcmp(a->text, "tanh") == 0;
    return a->kind == NET_ATTR_INT ? (double)a->integer : a->kind == NET_ATTR_REAL ? a->real : missing;
}

static void read_parameters(const struct pointwise *p, const struct net_node *node, double *parameter)
{
    for (size_t i = 0; i < ARRAY_COUNT(p->parameter); i++)
        parameter[i] = p->parameter[i].name ? parameter_of(node, p->parameter[i].name, p->parameter[i].missing) : 0;
}

/* ---- blocks ---- */

struct job {
    const struct pointwise *row;
    const struct net_call *call;
    const struct net_walk *walk;
    double parameter[3];
    bool fold; /* more than two operands, one after the other */
};

static void run_reals(const struct job *j, const int64_t *offset, int64_t first, int64_t at, size_t count)
{
    double number[OPERANDS_MAX][BLOCK], result[BLOCK];
    const double *operand[OPERANDS_MAX] = {number[0], number[1], number[2]};
    const unsigned last = j->walk->dims - 1;
    for (size_t k = 0; k < j->walk->operands; k++) {
        const struct net_array *const a = j->call->in[k];
        double *const to = number[j->fold && k ? 1 : k];
        const int64_t stride = j->walk->stride[k][last];
        if (a)
            net_read_doubles(a->type, a->data, offset[k] + first * stride, stride, count, to);
        else
            for (size_t i = 0; i < count; i++) /* the bounds of Clip are what may be left out */
                to[i] = k == 1 ? -INFINITY : INFINITY;
        if (j->fold && k) {
            j->row->real(operand, result, count, j->parameter);
            memcpy(number[0], result, count * sizeof *result);
        }
    }
    if (!j->fold)
        j->row->real(operand, result, count, j->parameter);
    net_write_doubles(j->call->out[0]->type, j->call->out[0]->data, at, count, j->fold ? number[0] : result);
}

static void run_integers(const struct job *j, const int64_t *offset, int64_t first, int64_t at, size_t count)
{
    int64_t number[OPERANDS_MAX][BLOCK], result[BLOCK];
    const int64_t *operand[OPERANDS_MAX] = {number[0], number[1], number[2]};
    const unsigned last = j->walk->dims - 1;
    const bool wide = j->call->in[0] && j->call->in[0]->type == NET_U64 && j->row->unsigned64;
    net_integer_function *const function = wide ? j->row->unsigned64 : j->row->integer;
    for (size_t k = 0; k < j->walk->operands; k++) {
        const struct net_array *const a = j->call->in[k];
        int64_t *const to = number[j->fold && k ? 1 : k];
        const int64_t stride = j->walk->stride[k][last];
        if (a)
            net_read_integers(a->type, a->data, offset[k] + first * stride, stride, count, to);
        else
            for (size_t i = 0; i < count; i++)
                to[i] = k == 1 ? (wide ? 0 : INT64_MIN) : wide ? -1 : INT64_MAX;
        if (j->fold && k) {
            function(operand, result, count, j->parameter);
            memcpy(number[0], result, count * sizeof *result);
        }
    }
    if (!j->fold)
        function(operand, result, count, j->parameter);
    net_write_integers(j->call->out[0]->type, j->call->out[0]->data, at, count, j->fold ? number[0] : result);
}

static bool run(const struct job *j, bool real)
{
    const struct net_walk *const w = j->walk;
    const int64_t row = w->shape[w->dims - 1], rows = net_extent(w->shape, 0, w->dims - 1);
    int64_t *const offset = calloc(w->operands, sizeof *offset);
    if (!offset)
        return orch_no_memory(j->call->error);
    for (int64_t r = 0; r < rows; r++) {
        net_walk_row(w, r, offset);
        for (int64_t first = 0; first < row; first += BLOCK) {
            const size_t count = (size_t)(row - first < BLOCK ? row - first : BLOCK);
            (real ? run_reals : run_integers)(j, offset, first, r * row + first, count);
        }
    }
    free(offset);
    return true;
}

/* Whether the operator works on floating-point numbers here. */
static bool works_on_reals(const struct net_call *call)
{
    if (strcmp(call->node->op, "Where") == 0)
        return net_type_is_float(call->in[1]->type);
    if (strcmp(call->node->op, "Pow") == 0 && net_type_is_float(call->in[1]->type))
        return true;
    return net_type_is_float(call->in[0]->type);
}

bool net_eval_pointwise(struct net_call *call)
{
    const struct pointwise *const p = find(call->node->op);
    if (!p)
        return net_refuse(call->error, "no function of that name");
    const bool real = works_on_reals(call);
    if (real ? !p->real : !p->integer)
        return orch_fail(call->error, ORCH_UNMODELLED, "not for %s", net_type_name(call->in[0]->type));
    size_t operands = call->inputs;
    const bool variadic = call->node->row->most_inputs == NET_INPUTS_ANY;
    if (!variadic && operands > OPERANDS_MAX)
        operands = OPERANDS_MAX;
    struct net_walk walk;
    if (!net_walk_broadcast(&walk, call->out[0], call->in, operands, call->error))
        return false;
    if (strcmp(p->name, "Clip") == 0 && operands < OPERANDS_MAX) { /* bounds that were left out at the end */
        int64_t(*const grown)[NET_DIMS_MAX] = calloc(OPERANDS_MAX, sizeof *grown);
        struct net_array *in[OPERANDS_MAX] = {call->in[0], operands > 1 ? call->in[1] : NULL, NULL};
        if (!grown) {
            net_walk_free(&walk);
            return orch_no_memory(call->error);
        }
        memcpy(grown, walk.stride, operands * sizeof *grown);
        free(walk.stride);
        walk.stride = grown;
        walk.operands = OPERANDS_MAX;
        struct net_call longer = *call;
        longer.in = in;
        struct job j = {.row = p, .call = &longer, .walk = &walk};
        const bool ok = run(&j, real);
        net_walk_free(&walk);
        return ok;
    }
    struct job j = {.row = p, .call = call, .walk = &walk, .fold = variadic};
    read_parameters(p, call->node, j.parameter);
    const bool ok = call->out[0]->count == 0 || run(&j, real);
    net_walk_free(&walk);
    return ok;
}

/* The mean of several: their sum, divided. */
bool net_eval_mean(struct net_call *call)
{
    struct net_node sum = *call->node;
    char name[] = "Sum";
    sum.op = name;
    struct net_call as_sum = *call;
    as_sum.node = &sum;
    if (!net_eval_pointwise(&as_sum))
        return false;
    struct net_array *const out = call->out[0];
    for (int64_t i = 0; i < out->count; i++) {
        const double mean = net_array_double(out, i) / (double)call->inputs;
        net_write_doubles(out->type, out->data, i, 1, &mean);
    }
    return true;
}

/* ---- activations ---- */

bool net_activation_find(const char *name, struct net_activation *activation)
{
    static const struct net_node nothing = {.attributes = 0};
    const struct pointwise *const p = find(name);
    if (!p || !p->real)
        return false;
    activation->apply = p->real;
    read_parameters(p, &nothing, activation->parameter);
    return true;
}

static void apply_clip(const double *const *in, double *out, size_t count, const double *parameter)
{
    for (size_t i = 0; i < count; i++)
        out[i] = in[0][i] < parameter[0] ? parameter[0] : in[0][i] > parameter[1] ? parameter[1] : in[0][i];
}

bool net_activation_of(const struct net_node *node, struct net_activation *activation)
{
    const char *const name = net_attr_text(node, "activation", "");
    if (!*name) {
        activation->apply = NULL;
        return true;
    }
    if (!net_activation_find(name, activation))
        return false;
    if (strcmp(name, "Clip") == 0) {
        activation->apply = apply_clip;
        activation->parameter[0] = -INFINITY;
        activation->parameter[1] = INFINITY;
    }
    activation->parameter[0] = net_attr_real(node, "activation_alpha", activation->parameter[0]);
    activation->parameter[1] = net_attr_real(node, "activation_beta", activation->parameter[1]);
    return true;
}

void net_activate(const struct net_activation *activation, double *number, size_t count)
{
    double result[BLOCK];
    for (size_t first = 0; activation->apply && first < count; first += BLOCK) {
        const size_t part = count - first < BLOCK ? count - first : BLOCK;
        const double *const operand[OPERANDS_MAX] = {number + first, NULL, NULL};
        activation->apply(operand, result, part, activation->parameter);
        memcpy(number + first, result, part * sizeof *result);
    }
}
