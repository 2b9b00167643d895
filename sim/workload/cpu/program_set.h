/* Copies of one AArch64 program on several cores of a chip, as engine tasks on one time line. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_SET_H
#define ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_SET_H

#include "sim/workload/cpu/program.h"
#include "sim/workload/cpu/crew_job.h"

struct program_set {
    struct program **program; /* `count` of them */
    struct crew_job **job;
    unsigned count;
    int *task;     /* number of each one's task in the engine */
    double end_ns; /* when the last one completed */
};

/* Called for each program before it starts, to set registers and fill buffers. */
typedef bool program_prepare(void *context, unsigned number, struct program *program, struct orch_error *error);

/* Opens `count` copies, one per core; without timing when `cores` is NULL. `prepare` may be NULL. Close in any case. */
bool program_set_open(struct program_set *set, unsigned count, const void *file, size_t bytes,
                      const struct program_options *options, enum amx_gen gen, struct soc_core **cores, program_prepare *prepare,
                      void *context, struct orch_error *error);
/* The same; threads of a program may use more cores, and programs end after so many instructions (0 = when they end). */
bool program_set_open_with(struct program_set *set, unsigned count, const void *file, size_t bytes,
                           const struct program_options *options, enum amx_gen gen, struct soc_core **cores,
                           const struct crew_cores *more, uint64_t max_instructions, program_prepare *prepare, void *context,
                           struct orch_error *error);
/* Who waits, and for what ("timing"). */
void program_set_tell(struct program_set *set, const struct work_progress *progress, const char *doing);
/* Adds the tasks to an engine, which may have others. */
bool program_set_add(struct program_set *set, struct engine *engine, struct orch_error *error);
/* To be called after the engine has run: fills end_ns. False when a program faulted; *error is then from program_explain_fault.
 */
bool program_set_finish(struct program_set *set, const struct engine *engine, struct orch_error *error);
/* Runs all programs to their end on an engine of their own; fails as program_set_finish does. */
bool program_set_run(struct program_set *set, struct orch_error *error);
void program_set_close(struct program_set *set);

#endif
