/* The writer of output files when something comes in between: full disks, other writers, signals. */
#define _GNU_SOURCE
#include "sim/base/temporary.h"
#include "tests/sim/base/output_folder.h"

#include <signal.h>
#include <sys/resource.h>

/* ---- full disks ---- */

static bool fails_whole(const char *file, const char *reason)
{
    static char bytes[300000];
    struct orch_error error = {0};
    const bool failed = !output_file_write(file, bytes, sizeof bytes, &error) && error.exit_code == ORCH_USAGE &&
                        strstr(error.text, file) && strstr(error.text, reason) && !strchr(error.text, '\n');
    if (!failed)
        printf("  %s: '%s'\n", file, error.text);
    return failed;
}

static int write_limited(void)
{
    const struct rlimit limit = {100000, 100000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const bool ok = fails_whole(path, "File too large") && fails_whole(in_folder("new"), "File too large") &&
                    fails_whole(in_folder("link"), "File too large") && fails_whole(in_folder("dangling"), "File too large");
    fflush(stdout);
    return !ok;
}

static void test_size_limit(void)
{
    make_folder();
    const char *const linked = in_folder("linked");
    save(path, "old");
    save(linked, "old, too");
    CU_ASSERT(symlink("linked", in_folder("link")) == 0 && symlink("absent", in_folder("dangling")) == 0);
    CU_ASSERT_EQUAL(in_child(write_limited), 0);
    CU_ASSERT(holds(path, "old") && holds(linked, "old, too") && entries() == 4);
    remove_folder();
}

/* On a file system that is really full; needs the right to mount. */
static int write_mounted(void)
{
    char command[200];
    snprintf(command, sizeof command, "mount -t tmpfs -o size=64k none %s 2>/dev/null", folder);
    if (system(command) != 0)
        return 77;
    bool ok = save(path, "old") && save(in_folder("linked"), "old, too") && symlink("linked", in_folder("link")) == 0;
    ok = ok && fails_whole(path, "No space left") && fails_whole(in_folder("new"), "No space left") &&
         fails_whole(in_folder("link"), "No space left") && holds(path, "old") && holds(in_folder("linked"), "old, too") &&
         entries() == 3;
    fflush(stdout);
    snprintf(command, sizeof command, "umount %s", folder);
    return system(command) != 0 || !ok;
}

static void test_full_disk(void)
{
    make_folder();
    const int code = in_child(write_mounted);
    if (code == 77)
        suite_skip("no right to mount a small tmpfs");
    else
        CU_ASSERT_EQUAL(code, 0);
    remove_folder();
}

/* ---- several writers ---- */

enum { WRITERS = 4, ROUNDS = 25, BYTES = 200000 };

static void write_rounds(char letter)
{
    static char bytes[BYTES];
    memset(bytes, letter, sizeof bytes);
    for (int i = 0; i < ROUNDS; i++)
        if (!output_file_write(path, bytes, sizeof bytes, NULL))
            _exit(1);
    _exit(0);
}

/* True when the file is whole and of one writer. */
static bool whole(void)
{
    static char bytes[BYTES + 1];
    FILE *const f = fopen(path, "rb");
    const size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    bool same = n == BYTES;
    for (size_t i = 1; same && i < n; i++)
        same = bytes[i] == bytes[0];
    if (f)
        fclose(f);
    return same;
}

static void test_parallel_writers(void)
{
    pid_t child[WRITERS];
    unsigned running = WRITERS, seen = 0;
    make_folder();
    fflush(NULL);
    for (int i = 0; i < WRITERS; i++)
        if ((child[i] = fork()) == 0)
            write_rounds((char)('a' + i));
    while (running) {
        int status;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            CU_ASSERT_EQUAL(status, 0);
            running--;
        }
        if (access(path, F_OK) == 0) {
            CHECK(whole(), "after %u looks", seen);
            seen++;
        }
    }
    CU_ASSERT(whole() && entries() == 1 && seen > 0);
    remove_folder();
}

/* ---- signals ---- */

/* Opens files of several kinds, tells that it is ready, and waits. */
static void wait_with_files(int ready)
{
    struct orch_error error = {0};
    const char *const names[] = {path, in_folder("new"), in_folder("dangling")};
    temporary_end_on_signals(_exit);
    for (int i = 0; i < 3; i++) {
        struct output_file *const f = output_file_open(names[i], OUTPUT_PLAIN, &error);
        if (!f || fputs("half", output_file_stream(f)) < 0 || !output_file_flush(f, &error))
            _exit(2);
    }
    if (write(ready, "r", 1) != 1)
        _exit(3);
    for (;;)
        pause();
}

/* Sends the signal once the files are open; the status of the process and what it said. */
static int ended_by(int number, char said[256])
{
    int ready[2], err[2], status = 0;
    char byte;
    CU_ASSERT_FATAL(pipe(ready) == 0 && pipe(err) == 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGHUP, SIG_DFL); /* a runner that was started by nohup ignores it */
        dup2(err[1], STDERR_FILENO);
        wait_with_files(ready[1]);
    }
    close(ready[1]);
    close(err[1]);
    CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
    CU_ASSERT_EQUAL(entries(), 5); /* the old file, the link, what is behind it, two temporaries */
    kill(child, number);
    waitpid(child, &status, 0);
    const ssize_t n = read(err[0], said, 255);
    said[n > 0 ? n : 0] = 0;
    close(ready[0]);
    close(err[0]);
    return status;
}

static void test_signals(void)
{
    static const struct {
        int signal;
        const char *line; /* "": ended by the signal itself */
    } rows[] = {{SIGINT, "orchard: interrupted\n"},
                {SIGTERM, "orchard: terminated\n"},
                {SIGHUP, "orchard: the terminal hung up\n"},
                {SIGPIPE, ""},
                {SIGXCPU, ""}};
    make_folder();
    save(path, "old");
    CU_ASSERT(symlink("absent", in_folder("dangling")) == 0);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char said[256];
        const int status = ended_by(rows[i].signal, said);
        CU_ASSERT_STRING_EQUAL(said, rows[i].line);
        if (*rows[i].line)
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 128 + rows[i].signal, "signal %d: %x", rows[i].signal,
                  (unsigned)status);
        else
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == rows[i].signal, "signal %d: %x", rows[i].signal, (unsigned)status);
        CU_ASSERT(holds(path, "old") && entries() == 2);
    }
    remove_folder();
}

/* 0 = a worker that a signal ended deleted nothing of its parent. */
static int end_worker(void)
{
    int status = 0;
    struct output_file *const f = output_file_open(path, OUTPUT_PLAIN, NULL);
    fputs("whole", output_file_stream(f));
    temporary_end_on_signals(_exit);
    const pid_t worker = fork();
    if (worker == 0) {
        close(STDERR_FILENO);
        raise(SIGTERM);
        _exit(1);
    }
    waitpid(worker, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 143 || entries() != 1 || !output_file_commit(f, NULL);
}

static void test_forked_worker(void)
{
    make_folder();
    CU_ASSERT_EQUAL(in_child(end_worker), 0);
    CU_ASSERT(holds(path, "whole") && entries() == 1);
    remove_folder();
}

/* As nohup starts it. */
static int be_hung_up(void)
{
    signal(SIGHUP, SIG_IGN);
    temporary_end_on_signals(_exit);
    raise(SIGHUP);
    return !output_file_write(path, "there", 5, NULL);
}

static void test_nohup(void)
{
    make_folder();
    CU_ASSERT(in_child(be_hung_up) == 0 && holds(path, "there"));
    remove_folder();
}

static const struct suite_test tests[] = {
    {"a file size limit leaves everything as it was", test_size_limit},
    {"a full file system leaves everything as it was", test_full_disk},
    {"parallel writers leave one whole file", test_parallel_writers},
    {"signals delete what is half written", test_signals},
    {"a forked worker deletes nothing of its parent", test_forked_worker},
    {"an ignored hang-up stays ignored", test_nohup},
};
SUITE_MAIN("output interrupted", tests)
