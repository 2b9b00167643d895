/* What threadgroups execute, without executing them. Where no value from memory steers, what a threadgroup executes and accesses
 * follows from its position alone, and in most kernels in the simplest way: all threadgroups execute the same instructions, and
 * with each step along an axis of the grid the addresses of an access move by the same distance. That is learned from one
 * threadgroup and a neighbour along each axis, and checked on others: at the corners, where edges may be ragged, and at some
 * places amid them. What passes is played: the one that was learned, with its lines moved.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_REPLAY_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_REPLAY_H

#include "sim/workload/gpu/gpu_functional.h"
#include "sim/workload/gpu/gpu_setup.h"
#include "sim/workload/gpu/gpu_touch.h"

struct gpu_replay;

/* Different ways in which accesses of a threadgroup move: one for each buffer, or a few. */
#define GPU_REPLAY_MOVES 32

/* *replay becomes NULL when threadgroups of the launch are not alike in that way, or have too much to remember. Executes some
 * fifteen of them for what steers; nor is anything played of a launch of which one of these faults. Setup must outlive the
 * replay. False when memory ran out. */
bool gpu_replay_learn(const struct gpu_setup *setup, struct gpu_replay **replay);
void gpu_replay_free(struct gpu_replay *replay);
/* Tells whether the threadgroup with this number can be played. The others, at ragged edges, are to be executed. */
bool gpu_replay_has(const struct gpu_replay *replay, uint64_t group);
/* Simdgroups of a threadgroup; instructions of all of them together. */
unsigned gpu_replay_simdgroups(const struct gpu_replay *replay);
uint64_t gpu_replay_instructions(const struct gpu_replay *replay);
/* Adds the counts of so many instructions of threadgroups that were played. */
void gpu_replay_add_totals(const struct gpu_replay *replay, uint64_t instructions, struct gpu_totals *totals);

/* A threadgroup that is being played. It goes on as one that is executed: simdgroups wait for one another at barriers. */
struct gpu_played {
    int64_t offset[GPU_REPLAY_MOVES];     /* bytes, by move */
    uint32_t at[GPU_SIMDGROUPS_MAX];      /* instructions that a simdgroup has executed */
    uint32_t line[GPU_SIMDGROUPS_MAX];    /* lines that it has accessed */
    uint32_t barrier[GPU_SIMDGROUPS_MAX]; /* barriers that it has arrived at */
    uint32_t seen[GPU_SIMDGROUPS_MAX];    /* where it waits: the openings before that */
    bool waits[GPU_SIMDGROUPS_MAX];
    uint32_t arrived, stopped, openings; /* simdgroups; of the barrier */
};
/* Begins the threadgroup with this number, which the replay has. */
void gpu_played_start(const struct gpu_replay *replay, struct gpu_played *played, uint64_t group);
/* How many instructions each simdgroup has executed, in the mean. */
double gpu_played_done(const struct gpu_replay *replay, const struct gpu_played *played);
/* As gpu_touches_run; `expect` (may be NULL) is told of lines before `take` receives them. Returns the instructions that were
 * played. */
uint64_t gpu_played_touch(const struct gpu_replay *replay, struct gpu_played *played, uint64_t end, gpu_touch_expect *expect,
                          gpu_touch_line *take, void *context);
/* As gpu_group_run; `trace` may be NULL, and trace->failed tells that memory ran out. */
enum gpu_step gpu_played_run(const struct gpu_replay *replay, struct gpu_played *played, unsigned simdgroup, uint64_t limit,
                             struct gpu_trace *trace);

#endif
