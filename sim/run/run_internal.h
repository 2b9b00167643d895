/* Shared by the files of sim/run; not for others. */
#ifndef ORCHARD_SIM_RUN_INTERNAL_H
#define ORCHARD_SIM_RUN_INTERNAL_H

#include "sim/kernel/kernel.h"
#include "sim/run/run.h"

struct run {
    const struct run_request *request;
    struct event_run_begin begin;
    char program_hash[20], chip_hash[20], options[512], program_name[256];
    bool is_kernel;
    struct kernel_call call;
    uint8_t *file;                 /* bytes of a program file */
    size_t file_bytes;
};

/* What one simulated run did, before it becomes a result. */
struct run_measure {
    struct soc *soc;
    struct soc_core *cores[64];    /* the cores that took part */
    unsigned core_count;
    double end_ns;                 /* last completion */
    double host_seconds;
    uint64_t cpu_instructions, amx_instructions, amx_counts[32];
    struct activity activity;
    struct mem_counters memory;
    const struct soc_core *critical; /* the core that ended last */
    double stalls[CPU_STALL_COUNT + AMX_STALL_COUNT]; /* ns of the critical core: CPU reasons, then AMX reasons */
};

/* Reads stalls, activity and memory counters of the critical core after the engine has run. */
void run_measure_finish(struct run_measure *m);
/* Adds a pass that began when the ones before it had ended. */
void run_measure_add(struct run_measure *sum, const struct run_measure *pass);
/* Turns the measure into numbers, stalls, utilisation, counters, interval and assumptions of the result. */
bool run_account(const struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);

/* On the soc of the measure and operands that the caller may own (kernel_data_create). */
bool run_kernel_in(struct run *run, struct mem_space *space, const uint64_t *given, struct run_measure *m,
                   struct run_result *result, struct orch_error *error);
bool run_kernel(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
bool run_program(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);

double run_host_seconds(void); /* monotonic */

#endif
