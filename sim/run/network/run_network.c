#include "sim/run/network/run_network.h"

#include "sim/network/join.h"
#include "sim/network/operators/run.h"
#include "sim/network/quantise/mixed.h"
#include "sim/run/network/run_build.h"
#include "sim/run/run_internal.h"
#include "sim/run/network/run_network_join.h"
#include "sim/run/network/run_network_alone.h"
#include "sim/run/network/run_network_around.h"
#include "sim/run/network/run_network_kernel.h"
#include "sim/run/network/run_network_memory.h"
#include "sim/run/network/run_network_node.h"
#include "sim/run/network/run_network_plan.h"
#include "sim/run/network/run_network_request.h"
#include "sim/run/network/run_network_residency.h"
#include "sim/run/network/run_network_schedule.h"
#include "sim/run/network/run_network_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one node ---- */

/* A node without kernels. What the GPU computed must have completed before the host reads it; without values there is nothing to
 * compute as long as no shapes and places follow. */
static bool leave(struct run_network *n, const struct net_node *node, struct net_array *const *in, const char *title,
                  const char *why, struct orch_error *error)
{
    n->left++;
    if (n->request->build && !run_build_leave(n, title, why))
        return orch_no_memory(error);
    for (size_t k = 0; k < node->inputs; k++)
        network_requests_keep(n->asks, in[k] ? in[k]->data : NULL);
    const bool waits = run_network_needs_unit(n->model, node);
    n->in_command_buffer = n->in_command_buffer && !waits;
    n->in_request = n->in_request && !waits;
    return run_placement_add(&n->result->placement, title, RUN_NETWORK_REFERENCE, "none", why) || orch_no_memory(error);
}

/* Opens all kernels of a node; the libraries' own word on shapes that rules do not know to be impossible. */
static bool open_steps(const struct run_network *n, struct lowering *l, struct network_step *step, struct orch_error *error)
{
    struct orch_error why = {0};
    for (unsigned i = 0; i < l->steps; i++)
        if (!network_step_open(n, l->step[i].part, &l->step[i], &step[i], &why)) {
            if (why.exit_code == ORCH_INTERNAL)
                *error = why;
            return lowering_leave(l, "%.180s", why.text);
        }
    return true;
}

/* The node's multiplications are the asked unit's when all kernels that multiply are. */
static bool multiplies_here(const struct lowering *l, const struct network_step *step)
{
    for (unsigned i = 0; i < l->steps; i++)
        if (step[i].elsewhere && step[i].run->kind->operation(step[i].run).macs > 0)
            return false;
    return true;
}

static bool run_steps(struct run_network *n, const char *title, struct lowering *l, struct network_step *step,
                      struct orch_error *error)
{
    for (unsigned i = 0; i < l->steps; i++)
        if (!network_step_run(n, title, &l->step[i], &step[i], error))
            return false;
    return true;
}

/* By kernels that are timed later, all together. */
static bool note_steps(struct run_network *n, const char *title, struct lowering *l, double macs, bool *noted,
                       struct orch_error *error)
{
    struct orch_error lacks = {0};
    bool here;
    if (!network_kernels_add(n, title, l, &here, &lacks, error))
        return false;
    if (lacks.exit_code)
        return lowering_leave(l, "%.180s", lacks.text);
    n->macs_here += here ? macs : 0;
    n->macs_known -= l->step[0].precision && !here ? macs : 0; /* the unit has no kernel for them */
    *noted = true;
    return true;
}

static bool compute_steps(struct run_network *n, const char *title, struct lowering *l, double macs, bool *done,
                          struct orch_error *error)
{
    struct network_step *const step = calloc(LOWERED_STEPS, sizeof *step);
    if (!step)
        return orch_no_memory(error);
    const bool open = open_steps(n, l, step, error);
    if (open) {
        const bool here = multiplies_here(l, step) && !(l->whole && l->part != n->part);
        n->macs_here += here ? macs : 0;
        n->macs_known -= l->step[0].precision && !here ? macs : 0; /* the unit has no kernel for them */
        *done = n->request->build ? run_build_node(n, title, l, step, error) : run_steps(n, title, l, step, error);
    }
    for (unsigned i = 0; i < l->steps; i++)
        network_step_close(&step[i]);
    free(step);
    return *done;
}

static void begin_tensor(const struct run_network *n, const void *host, uint64_t bytes)
{
    network_memory_begin(n->memory, host);
    network_requests_begin(n->asks, host);
    network_residency_begin(n->residency, host, bytes);
    network_schedule_begin(n->schedule, host, bytes);
}

static void begin_tensors(const struct run_network *n, const struct lowering *l)
{
    for (unsigned i = 0; i < l->scratches; i++)
        begin_tensor(n, l->scratch[i], l->scratch_bytes[i]);
    for (size_t k = 0; k < l->node->outputs; k++)
        if (l->out[k])
            begin_tensor(n, l->out[k]->data, net_array_bytes(l->out[k]));
}

/* Units that split an operator have its tensors in one place each. */
static bool share_tensors(const struct run_network *n, const struct lowering *l, struct orch_error *error)
{
    bool ok = true;
    for (size_t k = 0; ok && n->memory && k < l->node->inputs; k++)
        ok = !l->in[k] || network_memory_share(n->memory, l->in[k]->data, (uint64_t)l->in[k]->count, error);
    for (size_t k = 0; ok && n->memory && k < l->node->outputs; k++)
        ok = !l->out[k] || network_memory_share(n->memory, l->out[k]->data, (uint64_t)l->out[k]->count, error);
    return ok;
}

static bool has_no_elements(struct net_array *const *out, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (out[k] && out[k]->count > 0)
            return false;
    return true;
}

static bool compute(struct run_network *n, const struct lowering_rule *rule, const char *title, struct lowering *l, bool *done,
                    struct orch_error *error)
{
    const double macs = run_network_macs(n->model, l->node, l->in);
    n->macs_known += macs;
    const bool made = run_network_make(l->node, l->in, n->characteristics, l->out) ||
                      (!run_network_has_no_values(n) && run_network_make_by_values(l->node, l->in, l->out));
    if (!made)
        lowering_leave(l, "its shape is not known beforehand");
    if (made && has_no_elements(l->out, l->node->outputs)) {
        run_network_drop(l->out, l->node->outputs);
        return run_placement_add(&n->result->placement, title, RUN_NETWORK_VIEW, "none", "there are no elements") ||
               orch_no_memory(error);
    }
    const bool lowered = lowering_holds(l) && lowering_apply(l, rule);
    begin_tensors(n, l);
    if (lowered && l->amx_share > 0 && !share_tensors(n, l, error))
        return false;
    if (lowered && (n->characteristics ? note_steps : compute_steps)(n, title, l, macs, done, error)) {
        n->by_kernels = true;
        return !(run_network_has_no_values(n) && lowering_gives_places(rule, l->out, l->node->outputs)) ||
               run_network_fill(l->node, l->in, l->out, error);
    }
    if (error->exit_code)
        return false;
    *done = made && run_network_has_no_values(n) && run_network_may_skip(l->out, l->node->outputs);
    if (!*done)
        run_network_drop(l->out, l->node->outputs);
    return leave(n, l->node, l->in, title, l->why, error);
}

/* The Neural Engine has no f32: what stays in it is computed by cores. */
static void keep_whole(const struct run_network *n, struct lowering *l)
{
    l->whole = n->mixed && net_mixed_keeps(n->mixed, n->model, l->node);
    if (l->whole && l->part == PART_ANE)
        l->part = PART_CPU;
}

/* ---- how far it has come ---- */

static void tell_place(const struct run_network *n, const char *doing, double fraction, bool *stop)
{
    if (n->waits)
        n->waits->tell(n->waits->context, doing, fraction, n->sum->end_ns, stop);
}

/* The share of the nodes that are behind it; loops visit theirs several times. */
static double place_of_node(const struct run_network *n)
{
    return fmin(1, ((double)n->visited - 1) / (double)n->model->graph->nodes);
}

/* A kernel knows how much of itself is done; what counts is the place of its node. */
static void tell_of_kernel(void *context, const char *doing, double fraction, double time_ns, bool *stop)
{
    const struct run_network *const n = context;
    (void)doing;
    (void)fraction;
    (void)time_ns;
    if (n->characteristics)
        tell_place(n, "timing the kernels of", NAN, stop);
    else
        tell_place(n, "computing", place_of_node(n), stop);
}

void run_network_title(const struct net_node *node, char *title, size_t size)
{
    snprintf(title, size, "%.60s%s%.120s", node->op, node->name && node->name[0] ? " " : "", node->name ? node->name : "");
}

static const char *view_text(const struct net_node *node)
{
    const bool counts = strcmp(node->op, "Shape") == 0 || strcmp(node->op, "Size") == 0;
    return counts                          ? "a number of elements, which the host knows"
           : strcmp(node->op, "Cast") == 0 ? "the same elements by another name"
                                           : "the same elements in another shape";
}

static bool node_on_unit(void *context, const struct net_node *node, struct net_array *const *in, struct net_array **out,
                         bool *done, struct orch_error *error)
{
    struct run_network *const n = context;
    const struct lowering_rule *const rule = lowering_rule(node);
    char title[200];
    n->by_kernels = false;
    n->visited++;
    if (net_part_begins(n->model, node) < NET_PARTS_MAX) /* another network has requests and command buffers of its own */
        n->in_command_buffer = n->in_request = false;
    tell_place(n, n->characteristics ? "listing the kernels of" : "computing", place_of_node(n), NULL);
    run_network_title(node, title, sizeof title);
    n->macs += run_network_macs(n->model, node, in);
    if (run_network_is_control(node))
        return run_placement_add(&n->result->placement, title, RUN_NETWORK_CONTROL, "none", "its nodes follow one by one") ||
               orch_no_memory(error);
    if (!rule) {
        *done = run_network_has_no_values(n) && run_network_make(node, in, n->characteristics, out) &&
                run_network_may_skip(out, node->outputs);
        if (!*done)
            run_network_drop(out, node->outputs);
        return leave(n, node, in, title, "no rule lowers this operator to kernels", error);
    }
    if (lowering_is_view(rule, node, in, run_network_in_halves(n)))
        return run_placement_add(&n->result->placement, title, RUN_NETWORK_VIEW, "none", view_text(node)) ||
               orch_no_memory(error);
    struct lowering *const l = calloc(1, sizeof *l);
    if (!l)
        return orch_no_memory(error);
    l->model = n->model;
    l->node = node;
    l->part = n->plan ? network_plan_part(n->plan, node) : n->part;
    n->e_core = n->plan ? network_plan_on_e_core(n->plan, node) : n->e_core;
    l->amx_share = n->plan ? network_plan_amx_share(n->plan, node) : 0;
    l->in = in;
    l->out = out;
    keep_whole(n, l);
    const bool ok = compute(n, rule, title, l, done, error);
    lowering_free(l);
    free(l);
    return ok;
}

static bool shares(const struct net_array *out, const struct net_node *node, struct net_array *const *in)
{
    for (size_t k = 0; k < node->inputs; k++)
        if (in[k] && in[k]->data == out->data)
            return true;
    return false;
}

/* Results of the reference are tensors that no unit has seen, but for views of others. */
static void after_node(void *context, const struct net_node *node, struct net_array *const *in, struct net_array *const *out)
{
    struct run_network *const n = context;
    bool is_view = false;
    for (size_t k = 0; k < node->outputs && !n->by_kernels; k++) {
        const bool views = out[k] && shares(out[k], node, in);
        is_view |= views;
        if (out[k] && !views)
            begin_tensor(n, out[k]->data, net_array_bytes(out[k]));
    }
    n->starved |= n->alone && !network_alone_note(n->alone, node, n->result->placement.count);
    if (!n->by_kernels && !is_view)
        n->starved |= !network_schedule_add_host(n->schedule, node, in, out);
}

/* What the plan says of all units, for whoever wonders. */
static bool tell_plan(const struct run_network *n)
{
    static const enum orch_part parts[] = {PART_CPU, PART_AMX, PART_GPU, PART_ANE, PART_COUNT};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof parts / sizeof parts[0]; i++) {
        char name[60];
        const double seconds = network_plan_seconds(n->plan, parts[i]);
        snprintf(name, sizeof name, RUN_NETWORK_PREDICTED, parts[i] == PART_COUNT ? "auto" : orch_part_name(parts[i]));
        ok = !isfinite(seconds) || run_values_add(&n->result->counters, name, seconds);
    }
    const double joules = network_plan_joules(n->plan);
    const char *const remark = network_plan_remark(n->plan);
    return ok && (!(joules > 0) || run_values_add(&n->result->counters, RUN_NETWORK_PREDICTED_JOULES, joules)) &&
           (!*remark || run_assumption_add(&n->result->assumptions, "policy", "inferred", remark));
}

static bool plan(struct run_network *n, struct orch_error *error)
{
    if (!n->automatic)
        return true;
    n->plan = network_plan_make(n, error);
    return n->plan && (tell_plan(n) || orch_no_memory(error));
}

static bool finish_requests(struct run_network *n, struct net_array *const *output, struct orch_error *error)
{
    for (size_t k = 0; k < n->model->graph->outputs; k++)
        network_requests_keep(n->asks, output[k] ? output[k]->data : NULL);
    return network_requests_finish(n->asks, n, error);
}

/* Units work at the same time: the network takes as long as the schedule of its kernels. */
static bool finish_schedule(struct run_network *n, struct orch_error *error)
{
    struct network_scheduled s;
    if (n->starved)
        return orch_no_memory(error);
    if (!network_schedule_run(n->schedule, n, &s, error))
        return false;
    n->busy_ns = s.busy_ns;
    n->lost_ns = s.lost_ns;
    n->chain_ns = s.chain_ns;
    n->work_ns = n->sum->end_ns + n->command_buffers * n->overhead_ns + n->requests * n->request_ns;
    n->command_buffers = s.command_buffers;
    n->sum->end_ns = s.end_ns;
    if (n->model->parts && !run_network_join_tell(n->result))
        return orch_no_memory(error);
    n->sum->gpu.overhead_ns = n->command_buffers ? s.end_ns - s.busy_ns : 0;
    return true;
}

/* One kernel after another, each command buffer and each request with its costs. */
static void add_overheads(struct run_network *n)
{
    n->sum->end_ns += n->requests * n->request_ns;
    if (n->command_buffers) {
        n->sum->gpu.overhead_ns = n->gpu.gpu.overhead_ns = n->command_buffers * n->overhead_ns;
        n->sum->end_ns += n->sum->gpu.overhead_ns;
        n->gpu.end_ns += n->sum->gpu.overhead_ns;
    }
}

/* Nobody asks for what other units take. */
static bool only_requests(const struct run_network *n)
{
    return n->alone && n->part == PART_ANE;
}

bool run_network(struct run_network *n, struct net_array **output, struct orch_error *error)
{
    const struct net_run run = {.model = n->model, .input = n->input, .observer = after_node, .unit = node_on_unit, .context = n};
    n->told = (struct work_progress){.tell = tell_of_kernel, .context = n};
    n->memory = n->space ? network_memory_create(n->space) : NULL;
    n->kernel_list = n->characteristics ? network_kernels_create() : NULL;
    const bool asks = (n->part == PART_ANE || n->automatic) && (n->characteristics || n->request->mode != RUN_FUNCTIONAL);
    n->asks = asks ? network_requests_create() : NULL;
    n->schedule = n->overlaps ? network_schedule_create() : NULL;
    const bool room = (n->memory || !n->space) && (n->kernel_list || !n->characteristics) && (n->asks || !asks) &&
                      (n->schedule || !n->overlaps);
    bool ok = (room || orch_no_memory(error)) && network_residency_open(n, &n->residency, error) && plan(n, error) &&
              run_network_time_pictures(n, n->picture, n->pictures, error) && net_run(&run, output, error) &&
              (!n->characteristics || only_requests(n) || network_kernels_finish(n, error)) &&
              (!asks || finish_requests(n, output, error)) && (!n->pictures || run_network_time_classes(n, output, error));
    if (ok && n->schedule)
        ok = finish_schedule(n, error);
    else if (ok)
        add_overheads(n);
    if (ok && n->plan && !network_plan_tell_choices(n->plan, &n->result->placement))
        ok = orch_no_memory(error);
    network_residency_free(n->residency);
    network_schedule_free(n->schedule);
    network_plan_free(n->plan);
    network_kernels_free(n->kernel_list);
    network_requests_free(n->asks);
    network_memory_free(n->memory);
    n->plan = NULL;
    n->kernel_list = NULL;
    n->asks = NULL;
    n->memory = NULL;
    n->schedule = NULL;
    n->residency = NULL;
    return ok;
}
