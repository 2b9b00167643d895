/* Runs of a verb and everything that listens to them: the database, the callbacks of the session, a Chrome trace, a trace. */
#ifndef ORCHARD_SIM_API_RECORD_H
#define ORCHARD_SIM_API_RECORD_H

#include "sim/api/api.h"
#include "sim/db/db.h"
#include "sim/base/event.h"
#include "sim/base/run_result.h"

struct perfetto_listener;
struct trace_recorder;

struct api_record {
    struct api_context *context;
    struct orch_db *db;
    struct perfetto_listener *perfetto; /* NULL = no Chrome trace is wanted */
    struct trace_recorder *trace;       /* NULL = no trace is wanted */
};

/* Simulates and emits the events of run `number`. */
typedef bool api_record_work(void *subject, struct event_bus *bus, uint64_t number, struct run_result *result,
                             struct orch_error *error);

/* Does the work with all listeners on the bus; result->run_id becomes the row of the run. The values of the chip are recorded
 * with it. */
bool api_record_run(const struct api_record *record, const struct chip *chip, api_record_work *work, void *subject,
                    uint64_t number, struct run_result *result, struct orch_error *error);
/* Tells a run that was found in the database to the listeners that would have heard it. */
bool api_record_found(const struct api_record *record, int64_t run_id, uint64_t number, struct orch_error *error);

#endif
