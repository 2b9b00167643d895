#include "sim/api/record.h"

#include "sim/api/events.h"
#include "sim/listen/db_writer.h"
#include "sim/listen/perfetto_listener.h"
#include "sim/listen/progress_writer.h"
#include "sim/report/run_events.h"
#include "sim/trace/trace_recorder.h"

static bool subscribe(const struct api_record *r, struct event_bus *bus, struct db_writer *writer,
                      struct progress_writer *progress, struct event_teller *teller)
{
    const struct orchard_session *const session = r->context->session;
    return event_bus_subscribe(bus, &(struct event_listener){db_writer_on_event, writer, false}) &&
           event_bus_subscribe(bus, &(struct event_listener){progress_writer_on_event, progress, true}) &&
           ((!session->event && !session->progress) ||
            event_bus_subscribe(bus, &(struct event_listener){event_teller_on_event, teller, session->progress != NULL})) &&
           (!r->perfetto || event_bus_subscribe(bus, &(struct event_listener){perfetto_listener_on_event, r->perfetto, false})) &&
           (!r->trace || event_bus_subscribe(bus, &(struct event_listener){trace_recorder_on_event, r->trace, false}));
}

bool api_record_run(const struct api_record *record, const struct chip *chip, api_record_work *work, void *subject,
                    uint64_t number, struct run_result *result, struct orch_error *error)
{
    const struct api_context *const c = record->context;
    struct event_bus *const bus = event_bus_create();
    struct db_writer *const writer = db_writer_create(record->db);
    struct progress_writer *const progress = progress_writer_create(record->db);
    struct event_teller *const teller = event_teller_create(c->session);
    int64_t chip_row;
    bool ok = bus && writer && progress && teller && subscribe(record, bus, writer, progress, teller);

    if (!ok)
        orch_no_memory(error);
    ok = ok && db_put_chip(record->db, chip, &chip_row, error) && work(subject, bus, number, result, error) &&
         db_writer_result(writer, number, &result->run_id, error);
    if (ok && !event_teller_is_whole(teller))
        ok = orch_no_memory(error);
    event_teller_free(teller);
    progress_writer_free(progress);
    db_writer_free(writer);
    event_bus_free(bus);
    return ok;
}

bool api_record_found(const struct api_record *record, int64_t run_id, uint64_t number, struct orch_error *error)
{
    const struct api_context *const c = record->context;
    const struct event_listener perfetto = {perfetto_listener_on_event, record->perfetto, false};
    if (record->perfetto && !run_events(record->db, run_id, number, &perfetto, error))
        return false;
    if (!c->session->event)
        return true;
    struct event_teller *const teller = event_teller_create(c->session);
    const struct event_listener user = {event_teller_on_event, teller, true};
    bool ok = teller ? run_events(record->db, run_id, number, &user, error) : orch_no_memory(error);
    if (ok && !event_teller_is_whole(teller))
        ok = orch_no_memory(error);
    event_teller_free(teller);
    return ok;
}
