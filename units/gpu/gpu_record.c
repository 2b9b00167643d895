/* Records for the timing side: which variant the host runs, and which instructions say more than that they were executed. */
#define RECORD gpu_record_portable
#define SPAN   gpu_record_span_portable
#include "units/gpu/gpu_record.h"

bool gpu_touches_memory(unsigned op)
{
    switch (op) {
    case AGX_OP_THREADGROUP_LOAD:
    case AGX_OP_THREADGROUP_STORE:
    case AGX_OP_THREADGROUP_ATOMIC: return true;
    default: return gpu_touches_lines(op);
    }
}

bool gpu_touches_lines(unsigned op)
{
    return gpu_on_device(op) || gpu_on_stack(op);
}

#if defined(__x86_64__)
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

bool gpu_record(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lanes, struct gpu_trace *trace)
{
    if (has_avx512())
        return gpu_record_avx512(group, op, lanes, trace);
    return __builtin_cpu_supports("avx2") ? gpu_record_avx2(group, op, lanes, trace)
                                          : gpu_record_portable(group, op, lanes, trace);
}

void gpu_record_span(const struct gpu_access *access, uint32_t mask, uint64_t *low, uint64_t *high)
{
    if (has_avx512())
        gpu_record_span_avx512(access, mask, low, high);
    else if (__builtin_cpu_supports("avx2"))
        gpu_record_span_avx2(access, mask, low, high);
    else
        gpu_record_span_portable(access, mask, low, high);
}
#else
bool gpu_record(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lanes, struct gpu_trace *trace)
{
    return gpu_record_portable(group, op, lanes, trace);
}

void gpu_record_span(const struct gpu_access *access, uint32_t mask, uint64_t *low, uint64_t *high)
{
    gpu_record_span_portable(access, mask, low, high);
}
#endif
