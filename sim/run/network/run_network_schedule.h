/* When the kernels of a network run on units that work at the same time: each unit takes, of the kernels whose operands are
 * there, the one that the longest way to the end hangs on (critical-path list scheduling); units that work at the same time share
 * SLC and DRAM (sim/soc/slices.h), so that they slow each other down.
 *
 * Who depends on whom follows from the memory of the host that kernels read and write. Kernels of the GPU are encoded in that
 * order: another command buffer begins where one needs what another unit has computed meanwhile, and what other units read of a
 * buffer is there when all of it has completed. A buffer is submitted while the GPU still works on the one before. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_SCHEDULE_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_SCHEDULE_H

#include "sim/run/lower/lowering.h"
#include "sim/run/network/run_network.h"

struct network_schedule;

struct network_schedule *network_schedule_create(void);
void network_schedule_free(struct network_schedule *schedule);

/* The host has made a tensor there: nothing that was in this memory before matters. A schedule that is NULL is passed over. */
void network_schedule_begin(struct network_schedule *schedule, const void *at, uint64_t bytes);
/* A kernel of a unit comes next, whose line of the placement this is. False = out of memory. */
bool network_schedule_add(struct network_schedule *schedule, enum orch_part part, size_t placement,
                          const struct lowered_step *step);
/* The cores that the kernel just added may have: those of E cores have their own. Always true. */
bool network_schedule_core(struct network_schedule *schedule, enum soc_core_choice choice);
/* A kernel of the Neural Engine comes next, as a part of the request that it begins or that goes on. A request begins when all
 * that its kernels read is there, and is done as a whole. */
bool network_schedule_add_to_request(struct network_schedule *schedule, bool begins, size_t placement,
                                     const struct lowered_step *step);
/* The reference computes a node, in no time, from what is there. False = out of memory. */
bool network_schedule_add_host(struct network_schedule *schedule, const struct net_node *node, struct net_array *const *in,
                               struct net_array *const *out);
/* How long the kernel of that line, or the request whose first one it is, takes alone, without its command buffer, and what it
 * does. */
void network_schedule_took(struct network_schedule *schedule, size_t placement, double seconds, const struct activity *activity);

struct network_scheduled {
    double end_ns;   /* until everything is done */
    double busy_ns;  /* some unit is busy */
    double lost_ns;  /* of all kernels together, because others used the memory at the same time */
    double chain_ns; /* the longest chain of kernels that wait for one another, each as long as alone */
    unsigned command_buffers;
};
/* Schedules everything. The counters of the network's result tell of each kernel when it began and how long it took beside the
 * others. */
bool network_schedule_run(struct network_schedule *schedule, struct run_network *network, struct network_scheduled *scheduled,
                          struct orch_error *error);

#endif
