/* Workloads that run at the same time: `orchard run A + B`.
 *
 * Each is run alone first (run.h): how long, how many bytes at every shared resource, on which cores. What each unit does becomes
 * slices (engine/slices.h) that share L2s, fabric ports, SLC, DRAM and the link between dies fairly. Programs of the CPU get
 * cores of their own, and clocks as when all of those are busy; the GPU and the Neural Engine do one thing at a time.
 *
 * Shared are rates, by the average of a phase. What a workload keeps in caches is what it keeps alone. Where all are programs of
 * the CPU, submitted at once and equal in rank, they run on one time line instead and meet in the caches line by line.
 */
#ifndef ORCHARD_SIM_SCENARIO_TOGETHER_H
#define ORCHARD_SIM_SCENARIO_TOGETHER_H

#include "sim/soc/fair_share.h"
#include "sim/run/run.h"

#define TOGETHER_PARTS 16

struct together_part {
    struct run_request request;
    int priority;         /* at shared resources and in its unit's queue */
    double weight;        /* 0 = 1 */
    double start_seconds; /* when it is submitted */
};

/* A workload beside the others. */
struct together_outcome {
    struct run_result alone;
    double start_seconds, end_seconds; /* work begins, last completion */
    double seconds;                    /* from submission */
    double slowdown;                   /* over being alone */
    double dram_gbps;                  /* of its time */
    double queued_seconds;             /* behind others of its unit */
    double dynamic_joules;             /* of its events; clocks and leakage are the whole's. NAN = not known */
    char limited_by[48];               /* shared resource that cost it most; else what limits it alone */
    double limited_share;              /* of its time that this cost; 0 = as alone */
};

/* A shared resource. */
struct together_resource {
    char name[32];
    double capacity_gbps;
    double bytes;
    double full_share; /* of the time */
};

struct together;

/* The requests must outlive it. NULL with *error as run_prepare. `text` is what was asked for as a whole. */
struct together *together_prepare(const struct together_part *part, unsigned count, const char *text, struct orch_error *error);
void together_free(struct together *together);
const struct event_run_begin *together_begin_event(const struct together *together);
/* Simulates; the result of the whole must be initialised. Emits one operator per workload. bus may be NULL. */
bool together_execute(struct together *together, struct event_bus *bus, uint64_t run_number, struct run_result *whole,
                      struct orch_error *error);

/* "max-min fair rates" or "line by line". */
const char *together_sharing(const struct together *together);
unsigned together_count(const struct together *together);
const struct together_outcome *together_outcome(const struct together *together, unsigned number);
/* Those that anybody used. */
unsigned together_resource_count(const struct together *together);
const struct together_resource *together_resource(const struct together *together, unsigned number);

/* Reads "A[unit=gpu] + B[cores=4,priority=1]". Every part starts from `common`; texts are kept in *storage, which the caller
 * frees after use, also on failure. */
bool together_parse(const char *text, const struct run_request *common, struct together_part *part, unsigned *count,
                    char **storage, struct orch_error *error);
/* Does the text have more than one workload? */
bool together_is(const char *text);

#endif
