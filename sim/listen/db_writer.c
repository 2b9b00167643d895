#include "sim/listen/db_writer_internal.h"

#include "sim/db/db_internal.h"

#include <stdlib.h>

struct db_writer {
    struct orch_db *db;
    struct open_run *runs; /* newest first */
    size_t chunk;
};

struct db_writer *db_writer_create(struct orch_db *db)
{
    struct db_writer *const w = calloc(1, sizeof *w);
    if (w)
        *w = (struct db_writer){db, NULL, DB_WRITER_CHUNK};
    return w;
}

void db_writer_set_chunk(struct db_writer *writer, size_t rows)
{
    writer->chunk = rows;
}

static struct open_run *find_run(const struct db_writer *w, uint64_t run)
{
    struct open_run *r = w->runs;
    while (r && r->run != run)
        r = r->next;
    return r;
}

/* ---- writing ---- */

/* Writes what has been gathered and, when `end` is given, finishes the run, in one transaction. */
static bool flush(struct db_writer *w, struct open_run *r, const struct event_run_end *end)
{
    int64_t run_id = r->run_id;
    if (!db_begin(w->db, &r->error))
        return false;
    if ((run_id || db_writer_insert_run(w->db, &r->head, &run_id, &r->error)) &&
        row_buffer_write(r->rows, w->db, run_id, &r->error) && (!end || db_writer_finish_run(w->db, run_id, end, &r->error)) &&
        db_commit(w->db, &r->error)) {
        r->run_id = run_id;
        row_buffer_clear(r->rows);
        return true;
    }
    db_rollback(w->db);
    return false;
}

/* The row is there from the beginning: a process that is killed cannot write one. */
static void begin_run(struct db_writer *w, const struct event *event)
{
    struct open_run *const r = calloc(1, sizeof *r);
    if (!r)
        return; /* db_writer_result does not find the run and reports that */
    r->run = event->run;
    r->next = w->runs;
    w->runs = r;
    r->rows = row_buffer_create();
    if (!r->rows || !db_writer_head_fill(&r->head, &event->run_begin))
        orch_fail(&r->error, ORCH_INTERNAL, "recording a run: out of memory");
    else
        flush(w, r, NULL);
}

static void end_run(struct db_writer *w, struct open_run *r, const struct event_run_end *end)
{
    r->ended = true;
    if (!r->error.exit_code && !db_writer_add_result(r->rows, end->result))
        orch_fail(&r->error, ORCH_INTERNAL, "recording a run: out of memory");
    if (!r->error.exit_code)
        flush(w, r, end);
    row_buffer_free(r->rows);
    r->rows = NULL;
}

/* ---- the listener ---- */

void db_writer_on_event(void *writer, const struct event *event)
{
    struct db_writer *const w = writer;
    if (event->kind == EVENT_RUN_BEGIN) {
        begin_run(w, event);
        return;
    }
    struct open_run *const r = find_run(w, event->run);
    if (!r || r->ended)
        return;
    if (event->kind == EVENT_RUN_END) {
        end_run(w, r, &event->run_end);
        return;
    }
    if (r->error.exit_code)
        return; /* the run goes on; db_writer_result reports the error */
    if (!db_writer_add_row(r, event))
        orch_fail(&r->error, ORCH_INTERNAL, "recording a run: out of memory");
    else if (row_buffer_count(r->rows) >= w->chunk)
        flush(w, r, NULL);
}

bool db_writer_result(const struct db_writer *writer, uint64_t run, int64_t *run_id, struct orch_error *error)
{
    const struct open_run *const r = find_run(writer, run);
    *run_id = 0;
    if (!r)
        return orch_fail(error, ORCH_INTERNAL, "recording a run: it was not begun, or memory is short");
    if (r->error.exit_code) {
        if (error)
            *error = r->error;
        return false;
    }
    if (!r->ended)
        return orch_fail(error, ORCH_INTERNAL, "recording a run: it has not ended");
    *run_id = r->run_id;
    return true;
}

/* A run that is written in chunks and will never be complete. */
static void give_up(struct db_writer *w, const struct open_run *r)
{
    if (!r->run_id || (r->ended && !r->error.exit_code))
        return;
    db_abandon_run(w->db, r->run_id, r->error.exit_code ? r->error.text : "the run was abandoned", NULL);
}

void db_writer_free(struct db_writer *writer)
{
    if (!writer)
        return;
    while (writer->runs) {
        struct open_run *const r = writer->runs;
        writer->runs = r->next;
        give_up(writer, r);
        db_writer_head_free(&r->head);
        row_buffer_free(r->rows);
        free(r);
    }
    free(writer);
}
