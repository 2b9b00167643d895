/* Policies that count joules. The network is gone through on each unit alone, by the characteristics of its kernels and the power
 * model that every result has. Then nodes are given to units one after another.
 *
 * Of all assignments those that matter lie on the lower left of the convex hull of (seconds, joules): whatever a second and a
 * joule are worth, one of its corners is the cheapest, and so is one for the product of both, which is quasi-concave. All corners
 * are found by asking for the cheapest assignment at the price at which two neighbouring corners cost the same, until nothing
 * lies between them.
 *
 * A unit that has a share of the network keeps its clock while others work. So the cheapest assignment is that of the best set of
 * units: within a set each second costs what the others draw meanwhile. */
#include "sim/run/network/run_network_plan_internal.h"

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
    plan->waiting_w[unit] = network_alone_waiting_w(alone);
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

/* An AMX block goes with its core, whose kernels then cost nothing more while they wait. */
static double beside_w(const struct network_plan *plan, const struct network_prices *prices, unsigned unit)
{
    double sum = 0;
    for (unsigned other = 0; other < PLAN_PARTS; other++) {
        const bool has_core = other == PLAN_CPU && !prices->without[PLAN_AMX];
        const bool same_core = (other == PLAN_AMX && unit == PLAN_CPU) || (other == PLAN_CPU && unit == PLAN_AMX);
        sum += other == unit || has_core || same_core || prices->without[other] ? 0 : plan->waiting_w[other];
    }
    return sum;
}

static double cost_of(const struct corner *c)
{
    return c->seconds < INFINITY ? c->prices.per_second * c->seconds + c->prices.per_joule * c->joules : INFINITY;
}

/* The cheapest of all sets of units; the least set where several cost the same. */
static bool find(struct network_plan *plan, double per_second, double per_joule, struct corner *corner, struct orch_error *error)
{
    *corner = (struct corner){.seconds = INFINITY, .joules = INFINITY};
    for (unsigned set = 1; set < 1u << PLAN_PARTS; set++) {
        struct network_prices prices = {.per_second = per_second, .per_joule = per_joule};
        for (unsigned unit = 0; unit < PLAN_PARTS; unit++)
            prices.without[unit] = !(set >> unit & 1);
        for (unsigned unit = 0; unit < PLAN_PARTS; unit++)
            prices.beside_w[unit] = beside_w(plan, &prices, unit);
        if (!network_plan_choose(plan, &prices, error))
            return false;
        const struct corner c = {prices, plan->as_planned, plan->joules_planned};
        if (set == 1 || cost_of(&c) < cost_of(corner) * (1 - same))
            *corner = c;
    }
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
    const double per_second = fast->joules - thrifty->joules, per_joule = thrifty->seconds - fast->seconds;
    struct corner middle;
    if (!(per_second > 0 && per_joule > 0))
        return add(all, thrifty, error);
    if (!find(plan, per_second, per_joule, &middle, error))
        return false;
    if (cost_of(&middle) >= (per_second * fast->seconds + per_joule * fast->joules) * (1 - same))
        return add(all, thrifty, error);
    return add_between(plan, fast, &middle, all, error) && add_between(plan, &middle, thrifty, all, error);
}

static bool find_corners(struct network_plan *plan, struct corners *all, struct orch_error *error)
{
    struct corner fast, thrifty;
    return find(plan, 1, 0, &fast, error) && find(plan, 0, 1, &thrifty, error) && add(all, &fast, error) &&
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

bool network_plan_weigh(struct network_plan *plan, const char *policy, struct orch_error *error)
{
    struct corners all = {.item = NULL};
    bool ok = find_corners(plan, &all, error);
    ok = ok && network_plan_choose(plan, &pick(plan, policy, &all)->prices, error);
    free(all.item);
    return ok;
}

bool network_plan_by_energy(struct network_plan *plan, const char *policy, struct orch_error *error)
{
    if (!time_all(plan, error))
        return false;
    if (!knows_joules(plan))
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("policy") " %s: the chip has no power keys", policy);
    return network_plan_weigh(plan, policy, error);
}
