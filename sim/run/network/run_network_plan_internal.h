/* What the files of run_network_plan.h share. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PLAN_INTERNAL_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PLAN_INTERNAL_H

#include "sim/run/learned.h"
#include "sim/run/network/run_network_alone.h"
#include "sim/run/network/run_network_plan.h"
#include "sim/run/network/run_network_predict.h"

#include <math.h>

/* Units that nodes are given to, by number. */
enum { PLAN_CPU, PLAN_AMX, PLAN_GPU, PLAN_ANE, PLAN_E, PLAN_PARTS }; /* PLAN_E: an E core, by kernels of the CPU */
extern const enum orch_part network_plan_parts[PLAN_PARTS];

/* Where the time of a node on a unit comes from, by the policy "predictive"; of several kernels the weakest. */
enum plan_source { PLAN_NOT_ASKED, PLAN_KNOWN, PLAN_BY_ROWS, PLAN_TIMED, PLAN_ROUGH };
struct plan_evidence {
    enum plan_source source;
    struct learned_estimate estimate; /* also of kernels that were simulated because it was not sure */
};

struct planned {
    const struct net_node *node;
    double seconds[PLAN_PARTS]; /* INFINITY = the unit does not compute it */
    double joules[PLAN_PARTS];  /* where the policy asks for them; else 0 */
    double elements, macs;      /* of operands and results that are in f32 */
    bool host;                  /* the reference computes it from what units computed */
    enum orch_part part;
    bool e_core;      /* it is one of the CPU's, and an E core takes it */
    bool splits;      /* a product or convolution whose rows two units can share */
    double amx_share; /* of it, beside the GPU; 0 = it is not split */
    struct plan_evidence evidence[PLAN_PARTS];
};

/* How long a kernel takes on a unit, as simulated. */
struct plan_time {
    char workload[200];
    enum orch_part part;
    bool e_core;
    double seconds;
    struct plan_evidence evidence; /* of the policy "predictive" */
};

struct network_plan {
    const struct run_network *network;
    struct network_speeds speeds;
    struct planned *item;
    size_t count, room;
    bool splits, share_given;       /* products may be split; how, the request says */
    bool measures;                  /* kernels are simulated where predictions are near each other; */
    bool measuring;                 /* that is going on; */
    bool on_e_core;                 /* of E cores */
    bool predictive;                /* kernels are foretold from recorded ones */
    struct plan_evidence *evidence; /* of the node and unit at hand; NULL = nobody wants it */
    bool *doubtful;                 /* by item: its kernels are simulated, the second time through; NULL = the first time */
    struct plan_time *time;
    size_t times, time_room;
    double waiting_w[PLAN_PARTS];    /* that a unit draws while it waits for others, where the policy asks for it */
    double begin_joules[PLAN_PARTS]; /* of a command buffer, of a request, where the policy asks for it */
    struct network_alone *engine;    /* how long nodes take on the Neural Engine; NULL = it takes no part */
    double as_planned, all_on[PLAN_PARTS];
    double joules_planned; /* where joules are known; else 0 */
    char remark[200];      /* what the policy could not keep; "" = nothing */
};

/* No unit has a kernel for it. */
static inline bool planned_is_left(const struct planned *p)
{
    return !(p->seconds[PLAN_CPU] < INFINITY || p->seconds[PLAN_AMX] < INFINITY || p->seconds[PLAN_GPU] < INFINITY);
}

/* The faster of CPU and AMX, and how long it takes. */
static inline enum orch_part planned_on_cores(const struct planned *p, double *seconds)
{
    *seconds = fmin(p->seconds[PLAN_CPU], p->seconds[PLAN_AMX]);
    return p->seconds[PLAN_AMX] < p->seconds[PLAN_CPU] ? PART_AMX : PART_CPU;
}

/* What an assignment is to cost least of. */
struct network_prices {
    double per_second, per_joule;
    bool without[PLAN_PARTS];    /* units that get nothing */
    double beside_w[PLAN_PARTS]; /* what the others draw while this one works */
};

/* run_network_plan_choose.c: the cheapest assignment of nodes one after another. */
bool network_plan_choose(struct network_plan *plan, const struct network_prices *prices, struct orch_error *error);
/* What a command buffer of the GPU or a request to the Neural Engine takes beside its kernels; 0 = of cores. */
double network_plan_begin_s(const struct network_plan *plan, unsigned unit);

/* run_network_plan_energy.c: by joules, by joules times seconds, or in the least time within a mean power; times and joules are
 * those that the kernels' characteristics have. */
bool network_plan_is_of_energy(const char *policy);
bool network_plan_weigh(struct network_plan *plan, const char *policy, struct orch_error *error); /* of items that have them */
bool network_plan_by_energy(struct network_plan *plan, const char *policy, struct orch_error *error);

/* run_network_plan_joint.c: which units each of several networks leaves to the others. It keeps the assignment that the plan has
 * where that is predicted to be done earlier. */
bool network_plan_joint(struct network_plan *plan, struct orch_error *error);

/* run_network_plan_learned.c: how long a kernel is going to take on a unit, by what is known, or by recorded kernels that are
 * near. Where these are too few or do not agree it is simulated while the plan is measuring, and else `rough`. `run` is the
 * prepared kernel. */
double network_plan_foretell(struct network_plan *plan, const struct lowered_step *step, enum orch_part part, double rough,
                             const struct run *run);
/* Says in the remark what the choices rest on. */
void network_plan_sum_evidence(struct network_plan *plan);

/* run_network_plan_rules.c: gives nodes to the units that a rule of thumb names. */
void network_plan_follow_rule(struct network_plan *plan, const char *policy);

/* run_network_plan_list.c: by the earliest end, of nodes with the longest way to the end first. `splits`: products may be split
 * over AMX and GPU, `share` of each on AMX (NAN: so that both are done at the same time, where that helps). It keeps the
 * assignment that the plan has where that is predicted to be done earlier. */
bool network_plan_list(struct network_plan *plan, bool splits, double share, struct orch_error *error);

#endif
