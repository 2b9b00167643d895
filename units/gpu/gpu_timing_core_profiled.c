/* Schedulers that count by instruction, for launches that ask for it; times are those of the others. */
#define GPU_PROFILED 1
#include "units/gpu/gpu_timing_core.h"

const struct gpu_core_set gpu_cores_profiled = {.run = core_run, .fetch = core_fetch, .place = core_place};
