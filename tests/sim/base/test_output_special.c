/* The writer of output files, for names that stand for a device, a FIFO, a socket or a link: written through, never replaced. */
#define _GNU_SOURCE
#include "tests/sim/base/output_folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

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

static const struct suite_test tests[] = {
    {"a device is written through", test_device},
    {"a FIFO is written through", test_fifo},
    {"a socket is written through", test_socket},
    {"a link to a file keeps link, inode and mode", test_link_to_file},
    {"links to nothing, to folders, to themselves", test_other_links},
    {"links laid out in advance are not followed", test_laid_out_links},
};
SUITE_MAIN("output to special files", tests)
