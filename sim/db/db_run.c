/* Runs: hashes their configuration, finds them, reads them back, and cleans up after dead writers. */
#include "isa/array_count.h"
#include "sim/base/content_hash.h"
#include "sim/base/format.h"
#include "sim/db/db_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)DB_HASH_SIZE == (int)CONTENT_HASH_SIZE, "one size of hashes");

void db_config_hash(const struct event_run_begin *begin, char hash[DB_HASH_SIZE])
{
    const char *const texts[] = {begin->workload, begin->chip_id, begin->chip_hash, begin->program_hash,
                                 begin->device,   begin->unit,    begin->precision, begin->detail,
                                 begin->mode,     begin->options, begin->version};
    struct content_hash h;
    content_hash_begin(&h);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        content_hash_add_text(&h, texts[i]);
    content_hash_add_integer(&h, begin->seed);
    content_hash_end(&h, hash);
}

bool db_find_run(struct orch_db *db, const char *config_hash, int64_t *run_id, struct orch_error *error)
{
    return db_number(db, error, 0, run_id,
                     "SELECT id FROM run WHERE config_hash = ? AND status = 'done' ORDER BY id DESC LIMIT 1", "t", config_hash);
}

static bool resolve_uid(struct orch_db *db, const char *text, int64_t *run_id, struct orch_error *error)
{
    int64_t matches;
    if (!db_number(db, error, 0, &matches, "SELECT count(*) FROM run WHERE substr(uid, 1, length(?1)) = ?1", "t", text) ||
        !db_number(db, error, 0, run_id, "SELECT id FROM run WHERE substr(uid, 1, length(?1)) = ?1", "t", text))
        return false;
    if (matches > 1)
        return orch_fail(error, ORCH_USAGE, "run '%s' names %lld runs; give more digits", text, (long long)matches);
    return matches == 1 ||
           orch_fail(error, ORCH_USAGE, "no run '%.60s' in %.200s (`orchard db runs` lists them; last is the newest)", text,
                     db->path);
}

/* A run that was interrupted is worth a look, too. */
static bool none_finished(struct orch_db *db, struct orch_error *error)
{
    int64_t newest = 0;
    if (!db_number(db, error, 0, &newest, "SELECT max(id) FROM run", ""))
        return false;
    return newest
               ? orch_fail(error, ORCH_USAGE, "no finished run in %s; orchard report %lld shows what is recorded of the newest",
                           db->path, (long long)newest)
               : orch_fail(error, ORCH_USAGE, "no finished run in %s", db->path);
}

bool db_resolve_run(struct orch_db *db, const char *text, int64_t *run_id, struct orch_error *error)
{
    char *end;
    if (strcmp(text, "last") == 0) {
        if (!db_number(db, error, 0, run_id, "SELECT max(id) FROM run WHERE status = 'done'", ""))
            return false;
        return *run_id > 0 || none_finished(db, error);
    }
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end || strlen(text) > 18)
        return *text ? resolve_uid(db, text, run_id, error) : orch_fail(error, ORCH_USAGE, "the name of a run is empty");
    if (!db_number(db, error, 0, run_id, "SELECT id FROM run WHERE id = ?", "i", (int64_t)number))
        return false;
    return *run_id > 0 || resolve_uid(db, text, run_id, error);
}

/* "SELECT status, chip, ..., native_mac_share FROM run": all fields of run_result.h in the order of its tables. */
static void select_fields(char *sql, size_t size)
{
    int used = snprintf(sql, size, "SELECT status");
    for (size_t i = 0; i < run_text_field_count(); i++)
        used += snprintf(sql + used, size - (size_t)used, ", %s", run_text_field(i)->name);
    for (size_t i = 0; i < run_number_field_count(); i++)
        used += snprintf(sql + used, size - (size_t)used, ", %s", run_number_field(i)->name);
    snprintf(sql + used, size - (size_t)used, " FROM run WHERE id = ?");
}

static bool fields_of_row(sqlite3_stmt *row, struct run_result *result)
{
    int column = 1;
    char *base = (char *)result;
    for (size_t i = 0; i < run_text_field_count(); i++) {
        char *copy = NULL;
        if (!run_result_set_text(&copy, db_column_text(row, column++)))
            return false;
        memcpy(base + run_text_field(i)->offset, &copy, sizeof copy);
    }
    for (size_t i = 0; i < run_number_field_count(); i++) {
        const double number = db_column_number(row, column++);
        memcpy(base + run_number_field(i)->offset, &number, sizeof number);
    }
    return true;
}

static bool read_fields(struct orch_db *db, int64_t run_id, struct run_result *result, struct orch_error *error)
{
    char sql[2048];
    select_fields(sql, sizeof sql);
    sqlite3_stmt *row = db_query(db, error, sql, "i", run_id);
    if (!row)
        return false;
    const int code = db_step(db, row, error);
    bool ok = code == SQLITE_ROW;
    if (code == SQLITE_DONE)
        orch_fail(error, ORCH_USAGE, "no run %lld in %s", (long long)run_id, db->path);
    else if (ok && strcmp(db_column_text(row, 0), "done") != 0)
        ok = orch_fail(error, ORCH_USAGE, "run %lld in %s is %s, not done; orchard report %lld shows what is recorded of it",
                       (long long)run_id, db->path, db_column_text(row, 0), (long long)run_id);
    else if (ok && !fields_of_row(row, result))
        ok = orch_no_memory(error);
    sqlite3_finalize(row);
    return ok;
}

/* Puts one row of a list into the result; false when memory has run out. */
typedef bool take_row(sqlite3_stmt *row, struct run_result *result);

static bool take_part(sqlite3_stmt *row, struct run_result *result)
{
    const char *part = db_column_text(row, 0);
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        if (strcmp(orch_part_name((enum orch_part)i), part) == 0)
            result->utilisation[i] = db_column_number(row, 1);
    return sqlite3_column_type(row, 2) == SQLITE_NULL || run_values_set(&result->joules_by, part, sqlite3_column_double(row, 2));
}

static bool take_stall(sqlite3_stmt *row, struct run_result *result)
{
    return run_values_set(&result->stalls, db_column_text(row, 0), db_column_number(row, 1));
}

static bool take_counter(sqlite3_stmt *row, struct run_result *result)
{
    return run_values_set(&result->counters, db_column_text(row, 0), db_column_number(row, 1));
}

static bool take_placement(sqlite3_stmt *row, struct run_result *result)
{
    return run_placement_add(&result->placement, db_column_text(row, 0), db_column_text(row, 1), db_column_text(row, 2),
                             db_column_text(row, 3));
}

static bool take_assumption(sqlite3_stmt *row, struct run_result *result)
{
    return run_assumption_add(&result->assumptions, db_column_text(row, 0), db_column_text(row, 1), db_column_text(row, 2));
}

static bool take_checksum(sqlite3_stmt *row, struct run_result *result)
{
    return run_checksum_add(&result->checksum, db_column_text(row, 0), strtoull(db_column_text(row, 1), NULL, 16));
}

static const struct {
    const char *sql;
    take_row *take;
} lists[] = {
    {"SELECT part, utilisation, joules FROM run_part WHERE run_id = ? ORDER BY part", take_part},
    {"SELECT m.name, t.value FROM stall t JOIN metric m ON m.id = t.metric_id WHERE t.run_id = ? AND t.op = 0 "
     "ORDER BY t.value DESC, m.name",
     take_stall},
    {"SELECT m.name, t.value FROM counter t JOIN metric m ON m.id = t.metric_id WHERE t.run_id = ? AND t.op = 0 "
     "ORDER BY m.name",
     take_counter},
    {"SELECT op, unit, kernel, why FROM v_placement WHERE run_id = ? ORDER BY seq", take_placement},
    {"SELECT key, kind, effect FROM assumption WHERE run_id = ? ORDER BY seq", take_assumption},
    {"SELECT output, fnv1a64 FROM checksum WHERE run_id = ? ORDER BY seq", take_checksum},
};

bool db_read_run(struct orch_db *db, int64_t run_id, struct run_result *result, struct orch_error *error)
{
    if (!read_fields(db, run_id, result, error))
        return false;
    result->run_id = run_id;
    for (size_t i = 0; i < ARRAY_COUNT(lists); i++) {
        sqlite3_stmt *rows = db_query(db, error, lists[i].sql, "i", run_id);
        if (!rows)
            return false;
        int code;
        bool stored = true;
        while (stored && (code = db_step(db, rows, error)) == SQLITE_ROW)
            stored = lists[i].take(rows, result);
        sqlite3_finalize(rows);
        if (!stored)
            return orch_no_memory(error);
        if (code != SQLITE_DONE)
            return false;
    }
    return db_read_profile(db, run_id, &result->profile, error);
}

/* --- left-overs of dead writers ---------------------------------------------------------------------------------- */

enum { DEAD_AT_ONCE = 64 };
#define LEAST_SECONDS 1e-9 /* less than a cycle is no simulated time to speak of */

static bool find_dead(struct orch_db *db, int64_t dead[DEAD_AT_ONCE], size_t *count, struct orch_error *error)
{
    sqlite3_stmt *rows =
        db_query(db, error, "SELECT id, coalesce(process, ''), coalesce(host, '') FROM run WHERE status = 'running'", "");
    if (!rows)
        return false;
    int code;
    *count = 0;
    while ((code = db_step(db, rows, error)) == SQLITE_ROW)
        if (*count < DEAD_AT_ONCE && db_process_gone(db_column_text(rows, 1), db_column_text(rows, 2)))
            dead[(*count)++] = sqlite3_column_int64(rows, 0);
    sqlite3_finalize(rows);
    return code == SQLITE_DONE;
}

static bool empty_run(struct orch_db *db, int64_t run_id, const char *why, struct orch_error *error)
{
    static const char *const tables[] = {"run_part",
                                         "placement",
                                         "assumption",
                                         "checksum",
                                         "op",
                                         "activity",
                                         "stall",
                                         "counter",
                                         "sample",
                                         "transfer",
                                         "dvfs_change",
                                         "fault",
                                         "profile_kernel",
                                         "profile_file",
                                         "profile_text",
                                         "profile_instruction",
                                         "profile_stall",
                                         "profile_warning"};
    for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
        char sql[96];
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run_id = ?", tables[i]);
        if (!db_exec(db, error, sql, "i", run_id))
            return false;
    }
    char now[32];
    db_timestamp(now, sizeof now);
    return db_exec(db, error,
                   "UPDATE run SET status = 'interrupted', process = NULL, finished = ?, error = ? "
                   "WHERE id = ? AND status = 'running'",
                   "tti", now, why, run_id);
}

/* From the row of table progress that the process left as well. */
static void say_where(struct orch_db *db, int64_t run_id, char why[DB_END_SIZE])
{
    char part[40] = "", simulated[FORMAT_SIZE + 20] = "", time[FORMAT_SIZE];
    sqlite3_stmt *const row =
        db_query(db, NULL,
                 "SELECT p.doing, p.fraction, p.seconds, p.host_seconds FROM progress p JOIN run r ON r.process = p.process AND "
                 "r.host = p.host AND r.workload = p.workload WHERE r.id = ? AND p.kind = 'run' ORDER BY p.id DESC LIMIT 1",
                 "i", run_id);
    const size_t used = (size_t)snprintf(why, DB_END_SIZE, "the process that wrote this run ended before the run did");
    if (row && db_step(db, row, NULL) == SQLITE_ROW) {
        const char *const doing = db_column_text(row, 0);
        const double fraction = db_column_number(row, 1), seconds = db_column_number(row, 2);
        if (isfinite(fraction))
            snprintf(part, sizeof part, " (%.0f %% of it)", fraction * 100);
        if (seconds >= LEAST_SECONDS)
            snprintf(simulated, sizeof simulated, ", %s simulated", format_quantity(time, seconds, "s"));
        snprintf(why + used, DB_END_SIZE - used, ": after %.1f s of the host it stood at %.160s%s%s", db_column_number(row, 3),
                 doing ? doing : "?", part, simulated);
    } else {
        snprintf(why + used, DB_END_SIZE - used, ", in its first moments: it had not told yet where it stood");
    }
    sqlite3_finalize(row);
}

bool db_run_was_left(struct orch_db *db, int64_t run_id, char why[DB_END_SIZE])
{
    sqlite3_stmt *const row = db_query(
        db, NULL, "SELECT coalesce(process, ''), coalesce(host, '') FROM run WHERE id = ? AND status = 'running'", "i", run_id);
    const bool left =
        row && db_step(db, row, NULL) == SQLITE_ROW && db_process_gone(db_column_text(row, 0), db_column_text(row, 1));
    sqlite3_finalize(row);
    if (left)
        say_where(db, run_id, why);
    return left;
}

bool db_clean_up(struct orch_db *db, unsigned *cleaned, struct orch_error *error)
{
    int64_t dead[DEAD_AT_ONCE];
    size_t count;
    if (cleaned)
        *cleaned = 0;
    if (!find_dead(db, dead, &count, error))
        return false;
    if (count == 0)
        return db_clean_progress(db, error);
    if (!db_begin(db, error))
        return false;
    bool ok = find_dead(db, dead, &count, error); /* another process may have cleaned up in the meantime */
    for (size_t i = 0; ok && i < count; i++) {
        char why[DB_END_SIZE];
        say_where(db, dead[i], why);
        ok = empty_run(db, dead[i], why, error);
    }
    ok = ok && db_clean_progress(db, error);
    if (!ok) {
        db_rollback(db);
        return false;
    }
    if (cleaned)
        *cleaned = (unsigned)count;
    return db_commit(db, error);
}

bool db_abandon_run(struct orch_db *db, int64_t run_id, const char *why, struct orch_error *error)
{
    if (!db_begin(db, error))
        return false;
    if (empty_run(db, run_id, why, error))
        return db_commit(db, error);
    db_rollback(db);
    return false;
}
