/* Replays a recorded workload on another chip.
 *
 * A trace that orchard recorded itself, of one run of a few workloads at once, is replayed by running the workloads again on
 * the other chip (run.h, together.h). Anything else is streamed: each launch costs what a study (study.h) of its kernel answers
 * for the target; launches without a kernel there, and estimates, take as long as a copy of their bytes. Launches then meet on
 * queues:
 *
 * - A stream of a unit runs one launch after another; GPU and Neural Engine run one at a time over all streams.
 * - A launch starts when the launches it waits for are done, after its launch overhead if any of those ran on another unit;
 * within its unit, the overhead overlaps with what runs before it.
 * - With dependency timing it is submitted at once; with arrival timing, when it was recorded to be.
 * - Launches that run at the same time share DRAM bandwidth max-min fairly.
 * - At most TRACE_REPLAY_WINDOW launches are submitted beyond the oldest that is not done. Memory does not grow with the trace.
 */
#ifndef ORCHARD_SIM_TRACE_TRACE_REPLAY_H
#define ORCHARD_SIM_TRACE_TRACE_REPLAY_H

#include "sim/db/db.h"
#include "sim/run/run.h"

#define TRACE_REPLAY_WINDOW 65536
/* Operators of a streamed replay that are emitted as events, one by one; totals cover all. */
#define TRACE_REPLAY_EVENTS 100000

enum trace_timing { TRACE_TIMING_DEPENDENCY, TRACE_TIMING_ARRIVAL };

struct trace_replay_request {
    const char *path;
    bool force;
    uint64_t run; /* which run of the trace; 0 = the only one */
    enum trace_timing timing;
    const char *unit; /* unit of every launch; NULL = the recorded one */
    const char *chip_name;
    const struct chip *chip;
    const struct chip_db *chips;
    struct chip_overrides sets; /* the overrides that the chip was opened with */
    struct orch_db *db;         /* holds known characteristics; NULL = none */
    struct run_request common;  /* threads and seed are used */
};

struct trace_replay_account {
    bool again;                  /* the workloads were run again; the other fields belong to streamed replays */
    uint64_t launches, works[3]; /* works: kernels, estimates, launches without work, as they were replayed */
    double seconds[2];           /* busy seconds of kernels and of estimates */
    uint64_t distinct;           /* distinct kernels that were simulated */
    uint64_t lost_records;       /* lost in a damaged file, with force */
    char missing[200];           /* the first kernel that the target lacks, with the reason; "" = none */
    double recorded_seconds;     /* 0 = not recorded */
};

/* Emits the events of the run unless bus is NULL. The result must be initialised. */
bool trace_replay(const struct trace_replay_request *request, struct event_bus *bus, uint64_t run_number,
                  struct run_result *result, struct trace_replay_account *account, struct orch_error *error);

#endif
