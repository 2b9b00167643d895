#include "units/amx/amx_kernel_set.h"

#include "isa/array_count.h"
#include "units/amx/amx_kernel_sets.h"

#include <stddef.h>
#include <string.h>

static const struct amx_kernel_set *best_of(const char *name)
{
    const struct amx_kernel_set *sets[] = {
#if defined(__x86_64__)
        __builtin_cpu_supports("avx512fp16") && __builtin_cpu_supports("avx512vnni") ? &amx_kernels_avx512fp16 : NULL,
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
            ? &amx_kernels_avx512
            : NULL,
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") ? &amx_kernels_avx2
                                                                                                          : NULL,
#endif
        &amx_kernels_portable,
    };
    for (size_t i = 0; i < ARRAY_COUNT(sets); i++)
        if (sets[i] && (!name || strcmp(sets[i]->name, name) == 0))
            return sets[i];
    return NULL;
}

const struct amx_kernel_set *amx_kernel_set_best(void)
{
    return best_of(NULL);
}

const struct amx_kernel_set *amx_kernel_set_portable(void)
{
    return &amx_kernels_portable;
}

const struct amx_kernel_set *amx_kernel_set_named(const char *name)
{
    return best_of(name);
}
