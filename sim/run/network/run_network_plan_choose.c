/* The cheapest assignment of nodes that are computed one after another, exactly: in the order of the graph, with what it costs to
 * go from one unit to another. */
#include "sim/run/network/run_network_plan_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORES, GPU, ENGINE, PLACES };

/* What an item costs on a unit. Where joules do not count, they need not be known. */
static double price(const struct network_prices *w, unsigned unit, double seconds, double joules)
{
    const double all = joules + w->beside_w[unit] * seconds;
    return w->per_second * seconds + (w->per_joule > 0 ? w->per_joule * all : 0);
}

static double price_on(const struct network_prices *w, const struct planned *p, unsigned unit)
{
    return p->seconds[unit] < INFINITY && !w->without[unit] ? price(w, unit, p->seconds[unit], p->joules[unit]) : INFINITY;
}

/* The cheapest of P core, AMX block and E core. */
static unsigned on_cores(const struct network_prices *w, const struct planned *p)
{
    const unsigned fast = price_on(w, p, PLAN_AMX) < price_on(w, p, PLAN_CPU) ? PLAN_AMX : PLAN_CPU;
    return price_on(w, p, PLAN_E) < price_on(w, p, fast) ? PLAN_E : fast;
}

static unsigned unit_at(const struct network_prices *w, const struct planned *p, unsigned place)
{
    return place == GPU ? PLAN_GPU : place == ENGINE ? PLAN_ANE : on_cores(w, p);
}

/* The places that a node may be computed at, and what that costs; by the reference nothing: GPU and Neural Engine go on unless it
 * needs their results. */
static void ways_of(const struct network_prices *w, const struct planned *p, double cost[PLACES])
{
    const bool left = planned_is_left(p);
    for (unsigned place = 0; place < PLACES; place++)
        cost[place] = !left ? price_on(w, p, unit_at(w, p, place)) : place != CORES && p->host ? INFINITY : 0;
}

double network_plan_begin_s(const struct network_plan *plan, unsigned unit)
{
    return unit == PLAN_GPU                   ? plan->speeds.hand_over_s
           : unit == PLAN_ANE && plan->engine ? network_alone_begin_s(plan->engine)
                                              : 0;
}

static double begin_at(const struct network_plan *plan, const struct network_prices *w, unsigned place)
{
    const unsigned unit = place == GPU ? PLAN_GPU : PLAN_ANE;
    return place == CORES     ? 0
           : w->without[unit] ? INFINITY
                              : price(w, unit, network_plan_begin_s(plan, unit), plan->begin_joules[unit]);
}

/* From the end: `place` is where the last item is. Adds up what the assignment takes. */
static void read_back(struct network_plan *plan, const struct network_prices *w, unsigned char (*came)[PLACES], unsigned place)
{
    plan->as_planned = plan->joules_planned = 0;
    for (size_t k = plan->count; k-- > 0;) {
        struct planned *const p = &plan->item[k];
        const unsigned unit = unit_at(w, p, place), from = came[k][place];
        const bool left = planned_is_left(p);
        p->part = network_plan_parts[unit];
        p->e_core = unit == PLAN_E;
        plan->as_planned += left ? 0 : p->seconds[unit];
        plan->joules_planned += left ? 0 : p->joules[unit] + w->beside_w[unit] * p->seconds[unit];
        if (from != place && place != CORES) {
            plan->as_planned += network_plan_begin_s(plan, unit);
            plan->joules_planned += plan->begin_joules[unit] + w->beside_w[unit] * network_plan_begin_s(plan, unit);
        }
        place = from;
    }
}

/* The least cost at which all nodes so far are done and the latest results are with the cores, on the GPU in a command buffer
 * that goes on, or in a request to the Neural Engine that goes on; came[k][place]: where the node before was. What is left to the
 * reference begins nothing. */
bool network_plan_choose(struct network_plan *plan, const struct network_prices *prices, struct orch_error *error)
{
    unsigned char(*const came)[PLACES] = calloc(plan->count + 1, sizeof *came);
    double best[PLACES] = {0, INFINITY, INFINITY};
    unsigned place = CORES;
    if (!came)
        return orch_no_memory(error);
    for (size_t k = 0; k < plan->count; k++) {
        const bool left = planned_is_left(&plan->item[k]);
        double cost[PLACES], now[PLACES];
        ways_of(prices, &plan->item[k], cost);
        for (unsigned to = 0; to < PLACES; to++) {
            now[to] = INFINITY;
            for (unsigned from = 0; from < PLACES; from++) {
                const double begin = from == to ? 0 : left && to != CORES ? INFINITY : begin_at(plan, prices, to);
                const double end = best[from] + begin + cost[to];
                came[k][to] = (unsigned char)(end < now[to] ? from : came[k][to]);
                now[to] = fmin(now[to], end);
            }
        }
        memcpy(best, now, sizeof best);
    }
    for (unsigned i = 0; i < PLACES; i++)
        place = best[i] < best[place] ? i : place;
    if (best[place] < INFINITY)
        read_back(plan, prices, came, place);
    else /* units that may do nothing are needed */
        plan->as_planned = plan->joules_planned = INFINITY;
    free(came);
    return true;
}
