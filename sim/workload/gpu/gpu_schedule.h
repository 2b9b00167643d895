/* Which threadgroup runs in which slot of which core, and how far it is, as a launch goes on: the work of a scheduler without the
 * work of the threadgroups.
 *
 * Progress is counted in instructions that each simdgroup of a threadgroup has executed. Time is counted in instructions, too: in
 * one unit of it, a slot of average pace executes one.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_SCHEDULE_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_SCHEDULE_H

#include "sim/workload/gpu/gpu_work.h"

#include <stdbool.h>
#include <stdint.h>

#define GPU_NO_GROUP UINT64_MAX

struct gpu_slot {
    uint64_t group; /* GPU_NO_GROUP = it is free, and nothing is left for it */
    double done;    /* instructions */
};

/* Told about each piece of a threadgroup that runs, pieces of a slot in order. Returns false to stop. */
typedef bool gpu_schedule_piece(void *context, unsigned slot, uint64_t group, double from, double to);

struct gpu_schedule;

/* Slot i of core c has number c * slots + i. Threadgroups go to the first slot of every core, then to the second ones. `work`
 * must outlive the schedule. NULL when memory ran out. */
struct gpu_schedule *gpu_schedule_create(unsigned cores, unsigned slots, uint64_t groups, const struct gpu_work *work);
void gpu_schedule_free(struct gpu_schedule *schedule);
/* Makes `to` as far as `from`, which has as many slots. */
void gpu_schedule_copy(struct gpu_schedule *to, const struct gpu_schedule *from);

const struct gpu_slot *gpu_schedule_slots(const struct gpu_schedule *schedule);
/* The threadgroup that begins next; the number of threadgroups when none is left. */
uint64_t gpu_schedule_next(const struct gpu_schedule *schedule);
/* Number of slots that are taken. */
unsigned gpu_schedule_busy(const struct gpu_schedule *schedule);
/* Sets how far a slot is. */
void gpu_schedule_set(struct gpu_schedule *schedule, unsigned slot, struct gpu_slot as);
/* Sets the pace of a core, relative to the mean. */
void gpu_schedule_set_pace(struct gpu_schedule *schedule, unsigned core, double pace);
/* From now on threadgroups that begin together stay together, at the paces of their cores, or do not. */
void gpu_schedule_keep_step(struct gpu_schedule *schedule, bool keep);
/* How far slots are in step: 1 when all are at the same place of their threadgroups, near 0 when they are anywhere. It is the
 * length of the mean of unit vectors whose angles are these places (Mardia and Jupp, Directional Statistics, 2000). */
double gpu_schedule_step(const struct gpu_schedule *schedule);
void gpu_schedule_set_next(struct gpu_schedule *schedule, uint64_t next);

/* The time that this much work of all slots together takes while all are busy. */
double gpu_schedule_time(const struct gpu_schedule *schedule, double instructions);
/* Goes on for some time, at most until the last threadgroup has begun: an end of a threadgroup makes room for the next one at
 * once. Returns false when `piece` (may be NULL) did. */
bool gpu_schedule_forward(struct gpu_schedule *schedule, double time, gpu_schedule_piece *piece, void *context);
/* The same over whole rounds of all slots, as many as possible so that `least` rounds are left: threadgroups move on, how far
 * they are stays. What cores would have come ahead of others is made up for by going forward next. Returns the time that is left.
 */
double gpu_schedule_rounds(struct gpu_schedule *schedule, double time, unsigned least);
/* All instructions of all simdgroups before this state, when threadgroups have so many simdgroups in the mean. */
double gpu_schedule_work(const struct gpu_schedule *schedule, double simdgroups);
/* Of all cores, the most instructions that the threadgroups of one have left together. */
double gpu_schedule_most_left(const struct gpu_schedule *schedule);
/* Goes on by so many instructions of every slot when no threadgroup is left to begin. */
void gpu_schedule_drain(struct gpu_schedule *schedule, double instructions);

#endif
