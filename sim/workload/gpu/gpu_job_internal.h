/* The inside of a GPU job, for its own files: gpu_job.c (instructions, the task) and gpu_job_leap.c (paces and leaps). */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_INTERNAL_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_INTERNAL_H

#include "sim/workload/gpu/gpu_job.h"
#include "sim/workload/gpu/gpu_leap.h"

/* A place for one threadgroup on a core. */
struct gpu_job_slot {
    struct gpu_group *group; /* of the crowd */
    struct gpu_trace trace[GPU_SIMDGROUPS_MAX];
    bool done[GPU_SIMDGROUPS_MAX];
    unsigned simdgroups;
    bool opened; /* what was under way in it when the pass began has begun */
    bool looked; /* `ahead` is known, from where executing has come */
    struct gpu_laps_ahead ahead;
};

/* What has been leapt over. */
struct gpu_leapt {
    double ns, work;           /* time; instructions */
    struct gpu_counted counts; /* what it is taken to have counted */
    /* The latest leap is added when the pace behind it is known, or when the pace ends. */
    uint32_t laps;
    double lap_ns;           /* before it */
    struct gpu_counted rate; /* counts per ns before it */
};

/* The pace at which threadgroups run their loop. */
struct gpu_paced {
    uint32_t loop;             /* that all threadgroups are in */
    uint32_t laps;             /* of it, timed and leapt over since a threadgroup began or ended */
    unsigned residents;        /* simdgroups under way at the last look */
    double begin_ns;           /* when all threadgroups were in their loop; 0 = they are not yet */
    struct gpu_counted counts; /* what had been counted then */
};

struct gpu_job {
    const struct gpu_setup *setup;
    const struct gpu_params *params;
    struct gpu_timing *timing;
    struct gpu_selection selection;
    struct gpu_crowd *crowd, *own; /* own: to be freed */
    uint64_t next;                 /* the first threadgroup that has not begun */
    bool settled, stopped;         /* the marks of the window are taken */
    struct gpu_job_slot *slot;
    unsigned slots; /* per core */
    struct unit_fault fault;
    bool no_memory, begun, failed_to_begin;
    double begin_ns;
    struct gpu_leaper *leaper; /* NULL when no laps are leapt over */
    struct gpu_leapt leapt;
    struct gpu_paced paced;
};

static inline struct gpu_job_slot *gpu_job_slot(const struct gpu_job *j, unsigned core, unsigned slot)
{
    return &j->slot[(size_t)core * j->slots + slot];
}

/* The look of a gpu_source: when all threadgroups run the same loop at a steady pace, all leap over most of the laps that are
 * left. False on a fault. */
bool gpu_job_leap(void *job);
/* The pace ends: threadgroups have begun or ended, or the whole pass has. */
void gpu_job_end_pace(struct gpu_job *job);

#endif
