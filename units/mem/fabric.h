/* The fabric: a port per cluster (or requester without a cluster) with a rate in each direction and one for both, what the CPU
 * clusters of a die have together, the links between two dies, and which die owns an address.
 */
#ifndef ORCHARD_UNITS_MEM_FABRIC_H
#define ORCHARD_UNITS_MEM_FABRIC_H

#include "units/mem/mem_queue.h"
#include "units/mem/mem_timing.h"

struct mem_fabric_port {
    struct mem_link read, write, both;
    bool cpu; /* of a CPU cluster: shares what its die has for them */
    uint32_t die;
    uint32_t requester; /* of struct mem_traffic */
};

struct mem_fabric {
    uint32_t dies;
    enum mem_die_policy policy;
    uint32_t home_die;                      /* MEM_DIE_ONE */
    struct mem_link from_die[MEM_DIES_MAX]; /* data leaving a die */
    struct mem_link cpu_read[MEM_DIES_MAX], cpu_write[MEM_DIES_MAX];
    double link_latency_ns;
    uint64_t *page_key; /* first-touch homes: open addressing, page + 1 and die */
    uint8_t *page_die;
    uint32_t page_capacity, page_count;
};

bool mem_fabric_init(struct mem_fabric *fabric, const struct mem_params *params);
void mem_fabric_release(struct mem_fabric *fabric);
void mem_fabric_restart(struct mem_fabric *fabric, double now_ns);

/* Rates of each direction and of both together; 0 = no limit. */
void mem_fabric_port_init(struct mem_fabric_port *port, double gbps, double both_gbps, uint32_t die, uint32_t requester);
void mem_fabric_port_restart(struct mem_fabric_port *port, double now_ns);

/* The die that owns a line; `toucher` is the die of the requester. */
uint32_t mem_fabric_home(struct mem_fabric *fabric, uint64_t line, uint32_t toucher);
/* The die that probably owns a line, for telling the host what will be needed: first-touch homes are not looked for. */
uint32_t mem_fabric_likely_home(const struct mem_fabric *fabric, uint64_t line);
/* Returns when a read (its data) or a write can pass the requester's port and, for a remote home, the link. *extra_ns is the
 * latency of crossing the link. */
double mem_fabric_pass(struct mem_fabric *fabric, struct mem_fabric_port *port, double now_ns, uint32_t bytes, bool write,
                       uint32_t home, double *extra_ns);

#endif
