#include "sim/api/record.h"

#include "sim/listen/db_writer.h"
#include "sim/listen/perfetto_listener.h"
#include "sim/listen/progress.h"
#include "sim/report/run_events.h"
#include "sim/trace/trace_recorder.h"

static bool subscribe(const struct cmd_record *r, struct event_bus *bus, struct db_writer *writer, struct progress *progress)
{
    return event_bus_subscribe(bus, &(struct event_listener){db_writer_on_event, writer, false}) &&
           event_bus_subscribe(bus, &(struct event_listener){progress_on_event, progress, true}) &&
           (!r->perfetto || event_bus_subscribe(bus, &(struct event_listener){perfetto_listener_on_event, r->perfetto, false})) &&
           (!r->trace || event_bus_subscribe(bus, &(struct event_listener){trace_recorder_on_event, r->trace, false}));
}

bool cmd_record_run(const struct cmd_record *record, const struct chip *chip, cmd_record_work *work, void *subject,
                    uint64_t number, struct run_result *result, struct orch_error *error)
{
    const struct cmd_context *const c = record->context;
    struct event_bus *const bus = event_bus_create();
    struct db_writer *const writer = db_writer_create(record->db);
    struct progress *const progress = progress_create(c->err, c->common.quiet);
    int64_t chip_row;
    bool ok = bus && writer && progress && subscribe(record, bus, writer, progress);

    if (!ok)
        orch_no_memory(error);
    ok = ok && db_put_chip(record->db, chip, &chip_row, error) && work(subject, bus, number, result, error) &&
         db_writer_result(writer, number, &result->run_id, error);
    progress_free(progress);
    db_writer_free(writer);
    event_bus_free(bus);
    return ok;
}

bool cmd_record_found(const struct cmd_record *record, int64_t run_id, uint64_t number, struct orch_error *error)
{
    const struct event_listener to = {perfetto_listener_on_event, record->perfetto, false};
    return !record->perfetto || run_events(record->db, run_id, number, &to, error);
}
