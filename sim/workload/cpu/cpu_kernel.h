/* Kernels of CPU cores: streams through memory as NEON programs, which are generated for each request and run like any other
 * AArch64 program. Of several cores, each works on an equal part of the arrays.
 *
 * Operands and generated numbers are those of the GPU kernels of the same names, so that results are equal, too.
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
/* Parses WORKLOAD in the precision asked for (NULL = f32). False with exit code 2 and a text that says what to type instead. */
bool cpu_kernel_open(struct cpu_kernel *kernel, const char *workload, const char *precision, struct orch_error *error);
const char *cpu_kernel_precision(const struct cpu_kernel *kernel);

/* Generates the program: an ELF file of *size bytes with one function, which the caller frees. NULL with *error. */
uint8_t *cpu_kernel_elf(const struct cpu_kernel *kernel, size_t *size, struct orch_error *error);

/* The part of the arrays that one core works on. */
struct cpu_kernel_part {
    uint64_t first, count; /* elements */
    uint64_t a, b, out;    /* simulated addresses of this part */
};
/* Allocates and fills the arrays of part `number` of `cores`, and sets the registers that the function reads. */
bool cpu_kernel_prepare(const struct cpu_kernel *kernel, unsigned number, unsigned cores, struct mem_space *space,
                        struct cpu_core *core, uint64_t seed, struct cpu_kernel_part *part, struct orch_error *error);
/* Extends a checksum by the results of a part. */
uint64_t cpu_kernel_checksum(const struct cpu_kernel *kernel, const struct cpu_kernel_part *part, const struct mem_space *space,
                             uint64_t checksum);

#endif
