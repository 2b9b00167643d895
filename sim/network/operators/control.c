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

int64_t net_scan_axis(const struct net_node *node, bool result, size_t scan, unsigned dims)
{
    size_t count;
    const int64_t *const axes = net_attr_ints(node, result ? "scan_output_axes" : "scan_input_axes", &count);
    const int64_t axis = scan < count ? axes[scan] : 0;
    return axis < 0 ? axis + dims : axis;
}

/* The same elements with axis `from` in the place `to`, one of which is 0. */
static struct net_array *with_axis(struct net_array *x, unsigned from, unsigned to, struct orch_error *error)
{
    const unsigned axis = from ? from : to;
    const int64_t length = x->shape[from], outer = net_extent(x->shape, from ? 0 : 1, from ? axis : axis + 1);
    int64_t shape[NET_DIMS_MAX];
    memcpy(shape, x->shape, x->dims * sizeof *shape);
    memmove(shape + from, shape + from + 1, (x->dims - from - 1) * sizeof *shape);
    memmove(shape + to + 1, shape + to, (x->dims - to - 1) * sizeof *shape);
    shape[to] = length;
    struct net_array *const moved = net_array_new(x->type, shape, x->dims, error);
    const size_t bytes = moved && outer * length > 0 ? net_array_bytes(x) / (size_t)(outer * length) : 0;
    for (int64_t i = 0; moved && i < outer * length; i++) {
        const int64_t at = i / length, k = i % length; /* at: in front of the axis */
        const size_t far = (size_t)(at * length + k) * bytes, first = (size_t)(k * outer + at) * bytes;
        memcpy((uint8_t *)moved->data + (from ? first : far), (const uint8_t *)x->data + (from ? far : first), bytes);
    }
    return moved;
}

/* Slice `index` of an input along its first axis. */
static struct net_array *slice_of(struct net_array *x, int64_t index, struct orch_error *error)
{
    struct net_array *const s = net_array_new(x->type, x->shape + 1, x->dims - 1, error);
    if (s)
        memcpy(s->data, (const uint8_t *)x->data + (size_t)index * net_array_bytes(s), net_array_bytes(s));
    return s;
}

/* The inputs to scan with the axis in front along which they are scanned. */
static bool scan_open(const struct net_call *call, size_t states, struct net_array **turned, int64_t *length)
{
    for (size_t k = states; k < call->inputs; k++) {
        struct net_array *const x = call->in[k];
        const int64_t axis = x ? net_scan_axis(call->node, false, k - states, x->dims) : -1;
        if (axis < 0 || axis >= x->dims)
            return net_refuse(call->error, "an input to scan without that axis");
        if (k > states && x->shape[axis] != *length)
            return net_refuse(call->error, "inputs to scan that differ in length");
        *length = x->shape[axis];
        turned[k] = axis ? with_axis(x, (unsigned)axis, 0, call->error) : net_array_retain(x);
        if (!turned[k])
            return false;
    }
    return true;
}

static bool scan_close(struct net_call *call, size_t states)
{
    for (size_t k = states; k < call->outputs; k++) {
        struct net_array *const all = call->out[k];
        const int64_t axis = net_scan_axis(call->node, true, k - states, all->dims);
        if (axis < 0 || axis >= all->dims)
            return net_refuse(call->error, "a result of a scan without that axis");
        if (axis == 0)
            continue;
        call->out[k] = with_axis(all, 0, (unsigned)axis, call->error);
        net_array_release(all);
        if (!call->out[k])
            return false;
    }
    return true;
}

/* The body once for each slice. */
static bool scan_over(struct net_call *call, struct loop *l, size_t states, struct net_array *const *turned, int64_t length)
{
    size_t directions;
    const int64_t *const direction = net_attr_ints(call->node, "scan_input_directions", &directions);
    bool ok = true;
    for (size_t k = 0; k < states; k++)
        l->in[k] = net_array_retain(call->in[k]);
    for (int64_t i = 0; ok && i < length; i++) {
        for (size_t k = states; k < call->inputs; k++) {
            const bool back = k - states < directions && direction[k - states];
            net_array_release(l->in[k]);
            l->in[k] = slice_of(turned[k], back ? length - 1 - i : i, call->error);
            ok = ok && l->in[k];
        }
        ok = ok && iterate(l, call, 0, 0);
        drop_results(l);
    }
    return ok;
}

bool net_eval_scan(struct net_call *call)
{
    const int64_t scans = net_attr_int(call->node, "num_scan_inputs", 0);
    size_t out_directions;
    const int64_t *const out_direction = net_attr_ints(call->node, "scan_output_directions", &out_directions);
    struct loop l = {.body = NULL};
    int64_t length = 0;
    if (call->node->version < 9)
        return orch_fail(call->error, ORCH_UNMODELLED, "the form of opset 8");
    if (scans < 1 || scans > (int64_t)call->inputs)
        return net_refuse(call->error, "%lld inputs to scan", (long long)scans);
    const size_t states = call->inputs - (size_t)scans;
    struct net_array **const turned = calloc(call->inputs, sizeof *turned);
    bool ok = turned ? scan_open(call, states, turned, &length) : orch_no_memory(call->error);
    ok = ok && loop_open(&l, call, states, 0);
    if (ok && l.body->inputs != call->inputs)
        ok = net_refuse(call->error, "a body with %zu inputs for %zu", l.body->inputs, call->inputs);
    ok = ok && scan_over(call, &l, states, turned, length) && hand_out(&l, call, 0, out_direction, out_directions) &&
         scan_close(call, states);
    if (l.body)
        loop_close(&l);
    for (size_t k = 0; turned && k < call->inputs; k++)
        net_array_release(turned[k]);
    free(turned);
    return ok;
}
