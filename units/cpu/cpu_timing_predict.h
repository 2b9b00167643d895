/* Branch prediction: what a core would have guessed. Conditional branches are predicted by a small TAGE (a table of two-bit
 * counters below three tagged tables with increasing histories), indirect branches by their last target under recent history,
 * returns by a stack. The algorithm is Seznec's published one; Apple's is not known. Direct targets are always known.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_TIMING_PREDICT_H
#define ORCHARD_UNITS_CPU_CPU_TIMING_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_PREDICT_TABLES 3
#define CPU_RETURN_STACK   32

struct cpu_predict_entry {
    uint16_t tag;
    int8_t counter; /* -4..3, taken from 0 on */
    uint8_t useful;
};

/* A branch that was guessed right and changed nothing but the history: as long as nothing else changes, it does the same again.
 */
#define CPU_PREDICT_STEADY 512
struct cpu_predict_steady {
    uint64_t pc, history, changes;
    bool taken;
};

struct cpu_predict {
    uint32_t bits;
    uint64_t history; /* recent outcomes, newest in bit 0 */
    int8_t *base;     /* -2..1 */
    struct cpu_predict_entry *tagged[CPU_PREDICT_TABLES];
    uint64_t *target;
    uint64_t returns[CPU_RETURN_STACK];
    uint32_t returns_top;
    uint64_t changes; /* of the tables for conditional branches, so far; starts at 1 */
    struct cpu_predict_steady steady[CPU_PREDICT_STEADY];
};

bool cpu_predict_init(struct cpu_predict *predict, uint32_t bits);
void cpu_predict_release(struct cpu_predict *predict);

/* Each reports to the predictor what happened and returns whether the guess was right. */
bool cpu_predict_conditional(struct cpu_predict *predict, uint64_t pc, bool taken);
bool cpu_predict_indirect(struct cpu_predict *predict, uint64_t pc, uint64_t target);
bool cpu_predict_return(struct cpu_predict *predict, uint64_t target);
void cpu_predict_call(struct cpu_predict *predict, uint64_t return_address);

#endif
