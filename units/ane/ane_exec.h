/* Neural Engine, executing: runs the tasks of a program on buffers in simulated memory, exactly by the rules below.
 *
 * Arithmetic rules are parameters, each with its source; how the engine really groups additions is known from probes only
 * (sbryngelson/ane-guide, chapter 3). README.md says what is known and what is chosen.
 *
 *     struct ane_core *core = ane_core_create(NULL, 2 << 20);
 *     struct ane_request r = {.program = &program, .space = space};   // address and bytes of every base register it uses
 *     ok = ane_core_run(core, &r, 1, &counts, &fault);
 */
#ifndef ORCHARD_UNITS_ANE_ANE_EXEC_H
#define ORCHARD_UNITS_ANE_ANE_EXEC_H

#include "isa/ane/ane_coefficients.h"
#include "isa/ane/ane_program.h"
#include "units/ane/ane_params.inc"
#include "units/mem/mem_space.h"
#include "units/unit_fault.h"
#include "units/unit_params.h"

struct ane_numeric {
    ANE_NUMERIC(PARAM_FIELD)
};

/* What a run did, per task: counters for reports. The timing reads none of this. */
struct ane_exec_counts {
    uint64_t tasks, macs, elements, table_lookups, table_clamped;
    uint64_t source_bytes, result_bytes, coefficient_bytes;
};

/* M1: every rule as described above. */
const struct ane_numeric *ane_numeric_default(void);

struct ane_core;
/* Creates a core with tile memory and tables. l2_bytes: size of tile memory (2 MB). numeric NULL = the default. NULL when memory
 * is out. */
struct ane_core *ane_core_create(const struct ane_numeric *numeric, uint32_t l2_bytes);
void ane_core_free(struct ane_core *core);
/* Selects host kernels: "avx512", "avx2", "portable" or "reference"; NULL = the best. False when the host lacks them. All give
 * the same bits. */
bool ane_core_use(struct ane_core *core, const char *name);

/* One request. address[bar] is where the buffer of that base register lies, bytes[bar] its size (accesses beyond are faults). The
 * coefficients' BAR may be 0: the program's own bytes are then read. */
struct ane_request {
    const struct ane_program *program;
    struct mem_space *space;
    uint64_t address[ANE_BARS], bytes[ANE_BARS];
};
/* Runs all tasks in chain order. False on a fault: `fault` names the task (pc = offset of its descriptor) and the cause.
 * `threads` host threads are used; results do not depend on their number. */
bool ane_core_run(struct ane_core *core, const struct ane_request *request, unsigned threads, struct ane_exec_counts *counts,
                  struct unit_fault *fault);

#endif
