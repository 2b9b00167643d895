/* The threadgroups that a GPU holds at a time, by slot of a core: objects that execute one threadgroup after another, timed by a
 * job or, between jobs, moved on without being timed. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_CROWD_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_CROWD_H

#include "sim/workload/gpu/gpu_convoy.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "sim/workload/gpu/gpu_replay.h"
#include "units/mem/mem_timing.h"

struct gpu_crowd;

/* More instructions than any simdgroup executes. */
#define GPU_WHOLE_GROUP 0x1p60

/* Slot i of core c has number c * slots + i; `port` has one port for each core (NULL = nothing reaches caches). Setup and ports
 * must outlive the crowd. NULL when memory ran out. */
struct gpu_crowd *gpu_crowd_create(const struct gpu_setup *setup, unsigned cores, unsigned slots, struct mem_port *const *port);
void gpu_crowd_free(struct gpu_crowd *crowd);

/* From now on threadgroups that the replay has, which begin, are played instead of executed. It must outlive the crowd. NULL =
 * none. */
void gpu_crowd_set_replay(struct gpu_crowd *crowd, const struct gpu_replay *replay);

/* Begins a threadgroup in a slot. False when memory ran out. */
bool gpu_crowd_start(struct gpu_crowd *crowd, unsigned slot, uint64_t group);
/* The number of the threadgroup in a slot; false when none has begun there. */
bool gpu_crowd_holds(const struct gpu_crowd *crowd, unsigned slot, uint64_t *number);
/* What executes the threadgroup in a slot; NULL when none has begun there, or when it is played. */
struct gpu_group *gpu_crowd_group(const struct gpu_crowd *crowd, unsigned slot);
/* The simdgroups of the threadgroup that has begun in a slot. */
unsigned gpu_crowd_simdgroups(const struct gpu_crowd *crowd, unsigned slot);
/* Runs one of them, as gpu_group_run does. */
enum gpu_step gpu_crowd_run(struct gpu_crowd *crowd, unsigned slot, unsigned simdgroup, uint64_t limit, struct gpu_trace *trace,
                            struct unit_fault *fault);
/* How many instructions each of its simdgroups has executed, in the mean. */
double gpu_crowd_done(const struct gpu_crowd *crowd, unsigned slot);

/* Moves a slot to this threadgroup, `to` instructions of each simdgroup behind its beginning: it starts anew unless it is there
 * already and not so far. With `touch`, what it accesses on the way reaches the caches, in no time. False on a fault, or, with
 * *fault untouched, when memory ran out. */
bool gpu_crowd_move(struct gpu_crowd *crowd, unsigned slot, uint64_t group, double to, bool touch, struct unit_fault *fault);
/* Moves a slot a little, until none of its simdgroups waits for another one. */
bool gpu_crowd_settle(struct gpu_crowd *crowd, unsigned slot, struct unit_fault *fault);

/* How far down the caches lie that accesses reach first: those in front of them will have forgotten them where moves end, and are
 * not told of them. */
enum gpu_crowd_reach { GPU_REACH_ALL, GPU_REACH_L2, GPU_REACH_SLC };
/* Lets moves that reach an SLC of so many lines first remember which lines they loaded a short while ago. False when memory ran
 * out. */
bool gpu_crowd_remember(struct gpu_crowd *crowd, double slc_lines);
/* Moves of a turn stand for what slots do at the same time. */
void gpu_crowd_begin_turn(struct gpu_crowd *crowd, enum gpu_crowd_reach reach);
/* How many accesses of a core's moves since creation waited for lines from beyond the L2: such that this core or another one had
 * brought in in the same turn, too. */
struct gpu_fetched gpu_crowd_fetched(const struct gpu_crowd *crowd, unsigned core);

/* Counts since creation: instructions of simdgroups, whoever moved them, and those of them that were played; accesses of moves
 * that reached the caches, and those of them that brought lines into L2 (unless the SLC was reached first) and into the SLC. */
struct gpu_crowd_counts {
    uint64_t instructions, played, touched, into_l2, into_slc;
};
struct gpu_crowd_counts gpu_crowd_counts(const struct gpu_crowd *crowd);
/* Adds what has been executed. */
void gpu_crowd_add_totals(const struct gpu_crowd *crowd, struct gpu_totals *totals);

#endif
