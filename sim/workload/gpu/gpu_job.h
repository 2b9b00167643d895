/* One timed pass over a GPU launch, or over some of its threadgroups: the timing side asks for instructions, the executing side
 * supplies them as it goes. An engine task.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_H

#include "sim/workload/gpu/gpu_functional.h"
#include "sim/workload/gpu/gpu_warm.h"
#include "sim/soc/engine.h"
#include "units/gpu/gpu_timing.h"

/* Threadgroups that are timed, one after another. */
struct gpu_stretch {
    uint64_t first, count;
    uint64_t warm_first; /* threadgroups from here to `first` run before it for what they leave in the caches; `first` = none */
    uint64_t lead;       /* so many of the count start before the first mark is taken */
};

/* How far the pass had come. */
struct gpu_mark {
    double ns, work; /* instructions of the timed threadgroups */
};

/* What became of a stretch: its lead and its end are reached when the next threadgroup finds room. Timed threadgroups follow one
 * another without a pause, whatever lies between stretches. */
struct gpu_progress {
    struct gpu_mark lead, end;
    double warm_work; /* instructions of the threadgroups before it that were not timed */
};

struct gpu_selection {
    const struct gpu_stretch *stretch; /* NULL = all threadgroups, in the order of the grid */
    unsigned stretches;
    struct gpu_warmer *warmer;     /* where a stretch has something to run before it */
    struct gpu_progress *progress; /* of each stretch; may be NULL */
};

struct gpu_job;

/* Setup, params, timing and selection must outlive the job. */
struct gpu_job *gpu_job_create(const struct gpu_setup *setup, const struct gpu_params *params, struct gpu_timing *timing,
                               const struct gpu_selection *selection, struct orch_error *error);
void gpu_job_free(struct gpu_job *job);
struct engine_task gpu_job_task(struct gpu_job *job);

double gpu_job_begin_ns(const struct gpu_job *job); /* after submission */
double gpu_job_end_ns(const struct gpu_job *job);   /* the last threadgroup's stores are visible */
/* Adds what the pass executed. */
void gpu_job_add_totals(const struct gpu_job *job, struct gpu_totals *totals);

/* Fills the timing's description of the launch; the source is left out. */
struct gpu_timing_launch gpu_job_launch(const struct gpu_setup *setup);

#endif
