/* AMX, executing: the architectural state of one core inside an AMX block, and what each instruction does to it. Bit-exact; knows
 * nothing of time. Facts: isa/amx/amx_isa.h.
 *
 * The fast path may hold work back (loads are done at once, outer products later, in order per accumulator). Every function below
 * behaves as if all instructions so far had been executed one after another.
 */
#ifndef ORCHARD_UNITS_AMX_AMX_CORE_H
#define ORCHARD_UNITS_AMX_AMX_CORE_H

#include "isa/amx/amx_isa.h"
#include "units/amx/amx_passes.h"
#include "units/mem/mem_space.h"
#include "units/unit_fault.h"

struct amx_state {
    _Alignas(64) uint8_t x[512];
    _Alignas(64) uint8_t y[512];
    _Alignas(64) uint8_t z[64][64];
};

enum amx_path {
    AMX_PATH_FAST,      /* best kernels of this host, chosen at start */
    AMX_PATH_REFERENCE, /* plain C that follows the specification, one instruction at a time */
    AMX_PATH_PORTABLE   /* fast path with the portable vector-extension kernels (tests) */
};

struct amx_core;

/* `space` stays the caller's. A new core is disabled (before set). NULL only when memory is out. */
struct amx_core *amx_core_create(enum amx_gen gen, struct mem_space *space, enum amx_path path);
/* Creates a core with the kernel set of that name ("avx512fp16", "avx512", "avx2", "portable"). Also NULL when this host cannot
 * run the set or no set has the name. For tests and benchmarks. */
struct amx_core *amx_core_create_named(enum amx_gen gen, struct mem_space *space, const char *kernel_set);
void amx_core_free(struct amx_core *core);

/* Executes one instruction. For op 17 the operand is the immediate (0 set, 1 clr). Returns false when it faults: *fault is then
 * filled (pc is left to the caller) and no state has changed. */
bool amx_core_execute(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault);

/* Executes a run of instructions as if each went through amx_core_execute, but faster. Returns how many were executed, fewer than
 * `count` when the next one faults (*fault as above). */
size_t amx_core_execute_list(struct amx_core *core, const uint8_t *op, const uint64_t *operand, size_t count,
                             struct unit_fault *fault);

/* The same for a loop. Returns false when an instruction faults; those before it were executed. */
bool amx_core_execute_passes(struct amx_core *core, const struct amx_passes *passes, struct unit_fault *fault);

bool amx_core_enabled(const struct amx_core *core);
/* Finishes everything that is held back, so that simulated memory and state are up to date. */
void amx_core_finish(struct amx_core *core);
void amx_core_read_state(struct amx_core *core, struct amx_state *out);
/* Writes the whole state and enables the unit. */
void amx_core_write_state(struct amx_core *core, const struct amx_state *in);

/* Name of the kernel set in use: "avx512fp16", "avx512", "avx2", "portable", "reference". */
const char *amx_core_path_name(const struct amx_core *core);

#endif
