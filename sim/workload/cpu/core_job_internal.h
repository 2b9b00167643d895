/* What the files of core_job.h share. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_CORE_JOB_INTERNAL_H
#define ORCHARD_SIM_WORKLOAD_CPU_CORE_JOB_INTERNAL_H

#include "sim/workload/cpu/core_job.h"
#include "sim/workload/cpu/core_leap.h"
#include "sim/workload/cpu/core_phases.h"

struct core_job {
    struct cpu_core *cpu;
    struct amx_core *amx, *own_amx; /* the one that is in use, and the one to be freed */
    struct mem_space *space;
    enum amx_gen gen;
    struct soc_core *core;
    struct cpu_trace trace;
    struct unit_fault fault;
    enum cpu_stop stop;
    bool running, shared, interrupted;
    double begin_ns, idle_ns; /* idle: of a core without timing */
    bool samples, skipped;    /* the latest stretch was */
    struct core_sample sample;
    struct core_sampled sampled;      /* of a sample that has ended before the program */
    struct core_reading after_sample; /* what the core showed then */
    struct core_sample_shape with_amx;
    bool reshaped; /* to that */
    struct core_phases phases;
    struct crew_sample *crew;   /* NULL: not one of several, or all of it is timed */
    unsigned number;            /* of the core there */
    struct core_leap *leap;     /* NULL: loops are not leapt over */
    struct core_reading before; /* of the piece under way */
    double piece;               /* its instructions so far */
    const struct work_progress *progress;
    const char *doing;
    uint64_t first_instruction, max_instructions, amx_instructions, amx_count[32];
};

/* Room for a trace so many times as long as usual. False: memory is out, and the old room stays. */
bool core_job_take_room(struct core_job *job, unsigned times);
/* Times the stretch that has just run, or skips it, as the sample says. */
void core_job_sample_stretch(struct core_job *job, double instructions);
/* Whether loops of the next stretch are leapt over. */
bool core_job_leaps(const struct core_job *job);
/* Ends a sample before the program: from now on everything is timed. */
void core_job_end_sample(struct core_job *job);

#endif
