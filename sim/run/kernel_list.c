#include "sim/run/kernel_list.h"

#include "sim/workload/amx/kernel.h"
#include "sim/workload/cpu/cpu_kernel.h"
#include "units/amx/kernels/amx_kernels.h"
#include "units/ane/kernels/ane_kernels.h"
#include "units/cpu/kernels/cpu_kernels.h"
#include "units/gpu/kernels/gpu_kernels.h"

size_t kernel_list_count(void)
{
    return kernel_count() + gpu_kernel_count() + ane_kernel_count() + cpu_kernel_count() + cpu_kernels.count + amx_kernels.count;
}

struct kernel_info kernel_list_at(size_t index)
{
    if (index < kernel_count()) {
        return *kernel_at(index);
    }
    if (index < kernel_count() + gpu_kernel_count()) {
        const struct gpu_kernel_info *g = gpu_kernel_at(index - kernel_count());
        return (struct kernel_info){g->name, g->grammar, "gpu", g->precisions, g->text};
    }
    index -= kernel_count() + gpu_kernel_count();
    if (index >= ane_kernel_count() + cpu_kernel_count()) {
        const size_t place = index - ane_kernel_count() - cpu_kernel_count();
        const bool neon = place < cpu_kernels.count;
        const struct routine *r = neon ? cpu_kernels.row[place] : amx_kernels.row[place - cpu_kernels.count];
        return (struct kernel_info){r->operation->name, r->grammar, neon ? "cpu" : "amx", r->precisions, r->text};
    }
    if (index >= ane_kernel_count()) {
        return *cpu_kernel_at(index - ane_kernel_count());
    }
    const struct ane_kernel_info *a = ane_kernel_at(index);
    return (struct kernel_info){a->name, a->grammar, "ane", "f16, weights also i8 i4", a->text};
}
