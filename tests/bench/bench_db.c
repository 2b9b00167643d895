/* Recording runs, against plain SQLite on the same disk in the same run.
 *
 *     bench_db [FOLDER]      default /tmp
 *
 * The peer is SQLite itself: prepared four-column inserts in one transaction, WAL, synchronous NORMAL, once into a bare table and
 * once into a table with our keys and references. Ours are events through the writer, with text names, commit included.
 */
#include "sim/db/db.h"
#include "sim/listen/db_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 400000, ROUNDS = 3, SMALL_RUNS = 60, METRICS = 500 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "bench_db: %s\n", what);
    exit(70);
}

static const char bare_sql[] = "CREATE TABLE s (run_id INTEGER, metric_id INTEGER, time_ns REAL, value REAL)";
static const char keyed_sql[] =
    "CREATE TABLE r (id INTEGER PRIMARY KEY); CREATE TABLE m (id INTEGER PRIMARY KEY); INSERT INTO r VALUES (1);"
    "INSERT INTO m VALUES (0), (1), (2), (3);"
    "CREATE TABLE s (run_id INTEGER NOT NULL REFERENCES r (id), metric_id INTEGER NOT NULL REFERENCES m (id), "
    "time_ns REAL NOT NULL, value REAL, PRIMARY KEY (run_id, metric_id, time_ns)) STRICT, WITHOUT ROWID";

/* Rows per second of plain prepared inserts. */
static double plain(const char *path, const char *schema)
{
    sqlite3 *sqlite;
    sqlite3_stmt *insert;
    must(sqlite3_open(path, &sqlite) == SQLITE_OK &&
             sqlite3_exec(sqlite, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON", NULL, NULL,
                          NULL) == SQLITE_OK &&
             sqlite3_exec(sqlite, schema, NULL, NULL, NULL) == SQLITE_OK &&
             sqlite3_prepare_v2(sqlite, "INSERT INTO s VALUES (?, ?, ?, ?)", -1, &insert, NULL) == SQLITE_OK,
         "plain SQLite");
    const double start = now_s();
    sqlite3_exec(sqlite, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (int i = 0; i < ROWS; i++) {
        sqlite3_bind_int64(insert, 1, 1);
        sqlite3_bind_int64(insert, 2, i % 4);
        sqlite3_bind_double(insert, 3, i);
        sqlite3_bind_double(insert, 4, i * 0.25);
        must(sqlite3_step(insert) == SQLITE_DONE, "plain insert");
        sqlite3_reset(insert);
    }
    must(sqlite3_exec(sqlite, "COMMIT", NULL, NULL, NULL) == SQLITE_OK, "plain commit");
    const double seconds = now_s() - start;
    sqlite3_finalize(insert);
    sqlite3_close(sqlite);
    return ROWS / seconds;
}

static void begin(struct event_bus *bus, uint64_t run)
{
    struct event e = {.kind = EVENT_RUN_BEGIN, .run = run};
    e.run_begin = (struct event_run_begin){.workload = "bench",
                                           .chip_id = "m1_4p4e_8g",
                                           .chip_hash = "c0ffee",
                                           .unit = "amx",
                                           .precision = "f32",
                                           .detail = "instr",
                                           .mode = "full",
                                           .version = "bench",
                                           .seed = run};
    event_bus_emit(bus, &e);
}

static void end(struct event_bus *bus, uint64_t run, unsigned metrics)
{
    struct run_result r;
    char name[32];
    run_result_init(&r);
    r.seconds = 1;
    for (unsigned i = 0; i < metrics; i++) {
        snprintf(name, sizeof name, "bench_metric_%03u", i);
        run_values_set(&r.counters, name, i);
    }
    struct event e = {.kind = EVENT_RUN_END, .run = run};
    e.run_end = (struct event_run_end){EVENT_RUN_DONE, NULL, &r};
    event_bus_emit(bus, &e);
    run_result_free(&r);
}

static void finish(struct db_writer *w, uint64_t run)
{
    struct orch_error error = {0};
    int64_t id;
    must(db_writer_result(w, run, &id, &error), error.text);
}

/* Rows per second of a run with as many samples. */
static double ours(struct orch_db *db, uint64_t run)
{
    static const char *const series[] = {"power", "temperature", "clock", "bandwidth"};
    static const char *const units[] = {"W", "degC", "MHz", "GB/s"};
    struct event_bus *bus = event_bus_create();
    struct db_writer *w = db_writer_create(db);
    event_bus_subscribe(bus, &(struct event_listener){db_writer_on_event, w, false});
    const double start = now_s();
    begin(bus, run);
    struct event e = {.kind = EVENT_SAMPLE, .run = run};
    for (int i = 0; i < ROWS; i++) {
        e.time_ns = i;
        e.sample = (struct event_sample){series[i % 4], units[i % 4], {PART_SOC, 0}, i * 0.25};
        event_bus_emit(bus, &e);
    }
    end(bus, run, 0);
    const double seconds = now_s() - start;
    finish(w, run);
    db_writer_free(w);
    event_bus_free(bus);
    return ROWS / seconds;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Seconds that it takes to record runs of METRICS counters each, from run_end to the commit. */
static void small_runs(struct orch_db *db, double seconds[SMALL_RUNS])
{
    struct event_bus *bus = event_bus_create();
    struct db_writer *w = db_writer_create(db);
    event_bus_subscribe(bus, &(struct event_listener){db_writer_on_event, w, false});
    for (uint64_t run = 1; run <= SMALL_RUNS; run++) {
        begin(bus, run);
        const double start = now_s();
        end(bus, run, METRICS);
        seconds[run - 1] = now_s() - start;
        finish(w, run);
    }
    db_writer_free(w);
    event_bus_free(bus);
}

static void fresh(char *path, size_t size, const char *folder, const char *name)
{
    static const char *const tails[] = {"-wal", "-shm", ""};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, size, "%s/orchard-bench-%s-%ld.db%s", folder, name, (long)getpid(), tails[i]);
        unlink(path);
    }
}

static double best_plain(const char *folder, const char *name, const char *schema)
{
    char path[512];
    double best = 0;
    for (int i = 0; i < ROUNDS; i++) {
        fresh(path, sizeof path, folder, name);
        best = fmax(best, plain(path, schema));
    }
    fresh(path, sizeof path, folder, name);
    return best;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "/tmp";
    struct orch_error error = {0};
    char path[512];
    double seconds[SMALL_RUNS], best = 0;
    const double bare = best_plain(folder, "bare", bare_sql), keyed = best_plain(folder, "keyed", keyed_sql);
    fresh(path, sizeof path, folder, "ours");
    const double opening = now_s();
    struct orch_db *db = db_open(path, DB_WRITE, &error);
    must(db != NULL, error.text);
    const double create = now_s() - opening;
    small_runs(db, seconds);
    for (uint64_t i = 0; i < ROUNDS; i++)
        best = fmax(best, ours(db, 1000 + i));
    db_close(db);
    const double again = now_s();
    db = db_open(path, DB_WRITE, &error);
    must(db != NULL, error.text);
    const double reopen = now_s() - again;
    db_close(db);
    fresh(path, sizeof path, folder, "ours");
    const double first = seconds[0];
    qsort(seconds, SMALL_RUNS, sizeof seconds[0], by_size);
    printf("plain SQLite %s, bare table            %8.0f krows/s\n", sqlite3_libversion(), bare / 1e3);
    printf("plain SQLite %s, our keys, references  %8.0f krows/s\n", sqlite3_libversion(), keyed / 1e3);
    printf("orchard, events to committed rows          %8.0f krows/s  %.2f of bare, %.2f of keyed\n", best / 1e3, best / bare,
           best / keyed);
    printf("a run of %d metrics, recorded and committed: first %.2f ms, median %.2f ms, worst %.2f ms  (target 5 ms)\n", METRICS,
           first * 1e3, seconds[SMALL_RUNS / 2] * 1e3, seconds[SMALL_RUNS - 1] * 1e3);
    printf("creating the file %.1f ms, opening it again %.1f ms\n", create * 1e3, reopen * 1e3);
    return 0;
}
