#include "sim/listen/db_writer_internal.h"

#include "isa/array_count.h"
#include "sim/base/returned.h"
#include "sim/db/db_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- what is known when a run begins ---- */

void db_writer_head_free(struct run_head *h)
{
    char *const texts[] = {h->workload, h->chip_id,   h->chip_hash, h->program_name, h->program_kind, h->program_hash, h->device,
                           h->unit,     h->precision, h->detail,    h->mode,         h->options,      h->version,      h->host};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        free(texts[i]);
}

/* Makes a name that no other run has, on any machine. */
static void make_uid(struct run_head *h)
{
    uint8_t noise[16] = {0};
    char process[256];
    struct content_hash hash;
    if (getrandom(noise, sizeof noise, 0) < 0)
        memset(noise, 0, sizeof noise); /* the time and the process still differ */
    db_process_identity(process, sizeof process);
    content_hash_begin(&hash);
    content_hash_add_text(&hash, h->config_hash);
    content_hash_add_text(&hash, h->started);
    content_hash_add_text(&hash, process);
    content_hash_add_bytes(&hash, noise, sizeof noise);
    content_hash_end(&hash, h->uid);
}

bool db_writer_head_fill(struct run_head *h, const struct event_run_begin *b)
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

/* ---- the row ---- */

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

bool db_writer_insert_run(struct orch_db *db, const struct run_head *h, int64_t *run_id, struct orch_error *error)
{
    int64_t chip, program;
    char process[256];
    db_process_identity(process, sizeof process);
    if (!put_chip(db, h, &chip, error) || !put_program(db, h, &program, error))
        return false;
    /* SQL has no unsigned integers: a seed beyond 2^63 - 1 becomes negative but keeps all its bits. */
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

/* What a called function returned, for those who ask with SQL; NULL when none was called. */
static bool bind_returned(sqlite3_stmt *statement, int *index, const struct run_result *result)
{
    char type[100], value[400];
    const bool any = result && returned_get(result, type, sizeof type, value, sizeof value);
    const int first = sqlite3_bind_text(statement, (*index)++, any ? type : NULL, -1, SQLITE_TRANSIENT);
    return first == SQLITE_OK && sqlite3_bind_text(statement, (*index)++, any ? value : NULL, -1, SQLITE_TRANSIENT) == SQLITE_OK;
}

static bool bind_result(sqlite3_stmt *statement, int *index, const struct run_result *result)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < run_text_field_count(); i++) {
        const char *const text = result ? run_text_of(result, run_text_field(i)) : NULL;
        code |= sqlite3_bind_text(statement, (*index)++, text, -1, SQLITE_STATIC);
    }
    for (size_t i = 0; i < run_number_field_count(); i++) {
        const double number = result ? run_number_of(result, run_number_field(i)) : (double)NAN;
        code |= isnan(number) ? sqlite3_bind_null(statement, *index) : sqlite3_bind_double(statement, *index, number);
        (*index)++;
    }
    return code == SQLITE_OK && bind_returned(statement, index, result);
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
    snprintf(sql + used, size - (size_t)used, ", returned_type = ?, returned_value = ? WHERE id = ? AND status = 'running'");
}

bool db_writer_finish_run(struct orch_db *db, int64_t run_id, const struct event_run_end *end, struct orch_error *error)
{
    char sql[2048], now[32];
    finish_sql(sql, sizeof sql);
    db_timestamp(now, sizeof now);
    sqlite3_stmt *const statement = db_query(db, error, sql, "ttt", status_text(end->status), end->error, now);
    if (!statement)
        return false;
    int index = 4;
    bool ok = bind_result(statement, &index, end->result) && sqlite3_bind_int64(statement, index, run_id) == SQLITE_OK;
    ok = ok ? db_step(db, statement, error) == SQLITE_DONE : db_fail(db, error, "writing");
    sqlite3_finalize(statement);
    if (ok && sqlite3_changes(db->sqlite) != 1)
        return orch_fail(error, ORCH_USAGE, "database %s: another process took run %lld for dead and removed it", db_path(db),
                         (long long)run_id);
    return ok;
}
