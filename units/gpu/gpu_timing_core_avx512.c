/* Schedulers on AVX-512: four vectors hold the places of one scheduler. */
#if defined(__AVX512F__)
#include "units/gpu/gpu_timing_core.h"

const struct gpu_core_set gpu_cores_avx512 = {.run = core_run, .fetch = core_fetch, .place = core_place};
#else
typedef int gpu_cores_not_for_this_host;
#endif
