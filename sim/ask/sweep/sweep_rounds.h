/* What decides the time of a GPU kernel in whole numbers: how many threadgroups the fullest core gets, round after round.
 *
 * Counts of threadgroups, cores and places follow from a point's setting without simulating. As a function of them the time is
 * smooth, as a function of the number of cores alone it jumps.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_ROUNDS_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_ROUNDS_H

#include "sim/run/gpu/run_launch_list.h"

enum { SWEEP_ROUNDS_LAUNCHES = 3, SWEEP_ROUNDS_COORDINATES = 2 * SWEEP_ROUNDS_LAUNCHES };

struct sweep_rounds {
    bool known; /* false: the point is no kernel of the GPU's library */
    /* Of the launches with most threads, the largest first: the logarithms of the makespan and of the threadgroups. */
    double coordinate[SWEEP_ROUNDS_COORDINATES];
    uint64_t deal; /* equal for points whose threadgroups are dealt out in the same way, all launches taken together */
    uint64_t tail; /* the same by the last rounds only: how many whole ones come before, and what the fullest core gets then */
};

/* The time of a launch in lives of a threadgroup on a core whose places are all taken, when all its threadgroups are alike. */
double sweep_rounds_makespan(uint64_t groups, unsigned cores, unsigned resident);

struct sweep_rounds sweep_rounds_of(const struct run_launch_list *list);

#endif
