/* Leaps over laps of a loop: threadgroups go on as if they had run them. What steers is executed, the lines that the last laps
 * touch reach the caches, and time is left to whoever leaps. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_LEAP_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_LEAP_H

#include "sim/workload/gpu/gpu_loops.h"
#include "units/mem/mem_timing.h"

struct gpu_leaper;

/* `lap` comes from gpu_loops_find. No leap lets more than `lines` lines reach the caches. Setup and lap must outlive the leaper.
 * NULL when memory ran out. */
struct gpu_leaper *gpu_leaper_create(const struct gpu_setup *setup, const bool *lap, double lines);
void gpu_leaper_free(struct gpu_leaper *leaper);

/* What the simdgroups of a threadgroup have ahead of them in the loop that they are in. */
struct gpu_laps_ahead {
    uint32_t left[GPU_SIMDGROUPS_MAX];       /* laps */
    double instructions[GPU_SIMDGROUPS_MAX]; /* of a lap, in the mean */
};
/* Looks ahead. The group itself stays as it is. False on a fault. */
bool gpu_leaper_look(struct gpu_leaper *leaper, const struct gpu_group *group, struct gpu_laps_ahead *ahead,
                     struct unit_fault *fault);
/* Where the simdgroups of a threadgroup are that leaps, in instructions of each. */
struct gpu_leap_way {
    uint64_t at[GPU_SIMDGROUPS_MAX], end[GPU_SIMDGROUPS_MAX];
};
/* Begins to leap over so many laps (0: none), fewer than any simdgroup has left, after which each is at the same place of its
 * lap: `way` gets what is left, whose lines are to reach the caches. `port` is where they do; NULL = nowhere. */
bool gpu_leaper_begin(struct gpu_leaper *leaper, struct gpu_group *group, uint32_t laps, struct gpu_laps_ahead *ahead,
                      struct mem_port *port, double now_ns, struct gpu_leap_way *way, struct unit_fault *fault);
/* Goes on by at most so many instructions of each simdgroup, so that threadgroups can leap side by side. *left becomes true, or
 * stays as it is when this was the end. */
bool gpu_leaper_go(struct gpu_leaper *leaper, struct gpu_group *group, uint64_t instructions, struct mem_port *port,
                   double now_ns, struct gpu_leap_way *way, bool *left, struct unit_fault *fault);
/* Ends the leap: laps that are longer or shorter than the mean may have left a simdgroup short of a barrier that others are to
 * be behind. It goes on to there. */
bool gpu_leaper_end(struct gpu_leaper *leaper, struct gpu_group *group, struct mem_port *port, double now_ns,
                    const struct gpu_leap_way *way, struct unit_fault *fault);

#endif
