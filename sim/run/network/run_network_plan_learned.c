/* The policy "predictive": the cheapest assignment one node after another, as by the policy cost, of times that are not simulated
 * where earlier runs say enough. Time and joules of the network are those of its kernels all the same: here units are chosen. */
#include "sim/run/network/run_network_plan_internal.h"

#include "isa/list_grow.h"
#include "sim/base/format.h"
#include "sim/run/lower/lowering.h"
#include "sim/run/run_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- times ---- */

/* What the database has of such a kernel, in the words that it is kept under. */
static struct learned_estimate ask(const struct network_plan *plan, const struct lowered_step *step, enum orch_part part,
                                   const struct run *run)
{
    char kernel[sizeof step->workload];
    const size_t length = strcspn(step->workload, ":");
    snprintf(kernel, sizeof kernel, "%.*s", (int)length, step->workload);
    const struct learned_row question = {.part = part,
                                         .e_core = run->request->core_choice == SOC_E_CORE,
                                         .kernel = kernel,
                                         .shape = step->workload[length] ? step->workload + length + 1 : "",
                                         .precision = run->request->precision ? run->request->precision : "",
                                         .flops = run->kind->operation(run).flops};
    return learned_ask(plan->network->request->learned, &question);
}

static struct plan_time look_up(const struct network_plan *plan, const struct lowered_step *step, enum orch_part part,
                                double rough, const struct run *run)
{
    struct plan_time t = {.part = part, .seconds = network_known_time(plan->network, step, part)};
    snprintf(t.workload, sizeof t.workload, "%s", step->workload);
    t.evidence.source = PLAN_KNOWN;
    if (!isnan(t.seconds))
        return t;
    t.evidence.estimate = ask(plan, step, part, run);
    t.evidence.source = learned_is_sure(&t.evidence.estimate) ? PLAN_BY_ROWS : PLAN_ROUGH;
    t.seconds = t.evidence.source == PLAN_BY_ROWS ? t.evidence.estimate.seconds : rough;
    return t;
}

/* The kernel's entry, made at the first question; NULL when memory ran out. */
static struct plan_time *entry_of(struct network_plan *plan, const struct lowered_step *step, enum orch_part part, double rough,
                                  const struct run *run)
{
    for (size_t i = 0; i < plan->times; i++)
        if (plan->time[i].part == part && strcmp(plan->time[i].workload, step->workload) == 0)
            return &plan->time[i];
    struct plan_time *const grown = list_grow(plan->time, plan->times, &plan->time_room, sizeof *grown);
    if (!grown)
        return NULL;
    plan->time = grown;
    grown[plan->times] = look_up(plan, step, part, rough, run);
    return &grown[plan->times++];
}

/* The node's is that of its weakest kernel. */
static void note(struct plan_evidence *all, const struct plan_evidence *one)
{
    if (all && (one->source > all->source || (one->source == all->source && one->estimate.error > all->estimate.error)))
        *all = *one;
}

double network_plan_foretell(struct network_plan *plan, const struct lowered_step *step, enum orch_part part, double rough,
                             const struct run *run)
{
    struct plan_time *const t = entry_of(plan, step, part, rough, run);
    if (!t)
        return rough;
    if (plan->measuring && (t->evidence.source == PLAN_ROUGH || t->evidence.source == PLAN_BY_ROWS)) {
        t->seconds = network_time(plan->network, step, part, false);
        t->evidence.source = PLAN_TIMED;
    }
    note(plan->evidence, &t->evidence);
    return t->seconds;
}

/* ---- what choices rest on ---- */

void network_plan_sum_evidence(struct network_plan *plan)
{
    const struct learned_set *const set = plan->network->request->learned;
    size_t number[PLAN_ROUGH + 1] = {0};
    double errors = 0;
    for (size_t i = 0; i < plan->times; i++) {
        const struct plan_evidence *const e = &plan->time[i].evidence;
        number[e->source]++;
        errors += e->source == PLAN_BY_ROWS ? e->estimate.error : 0;
    }
    snprintf(
        plan->remark, sizeof plan->remark,
        "units chosen by %zu recorded kernels of this chip: of %zu kernels on units %zu foretold (error %.0f %% in the mean), "
        "%zu known, %zu simulated, %zu far slower by rule",
        set ? learned_count(set) : 0, plan->times, number[PLAN_BY_ROWS],
        number[PLAN_BY_ROWS] ? 100 * errors / (double)number[PLAN_BY_ROWS] : 0, number[PLAN_KNOWN], number[PLAN_TIMED],
        number[PLAN_ROUGH]);
}

/* "5 rows, nearest 0.31, +-12 %", "known"; why it was simulated where that is so. */
static void write_evidence(const struct plan_evidence *e, char *text, size_t size)
{
    const struct learned_estimate *const l = &e->estimate;
    const char *const simulated = e->source == PLAN_TIMED ? "simulated: " : "", *const plural = l->rows == 1 ? "" : "s";
    if (e->source == PLAN_KNOWN || e->source == PLAN_NOT_ASKED)
        snprintf(text, size, "%s", e->source == PLAN_KNOWN ? "known" : "its program");
    else if (l->rows == 0)
        snprintf(text, size, "%sno row near", simulated);
    else if (isnan(l->error))
        snprintf(text, size, "%s%u row%s, nearest %.2f", simulated, l->rows, plural, l->distance);
    else
        snprintf(text, size, "%s%u row%s, nearest %.2f, +-%.0f %%", simulated, l->rows, plural, l->distance, 100 * l->error);
}

/* "gpu 14.6 us (5 rows, nearest 0.31, +-12 %), amx 80 us (known)": of all units that have it, in their order. */
static void write_choice(const struct planned *p, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < PLAN_PARTS && used < size; i++) {
        char evidence[80], time[FORMAT_SIZE];
        if (!(p->seconds[i] < INFINITY))
            continue;
        write_evidence(&p->evidence[i], evidence, sizeof evidence);
        used += (size_t)snprintf(text + used, size - used, "%s%s %s (%s)", used ? ", " : "",
                                 orch_part_name(network_plan_parts[i]), format_quantity(time, p->seconds[i], "s"), evidence);
    }
}

/* Lines of a node have its title, and come in the order of the nodes. */
static bool is_of(const struct run_placement *line, const struct net_node *node)
{
    char title[200];
    run_network_title(node, title, sizeof title);
    return strcmp(line->op, title) == 0;
}

bool network_plan_tell_choices(const struct network_plan *plan, struct run_placements *placement)
{
    size_t line = 0;
    for (size_t k = 0; plan->predictive && k < plan->count; k++) {
        const struct planned *const p = &plan->item[k];
        size_t first = line;
        char choice[400], why[600];
        while (first < placement->count && !is_of(&placement->item[first], p->node))
            first++;
        if (planned_is_left(p) || first == placement->count)
            continue;
        write_choice(p, choice, sizeof choice);
        for (line = first; line < placement->count && is_of(&placement->item[line], p->node); line++) {
            snprintf(why, sizeof why, "%s; chosen from %s", placement->item[line].why, choice);
            if (!run_result_set_text(&placement->item[line].why, why))
                return false;
        }
    }
    return true;
}
