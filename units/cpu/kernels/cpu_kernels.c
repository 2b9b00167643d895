#include "units/cpu/kernels/cpu_kernels.h"

#include "isa/array_count.h"
#include "units/cpu/kernels/cpu_kernel_family.h"

static const struct routine *const rows[] = {
#define X(kernel) &cpu_kernel_##kernel,
    CPU_KERNELS(X)
#undef X
};
const struct arguments_unit cpu_kernel_neon = {"neon", 16};
const struct routine_library cpu_kernels = {"the CPU", rows, ARRAY_COUNT(rows)};

/* make neon-kernels. Code as words in the order of the host: orchard's hosts are little-endian. */
static const uint64_t words[] = {
#include "units/cpu/kernels/cpu_kernels_code.inc"
};

const void *cpu_kernels_code(size_t *bytes)
{
    *bytes = sizeof words;
    return words;
}
