/* The frequent handlers once more, with FMA in hardware instead of calls of fma(). */
#define FAST_LOOKUP cpu_fast_lookup_avx2
#include "units/cpu/cpu_exec_fast_body.h"
