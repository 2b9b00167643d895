/* Which unit computes which node where units work at the same time: nodes are taken in the order of their longest way to the end,
 * each goes to the unit that is done with it first (the heuristic "heterogeneous earliest finish time": Topcuoglu, Hariri, Wu,
 * IEEE TPDS 13, 2002). */
#include "sim/run/network/run_network_plan_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *network_plan_policy(const struct run_request *q)
{
    return q->policy ? q->policy : q->unit && strcmp(q->unit, "hybrid") == 0 ? "list" : "cost";
}

enum { SPLIT = PLAN_PARTS, WAYS }; /* a way to compute a node: a unit, or AMX and GPU together */
#define NOWHERE SIZE_MAX

struct list {
    struct network_plan *plan;
    bool splits;
    double share;
    size_t *producer;             /* by value: the item that computes it, NOWHERE = it is there from the beginning */
    double *rank, *end, *amx_end; /* of items that are split: end of the GPU's half, and of the other */
    unsigned *way;
    double free_at[PLAN_PARTS]; /* when the unit has done all that it was given */
};

/* ---- who waits for whom ---- */

/* Items are nodes of the graph; what has none has its operand's elements under another shape. */
static void find_producers(struct list *l)
{
    const struct net_graph *const g = l->plan->network->model->graph;
    size_t item = 0;
    for (size_t v = 0; v < l->plan->network->model->values; v++)
        l->producer[v] = NOWHERE;
    for (size_t k = 0; k < g->nodes; k++) {
        const struct net_node *const node = g->node[k];
        const bool is_item = item < l->plan->count && l->plan->item[item].node == node;
        for (size_t o = 0; o < node->outputs; o++)
            if (node->output[o] != NET_NONE)
                l->producer[node->output[o]] = is_item                                      ? item
                                               : node->inputs && node->input[0] != NET_NONE ? l->producer[node->input[0]]
                                                                                            : NOWHERE;
        item += is_item;
    }
}

static size_t producer_of(const struct list *l, const struct planned *p, size_t input)
{
    return p->node->input[input] == NET_NONE ? NOWHERE : l->producer[p->node->input[input]];
}

/* ---- the order ---- */

static double mean_seconds(const struct planned *p)
{
    double sum = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < PLAN_ANE; i++)
        if (p->seconds[i] < INFINITY) {
            sum += p->seconds[i];
            count++;
        }
    return count ? sum / count : 0;
}

static void rank_all(struct list *l)
{
    for (size_t i = l->plan->count; i-- > 0;) {
        const struct planned *const p = &l->plan->item[i];
        l->rank[i] += mean_seconds(p);
        for (size_t k = 0; k < p->node->inputs; k++) {
            const size_t before = producer_of(l, p, k);
            if (before != NOWHERE && before < i)
                l->rank[before] = fmax(l->rank[before], l->rank[i]);
        }
    }
}

struct place {
    double rank;
    size_t item;
};

static int by_rank(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;
    return x->rank > y->rank ? -1 : x->rank < y->rank ? 1 : x->item < y->item ? -1 : 1;
}

/* ---- the units ---- */

static bool uses_gpu(unsigned way)
{
    return way == PLAN_GPU || way == SPLIT;
}

/* What a unit has computed is there for another: of the GPU when its command buffer has completed, for the GPU when another one
 * is submitted. */
static double hand_over(const struct list *l, unsigned from, unsigned to)
{
    const struct network_speeds *const s = &l->plan->speeds;
    return (from == PLAN_GPU && to != PLAN_GPU ? s->complete_s : 0) + (from != PLAN_GPU && to == PLAN_GPU ? s->submit_s : 0);
}

/* When what an item computes is there for a unit: of one that is split, when both halves are. */
static double arrives(const struct list *l, size_t item, unsigned to)
{
    const unsigned way = l->way[item];
    const double end = l->end[item] + hand_over(l, way == SPLIT ? PLAN_GPU : way, to);
    return way == SPLIT ? fmax(end, l->amx_end[item] + hand_over(l, PLAN_AMX, to)) : end;
}

/* When the operands are there; the first kernel of the GPU waits for a command buffer. */
static double ready(const struct list *l, const struct planned *p, unsigned unit)
{
    double at = unit == PLAN_GPU ? l->plan->speeds.submit_s : 0;
    for (size_t k = 0; k < p->node->inputs; k++) {
        const size_t before = producer_of(l, p, k);
        if (before != NOWHERE)
            at = fmax(at, arrives(l, before, unit));
    }
    return at;
}

/* So that both are done at the same time: the GPU begins and completes later where nothing of its own is before and behind. */
static double fair_share(const struct list *l, const struct planned *p)
{
    const double amx = p->seconds[PLAN_AMX];
    const double gpu = p->seconds[PLAN_GPU] + (l->plan->count == 1 ? l->plan->speeds.hand_over_s : 0);
    return !isnan(l->share) ? l->share : fmin(1, gpu / (amx + p->seconds[PLAN_GPU]));
}

static bool can_split(const struct list *l, const struct planned *p)
{
    return l->splits && p->splits && p->seconds[PLAN_AMX] < INFINITY && p->seconds[PLAN_GPU] < INFINITY;
}

/* When a unit has done so much of an item. */
static double end_on(const struct list *l, const struct planned *p, unsigned unit, double share)
{
    return fmax(ready(l, p, unit), l->free_at[unit]) + share * p->seconds[unit];
}

/* When an item is done one way, for those behind it on the same unit. Halves of a split one begin and end by themselves. */
static void try_way(const struct list *l, const struct planned *p, unsigned way, double *end, double *amx_end)
{
    *amx_end = 0;
    if (way != SPLIT) {
        *end = end_on(l, p, way, 1);
        return;
    }
    *end = INFINITY;
    if (!can_split(l, p))
        return;
    *amx_end = end_on(l, p, PLAN_AMX, fair_share(l, p));
    *end = end_on(l, p, PLAN_GPU, 1 - fair_share(l, p));
}

static void give(struct list *l, size_t item)
{
    const struct planned *const p = &l->plan->item[item];
    unsigned best = PLAN_CPU;
    double least = INFINITY;
    if (planned_is_left(p)) { /* by the reference, in no time */
        l->end[item] = ready(l, p, PLAN_CPU);
        l->way[item] = PLAN_CPU;
        return;
    }
    for (unsigned way = 0; way < WAYS; way++) {
        if (way == PLAN_ANE) /* its requests are of neighbours, which this order parts */
            continue;
        const bool forced = way == SPLIT && !isnan(l->share);
        const double last = uses_gpu(way) && item + 1 == l->plan->count ? l->plan->speeds.complete_s : 0;
        double end, amx_end;
        try_way(l, p, way, &end, &amx_end);
        const double then = fmax(end + last, amx_end);
        if (then < least || (forced && then < INFINITY)) {
            least = then;
            best = way;
            l->end[item] = end;
            l->amx_end[item] = amx_end;
        }
    }
    l->way[item] = best;
    l->free_at[best == SPLIT ? PLAN_GPU : best] = l->end[item];
    if (best == SPLIT)
        l->free_at[PLAN_AMX] = l->amx_end[item];
}

static double last_end(const struct list *l)
{
    double end = 0;
    for (size_t i = 0; i < l->plan->count; i++)
        end = fmax(end, fmax(l->amx_end[i], l->end[i] + (uses_gpu(l->way[i]) ? l->plan->speeds.complete_s : 0)));
    return end;
}

/* What the list says becomes the plan, unless the plan is better than that without anything at the same time. */
static void take(struct list *l)
{
    const bool forced = l->splits && !isnan(l->share);
    const double end = last_end(l);
    if (end >= l->plan->as_planned && !forced)
        return;
    l->plan->as_planned = end;
    for (size_t i = 0; i < l->plan->count; i++) {
        struct planned *const p = &l->plan->item[i];
        p->part = l->way[i] == SPLIT ? PART_GPU : network_plan_parts[l->way[i]];
        p->e_core = l->way[i] == PLAN_E;
        p->amx_share = l->way[i] == SPLIT ? fair_share(l, p) : 0;
    }
}

bool network_plan_list(struct network_plan *plan, bool splits, double share, struct orch_error *error)
{
    struct list l = {.plan = plan, .splits = splits, .share = share};
    const size_t count = plan->count + 1;
    struct place *const order = calloc(count, sizeof *order);
    l.producer = calloc(plan->network->model->values + 1, sizeof *l.producer);
    l.rank = calloc(count, sizeof *l.rank);
    l.end = calloc(count, sizeof *l.end);
    l.amx_end = calloc(count, sizeof *l.amx_end);
    l.way = calloc(count, sizeof *l.way);
    const bool ok = (order && l.producer && l.rank && l.end && l.amx_end && l.way) || orch_no_memory(error);
    if (ok) {
        find_producers(&l);
        rank_all(&l);
        for (size_t i = 0; i < plan->count; i++)
            order[i] = (struct place){l.rank[i], i};
        qsort(order, plan->count, sizeof *order, by_rank);
        for (size_t i = 0; i < plan->count; i++)
            give(&l, order[i].item);
        take(&l);
    }
    free(order);
    free(l.producer);
    free(l.rank);
    free(l.end);
    free(l.amx_end);
    free(l.way);
    return ok;
}
