/* A program as an engine task: its threads on one core or on several, in time with one another.
 *
 * A program of one thread is a core_job, step by step. Another thread gets a core of its own while there are any, in the order in
 * which an operating system would choose them; then threads take turns. The core that is behind in time goes on first, for a
 * stretch of a few thousand instructions, so that what happens, and when, is the same in every run.
 */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_CREW_JOB_H
#define ORCHARD_SIM_WORKLOAD_CPU_CREW_JOB_H

#include "sim/workload/cpu/core_job.h"
#include "units/cpu/cpu_system.h"
#include "units/unit_watch.h"

/* The cores that threads may use besides the first one. */
struct crew_cores {
    unsigned most; /* of the program, the first one included; 0 = 1 */
    bool steers;   /* they and the first one execute only what steers (core_job_steer) */
    /* For timed programs: where they come from. */
    struct soc *soc;
    enum soc_core_choice choice;
    const struct unit_watch *watch; /* NULL = nobody watches */
    bool stay; /* threads do not move from E to P cores: their shares of the work were made for the cores that they are on */
};

struct crew_job;

/* `cpu` has the program, whose hook is that of `system`. Without a `core` nothing is timed. max_instructions 0 = no limit. */
struct crew_job *crew_job_create(struct cpu_core *cpu, struct cpu_linux *system, struct mem_space *space, enum amx_gen gen,
                                 struct soc_core *core, const struct crew_cores *cores, uint64_t max_instructions,
                                 struct orch_error *error);
void crew_job_free(struct crew_job *crew);
struct engine_task crew_job_task(struct crew_job *crew);
void crew_job_tell(struct crew_job *crew, const struct work_progress *progress, const char *doing);
/* As core_job_sample; what several threads do is a sample of its own (crew_sample.h), in the third shape. */
void crew_job_sample(struct crew_job *crew, const struct core_sample_shape *shape, const struct core_sample_shape *with_amx,
                     const struct core_sample_shape *several);

/* After the job has run. */
struct core_sampled crew_job_sampled(struct crew_job *crew);
/* CPU_STOP_BUDGET: max_instructions have run, or it was interrupted. */
enum cpu_stop crew_job_stop(const struct crew_job *crew);
/* Whether it was who waits that ended it (base/work_progress.h). */
bool crew_job_interrupted(const struct crew_job *crew);
const struct unit_fault *crew_job_fault(const struct crew_job *crew);
/* Whether a core executed only what steers, and that was not all that does (cpu_core_strayed): nothing of the job is worth
 * anything. */
bool crew_job_strayed(const struct crew_job *crew);
/* Whether the fault is that all threads wait for one another. */
bool crew_job_deadlock(const struct crew_job *crew);
int crew_job_exit_code(const struct crew_job *crew);
/* The core that the program ended on: it has the result of a function. */
const struct cpu_core *crew_job_cpu(const struct crew_job *crew);
/* Where the thread that ended the program stood. */
uint64_t crew_job_pc(const struct crew_job *crew);
uint64_t crew_job_instructions(const struct crew_job *crew);
uint64_t crew_job_amx_instructions(const struct crew_job *crew);
void crew_job_amx_counts(const struct crew_job *crew, uint64_t count[32]); /* adds, by opnum */
/* Cores that were used; those of the chip are NULL without timing. */
unsigned crew_job_cores(const struct crew_job *crew);
struct soc_core *crew_job_core(const struct crew_job *crew, unsigned index, double *joined_ns); /* and since when */
/* How long it waited for a moment of the clock while it had one thread: that has gone by on its cores. */
double crew_job_slept_ns(const struct crew_job *crew);

#endif
