/* Several networks that are planned together: for each, units that it keeps away from, so that another network has them. Within
 * what is left to it a network is computed one node after another at the least cost; how that ends when all go on at the same
 * time is found by going through their nodes in the order in which they could begin. All combinations are tried. */
#include "sim/network/join.h"
#include "sim/run/network/run_network_plan_internal.h"

#include <math.h>
#include <stdlib.h>

/* What a network may be kept away from. */
enum { ANYWHERE, NO_ENGINE, NO_GPU, CORES_ALONE, WAYS };

struct part {
    struct planned *item;
    size_t count;
    size_t next;   /* item to begin */
    double at;     /* the one before is done */
    unsigned unit; /* that did it; PLAN_PARTS = none */
};

struct joint {
    struct network_plan *plan;
    struct part part[NET_PARTS_MAX];
    unsigned parts;
    double free_at[PLAN_PARTS];
};

/* ---- the parts ---- */

/* Items are nodes in the order of the graph, those of subgraphs among them. */
static void find_parts(struct joint *j)
{
    for (size_t k = 0; k < j->plan->count; k++) {
        const unsigned begins = net_part_begins(j->plan->network->model, j->plan->item[k].node);
        if (begins < NET_PARTS_MAX || j->parts == 0)
            j->part[j->parts++] = (struct part){.item = &j->plan->item[k]};
        j->part[j->parts - 1].count++;
    }
}

static bool plan_part(struct joint *j, unsigned number, unsigned way, struct orch_error *error)
{
    struct network_plan own = *j->plan;
    struct network_prices prices = {.per_second = 1};
    prices.without[PLAN_ANE] = way == NO_ENGINE || way == CORES_ALONE;
    prices.without[PLAN_GPU] = way == NO_GPU || way == CORES_ALONE;
    own.item = j->part[number].item;
    own.count = j->part[number].count;
    return network_plan_choose(&own, &prices, error);
}

/* ---- when it ends ---- */

static unsigned unit_of(const struct planned *p)
{
    unsigned unit = 0;
    while (unit + 1 < PLAN_PARTS && (network_plan_parts[unit] != p->part || (unit == PLAN_CPU && p->e_core)))
        unit++;
    return unit;
}

static double start_of(const struct joint *j, const struct part *p)
{
    const struct planned *const item = &p->item[p->next];
    const unsigned unit = unit_of(item);
    const double begin = unit == p->unit ? 0 : network_plan_begin_s(j->plan, unit);
    return planned_is_left(item) ? p->at : fmax(p->at + begin, j->free_at[unit]);
}

static struct part *next_part(struct joint *j)
{
    struct part *next = NULL;
    for (unsigned k = 0; k < j->parts; k++)
        if (j->part[k].next < j->part[k].count && (!next || start_of(j, &j->part[k]) < start_of(j, next)))
            next = &j->part[k];
    return next;
}

static double end_of_all(struct joint *j)
{
    double end = 0;
    struct part *p;
    for (unsigned unit = 0; unit < PLAN_PARTS; unit++)
        j->free_at[unit] = 0;
    for (unsigned k = 0; k < j->parts; k++) {
        j->part[k].next = 0;
        j->part[k].at = 0;
        j->part[k].unit = PLAN_PARTS;
    }
    while ((p = next_part(j))) {
        const struct planned *const item = &p->item[p->next];
        const double start = start_of(j, p);
        if (!planned_is_left(item)) {
            p->unit = unit_of(item);
            p->at = start + item->seconds[p->unit];
            j->free_at[p->unit] = p->at;
        }
        p->next++;
        end = fmax(end, p->at);
    }
    return end;
}

/* ---- all combinations ---- */

/* The ways are the digits of a number. */
static bool try(struct joint *j, unsigned number, double *end, struct orch_error *error)
{
    for (unsigned k = 0; k < j->parts; k++, number /= WAYS)
        if (!plan_part(j, k, number % WAYS, error))
            return false;
    *end = end_of_all(j);
    return true;
}

static void keep(const struct network_plan *plan, struct planned *kept)
{
    for (size_t k = 0; k < plan->count; k++)
        kept[k] = plan->item[k];
}

bool network_plan_joint(struct network_plan *plan, struct orch_error *error)
{
    struct joint j = {.plan = plan};
    struct planned *const kept = calloc(plan->count + 1, sizeof *kept);
    unsigned all = 1;
    bool ok = kept || orch_no_memory(error);
    if (ok)
        keep(plan, kept);
    find_parts(&j);
    for (unsigned k = 0; k < j.parts; k++)
        all *= WAYS;
    for (unsigned number = 0; ok && number < all; number++) {
        double end;
        for (size_t k = 0; k < plan->count; k++)
            plan->item[k].amx_share = 0;
        ok = try(&j, number, &end, error);
        if (ok && end < plan->as_planned) {
            plan->as_planned = end;
            keep(plan, kept);
        }
    }
    for (size_t k = 0; ok && k < plan->count; k++)
        plan->item[k] = kept[k];
    free(kept);
    return ok;
}
