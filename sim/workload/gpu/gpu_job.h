/* An engine task: one timed pass over a GPU launch, or over some of its threadgroups. The timing side asks for instructions, and
 * the executing side supplies them as it goes.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_JOB_H

#include "sim/workload/gpu/gpu_counted.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "sim/workload/gpu/gpu_warm.h"
#include "sim/soc/engine.h"
#include "units/gpu/gpu_timing.h"

/* Threadgroups that are timed, one after another. */
struct gpu_stretch {
    uint64_t first, count;
    uint64_t warm_first; /* threadgroups [warm_first, first) run untimed before the stretch, for what they leave in the caches */
    uint64_t lead;       /* how many of the count start before the first mark is taken */
};

/* How far the pass had come at some moment. */
struct gpu_mark {
    double ns, work; /* time; instructions of the timed threadgroups */
    struct gpu_counted counts;
};

/* The progress of a stretch. Its lead and its end are marked when the next threadgroup finds room. Timed threadgroups follow one
 * another without a pause, whatever lies between stretches. */
struct gpu_progress {
    struct gpu_mark lead, end;
    double warm_work; /* instructions of the untimed threadgroups before the stretch */
};

/* How laps of long loops are leapt over. */
struct gpu_leaps {
    const bool *lap;              /* gpu_loops_find */
    struct mem_port *const *port; /* one for each core */
    double lines;                 /* that a threadgroup brings to the caches for each leap at most */
};

struct gpu_selection {
    const struct gpu_stretch *stretch; /* NULL = all threadgroups, in the order of the grid */
    unsigned stretches;
    struct gpu_warmer *warmer;     /* needed when a stretch has threadgroups to run before it */
    struct gpu_progress *progress; /* filled for each stretch; may be NULL */
    const struct gpu_leaps *leaps; /* NULL = every lap of every loop is timed */
    struct gpu_reader reader;      /* needed for marks and leaps */
};

struct gpu_job;

/* Setup, params, timing and selection must outlive the job. */
struct gpu_job *gpu_job_create(const struct gpu_setup *setup, const struct gpu_params *params, struct gpu_timing *timing,
                               const struct gpu_selection *selection, struct orch_error *error);
void gpu_job_free(struct gpu_job *job);
struct engine_task gpu_job_task(struct gpu_job *job);

double gpu_job_begin_ns(const struct gpu_job *job); /* when submission is done */
/* What the laps that were leapt over are taken to count. */
const struct gpu_counted *gpu_job_leapt(const struct gpu_job *job);
/* The instructions that were leapt over. */
double gpu_job_leapt_work(const struct gpu_job *job);
double gpu_job_end_ns(const struct gpu_job *job); /* when the last threadgroup's stores are visible */
/* Adds the counts of what the pass executed. */
void gpu_job_add_totals(const struct gpu_job *job, struct gpu_totals *totals);

/* Describes the launch for the timing model, without a source of instructions. */
struct gpu_timing_launch gpu_job_launch(const struct gpu_setup *setup);

#endif
