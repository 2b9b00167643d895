/* Progress of a run as events, for listeners that ask for it. */
#ifndef ORCHARD_SIM_RUN_RUN_PROGRESS_H
#define ORCHARD_SIM_RUN_RUN_PROGRESS_H

#include "sim/base/event.h"
#include "sim/base/work_progress.h"

struct run_progress {
    struct work_progress work;
    struct event_bus *bus;
    uint64_t number;                /* of the run */
    const char *name;               /* of what runs */
    char doing[32];                 /* now */
    double fraction;                /* last told */
    struct work_state state;        /* last told */
    double begun_s, part_s, last_s; /* of the host: when the run and what is done now began, and of the last event */
};

/* What the work of a run is to tell; NULL when the bus is NULL or nobody on it asks. The name must outlive *progress. */
const struct work_progress *run_progress_begin(struct run_progress *progress, struct event_bus *bus, uint64_t number,
                                               const char *name);

#endif
