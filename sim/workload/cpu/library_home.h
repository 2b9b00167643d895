/* A program that stays: kernels of the NEON library are executed one after another in one memory, on operands that lie there. It
 * has no time; it is for values alone, of work that calls kernels by the thousand. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_LIBRARY_HOME_H
#define ORCHARD_SIM_WORKLOAD_CPU_LIBRARY_HOME_H

#include "sim/workload/cpu/cpu_library.h"

struct library_home;

/* `memory_bytes` may be in use at most; 0 = no limit. NULL = *error. */
struct library_home *library_home_create(uint64_t memory_bytes, struct orch_error *error);
void library_home_free(struct library_home *home);
/* Where operands are placed. */
struct mem_space *library_home_space(const struct library_home *home);

/* Executes a kernel on one thread. `address` has its operands in their order, without those that are the kernel's own memory. */
bool library_home_run(struct library_home *home, const char *workload, const char *precision, const uint64_t *address,
                      unsigned count, struct orch_error *error);
/* The kernel that ran last: its shape, its work, what it is called. */
const struct cpu_library *library_home_kernel(const struct library_home *home);
uint64_t library_home_instructions(const struct library_home *home);

#endif
