/* Policies that count joules. The network is gone through on each unit alone, by the characteristics of its kernels and the power
 * model that every result has. Then nodes are given to units one after another.
 *
 * Of all assignments those that matter lie on the lower left of the convex hull of (seconds, joules): whatever a second and a
 * joule are worth, one of its corners is the cheapest, and so is one for the product of both, which is quasi-concave. All corners
 * are found by asking for the cheapest assignment at the price at which two neighbouring corners cost the same, until nothing
 * lies between them. */
#include "sim/run/run_network_plan_internal.h"

#include "isa/list_grow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct corner {
    struct network_prices prices;
    double seconds, joules;
};

struct corners {
    struct corner *item;
    size_t count, room;
};

/* A corner of which the next one differs by less is no other. */
static const double same = 1e-9;

bool network_plan_is_of_energy(const char *policy)
{
    return strcmp(policy, "energy") == 0 || strcmp(policy, "edp") == 0 || strncmp(policy, "power:", 6) == 0;
}

/* ---- what nodes take and cost ---- */

static void read_items(struct network_plan *plan, unsigned unit, const struct network_alone *alone)
{
    for (size_t k = 0; k < plan->count; k++) {
        struct planned *const p = &plan->item[k];
        p->seconds[unit] = network_alone_seconds(alone, p->node);
        p->joules[unit] = network_alone_joules(alone, p->node);
    }
    plan->begin_joules[unit] = network_alone_begin_joules(alone);
}

static bool time_on(struct network_plan *plan, unsigned unit, struct orch_error *error)
{
    struct network_alone *const alone = network_alone_time(plan->network, network_plan_parts[unit], unit == PLAN_E, error);
    if (!alone)
        return false;
    read_items(plan, unit, alone);
    network_alone_free(alone);
    return true;
}

/* On units that the chip has; on E cores where nobody chose a kind of cores. */
static bool time_all(struct network_plan *plan, struct orch_error *error)
{
    const bool any_core = plan->network->request->core_choice == SOC_ANY_CORE;
    for (unsigned unit = 0; unit < PLAN_PARTS; unit++) {
        const bool there = plan->speeds.ghz[network_plan_parts[unit]] > 0 && unit != PLAN_ANE && (unit != PLAN_E || any_core);
        if (there && !time_on(plan, unit, error))
            return false;
    }
    if (plan->engine)
        read_items(plan, PLAN_ANE, plan->engine);
    return true;
}

static bool knows_joules(const struct network_plan *plan)
{
    for (size_t k = 0; k < plan->count; k++)
        for (unsigned unit = 0; unit < PLAN_PARTS; unit++)
            if (plan->item[k].seconds[unit] < INFINITY && isnan(plan->item[k].joules[unit]))
                return false;
    return true;
}

/* ---- corners ---- */

static bool find(struct network_plan *plan, struct network_prices prices, struct corner *corner, struct orch_error *error)
{
    if (!network_plan_choose(plan, &prices, error))
        return false;
    *corner = (struct corner){prices, plan->as_planned, plan->joules_planned};
    return true;
}

static bool add(struct corners *all, const struct corner *corner, struct orch_error *error)
{
    struct corner *const grown = list_grow(all->item, all->count, &all->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    all->item = grown;
    grown[all->count++] = *corner;
    return true;
}

/* Those between a faster and a thriftier one, from fast to thrifty, then the thriftier one. */
static bool add_between(struct network_plan *plan, const struct corner *fast, const struct corner *thrifty, struct corners *all,
                        struct orch_error *error)
{
    const struct network_prices prices = {fast->joules - thrifty->joules, thrifty->seconds - fast->seconds};
    const double ends = prices.per_second * fast->seconds + prices.per_joule * fast->joules;
    struct corner middle;
    if (!(prices.per_second > 0 && prices.per_joule > 0))
        return add(all, thrifty, error);
    if (!find(plan, prices, &middle, error))
        return false;
    const double cost = prices.per_second * middle.seconds + prices.per_joule * middle.joules;
    if (cost >= ends * (1 - same))
        return add(all, thrifty, error);
    return add_between(plan, fast, &middle, all, error) && add_between(plan, &middle, thrifty, all, error);
}

static bool find_corners(struct network_plan *plan, struct corners *all, struct orch_error *error)
{
    struct corner fast, thrifty;
    return find(plan, (struct network_prices){1, 0}, &fast, error) &&
           find(plan, (struct network_prices){0, 1}, &thrifty, error) && add(all, &fast, error) &&
           add_between(plan, &fast, &thrifty, all, error);
}

/* ---- the policies ---- */

static double watts(const struct corner *c)
{
    return c->joules / c->seconds;
}

/* Corners become slower and thriftier, so their watts fall: the first within the limit is the fastest. */
static const struct corner *within_power(struct network_plan *plan, const struct corners *all, double most_watts)
{
    for (size_t i = 0; i < all->count; i++)
        if (watts(&all->item[i]) <= most_watts)
            return &all->item[i];
    const struct corner *const least = &all->item[all->count - 1];
    snprintf(plan->remark, sizeof plan->remark, "no assignment keeps within %.3g W: the least that one takes is %.3g W",
             most_watts, watts(least));
    return least;
}

static const struct corner *pick(struct network_plan *plan, const char *policy, const struct corners *all)
{
    const struct corner *best = &all->item[all->count - 1];
    if (strncmp(policy, "power:", 6) == 0)
        return within_power(plan, all, strtod(policy + 6, NULL));
    for (size_t i = 0; strcmp(policy, "edp") == 0 && i < all->count; i++)
        if (all->item[i].seconds * all->item[i].joules < best->seconds * best->joules)
            best = &all->item[i];
    return best;
}

bool network_plan_by_energy(struct network_plan *plan, const char *policy, struct orch_error *error)
{
    struct corners all = {.item = NULL};
    if (!time_all(plan, error))
        return false;
    if (!knows_joules(plan))
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("policy") " %s: the chip has no power keys", policy);
    bool ok = find_corners(plan, &all, error);
    if (ok) {
        struct corner chosen;
        ok = find(plan, pick(plan, policy, &all)->prices, &chosen, error);
    }
    free(all.item);
    return ok;
}
