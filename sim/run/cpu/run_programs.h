/* AArch64 programs on the cores of a chip: one copy a core, with warm-up and repetitions, alone or beside other runs. */
#ifndef ORCHARD_SIM_RUN_CPU_RUN_PROGRAMS_H
#define ORCHARD_SIM_RUN_CPU_RUN_PROGRAMS_H

#include "sim/run/kind.h"
#include "sim/workload/cpu/program_set.h"

/* What the copies run. A kind's `programs` fills it in; it is zero-filled but for run, options and gen. */
struct run_programs {
    const struct run *run;
    struct program_options options;
    enum amx_gen gen;
    const void *file; /* of the ELF file */
    size_t bytes;
    const char *variant;   /* of the placement; NULL = "program" */
    void *own;             /* the kind's own, freed afterwards: what prepare and checksum work on */
    uint8_t *own_file;     /* `file`, when it was made for this run; freed afterwards */
    char path[4096];       /* of a file of the kernel library */
    double expected;       /* instructions of a copy, as a warm-up found; 0 = not known */
    unsigned thread_cores; /* that the threads of a copy may use */
    unsigned threads;      /* of one program that has all cores of the request; 0 = each core has a copy */
    enum run_sample_of sample;
    bool may_steer;    /* in mode timing, values that do not steer may be left out (core_job_steer) */
    bool steers;       /* they are */
    bool strayed;      /* that was not possible, a core found */
    char missing[256]; /* a file that was asked for and is not mounted; "" = none */
    /* Where the operand is that the kernel reads in this place, once it is prepared; false = there is none. NULL = nobody asks.
     */
    bool (*operand)(const struct run_programs *programs, unsigned place, uint64_t *address, uint64_t *bytes);
    /* Gives copy `number` its registers and buffers; the context is this struct. NULL = nothing to do. */
    program_prepare *prepare;
    /* Adds the checksum of the results of all copies; NULL = those that the program's arguments name. */
    bool (*checksum)(const struct run_programs *programs, const struct program_set *set, struct run_result *result);
};

bool run_programs(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                  struct orch_error *error);

/* Whether it runs as AArch64 programs on cores. Several such runs, each on the cores that its request asks for, share one time
 * line and the caches; the measures (zero-filled) share one soc, which the first one owns. */
bool run_is_program(const struct run *run);
bool run_programs_together(struct run *const *run, unsigned count, struct run_measure *const *m, struct orch_error *error);

/* Numbers of a run on CPU cores and their AMX blocks. */
bool run_account(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);

#endif
