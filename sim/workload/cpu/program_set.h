/* Copies of one AArch64 program over the cores of a chip: N programs, N engine tasks, one time line. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_SET_H
#define ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_SET_H

#include "sim/workload/cpu/program.h"
#include "sim/workload/cpu/core_job.h"

struct program_set {
    struct program **program; /* count of them */
    struct core_job **job;
    unsigned count;
    int *task;     /* of each in the engine */
    double end_ns; /* completion of the last one */
};

/* Called for each program before it starts: registers, buffers. NULL when there is nothing to do. */
typedef bool program_prepare(void *context, unsigned number, struct program *program, struct orch_error *error);

/* Opens `count` copies; cores[i] may be NULL (no timing). */
bool program_set_open(struct program_set *set, unsigned count, const void *file, size_t bytes,
                      const struct program_options *options, enum amx_gen gen, struct soc_core **cores, program_prepare *prepare,
                      void *context, struct orch_error *error);
/* Adds its tasks to an engine that others may share. After that has run: fills end_ns, and tells a fault of any. */
bool program_set_add(struct program_set *set, struct engine *engine, struct orch_error *error);
bool program_set_finish(struct program_set *set, const struct engine *engine, struct orch_error *error);
/* Runs all to their end. A fault of any is exit code 4 with its place. */
bool program_set_run(struct program_set *set, struct orch_error *error);
void program_set_close(struct program_set *set);

#endif
