/* Replays a recorded run as events, for listeners that were not there when it ran. */
#ifndef ORCHARD_SIM_REPORT_RUN_EVENTS_H
#define ORCHARD_SIM_REPORT_RUN_EVENTS_H

#include "sim/db/db.h"
#include "sim/base/event.h"

/* Emits run_begin, operators (launch, op_begin, op_end; without activity), transfers, samples, changes of clock, faults and
 * run_end as run `number`. Each kind comes in order of time. */
bool run_events(struct orch_db *db, int64_t run_id, uint64_t number, const struct event_listener *to, struct orch_error *error);

#endif
