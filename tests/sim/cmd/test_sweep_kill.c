/* A sweep of two processes that is killed at random moments continues where it was: no point twice, none lost, the file whole.
 * ORCHARD_SWEEP_KILLS sets the number of kills (default 10).
 */
#include "sim/base/check.h"
#include "tests/sim/sweep_example.h"
#include "tests/support/cli_binary.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* Interpolated and exact points, some that fail, in several batches. */
#define LINE                                                                                                                     \
    "sweep gemm:96x96x96,gemm:160x96x96 --unit ane --random 150 -L ane.clock_ghz=0.8:2 -L memory_peak_GBps=50:200 "              \
    "-L chip=m1,m2,nochip --jobs 2 --quiet --db %s/%s"

static struct cli_home home = {.name = "sweep-kill"};

static pid_t start(const char *db)
{
    char line[512];
    snprintf(line, sizeof line, LINE, home.folder, db);
    return cli_start(line, -1);
}

static void forget(void)
{
    static const char *const names[] = {"killed.db", "killed.db-wal", "killed.db-shm"};
    for (size_t i = 0; i < 3; i++)
        remove(example_file(home.folder, names[i]));
    CU_ASSERT_EQUAL(access(example_file(home.folder, "killed.db"), F_OK), -1);
}

static double rows(const char *file, const char *sql)
{
    struct orch_error error = {0};
    struct orch_db *const db = db_open(example_file(home.folder, file), DB_READ, &error);
    const double n = db ? example_number(db, sql) : 0;
    db_close(db);
    return n;
}

/* A child of the process from the kernel's own list; 0 = none. */
static pid_t child_of(pid_t process)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
    FILE *const file = fopen(path, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%d", &child) != 1)
        child = 0;
    fclose(file);
    return child;
}

static void nap(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&t, NULL);
}

/* Starts the sweep, waits a random moment, and kills the parent or, every third time, one worker, which is then replaced. True:
 * the sweep had already ended. */
static bool kill_once(uint64_t *state, unsigned turn, double whole_seconds)
{
    const pid_t process = start("killed.db");
    const double moment = whole_seconds * (double)(suite_random(state) % 1000) / 1000;
    int status;

    nap(moment);
    const pid_t worker = turn % 3 == 2 ? child_of(process) : 0;
    if (worker > 0) {
        kill(worker, SIGKILL);
        nap(whole_seconds * 0.1);
    }
    const bool ended = waitpid(process, &status, WNOHANG) == process;
    if (!ended) {
        kill(process, SIGKILL);
        waitpid(process, &status, 0);
    }
    return ended;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check_file(void)
{
    struct check_report report = {0};
    struct orch_error error = {0};
    struct orch_db *const db = example_open(example_file(home.folder, "killed.db"), DB_EXISTING);
    CHECK(db_check(db, &report, &error) && check_holds(&report), "%s", error.text);
    check_report_free(&report);
    db_close(db);
}

static void test_kills(void)
{
    const char *const asked = getenv("ORCHARD_SWEEP_KILLS");
    const unsigned kills = asked ? (unsigned)strtoul(asked, NULL, 10) : 10;
    uint64_t state = 20;
    unsigned ended = 0, done = 0;

    if (!cli_binary()) {
        suite_skip("the binary is not built");
        return;
    }
    cli_home_open(&home);
    const double began = seconds_now();
    CU_ASSERT_EQUAL_FATAL(WEXITSTATUS(cli_wait(start("whole.db"), 120)), 0);
    const double whole_seconds = seconds_now() - began;
    for (double before = 0; done < kills; done++) {
        /* After an end, the remaining kills start a new sweep. */
        const bool at_end = kill_once(&state, done, whole_seconds);
        const double now = rows("killed.db", "SELECT count(*) FROM sweep_point");
        CHECK(now >= before, "%g rows, %g before", now, before);
        if (now > 0 && done % 5 == 4)
            check_file();
        before = at_end ? 0 : now;
        ended += at_end;
        if (at_end)
            forget();
    }
    CU_ASSERT_EQUAL(WEXITSTATUS(cli_wait(start("killed.db"), 120)), 0);
    printf("  %u kills (%u after the end), %.1f s a whole sweep\n", done, ended, whole_seconds);
    check_file();
    char *const whole = example_sweep_rows(example_file(home.folder, "whole.db"));
    char *const killed = example_sweep_rows(example_file(home.folder, "killed.db"));
    CU_ASSERT_STRING_EQUAL(whole, killed);
    free(whole);
    free(killed);
    CU_ASSERT_EQUAL(rows("killed.db", "SELECT count(*) FROM sweep_point"), 300 + 2 * (1 + 2 + 2 + 3));
    CU_ASSERT_TRUE(rows("killed.db", "SELECT count(*) FROM sweep_point WHERE method = 'interpolated'") > 0);
    CU_ASSERT_TRUE(rows("killed.db", "SELECT count(*) FROM sweep_point WHERE status = 'failed'") > 50);
    CU_ASSERT_TRUE(cli_home_remove(&home));
}

static const struct suite_test tests[] = {{"a sweep killed at random moments ends like one that was not", test_kills}};
SUITE_MAIN("sweep kill", tests)
