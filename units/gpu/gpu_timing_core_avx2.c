/* Schedulers on AVX2: a vector holds four places of one scheduler. */
#if defined(__AVX2__)
#include "units/gpu/gpu_timing_core.h"

const struct gpu_core_set gpu_cores_avx2 = {.run = core_run, .fetch = core_fetch, .place = core_place};
#else
typedef int gpu_cores_not_for_this_host;
#endif
