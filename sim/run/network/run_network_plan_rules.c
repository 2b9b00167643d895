/* Rules of thumb that are told of these chips, as policies; their names. */
#include "sim/run/network/run_network_plan_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char run_network_policies[] = "cost|energy|edp|size|memory|class|list|split|" RUN_NETWORK_POLICY_PREDICTIVE;

static const double small_elements = 1e6, large_elements = 1e7;

bool run_is_network_policy(const char *text)
{
    double small, large, watts;
    char rest;
    if (strcmp(text, RUN_NETWORK_POLICY_THERMAL) == 0)
        return true;
    if (strncmp(text, "power:", 6) == 0)
        return sscanf(text + 6, "%lf%c", &watts, &rest) == 1 && watts > 0;
    if (strncmp(text, "split:", 6) == 0)
        return sscanf(text + 6, "%lf%c", &small, &rest) == 1 && small > 0 && small < 1;
    if (strncmp(text, "size:", 5) == 0)
        return sscanf(text + 5, "%lf:%lf%c", &small, &large, &rest) == 2 && small >= 0 && large >= small;
    const size_t length = strcspn(text, "|,:");
    for (const char *at = run_network_policies; *at; at += strcspn(at, "|") + (at[strcspn(at, "|")] != 0))
        if (text[length] == 0 && length == strcspn(at, "|") && strncmp(text, at, length) == 0)
            return true;
    return false;
}

static enum orch_part by_size(const char *policy, const struct planned *p, enum orch_part before)
{
    double small = small_elements, large = large_elements;
    if (policy[4] == ':')
        sscanf(policy + 5, "%lf:%lf", &small, &large);
    return p->elements < small ? PART_AMX : p->elements >= large ? PART_GPU : before;
}

/* The time of the bytes at the chip's peak against that of the products on all lanes of the GPU. */
static enum orch_part by_memory(const struct network_plan *plan, const struct planned *p)
{
    enum { LANES = 128 }; /* multiply-adds a cycle of a core: philipturner/metal-benchmarks */
    double peak_GBps;
    if (!chip_number(plan->network->request->chip, "memory_peak_GBps", &peak_GBps, NULL))
        return PART_GPU;
    const double moving = 4 * p->elements / peak_GBps, multiplying = p->macs / (LANES * plan->speeds.ghz[PART_GPU]);
    return moving > multiplying ? PART_AMX : PART_GPU;
}

static unsigned number_of(enum orch_part part)
{
    unsigned i = 0;
    while (i + 1 < PLAN_PARTS && network_plan_parts[i] != part)
        i++;
    return i;
}

/* Gives nodes to the units that a rule names, where these have them, and adds up what is predicted. */
void network_plan_follow_rule(struct network_plan *plan, const char *policy)
{
    enum orch_part before = PART_AMX;
    bool in_buffer = false;
    plan->as_planned = 0;
    for (size_t k = 0; k < plan->count; k++) {
        struct planned *const p = &plan->item[k];
        if (planned_is_left(p)) {
            in_buffer = in_buffer && !p->host;
            continue;
        }
        enum orch_part part = strncmp(policy, "size", 4) == 0 ? by_size(policy, p, before) : by_memory(plan, p);
        double seconds = p->seconds[number_of(part)];
        if (!(seconds < INFINITY)) {
            part = planned_on_cores(p, &seconds);
            if (!(seconds < INFINITY)) {
                part = PART_GPU;
                seconds = p->seconds[number_of(PART_GPU)];
            }
        }
        plan->as_planned += seconds + (part == PART_GPU && !in_buffer ? plan->speeds.hand_over_s : 0);
        in_buffer = part == PART_GPU;
        p->part = before = part;
    }
}
