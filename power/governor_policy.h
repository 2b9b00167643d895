/* What a policy is: its name, the clock that it wants, and what it needs to know. */
#ifndef ORCHARD_POWER_GOVERNOR_POLICY_H
#define ORCHARD_POWER_GOVERNOR_POLICY_H

#include "power/governor_policies.inc"

enum governor_policy {
#define X(enumerator, ...) GOVERNOR_##enumerator,
    GOVERNOR_POLICIES(X)
#undef X
        GOVERNOR_POLICY_COUNT
};

/* Who asks for a clock. */
enum governor_asked {
    GOVERNOR_ASKED_BY_NOBODY,
    GOVERNOR_ASKED_BY_RUN,    /* the clock at which the work was profiled */
    GOVERNOR_ASKED_BY_TARGET, /* the lowest that meets the target time */
    GOVERNOR_ASKED_BY_HEAT    /* the highest that can be held for ever */
};
enum governor_kind { GOVERNOR_PLAIN, GOVERNOR_TIMED, GOVERNOR_FREE };

struct governor_params;
struct governor_demand;

struct governor_policy_row {
    const char *name;
    /* `top` is the highest clock that the domain can have. */
    double (*wanted_mhz)(const struct governor_params *params, const struct governor_demand *demand, double top);
    enum governor_asked asked;
    enum governor_kind kind;
};
/* The policy must be below GOVERNOR_POLICY_COUNT. */
const struct governor_policy_row *governor_policy_row(enum governor_policy policy);
const char *governor_policy_name(enum governor_policy policy); /* NULL when there is no such policy */

#endif
