/* The sets of vector handlers that gpu_vector_set.c chooses from; each is defined in the file whose suffix is its name. */
#ifndef ORCHARD_UNITS_GPU_GPU_VECTOR_SETS_H
#define ORCHARD_UNITS_GPU_GPU_VECTOR_SETS_H

#include "units/gpu/gpu_exec.h"

extern const struct gpu_vector_set gpu_vectors_portable;
#if defined(__x86_64__)
extern const struct gpu_vector_set gpu_vectors_avx2, gpu_vectors_avx512;
#endif

#endif
