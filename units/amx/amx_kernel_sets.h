/* The kernel sets that amx_kernel_set.c chooses from; each is defined in the file whose suffix is its name. */
#ifndef ORCHARD_UNITS_AMX_AMX_KERNEL_SETS_H
#define ORCHARD_UNITS_AMX_AMX_KERNEL_SETS_H

#include "units/amx/amx_kernel_set.h"

extern const struct amx_dispatch amx_dispatch_portable;
extern const struct amx_kernel_set amx_kernels_portable;
#if defined(__x86_64__)
extern const struct amx_dispatch amx_dispatch_avx2, amx_dispatch_avx512;
extern const struct amx_kernel_set amx_kernels_avx512fp16;
extern const struct amx_kernel_set amx_kernels_avx512;
extern const struct amx_kernel_set amx_kernels_avx2;
#endif

#endif
