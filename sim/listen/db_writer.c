#include "sim/listen/db_writer.h"

#include "isa/array_count.h"
#include "sim/base/content_hash.h"
#include "sim/db/db_internal.h"
#include "sim/db/row_buffer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Columns of table run that are known at run_begin. */
struct run_head {
    char config_hash[DB_HASH_SIZE], uid[CONTENT_HASH_SIZE], started[32];
    char *workload, *chip_id, *chip_hash, *program_name, *program_kind, *program_hash;
    char *device, *unit, *precision, *detail, *mode, *options, *version, *host;
    uint64_t seed;
    bool chip_modified;
};

struct open_run {
    uint64_t run; /* of struct event */
    struct run_head head;
    struct row_buffer *rows;
    int64_t seq;    /* of transfers, changes of clock, faults */
    int64_t run_id; /* 0 = not in the file yet */
    bool ended;
    struct orch_error error;
    struct open_run *next;
};

struct db_writer {
    struct orch_db *db;
    struct open_run *runs; /* newest first */
    size_t chunk;
};

struct db_writer *db_writer_create(struct orch_db *db)
{
    struct db_writer *w = calloc(1, sizeof *w);
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

static void free_head(struct run_head *h)
{
    char *const texts[] = {h->workload, h->chip_id,   h->chip_hash, h->program_name, h->program_kind, h->program_hash, h->device,
                           h->unit,     h->precision, h->detail,    h->mode,         h->options,      h->version,      h->host};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        free(texts[i]);
}

/* --- run_begin ------------------------------------------------------------------------------------------------- */

/* A name that no other run anywhere has. */
static void make_uid(struct run_head *h)
{
    uint8_t noise[16] = {0};
    char process[256];
    struct content_hash hash;
    if (getrandom(noise, sizeof noise, 0) < 0)
        memset(noise, 0, sizeof noise); /* time and process differ still */
    db_process_identity(process, sizeof process);
    content_hash_begin(&hash);
    content_hash_add_text(&hash, h->config_hash);
    content_hash_add_text(&hash, h->started);
    content_hash_add_text(&hash, process);
    content_hash_add_bytes(&hash, noise, sizeof noise);
    content_hash_end(&hash, h->uid);
}

static bool copy_head(struct run_head *h, const struct event_run_begin *b)
{
    char host[256];
    db_host_name(host, sizeof host);
    const struct {
        char **to;
        const char *from;
    } texts[] = {
        {&h->workload, b->workload ? b->workload : ""},
        {&h->chip_id, b->chip_id},
        {&h->chip_hash, b->chip_hash},
        {&h->program_name, b->program_name},
        {&h->program_kind, b->program_kind},
        {&h->program_hash, b->program_hash},
        {&h->device, b->device},
        {&h->unit, b->unit},
        {&h->precision, b->precision},
        {&h->detail, b->detail},
        {&h->mode, b->mode},
        {&h->options, b->options},
        {&h->version, b->version ? b->version : ORCHARD_VERSION},
        /* The column says which machine the writing process is on, whatever the event calls it. */
        {&h->host, host},
    };
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        if (!run_result_set_text(texts[i].to, texts[i].from))
            return false;
    h->seed = b->seed;
    h->chip_modified = b->chip_modified;
    db_config_hash(b, h->config_hash);
    db_timestamp(h->started, sizeof h->started);
    make_uid(h);
    return true;
}

static void begin_run(struct db_writer *w, const struct event *event)
{
    struct open_run *r = calloc(1, sizeof *r);
    if (!r)
        return; /* db_writer_result does not find the run and says so */
    r->run = event->run;
    r->next = w->runs;
    w->runs = r;
    r->rows = row_buffer_create();
    if (!r->rows || !copy_head(&r->head, &event->run_begin))
        orch_fail(&r->error, ORCH_INTERNAL, "recording a run: out of memory");
}

/* --- writing --------------------------------------------------------------------------------------------------- */

static bool put_chip(struct orch_db *db, const struct run_head *h, int64_t *id, struct orch_error *error)
{
    *id = 0;
    return !h->chip_hash || (db_exec(db, error, "INSERT OR IGNORE INTO chip (hash, chip, modified) VALUES (?, ?, ?)", "tti",
                                     h->chip_hash, h->chip_id ? h->chip_id : "", (int64_t)h->chip_modified) &&
                             db_number(db, error, 0, id, "SELECT id FROM chip WHERE hash = ?", "t", h->chip_hash));
}

static bool put_program(struct orch_db *db, const struct run_head *h, int64_t *id, struct orch_error *error)
{
    *id = 0;
    return !h->program_hash || (db_exec(db, error, "INSERT OR IGNORE INTO program (hash, name, kind) VALUES (?, ?, ?)", "ttt",
                                        h->program_hash, h->program_name, h->program_kind) &&
                                db_number(db, error, 0, id, "SELECT id FROM program WHERE hash = ?", "t", h->program_hash));
}

/* The run row, status 'running', inside the caller's transaction. */
static bool insert_run(struct orch_db *db, const struct run_head *h, int64_t *run_id, struct orch_error *error)
{
    int64_t chip, program;
    char process[256];
    db_process_identity(process, sizeof process);
    if (!put_chip(db, h, &chip, error) || !put_program(db, h, &program, error))
        return false;
    /* SQL has no unsigned integers: seeds beyond 2^63 - 1 come out negative, with all bits kept. */
    if (!db_exec(db, error,
                 "INSERT INTO run (uid, status, config_hash, workload, chip_id, program_id, chip, device, unit, precision, "
                 "detail, mode, options, version, seed, host, process, started) "
                 "VALUES (?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 "tttnntttttttti"
                 "ttt",
                 h->uid, h->config_hash, h->workload, chip, program, h->chip_id, h->device, h->unit, h->precision, h->detail,
                 h->mode, h->options, h->version, (int64_t)h->seed, h->host, process, h->started))
        return false;
    *run_id = sqlite3_last_insert_rowid(db->sqlite);
    return true;
}

static const char *status_text(enum event_run_status status)
{
    return status == EVENT_RUN_DONE ? "done" : status == EVENT_RUN_FAILED ? "failed" : "interrupted";
}

static bool bind_result(sqlite3_stmt *statement, int *index, const struct run_result *result)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < run_text_field_count(); i++) {
        const char *text = result ? run_text_of(result, run_text_field(i)) : NULL;
        code |= sqlite3_bind_text(statement, (*index)++, text, -1, SQLITE_STATIC);
    }
    for (size_t i = 0; i < run_number_field_count(); i++) {
        const double number = result ? run_number_of(result, run_number_field(i)) : (double)NAN;
        code |= isnan(number) ? sqlite3_bind_null(statement, *index) : sqlite3_bind_double(statement, *index, number);
        (*index)++;
    }
    return code == SQLITE_OK;
}

/* "UPDATE run SET status = ?, ..., chip = coalesce(?, chip), ..., seconds = ? ... WHERE id = ? AND status = 'running'" */
static void finish_sql(char *sql, size_t size)
{
    int used = snprintf(sql, size, "UPDATE run SET status = ?, error = ?, finished = ?, process = NULL");
    for (size_t i = 0; i < run_text_field_count(); i++)
        used +=
            snprintf(sql + used, size - (size_t)used, ", %s = coalesce(?, %s)", run_text_field(i)->name, run_text_field(i)->name);
    for (size_t i = 0; i < run_number_field_count(); i++)
        used += snprintf(sql + used, size - (size_t)used, ", %s = ?", run_number_field(i)->name);
    snprintf(sql + used, size - (size_t)used, " WHERE id = ? AND status = 'running'");
}

static bool finish_run(struct orch_db *db, int64_t run_id, const struct event_run_end *end, struct orch_error *error)
{
    char sql[2048], now[32];
    finish_sql(sql, sizeof sql);
    db_timestamp(now, sizeof now);
    sqlite3_stmt *statement = db_query(db, error, sql, "ttt", status_text(end->status), end->error, now);
    if (!statement)
        return false;
    int index = 4;
    bool ok = bind_result(statement, &index, end->result) && sqlite3_bind_int64(statement, index, run_id) == SQLITE_OK;
    ok = ok ? db_step(db, statement, error) == SQLITE_DONE : db_fail(db, error, "writing");
    sqlite3_finalize(statement);
    if (ok && sqlite3_changes(db->sqlite) != 1)
        return orch_fail(error, ORCH_INTERNAL, "database %s: another process took run %lld for dead and removed it", db_path(db),
                         (long long)run_id);
    return ok;
}

/* Writes what has been gathered; with `end`, also finishes the run. One transaction. */
static bool flush(struct db_writer *w, struct open_run *r, const struct event_run_end *end)
{
    int64_t run_id = r->run_id;
    if (!db_begin(w->db, &r->error))
        return false;
    if ((run_id || insert_run(w->db, &r->head, &run_id, &r->error)) && row_buffer_write(r->rows, w->db, run_id, &r->error) &&
        (!end || finish_run(w->db, run_id, end, &r->error)) && db_commit(w->db, &r->error)) {
        r->run_id = run_id;
        row_buffer_clear(r->rows);
        return true;
    }
    db_rollback(w->db);
    return false;
}

/* --- events to rows -------------------------------------------------------------------------------------------- */

static bool add_values(struct row_buffer *rows, enum row_table table, const char *kind, int64_t op,
                       const struct event_values *values)
{
    bool ok = true;
    for (size_t i = 0; ok && i < values->count; i++) {
        const struct event_value *v = &values->item[i];
        if (isfinite(v->value))
            ok = row_buffer_add(rows, table, op, kind, v->name, v->unit, v->value);
    }
    return ok;
}

static bool add_activity(struct row_buffer *rows, int64_t op, const struct activity *activity)
{
    bool ok = true;
    for (int i = 0; ok && activity && i < ACT_COUNT; i++)
        if (activity->count[i])
            ok = row_buffer_add(rows, ROW_ACTIVITY, op, "activity", activity_name((enum activity_event)i),
                                activity_unit((enum activity_event)i), (int64_t)activity->count[i]);
    return ok;
}

static bool add_op(struct row_buffer *rows, const struct event_op_end *e)
{
    const struct event_op *o = &e->op;
    const int64_t op = (int64_t)o->op;
    return row_buffer_add(rows, ROW_OP, op, o->name, o->kernel, o->shape, o->precision, orch_part_name(o->place.part),
                          (int64_t)o->place.instance, o->submitted_ns, o->started_ns, e->seconds, e->cycles, e->macs, e->flops,
                          (int64_t)(e->repeats ? e->repeats : 1)) &&
           add_activity(rows, op, e->activity) && add_values(rows, ROW_STALL, "stall", op, &e->stalls) &&
           add_values(rows, ROW_COUNTER, "counter", op, &e->counters);
}

static bool add_transfer(struct open_run *r, const struct event *e)
{
    const struct event_mem_transfer *t = &e->mem_transfer;
    return row_buffer_add(r->rows, ROW_TRANSFER, ++r->seq, e->time_ns, t->what, orch_part_name(t->from.part),
                          (int64_t)t->from.instance, orch_part_name(t->to.part), (int64_t)t->to.instance, (int64_t)t->bytes,
                          t->seconds);
}

static bool add_sample(struct open_run *r, const struct event *e)
{
    const struct event_sample *s = &e->sample;
    return row_buffer_add(r->rows, ROW_SAMPLE, "sample", s->series, s->unit, orch_part_name(s->place.part),
                          (int64_t)s->place.instance, e->time_ns, s->value);
}

static bool add_dvfs_change(struct open_run *r, const struct event *e)
{
    const struct event_dvfs_change *d = &e->dvfs_change;
    return row_buffer_add(r->rows, ROW_DVFS_CHANGE, ++r->seq, e->time_ns, orch_part_name(d->place.part),
                          (int64_t)d->place.instance, d->from_mhz, d->to_mhz, d->volts, d->reason);
}

static void hex64(uint64_t number, char text[24])
{
    snprintf(text, 24, "%016llx", (unsigned long long)number);
}

static bool add_fault(struct open_run *r, const struct event *e)
{
    const struct event_fault *f = &e->fault;
    char pc[24], address[24];
    hex64(f->pc, pc);
    hex64(f->address, address);
    return row_buffer_add(r->rows, ROW_FAULT, ++r->seq, e->time_ns, orch_part_name(f->place.part), (int64_t)f->place.instance,
                          f->fault, pc, address, f->text);
}

/* --- run_end --------------------------------------------------------------------------------------------------- */

static bool add_parts(struct row_buffer *rows, const struct run_result *result)
{
    bool ok = true;
    for (int i = 0; ok && i < PART_COUNT; i++) {
        const char *part = orch_part_name((enum orch_part)i);
        const double busy = i < RUN_UTILISATION_COUNT ? result->utilisation[i] : (double)NAN;
        const double joules = run_values_get(&result->joules_by, part);
        if (!isnan(busy) || !isnan(joules))
            ok = row_buffer_add(rows, ROW_PART, part, busy, joules);
    }
    /* Energy of something that is no part of the table: kept under the name it was given. */
    for (size_t i = 0; ok && i < result->joules_by.count; i++) {
        const struct run_named_value *v = &result->joules_by.item[i];
        bool known = false;
        for (int p = 0; p < PART_COUNT; p++)
            known = known || strcmp(orch_part_name((enum orch_part)p), v->name) == 0;
        if (!known)
            ok = row_buffer_add(rows, ROW_PART, v->name, (double)NAN, v->value);
    }
    return ok;
}

static bool add_named(struct row_buffer *rows, enum row_table table, const char *kind, const char *unit,
                      const struct run_values *values)
{
    bool ok = true;
    for (size_t i = 0; ok && i < values->count; i++)
        if (isfinite(values->item[i].value))
            ok = row_buffer_add(rows, table, (int64_t)0, kind, values->item[i].name, unit, values->item[i].value);
    return ok;
}

static bool add_lists(struct row_buffer *rows, const struct run_result *result)
{
    bool ok = true;
    for (size_t i = 0; ok && i < result->placement.count; i++) {
        const struct run_placement *p = &result->placement.item[i];
        ok = row_buffer_add(rows, ROW_PLACEMENT, (int64_t)i + 1, p->op, p->unit, p->kernel, p->why);
    }
    for (size_t i = 0; ok && i < result->assumptions.count; i++) {
        const struct run_assumption *a = &result->assumptions.item[i];
        ok = row_buffer_add(rows, ROW_ASSUMPTION, (int64_t)i + 1, a->key, a->kind, a->effect);
    }
    for (size_t i = 0; ok && i < result->checksum.count; i++) {
        char digits[24];
        hex64(result->checksum.item[i].fnv1a64, digits);
        ok = row_buffer_add(rows, ROW_CHECKSUM, (int64_t)i + 1, result->checksum.item[i].output, digits);
    }
    return ok;
}

static bool add_result(struct row_buffer *rows, const struct run_result *result)
{
    return !result || (add_parts(rows, result) && add_lists(rows, result) &&
                       add_named(rows, ROW_STALL, "stall", "cycles", &result->stalls) &&
                       add_named(rows, ROW_COUNTER, "counter", "", &result->counters));
}

static void end_run(struct db_writer *w, struct open_run *r, const struct event_run_end *end)
{
    r->ended = true;
    if (!r->error.exit_code && !add_result(r->rows, end->result))
        orch_fail(&r->error, ORCH_INTERNAL, "recording a run: out of memory");
    if (!r->error.exit_code)
        flush(w, r, end);
    row_buffer_free(r->rows);
    r->rows = NULL;
}

/* --- the listener ---------------------------------------------------------------------------------------------- */

static bool add_row(struct open_run *r, const struct event *event)
{
    switch (event->kind) {
    case EVENT_OP_END: return add_op(r->rows, &event->op_end);
    case EVENT_MEM_TRANSFER: return add_transfer(r, event);
    case EVENT_SAMPLE: return add_sample(r, event);
    case EVENT_DVFS_CHANGE: return add_dvfs_change(r, event);
    case EVENT_FAULT: return add_fault(r, event);
    default: return true; /* launch and op_begin are repeated in op_end */
    }
}

void db_writer_on_event(void *writer, const struct event *event)
{
    struct db_writer *w = writer;
    if (event->kind == EVENT_RUN_BEGIN) {
        begin_run(w, event);
        return;
    }
    struct open_run *r = find_run(w, event->run);
    if (!r || r->ended)
        return;
    if (event->kind == EVENT_RUN_END) {
        end_run(w, r, &event->run_end);
        return;
    }
    if (r->error.exit_code)
        return; /* the run goes on; db_writer_result tells */
    if (!add_row(r, event))
        orch_fail(&r->error, ORCH_INTERNAL, "recording a run: out of memory");
    else if (row_buffer_count(r->rows) >= w->chunk)
        flush(w, r, NULL);
}

bool db_writer_result(const struct db_writer *writer, uint64_t run, int64_t *run_id, struct orch_error *error)
{
    const struct open_run *r = find_run(writer, run);
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

/* Rows of a run in chunks that will never be complete. */
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
        struct open_run *r = writer->runs;
        writer->runs = r->next;
        give_up(writer, r);
        free_head(&r->head);
        row_buffer_free(r->rows);
        free(r);
    }
    free(writer);
}
