/* The launches of a kernel of the GPU's library, for those who do something else with them than run them. */
#ifndef ORCHARD_SIM_RUN_GPU_RUN_GPU_KERNEL_H
#define ORCHARD_SIM_RUN_GPU_RUN_GPU_KERNEL_H

#include "sim/run/kind.h"
#include "sim/workload/gpu/gpu_library.h"

/* Of a run of that kind. */
const struct gpu_library *run_gpu_library(const struct run *run);

#endif
