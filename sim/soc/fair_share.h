/* Who gets how much of what units share: max-min fair rates at every resource.
 *
 * A flow moves data at some rate, up to what it can by itself; each byte of it loads the resources on its way by so many bytes.
 * At a resource that is full, everybody gets what he asks for up to one common level (times his weight), as a round-robin arbiter
 * grants it; what small flows leave over goes to the large ones. A flow that several resources hold back runs at the slowest.
 *
 * A latency-bound flow has a window of requests in the air, so its rate is window / latency. At a full resource each of its
 * requests waits for one request of every requester that has some queued there, which is what a round-robin arbiter makes it
 * wait.
 *
 * Pure functions of their arguments: the order of flows makes no difference beyond rounding.
 */
#ifndef ORCHARD_SIM_SOC_FAIR_SHARE_H
#define ORCHARD_SIM_SOC_FAIR_SHARE_H

#define FAIR_RESOURCES_MAX 48
#define FAIR_FLOWS_MAX     64
#define FAIR_LINE_BYTES    128.0 /* the usual grant: a cache line */

struct fair_resource {
    const char *name;     /* "dram" */
    double capacity_gbps; /* bytes per ns; INFINITY = no limit */
    double grant_bytes;   /* what one requester is given at a time: those behind it wait for that. 0 = nobody waits */
};

struct fair_flow {
    double demand_gbps;  /* what it reaches alone */
    const double *load;  /* by resource: bytes there per byte of the flow; at least one > 0 */
    double weight;       /* relative share among those who want more than there is; 0 = 1 */
    int priority;        /* flows of a higher one take what they want before */
    double latency_ns;   /* of its requests when nobody is in the way; 0 = not latency-bound */
    unsigned requesters; /* that queue at a full resource: cores */
};

struct fair_rate {
    double gbps;
    int limit;      /* number of the resource that holds it back; -1 = its own demand */
    double wait_ns; /* latency-bound: what a request waits in all */
};

/* Up to FAIR_RESOURCES_MAX resources and FAIR_FLOWS_MAX flows; more are left at rate 0. */
void fair_share(const struct fair_resource *resource, unsigned resources, const struct fair_flow *flow, unsigned flows,
                struct fair_rate *rate);

#endif
