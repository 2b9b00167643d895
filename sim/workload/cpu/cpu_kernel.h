/* Kernels of CPU cores: streams through memory as NEON programs, written as instruction words for each request and run like any
 * other AArch64 program. Several cores take an equal part of the arrays each.
 *
 * Operands, results and generated numbers are those of the GPU kernels of the same name, so the results are equal, too.
 */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_CPU_KERNEL_H
#define ORCHARD_SIM_WORKLOAD_CPU_CPU_KERNEL_H

#include "sim/base/error.h"
#include "sim/workload/kernel_info.h"
#include "units/cpu/cpu_core.h"
#include "units/mem/mem_space.h"

#define CPU_KERNEL_ENTRY "stream" /* the function in the file of cpu_kernel_elf */

size_t cpu_kernel_count(void);
const struct kernel_info *cpu_kernel_at(size_t index);
/* Does the library have a kernel of that name ("copy:...")? */
bool cpu_kernel_has(const char *workload);

struct cpu_kernel {
    const struct kernel_info *info;
    enum cpu_stream { CPU_STREAM_COPY, CPU_STREAM_SCALE, CPU_STREAM_ADD, CPU_STREAM_TRIAD } operation;
    bool is_f64;
    uint64_t bytes; /* of each array */
    double scalar;
    double flops, min_bytes;
    char text[128]; /* canonical: equal requests have equal texts */
};
/* Parses WORKLOAD with the asked precision (NULL = f32). False with exit code 2 and what to type instead. */
bool cpu_kernel_open(struct cpu_kernel *kernel, const char *workload, const char *precision, struct orch_error *error);
const char *cpu_kernel_precision(const struct cpu_kernel *kernel);

/* The program: an ELF file with one function. The caller frees it. */
uint8_t *cpu_kernel_elf(const struct cpu_kernel *kernel, size_t *size, struct orch_error *error);

/* The part of one core of `cores`. */
struct cpu_kernel_part {
    uint64_t first, count; /* elements */
    uint64_t a, b, out;    /* simulated addresses of this part */
};
/* Allocates and fills the arrays of part `number` and sets the registers that the function takes. */
bool cpu_kernel_prepare(const struct cpu_kernel *kernel, unsigned number, unsigned cores, struct mem_space *space,
                        struct cpu_core *core, uint64_t seed, struct cpu_kernel_part *part, struct orch_error *error);
/* Goes on with a checksum over the results of a part. */
uint64_t cpu_kernel_checksum(const struct cpu_kernel *kernel, const struct cpu_kernel_part *part, const struct mem_space *space,
                             uint64_t checksum);

#endif
