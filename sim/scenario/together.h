/* Workloads that run at the same time: `orchard run A + B`.
 *
 * Each workload is run alone first (run.h), which tells how long it takes, how many bytes it moves through every shared resource,
 * and on which cores it runs. The work of the units then becomes slices (sim/soc/slices.h) that share L2s, fabric ports, SLC,
 * DRAM and the link between dies fairly. CPU programs get cores of their own, clocked as when all of these cores are busy; the
 * GPU and the Neural Engine do one thing at a time.
 *
 * What the workloads share are mean rates over a phase; each keeps in the caches what it keeps when alone. Where all of them are
 * CPU programs, submitted at once and equal in rank, they run on one time line instead and meet in the caches line by line.
 */
#ifndef ORCHARD_SIM_SCENARIO_TOGETHER_H
#define ORCHARD_SIM_SCENARIO_TOGETHER_H

#include "sim/soc/fair_share.h"
#include "sim/run/run.h"

#define TOGETHER_PARTS 16

struct together_part {
    struct run_request request;
    int priority;         /* at shared resources and in its unit's queue */
    double weight;        /* relative share of a full resource; 0 means 1 */
    double start_seconds; /* when it is submitted */
};

/* What became of a workload beside the others. */
struct together_outcome {
    struct run_result alone;
    double start_seconds, end_seconds; /* submission; last completion */
    double begin_seconds;              /* when its unit began with it, behind launch and queue */
    double seconds;                    /* from submission to last completion */
    double slowdown;                   /* seconds, divided by those when alone */
    double dram_gbps;                  /* mean over its time */
    double queued_seconds;             /* waited behind other workloads of its unit */
    double dynamic_joules;             /* of its events; clocks and leakage belong to the whole. NAN = not known */
    char limited_by[48];               /* shared resource that cost it most time; otherwise what limits it alone */
    double limited_share;              /* share of its time lost to that resource; 0 = none */
};

/* A shared resource. */
struct together_resource {
    char name[32];
    double capacity_gbps;
    double bytes;
    double full_share; /* share of the time in which it was full */
};

struct together;

/* The requests must outlive the result. `text` is the whole of what was asked for. NULL with *error, as from run_prepare. */
struct together *together_prepare(const struct together_part *part, unsigned count, const char *text, struct orch_error *error);
void together_free(struct together *together);
const struct event_run_begin *together_begin_event(const struct together *together);
/* Who waits for executing without a bus, or with one on which nobody asks for progress; NULL = nobody. */
void together_tell(struct together *together, const struct work_progress *progress);
/* Simulates, and fills *whole, which must be initialised. Emits one operator per workload; bus may be NULL. */
bool together_execute(struct together *together, struct event_bus *bus, uint64_t run_number, struct run_result *whole,
                      struct orch_error *error);

/* "max-min fair rates" or "line by line". */
const char *together_sharing(const struct together *together);
unsigned together_count(const struct together *together);
const struct together_outcome *together_outcome(const struct together *together, unsigned number);
/* The shared resources that any workload used. */
unsigned together_resource_count(const struct together *together);
const struct together_resource *together_resource(const struct together *together, unsigned number);

/* Reads "A[unit=gpu] + B[cores=4,priority=1]". Every part starts from `common`. *storage holds the texts; the caller frees it
 * after use, also on failure. */
bool together_parse(const char *text, const struct run_request *common, struct together_part *part, unsigned *count,
                    char **storage, struct orch_error *error);
/* True when the text has more than one workload. */
bool together_is(const char *text);

#endif
