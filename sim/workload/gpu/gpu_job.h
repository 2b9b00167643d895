/* An engine task: one timed pass over a GPU launch, or over a part of it. The timing side asks for instructions, and
 * the executing side supplies them as it goes.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_H

#include "sim/workload/gpu/gpu_counted.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "sim/workload/gpu/gpu_convoy.h"
#include "sim/workload/gpu/gpu_crowd.h"
#include "sim/workload/gpu/gpu_drift.h"
#include "sim/workload/gpu/gpu_schedule.h"
#include "sim/soc/engine.h"
#include "units/gpu/gpu_timing.h"

/* How far the pass had come at some moment. */
struct gpu_mark {
    double ns, issued; /* time; instructions of all simdgroups */
    uint64_t next;     /* the threadgroup that begins next */
    struct gpu_counted counts;
};

/* Largest relative change of the pace from one half of what counts to the next that is taken for chance: those of a window differ
 * by some 3 % when nothing changes. */
#define GPU_WINDOW_STEADY 0.03
/* A pass that begins amid a launch and ends when so many instructions have issued since, or everything has ended. */
struct gpu_window {
    double settling, end;     /* instructions issued at the marks */
    double latest;            /* the end is put off up to here while the pace changes (GPU_WINDOW_STEADY); 0 = never */
    struct gpu_mark from, to; /* filled: when `settling` instructions have issued, and at the end */
    struct gpu_mark first;    /* filled: `from`, before the end was put off */
    double begin_ns;          /* filled: when the pass began */
    struct gpu_drift *drift;  /* is told of cores between the marks; NULL = nobody asks */
    struct gpu_convoy
        *convoy; /* is told of them at these moments: from the first mark to the last one, so many instructions apart */
    double moments_apart;
    struct mem_port *const *port; /* one for each core; NULL without a convoy */
};

/* How laps of long loops are leapt over. */
struct gpu_leaps {
    const bool *lap;              /* gpu_loops_find */
    struct mem_port *const *port; /* one for each core */
    double lines;                 /* that a threadgroup brings to the caches for each leap at most */
};

/* How threadgroups of a launch with many of them are skipped. */
struct gpu_skips {
    const struct gpu_work *work;  /* of threadgroups */
    struct mem_port *const *port; /* one for each core */
    double slc_lines;
    bool cold; /* the pass begins with empty caches */
};

/* How many simdgroups the threadgroups of a launch have, in the mean: those at the edges of a grid that they do not divide have
 * fewer than others. */
double gpu_job_mean_simdgroups(const struct gpu_launch *launch);

/* Fewest waves of a launch of which some may be skipped, when a simdgroup executes so many instructions in the mean. */
uint64_t gpu_job_least_waves(double life);

struct gpu_selection {
    uint64_t first;                  /* threadgroup; all from it on */
    const struct gpu_schedule *open; /* which threadgroups are under way already; `crowd` has them there. NULL = none */
    struct gpu_crowd *crowd;         /* executes; NULL = one of the job's own */
    const struct gpu_replay *replay; /* plays threadgroups of a crowd of the job's own; NULL = all of them are executed */
    struct gpu_window *window;       /* NULL = up to the end */
    const struct gpu_leaps *leaps;   /* NULL = every lap of every loop is timed */
    const struct gpu_skips *skips;   /* NULL = all threadgroups are timed */
    struct gpu_reader reader;        /* needed for windows, leaps and skips */
    struct gpu_profile *profile;     /* gets what the pass (of a window: between its marks) cost by instruction; NULL = nothing */
};

struct gpu_job;

/* Setup, params, timing and selection must outlive the job. */
struct gpu_job *gpu_job_create(const struct gpu_setup *setup, const struct gpu_params *params, struct gpu_timing *timing,
                               const struct gpu_selection *selection, struct orch_error *error);
void gpu_job_free(struct gpu_job *job);
struct engine_task gpu_job_task(struct gpu_job *job);

double gpu_job_begin_ns(const struct gpu_job *job); /* when submission is done */
/* What laps that were leapt over and threadgroups that were skipped are taken to count. */
const struct gpu_counted *gpu_job_leapt(const struct gpu_job *job);
/* The share of the instructions that was neither leapt over nor skipped. */
double gpu_job_timed_share(const struct gpu_job *job);
/* How many threadgroups were skipped, and the standard deviation that this brings to the time, as a share of it. */
uint64_t gpu_job_skipped(const struct gpu_job *job);
double gpu_job_uncertainty(const struct gpu_job *job);
double gpu_job_end_ns(const struct gpu_job *job); /* when the last threadgroup's stores are visible */
/* Adds the counts of what the pass executed, and of what it skipped in proportion. */
bool gpu_job_add_totals(const struct gpu_job *job, struct gpu_totals *totals, struct orch_error *error);

/* How many threadgroups a core holds at a time, and what limits that. 0 when none fits, and *error says why. */
unsigned gpu_job_slots(const struct gpu_setup *setup, const struct gpu_params *params, const char **limit,
                       struct orch_error *error);
/* Describes a launch for the timing model, without a source of instructions and without the place of the code. */
struct gpu_timing_launch gpu_job_launch(const struct gpu_launch *launch);

#endif
