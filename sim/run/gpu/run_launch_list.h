/* The launches of a kernel of the GPU library on a chip, without running them: what its schedulers have to deal out. */
#ifndef ORCHARD_SIM_RUN_GPU_RUN_LAUNCH_LIST_H
#define ORCHARD_SIM_RUN_GPU_RUN_LAUNCH_LIST_H

#include "sim/run/run.h"
#include "units/gpu/kernels/gpu_kernels.h"

struct run_launch_entry {
    uint64_t groups;   /* threadgroups */
    unsigned threads;  /* of one of them */
    unsigned resident; /* threadgroups that a core holds at a time */
};

struct run_launch_list {
    unsigned cores, count;
    struct run_launch_entry launch[GPU_KERNEL_STEPS];
};

/* Keeps the programs that were built, because many chips run the same ones. */
struct run_launch_lists;
struct run_launch_lists *run_launch_lists_create(void); /* NULL when memory is out. */
void run_launch_lists_free(struct run_launch_lists *lists);

/* Lists the launches of a request whose unit is the GPU; the count is 0 when it is no kernel of the GPU's library. */
bool run_launch_list_of(struct run_launch_lists *lists, const struct run_request *request, struct run_launch_list *list,
                        struct orch_error *error);

#endif
