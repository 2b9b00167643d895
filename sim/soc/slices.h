/* Slices of work that share resources, simulated by events.
 *
 * A slice is a piece of work of one unit: the time it takes alone, and the bytes it moves through each shared resource in that
 * time. Slices of one queue (a unit that does one thing at a time) run one after another: among those that may start, the one
 * with the highest priority goes first, then the one that was added first. A running slice is not interrupted. Whenever a slice
 * starts or ends, all running slices get new rates (fair_share.h); a slice that gets half the rate it has alone proceeds at half
 * its pace.
 *
 * Single-threaded, without randomness: equal calls give equal answers.
 */
#ifndef ORCHARD_SIM_SOC_SLICES_H
#define ORCHARD_SIM_SOC_SLICES_H

#include "sim/soc/fair_share.h"
#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define SLICES_NO_QUEUE (-1)

struct slice {
    const char *name;    /* for messages; owned by the caller */
    int queue;           /* 0 and up, or SLICES_NO_QUEUE: starts whatever else is running */
    double submit_ns;    /* earliest start */
    double alone_ns;     /* duration when nothing else runs */
    const double *bytes; /* by resource, copied; NULL = none */
    double weight;       /* see struct fair_flow; 0 means 1 */
    int priority;
    double latency_ns; /* see struct fair_flow; 0 = not latency-bound */
    unsigned requesters;
};

struct slice_outcome {
    double start_ns, end_ns;
    double lost_ns[FAIR_RESOURCES_MAX]; /* time lost to each resource that held it back; alone_ns and these add up to its time */
    double queued_ns;                   /* from when it could have started until its queue let it start */
};

/* Rates between two events, for time series. */
struct slices_interval {
    double begin_ns, end_ns;
    const double *gbps; /* by resource */
};
typedef void slices_observe(void *context, const struct slices_interval *interval);

struct slices;

/* Copies the resources but not their names. NULL when memory ran out or there are more than FAIR_RESOURCES_MAX. */
struct slices *slices_create(const struct fair_resource *resource, unsigned count);
void slices_free(struct slices *slices);
/* Adds a slice that starts after the slices after[0..count). Returns its number, or -1 when memory ran out. */
int slices_add(struct slices *slices, const struct slice *slice, const int *after, size_t count);
/* Runs all slices; *end_ns is when the last one ended. observe may be NULL. False when no slice can proceed; *error then says
 * what each of them waits for. */
bool slices_run(struct slices *slices, slices_observe *observe, void *context, double *end_ns, struct orch_error *error);
const struct slice_outcome *slices_outcome(const struct slices *slices, int slice);
/* Bytes that moved through a resource, and the time during which it was full. */
double slices_bytes(const struct slices *slices, unsigned resource);
double slices_full_ns(const struct slices *slices, unsigned resource);

#endif
