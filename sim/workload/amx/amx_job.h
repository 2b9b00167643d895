/* An engine task that runs a kernel of the AMX library in-process on one core of a soc. Results come from the executing unit,
 * time from the timing models of the core and of its AMX block.
 */
#ifndef ORCHARD_SIM_WORKLOAD_AMX_AMX_JOB_H
#define ORCHARD_SIM_WORKLOAD_AMX_AMX_JOB_H

#include "sim/base/work_progress.h"
#include "sim/soc/engine.h"
#include "sim/workload/amx/kernel.h"
#include "sim/soc/soc.h"
#include "sim/workload/core_sample.h"
#include "units/amx/amx_core.h"

enum amx_job_mode { AMX_JOB_FULL, AMX_JOB_FUNCTIONAL, AMX_JOB_TIMING };

struct amx_job;

/* The kernel's data must lie in `space`. Mode TIMING computes no values; the instruction stream of these kernels does not depend
 * on them. Mode FUNCTIONAL times nothing, and `core` may be NULL. With more than one thread of the host, timing overlaps the
 * execution; answers are the same. */
struct amx_job *amx_job_create(const struct kernel_call *call, const struct kernel_data *data, struct mem_space *space,
                               enum amx_gen gen, struct soc_core *core, enum amx_job_mode mode, unsigned threads,
                               struct orch_error *error);
void amx_job_free(struct amx_job *job);
struct engine_task amx_job_task(struct amx_job *job);
/* Who waits, and for what ("timing"). */
void amx_job_tell(struct amx_job *job, const struct work_progress *progress, const char *doing);

/* Brings b into panels before the kernel runs (packed=1); it has no time. */
void amx_job_load(struct amx_job *job);

/* Times only a sample of the instructions; what is executed stays the same. To be called before the job runs. */
void amx_job_sample(struct amx_job *job, const struct core_sample_shape *shape);
/* After the job has run. */
struct core_sampled amx_job_sampled(struct amx_job *job);

uint64_t amx_job_instructions(const struct amx_job *job);
/* Instructions by mnemonic number (isa/amx opnum). */
const uint64_t *amx_job_op_counts(const struct amx_job *job);

#endif
