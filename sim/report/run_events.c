#include "sim/report/run_events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 256 };

struct replay {
    struct orch_db *db;
    int64_t run_id;
    uint64_t number;
    const struct event_listener *to;
    struct orch_error *error;
};

static void tell(const struct replay *r, struct event *event, double time_ns)
{
    event->run = r->number;
    event->time_ns = time_ns;
    r->to->on_event(r->to->context, event);
}

static struct event_place place_at(sqlite3_stmt *row, int column)
{
    const char *const name = db_column_text(row, column);
    int part = 0;
    while (part + 1 < PART_COUNT && name && strcmp(orch_part_name((enum orch_part)part), name) != 0)
        part++;
    return (struct event_place){(enum orch_part)part, (uint32_t)sqlite3_column_int64(row, column + 1)};
}

/* Calls `take` for every row of a query about the run. */
static bool each(const struct replay *r, const char *sql, void (*take)(const struct replay *r, sqlite3_stmt *row))
{
    sqlite3_stmt *const rows = db_query(r->db, r->error, sql, "i", r->run_id);
    int code = SQLITE_ERROR;
    while (rows && (code = db_step(r->db, rows, r->error)) == SQLITE_ROW)
        take(r, rows);
    sqlite3_finalize(rows);
    return rows && code == SQLITE_DONE;
}

static void take_begin(const struct replay *r, sqlite3_stmt *row)
{
    struct event e = {.kind = EVENT_RUN_BEGIN};
    e.run_begin = (struct event_run_begin){.workload = db_column_text(row, 0),
                                           .chip_id = db_column_text(row, 1),
                                           .chip_hash = db_column_text(row, 2),
                                           .device = db_column_text(row, 3),
                                           .unit = db_column_text(row, 4),
                                           .precision = db_column_text(row, 5),
                                           .detail = db_column_text(row, 6),
                                           .mode = db_column_text(row, 7),
                                           .options = db_column_text(row, 8),
                                           .version = db_column_text(row, 9),
                                           .seed = (uint64_t)sqlite3_column_int64(row, 10),
                                           .host = db_column_text(row, 11),
                                           .chip_modified = sqlite3_column_int(row, 12) != 0,
                                           .gpu_cores = db_column_number(row, 13)};
    tell(r, &e, 0);
}

static void take_transfer(const struct replay *r, sqlite3_stmt *row)
{
    struct event e = {.kind = EVENT_MEM_TRANSFER};
    e.mem_transfer = (struct event_mem_transfer){db_column_text(row, 1), place_at(row, 2), place_at(row, 4),
                                                 (uint64_t)sqlite3_column_int64(row, 6), db_column_number(row, 7)};
    tell(r, &e, db_column_number(row, 0));
}

static void take_sample(const struct replay *r, sqlite3_stmt *row)
{
    struct event e = {.kind = EVENT_SAMPLE};
    e.sample = (struct event_sample){db_column_text(row, 1), db_column_text(row, 2), place_at(row, 3), db_column_number(row, 5)};
    tell(r, &e, db_column_number(row, 0));
}

static void take_dvfs_change(const struct replay *r, sqlite3_stmt *row)
{
    struct event e = {.kind = EVENT_DVFS_CHANGE};
    e.dvfs_change = (struct event_dvfs_change){place_at(row, 1), db_column_number(row, 3), db_column_number(row, 4),
                                               db_column_number(row, 5), db_column_text(row, 6)};
    tell(r, &e, db_column_number(row, 0));
}

static void take_fault(const struct replay *r, sqlite3_stmt *row)
{
    struct event e = {.kind = EVENT_FAULT};
    const char *const pc = db_column_text(row, 4), *const address = db_column_text(row, 5);
    e.fault = (struct event_fault){place_at(row, 1), db_column_text(row, 3), strtoull(pc ? pc : "", NULL, 16),
                                   strtoull(address ? address : "", NULL, 16), db_column_text(row, 6)};
    tell(r, &e, db_column_number(row, 0));
}

/* ---- ops with their stalls and counters ---- */

/* Values of operators, read ahead in their order. Names are copied: SQLite keeps them only until its next step. */
struct values {
    sqlite3_stmt *rows;
    int code;
    struct event_value value[VALUES_MAX];
    char name[VALUES_MAX][64], unit[VALUES_MAX][24];
    size_t count;
};

static bool open_values(const struct replay *r, const char *table, struct values *v)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT t.op, m.name, m.unit, t.value FROM %s t JOIN metric m ON m.id = t.metric_id "
             "WHERE t.run_id = ? AND t.op > 0 ORDER BY t.op, m.name",
             table);
    v->rows = db_query(r->db, r->error, sql, "i", r->run_id);
    v->code = v->rows ? db_step(r->db, v->rows, r->error) : SQLITE_ERROR;
    return v->code == SQLITE_ROW || v->code == SQLITE_DONE;
}

static bool values_of(const struct replay *r, int64_t op, struct values *v)
{
    v->count = 0;
    while (v->code == SQLITE_ROW && sqlite3_column_int64(v->rows, 0) <= op) {
        if (sqlite3_column_int64(v->rows, 0) == op && v->count < VALUES_MAX) {
            const size_t i = v->count++;
            snprintf(v->name[i], sizeof v->name[i], "%s", db_column_text(v->rows, 1));
            snprintf(v->unit[i], sizeof v->unit[i], "%s", db_column_text(v->rows, 2));
            v->value[i] = (struct event_value){v->name[i], v->unit[i], db_column_number(v->rows, 3)};
        }
        v->code = db_step(r->db, v->rows, r->error);
    }
    return v->code == SQLITE_ROW || v->code == SQLITE_DONE;
}

static void tell_op(const struct replay *r, sqlite3_stmt *row, const struct values *stalls, const struct values *counters)
{
    const struct event_op op = {.op = (uint64_t)sqlite3_column_int64(row, 0),
                                .name = db_column_text(row, 1),
                                .kernel = db_column_text(row, 2),
                                .shape = db_column_text(row, 3),
                                .precision = db_column_text(row, 4),
                                .place = place_at(row, 5),
                                .submitted_ns = db_column_number(row, 7),
                                .started_ns = db_column_number(row, 8)};
    const double seconds = db_column_number(row, 9);
    struct event launch = {.kind = EVENT_LAUNCH, .launch = op}, begin = {.kind = EVENT_OP_BEGIN, .op_begin = op};
    struct event end = {.kind = EVENT_OP_END};
    end.op_end = (struct event_op_end){.op = op,
                                       .seconds = seconds,
                                       .cycles = db_column_number(row, 10),
                                       .macs = db_column_number(row, 11),
                                       .flops = db_column_number(row, 12),
                                       .repeats = (uint64_t)sqlite3_column_int64(row, 13),
                                       .stalls = {stalls->value, stalls->count},
                                       .counters = {counters->value, counters->count}};
    tell(r, &launch, isnan(op.submitted_ns) ? op.started_ns : op.submitted_ns);
    tell(r, &begin, op.started_ns);
    tell(r, &end, op.started_ns + seconds * 1e9);
}

static bool tell_ops(const struct replay *r, struct values *stalls, struct values *counters)
{
    sqlite3_stmt *const rows = db_query(r->db, r->error,
                                        "SELECT op, name, kernel, shape, precision, unit, instance, submitted_ns, started_ns, "
                                        "seconds, cycles, macs, flops, repeats "
                                        "FROM v_op WHERE run_id = ? ORDER BY op",
                                        "i", r->run_id);
    int code = SQLITE_ERROR;
    bool ok = rows && open_values(r, "stall", stalls) && open_values(r, "counter", counters);
    while (ok && (code = db_step(r->db, rows, r->error)) == SQLITE_ROW) {
        const int64_t op = sqlite3_column_int64(rows, 0);
        ok = values_of(r, op, stalls) && values_of(r, op, counters);
        if (ok)
            tell_op(r, rows, stalls, counters);
    }
    sqlite3_finalize(stalls->rows);
    sqlite3_finalize(counters->rows);
    sqlite3_finalize(rows);
    return ok && code == SQLITE_DONE;
}

static bool all_ops(const struct replay *r)
{
    struct values *const both = calloc(2, sizeof *both);
    const bool ok = both ? tell_ops(r, &both[0], &both[1]) : orch_no_memory(r->error);
    free(both);
    return ok;
}

bool run_events(struct orch_db *db, int64_t run_id, uint64_t number, const struct event_listener *to, struct orch_error *error)
{
    const struct replay r = {db, run_id, number, to, error};
    struct run_result result;
    run_result_init(&result);
    const bool ok =
        db_read_run(db, run_id, &result, error) &&
        each(&r,
             "SELECT r.workload, r.chip, c.hash, r.device, r.unit, r.precision, r.detail, r.mode, r.options, r.version, r.seed, "
             "r.host, c.modified, (SELECT v.value FROM chip_value v JOIN name n ON n.id = v.key_id WHERE v.chip_id = c.id AND "
             "n.text = 'gpu_cores') FROM run r LEFT JOIN chip c ON c.id = r.chip_id WHERE r.id = ?",
             take_begin) &&
        all_ops(&r) &&
        each(&r,
             "SELECT t.time_ns, n.text, t.from_part, t.from_instance, t.to_part, t.to_instance, t.bytes, t.seconds FROM transfer "
             "t "
             "LEFT JOIN name n ON n.id = t.what_id WHERE t.run_id = ? ORDER BY t.time_ns, t.seq",
             take_transfer) &&
        each(&r,
             "SELECT s.time_ns, m.name, m.unit, s.part, s.instance, s.value FROM sample s JOIN metric m ON m.id = s.metric_id "
             "WHERE s.run_id = ? ORDER BY s.time_ns, s.metric_id, s.part, s.instance",
             take_sample) &&
        each(&r,
             "SELECT d.time_ns, d.part, d.instance, d.from_mhz, d.to_mhz, d.volts, n.text FROM dvfs_change d "
             "LEFT JOIN name n ON n.id = d.reason_id WHERE d.run_id = ? ORDER BY d.time_ns, d.seq",
             take_dvfs_change) &&
        each(&r, "SELECT time_ns, part, instance, fault, pc, address, text FROM fault WHERE run_id = ? ORDER BY time_ns, seq",
             take_fault);
    if (ok) {
        struct event end = {.kind = EVENT_RUN_END, .run_end = {EVENT_RUN_DONE, NULL, &result}};
        tell(&r, &end, result.seconds * 1e9);
    }
    run_result_free(&result);
    return ok;
}
