/* Runs the program of a prepared core in Unicorn instead: the same memory, registers, system calls and coprocessor, but another
 * processor. An oracle for whole programs. Unicorn is under the GPL, so it stays in tests.
 */
#ifndef ORCHARD_TESTS_GUEST_HOST_UNICORN_MACHINE_H
#define ORCHARD_TESTS_GUEST_HOST_UNICORN_MACHINE_H

#include "units/cpu/cpu_core.h"

struct machine {
    struct mem_space *space;
    struct cpu_core *core;                     /* registers are read from it and written back to it */
    const struct cpu_system *system;           /* may be NULL */
    const struct cpu_coprocessor *coprocessor; /* may be NULL */
    uint64_t timeout_us;                       /* 0 = none */
};

/* Runs until exit, fault or return to CPU_RETURN_ADDRESS. Afterwards the core holds the final registers and pc (of the faulting
 * instruction after a fault). In *fault, kind and pc are filled, and address for loads and stores. pc is 0 after a store without
 * permission, where Unicorn does not know it. BUDGET means that time ran out. */
enum cpu_stop machine_run(const struct machine *m, int *exit_code, struct unit_fault *fault);

#endif
