/* Rows of the wide table that are peaks or latencies of the GPU (krrishnarraj/clpeak on Metal, Vulkan and OpenCL; Chips and
 * Cheese). They run the programs of the table of GPU figures, under the names used there. */
#include "isa/array_count.h"
#include "sim/prove/validate/gpu_atoms.h"
#include "sim/prove/validate/program.h"

#include <string.h>

struct peak {
    const char *what, *shape; /* NULL = any */
    const char *figure;       /* its name in the table of GPU figures */
};

static const struct peak peaks[] = {
    {"gpu_L1_latency", NULL, "L1 latency"},
    {"gpu_L2_latency", NULL, "L2 latency"},
    {"gpu_SLC_latency", NULL, "SLC latency"},
    {"gpu_DRAM_latency", NULL, "DRAM latency"},
    {"gpu_L1_bandwidth", NULL, "L1 bandwidth"},
    {"gpu_L2_bandwidth", NULL, "L2 bandwidth"},
    {"gpu_SLC_bandwidth", NULL, "SLC bandwidth"},
    {"gpu_DRAM_bandwidth", NULL, "DRAM bandwidth"},
    {"clpeak_metal_global_memory_bandwidth", NULL, "global memory read (Metal float2, best)"},
    {"clpeak_metal_local_memory_bandwidth", "float", "threadgroup memory read float (Metal, best)"},
    {"clpeak_metal_local_memory_bandwidth", "float8", "threadgroup memory read float8 (Metal)"},
};

bool validate_plan_gpu_peak(struct validate_row *row, struct validate_program *program)
{
    static const struct {
        const char *part; /* part of the workload's name */
        const char *text; /* a multiply-add on chain @ */
    } rates[] = {
        {"_single_precision_compute", "fmadd32 @, @.cache, r2.cache, @.cache\n"},
        {"vector_fma", "fmadd32 @, @.cache, r2.cache, @.cache\n"},
        {"_half_precision_compute", "fmadd16 @l, @l.cache, r2l.cache, @l.cache\n"},
        {"_mixed_precision_compute", "fmadd32 @, r2l.cache, r2h.cache, @.cache\n"},
        {"clpeak_vulkan_integer_compute", "imadd @, @.cache, r2.cache, @.cache\n"},
        {"clpeak_opencl_integer_compute", "imadd @, @.cache, r2.cache, @.cache\n"},
    };
    if (strcmp(row->device, "gpu") != 0)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(peaks); i++)
        if (strcmp(row->what, peaks[i].what) == 0 && (!peaks[i].shape || strcmp(row->shape, peaks[i].shape) == 0)) {
            struct validate_row named = *row;
            named.what = peaks[i].figure;
            const bool ok = validate_plan_gpu_memory(&named, program);
            memcpy(row->why, named.why, sizeof row->why);
            return ok;
        }
    if (strstr(row->what, "int8_dp"))
        return validate_refuse(row, "products of bytes: which instructions the compiler made of them is not known");
    for (size_t i = 0; i < ARRAY_COUNT(rates); i++)
        if (strstr(row->what, rates[i].part)) {
            /* "float4" and "mp2" give the number of chains; without a number there is one. "large" is as good as eight. */
            const size_t letters = strcspn(row->shape, "0123456789");
            unsigned chains = strcmp(row->shape, "large") == 0 ? 8 : 1;
            sscanf(row->shape + letters, "%u", &chains);
            if (!chains)
                return validate_refuse(row, "shape '%.60s' is not read", row->shape);
            return validate_plan_gpu_rate(row, program, rates[i].text, chains > GPU_ATOM_CHAINS ? GPU_ATOM_CHAINS : chains);
        }
    return false;
}
