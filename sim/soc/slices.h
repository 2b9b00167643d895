/* Slices of work of any number of units over shared resources, in events.
 *
 * A slice is what a unit does for a while: so long alone, and so many bytes at each shared resource in that time. Slices of one
 * queue (a unit that does one thing at a time) run one after another: of those that may start, the one with the highest priority,
 * then the one added first; what runs is not interrupted. Whenever a slice starts or ends, all that run are given new rates
 * (fair_share.h); a slice whose resources give it half of what it had alone goes on at half its pace.
 *
 * One thread, no randomness: equal calls give equal answers.
 */
#ifndef ORCHARD_SIM_SOC_SLICES_H
#define ORCHARD_SIM_SOC_SLICES_H

#include "sim/soc/fair_share.h"
#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define SLICES_NO_QUEUE (-1)

struct slice {
    const char *name; /* for messages; the caller's */
    int queue;        /* 0.. or SLICES_NO_QUEUE: starts whatever else runs */
    double submit_ns; /* not before */
    double alone_ns;
    const double *bytes; /* by resource, copied; NULL = none */
    double weight;       /* 0 = 1 */
    int priority;
    double latency_ns; /* > 0: latency-bound, see struct fair_flow */
    unsigned requesters;
};

struct slice_outcome {
    double start_ns, end_ns;
    double lost_ns[FAIR_RESOURCES_MAX]; /* by resource that held it back; alone_ns and these make up its time */
    double queued_ns;                   /* from when it could have started to when its queue let it */
};

/* What happens in an interval without events, for time series. */
struct slices_interval {
    double begin_ns, end_ns;
    const double *gbps; /* by resource */
};
typedef void slices_observe(void *context, const struct slices_interval *interval);

struct slices;

/* Copies the resources; names stay the caller's. NULL without memory or with more than FAIR_RESOURCES_MAX. */
struct slices *slices_create(const struct fair_resource *resource, unsigned count);
void slices_free(struct slices *slices);
/* Adds a slice that starts after the slices `after[0..count)`. Returns its number, -1 without memory. */
int slices_add(struct slices *slices, const struct slice *slice, const int *after, size_t count);
/* Runs everything; observe may be NULL. False when nothing can go on: the text names who waits for what. */
bool slices_run(struct slices *slices, slices_observe *observe, void *context, double *end_ns, struct orch_error *error);
const struct slice_outcome *slices_outcome(const struct slices *slices, int slice);
/* Of a resource: bytes moved and time during which it was full. */
double slices_bytes(const struct slices *slices, unsigned resource);
double slices_full_ns(const struct slices *slices, unsigned resource);

#endif
