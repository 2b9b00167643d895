#include "isa/array_count.h"
#include "units/gpu/gpu_vector_sets.h"

static const struct gpu_vector_set *best_of(const char *name)
{
    const struct gpu_vector_set *sets[] = {
#if defined(__x86_64__)
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
            ? &gpu_vectors_avx512
            : NULL,
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") ? &gpu_vectors_avx2
                                                                                                          : NULL,
#endif
        &gpu_vectors_portable,
    };
    for (size_t i = 0; i < ARRAY_COUNT(sets); i++)
        if (sets[i] && (!name || strcmp(sets[i]->name, name) == 0))
            return sets[i];
    return NULL;
}

const struct gpu_vector_set *gpu_vector_best(void)
{
    return best_of(NULL);
}

const struct gpu_vector_set *gpu_vector_named(const char *name)
{
    return best_of(name);
}
