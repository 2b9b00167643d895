#include "units/amx/amx_kernel_sets.h"
const struct amx_kernel_set amx_kernels_avx2 = {.name = "avx2"};
