#include "sim/soc/fair_share.h"

#include <math.h>
#include <stdbool.h>

/* Levels settle within a few rounds; chains of resources that feed back on one another need more. */
#define ROUNDS_MAX 400
#define SETTLED    1e-13 /* relative */
#define TOUCHES    1e-9  /* a resource with less than this share left counts as full */

struct problem {
    const struct fair_resource *resource;
    const struct fair_flow *flow;
    unsigned resources, flows;
    double cap[FAIR_FLOWS_MAX];       /* GB/s: demand, or what latency allows */
    double left[FAIR_RESOURCES_MAX];  /* GB/s that higher priorities leave */
    double level[FAIR_RESOURCES_MAX]; /* GB/s per unit of weight; INFINITY = every flow gets what it asks for */
    bool member[FAIR_FLOWS_MAX];      /* flows of the priority that is being served */
};

static double weight_of(const struct fair_flow *f)
{
    return f->weight > 0 ? f->weight : 1;
}

/* The rate that the levels of all resources except one allow flow i. *limit is the resource that sets it; -1 = none. */
static double allowed(const struct problem *p, unsigned i, int except, int *limit)
{
    const struct fair_flow *const f = &p->flow[i];
    double rate = p->cap[i];
    *limit = -1;
    for (unsigned j = 0; j < p->resources; j++) {
        if ((int)j == except || f->load[j] <= 0 || isinf(p->level[j]))
            continue;
        const double here = weight_of(f) * p->level[j] / f->load[j];
        if (here < rate) {
            rate = here;
            *limit = (int)j;
        }
    }
    return rate;
}

/* The level at which a resource is just full, given the rates that the other resources allow its flows. */
static double find_level(const struct problem *p, unsigned j)
{
    double want[FAIR_FLOWS_MAX], left = p->left[j], weights = 0;
    bool open[FAIR_FLOWS_MAX];
    int ignored;
    for (unsigned i = 0; i < p->flows; i++) {
        open[i] = p->member[i] && p->flow[i].load[j] > 0;
        want[i] = open[i] ? allowed(p, i, (int)j, &ignored) * p->flow[i].load[j] : 0;
        weights += open[i] ? weight_of(&p->flow[i]) : 0;
    }
    for (bool more = true; more && weights > 0;) {
        const double level = fmax(left, 0) / weights;
        more = false;
        for (unsigned i = 0; i < p->flows; i++) {
            if (!open[i] || want[i] > level * weight_of(&p->flow[i]))
                continue;
            open[i] = false;
            left -= want[i];
            weights -= weight_of(&p->flow[i]);
            more = true;
        }
        if (!more)
            return level;
        bool any = false;
        for (unsigned i = 0; i < p->flows; i++)
            any |= open[i];
        if (!any)
            return INFINITY;
    }
    return INFINITY;
}

static bool same(double a, double b)
{
    return a == b || (isfinite(a) && isfinite(b) && fabs(a - b) <= SETTLED * fmax(fabs(a), fabs(b)));
}

static void settle_levels(struct problem *p)
{
    for (unsigned j = 0; j < p->resources; j++)
        p->level[j] = INFINITY;
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        bool moved = false;
        for (unsigned j = 0; j < p->resources; j++) {
            const double level = isinf(p->left[j]) ? INFINITY : find_level(p, j);
            moved |= !same(level, p->level[j]);
            p->level[j] = level;
        }
        if (!moved)
            return;
    }
}

/* Scales rates down so that no resource exceeds its capacity, even where the levels have not settled. */
static void hold_to_capacity(const struct problem *p, struct fair_rate *rate)
{
    for (unsigned j = 0; j < p->resources; j++) {
        double sum = 0;
        for (unsigned i = 0; i < p->flows; i++)
            sum += p->member[i] ? rate[i].gbps * p->flow[i].load[j] : 0;
        if (!(sum > fmax(p->left[j], 0)))
            continue;
        for (unsigned i = 0; i < p->flows; i++)
            if (p->member[i] && p->flow[i].load[j] > 0)
                rate[i].gbps *= fmax(p->left[j], 0) / sum;
    }
}

static void take(struct problem *p, const struct fair_rate *rate)
{
    for (unsigned j = 0; j < p->resources; j++) {
        for (unsigned i = 0; i < p->flows; i++)
            if (p->member[i] && !isinf(p->left[j]))
                p->left[j] -= rate[i].gbps * p->flow[i].load[j];
        if (p->left[j] < TOUCHES * p->resource[j].capacity_gbps)
            p->left[j] = 0;
    }
}

/* Finds the highest priority below `below`; false when there is none. */
static bool next_priority(const struct problem *p, bool first, int below, int *priority)
{
    bool found = false;
    for (unsigned i = 0; i < p->flows; i++) {
        const int here = p->flow[i].priority;
        if ((first || here < below) && (!found || here > *priority)) {
            *priority = here;
            found = true;
        }
    }
    return found;
}

static void fill(struct problem *p, struct fair_rate *rate)
{
    int priority = 0, below = 0;
    for (unsigned j = 0; j < p->resources; j++)
        p->left[j] = p->resource[j].capacity_gbps;
    for (bool first = true; next_priority(p, first, below, &priority); first = false, below = priority) {
        for (unsigned i = 0; i < p->flows; i++)
            p->member[i] = p->flow[i].priority == priority;
        settle_levels(p);
        for (unsigned i = 0; i < p->flows; i++)
            if (p->member[i])
                rate[i].gbps = allowed(p, i, -1, &rate[i].limit);
        hold_to_capacity(p, rate);
        take(p, rate);
    }
}

/* How long a request of flow i waits, in ns: at each full resource it waits for one grant to every requester that other flows
 * have queued there, each time it passes. *worst is the resource where it waits longest; -1 = none. */
static double wait_of(const struct problem *p, const struct fair_rate *rate, unsigned i, int *worst)
{
    double sum = 0, longest = 0;
    *worst = -1;
    for (unsigned j = 0; j < p->resources; j++) {
        double queued = 0;
        for (unsigned k = 0; k < p->flows; k++)
            if (k != i && rate[k].limit == (int)j)
                queued += p->flow[k].requesters ? p->flow[k].requesters : 1;
        const double here = queued * p->resource[j].grant_bytes / p->resource[j].capacity_gbps * p->flow[i].load[j];
        if (queued > 0 && p->flow[i].load[j] > 0 && here > longest) {
            longest = here;
            *worst = (int)j;
        }
        sum += queued > 0 && p->flow[i].load[j] > 0 ? here : 0;
    }
    return sum;
}

void fair_share(const struct fair_resource *resource, unsigned resources, const struct fair_flow *flow, unsigned flows,
                struct fair_rate *rate)
{
    struct problem p = {.resource = resource, .flow = flow};
    int worst[FAIR_FLOWS_MAX];
    bool waits = false;
    for (unsigned i = 0; i < flows; i++)
        rate[i] = (struct fair_rate){.limit = -1};
    p.resources = resources < FAIR_RESOURCES_MAX ? resources : FAIR_RESOURCES_MAX;
    p.flows = flows < FAIR_FLOWS_MAX ? flows : FAIR_FLOWS_MAX;
    for (unsigned i = 0; i < p.flows; i++)
        p.cap[i] = flow[i].demand_gbps;
    fill(&p, rate);
    for (unsigned i = 0; i < p.flows; i++) {
        worst[i] = -1;
        if (flow[i].latency_ns <= 0)
            continue;
        rate[i].wait_ns = wait_of(&p, rate, i, &worst[i]);
        p.cap[i] = flow[i].demand_gbps * flow[i].latency_ns / (flow[i].latency_ns + rate[i].wait_ns);
        waits |= rate[i].wait_ns > 0;
    }
    if (!waits)
        return;
    fill(&p, rate);
    for (unsigned i = 0; i < p.flows; i++)
        if (rate[i].limit < 0)
            rate[i].limit = worst[i];
}
