/* The inside of a replay, for gpu_replay_learn.c and gpu_replay.c. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_REPLAY_INTERNAL_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_REPLAY_INTERNAL_H

#include "sim/workload/gpu/gpu_replay.h"

/* An entry of the trace that was learned, and what it does to the caches. */
struct gpu_replay_line {
    struct gpu_trace_line line;
    uint32_t record; /* that it belongs to, counted in its simdgroup */
    uint8_t move;    /* which way it moves */
    uint8_t act;     /* enum gpu_touch_act */
    uint8_t from;    /* first byte that the caches are asked for, behind the beginning of `line` */
    uint8_t bytes;   /* how many */
};

struct gpu_replay_simdgroup {
    struct gpu_trace_record *record;
    struct gpu_replay_line *line;
    uint32_t *barrier; /* records that are barriers; behind the last one, UINT32_MAX */
    uint32_t records, lines;
};

/* Programs may take threadgroups in another order than that of the grid, so that those which run together share rows and columns.
 * The number of a threadgroup then has other digits than those of its position: of each, how many values it has. The last digit
 * takes what is left. */
#define GPU_REPLAY_AXES 5
struct gpu_replay_axes {
    unsigned count;
    uint64_t extent[GPU_REPLAY_AXES];
};
/* The digits of a threadgroup's number. */
struct gpu_replay_place {
    int64_t at[GPU_REPLAY_AXES];
};

struct gpu_replay {
    const struct gpu_setup *setup;
    unsigned simdgroups;
    struct gpu_replay_simdgroup simdgroup[GPU_SIMDGROUPS_MAX];
    struct gpu_replay_axes axes;
    struct gpu_replay_place base, first, last;       /* of what was learned; of those that can be played */
    int64_t move[GPU_REPLAY_MOVES][GPU_REPLAY_AXES]; /* bytes for each step along an axis */
    unsigned moves;
    uint64_t instructions, active_lanes, *issues; /* of a threadgroup; by instruction of the program */
};

/* Finds where the accesses of a threadgroup lie, by move. */
void gpu_replay_offsets(const struct gpu_replay *replay, const struct gpu_replay_place *place, int64_t offset[GPU_REPLAY_MOVES]);
struct gpu_replay_place gpu_replay_place(const struct gpu_replay_axes *axes, uint64_t group);
uint64_t gpu_replay_number(const struct gpu_replay_axes *axes, const struct gpu_replay_place *place);

/* gpu_replay_axes.c: the axes of the grid; other ones, by what threadgroups access first. False when memory ran out; count
 * becomes 0 when none are found. */
struct gpu_replay_axes gpu_replay_axes_of_grid(const struct gpu_setup *setup);
bool gpu_replay_find_axes(const struct gpu_setup *setup, struct gpu_group *group, struct gpu_replay_axes *axes);

#endif
