/* Files that commands write: through devices and links, on a full disk, several at a time, and when a signal ends the command. */
#define _GNU_SOURCE
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct cli_home home = {.name = "output", .options = "--quiet"};

/* Path of a name in the folder; four at a time. */
static const char *in_folder(const char *name)
{
    static char text[4][120];
    static unsigned next;
    char *const t = text[next++ % 4];
    snprintf(t, sizeof text[0], "%s/%.48s", home.folder, name);
    return t;
}

static void write_text(const char *name, const char *text)
{
    FILE *const f = fopen(in_folder(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

static unsigned files_like(const char *part)
{
    unsigned count = 0;
    DIR *const d = opendir(home.folder);
    for (const struct dirent *e; d && (e = readdir(d));)
        count += strstr(e->d_name, part) != NULL;
    if (d)
        closedir(d);
    return count;
}

/* Lines that write to $/out; the files that they read are made by prepare(). */
static const char *const lines[] = {
    "run gemm:32x32x32 --unit gpu --perfetto $/out",
    "trace record gemm:32x32x32 --unit gpu -o $/out",
    "trace record gemm:32x32x32 --unit gpu --text -o $/out",
    "trace convert $/known.trace -o $/out",
    "report -o $/out",
    "report --figure Roofline -o $/out",
    "report -o $/page.html --perfetto $/out",
    "db export run -o $/out",
    "build softmax:16x64 --unit ane -o $/out",
    "isa asm amx $/amx.s -o $/out",
    "isa asm agx $/agx.s -o $/out",
    "regress record --chip m1 --only amx.peak -o $/out",
};

static bool prepare(void)
{
    cli_home_open(&home);
    write_text("amx.s", "set\nclr\n");
    write_text("agx.s", "stop\nstop\n");
    return cli_ask(&home, "trace record gemm:32x32x32 --unit gpu -o $/known.trace") && home.outcome.code == 0;
}

static void test_full_device(void)
{
    if (!prepare())
        return;
    const char *const out = in_folder("out");
    const bool made = mknod(out, S_IFCHR | 0666, makedev(1, 7)) == 0; /* as /dev/full, which is not at stake */
    for (size_t i = 0; made && i < ARRAY_COUNT(lines); i++) {
        struct stat st;
        if (!cli_ask(&home, "%s", lines[i]))
            return;
        CHECK(home.outcome.code == 2 && strstr(home.outcome.err, out) && strstr(home.outcome.err, "No space left"), "%s: %d %s",
              lines[i], home.outcome.code, home.outcome.err);
        CHECK(strchr(home.outcome.err, '\n') == home.outcome.err + strlen(home.outcome.err) - 1, "%s: %s", lines[i],
              home.outcome.err);
        CHECK(lstat(out, &st) == 0 && S_ISCHR(st.st_mode), "%s: the device was replaced", lines[i]);
        CHECK(files_like(".part") == 0, "%s: a temporary is left", lines[i]);
    }
    CU_ASSERT(cli_home_remove(&home));
    if (!made)
        suite_skip("no right to make devices");
}

static void test_links(void)
{
    if (!prepare())
        return;
    CU_ASSERT(symlink("linked", in_folder("out")) == 0);
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        struct stat st;
        write_text("linked", "old");
        if (!cli_ask(&home, "%s", lines[i]))
            return;
        CHECK(home.outcome.code == 0, "%s: %s", lines[i], home.outcome.err);
        CHECK(lstat(in_folder("out"), &st) == 0 && S_ISLNK(st.st_mode), "%s: the link was replaced", lines[i]);
        CHECK(lstat(in_folder("linked"), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 3, "%s: not written through", lines[i]);
        CHECK(files_like(".part") == 0, "%s: a temporary is left", lines[i]);
    }
    CU_ASSERT(cli_home_remove(&home));
}

/* Arrays of --output go into a folder, each a file of its own. */
static void test_output_folder(void)
{
    struct stat st;
    cli_home_open(&home);
    if (!cli_ask(&home, "run gemm:32x32x32 --unit ane --output $/arrays --rerun"))
        return;
    CHECK(home.outcome.code == 0 && stat(in_folder("arrays/out.npy"), &st) == 0, "%s", home.outcome.err);
    const off_t size = st.st_size;
    CU_ASSERT(chmod(in_folder("arrays/out.npy"), 0600) == 0);
    CU_ASSERT(cli_ask(&home, "run gemm:32x32x32 --unit ane --output $/arrays --rerun") && home.outcome.code == 0);
    CU_ASSERT(stat(in_folder("arrays/out.npy"), &st) == 0 && st.st_size == size && st.st_mode == (S_IFREG | 0600));
    CU_ASSERT(cli_home_remove(&home));
}

static void test_standard_output(void)
{
    static char expected[1 << 20];
    if (!prepare() || !cli_ask(&home, "db export run"))
        return;
    snprintf(expected, sizeof expected, "%s", home.outcome.out);
    CU_ASSERT(strlen(expected) > 100);
    CU_ASSERT(cli_ask(&home, "db export run -o -") && strcmp(home.outcome.out, expected) == 0);
    CU_ASSERT(cli_ask(&home, "db export run -o /dev/stdout") && strcmp(home.outcome.out, expected) == 0);
    CU_ASSERT(cli_ask(&home, "report -o -") && strstr(home.outcome.out, "<!DOCTYPE html>") == home.outcome.out);
    CU_ASSERT(cli_ask(&home, "report -o /dev/stdout") && strstr(home.outcome.out, "<!DOCTYPE html>") == home.outcome.out);
    CU_ASSERT(cli_home_remove(&home));
}

/* Three commands write one trace at the same time; whichever ends last, the trace is whole. */
static void test_parallel_records(void)
{
    char line[256];
    cli_home_open(&home);
    for (int round = 0; round < 6; round++) {
        pid_t child[3];
        for (int i = 0; i < 3; i++) {
            snprintf(line, sizeof line, "trace record copy:%dK --unit gpu -q -o %s/c.trace --db %s/%d.db", 16 << i, home.folder,
                     home.folder, i);
            child[i] = cli_start(line, -1);
        }
        for (int i = 0; i < 3; i++) {
            if (child[i] < 0) {
                suite_skip("the orchard binary is not built");
                return;
            }
            CU_ASSERT_EQUAL(cli_wait(child[i], 60), 0);
        }
        CHECK(cli_ask(&home, "trace check $/c.trace") && home.outcome.code == 0, "round %d: %s%s", round, home.outcome.out,
              home.outcome.err);
        CU_ASSERT_EQUAL(files_like("c.trace"), 1);
    }
    CU_ASSERT(cli_home_remove(&home));
}

/* ---- signals ---- */

static void nap(void)
{
    nanosleep(&(struct timespec){0, 10000000}, NULL);
}

/* Waits until the command has begun to write. */
static bool wait_for_temporary(void)
{
    for (int i = 0; i < 1000 && files_like(".part") == 0; i++)
        nap();
    return files_like(".part") > 0;
}

static void test_ended_by_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    if (!prepare())
        return;
    signal(SIGHUP, SIG_DFL); /* a runner that was started by nohup ignores it, and the command would, too */
    for (size_t i = 0; i < ARRAY_COUNT(signals); i++) {
        char line[256];
        snprintf(line, sizeof line, "trace record gemm:1024x1024x1024 --unit amx -q -o %s/known.trace --db %s/runs.db",
                 home.folder, home.folder);
        const pid_t child = cli_start(line, -1);
        CU_ASSERT(wait_for_temporary());
        const int status = cli_end(child, signals[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signals[i], "signal %d: status %x", signals[i], (unsigned)status);
        CU_ASSERT_EQUAL(files_like(".part"), 0);
        CHECK(cli_ask(&home, "trace check $/known.trace") && home.outcome.code == 0, "%s", home.outcome.err);
    }
    CU_ASSERT(cli_ask(&home, "db check") && home.outcome.code == 0);
    CU_ASSERT(cli_home_remove(&home));
}

/* A sweep with workers, in a process group of its own: when the parent is terminated, nobody stays. */
static void test_terminated_sweep(void)
{
    char line[256];
    cli_home_open(&home);
    snprintf(line, sizeof line,
             "sweep gemm:256x256x256 --unit amx --random 500 -L memory_peak_GBps=50:200 --exact --jobs 2 -q --db %s/runs.db",
             home.folder);
    const pid_t child = cli_start(line, -1);
    if (child < 0) {
        suite_skip("the orchard binary is not built");
        return;
    }
    setpgid(child, child);
    for (int i = 0; i < 40; i++) /* until the workers are at work */
        nap();
    const int status = cli_end(child, SIGTERM);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 143, "status %x", (unsigned)status);
    for (int i = 0; i < 500 && kill(-child, 0) == 0; i++)
        nap();
    CU_ASSERT(kill(-child, 0) != 0);
    CU_ASSERT(cli_ask(&home, "db check") && home.outcome.code == 0);
    CU_ASSERT(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"a full device is told by every command, and stays", test_full_device},
    {"every command writes through a link", test_links},
    {"arrays of a folder are replaced and keep their mode", test_output_folder},
    {"standard output by its names", test_standard_output},
    {"three records at a time leave a whole trace", test_parallel_records},
    {"signals end a record and delete its temporary", test_ended_by_signals},
    {"a terminated sweep leaves no worker", test_terminated_sweep},
};
SUITE_MAIN("output_cli", tests)
