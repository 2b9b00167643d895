/* Divides shared resources among the flows that use them: max-min fair rates at every resource.
 *
 * A flow moves data at some rate, at most the rate that it reaches alone. Each byte of a flow loads every resource on its path
 * with a given number of bytes. At a full resource, every flow gets what it asks for up to a common level, scaled by the flow's
 * weight, as a round-robin arbiter would grant it; what small flows leave unused goes to the large ones. A flow that several
 * resources hold back runs at the slowest of their rates.
 *
 * A latency-bound flow keeps a window of requests in flight, so its rate is window / latency. At a full resource each of its
 * requests waits for one request of every requester that has requests queued there, as a round-robin arbiter would have it.
 *
 * Rates are a pure function of the arguments; the order of the flows makes no difference beyond rounding.
 */
#ifndef ORCHARD_SIM_SOC_FAIR_SHARE_H
#define ORCHARD_SIM_SOC_FAIR_SHARE_H

#define FAIR_RESOURCES_MAX 48
#define FAIR_FLOWS_MAX     64
#define FAIR_LINE_BYTES    128.0 /* the usual grant: a cache line */

struct fair_resource {
    const char *name;     /* "dram" */
    double capacity_gbps; /* bytes per ns; INFINITY = no limit */
    double grant_bytes;   /* moved for one requester at a time while the others wait; 0 = nobody waits */
};

struct fair_flow {
    double demand_gbps;  /* the rate it reaches alone */
    const double *load;  /* by resource: bytes there for each byte of the flow; at least one is > 0 */
    double weight;       /* relative share of a full resource; 0 means 1 */
    int priority;        /* flows of higher priority are served first */
    double latency_ns;   /* of a request that meets no other traffic; 0 = not latency-bound */
    unsigned requesters; /* cores that queue at a full resource */
};

struct fair_rate {
    double gbps;
    int limit;      /* number of the resource that holds it back; -1 = its own demand */
    double wait_ns; /* how long a request waits in all, for latency-bound flows */
};

/* Fills rate[0..flows). Resources beyond FAIR_RESOURCES_MAX are ignored; flows beyond FAIR_FLOWS_MAX get rate 0. */
void fair_share(const struct fair_resource *resource, unsigned resources, const struct fair_flow *flow, unsigned flows,
                struct fair_rate *rate);

#endif
