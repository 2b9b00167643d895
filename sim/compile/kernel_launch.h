/* A launch of a compiled kernel: sizes, and arguments in the forms that functions of programs have. */
#ifndef ORCHARD_SIM_COMPILE_KERNEL_LAUNCH_H
#define ORCHARD_SIM_COMPILE_KERNEL_LAUNCH_H

#include "sim/workload/gpu/abi_kernel.h"

#include <stddef.h>

struct kernel_launch {
    uint32_t grid[3], group[3]; /* threads; 0 0 0 = not stated */
    const char *const *args;    /* one for each argument, as program_args.h reads them */
    size_t arg_count;
};

/* "64x64" to three numbers, of which the missing ones are 1. `option` names what was given, for messages. */
bool kernel_launch_extent(const char *option, const char *text, uint32_t extent[3], struct orch_error *error);

/* Completes a kernel that was compiled: group and grid, contents of buffers, values of scalars. The group may come from the
 * source; everything else has to be stated. */
bool kernel_launch_complete(struct abi_kernel *kernel, const struct kernel_launch *launch, struct orch_error *error);
/* The same for a description that somebody is going to edit: without a group it has 32 threads, without a grid one group, without
 * arguments buffers with an element for each thread, zeros, and scalars of 0. */
bool kernel_launch_outline(struct abi_kernel *kernel, const struct kernel_launch *launch, struct orch_error *error);
/* Whether an argument is one that the compiler added: a size of the launch, which the hardware does not tell programs
 * ("grid_threads_x"), or a constant table. Nobody gives it. */
bool kernel_launch_knows(const struct abi_arg *arg);
bool kernel_launch_is_table(const struct abi_arg *arg); /* "constant_table_0": a buffer with contents of its own */
/* Gives sizes of the launch their values, from grid and group. */
void kernel_launch_sizes(struct abi_kernel *kernel);

#endif
