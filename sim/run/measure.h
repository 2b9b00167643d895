/* What one simulated run did, before it becomes a result. */
#ifndef ORCHARD_SIM_RUN_MEASURE_H
#define ORCHARD_SIM_RUN_MEASURE_H

#include "sim/machine/power/run_energy.h"
#include "sim/soc/soc.h"
#include "sim/workload/ane/ane_time.h"
#include "sim/workload/core_sample.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "units/gpu/gpu_timing.h"

/* What GPU launches did; sums over steps and repetitions. */
struct run_gpu {
    struct gpu_params params;
    struct gpu_totals totals; /* of the whole launch; exact except in --mode timing --detail sampled */
    double device_ns, overhead_ns;
    double stalls[GPU_STALL_COUNT]; /* cycles of the core that was busy longest */
    double issue_share;             /* of all cores' time */
    unsigned occupancy;             /* threadgroups that a core holds at a time */
    uint64_t groups, groups_timed;
    double timed_share;       /* of the instructions */
    double replayed_share;    /* of what ran for windows of them and for what lies between */
    double scale_uncertainty; /* of what was not timed, relative */
    double longest_ns;        /* of sums: the longest launch */
};

/* What requests to the Neural Engine did; sums over repetitions. */
struct run_ane {
    struct ane_exec_counts counts; /* of executing; 0 in --mode timing */
    struct ane_timed timed;        /* task NULL = not timed */
};

struct run_measure {
    struct soc *soc;
    struct soc_core *cores[64]; /* the cores that took part */
    unsigned core_count;
    double joined_ns[64]; /* CPU: when a core came to those that run the threads of a program */
    bool shared;          /* several cores ran the threads of one program */
    double end_ns;        /* last completion */
    double slept_ns;      /* of that: the only thread of a program waited for a moment of the clock */
    double host_seconds;
    uint64_t cpu_instructions, amx_instructions, amx_counts[32];
    struct activity activity;
    struct activity by[POWER_DOMAIN_COUNT]; /* CPU: the same by what reported it */
    struct energy_cores busy;               /* CPU: cores and blocks at work */
    struct mem_counters memory;
    const struct soc_core *critical;                  /* the core that ended last */
    double stalls[CPU_STALL_COUNT + AMX_STALL_COUNT]; /* ns of the critical core: CPU reasons, then AMX reasons */
    struct core_sampled sampled;                      /* CPU: of what was not timed; end_ns and the rest include it */
    struct run_gpu gpu;
    struct run_ane ane;
    double memory_bytes;     /* simulated memory mapped at most */
    double compressed_share; /* of its lines, estimated from what was in it at the end; 0 = there were no data */
    double moved_share;      /* of DRAM traffic, with compression switched on; 0 = off */
};

void run_measure_release(struct run_measure *m);
/* Reads stalls, activity and memory counters of the critical core after the engine has run; end_ns and `sampled` are set. */
void run_measure_finish(struct run_measure *m);
/* Adds a pass that began when the ones before it had ended. */
void run_measure_add(struct run_measure *sum, const struct run_measure *pass);
/* Adds launches that followed, but for the costs of command buffers. Occupancy is that of the launches that took longest. */
void run_gpu_add(struct run_gpu *sum, const struct run_gpu *launches);
/* Adds counters of the memory system. */
void run_memory_add(struct mem_counters *sum, const struct mem_counters *counters);

#endif
