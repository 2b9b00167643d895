/* A small Linux for static programs: enough system calls for C libraries and runtimes, threads, signals, and no file of the host
 * but those that are mounted (cpu_sandbox.h).
 *
 * Output on descriptors 1 and 2 goes to the core's host callback. Time and random numbers repeat from run to run. A call that is
 * not in the table of cpu_system_calls.inc is a fault that names it; so is a signal that the program sends itself and does not
 * handle (abort).
 *
 * A process of one thread needs nothing but the hook: every call is over when the hook returns. With several threads the caller
 * says which cores there are and when which of them runs:
 *
 *     cpu_linux_add_core(l, core)                       each core; the first one has the program's first thread
 *     cpu_core_run(core ...) == CPU_STOP_PAUSE          the thread waits, ended, or made another one
 *     cpu_linux_settle(l, core number)                  takes the thread from the core if it goes on no more
 *     cpu_linux_enter(l, core number, ...)              puts the next ready thread on an idle core
 */
#ifndef ORCHARD_UNITS_CPU_CPU_SYSTEM_H
#define ORCHARD_UNITS_CPU_CPU_SYSTEM_H

#include "units/cpu/cpu_core.h"

#define CPU_LINUX_CORES 64

struct cpu_linux;
struct cpu_mount;

struct cpu_linux_params {
    uint64_t heap_start; /* page-aligned; brk grows from here (cpu_image.end) */
    uint64_t map_top;    /* mmap hands out addresses below this one; 0 = up to the end of the space */
    uint32_t page_bytes; /* page size that the program was told (cpu_image.page_bytes) */
    uint64_t seed;       /* seed of getrandom */
    unsigned cores;      /* that the program is told of; 0 = 1 */
    const struct cpu_mount *mounts;
    size_t mount_count;
    const void *input; /* what standard input has; stays the caller's */
    size_t input_bytes;
    const char *name; /* of the program, as /proc/self/exe tells; NULL = "/program" */
};

/* `space` stays the caller's. NULL when memory is out (`why` is empty then) or when a mount cannot be opened. */
struct cpu_linux *cpu_linux_create(struct mem_space *space, const struct cpu_linux_params *params, char *why, size_t why_bytes);
void cpu_linux_free(struct cpu_linux *linux_system);

/* The system for cpu_core_set_system; valid as long as the cpu_linux. */
const struct cpu_system *cpu_linux_hook(const struct cpu_linux *linux_system);

/* The first path that the program asked for and no mount has, apart from /proc, /sys, /dev and /etc, which runtimes look into;
 * NULL = none. */
const char *cpu_linux_missing(const struct cpu_linux *linux_system);

/* ---- several threads ---- */

/* Announces a core of the same space, with hook and host set. Returns its number. */
unsigned cpu_linux_add_core(struct cpu_linux *linux_system, struct cpu_core *core);
unsigned cpu_linux_alive(const struct cpu_linux *linux_system);   /* threads that have not ended */
unsigned cpu_linux_started(const struct cpu_linux *linux_system); /* threads in all */
/* Number of the thread on a core; 0 = idle. */
int cpu_linux_on(const struct cpu_linux *linux_system, unsigned core);
/* The caller's own of that thread, NULL at first. */
void **cpu_linux_unit(struct cpu_linux *linux_system, unsigned core);
/* The caller's own of all threads, one by one until NULL comes with *more false. */
void *cpu_linux_unit_at(struct cpu_linux *linux_system, unsigned index, bool *more);

/* Takes the thread from the core if it waits or has ended. */
void cpu_linux_settle(struct cpu_linux *linux_system, unsigned core);
/* Takes the thread from the core though it might go on. */
void cpu_linux_preempt(struct cpu_linux *linux_system, unsigned core, uint64_t now_ns);
/* The thread that is next: since when it is ready, and the core that it ran on last. False = none is ready. */
bool cpu_linux_next(const struct cpu_linux *linux_system, uint64_t *since_ns, unsigned *last_core);
/* Puts it on an idle core. */
void cpu_linux_enter(struct cpu_linux *linux_system, unsigned core);
/* When the next timer or the next wait is over; UINT64_MAX = never. Ends those that are over by `now_ns`. False: a signal ends
 * the program, *fault says which. Times are those of the clock of a core. */
uint64_t cpu_linux_due_ns(const struct cpu_linux *linux_system);
bool cpu_linux_pass(struct cpu_linux *linux_system, uint64_t now_ns, struct unit_fault *fault);
/* How long the only thread of a program has waited so far: by as much clocks of cores are behind what the program reads. */
uint64_t cpu_linux_slept_ns(const struct cpu_linux *linux_system);
/* To be called before a thread runs on: lets it handle signals. False as above. */
bool cpu_linux_signals(struct cpu_linux *linux_system, unsigned core, struct unit_fault *fault);
/* Turns a fault of a thread into a signal if it handles that one: then the thread goes on in its handler. */
bool cpu_linux_handle_fault(struct cpu_linux *linux_system, struct cpu_core *core, const struct unit_fault *fault);
/* Says what every thread waits for, when none can go on. */
void cpu_linux_explain_deadlock(const struct cpu_linux *linux_system, struct unit_fault *fault);
/* Whether the program stopped because its only thread waits for what never comes. */
bool cpu_linux_stuck(const struct cpu_linux *linux_system);

/* Thread by thread, until false. */
struct cpu_linux_waiter {
    bool waits;
    char text[80];
    const struct cpu_context *context;
};
bool cpu_linux_waiter(const struct cpu_linux *linux_system, unsigned index, struct cpu_linux_waiter *waiter);

/* ---- the table of calls, for documents ---- */
struct cpu_linux_call_row {
    unsigned number;
    const char *name, *handler;
};
const struct cpu_linux_call_row *cpu_linux_calls(size_t *count);

#endif
