/* One AArch64 core that executes user-mode programs: a pre-decoding interpreter driven by isa/a64.
 *
 * Executing leaves a trace (cpu_trace.h), which cpu_timing.h reads; this side knows nothing of time.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_CORE_H
#define ORCHARD_UNITS_CPU_CPU_CORE_H

#include "units/cpu/cpu_trace.h"
#include "units/mem/mem_space.h"
#include "units/unit_fault.h"

struct cpu_core;

/* The coprocessor that executes AMX words. The operand of op 17 is its immediate. Returning false means that *fault is filled. */
struct cpu_coprocessor {
    bool (*execute)(void *context, unsigned op, uint64_t operand, struct unit_fault *fault);
    void (*finish)(void *context); /* makes simulated memory current before the CPU touches it after stores; may be NULL */
    void *context;
};

/* Takes the program's output. Returns true when it was written. */
struct cpu_host {
    bool (*write)(void *context, int fd, const void *bytes, size_t count); /* captured output */
    void *context;
};

/* What an SVC does: it reads and writes registers and memory of `core`, whose pc is already past the SVC. True continues the
 * program. False with fault->kind UNIT_FAULT_NONE ends it with *exit_code; any other kind is a fault at the SVC. */
struct cpu_system {
    bool (*call)(void *context, struct cpu_core *core, int *exit_code, struct unit_fault *fault);
    void *context;
};

/* The simulated clock, in nanoseconds since the program started. A core that has a clock and records a trace stops (as if the
 * budget were used up) before an instruction that may read the clock, unless that instruction is the first of the trace:
 * everything before it has then been handed over and can have been timed. */
struct cpu_clock {
    uint64_t (*now_ns)(void *context);
    void *context;
};

enum cpu_stop { CPU_STOP_BUDGET, CPU_STOP_EXIT, CPU_STOP_RETURN, CPU_STOP_FAULT, CPU_STOP_PAUSE };

/* Everything that a program sees of a core but its memory: what a thread takes along from core to core. */
struct cpu_context {
    uint64_t x[32]; /* 31 = SP */
    uint8_t v[32][16];
    uint64_t pc, tls;
    uint32_t nzcv, fpcr, fpsr;
};

struct cpu_core *cpu_core_create(struct mem_space *space);
void cpu_core_free(struct cpu_core *core);
/* Whether the core has I8MM and BF16 (M2 and later); without it such words are undefined. To be called before it runs. */
void cpu_core_set_v86(struct cpu_core *core, bool has_v86);
/* From now on the core executes only what decides which instructions run and what they access: vector registers, and memory that
 * is written from them, have no values. The trace is that of a whole execution. Where a number of a vector register would decide,
 * the run ends with a fault and cpu_core_strayed is true: what was executed so far is then worth nothing. Memory that vectors or
 * a coprocessor wrote must not steer; kernels of the libraries keep that. To be called before the core runs. */
void cpu_core_steer(struct cpu_core *core);
bool cpu_core_strayed(const struct cpu_core *core);
void cpu_core_set_coprocessor(struct cpu_core *core, const struct cpu_coprocessor *coprocessor);
void cpu_core_set_host(struct cpu_core *core, const struct cpu_host *host);
const struct cpu_host *cpu_core_host(const struct cpu_core *core);
/* Without a system, every SVC is a fault of kind TRAP. */
void cpu_core_set_system(struct cpu_core *core, const struct cpu_system *system);
/* Without a clock, an instruction takes a nanosecond. */
void cpu_core_set_clock(struct cpu_core *core, const struct cpu_clock *clock);
uint64_t cpu_core_now_ns(const struct cpu_core *core);

uint64_t cpu_core_x(const struct cpu_core *core, unsigned n); /* 0..30, 31 = SP */
void cpu_core_set_x(struct cpu_core *core, unsigned n, uint64_t value);
void cpu_core_v(const struct cpu_core *core, unsigned n, uint8_t bytes[16]);
void cpu_core_set_v(struct cpu_core *core, unsigned n, const uint8_t bytes[16]);
uint64_t cpu_core_pc(const struct cpu_core *core);
void cpu_core_set_pc(struct cpu_core *core, uint64_t pc);
uint32_t cpu_core_nzcv(const struct cpu_core *core); /* bits 31..28 */
void cpu_core_set_nzcv(struct cpu_core *core, uint32_t nzcv);
uint32_t cpu_core_fpcr(const struct cpu_core *core);
void cpu_core_set_fpcr(struct cpu_core *core, uint32_t fpcr);
uint64_t cpu_core_tls(const struct cpu_core *core); /* tpidr_el0 */
void cpu_core_set_tls(struct cpu_core *core, uint64_t tls);
void cpu_core_save(struct cpu_core *core, struct cpu_context *context);
/* Drops the reservation of an exclusive load, too. */
void cpu_core_load(struct cpu_core *core, const struct cpu_context *context);
/* During a system call: the run ends behind it with CPU_STOP_PAUSE. */
void cpu_core_pause(struct cpu_core *core);
/* Drops the reservation of an exclusive load: another core may have written there. */
void cpu_core_clear_exclusive(struct cpu_core *core);
/* Cores of one address space: code that one of them changes is forgotten by all. `core` must be alone. */
void cpu_core_join(struct cpu_core *core, struct cpu_core *other);
/* Must be called after code in [addr, addr+bytes) was changed, unmapped or protected by anything but the core's own stores. */
void cpu_core_forget_code(struct cpu_core *core, uint64_t addr, uint64_t bytes);

/* The address that means "return to orchard": a called function that returns there stops with CPU_STOP_RETURN. */
#define CPU_RETURN_ADDRESS UINT64_C(0xfffffffffffff000)

/* Runs until the trace is full, until `budget` instructions or up to a block more have run, or until the program stops. Blocks
 * and addresses of the trace are set here, from its beginning; only the arrays and capacities are the caller's. With trace ==
 * NULL nothing is recorded, which is fastest. On CPU_STOP_FAULT *fault names pc and reason, and the state is that before the
 * faulting instruction.
 */
enum cpu_stop cpu_core_run(struct cpu_core *core, uint64_t budget, struct cpu_trace *trace, struct unit_fault *fault);

uint64_t cpu_core_instructions(const struct cpu_core *core);
int cpu_core_exit_code(const struct cpu_core *core);
/* Block number `id` (for timing tables), or NULL when there is none. */
const struct cpu_block *cpu_core_block(const struct cpu_core *core, uint32_t id);
uint32_t cpu_core_block_count(const struct cpu_core *core);

#endif
