/* The writer of output files: whole or not at all, whatever the name stands for and whatever comes in between. */
#define _GNU_SOURCE
#include "sim/base/output_file.h"
#include "sim/base/temporary.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[32], path[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/orchard-out-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    chmod(folder, 0755);
    snprintf(path, sizeof path, "%s/file", folder);
}

/* PATH of a name in the folder; four at a time. */
static const char *in_folder(const char *name)
{
    static char text[4][400];
    static unsigned next;
    char *const t = text[next++ % 4];
    snprintf(t, sizeof text[0], "%s/%s", folder, name);
    return t;
}

static void remove_folder(void)
{
    CU_ASSERT(suite_remove(folder));
}

static unsigned entries(void)
{
    unsigned count = 0;
    DIR *const d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));)
        count += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return count;
}

static bool holds(const char *file, const char *text)
{
    char found[256];
    FILE *const f = fopen(file, "rb");
    const size_t n = f ? fread(found, 1, sizeof found, f) : 0;
    if (f)
        fclose(f);
    return f && n == strlen(text) && memcmp(found, text, n) == 0;
}

static bool save(const char *file, const char *text)
{
    struct orch_error error = {0};
    const bool ok = output_file_write(file, text, strlen(text), &error);
    CHECK(ok, "%s", error.text);
    return ok;
}

static mode_t mode_of(const char *file)
{
    struct stat st;
    return lstat(file, &st) == 0 ? st.st_mode : 0;
}

/* Runs a function in a process of its own; its exit code, or 1000 + signal. */
static int in_child(int (*run)(void))
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(run());
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- regular files ---- */

static void test_new_file(void)
{
    struct orch_error error = {0};
    make_folder();
    const mode_t mask = umask(027);
    struct output_file *f = output_file_open(path, OUTPUT_DURABLE, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs("half", output_file_stream(f));
    CHECK(output_file_flush(f, &error), "%s", error.text);
    CU_ASSERT_EQUAL(mode_of(path), 0); /* no such file yet */
    CU_ASSERT_EQUAL(entries(), 1);
    fputs(" and half", output_file_stream(f));
    CHECK(output_file_commit(f, &error), "%s", error.text);
    umask(mask);
    CU_ASSERT(holds(path, "half and half"));
    CU_ASSERT_EQUAL(mode_of(path), S_IFREG | 0640);
    f = output_file_open(in_folder("other"), OUTPUT_PLAIN, &error);
    fputs("never", output_file_stream(f));
    output_file_discard(f);
    CU_ASSERT_EQUAL(entries(), 1);
    save(path, "");
    CU_ASSERT(holds(path, ""));
    remove_folder();
}

static void test_replaced_file(void)
{
    static const mode_t modes[] = {0600, 0644, 0755, 0666};
    struct orch_error error = {0};
    make_folder();
    for (size_t i = 0; i < ARRAY_COUNT(modes); i++) {
        save(path, "old");
        chmod(path, modes[i]);
        struct output_file *const f = output_file_open(path, OUTPUT_PLAIN, &error);
        fputs("new", output_file_stream(f));
        CU_ASSERT(output_file_flush(f, &error) && holds(path, "old"));
        CU_ASSERT(output_file_commit(f, &error) && holds(path, "new"));
        CU_ASSERT_EQUAL(mode_of(path), S_IFREG | modes[i]);
        CU_ASSERT_EQUAL(entries(), 1);
    }
    struct output_file *const f = output_file_open(path, OUTPUT_PLAIN, &error);
    fputs("newest", output_file_stream(f));
    output_file_discard(f);
    CU_ASSERT(holds(path, "new"));
    if (geteuid() == 0) { /* another's file stays his */
        struct stat st;
        CU_ASSERT(chown(path, 65534, 65534) == 0 && save(path, "newest"));
        CU_ASSERT(stat(path, &st) == 0 && st.st_uid == 65534 && st.st_gid == 65534);
    }
    remove_folder();
}

static int replace_protected(void)
{
    struct orch_error error = {0};
    if (geteuid() == 0 && setuid(65534) != 0)
        return 77;
    const bool refused = !output_file_write(path, "new", 3, &error);
    return refused && error.exit_code == ORCH_USAGE && strstr(error.text, path) && strstr(error.text, "Permission denied") ? 0
                                                                                                                           : 1;
}

static void test_protected_file(void)
{
    make_folder();
    save(path, "old");
    chmod(path, 0444);
    chmod(folder, 0777);
    const int code = in_child(replace_protected);
    if (code == 77)
        suite_skip("cannot become another user");
    else
        CU_ASSERT(code == 0 && holds(path, "old") && entries() == 1);
    remove_folder();
}

static void test_refusals(void)
{
    static const struct {
        const char *name, *reason;
    } rows[] = {{"absent/file", "No such file"}, {"file/", "Is a directory"}, {"", "Is a directory"}, {"new/", "No such file"}};
    struct orch_error error = {0};
    make_folder();
    CU_ASSERT(mkdir(path, 0777) == 0);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *const file = in_folder(rows[i].name);
        CHECK(!output_file_write(file, "x", 1, &error) && error.exit_code == ORCH_USAGE && strstr(error.text, file) &&
                  strstr(error.text, rows[i].reason) && !strchr(error.text, '\n'),
              "%s: %s", file, error.text);
    }
    CU_ASSERT(!output_file_write("", "x", 1, &error));
    CU_ASSERT_EQUAL(entries(), 1);
    remove_folder();
}

/* The name of the temporary fits, however long the file's own is. */
static void test_long_names(void)
{
    char name[256];
    make_folder();
    for (unsigned length = 230; length <= 255; length++) {
        memset(name, 'n', length);
        name[length] = 0;
        CU_ASSERT(save(in_folder(name), "x") && holds(in_folder(name), "x"));
    }
    CU_ASSERT_EQUAL(entries(), 26);
    remove_folder();
}

static void test_many_at_a_time(void)
{
    static struct output_file *f[TEMPORARY_MAX];
    struct orch_error error = {0};
    make_folder();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < TEMPORARY_MAX; i++) {
            char name[16];
            snprintf(name, sizeof name, "f%d", i);
            f[i] = output_file_open(in_folder(name), OUTPUT_PLAIN, &error);
            CHECK(f[i] != NULL, "%d: %s", i, error.text);
        }
        CU_ASSERT(!output_file_open(path, OUTPUT_PLAIN, &error) && strstr(error.text, "Too many open files"));
        for (int i = 0; i < TEMPORARY_MAX; i++)
            output_file_discard(f[i]);
    }
    CU_ASSERT_EQUAL(entries(), 0);
    remove_folder();
}

/* ---- other kinds of files ---- */

/* A device of its own in the folder: the real one is not at stake. */
static void test_device(void)
{
    struct orch_error error = {0};
    make_folder();
    const char *const full = in_folder("full"), *const null = in_folder("null");
    if (mknod(full, S_IFCHR | 0666, makedev(1, 7)) != 0 || mknod(null, S_IFCHR | 0666, makedev(1, 3)) != 0) {
        remove_folder();
        suite_skip("no right to make devices");
        return;
    }
    CU_ASSERT(save(null, "gone"));
    CHECK(!output_file_write(full, "text", 4, &error) && error.exit_code == ORCH_USAGE && strstr(error.text, full) &&
              strstr(error.text, "No space left"),
          "%s", error.text);
    CU_ASSERT(symlink("full", path) == 0 && !output_file_write(path, "text", 4, &error));
    /* What is discarded does not arrive: the device would have refused it. */
    struct output_file *const f = output_file_open(full, OUTPUT_PLAIN, &error);
    fputs("text", output_file_stream(f));
    output_file_discard(f);
    CU_ASSERT(S_ISCHR(mode_of(full)) && S_ISCHR(mode_of(null)) && S_ISLNK(mode_of(path)) && entries() == 3);
    remove_folder();
}

static void *read_fifo(void *text)
{
    const int file = open(path, O_RDONLY);
    size_t used = 0;
    for (ssize_t n; file >= 0 && used < 99 && (n = read(file, (char *)text + used, 99 - used)) > 0;)
        used += (size_t)n;
    close(file);
    return NULL;
}

static void test_fifo(void)
{
    char text[100] = "";
    pthread_t reader;
    make_folder();
    CU_ASSERT(mkfifo(path, 0666) == 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&reader, NULL, read_fifo, text), 0);
    save(path, "through the pipe");
    pthread_join(reader, NULL);
    CU_ASSERT_STRING_EQUAL(text, "through the pipe");
    CU_ASSERT(S_ISFIFO(mode_of(path)) && entries() == 1);
    remove_folder();
}

static void test_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char text[100] = "";
    make_folder();
    memcpy(address.sun_path, path, strlen(path));
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CU_ASSERT_EQUAL_FATAL(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
    CU_ASSERT_EQUAL_FATAL(listen(listener, 1), 0);
    save(path, "through the socket");
    const int end = accept(listener, NULL, NULL);
    CU_ASSERT(read(end, text, sizeof text - 1) == 18);
    CU_ASSERT_STRING_EQUAL(text, "through the socket");
    close(end);
    close(listener);
    CU_ASSERT(S_ISSOCK(mode_of(path)) && entries() == 1);
    remove_folder();
}

/* The link and the linked file, its inode and mode included, stay; the content is another. */
static void test_link_to_file(void)
{
    struct orch_error error = {0};
    struct stat before, after;
    make_folder();
    const char *const linked = in_folder("linked"), *const middle = in_folder("middle");
    save(linked, "a long old content");
    chmod(linked, 0604);
    CU_ASSERT(symlink("linked", middle) == 0 && symlink(middle, path) == 0 && stat(linked, &before) == 0);
    struct output_file *f = output_file_open(path, OUTPUT_DURABLE, &error);
    fputs("new", output_file_stream(f));
    CU_ASSERT(output_file_flush(f, &error) && holds(linked, "a long old content") && entries() == 3);
    CU_ASSERT(output_file_commit(f, &error) && holds(linked, "new"));
    save(path, "longer than it was");
    CU_ASSERT(holds(linked, "longer than it was") && stat(linked, &after) == 0 && before.st_ino == after.st_ino);
    CU_ASSERT(mode_of(linked) == (S_IFREG | 0604) && S_ISLNK(mode_of(path)) && S_ISLNK(mode_of(middle)));
    f = output_file_open(path, OUTPUT_PLAIN, &error);
    fputs("never", output_file_stream(f));
    output_file_discard(f);
    CU_ASSERT(holds(linked, "longer than it was") && entries() == 3);
    remove_folder();
}

static void test_other_links(void)
{
    struct orch_error error = {0};
    make_folder();
    const char *const linked = in_folder("linked");
    CU_ASSERT(symlink("linked", path) == 0); /* to nothing */
    struct output_file *const f = output_file_open(path, OUTPUT_PLAIN, &error);
    CHECK(f != NULL, "%s", error.text);
    fputs("never", output_file_stream(f));
    output_file_discard(f);
    CU_ASSERT(mode_of(linked) == 0 && S_ISLNK(mode_of(path)));
    CU_ASSERT(save(path, "made") && holds(linked, "made") && S_ISLNK(mode_of(path)) && entries() == 2);
    const char *const loop = in_folder("loop"), *const up = in_folder("up"), *const lost = in_folder("lost");
    CU_ASSERT(symlink("loop", loop) == 0 && symlink("..", up) == 0 && symlink("absent/file", lost) == 0);
    CU_ASSERT(!output_file_write(loop, "x", 1, &error) && strstr(error.text, loop));
    CU_ASSERT(!output_file_write(up, "x", 1, &error) && strstr(error.text, "Is a directory"));
    CU_ASSERT(!output_file_write(lost, "x", 1, &error) && strstr(error.text, "No such file"));
    CU_ASSERT_EQUAL(entries(), 5);
    remove_folder();
}

/* Names that a temporary could have do not lead anywhere. */
static void test_laid_out_links(void)
{
    char name[64];
    make_folder();
    const char *const victim = in_folder("victim");
    save(victim, "untouched");
    snprintf(name, sizeof name, "file.part%ld", (long)getpid());
    CU_ASSERT(symlink(victim, in_folder("file.part")) == 0 && symlink(victim, in_folder(name)) == 0);
    CU_ASSERT(save(path, "text") && holds(path, "text") && holds(victim, "untouched") && entries() == 4);
    remove_folder();
}

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
    {"a new file appears when it is complete", test_new_file},
    {"a replaced file keeps its mode and its owner", test_replaced_file},
    {"a file that may not be written is not replaced", test_protected_file},
    {"what cannot be created is named with the reason", test_refusals},
    {"names of any length", test_long_names},
    {"as many files at a time as the table has entries", test_many_at_a_time},
    {"a device is written through", test_device},
    {"a FIFO is written through", test_fifo},
    {"a socket is written through", test_socket},
    {"a link to a file keeps link, inode and mode", test_link_to_file},
    {"links to nothing, to folders, to themselves", test_other_links},
    {"links laid out in advance are not followed", test_laid_out_links},
    {"a file size limit leaves everything as it was", test_size_limit},
    {"a full file system leaves everything as it was", test_full_disk},
    {"parallel writers leave one whole file", test_parallel_writers},
    {"signals delete what is half written", test_signals},
    {"a forked worker deletes nothing of its parent", test_forked_worker},
    {"an ignored hang-up stays ignored", test_nohup},
};
SUITE_MAIN("output file", tests)
