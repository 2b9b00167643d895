/* An engine task that runs a program on one core: the interpreter runs ahead for a stretch, then the timing models read what it
 * did.
 *
 * The caller prepares the program (registers, memory, entry) in a cpu_core; AMX instructions go to an amx_core that the job owns.
 * Execution never depends on time, so results are the same whatever else runs on the chip.
 */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_CORE_JOB_H
#define ORCHARD_SIM_WORKLOAD_CPU_CORE_JOB_H

#include "sim/base/work_progress.h"
#include "sim/soc/engine.h"
#include "sim/soc/soc.h"
#include "sim/workload/core_sample.h"
#include "sim/workload/cpu/crew_sample.h"
#include "units/amx/amx_core.h"
#include "units/cpu/cpu_core.h"

struct core_job;

/* The caller keeps `cpu`. Without a `core` nothing is timed. max_instructions 0 = no limit. */
struct core_job *core_job_create(struct cpu_core *cpu, struct mem_space *space, enum amx_gen gen, struct soc_core *core,
                                 uint64_t max_instructions, struct orch_error *error);
/* Values of vector registers and of the AMX block do not matter (cpu_core_steer): its time is the same. To be called before it
 * runs. */
void core_job_steer(struct core_job *job);
void core_job_free(struct core_job *job);
struct engine_task core_job_task(struct core_job *job);

/* ---- for the cores of a program with threads (crew_job.h) ---- */

/* Local time, at which the next instruction is dispatched; without timing an instruction takes a nanosecond. */
double core_job_now(const struct core_job *job);
/* The clock as the program reads it. */
double core_job_clock_ns(const struct core_job *job);
/* A core that joins a program at a time of its clock, which is that of `first`. */
void core_job_join(struct core_job *job, const struct core_job *first, double clock_ns);
/* Idle until a time of the clock, if that is to come. */
void core_job_idle_until(struct core_job *job, double clock_ns);
/* The program's only thread has waited for so long, which the clock that it reads knows from elsewhere: the time goes by on every
 * core, and the one that it is on was `idle`. */
void core_job_sleep(struct core_job *job, double wait_ns, bool idle);
/* From now on stretches are short, because other cores see what this one does. It is core `number` of a sample of all of them;
 * without one (NULL), everything is timed. */
void core_job_share(struct core_job *job, struct crew_sample *sample, unsigned number);
/* The timing of what has run was advanced by others. */
void core_job_settle(struct core_job *job);
/* Runs until local time passes limit_ns, or the program ends or pauses (core_job_stop is CPU_STOP_PAUSE; it goes on with the next
 * call). */
enum engine_progress core_job_run(struct core_job *job, double limit_ns);
/* After a fault that the program handles. */
void core_job_go_on(struct core_job *job);
/* The coprocessor's state of the thread that runs next; NULL makes a new one, which is the caller's. Returns it; NULL when memory
 * is out. */
struct amx_core *core_job_take_amx(struct core_job *job, struct amx_core *amx);
struct amx_core *core_job_amx(const struct core_job *job);

/* Who waits, and for what ("timing"); from now on. */
void core_job_tell(struct core_job *job, const struct work_progress *progress, const char *doing);

/* Times only a sample of the instructions; all of them are executed. The second shape is for programs that use the AMX block. To
 * be called before the job runs, which must then have the chip to itself. */
void core_job_sample(struct core_job *job, const struct core_sample_shape *shape, const struct core_sample_shape *with_amx);
/* After the job has run. */
struct core_sampled core_job_sampled(struct core_job *job);
/* Adds to a sample of several cores what the job did before they shared anything. */
void core_job_add_alone(const struct core_job *job, struct core_sampled *sum);

enum cpu_stop core_job_stop(const struct core_job *job);
/* Whether it stopped because who waits wanted it to; core_job_stop is CPU_STOP_BUDGET then. */
bool core_job_interrupted(const struct core_job *job);
const struct unit_fault *core_job_fault(const struct core_job *job);
uint64_t core_job_instructions(const struct core_job *job);
uint64_t core_job_amx_instructions(const struct core_job *job);
const uint64_t *core_job_amx_counts(const struct core_job *job); /* by opnum */

#endif
