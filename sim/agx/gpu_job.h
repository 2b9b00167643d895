/* One timed pass over a GPU launch, or over some of its threadgroups: the timing side asks for instructions, the executing side
 * supplies them as it goes. An engine task.
 */
#ifndef ORCHARD_SIM_AGX_GPU_JOB_H
#define ORCHARD_SIM_AGX_GPU_JOB_H

#include "sim/agx/gpu_functional.h"
#include "sim/engine/engine.h"
#include "units/gpu/gpu_timing.h"

/* Threadgroups that are timed, in the order in which they are launched. */
struct gpu_selection {
    const uint64_t *group; /* NULL = all */
    uint64_t count;        /* of `group` */
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
