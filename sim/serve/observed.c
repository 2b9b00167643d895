#include "sim/serve/observed.h"

#include "isa/array_count.h"
#include "sim/db/db.h"
#include "sim/serve/exposition.h"
#include "sim/serve/observed_now.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UNITS = 8, STATUSES = 3, KERNELS = 64, UNFINISHED = 64, BUCKETS = 10, NAME = 48 };

static const char *const statuses[STATUSES] = {"done", "failed", "interrupted"};
static const double bucket_s[BUCKETS] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};

/* Runs on a unit ("several" for more than one). */
struct unit_count {
    char unit[16];
    double runs[STATUSES], within[BUCKETS];
    double seconds, joules, dram_bytes, host_s;
};

struct kernel_count {
    char unit[16], kernel[NAME];
    double operations, seconds;
};

/* The latest run that is done. */
struct latest {
    int64_t id;
    char workload[NAME], chip[NAME], unit[16];
    double seconds, watts, joules, celsius, bytes_per_s, throttled_s;
    struct {
        char part[16];
        double utilisation;
    } part[PART_COUNT];
    size_t parts;
};

struct observed {
    struct orch_db *db;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool ending;
    struct text text, now; /* what ended and what is going on; under the lock */

    /* Of the thread alone. */
    struct unit_count unit[UNITS];
    struct kernel_count kernel[KERNELS]; /* the last one takes what has no room */
    size_t units, kernels;
    int64_t seen, unfinished[UNFINISHED], file_version;
    size_t unfinished_count, going;
    struct latest latest;
    double points_done, points_failed;
};

/* ---- counting ---- */

static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

/* Names of units stand in labels as they are. */
static void copy_unit(char *to, size_t size, const char *from)
{
    copy(to, size, from);
    for (char *c = to; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '+')
            *c = '_';
}

static struct unit_count *unit_of(struct observed *o, const char *name)
{
    char unit[sizeof o->unit[0].unit];
    size_t i = 0;
    copy_unit(unit, sizeof unit, name);
    while (i < o->units && strcmp(o->unit[i].unit, unit) != 0)
        i++;
    if (i == o->units && o->units < UNITS)
        copy(o->unit[o->units++].unit, sizeof unit, i + 1 < UNITS ? unit : "others");
    return &o->unit[i < UNITS ? i : UNITS - 1];
}

static struct kernel_count *kernel_of(struct observed *o, const char *unit, const char *kernel)
{
    char cut[NAME];
    copy(cut, sizeof cut, kernel);
    for (size_t i = 0; i < o->kernels; i++)
        if (strcmp(o->kernel[i].unit, unit) == 0 && strcmp(o->kernel[i].kernel, cut) == 0)
            return &o->kernel[i];
    if (o->kernels == KERNELS)
        return &o->kernel[KERNELS - 1];
    struct kernel_count *const k = &o->kernel[o->kernels++];
    const bool last = o->kernels == KERNELS;
    copy(k->unit, sizeof k->unit, last ? "any" : unit);
    copy(k->kernel, sizeof k->kernel, last ? "others" : cut);
    return k;
}

static void count_ops(struct observed *o, int64_t run)
{
    sqlite3_stmt *const rows =
        db_query(o->db, NULL,
                 "SELECT o.part, k.text, sum(o.seconds), sum(o.repeats) FROM op o LEFT JOIN name k ON k.id "
                 "= o.kernel_id WHERE o.run_id = ? GROUP BY o.part, k.text",
                 "i", run);
    while (rows && db_step(o->db, rows, NULL) == SQLITE_ROW) {
        const char *const unit = db_column_text(rows, 0), *const kernel = db_column_text(rows, 1);
        struct kernel_count *const k = kernel_of(o, unit ? unit : "", kernel ? kernel : "");
        const double seconds = db_column_number(rows, 2), repeats = db_column_number(rows, 3);
        k->seconds += isfinite(seconds) ? seconds : 0;
        k->operations += isfinite(repeats) ? repeats : 0;
    }
    sqlite3_finalize(rows);
}

static void read_parts(struct observed *o, struct latest *l)
{
    sqlite3_stmt *const rows =
        db_query(o->db, NULL, "SELECT part, utilisation FROM run_part WHERE run_id = ? AND utilisation IS NOT NULL ORDER BY part",
                 "i", l->id);
    l->parts = 0;
    while (rows && l->parts < PART_COUNT && db_step(o->db, rows, NULL) == SQLITE_ROW) {
        copy_unit(l->part[l->parts].part, sizeof l->part[0].part, db_column_text(rows, 0));
        l->part[l->parts++].utilisation = db_column_number(rows, 1);
    }
    sqlite3_finalize(rows);
}

/* A row of the query below. */
enum { COLUMN_ID, COLUMN_STATUS, COLUMN_UNIT, COLUMN_SECONDS, COLUMN_JOULES, COLUMN_DRAM, COLUMN_HOST, COLUMN_WORKLOAD };
#define RUN_COLUMNS                                                                                                              \
    "SELECT id, status, unit, seconds, joules, dram_bytes, host_seconds, workload, chip, watts_avg, celsius_max, "               \
    "throttled_seconds FROM run WHERE "

static void add(double *sum, double value)
{
    *sum += isfinite(value) ? value : 0;
}

static void count_run(struct observed *o, sqlite3_stmt *row)
{
    const char *const status = db_column_text(row, COLUMN_STATUS), *const unit = db_column_text(row, COLUMN_UNIT);
    struct unit_count *const u = unit_of(o, unit ? unit : "several");
    const double seconds = db_column_number(row, COLUMN_SECONDS);
    for (int s = 0; s < STATUSES; s++)
        u->runs[s] += status && strcmp(status, statuses[s]) == 0;
    if (!status || strcmp(status, "done") != 0)
        return;
    for (int b = 0; b < BUCKETS; b++)
        u->within[b] += seconds <= bucket_s[b];
    add(&u->seconds, seconds);
    add(&u->joules, db_column_number(row, COLUMN_JOULES));
    add(&u->dram_bytes, db_column_number(row, COLUMN_DRAM));
    add(&u->host_s, db_column_number(row, COLUMN_HOST));
    struct latest *const l = &o->latest;
    const int64_t id = sqlite3_column_int64(row, COLUMN_ID);
    if (id >= l->id) {
        *l = (struct latest){.id = id,
                             .seconds = seconds,
                             .joules = db_column_number(row, COLUMN_JOULES),
                             .watts = db_column_number(row, COLUMN_WORKLOAD + 2),
                             .celsius = db_column_number(row, COLUMN_WORKLOAD + 3),
                             .throttled_s = db_column_number(row, COLUMN_WORKLOAD + 4),
                             .bytes_per_s = seconds > 0 ? db_column_number(row, COLUMN_DRAM) / seconds : (double)NAN};
        copy(l->workload, sizeof l->workload, db_column_text(row, COLUMN_WORKLOAD));
        copy(l->chip, sizeof l->chip, db_column_text(row, COLUMN_WORKLOAD + 1));
        copy(l->unit, sizeof l->unit, unit ? unit : "several");
    }
    count_ops(o, id);
}

/* Runs that were being written at the last look. */
static void look_again(struct observed *o)
{
    for (size_t i = 0; i < o->unfinished_count;) {
        sqlite3_stmt *const row = db_query(o->db, NULL, RUN_COLUMNS "id = ?", "i", o->unfinished[i]);
        const bool there = row && db_step(o->db, row, NULL) == SQLITE_ROW;
        const bool runs = there && strcmp(db_column_text(row, COLUMN_STATUS), "running") == 0;
        if (there && !runs)
            count_run(o, row);
        sqlite3_finalize(row);
        if (runs)
            i++;
        else
            o->unfinished[i] = o->unfinished[--o->unfinished_count];
    }
}

static void look_for_more(struct observed *o)
{
    sqlite3_stmt *const rows = db_query(o->db, NULL, RUN_COLUMNS "id > ? ORDER BY id", "i", o->seen);
    while (rows && db_step(o->db, rows, NULL) == SQLITE_ROW) {
        o->seen = sqlite3_column_int64(rows, COLUMN_ID);
        if (strcmp(db_column_text(rows, COLUMN_STATUS), "running") != 0)
            count_run(o, rows);
        else if (o->unfinished_count < UNFINISHED)
            o->unfinished[o->unfinished_count++] = o->seen;
    }
    sqlite3_finalize(rows);
}

static void count_points(struct observed *o)
{
    sqlite3_stmt *const rows = db_query(o->db, NULL, "SELECT status = 'done', count(*) FROM sweep_point GROUP BY 1", "");
    o->points_done = o->points_failed = 0;
    while (rows && db_step(o->db, rows, NULL) == SQLITE_ROW)
        *(sqlite3_column_int(rows, 0) ? &o->points_done : &o->points_failed) += db_column_number(rows, 1);
    sqlite3_finalize(rows);
}

/* ---- as text ---- */

static void put_by_unit(struct observed *o, struct text *to, const char *name, const char *help, size_t offset)
{
    char label[40];
    exposition_head(to, name, "counter", help);
    for (size_t i = 0; i < o->units; i++) {
        double value;
        memcpy(&value, (const char *)&o->unit[i] + offset, sizeof value);
        snprintf(label, sizeof label, "unit=\"%s\"", o->unit[i].unit);
        exposition_value(to, name, label, value);
    }
}

static void put_runs(struct observed *o, struct text *to)
{
    char label[64];
    exposition_head(to, "orchard_runs_total", "counter", "Runs in the performance database that ended");
    for (size_t i = 0; i < o->units; i++)
        for (int s = 0; s < STATUSES; s++) {
            snprintf(label, sizeof label, "status=\"%s\",unit=\"%s\"", statuses[s], o->unit[i].unit);
            exposition_value(to, "orchard_runs_total", label, o->unit[i].runs[s]);
        }
    put_by_unit(o, to, "orchard_run_joules_total", "Simulated energy of runs that are done", offsetof(struct unit_count, joules));
    put_by_unit(o, to, "orchard_run_dram_bytes_total", "Simulated DRAM traffic of runs that are done",
                offsetof(struct unit_count, dram_bytes));
    put_by_unit(o, to, "orchard_run_host_seconds_total", "Time of hosts for simulating runs that are done",
                offsetof(struct unit_count, host_s));
    exposition_head(to, "orchard_run_duration_seconds", "histogram", "Simulated time of runs that are done");
    for (size_t i = 0; i < o->units; i++) {
        const struct unit_count *const u = &o->unit[i];
        for (int b = 0; b < BUCKETS; b++) {
            snprintf(label, sizeof label, "unit=\"%s\",le=\"%g\"", u->unit, bucket_s[b]);
            exposition_value(to, "orchard_run_duration_seconds_bucket", label, u->within[b]);
        }
        snprintf(label, sizeof label, "unit=\"%s\",le=\"+Inf\"", u->unit);
        exposition_value(to, "orchard_run_duration_seconds_bucket", label, u->runs[0]);
        snprintf(label, sizeof label, "unit=\"%s\"", u->unit);
        exposition_value(to, "orchard_run_duration_seconds_sum", label, u->seconds);
        exposition_value(to, "orchard_run_duration_seconds_count", label, u->runs[0]);
    }
}

static void put_kernels(struct observed *o, struct text *to)
{
    static const char *const name[] = {"orchard_operations_total", "orchard_operation_seconds_total"};
    static const char *const help[] = {"Operations of runs, repetitions included", "Simulated time of operations of runs"};
    for (size_t m = 0; m < ARRAY_COUNT(name); m++) {
        exposition_head(to, name[m], "counter", help[m]);
        for (size_t i = 0; i < o->kernels; i++) {
            struct text label = {.data = NULL};
            exposition_label(&label, "unit", o->kernel[i].unit);
            text_put(&label, ",");
            exposition_label(&label, "kernel", o->kernel[i].kernel);
            exposition_value(to, name[m], label.data ? label.data : "", m ? o->kernel[i].seconds : o->kernel[i].operations);
            text_free(&label);
        }
    }
}

static void put_latest(const struct latest *l, struct text *to)
{
    const struct {
        const char *name, *help;
        double value;
    } rows[] = {
        {"orchard_latest_run_seconds", "Simulated time of the latest run", l->seconds},
        {"orchard_latest_run_power_watts", "Mean power of chip and memory in the latest run", l->watts},
        {"orchard_latest_run_energy_joules", "Energy of the latest run", l->joules},
        {"orchard_latest_run_memory_bandwidth_bytes_per_second", "DRAM bytes of the latest run over its time", l->bytes_per_s},
        {"orchard_latest_run_temperature_celsius", "Hottest block of the latest run", l->celsius},
        {"orchard_latest_run_throttled_seconds", "Time of the latest run below the wanted clocks", l->throttled_s},
    };
    if (!l->id)
        return;
    char label[48];
    exposition_head(to, "orchard_latest_run_info", "gauge", "The latest run that is done");
    text_printf(to, "orchard_latest_run_info{run=\"%lld\",", (long long)l->id);
    exposition_label(to, "workload", l->workload);
    text_put(to, ",");
    exposition_label(to, "chip", l->chip);
    text_put(to, ",");
    exposition_label(to, "unit", l->unit);
    text_put(to, "} 1\n");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (isnan(rows[i].value)) /* a fixed clock has no temperature */
            continue;
        exposition_head(to, rows[i].name, "gauge", rows[i].help);
        exposition_value(to, rows[i].name, "", rows[i].value);
    }
    exposition_head(to, "orchard_latest_run_utilisation_ratio", "gauge", "Busy time of units in the latest run over its time");
    for (size_t i = 0; i < l->parts; i++) {
        snprintf(label, sizeof label, "unit=\"%s\"", l->part[i].part);
        exposition_value(to, "orchard_latest_run_utilisation_ratio", label, l->part[i].utilisation);
    }
}

static void put_points(struct observed *o, struct text *to)
{
    exposition_head(to, "orchard_sweep_points", "gauge", "Points of all sweeps in the performance database");
    exposition_value(to, "orchard_sweep_points", "status=\"done\"", o->points_done);
    exposition_value(to, "orchard_sweep_points", "status=\"failed\"", o->points_failed);
}

/* ---- looking ---- */

/* The old text goes when nobody reads it any more. */
static void hand_over(struct observed *o, struct text *to, struct text *text)
{
    pthread_mutex_lock(&o->lock);
    struct text old = *to;
    *to = *text;
    pthread_mutex_unlock(&o->lock);
    text_free(&old);
}

/* Nothing is asked twice of a file that nobody has changed, but that a process has died does not change it. */
static void look(struct observed *o)
{
    int64_t version = 0;
    struct orch_error ignored = {0};
    struct text text = {.data = NULL}, now = {.data = NULL};
    const bool known = db_number(o->db, &ignored, 0, &version, "PRAGMA data_version", "");
    if (!known || (version == o->file_version && o->going == 0))
        return;
    o->going = observed_now(o->db, &now);
    hand_over(o, &o->now, &now);
    if (version == o->file_version)
        return;
    o->file_version = version;
    look_again(o);
    look_for_more(o);
    read_parts(o, &o->latest);
    count_points(o);
    put_runs(o, &text);
    put_kernels(o, &text);
    put_points(o, &text);
    put_latest(&o->latest, &text);
    hand_over(o, &o->text, &text);
}

/* Runs whose process died do not stay 'running' until somebody else writes: opening the file for writing marks them. */
static void mark_left_runs(struct observed *o)
{
    char why[DB_END_SIZE];
    size_t i = 0;
    while (i < o->unfinished_count && !db_run_was_left(o->db, o->unfinished[i], why))
        i++;
    if (i < o->unfinished_count)
        db_close(db_open(db_path(o->db), DB_EXISTING, NULL));
}

static void *watch(void *context)
{
    struct observed *const o = context;
    pthread_mutex_lock(&o->lock);
    while (!o->ending) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        if (pthread_cond_timedwait(&o->end, &o->lock, &until) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&o->lock);
        mark_left_runs(o);
        look(o);
        pthread_mutex_lock(&o->lock);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

struct observed *observed_open(const char *path, struct orch_error *error)
{
    struct observed *const o = calloc(1, sizeof *o);
    if (!o) {
        orch_no_memory(error);
        return NULL;
    }
    o->db = db_open(path, DB_READ, error);
    if (!o->db) {
        free(o);
        return NULL;
    }
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->end, NULL);
    look(o);
    if (pthread_create(&o->thread, NULL, watch, o) == 0)
        return o;
    orch_fail(error, ORCH_INTERNAL, "no thread to look at the database");
    text_free(&o->text);
    text_free(&o->now);
    db_close(o->db);
    free(o);
    return NULL;
}

void observed_close(struct observed *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    o->ending = true;
    pthread_cond_signal(&o->end);
    pthread_mutex_unlock(&o->lock);
    pthread_join(o->thread, NULL);
    pthread_cond_destroy(&o->end);
    pthread_mutex_destroy(&o->lock);
    text_free(&o->text);
    text_free(&o->now);
    db_close(o->db);
    free(o);
}

void observed_metrics(struct observed *o, struct text *to)
{
    pthread_mutex_lock(&o->lock);
    if (o->text.size)
        text_bytes(to, o->text.data, o->text.size);
    if (o->now.size)
        text_bytes(to, o->now.data, o->now.size);
    pthread_mutex_unlock(&o->lock);
}
