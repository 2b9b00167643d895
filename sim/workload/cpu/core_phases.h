/* Which of the phases of a program a piece of its execution belongs to, by the blocks that ran in it.
 *
 * Pieces with nearly the same mix of blocks are one phase; a piece unlike all before begins a new one, until there is no room.
 * After Sherwood, Sair and Calder, "Phase tracking and prediction" (ISCA 2003).
 */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_CORE_PHASES_H
#define ORCHARD_SIM_WORKLOAD_CPU_CORE_PHASES_H

#include "units/cpu/cpu_trace.h"

#define CORE_PHASES        64
#define CORE_PHASE_BUCKETS 64

/* Zero-filled at first. */
struct core_phases {
    unsigned count;
    uint16_t mix[CORE_PHASES][CORE_PHASE_BUCKETS]; /* share of the instructions in each bucket of blocks, in 1/4096 */
    uint32_t piece[CORE_PHASE_BUCKETS];            /* of the present piece: instructions */
};

/* Notes a part of the present piece. */
void core_phases_note(struct core_phases *phases, const struct cpu_trace *trace);
/* Ends the piece and returns its phase. */
unsigned core_phases_of(struct core_phases *phases);

#endif
