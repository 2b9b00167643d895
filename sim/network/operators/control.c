/* If, Loop, Scan. */
#include "sim/network/operators/families.h"
#include "sim/network/operators/run.h"

#include <stdlib.h>
#include <string.h>

enum { ITERATIONS_MAX = 1 << 20 };

/* What the results are like is found by inference of the subgraphs (passes/infer.c), or by running them. */
bool net_rule_control(struct net_infer *i)
{
    (void)i;
    return true;
}

bool net_eval_if(struct net_call *call)
{
    const struct net_array *const condition = call->in[0];
    if (condition->count != 1)
        return net_refuse(call->error, "a condition of %lld elements", (long long)condition->count);
    const struct net_graph *const branch =
        net_attr_graph(call->node, net_array_integer(condition, 0) ? "then_branch" : "else_branch");
    if (!branch || !call->machine)
        return net_refuse(call->error, "a branch is missing");
    if (branch->outputs != call->outputs)
        return net_refuse(call->error, "a branch with %zu outputs for %zu", branch->outputs, call->outputs);
    return net_run_subgraph(call->machine, branch, NULL, 0, call->out, call->error);
}

/* Results of iterations that are put side by side along a new first axis. */
struct stack {
    struct net_array **item;
    size_t count, room;
};

static bool push(struct stack *s, struct net_array *item)
{
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 16;
        struct net_array **const grown = realloc(s->item, room * sizeof(*grown));
        if (!grown)
            return false;
        s->item = grown;
        s->room = room;
    }
    s->item[s->count++] = net_array_retain(item);
    return true;
}

static void free_stacks(struct stack *s, size_t count)
{
    for (size_t k = 0; s && k < count; k++) {
        for (size_t i = 0; i < s[k].count; i++)
            net_array_release(s[k].item[i]);
        free(s[k].item);
    }
    free(s);
}

static struct net_array *stacked(const struct stack *s, bool backwards, struct orch_error *error)
{
    int64_t shape[NET_DIMS_MAX] = {(int64_t)s->count};
    const struct net_array *const first = s->count ? s->item[0] : NULL;
    const unsigned dims = first ? first->dims : 0;
    if (dims + 1 > NET_DIMS_MAX) {
        net_refuse(error, "too many dimensions");
        return NULL;
    }
    if (dims)
        memcpy(shape + 1, first->shape, dims * sizeof *shape);
    struct net_array *const all = net_array_new(first ? first->type : NET_F32, shape, dims + 1, error);
    const size_t bytes = first ? net_array_bytes(first) : 0;
    for (size_t k = 0; all && k < s->count; k++) {
        const struct net_array *const item = s->item[backwards ? s->count - 1 - k : k];
        if (net_array_bytes(item) != bytes) {
            net_array_release(all);
            net_refuse(error, "results of iterations differ in shape");
            return NULL;
        }
        memcpy((uint8_t *)all->data + k * bytes, item->data, bytes);
    }
    return all;
}

/* The state of a loop: what is carried from one iteration to the next, and what each leaves. */
struct loop {
    const struct net_graph *body;
    struct net_array **in, **result; /* arguments and results of one iteration */
    size_t carried, scans;
    struct stack *stack;
};

static bool loop_open(struct loop *l, const struct net_call *call, size_t carried, size_t results_before)
{
    l->body = net_attr_graph(call->node, "body");
    if (!l->body || !call->machine || l->body->outputs < carried + results_before ||
        call->outputs > l->body->outputs - results_before)
        return net_refuse(call->error, "a body that does not fit");
    l->carried = carried;
    l->scans = l->body->outputs - results_before - carried;
    l->in = calloc(l->body->inputs + 1, sizeof *l->in);
    l->result = calloc(l->body->outputs + 1, sizeof *l->result);
    l->stack = calloc(l->scans + 1, sizeof *l->stack);
    return (l->in && l->result && l->stack) || orch_no_memory(call->error);
}

static void loop_close(struct loop *l)
{
    for (size_t k = 0; l->in && k < l->body->inputs; k++)
        net_array_release(l->in[k]);
    free(l->in);
    free(l->result);
    free_stacks(l->stack, l->stack ? l->scans : 0);
}

/* Runs the body; carries its results over (they begin after `before` others) and keeps what it leaves. */
static bool iterate(struct loop *l, struct net_call *call, size_t first_carried, size_t before)
{
    bool ok = net_run_subgraph(call->machine, l->body, l->in, l->body->inputs, l->result, call->error);
    for (size_t k = 0; ok && k < l->carried; k++) {
        net_array_release(l->in[first_carried + k]);
        l->in[first_carried + k] = net_array_retain(l->result[before + k]);
    }
    for (size_t k = 0; ok && k < l->scans; k++)
        ok = push(&l->stack[k], l->result[before + l->carried + k]) || orch_no_memory(call->error);
    return ok;
}

static void drop_results(struct loop *l)
{
    for (size_t k = 0; k < l->body->outputs; k++) {
        net_array_release(l->result[k]);
        l->result[k] = NULL;
    }
}

static bool hand_out(struct loop *l, struct net_call *call, size_t first_carried, const int64_t *backwards, size_t directions)
{
    for (size_t k = 0; k < call->outputs; k++) {
        const size_t scan = k - l->carried;
        if (k < l->carried)
            call->out[k] = net_array_retain(l->in[first_carried + k]);
        else if (!(call->out[k] = stacked(&l->stack[scan], scan < directions && backwards[scan], call->error)))
            return false;
    }
    return true;
}

bool net_eval_loop(struct net_call *call)
{
    struct net_array *const trips = call->in[0], *const condition = net_in(call, 1);
    const int64_t most = trips ? net_array_integer(trips, 0) : INT64_MAX;
    struct loop l = {.body = NULL};
    bool go = !condition || net_array_integer(condition, 0);
    bool ok = call->inputs >= 2 && loop_open(&l, call, call->inputs - 2, 1);
    if (ok && l.body->inputs != call->inputs)
        ok = net_refuse(call->error, "a body with %zu inputs for %zu", l.body->inputs, call->inputs);
    for (size_t k = 2; ok && k < call->inputs; k++)
        l.in[k] = net_array_retain(call->in[k]);
    for (int64_t i = 0; ok && go && i < most; i++) {
        if (i == ITERATIONS_MAX) {
            ok = net_refuse(call->error, "more than %d iterations", ITERATIONS_MAX);
            break;
        }
        net_array_release(l.in[0]);
        net_array_release(l.in[1]);
        l.in[0] = net_array_of_scalar(NET_I64, (double)i, call->error);
        l.in[1] = net_array_of_scalar(NET_BOOL, 1, call->error);
        ok = l.in[0] && l.in[1] && iterate(&l, call, 2, 1);
        go = ok && net_array_integer(l.result[0], 0);
        drop_results(&l);
    }
    ok = ok && hand_out(&l, call, 2, NULL, 0);
    if (l.body)
        loop_close(&l);
    return ok;
}

/* ---- scan ---- */

/* Slice `index` of an input along its first axis. */
static struct net_array *slice_of(struct net_array *x, int64_t index, struct orch_error *error)
{
    struct net_array *const s = net_array_new(x->type, x->shape + 1, x->dims - 1, error);
    if (s)
        memcpy(s->data, (const uint8_t *)x->data + (size_t)index * net_array_bytes(s), net_array_bytes(s));
    return s;
}

static bool scan_is_plain(const struct net_call *call)
{
    static const char *const axes[] = {"scan_input_axes", "scan_output_axes"};
    for (size_t a = 0; a < 2; a++) {
        size_t count;
        const int64_t *const axis = net_attr_ints(call->node, axes[a], &count);
        for (size_t k = 0; k < count; k++)
            if (axis[k] != 0)
                return orch_fail(call->error, ORCH_UNMODELLED, "%s that are not 0", axes[a]);
    }
    return call->node->version >= 9 || orch_fail(call->error, ORCH_UNMODELLED, "the form of opset 8");
}

bool net_eval_scan(struct net_call *call)
{
    const int64_t scans = net_attr_int(call->node, "num_scan_inputs", 0);
    size_t in_directions, out_directions;
    const int64_t *const in_direction = net_attr_ints(call->node, "scan_input_directions", &in_directions);
    const int64_t *const out_direction = net_attr_ints(call->node, "scan_output_directions", &out_directions);
    struct loop l = {.body = NULL};
    if (!scan_is_plain(call))
        return false;
    if (scans < 1 || scans > (int64_t)call->inputs)
        return net_refuse(call->error, "%lld inputs to scan", (long long)scans);
    const size_t states = call->inputs - (size_t)scans;
    const int64_t length = call->in[states]->dims ? call->in[states]->shape[0] : 0;
    for (size_t k = states; k < call->inputs; k++)
        if (!call->in[k] || call->in[k]->dims == 0 || call->in[k]->shape[0] != length)
            return net_refuse(call->error, "inputs to scan that differ in length");
    bool ok = loop_open(&l, call, states, 0);
    if (ok && l.body->inputs != call->inputs)
        ok = net_refuse(call->error, "a body with %zu inputs for %zu", l.body->inputs, call->inputs);
    for (size_t k = 0; ok && k < states; k++)
        l.in[k] = net_array_retain(call->in[k]);
    for (int64_t i = 0; ok && i < length; i++) {
        for (size_t k = states; k < call->inputs; k++) {
            const bool back = k - states < in_directions && in_direction[k - states];
            net_array_release(l.in[k]);
            l.in[k] = slice_of(call->in[k], back ? length - 1 - i : i, call->error);
            ok = ok && l.in[k];
        }
        ok = ok && iterate(&l, call, 0, 0);
        drop_results(&l);
    }
    ok = ok && hand_out(&l, call, 0, out_direction, out_directions);
    if (l.body)
        loop_close(&l);
    return ok;
}
