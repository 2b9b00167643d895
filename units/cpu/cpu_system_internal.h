/* Shared by the files of the simulated Linux only. */
#ifndef ORCHARD_UNITS_CPU_CPU_SYSTEM_INTERNAL_H
#define ORCHARD_UNITS_CPU_CPU_SYSTEM_INTERNAL_H

#include "units/cpu/cpu_system.h"

struct cpu_linux {
    struct mem_space *space;
    struct cpu_linux_params params;
    struct cpu_system hook;
    uint64_t brk, heap_mapped; /* current break; end of the pages mapped for it */
    uint64_t mmap_hint;        /* pages above are mostly in use: the search for free ones starts here */
    uint8_t *owned;            /* by page: handed out by mmap, even without permissions */
    uint64_t random_state;
    uint64_t slept_ns;
};

/* A call that is being handled. */
struct cpu_linux_call {
    struct cpu_linux *system;
    struct cpu_core *core;
    uint64_t arg[6];
    bool stop; /* the program ends: by exit (exit_code) or by a fault */
    int exit_code;
    struct unit_fault *fault;
};

/* The handlers of all calls. Each returns what goes to x0: a value, or a negated errno of Linux. */
#define CALL(number, name, handler) int64_t handler(struct cpu_linux_call *c);
#include "units/cpu/cpu_system_calls.inc"
#undef CALL

/* The program's memory as the host sees it, NULL where the program may not read. */
const uint8_t *cpu_linux_readable(const struct cpu_linux_call *c, uint64_t addr, uint64_t bytes);
/* Copies at least one byte to the program's memory. Returns 0 or -L_EFAULT. */
int64_t cpu_linux_give(const struct cpu_linux_call *c, uint64_t addr, const void *from, size_t bytes);
/* The program's time: that of its core plus what it slept. */
uint64_t cpu_linux_now_ns(const struct cpu_linux_call *c);

/* Errors of Linux on AArch64 (asm-generic/errno-base.h), written out because the host's may differ. */
enum {
    L_ENOENT = 2,
    L_EIO = 5,
    L_EBADF = 9,
    L_ENOMEM = 12,
    L_EFAULT = 14,
    L_EINVAL = 22,
    L_ENOTTY = 25,
    L_ESPIPE = 29,
    L_ERANGE = 34,
    L_ENOSYS = 38
};

#endif
