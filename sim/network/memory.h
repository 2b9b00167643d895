/* Where the tensors of a network lie: which may share memory because they do not live at the same time.
 *
 * Planned are the inputs and what nodes of the top graph compute; constants lie elsewhere. Results that are only another shape of
 * an input (Reshape and the like) lie where that lies.
 */
#ifndef ORCHARD_SIM_NETWORK_MEMORY_H
#define ORCHARD_SIM_NETWORK_MEMORY_H

#include "sim/network/graph/graph.h"

#define NET_MEMORY_ALIGN_BYTES 128 /* a cache line */

struct net_placement {
    bool placed; /* false: a constant, of a subgraph, or of unknown size */
    net_id root; /* whose memory it is: its own, or that of what it is a view of */
    uint64_t bytes, offset_bytes;
    size_t first, last; /* nodes between which it lives */
};

struct net_memory {
    struct net_placement *of; /* by value */
    uint64_t peak_bytes;      /* of the plan */
    uint64_t sum_bytes;       /* if nothing were shared */
    uint64_t floor_bytes;     /* the most that lives at one time: no plan is better */
    size_t unknown;           /* values whose sizes are not known */
};

bool net_memory_plan(const struct net_model *model, struct net_memory *memory, struct orch_error *error);
void net_memory_free(struct net_memory *memory);

#endif
