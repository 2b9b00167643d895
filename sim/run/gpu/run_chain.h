/* GPU launches one after another on the same buffers. A kernel of the library is such a chain, and so are kernels of a user in a
 * row. Each step is timed by itself, behind a warm-up of its own; the command buffer's costs are those of all. */
#ifndef ORCHARD_SIM_RUN_GPU_RUN_CHAIN_H
#define ORCHARD_SIM_RUN_GPU_RUN_CHAIN_H

#include "sim/run/gpu/run_launch.h"

enum { RUN_CHAIN_PRESENT = 64 };

struct run_chain {
    struct run *run;
    const struct abi_kernel *step;
    unsigned steps;
    unsigned loading; /* so many steps come before the run, when constants are loaded: they are executed, and nothing counts */
    uint64_t (*address)[ABI_ARGS_MAX]; /* by step and argument: where its buffer is */
    struct mem_space *space;
    enum gpu_generation generation;
    struct run_measure *sum;
    struct run_result *result;
    struct orch_error *error;
    const char *why; /* why the steps run on the GPU, for the placement */
    bool contents;   /* buffers have contents */
    bool empty;      /* but only those whose values are places */
    bool given;      /* somebody else reads the buffers afterwards */
    bool separate;   /* each step has a command buffer of its own */
    bool tell_steps; /* counters (RUN_COUNTER_STEP) say how long each step was on the device */
    /* After the last step has been executed, while memory has its results. */
    bool (*hand_over)(struct run_chain *chain);
    void *context;

    /* Of a kernel in a larger work that begins with empty caches: what is there all the same. Steps find what those before them
     * touched. */
    struct run_range present[RUN_CHAIN_PRESENT];
    unsigned presents;

    bool sampled; /* for run_chain alone */
};

/* Executes and times all steps as the request's mode says. The detail of the run is set. */
bool run_chain(struct run_chain *chain);

/* Executes a launch on buffers at these addresses, by argument, and nothing of it counts. */
bool run_chain_execute(const struct run_chain *chain, const struct abi_kernel *step, const uint64_t *address);

#endif
