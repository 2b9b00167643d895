/* The sample of a program whose threads are on several cores: all cores are timed at the same time, and all skip at the same
 * time.
 *
 * What a core skips reaches caches and predictors at once, and its clock goes on by what that takes at the pace that work of this
 * kind has had on this core, beside the others that were timed with it. So cores that wait for one another meet as they would
 * have, and what they share (AMX blocks, L2, SLC, DRAM) is in the paces. When a window tells that the pace before it was another
 * one, what the clock is off by is spread over the next gap. Which parts are timed is core_sample.h's matter, of the work of all
 * cores together.
 */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_CREW_SAMPLE_H
#define ORCHARD_SIM_WORKLOAD_CPU_CREW_SAMPLE_H

#include "sim/workload/core_sample.h"
#include "units/cpu/cpu_trace.h"

struct crew_sample;

struct crew_sample *crew_sample_create(const struct core_sample_shape *shape); /* NULL: memory is out */
void crew_sample_free(struct crew_sample *sample);
/* The next core, `number` from 0 on; it takes part from now on. */
void crew_sample_join(struct crew_sample *sample, unsigned number, struct soc_core *core);
/* A stretch of core `number` has run and was fed to its timing: true when it is to be timed, else it was skipped. */
bool crew_sample_ran(struct crew_sample *sample, unsigned number, const struct cpu_trace *trace, double instructions);
/* Its timing may have come to the end of what was fed. */
void crew_sample_settle(struct crew_sample *sample, unsigned number);
/* After the program has ended; `last` is the core that ended it. Nothing skipped: `sampled` is false. */
struct core_sampled crew_sample_end(struct crew_sample *sample, unsigned last);

#endif
