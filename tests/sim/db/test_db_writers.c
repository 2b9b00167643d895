/* Several writers of one file, and writers that die. */
#include "tests/sim/db_example.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { WRITERS = 6, RUNS_EACH = 12, OPS_EACH = 20 };

static int write_many(const char *path)
{
    struct orch_error error = {0};
    struct orch_db *db = db_open(path, DB_WRITE, &error);
    int bad = !db;
    for (uint64_t i = 0; db && i < RUNS_EACH; i++)
        bad |= example_record(db, (uint64_t)getpid() * 1000 + i, OPS_EACH, EVENT_RUN_DONE, i % 2 ? 9 : 0, &error) == 0;
    if (bad)
        printf("  writer: %s\n", error.text);
    fflush(stdout);
    db_close(db);
    return bad;
}

static void test_concurrent_writers(void)
{
    char folder[64];
    example_folder(folder);
    const char *path = example_file(folder, "x.db");
    pid_t child[WRITERS];
    fflush(NULL);
    for (int i = 0; i < WRITERS; i++)
        if ((child[i] = fork()) == 0)
            _exit(write_many(path)); /* all of them race to create the file, too */
    for (int i = 0; i < WRITERS; i++) {
        int status = -1;
        waitpid(child[i], &status, 0);
        CU_ASSERT_EQUAL(status, 0);
    }
    struct orch_db *db = example_open(path, DB_READ);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run WHERE status = 'done'"), WRITERS * RUNS_EACH);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM op"), WRITERS * RUNS_EACH * OPS_EACH);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) - count(DISTINCT text) FROM name"), 0);
    db_close(db);
    example_expect_healthy(path);
    example_remove(folder);
}

static int write_for_ever(const char *path)
{
    struct orch_error error = {0};
    struct orch_db *db = db_open(path, DB_WRITE, &error);
    for (uint64_t i = 0; db; i++)
        example_record(db, i, 400, EVENT_RUN_DONE, 100, &error);
    return 1;
}

static void test_kill_at_any_moment(void)
{
    char folder[64];
    uint64_t random = 7;
    double done = 0, interrupted = 0;
    example_folder(folder);
    const char *path = example_file(folder, "x.db");
    db_close(example_open(path, DB_WRITE));
    /* On a slow or busy host a writer needs longer to finish a run. */
    for (int round = 0; round < 25 || (round < 150 && (done == 0 || interrupted == 0)); round++) {
        const long longest_ns = 40000000L * (1 + round / 25);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0)
            _exit(write_for_ever(path));
        nanosleep(&(struct timespec){0, 5000000 + (long)(suite_random(&random) % (uint64_t)longest_ns)}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        example_expect_healthy(path);
        struct orch_db *db = example_open(path, DB_READ);
        CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run WHERE status NOT IN ('done', 'interrupted')"), 0);
        CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM op JOIN run r ON r.id = run_id WHERE status <> 'done'"), 0);
        CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run r WHERE status = 'done' AND "
                                           "(SELECT count(*) FROM op o WHERE o.run_id = r.id) <> 400"),
                        0);
        const double before = done;
        done = example_number(db, "SELECT count(*) FROM run WHERE status = 'done'");
        interrupted = example_number(db, "SELECT count(*) FROM run WHERE status = 'interrupted'");
        CU_ASSERT_TRUE(done >= before); /* finished runs stay */
        db_close(db);
    }
    CHECK(done > 0 && interrupted > 0, "%g done, %g interrupted: the kills hit nothing", done, interrupted);
    example_remove(folder);
}

static void test_live_writer_is_left_alone(void)
{
    char folder[64];
    struct orch_error error = {0};
    int64_t run_id;
    example_folder(folder);
    const char *path = example_file(folder, "x.db");
    struct orch_db *db = example_open(path, DB_WRITE);
    struct event_bus *bus = event_bus_create();
    struct db_writer *w = db_writer_create(db);
    db_writer_set_chunk(w, 10);
    event_bus_subscribe(bus, &(struct event_listener){db_writer_on_event, w, false});
    struct event e = {.kind = EVENT_RUN_BEGIN, .run = 1};
    e.run_begin = example_begin(1);
    event_bus_emit(bus, &e);
    for (uint64_t op = 1; op <= 20; op++)
        example_emit_op(bus, 1, op);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run WHERE status = 'running'"), 1);
    struct check_report report = {0};
    struct orch_db *other = example_open(path, DB_EXISTING); /* opening like this would clean up after a dead writer */
    CU_ASSERT_TRUE(db_check(other, &report, &error) && report.failed == 0 && report.skipped == 1);
    check_report_free(&report);
    db_close(other);
    example_emit_end(bus, 1, EVENT_RUN_DONE);
    CHECK(db_writer_result(w, 1, &run_id, &error), "%s", error.text);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM op"), 20);
    /* A run that is dropped without its end does not stay 'running'. */
    e.run = 2;
    event_bus_emit(bus, &e);
    for (uint64_t op = 1; op <= 20; op++)
        example_emit_op(bus, 2, op);
    db_writer_free(w);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run WHERE status = 'interrupted'"), 1);
    event_bus_free(bus);
    db_close(db);
    example_expect_healthy(path);
    example_remove(folder);
}

/* A process that tells how far its run is, and is killed. */
static void write_and_die(const char *path)
{
    struct orch_error error = {0};
    int64_t row = 0;
    struct orch_db *const db = db_open(path, DB_EXISTING, &error);
    struct event_bus *const bus = event_bus_create();
    struct db_writer *const w = db_writer_create(db);
    struct event e = {.kind = EVENT_RUN_BEGIN, .run = 1};
    event_bus_subscribe(bus, &(struct event_listener){db_writer_on_event, w, false});
    e.run_begin = example_begin(1);
    event_bus_emit(bus, &e);
    db_put_progress(db, &row,
                    &(struct db_progress){.kind = "run",
                                          .workload = e.run_begin.workload,
                                          .doing = "executing it",
                                          .fraction = 0.25,
                                          .seconds = 3e-6,
                                          .host_seconds = 7});
    raise(SIGKILL);
}

static void test_where_a_killed_writer_stood(void)
{
    static const char where[] = ": after 7.0 s of the host it stood at executing it (25 % of it), 3";
    char folder[64], why[DB_END_SIZE];
    example_folder(folder);
    const char *path = example_file(folder, "x.db");
    db_close(example_open(path, DB_WRITE));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        write_and_die(path);
    waitpid(child, NULL, 0);
    /* Who only reads is told as well. */
    struct orch_db *db = example_open(path, DB_READ);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run WHERE status = 'running'"), 1);
    CHECK(db_run_was_left(db, 1, why) && strstr(why, where), "%s", why);
    db_close(db);
    db = example_open(path, DB_EXISTING);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run WHERE status = 'interrupted' AND process IS NULL"), 1);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM run WHERE instr(error, 'it stood at executing it (25 %')"), 1);
    CU_ASSERT_EQUAL(example_number(db, "SELECT count(*) FROM progress"), 0);
    CU_ASSERT_FALSE(db_run_was_left(db, 1, why));
    db_close(db);
    example_expect_healthy(path);
    example_remove(folder);
}

/* ---- what is going on ---- */

static void count_seen(void *context, const struct db_progress *progress)
{
    struct db_progress *const last = context;
    last->ops++;
    last->points_done = progress->points_done;
    last->fraction = progress->fraction;
}

static double seen(struct orch_db *db, struct db_progress *last)
{
    struct orch_error error = {0};
    *last = (struct db_progress){.fraction = 0};
    CHECK(db_visit_progress(db, count_seen, last, &error), "%s", error.text);
    return last->ops;
}

static void test_progress(void)
{
    char folder[64];
    struct db_progress p = {.kind = "sweep", .workload = "gemm:1x1x1", .fraction = 0.25, .points = 8, .points_done = 2}, last;
    int64_t row = 0, gone = 0;
    example_folder(folder);
    const char *path = example_file(folder, "x.db");
    struct orch_db *db = example_open(path, DB_WRITE), *other = example_open(path, DB_EXISTING);
    db_put_progress(db, &row, &p);
    CHECK(row > 0 && seen(other, &last) == 1 && last.points_done == 2, "%g", last.points_done);
    p.points_done = 5;
    p.fraction = NAN; /* not known any more */
    db_put_progress(db, &row, &p);
    CHECK(seen(other, &last) == 1 && last.points_done == 5 && isnan(last.fraction), "%g", last.points_done);
    /* While another process writes, nothing happens, and nobody waits. */
    const time_t begun = time(NULL);
    CU_ASSERT_TRUE(db_begin(other, NULL));
    p.points_done = 6;
    db_put_progress(db, &row, &p);
    db_rollback(other);
    CHECK(time(NULL) - begun < 5 && seen(other, &last) == 1 && last.points_done == 5, "%g", last.points_done);
    /* A process that ended without taking its row away. */
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        struct orch_error error = {0};
        db_put_progress(db_open(path, DB_EXISTING, &error), &gone, &p);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    CU_ASSERT_EQUAL(example_number(other, "SELECT count(*) FROM progress"), 2);
    CU_ASSERT_EQUAL(seen(other, &last), 1);
    db_close(other);
    other = example_open(path, DB_EXISTING);
    CU_ASSERT_EQUAL(example_number(other, "SELECT count(*) FROM progress"), 1);
    db_end_progress(db, &row);
    CU_ASSERT_TRUE(row == 0 && seen(other, &last) == 0);
    db_close(other);
    db_close(db);
    example_expect_healthy(path);
    example_remove(folder);
}

static const struct suite_test tests[] = {
    {"six processes create and write one file", test_concurrent_writers},
    {"writers killed at any moment leave only whole runs", test_kill_at_any_moment},
    {"a run that is being written is left alone", test_live_writer_is_left_alone},
    {"a killed writer's run says where it stood", test_where_a_killed_writer_stood},
    {"what a process does is seen while it lives", test_progress},
};
SUITE_MAIN("db writers", tests)
