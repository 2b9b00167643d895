#include "sim/run/network/run_network_plan.h"

#include "isa/list_grow.h"
#include "isa/array_count.h"
#include "sim/network/cost.h"
#include "sim/network/operators/run.h"
#include "sim/run/network/run_network_node.h"
#include "sim/run/network/run_network_plan_internal.h"
#include "sim/run/network/run_network_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const enum orch_part network_plan_parts[PLAN_PARTS] = {PART_CPU, PART_AMX, PART_GPU, PART_ANE, PART_CPU};

/* ---- predicting ---- */

/* Products and convolutions whose rows or channels units can share, large enough that a command buffer does not decide. */
static bool is_large_product(const struct network_plan *plan, const struct net_node *node)
{
    static const double least_macs = 3e7;
    static const char *const ops[] = {"MatMul", "Gemm", "FusedMatMul", "Conv", "FusedConv"};
    for (size_t i = 0; i < ARRAY_COUNT(ops); i++)
        if (strcmp(node->op, ops[i]) == 0)
            return plan->share_given || (double)net_node_cost(plan->network->model, node).macs >= least_macs;
    return false;
}

static double elements_read(const struct lowered_step *step)
{
    double sum = 0;
    for (unsigned i = 0; i < step->operands.inputs; i++)
        sum += (double)step->input[i].bytes / 4;
    return sum;
}

/* Simulated once for each kernel, on the unit that takes it. */
static double time_of(struct network_plan *plan, const struct lowered_step *step, enum orch_part part)
{
    for (size_t i = 0; i < plan->times; i++)
        if (plan->time[i].part == part && plan->time[i].e_core == plan->on_e_core &&
            strcmp(plan->time[i].workload, step->workload) == 0)
            return plan->time[i].seconds;
    struct plan_time *const grown = list_grow(plan->time, plan->times, &plan->time_room, sizeof *grown);
    const double seconds = network_time(plan->network, step, part, plan->on_e_core);
    if (!grown)
        return seconds;
    plan->time = grown;
    struct plan_time *const t = &grown[plan->times++];
    *t = (struct plan_time){.part = part, .e_core = plan->on_e_core, .seconds = seconds};
    snprintf(t->workload, sizeof t->workload, "%s", step->workload);
    return seconds;
}

/* What a unit's library lacks, the CPU takes: not within a command buffer of the GPU. */
static double predict_steps(struct network_plan *plan, struct lowering *l)
{
    double sum = 0;
    for (unsigned i = 0; i < l->steps; i++) {
        struct network_step step = {.run = NULL};
        struct orch_error unused = {0};
        if (l->step[i].at_load)
            continue;
        const bool ok = network_step_open(plan->network, l->step[i].part, &l->step[i], &step, &unused);
        if (!ok || (step.elsewhere && l->part == PART_GPU))
            sum = INFINITY;
        else if (plan->predictive)
            sum += network_plan_foretell(plan, &l->step[i], step.elsewhere ? PART_CPU : l->step[i].part,
                                         network_predict(&plan->speeds, step.run, elements_read(&l->step[i]),
                                                         (double)l->step[i].operands.result_bytes / 4),
                                         step.run);
        else if (plan->measuring)
            sum += time_of(plan, &l->step[i], step.elsewhere ? PART_CPU : l->step[i].part);
        else
            sum += network_predict(&plan->speeds, step.run, elements_read(&l->step[i]),
                                   (double)l->step[i].operands.result_bytes / 4);
        network_step_close(&step);
    }
    return sum;
}

static double predict(struct network_plan *plan, enum orch_part part, const struct lowering_rule *rule,
                      const struct net_node *node, struct net_array *const *in, struct net_array **out)
{
    struct lowering *const l = calloc(1, sizeof *l);
    double seconds = INFINITY;
    if (!l)
        return seconds;
    l->model = plan->network->model;
    l->node = node;
    l->part = part;
    l->in = in;
    l->out = out;
    if (plan->speeds.ghz[part] > 0 && lowering_apply(l, rule))
        seconds = predict_steps(plan, l);
    lowering_free(l);
    free(l);
    return seconds;
}

/* Values are zeros, but for whole numbers, which decide shapes and places. */
static double elements_of(struct net_array *const *list, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += list[k] && net_type_is_float(list[k]->type) ? (double)list[k]->count : 0;
    return sum;
}

/* A unit whose time decides nothing is not asked: who is predicted to take so many times as long as the best, and longer by what
 * a command buffer costs. */
static const double far_slower = 4;

/* What is told apart by small differences is simulated, where predictions will not do. */
static void measure(struct network_plan *plan, struct planned *p, const struct lowering_rule *rule, struct net_array *const *in,
                    struct net_array **out)
{
    const double best = fmin(fmin(p->seconds[PLAN_CPU], p->seconds[PLAN_AMX]), p->seconds[PLAN_GPU]);
    plan->measuring = true;
    for (unsigned i = 0; i < PLAN_ANE; i++)
        if (p->seconds[i] <= far_slower * best + plan->speeds.hand_over_s ||
            (p->splits && i != PLAN_CPU && p->seconds[i] < INFINITY))
            p->seconds[i] = predict(plan, network_plan_parts[i], rule, p->node, in, out);
        else
            p->seconds[i] = INFINITY;
    if (plan->measures && plan->network->request->core_choice == SOC_ANY_CORE && p->seconds[PLAN_CPU] < INFINITY) {
        plan->on_e_core = true;
        p->seconds[PLAN_E] = predict(plan, PART_CPU, rule, p->node, in, out);
        plan->on_e_core = false;
    }
    plan->measuring = false;
}

/* Kernels that recorded ones do not foretell are simulated, unless their unit decides nothing; the second time through also those
 * that are foretold of nodes in doubt. */
static void measure_unforetold(struct network_plan *plan, struct planned *p, const struct lowering_rule *rule,
                               struct net_array *const *in, struct net_array **out)
{
    const double best = fmin(fmin(p->seconds[PLAN_CPU], p->seconds[PLAN_AMX]), p->seconds[PLAN_GPU]);
    const bool doubtful = plan->doubtful && plan->doubtful[plan->count];
    plan->measuring = true;
    for (unsigned i = 0; i < PLAN_ANE; i++) {
        struct plan_evidence *const evidence = &p->evidence[i];
        const bool rough = evidence->source == PLAN_ROUGH, slow = p->seconds[i] > far_slower * best + plan->speeds.hand_over_s;
        if (rough && slow)
            p->seconds[i] = INFINITY;
        if (slow || !(rough || (doubtful && evidence->source == PLAN_BY_ROWS)))
            continue;
        *evidence = (struct plan_evidence){PLAN_NOT_ASKED, {0}};
        plan->evidence = evidence;
        p->seconds[i] = predict(plan, network_plan_parts[i], rule, p->node, in, out);
    }
    plan->evidence = NULL;
    plan->measuring = false;
}

static bool plan_node(void *context, const struct net_node *node, struct net_array *const *in, struct net_array **out, bool *done,
                      struct orch_error *error)
{
    struct network_plan *const plan = context;
    const struct lowering_rule *const rule = lowering_rule(node);
    struct planned p = {.node = node};
    if (run_network_is_control(node) || (rule && lowering_is_view(rule, node, in, run_network_in_halves(plan->network))))
        return true;
    const bool made = run_network_make(node, in, true, out);
    bool some = false;
    for (unsigned i = 0; i < PLAN_PARTS; i++) {
        plan->evidence = &p.evidence[i];
        p.seconds[i] = !made || !rule || i == PLAN_E       ? INFINITY
                       : network_plan_parts[i] != PART_ANE ? predict(plan, network_plan_parts[i], rule, node, in, out)
                       : plan->engine                      ? network_alone_seconds(plan->engine, node)
                                                           : INFINITY;
        some |= p.seconds[i] < INFINITY && i != PLAN_ANE;
    }
    plan->evidence = NULL;
    if (made && rule && plan->predictive)
        measure_unforetold(plan, &p, rule, in, out);
    p.splits = plan->splits && is_large_product(plan, node);
    if (made && rule && !plan->predictive && (plan->measures || (plan->doubtful && plan->doubtful[plan->count])))
        measure(plan, &p, rule, in, out);
    p.elements = elements_of(in, node->inputs) + (made ? elements_of(out, node->outputs) : 0);
    p.macs = (double)net_node_cost(plan->network->model, node).macs;
    p.host = !some && run_network_needs_unit(plan->network->model, node);
    *done = some ? !lowering_gives_places(rule, out, node->outputs) : made && run_network_may_skip(out, node->outputs);
    if (!*done)
        run_network_drop(out, node->outputs);
    struct planned *const grown = list_grow(plan->item, plan->count, &plan->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    plan->item = grown;
    grown[plan->count++] = p;
    return true;
}

/* ---- the policy ---- */

bool network_plan_overlaps(const char *policy)
{
    return strcmp(policy, "list") == 0 || strncmp(policy, "split", 5) == 0;
}

/* ---- doubts ---- */

/* Predictions are off by factors of up to 1.6: where a unit alone is predicted to be done within so much of the plan, it may be
 * the better one. */
static const double near = 1.6;

/* The plan, and by how much what recorded kernels foretell of it may be off: of many times that are too short or too long, those
 * that are too short are chosen. */
static double planned_at_most(const struct network_plan *plan)
{
    double sum = plan->as_planned;
    for (size_t k = 0; plan->predictive && k < plan->count; k++) {
        const struct planned *const p = &plan->item[k];
        for (unsigned i = 0; i < PLAN_ANE; i++)
            if (p->part == network_plan_parts[i] && p->evidence[i].source == PLAN_BY_ROWS)
                sum += p->seconds[i] * expm1(p->evidence[i].estimate.error);
    }
    return sum;
}

/* Nodes that are elsewhere in the plan than they would be with everything on a unit that is near; whether there are any. */
static bool find_doubtful(const struct network_plan *plan, bool *doubtful)
{
    const double most = near * planned_at_most(plan);
    bool some = false;
    for (unsigned i = 0; i < PLAN_PARTS; i++)
        for (size_t k = 0; plan->all_on[i] <= most && k < plan->count; k++) {
            const struct planned *const p = &plan->item[k];
            const bool other = !planned_is_left(p) && p->seconds[i] < INFINITY && p->part != network_plan_parts[i];
            doubtful[k] |= other;
            some |= other;
        }
    return some;
}

static bool assign(struct network_plan *plan, struct orch_error *error)
{
    static const struct network_prices time = {.per_second = 1};
    const char *const policy = network_plan_policy(plan->network->request);
    if (strcmp(policy, "cost") == 0 || strcmp(policy, "class") == 0 || plan->predictive)
        return network_plan_choose(plan, &time, error);
    if (network_plan_is_of_energy(policy))
        return network_plan_by_energy(plan, policy, error);
    if (network_plan_overlaps(policy)) {
        const bool splits = strncmp(policy, "split", 5) == 0;
        return network_plan_choose(plan, &time, error) &&
               network_plan_list(plan, splits, splits && policy[5] == ':' ? strtod(policy + 6, NULL) : NAN, error) &&
               (plan->network->model->parts < 2 || network_plan_joint(plan, error));
    }
    network_plan_follow_rule(plan, policy);
    return true;
}

/* A network of convolutions has nine tenths of its multiplications in them, a transformer in products beside softmaxes. */
bool network_plan_is_for_engine(const struct net_model *model)
{
    double all = 0, convolutions = 0, products = 0;
    bool softmaxes = false;
    for (size_t k = 0; k < model->graph->nodes; k++) {
        const struct net_node *const node = model->graph->node[k];
        const double macs = (double)net_node_cost(model, node).macs;
        const bool attention = strcmp(node->op, "Attention") == 0;
        all += macs;
        convolutions += strstr(node->op, "Conv") ? macs : 0;
        products += attention || strstr(node->op, "MatMul") || strcmp(node->op, "Gemm") == 0 ? macs : 0;
        softmaxes |= attention || strcmp(node->op, "Softmax") == 0;
    }
    return all > 0 && (convolutions >= 0.9 * all || (softmaxes && convolutions + products >= 0.9 * all));
}

/* All on one unit, and by the CPU what it does not have. */
static void add_up(struct network_plan *plan)
{
    for (unsigned i = 0; i < PLAN_PARTS; i++) {
        bool goes_on = false;
        plan->all_on[i] = 0;
        const double begin = network_plan_begin_s(plan, i);
        for (size_t k = 0; k < plan->count; k++) {
            const struct planned *const p = &plan->item[k];
            const bool here = p->seconds[i] < INFINITY;
            if (planned_is_left(p)) {
                goes_on = goes_on && !p->host;
                continue;
            }
            plan->all_on[i] += (here ? p->seconds[i] : p->seconds[PLAN_CPU]) + (here && !goes_on ? begin : 0);
            goes_on = here;
        }
    }
    if (!plan->engine)
        plan->all_on[PLAN_ANE] = INFINITY;
}

/* ---- the plan ---- */

/* The Neural Engine takes part where f16 will do: it has no f32. */
static bool time_engine(struct network_plan *plan, struct orch_error *error)
{
    const struct run_request *const q = plan->network->request;
    const bool halves = plan->network->mixed || (q->precision && strcmp(q->precision, "f16") == 0);
    double clock_ghz;
    const char *const policy = network_plan_policy(q);
    const bool weighs =
        strcmp(policy, "cost") == 0 || strcmp(policy, "list") == 0 || plan->predictive || network_plan_is_of_energy(policy);
    if (!halves || !weighs || !chip_number(q->chip, "ane.clock_ghz", &clock_ghz, NULL))
        return true;
    plan->engine = network_alone_time(plan->network, PART_ANE, false, error);
    return plan->engine != NULL;
}

/* Fills the items. */
static bool go_through(struct network_plan *plan, struct orch_error *error)
{
    const size_t outputs = plan->network->model->graph->outputs;
    const struct net_run run = {.model = plan->network->model, .input = plan->network->input, .unit = plan_node, .context = plan};
    struct net_array **const output = calloc(outputs + 1, sizeof(*output));
    plan->count = 0;
    const bool ok = output ? net_run(&run, output, error) : orch_no_memory(error);
    for (size_t k = 0; output && k < outputs; k++)
        net_array_release(output[k]);
    free(output);
    return ok;
}

/* Where predictions do not decide between the plan and a unit alone, they are replaced by simulated times. */
static bool decide_doubts(struct network_plan *plan, struct orch_error *error)
{
    plan->doubtful = calloc(plan->count + 1, sizeof *plan->doubtful);
    if (!plan->doubtful)
        return orch_no_memory(error);
    if (!find_doubtful(plan, plan->doubtful))
        return true;
    if (!go_through(plan, error) || !assign(plan, error))
        return false;
    add_up(plan);
    return true;
}

struct network_plan *network_plan_make(const struct run_network *network, struct orch_error *error)
{
    struct network_plan *const plan = calloc(1, sizeof *plan);
    const char *const policy = network_plan_policy(network->request);
    if (!plan) {
        orch_no_memory(error);
        return NULL;
    }
    plan->network = network;
    plan->predictive = strcmp(policy, RUN_NETWORK_POLICY_PREDICTIVE) == 0;
    plan->splits = strncmp(policy, "split", 5) == 0;
    plan->share_given = plan->splits && policy[5] == ':';
    plan->measures = network_plan_overlaps(policy) && !plan->share_given;
    network_speeds_of(network->request->chip, &plan->speeds);
    bool ok = time_engine(plan, error) && go_through(plan, error) && assign(plan, error);
    if (ok)
        add_up(plan);
    if (ok && (strcmp(policy, "cost") == 0 || plan->predictive))
        ok = decide_doubts(plan, error);
    if (ok && plan->predictive)
        network_plan_sum_evidence(plan);
    if (ok)
        return plan;
    network_plan_free(plan);
    return NULL;
}

void network_plan_free(struct network_plan *plan)
{
    if (plan) {
        free(plan->item);
        free(plan->time);
        free(plan->doubtful);
        network_alone_free(plan->engine);
    }
    free(plan);
}

double network_plan_amx_share(const struct network_plan *plan, const struct net_node *node)
{
    for (size_t k = 0; k < plan->count; k++)
        if (plan->item[k].node == node)
            return plan->item[k].amx_share;
    return 0;
}

bool network_plan_on_e_core(const struct network_plan *plan, const struct net_node *node)
{
    for (size_t k = 0; k < plan->count; k++)
        if (plan->item[k].node == node)
            return plan->item[k].e_core;
    return false;
}

enum orch_part network_plan_part(const struct network_plan *plan, const struct net_node *node)
{
    for (size_t k = 0; k < plan->count; k++)
        if (plan->item[k].node == node)
            return plan->item[k].part;
    return PART_CPU;
}

double network_plan_joules(const struct network_plan *plan)
{
    return plan->joules_planned;
}

const char *network_plan_remark(const struct network_plan *plan)
{
    return plan->remark;
}

double network_plan_seconds(const struct network_plan *plan, enum orch_part part)
{
    for (unsigned i = 0; i < PLAN_PARTS; i++)
        if (network_plan_parts[i] == part)
            return plan->all_on[i];
    return plan->as_planned;
}
