#include "sim/listen/progress_writer.h"

#include "sim/base/host_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST_SECONDS 0.3 /* of the host: shorter runs are not worth a row */
#define EVERY_SECONDS 1.0 /* of the host, between two renewals */

struct progress_writer {
    struct orch_db *db;
    int64_t row; /* 0 = none */
    char workload[256], chip[64], unit[32], precision[32];
    double ops, op_s;
    double seconds; /* simulated, at the end of the last operation */
    double written_s;
};

struct progress_writer *progress_writer_create(struct orch_db *db)
{
    struct progress_writer *const w = calloc(1, sizeof *w);
    if (w)
        w->db = db;
    return w;
}

void progress_writer_free(struct progress_writer *writer)
{
    if (!writer)
        return;
    db_end_progress(writer->db, &writer->row);
    free(writer);
}

static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

static void begin(struct progress_writer *w, const struct event_run_begin *b)
{
    db_end_progress(w->db, &w->row);
    copy(w->workload, sizeof w->workload, b->workload);
    copy(w->chip, sizeof w->chip, b->chip_id);
    copy(w->unit, sizeof w->unit, b->unit);
    copy(w->precision, sizeof w->precision, b->precision);
    w->ops = w->op_s = w->seconds = w->written_s = 0;
}

static const char *given(const char *text)
{
    return *text ? text : NULL;
}

static void renew(struct progress_writer *w, const struct event *event)
{
    const double now_s = host_seconds();
    if (event->progress.host_seconds < LEAST_SECONDS || (w->row && now_s - w->written_s < EVERY_SECONDS))
        return;
    w->written_s = now_s;
    const double told_s = event->time_ns * 1e-9;
    const struct work_state *const state = &event->progress.state;
    db_put_progress(w->db, &w->row,
                    &(struct db_progress){.kind = "run",
                                          .workload = w->workload,
                                          .chip = given(w->chip),
                                          .unit = given(w->unit),
                                          .precision = given(w->precision),
                                          .doing = event->progress.what,
                                          .fraction = event->progress.fraction,
                                          .seconds = told_s > w->seconds ? told_s : w->seconds,
                                          .host_seconds = event->progress.host_seconds,
                                          .ops = w->ops,
                                          .op_seconds = w->op_s,
                                          .points = NAN,
                                          .points_done = NAN,
                                          .watts = state->watts,
                                          .celsius = state->celsius,
                                          .dram_gbps = state->dram_gbps,
                                          .utilisation = state->utilisation});
}

static void count(struct progress_writer *w, const struct event *event)
{
    w->ops += (double)event->op_end.repeats;
    w->op_s += isfinite(event->op_end.seconds) ? event->op_end.seconds : 0;
    if (event->time_ns * 1e-9 > w->seconds)
        w->seconds = event->time_ns * 1e-9;
}

void progress_writer_on_event(void *writer, const struct event *event)
{
    struct progress_writer *const w = writer;
    switch (event->kind) {
    case EVENT_RUN_BEGIN: begin(w, &event->run_begin); break;
    case EVENT_OP_END: count(w, event); break;
    case EVENT_PROGRESS: renew(w, event); break;
    case EVENT_RUN_END: db_end_progress(w->db, &w->row); break;
    default: break;
    }
}
