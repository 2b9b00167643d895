/* Schedulers on the vectors that the compiler uses by default. */
#include "units/gpu/gpu_timing_core.h"

const struct gpu_core_set gpu_cores_portable = {.run = core_run, .fetch = core_fetch, .place = core_place};
