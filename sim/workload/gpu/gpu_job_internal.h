/* The inside of a GPU job, for its own files: gpu_job.c (instructions, the task), gpu_job_leap.c (paces and leaps) and
 * gpu_job_skip.c (threadgroups that are skipped). */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_INTERNAL_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_INTERNAL_H

#include "sim/workload/gpu/gpu_job.h"
#include "sim/workload/gpu/gpu_leap.h"
#include "sim/workload/gpu/gpu_places.h"
#include "sim/workload/gpu/gpu_steady.h"

/* A place for one threadgroup on a core. */
struct gpu_job_slot {
    struct gpu_group *group; /* of the crowd */
    struct gpu_trace trace[GPU_SIMDGROUPS_MAX];
    bool done[GPU_SIMDGROUPS_MAX];
    unsigned simdgroups;
    bool opened; /* what was under way in it when the pass began has begun */
    bool looked; /* `ahead` is known, from where executing has come */
    struct gpu_laps_ahead ahead;
    bool leaps; /* the latest leap moved what is in it, on this way */
    struct gpu_leap_way way;
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
    struct gpu_places places;  /* between leaps over laps of it */
    uint32_t laps;             /* of it, timed and leapt over since a threadgroup began or ended */
    unsigned residents;        /* simdgroups under way at the last look */
    double begin_ns;           /* when all threadgroups were in their loop; 0 = they are not yet */
    struct gpu_counted counts; /* what had been counted then */
};

/* A pace: time and counts per instruction. */
struct gpu_rate {
    double ns;
    struct gpu_counted counts;
};

/* Moments since a mark, for the straight line that is nearest to them: sums over moments of x, the instructions issued since
 * then, and of time and counts, alone and times x. */
struct gpu_fit {
    double moments, x, xx, ns, x_ns;
    struct gpu_counted counts, x_counts;
};

/* Where skipping has come. */
struct gpu_skipping {
    uint64_t settling, timed; /* waves, for each place that is timed; 0 = not known yet */
    uint64_t until;           /* something is to be done when this threadgroup is the next one */
    bool touched;             /* the latest skip reached the caches */
    bool measuring, known;    /* the pace is being timed since `from`; it has been before */
    bool trial; /* it may not have settled yet: counts only if it is steady before this threadgroup is the next one: */
    uint64_t settled;
    double trial_from;        /* instructions issued before which it has certainly not settled */
    struct gpu_steady steady; /* pieces since `from` */
    bool sure, alike;         /* the latest pace was known early, by its pieces; so was the one before, and it was the same */
    struct gpu_mark from;
    uint64_t waves;                 /* how many it is timed for at least */
    double half_ns;                 /* the pace of half of them; 0 = not known */
    struct gpu_fit fit;             /* since then */
    struct gpu_rate rate;           /* the latest one */
    struct gpu_places places, wave; /* paces of places that are timed, and of waves of them */
    double wave_ns, wave_issued;    /* when the latest wave of a place began */
    uint64_t wave_until;            /* it is over when this threadgroup is the next one */
    double skipped;                 /* instructions, in all */
    uint64_t groups;                /* threadgroups, in all */
    double squares;                 /* of instructions skipped times relative changes of the pace meanwhile, summed */
    double begin, latest;           /* the latest skip: instructions before it and in it; 0 = its time is known */
};

struct gpu_job {
    const struct gpu_setup *setup;
    const struct gpu_params *params;
    struct gpu_timing *timing;
    struct gpu_selection selection;
    struct gpu_crowd *crowd, *own; /* own: to be freed */
    uint64_t next;                 /* the first threadgroup that has not begun */
    bool settled, stopped;         /* the marks of the window are taken */
    struct gpu_mark middle;        /* between them; ns 0 = not taken yet */
    double pace_before;            /* ns per instruction before `from`, where the end has been put off; 0 = it has not */
    struct gpu_job_slot *slot;
    unsigned slots;              /* per core */
    double *by_slot;             /* what a drift is told */
    struct gpu_fetched *fetched; /* by core: what a convoy is told besides */
    double told;                 /* instructions issued when a convoy is to be told of the next moment */
    double *behind;              /* by slot: laps, in part, that it leapt over too few so far */
    struct unit_fault fault;
    uint64_t faulty; /* threadgroup that faulted while it was timed; GPU_NO_GROUP = none */
    bool no_memory, begun;
    double begin_ns;
    struct gpu_leaper *leaper; /* NULL when no laps are leapt over */
    struct gpu_drift *drift;   /* of cores from leap to leap; NULL as well */
    struct gpu_leapt leapt;
    struct gpu_paced paced;
    struct gpu_skipping skipping;
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

/* When the pace is known, skips what may be skipped. False on a fault, or without memory. */
bool gpu_job_skip(struct gpu_job *job);
/* The pass ends. */
void gpu_job_end_skips(struct gpu_job *job);

/* Instructions of all simdgroups that have issued; all that is counted so far. */
double gpu_job_issued(const struct gpu_job *job);
void gpu_job_take_mark(const struct gpu_job *job, struct gpu_mark *mark);

#endif
