#define _GNU_SOURCE /* memfd_create, prlimit, posix_spawn_file_actions_addchdir_np */
#include "sim/compile/process.h"

#include "sim/base/host_time.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IN, OUT, ERRORS, STREAMS };
enum { WORDS_MAX = 256, POLL_NS = 1000000 };

/* ---- streams: files without a name, so that nothing is left behind and nobody waits for a full pipe ---- */

static bool open_streams(int file[STREAMS], struct orch_error *error)
{
    static const char *const name[STREAMS] = {"orchard-in", "orchard-out", "orchard-errors"};
    for (int i = 0; i < STREAMS; i++)
        if ((file[i] = memfd_create(name[i], MFD_CLOEXEC)) < 0)
            return orch_fail(error, ORCH_INTERNAL, "no file in memory for a process: %s", strerror(errno));
    return true;
}

static void close_streams(const int file[STREAMS])
{
    for (int i = 0; i < STREAMS; i++)
        if (file[i] >= 0)
            close(file[i]);
}

static bool write_input(int file, const uint8_t *bytes, size_t size, struct orch_error *error)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(file, bytes + done, size - done);
        if (n < 0 && errno != EINTR)
            return orch_fail(error, ORCH_INTERNAL, "the input of a process: %s", strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    return lseek(file, 0, SEEK_SET) == 0 || orch_fail(error, ORCH_INTERNAL, "the input of a process: %s", strerror(errno));
}

static bool read_output(int file, uint64_t most, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    const off_t written = lseek(file, 0, SEEK_END), end = written > (off_t)most ? (off_t)most : written;
    *size = 0;
    *bytes = end >= 0 ? malloc((size_t)end + 1) : NULL;
    if (!*bytes)
        return orch_no_memory(error);
    while (*size < (size_t)end) {
        const ssize_t n = pread(file, *bytes + *size, (size_t)end - *size, (off_t)*size);
        if (n <= 0)
            return orch_fail(error, ORCH_INTERNAL, "the output of a process: %s", n < 0 ? strerror(errno) : "ends early");
        *size += (size_t)n;
    }
    (*bytes)[*size] = 0;
    return true;
}

/* ---- start and end ---- */

/* The process starts without limits and gets them at once: what it used before counts, and hostile input needs longer. */
static void set_limits(pid_t pid, const struct process_limits *limits)
{
    const struct {
        enum __rlimit_resource what;
        rlim_t value;
    } rows[] = {{RLIMIT_CPU, limits->cpu_seconds},
                {RLIMIT_AS, limits->memory_bytes},
                {RLIMIT_FSIZE, limits->output_bytes},
                {RLIMIT_CORE, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        prlimit(pid, rows[i].what, &(struct rlimit){rows[i].value, rows[i].value}, NULL);
}

static bool spawn(const struct process_request *q, const int file[STREAMS], pid_t *pid, struct orch_error *error)
{
    char path_variable[4200], *environment[] = {path_variable, (char[]){"LC_ALL=C"}, (char[]){"TMPDIR=/tmp"}, NULL};
    const char *words[WORDS_MAX + 2] = {q->program}, *const path = getenv("PATH");
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    size_t count = 1;
    for (const char *const *w = q->word; *w; w++) {
        if (count > WORDS_MAX)
            return orch_fail(error, ORCH_USAGE, "more than %d words for %s", WORDS_MAX, q->program);
        words[count++] = *w;
    }
    snprintf(path_variable, sizeof path_variable, "PATH=%s", path ? path : "/usr/bin:/bin");
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int i = 0; i < STREAMS; i++)
        posix_spawn_file_actions_adddup2(&actions, file[i], i);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    const int failed = posix_spawn(pid, q->program, &actions, &attributes, (char *const *)words, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return !failed || orch_fail(error, ORCH_USAGE, "%.300s: cannot be started: %s", q->program, strerror(failed));
}

static bool is_beyond(int file, uint64_t bytes)
{
    struct stat s;
    return fstat(file, &s) == 0 && (uint64_t)s.st_size > bytes;
}

/* What a process has started before its limits were set has none of them: output is looked at here as well, and at the end
 * nothing of the group is left. */
static bool wait_for(pid_t pid, const int file[STREAMS], const struct process_limits *limits, struct process_result *r,
                     struct orch_error *error)
{
    const double end = host_seconds() + limits->wall_seconds;
    bool killed = false;
    int status = 0;
    for (;;) {
        const pid_t got = waitpid(pid, &status, killed ? 0 : WNOHANG);
        if (got == pid)
            break;
        if (got < 0 && errno != EINTR)
            return orch_fail(error, ORCH_INTERNAL, "a process was lost: %s", strerror(errno));
        if (!killed && host_seconds() > end)
            r->timed_out = killed = true;
        killed = killed || is_beyond(file[OUT], limits->output_bytes) || is_beyond(file[ERRORS], limits->output_bytes);
        if (killed)
            kill(-pid, SIGKILL);
        else
            nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    kill(-pid, SIGKILL);
    r->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return true;
}

bool process_run(const struct process_request *q, struct process_result *r, struct orch_error *error)
{
    int file[STREAMS] = {-1, -1, -1};
    pid_t pid;
    *r = (struct process_result){.code = -1};
    bool ok = open_streams(file, error) && write_input(file[IN], q->input, q->input_bytes, error) && spawn(q, file, &pid, error);
    if (ok) {
        set_limits(pid, &q->limits);
        ok = wait_for(pid, file, &q->limits, r, error);
    }
    ok = ok && read_output(file[OUT], q->limits.output_bytes, &r->out, &r->out_bytes, error) &&
         read_output(file[ERRORS], q->limits.output_bytes, &r->errors, &r->error_bytes, error);
    close_streams(file);
    return ok;
}

void process_result_free(struct process_result *r)
{
    free(r->out);
    free(r->errors);
    *r = (struct process_result){.code = -1};
}
