/* Periods of loops seen before: what a period does to the state of a core's timing, given the memory system's answers to its
 * loads.
 *
 * A state is everything that can matter later, counted from the last start: two equal states behave alike from there on. A tree
 * hangs on each state and pattern of instructions: "the first load is requested after so many ticks; if the answer takes so many,
 * the next request comes then; ...; and the period ends in that state". While trees are followed, the core's tables are out of
 * date; its latest start, stalls and counts are current. (Idea: E. Schnarr and J. Larus, "Fast Out-Of-Order Processor Simulation
 * Using Memoization", 1998.)
 */
#ifndef ORCHARD_UNITS_AMX_AMX_TIMING_PERIOD_H
#define ORCHARD_UNITS_AMX_AMX_TIMING_PERIOD_H

#include "units/amx/amx_timing_state.h"

#define AMX_PERIOD_MAX AMX_PASS_MAX

struct amx_periods;
struct amx_period_state;

/* The instructions of a period, without their pointers. */
struct amx_pattern {
    struct amx_pattern *next;
    enum amx_gen gen;
    int64_t step; /* between two arrivals */
    uint32_t count, loads;
    uint8_t op[AMX_PERIOD_MAX];
    uint64_t fields[AMX_PERIOD_MAX];
    uint8_t load_at[AMX_PERIOD_MAX]; /* places of the loads */
};

/* A load of a period: the time of its request, and the answers that lead the same way. */
struct amx_period_load {
    int64_t asked, earliest, latest;
};

/* What a period did in the end; times count from the last start before it. */
struct amx_period_way {
    const struct amx_period_load *load; /* of the pattern's loads */
    int64_t head, arrived, finished;
    int64_t stall[AMX_STALL_COUNT];
    struct amx_period_state *to;
};

void amx_periods_free(struct amx_periods *periods);
/* Forgets what was seen so far, because it no longer holds (another clock). */
void amx_periods_forget(struct amx_block *block);

/* NULL when memory is out. All pointers are valid until the next call of amx_period_pattern. */
const struct amx_pattern *amx_period_pattern(struct amx_block *block, const struct amx_batch *batch, uint32_t from,
                                             uint32_t period, int64_t step);
/* Returns the present state of a core; `arrived` is when its next instruction may arrive. NULL when memory is out or the core has
 * not started enough instructions. */
struct amx_period_state *amx_period_state_of(struct amx_block *block, const struct amx_timing_core *core, int64_t arrived);
/* Sets the core's tables to those of a state. */
void amx_period_restore(struct amx_block *block, struct amx_timing_core *core, const struct amx_period_state *state,
                        int64_t arrived);

/* Sets only the times of the block's load path. */
void amx_period_rest(const struct amx_block *block, struct amx_timing_core *core, const struct amx_period_state *state,
                     int64_t arrived);

/* Sends the requests of the pattern from this state, as far as they are not answered yet (block->answer), and writes them to the
 * block's record. NULL when something is new; the answers so far are kept for the instructions that are then sent one by one. */
const struct amx_period_way *amx_period_follow(struct amx_block *block, struct amx_timing_core *core,
                                               const struct amx_period_state *state, const struct amx_pattern *pattern,
                                               const uint64_t *operand);
/* Adds the period in the block's record, which led from `from` (last start: `head`) to where the way says. */
void amx_period_add(struct amx_block *block, struct amx_period_state *from, int64_t head, const struct amx_pattern *pattern,
                    const struct amx_period_way *way);

#endif
