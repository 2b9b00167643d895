/* A small Linux for single-threaded static programs: enough system calls for a C library, and nothing of the host.
 *
 * There are no files (openat answers ENOENT), no signals are delivered and no threads start. Output on descriptors 1 and 2 goes
 * to the core's host callback. Time and random numbers repeat from run to run. A call that is not in the table of
 * cpu_system_calls.inc is a fault that names it; so is a signal that the program sends itself (abort).
 */
#ifndef ORCHARD_UNITS_CPU_CPU_SYSTEM_H
#define ORCHARD_UNITS_CPU_CPU_SYSTEM_H

#include "units/cpu/cpu_core.h"

struct cpu_linux;

struct cpu_linux_params {
    uint64_t heap_start; /* page-aligned; brk grows from here (cpu_image.end) */
    uint64_t map_top;    /* mmap hands out addresses below this one; 0 = up to the end of the space */
    uint32_t page_bytes; /* page size that the program was told (cpu_image.page_bytes) */
    uint64_t seed;       /* seed of getrandom */
};

/* `space` stays the caller's. NULL only when memory is out. */
struct cpu_linux *cpu_linux_create(struct mem_space *space, const struct cpu_linux_params *params);
void cpu_linux_free(struct cpu_linux *linux_system);

/* The system for cpu_core_set_system; valid as long as the cpu_linux. */
const struct cpu_system *cpu_linux_hook(const struct cpu_linux *linux_system);

#endif
