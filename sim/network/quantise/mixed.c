#include "sim/network/quantise/mixed.h"

#include "sim/network/operators/run.h"
#include "sim/network/quantise/quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 24 };

/* What is chosen is met with room: units round in other places than this run does. */
static const double MARGIN = 0.6;

struct choice {
    const struct net_model *model;
    struct net_array *const *input;
    struct net_mixed *mixed;
    const struct net_ranges *ranges; /* products in integers; NULL = all nodes in f16 */
    struct net_array **weights;      /* by node of the graph: a product's as integers */
    struct net_array **exact;        /* by value: of the run in single precision */
    struct net_array **expected;     /* by output of the graph: the same */
    size_t next;                     /* the node that comes next in the run under way */
    size_t first;                    /* nodes before it are all in f32: their results are known */
    bool record;
    double part[GROUPS]; /* what each group adds to the error */
};

/* ---- rounding ---- */

/* The nearest f16, ties to even, as net_half_of and net_of_half have it. */
static float half_of(float exact)
{
    enum { INFINITE = 0x477ff000 /* 65520 */, NORMAL = 0x38800000 /* 2^-14 */, LOST = 13 /* bits of the fraction */ };
    uint32_t bits;
    float number;
    memcpy(&bits, &exact, sizeof bits);
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude >= INFINITE)
        return isnan(exact) ? exact : copysignf(INFINITY, exact);
    if (magnitude < NORMAL)
        return nearbyintf(exact * 0x1p24F) * 0x1p-24F;
    bits += (UINT32_C(1) << (LOST - 1)) - 1 + (bits >> LOST & 1);
    bits &= ~((UINT32_C(1) << LOST) - 1);
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Of numbers in f32. */
static struct net_array *rounded(const struct net_array *a, struct orch_error *error)
{
    struct net_array *const to = net_array_new(a->type, a->shape, a->dims, error);
    const float *const from = a->data;
    float *const result = to ? to->data : NULL;
    for (int64_t i = 0; to && i < a->count; i++)
        result[i] = half_of(from[i]);
    return to;
}

static bool round_list(struct net_array *const *from, size_t count, struct net_array **to, struct orch_error *error)
{
    bool ok = true;
    for (size_t k = 0; ok && k < count; k++) {
        const bool is_real = from[k] && from[k]->type == NET_F32;
        to[k] = is_real ? rounded(from[k], error) : from[k] ? net_array_retain(from[k]) : NULL;
        ok = !from[k] || to[k];
    }
    return ok;
}

static void release(struct net_array **list, size_t count)
{
    for (size_t k = 0; list && k < count; k++) {
        net_array_release(list[k]);
        list[k] = NULL;
    }
}

static bool evaluate_half(const struct net_node *node, struct net_array *const *in, struct net_array **out,
                          struct orch_error *error)
{
    struct net_array **const operand = calloc(node->inputs + node->outputs + 1, sizeof(*operand));
    struct net_array **const result = operand + node->inputs;
    if (!operand)
        return orch_no_memory(error);
    const bool ok = round_list(in, node->inputs, operand, error) && net_evaluate_node(node, operand, result, NULL, error) &&
                    round_list(result, node->outputs, out, error);
    release(operand, node->inputs + node->outputs);
    free(operand);
    return ok;
}

/* A product reads what its integers stand for; its sums are exact but for f32. */
static bool evaluate_bytes(const struct choice *c, size_t index, struct net_array *const *in, struct net_array **out,
                           struct orch_error *error)
{
    const struct net_node *const node = c->model->graph->node[index];
    const net_id x = node->input[0];
    struct net_array **const operand = calloc(node->inputs + 1, sizeof(*operand));
    if (!operand)
        return orch_no_memory(error);
    memcpy(operand, in, node->inputs * sizeof(*operand));
    operand[0] = net_numbers_in_bytes(in[0], x < c->ranges->count ? c->ranges->most[x] : 0, error);
    if (!c->weights[index])
        c->weights[index] = net_weights_in_bytes(c->model, node, error);
    operand[1] = c->weights[index];
    const bool ok = operand[0] && operand[1] && net_evaluate_node(node, operand, out, NULL, error);
    net_array_release(operand[0]);
    free(operand);
    return ok;
}

/* ---- one run ---- */

static void take_exact(const struct choice *c, const struct net_node *node, struct net_array **out)
{
    for (size_t k = 0; k < node->outputs; k++)
        out[k] = node->output[k] != NET_NONE && c->exact[node->output[k]] ? net_array_retain(c->exact[node->output[k]]) : NULL;
}

static bool is_top(const struct choice *c, const struct net_node *node)
{
    return c->next < c->mixed->nodes && c->model->graph->node[c->next] == node;
}

static bool in_bytes(const struct choice *c, const struct net_node *node)
{
    return net_weights_of(c->model, node) && node->input[0] != NET_NONE && !c->model->value[node->input[0]].constant;
}

/* What has subgraphs is computed exactly, with all that is in them. */
static bool node_rounded(void *context, const struct net_node *node, struct net_array *const *in, struct net_array **out,
                         bool *done, struct orch_error *error)
{
    struct choice *const c = context;
    if (!is_top(c, node))
        return true;
    const size_t index = c->next++;
    const bool changes = !c->mixed->whole[index] && (!c->ranges || in_bytes(c, node));
    if (c->record || node->row->impure || !(index < c->first || changes))
        return true;
    *done = true;
    if (index < c->first) {
        take_exact(c, node, out);
        for (size_t k = 0; k < node->outputs; k++)
            *done = *done && (out[k] || node->output[k] == NET_NONE);
        if (!*done)
            release(out, node->outputs);
        return true;
    }
    return c->ranges ? evaluate_bytes(c, index, in, out, error) : evaluate_half(node, in, out, error);
}

static void keep_exact(void *context, const struct net_node *node, struct net_array *const *in, struct net_array *const *out)
{
    struct choice *const c = context;
    (void)in;
    for (size_t k = 0; c->record && k < node->outputs; k++)
        if (out[k] && node->output[k] != NET_NONE && !c->exact[node->output[k]])
            c->exact[node->output[k]] = net_array_retain(out[k]);
}

static bool run(struct choice *c, struct net_array **output, struct orch_error *error)
{
    const struct net_run run = {.model = c->model, .input = c->input, .observer = keep_exact, .unit = node_rounded, .context = c};
    c->next = 0;
    c->mixed->runs++;
    return net_run(&run, output, error);
}

static double difference(const struct net_array *got, const struct net_array *expected)
{
    double most = 0, largest = 0;
    for (int64_t k = 0; k < expected->count && k < got->count; k++) {
        const double x = net_array_double(expected, k), d = fabs(net_array_double(got, k) - x);
        largest = fmax(largest, fabs(x));
        most = isnan(d) ? INFINITY : fmax(most, d);
    }
    return most > 0 ? most / largest : 0;
}

/* The error of the outputs with the nodes as they are marked. */
static bool measure(struct choice *c, double *worst, struct orch_error *error)
{
    const size_t outputs = c->model->graph->outputs;
    struct net_array **const output = calloc(outputs + 1, sizeof(*output));
    const bool ok = (output || orch_no_memory(error)) && run(c, output, error);
    *worst = 0;
    for (size_t k = 0; ok && k < outputs; k++)
        if (net_type_is_float(c->expected[k]->type))
            *worst = fmax(*worst, difference(output[k], c->expected[k]));
    release(output, outputs);
    free(output);
    return ok;
}

/* ---- choosing ---- */

static size_t start_of(const struct choice *c, size_t group)
{
    return c->mixed->nodes * group / GROUPS;
}

static void mark(struct choice *c, size_t group, bool whole)
{
    for (size_t i = start_of(c, group); i < start_of(c, group + 1); i++)
        c->mixed->whole[i] = whole;
}

static void mark_all(struct choice *c, bool whole)
{
    for (size_t g = 0; g < GROUPS; g++)
        mark(c, g, whole);
}

static bool measure_groups(struct choice *c, struct orch_error *error)
{
    bool ok = true;
    mark_all(c, true);
    for (size_t g = 0; ok && g < GROUPS; g++) {
        if (start_of(c, g) == start_of(c, g + 1))
            continue;
        mark(c, g, false);
        c->first = start_of(c, g);
        ok = measure(c, &c->part[g], error);
        mark(c, g, true);
    }
    c->first = 0;
    return ok;
}

static size_t worst_half(const struct choice *c, const bool *kept)
{
    size_t worst = GROUPS;
    for (size_t g = 0; g < GROUPS; g++)
        if (!kept[g] && (worst == GROUPS || c->part[g] > c->part[worst]))
            worst = g;
    return worst;
}

/* The groups that add most, until what is left adds up to no more than the bound. */
static void keep_worst(struct choice *c, double bound, bool *kept)
{
    double left = 0;
    for (size_t g = 0; g < GROUPS; g++)
        left += c->part[g] * c->part[g];
    for (size_t g; left > bound * bound && (g = worst_half(c, kept)) < GROUPS && c->part[g] > 0;) {
        kept[g] = true;
        left -= c->part[g] * c->part[g];
    }
}

static bool choose(struct choice *c, double bound, struct orch_error *error)
{
    bool kept[GROUPS] = {false};
    if (!measure_groups(c, error))
        return false;
    keep_worst(c, bound, kept);
    for (;;) {
        for (size_t g = 0; g < GROUPS; g++)
            mark(c, g, kept[g]);
        if (!measure(c, &c->mixed->error, error))
            return false;
        const size_t next = worst_half(c, kept);
        if (c->mixed->error <= bound || next == GROUPS)
            return true;
        kept[next] = true;
    }
}

static bool begin(struct choice *c, struct orch_error *error)
{
    struct net_mixed *const m = c->mixed;
    m->nodes = c->model->graph->nodes;
    m->whole = calloc(m->nodes + 1, sizeof *m->whole);
    c->exact = calloc(c->model->values + 1, sizeof(*c->exact));
    c->expected = calloc(c->model->graph->outputs + 1, sizeof(*c->expected));
    c->weights = calloc(m->nodes + 1, sizeof(*c->weights));
    c->record = true;
    const bool ok = ((m->whole && c->exact && c->expected && c->weights) || orch_no_memory(error)) && run(c, c->expected, error);
    c->record = false;
    return ok;
}

static bool choose_all(struct choice *choice, double tolerance, struct orch_error *error)
{
    struct choice c = *choice;
    const struct net_model *const model = c.model;
    struct net_mixed *const mixed = c.mixed;
    *mixed = (struct net_mixed){.whole = NULL};
    bool ok = begin(&c, error) && measure(&c, &mixed->error_half, error);
    mixed->error = mixed->error_half;
    ok = ok && (mixed->error_half <= MARGIN * tolerance || choose(&c, MARGIN * tolerance, error));
    for (size_t i = 0; ok && i < mixed->nodes; i++)
        mixed->whole_nodes += mixed->whole[i];
    release(c.exact, model->values);
    release(c.expected, model->graph->outputs);
    release(c.weights, model->graph->nodes);
    free(c.weights);
    free(c.exact);
    free(c.expected);
    return ok;
}

bool net_mixed_choose(const struct net_model *model, struct net_array *const *input, double tolerance, struct net_mixed *mixed,
                      struct orch_error *error)
{
    return choose_all(&(struct choice){.model = model, .input = input, .mixed = mixed}, tolerance, error);
}

bool net_mixed_choose_bytes(const struct net_model *model, struct net_array *const *input, const struct net_ranges *ranges,
                            double tolerance, struct net_mixed *mixed, struct orch_error *error)
{
    return choose_all(&(struct choice){.model = model, .input = input, .mixed = mixed, .ranges = ranges}, tolerance, error);
}

void net_mixed_free(struct net_mixed *mixed)
{
    free(mixed->whole);
    *mixed = (struct net_mixed){.whole = NULL};
}

bool net_mixed_keeps(const struct net_mixed *mixed, const struct net_model *model, const struct net_node *node)
{
    for (size_t i = 0; i < mixed->nodes; i++)
        if (model->graph->node[i] == node)
            return mixed->whole[i];
    return false;
}
