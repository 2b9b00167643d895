/* What a recorded workload would do on another chip.
 *
 * What orchard recorded itself and is one run of a few workloads at once is run again as it was (run.h, together.h), on the other
 * chip. Anything else is streamed: each launch is answered by a study (study.h) of its kernel on the target; what has none there,
 * and estimates, take as long as a copy of their bytes. Launches then meet on queues:
 *
 * - A unit's stream does one launch after another; GPU and Neural Engine one of all their streams.
 * - A launch starts when those that it waits for are done, with its launch overhead behind any of another unit; within its unit,
 * and behind its submission, the overhead passes beside what runs before.
 * - dependency: it is submitted at once. arrival: when it was recorded to be.
 * - Launches that run together share DRAM bandwidth max-min fairly.
 * - The queue is TRACE_REPLAY_WINDOW launches deep: that many may be submitted beyond the oldest that is not done. Memory does
 * not grow with the trace.
 */
#ifndef ORCHARD_SIM_TRACE_TRACE_REPLAY_H
#define ORCHARD_SIM_TRACE_TRACE_REPLAY_H

#include "sim/db/db.h"
#include "sim/run/run.h"

#define TRACE_REPLAY_WINDOW 65536
/* Operators of a streamed replay that are told as events one by one; totals have all. */
#define TRACE_REPLAY_EVENTS 100000

enum trace_timing { TRACE_TIMING_DEPENDENCY, TRACE_TIMING_ARRIVAL };

struct trace_replay_request {
    const char *path;
    bool force;
    uint64_t run; /* which one; 0 = the only one */
    enum trace_timing timing;
    const char *unit; /* for every launch; NULL = its own */
    const char *chip_name;
    const struct chip *chip;
    const struct chip_db *chips;
    struct chip_overrides sets; /* that the chip was opened with */
    struct orch_db *db;         /* of characteristics; NULL = none */
    struct run_request common;  /* threads, seed */
};

struct trace_replay_account {
    bool again;                  /* run as it was; the rest is of streamed replays */
    uint64_t launches, works[3]; /* kernel, estimate, none: as they were replayed */
    double seconds[2];           /* busy: of kernels, of estimates */
    uint64_t distinct;           /* kernels that were asked for */
    uint64_t lost_records;       /* with force */
    char missing[200];           /* the first kernel that the target does not have, and why; "" = none */
    double recorded_seconds;     /* 0 = not told */
};

/* The result must be initialised. Emits the run's events; bus may be NULL. */
bool trace_replay(const struct trace_replay_request *request, struct event_bus *bus, uint64_t run_number,
                  struct run_result *result, struct trace_replay_account *account, struct orch_error *error);

#endif
