/* Loops of a program that are leapt over once they are steady: where a loop's passes took the same number of instructions and the
 * same time again and again, its next ones run without being timed and last as long. After each leap, one pass is timed so that
 * what was skipped leaves no trace, and the next one tells whether the pace is still the same; else the loop must become steady
 * anew. What is not steady is timed as ever.
 *
 * A loop is known by its head, a block that a branch backwards leads to: markers in code where phases repeat, after Lau, Perelman
 * and Calder, "Selecting software phase markers with code structure analysis" (CGO 2006). Passes of inner loops are short and are
 * looked at several at a time. How often a loop went around last time bounds its leaps.
 */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_CORE_LEAP_H
#define ORCHARD_SIM_WORKLOAD_CPU_CORE_LEAP_H

#include "sim/workload/core_sample.h"
#include "units/cpu/cpu_trace.h"

struct core_leap;

struct core_leap *core_leap_create(void); /* NULL: memory is out */
void core_leap_free(struct core_leap *leap);

/* The blocks [from, result) of a trace are to be skipped if core_leap_skips, else timed. Then core_leap_arrive is called
 * with it and what the core shows, if it lies before the trace's end. `fresh` when block `from` has not been arrived at. */
uint32_t core_leap_next(struct core_leap *leap, const struct cpu_trace *trace, uint32_t from, bool fresh);
bool core_leap_skips(const struct core_leap *leap);
void core_leap_arrive(struct core_leap *leap, const struct cpu_trace *trace, uint32_t at, const struct core_reading *shown);

/* A leap under way ends here, where the core shows this. */
void core_leap_stop(struct core_leap *leap, const struct core_reading *shown);

/* What has to be added to what the core shows, and the instructions that were leapt over. */
const struct core_reading *core_leap_extra(const struct core_leap *leap);
double core_leap_work(const struct core_leap *leap);

#endif
