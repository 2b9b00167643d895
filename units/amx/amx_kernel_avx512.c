#include "units/amx/amx_kernel_vec512.h"

#include "units/amx/amx_kernel_kinds.h"

const struct amx_kernel_set amx_kernels_avx512 = KERNEL_SET("avx512", &amx_dispatch_avx512);
