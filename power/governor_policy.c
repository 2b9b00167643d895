/* The clocks that policies want. */
#include "power/governor_policy.h"

#include "power/governor.h"

#include <math.h>
#include <stddef.h>

static double policy_highest(const struct governor_params *params, const struct governor_demand *demand, double top)
{
    (void)params, (void)demand;
    return top;
}

static double policy_asked(const struct governor_params *params, const struct governor_demand *demand, double top)
{
    (void)params;
    return demand->asked_mhz > 0 ? fmin(demand->asked_mhz, top) : top;
}

/* With memory-bound share m, time is proportional to m + (1 - m) / share. Balancing may cost the share `balanced_cost` of it. */
static double policy_balanced(const struct governor_params *params, const struct governor_demand *demand, double top)
{
    const double bound = demand->memory_bound, compute = bound < 0 ? 1 : bound > 1 ? 0 : 1 - bound;
    return compute > 0 ? top * fmin(compute / (compute + params->balanced_cost), 1) : 0;
}

static double policy_low_power(const struct governor_params *params, const struct governor_demand *demand, double top)
{
    (void)demand;
    return top * params->low_power_share;
}

static const struct governor_policy_row rows[] = {
#define X(enumerator, name, clock, asked, kind, text) {name, policy_##clock, GOVERNOR_ASKED_##asked, GOVERNOR_##kind},
    GOVERNOR_POLICIES(X)
#undef X
};

const struct governor_policy_row *governor_policy_row(enum governor_policy policy)
{
    return &rows[policy];
}

const char *governor_policy_name(enum governor_policy policy)
{
    return policy < GOVERNOR_POLICY_COUNT ? rows[policy].name : NULL;
}
