/* One run while it is prepared and executed. For the files of sim/run and sim/scenario. */
#ifndef ORCHARD_SIM_RUN_RUN_STATE_H
#define ORCHARD_SIM_RUN_RUN_STATE_H

#include "sim/run/run.h"
#include "sim/run/run_file.h"

#define RUN_REMARK_BYTES 400

struct run {
    const struct run_request *request;
    const struct run_kind *kind;
    void *work;           /* the kind's own, from its open to its close */
    struct run_file file; /* of a workload that is one */
    struct event_run_begin begin;
    char program_hash[20], chip_hash[20], program_name[256];
    char *options; /* of the event */

    const struct work_progress *progress; /* who waits while it is executed; NULL = nobody */

    /* Of the last execution. */
    double gpu_bytes;            /* that the launch must touch at least */
    unsigned gpu_group_threads;  /* of one threadgroup */
    const char *occupancy_limit; /* what limits the threadgroups of a GPU core; NULL = not known */
    char *detail;                /* at which GPU launches were timed; NULL = begin.detail */
    char (*remark)[RUN_REMARK_BYTES];
    size_t remarks;
    double slept_s;           /* in which a program waited for a moment of the clock: as long on any machine */
    double parameters_sd;     /* what run_parameters_sd says */
    struct energy_run energy; /* where has_energy */
    bool has_energy;
};

/* One more line for run_remark. */
bool run_add_remark(struct run *run, const char *text, struct orch_error *error);

static inline unsigned run_repeats(const struct run *run)
{
    return run->request->repeat ? run->request->repeat : 1;
}

static inline unsigned run_copies(const struct run *run)
{
    return run->request->cores ? run->request->cores : 1;
}

#endif
