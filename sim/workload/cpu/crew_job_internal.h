/* What the files of crew_job.h share. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_CREW_JOB_INTERNAL_H
#define ORCHARD_SIM_WORKLOAD_CPU_CREW_JOB_INTERNAL_H

#include "sim/workload/cpu/crew_job.h"

/* How long a thread keeps its core while others wait for one: a time slice of Linux under load. */
#define SLICE_NS 3e6

struct seat {
    struct cpu_core *cpu, *own_cpu; /* the first one's is the program's */
    struct soc_core *core;
    struct core_job *job;
    double slice_end_ns, joined_ns;
};

struct crew_job {
    struct cpu_linux *system;
    struct mem_space *space;
    enum amx_gen gen;
    struct crew_cores cores;
    struct seat seat[CPU_LINUX_CORES];
    unsigned seats, latest; /* latest: that has run */
    bool shared, over, deadlock, interrupted;
    uint64_t slept_ns, before_ns;   /* of cpu_linux_slept_ns: that has gone by on the cores, and that before the job */
    struct core_sample_shape shape; /* of a sample of several cores */
    bool samples;
    struct crew_sample *sample; /* NULL: there are not several, or everything is timed */
    uint64_t max_instructions;
    enum cpu_stop stop;
    struct unit_fault fault;
    const struct work_progress *progress;
    const char *doing;
};

bool crew_seat_busy(const struct crew_job *crew, unsigned seat);
bool crew_seat_slow(const struct crew_job *crew, unsigned seat); /* an E core */
/* Whether a P core is idle at a time of the clock. It then takes the thread of an E core, as XNU's scheduler for cores of two
 * kinds does: an idle P core asks an E core by interrupt for a thread that would rather run on a P core (apple-oss-distributions
 * /xnu, osfmk/kern/sched_amp_common.c, sched_amp_balance). */
bool crew_has_idle_fast(const struct crew_job *crew, double clock_ns);
/* Makes everything ready for a second thread, or for timers. */
void crew_share(struct crew_job *crew);
/* Gives cores to threads that are ready, as long as there are idle ones. */
bool crew_seat_ready(struct crew_job *crew, struct orch_error *error);

#endif
