/* Shared by the files of sim/run; not for others. */
#ifndef ORCHARD_SIM_RUN_RUN_INTERNAL_H
#define ORCHARD_SIM_RUN_RUN_INTERNAL_H

#include "sim/workload/gpu/gpu_sample.h"
#include "sim/workload/ane/ane_time.h"
#include "units/gpu/gpu_timing.h"
#include "sim/workload/cpu/cpu_kernel.h"
#include "sim/workload/gpu/gpu_library.h"
#include "sim/workload/amx/kernel.h"
#include "sim/machine/power/run_energy.h"
#include "sim/run/interval.h"
#include "sim/run/run.h"

struct run {
    const struct run_request *request;
    struct event_run_begin begin;
    char program_hash[20], chip_hash[20], options[768], program_name[256];
    enum run_kind { RUN_ELF, RUN_KERNEL, RUN_AGX, RUN_GPU_KERNEL, RUN_ANE, RUN_CPU_KERNEL } kind;
    struct kernel_call call;
    struct cpu_kernel cpu_kernel; /* RUN_CPU_KERNEL */
    struct abi_kernel gpu_kernel;
    struct gpu_library *library; /* RUN_GPU_KERNEL */
    struct ane_workload *ane;    /* RUN_ANE: a program or a kernel */
    double gpu_bytes;            /* that the launch must touch at least */
    unsigned gpu_group_threads;
    const char *occupancy_limit; /* GPU, after execution: what limits the threadgroups of a core; NULL = not known */
    char *detail;                /* GPU: at which the launch was timed; NULL = begin.detail */
    char (*remark)[400];         /* what run_remark says */
    size_t remarks;
    uint8_t *file; /* bytes of a program file */
    size_t file_bytes;
    struct run_paces paces;   /* GPU: of the launches so far */
    double parameters_sd;     /* after execution with time: what run_parameters_sd says */
    struct energy_run energy; /* after execution with time */
    bool has_energy;
};

/* What a GPU launch did; sums over repeats. */
struct run_gpu {
    struct gpu_params params;
    struct gpu_totals totals; /* of the whole launch, exact except in --mode timing --detail sampled */
    uint32_t *work;           /* instructions of each threadgroup, where sampling needs them */
    double device_ns, overhead_ns;
    double stalls[GPU_STALL_COUNT]; /* cycles of the core that was busy longest */
    double issue_share;             /* of all cores' time */
    unsigned occupancy;             /* threadgroups of a core at a time */
    uint64_t groups, groups_timed;
    double scale_uncertainty; /* of what was not timed, relative */
};

/* What requests to the Neural Engine did; sums over repeats. */
struct run_ane {
    struct ane_exec_counts counts; /* of executing; 0 in --mode timing */
    struct ane_timed timed;        /* task NULL = not timed */
};

/* What one simulated run did, before it becomes a result. */
struct run_measure {
    struct soc *soc;
    struct soc_core *cores[64]; /* the cores that took part */
    unsigned core_count;
    double end_ns; /* last completion */
    double host_seconds;
    uint64_t cpu_instructions, amx_instructions, amx_counts[32];
    struct activity activity;
    struct activity by[POWER_DOMAIN_COUNT]; /* CPU: the same by what reported it */
    struct energy_cores busy;               /* CPU: cores and blocks at work */
    struct mem_counters memory;
    const struct soc_core *critical;                  /* the core that ended last */
    double stalls[CPU_STALL_COUNT + AMX_STALL_COUNT]; /* ns of the critical core: CPU reasons, then AMX reasons */
    struct run_gpu gpu;
    struct run_ane ane;
    double memory_bytes;     /* simulated memory mapped at most */
    double compressed_share; /* of its lines, estimated from what was in it at the end; 0 = there were no data */
    double moved_share;      /* of DRAM traffic, with compression switched on; 0 = off */
};

/* Everything but energy. The caller releases the measure, zero-filled at first, in any case. */
bool run_time(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
/* run_timing.c: detail "op"; what of the measure energy and events read is filled in. */
bool run_is_operator(const struct run_request *request);
bool run_operator(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
/* What run_execute does without events. The measure as for run_time. */
bool run_simulate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
void run_measure_release(struct run_measure *m);
enum orch_part run_part(const struct run *run); /* the unit that it is for */

/* Reads stalls, activity and memory counters of the critical core after the engine has run. */
void run_measure_finish(struct run_measure *m);
/* Adds a pass that began when the ones before it had ended. */
void run_measure_add(struct run_measure *sum, const struct run_measure *pass);
/* Energy of a run of any kind, after its account; nothing without time. */
bool run_joules(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);
/* Joules and watts of the whole, by unit and by kind; false = out of memory. */
bool run_joules_add(const struct energy_report *report, struct run_result *result);
/* Turns the measure into numbers, stalls, utilisation, counters, interval and assumptions of the result. */
bool run_account(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);

/* On the soc of the measure and operands that the caller may own (kernel_data_create). */
bool run_kernel_in(struct run *run, struct mem_space *space, const uint64_t *given, struct run_measure *m,
                   struct run_result *result, struct orch_error *error);
bool run_kernel(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
bool run_program(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);

/* Whether it runs as AArch64 programs on cores. Several such, each on the cores that its request asks for, on one time line and
 * in the same caches; the measures (zero-filled) share one soc, which the first one owns. */
bool run_is_program(const struct run *run);
bool run_programs_together(struct run *const *run, unsigned count, struct run_measure *const *m, struct orch_error *error);

/* How a GPU launch is timed: all its threadgroups, behind a warm-up of which all or only the end is timed; or a sample. */
enum run_way { RUN_WAY_ALL, RUN_WAY_WARM, RUN_WAY_SAMPLE };

/* One GPU launch at work. */
struct run_launch {
    struct run *run;
    struct gpu_setup *setup;
    struct run_measure *m;
    struct soc_gpu *gpu;
    struct orch_error *error;
    enum run_way way;
    bool warmed; /* the caches are as the launch leaves them */
};
/* Opens the chip unless the measure has one, and its GPU; what one command buffer costs goes into the measure. */
bool run_launch_open(struct run_launch *l);
/* After opening, before executing: finds the way. */
bool run_launch_prepare(struct run_launch *l);
/* For its results and counts; the start contents are put back before. Where it can, it warms the caches as well. */
bool run_launch_execute(struct run_launch *l);
/* Timed passes, whole or sampled; leaves in memory what they did. That may be the results. */
bool run_launch_time(struct run_launch *l);
bool run_launch_leaves_results(const struct run_launch *l);
/* run_agx_sample.c */
bool run_launch_sample(struct run_launch *l);
bool run_launch_was_sampled(const struct run_launch *l); /* at the other clocks of request.paces */
/* The SLC scatters pages over its sets: below this share of it hardly any set overflows. */
#define RUN_SLC_FILLED 0.75
/* run_agx_warm.c: untimed threadgroups. How many the GPU holds at a time; an executor for them; [first, end) for what they leave
 * in the caches. Then the caches as they are behind the launch: from the `last` threadgroups of it, what was there before aside;
 * or from all of it, with results in memory as long as they do not depend on the order of threadgroups. `totals` (may be NULL)
 * gets what was executed. */
uint64_t run_launch_wave(const struct run_launch *l);
struct gpu_warmer *run_launch_warmer(struct run_launch *l);
bool run_launch_skip(struct run_launch *l, struct gpu_warmer *warmer, uint64_t first, uint64_t end);
bool run_launch_leave(struct run_launch *l, struct gpu_warmer *warmer, uint64_t last);
bool run_launch_warm(struct run_launch *l, struct gpu_totals *totals);
/* For both. A pass over the selected threadgroups of memory as it is; `totals` (may be NULL) gets what they executed. The border
 * between two passes, and a pass from there with what it did in the memory system and why it waited. Where totals belong when
 * timing is all that runs. */
unsigned run_launch_repeats(const struct run_launch *l);
double run_launch_buffer_bytes(const struct run_launch *l);
bool run_launch_pass(struct run_launch *l, const struct gpu_selection *selection, struct gpu_part *part,
                     struct gpu_totals *totals);
void run_launch_restart(struct run_launch *l, bool keep_caches);
bool run_launch_measure(struct run_launch *l, const struct gpu_selection *selection, bool keep_caches, struct gpu_part *part,
                        struct gpu_totals *totals);
struct gpu_totals *run_launch_totals(const struct run_launch *l);
/* Of the code to run; G15 is told as an assumption and becomes G14. */
bool run_gpu_generation(const struct run *run, enum gpu_generation *generation, struct run_result *result,
                        struct orch_error *error);

/* A kernel of the GPU library. `given` has addresses of buffers in the kernel's order without scratch, which the caller owns and
 * has filled; 0 or NULL = allocated and filled here. */
bool run_gpu_kernel_in(struct run *run, struct mem_space *space, const uint64_t *given, struct run_measure *m,
                       struct run_result *result, struct orch_error *error);
bool run_gpu_kernel(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
/* A launch of a GPU kernel; run_gpu_account turns its measure into the result. */
bool run_agx(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
bool run_gpu_account(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);
/* Counts by mnemonic, while the program is there. */
bool run_gpu_counters(const struct gpu_setup *setup, const struct run_measure *m, struct run_result *result,
                      struct orch_error *error);
/* The way code was made for and the way atomics are wanted on this chip; false names what is not known. */
bool run_agx_target(const struct chip *chip, struct abi_target *target, enum gpu_generation *generation,
                    struct orch_error *error);

/* Requests to the Neural Engine. `given` has addresses in `theirs` of the caller's buffers by array of the workload, elements in
 * order; 0 or NULL = generated. */
bool run_ane_in(struct run *run, const struct mem_space *theirs, const uint64_t *given, unsigned given_count,
                struct run_measure *m, struct run_result *result, struct orch_error *error);
bool run_ane(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
/* Opens the chip unless the measure has one and times one request of the program, without buffers of its own. */
bool run_ane_time(const struct run *run, struct run_measure *m, struct orch_error *error);
bool run_ane_account(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);
/* Descriptor by descriptor, and the roofline. */
void run_ane_explain(FILE *out, const struct run *run, const struct run_result *result);

/* run_memory.c: bytes of all buffers, as far as known before the run; whether so much fits a machine with `gib` (0 = the
 * largest). */
double run_memory_need(const struct run *run);
bool run_memory_fits(const struct chip *chip, unsigned gib, const char *what, double bytes, struct orch_error *error);
/* The address space of a run, no larger than the machine's memory; freeing notes how much of it was used. */
struct mem_space *run_space_create(const struct run *run, struct orch_error *error);
void run_space_free(struct mem_space *space, const struct run *run, struct run_measure *m);
/* A program's space, which stays. */
void run_space_note(const struct mem_space *space, enum run_mode mode, struct run_measure *m);
/* Before the chip is opened: what compression does to DRAM traffic, from a functional run where there are data. */
bool run_compression(const struct run *run, struct run_measure *m, struct orch_error *error);
/* Opens the chip of a measure unless it has one. */
bool run_soc_open(const struct run *run, struct run_measure *m, struct orch_error *error);
bool run_add_memory_use(const struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);

/* run_shared.c */
/* Opens the chip unless the measure has one and takes the cores that the request asks for. */
bool run_place(const struct run *run, unsigned count, struct run_measure *m, struct orch_error *error);
/* From now on the request's watch sees the instructions of the cores taken. */
void run_watch(const struct run *run, const struct run_measure *m);
void run_memory_add(struct mem_counters *sum, const struct mem_counters *counters);
bool run_add_memory(const struct chip *chip, const struct mem_counters *counters, struct run_values *to);
/* Bytes by unit and level, by die and over the link. */
bool run_add_traffic(const struct chip *chip, const struct mem_traffic *traffic, struct run_values *to);
bool run_add_activity(const struct activity *activity, struct run_values *to);

/* run_interval.c: elasticities of a measured run, and from them the interval and the assumptions of its result. other_sd:
 * relative standard deviation that comes from elsewhere. */
void run_cpu_shares(const struct chip *chip, const struct run_measure *m, struct interval_shares *shares);
void run_gpu_shares(const struct chip *chip, const struct run_measure *m, struct interval_shares *shares);
void run_ane_shares(const struct run_measure *m, struct interval_shares *shares);
bool run_set_interval(struct run *run, const struct interval_shares *shares, double other_sd, struct run_result *result,
                      struct orch_error *error);

double run_host_seconds(void); /* monotonic */

#endif
