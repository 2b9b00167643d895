/* Calls that C libraries, language runtimes and tools make beside files and threads, each compared with what Linux does. The last
 * line says which of them did something else. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>
#include <unistd.h>

static void check(const char *what, int holds)
{
    if (!holds)
        printf("not as on Linux: %s\n", what);
}

/* A timer that is a file: waited for by poll, read, and told without waiting. */
static void timer_files(void)
{
    const struct itimerspec every = {{0, 1000000}, {0, 2000000}}, never = {{0, 0}, {0, 0}};
    struct itimerspec left;
    uint64_t count = 0;
    const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), second = timerfd_create(CLOCK_REALTIME, 0);
    struct pollfd p = {fd, POLLIN, 0};
    check("timerfd_create", fd >= 0 && second >= 0);
    check("a timer that is not set", read(fd, &count, sizeof count) == -1 && errno == EAGAIN);
    check("timerfd_settime", timerfd_settime(fd, 0, &every, NULL) == 0 && timerfd_gettime(fd, &left) == 0);
    check("timerfd_gettime",
          left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 2000000 && left.it_interval.tv_nsec == 1000000);
    check("poll of a timer", poll(&p, 1, 1000) == 1 && read(fd, &count, sizeof count) == 8 && count == 1);
    usleep(3500);
    check("a timer counts", read(fd, &count, sizeof count) == 8 && count >= 3 && count <= 4);
    check("a timer is stopped", timerfd_settime(fd, 0, &never, NULL) == 0 && poll(&p, 1, 5) == 0);
    check("a wait for one timer", timerfd_settime(second, 0, &every, NULL) == 0 && read(second, &count, sizeof count) == 8);
    close(fd);
    close(second);
    check("a closed timer wakes nobody", usleep(5000) == 0);
}

static void mappings(void)
{
    const size_t page = 65536;
    unsigned char *a = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < 2 * page; i++)
        a[i] = (unsigned char)(i / 7);
    a = mremap(a, 2 * page, 40 * page, MREMAP_MAYMOVE);
    check("mremap grows", a != MAP_FAILED);
    int same = 1;
    for (size_t i = 0; i < 2 * page; i++)
        same &= a[i] == (unsigned char)(i / 7);
    check("mremap keeps what was there", same && a[2 * page] == 0 && a[40 * page - 1] == 0);
    a[40 * page - 1] = 1;
    check("mremap shrinks", mremap(a, 40 * page, page, 0) == a && a[page - 1] == (unsigned char)((page - 1) / 7));
    check("mremap of nothing", mremap((void *)0x10000, page, 2 * page, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT);
    munmap(a, page);
}

static void identity(void)
{
    char name[16];
    cpu_set_t cores;
    struct rlimit files;
    check("setuid to oneself", setuid(getuid()) == 0 && setgid(getgid()) == 0);
    check("setuid to root", setuid(0) == -1 && errno == EPERM);
    check("setresuid", setresuid(-1, getuid(), -1) == 0 && setresgid(getgid(), -1, 0) == -1);
    check("a thread's name", prctl(PR_SET_NAME, "a name of more than 15") == 0 && prctl(PR_GET_NAME, name) == 0 &&
                                 strcmp(name, "a name of more ") == 0);
    CPU_ZERO(&cores);
    CPU_SET(1, &cores);
    check("cores that are asked for", sched_setaffinity(0, sizeof cores, &cores) == 0 &&
                                          sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) == 1);
    CPU_ZERO(&cores);
    check("no cores", sched_setaffinity(0, sizeof cores, &cores) == -1 && errno == EINVAL);
    check("limits", getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur == 1024);
    check("umask", umask(077) == 022 && umask(022) == 077);
    check("network", socket(AF_INET, SOCK_STREAM, 0) == -1 && listen(1, 1) == -1 && errno == ENOTSOCK);
}

/* A pair of sockets: both directions, what does not wait, ends that were closed or shut. */
static void sockets(void)
{
    int s[2], t[2];
    char back[8] = {0};
    struct stat st;
    check("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && fstat(s[0], &st) == 0 && S_ISSOCK(st.st_mode));
    check("there", write(s[0], "ping", 5) == 5 && read(s[1], back, 8) == 5 && strcmp(back, "ping") == 0);
    check("and back", send(s[1], "pong", 5, 0) == 5 && recv(s[0], back, 8, 0) == 5 && strcmp(back, "pong") == 0);
    check("nothing yet", recv(s[0], back, 8, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    struct pollfd p = {s[0], POLLIN | POLLOUT, 0};
    check("room", poll(&p, 1, 0) == 1 && p.revents == POLLOUT);
    check("bytes in parts", send(s[1], "abc", 3, 0) == 3 && poll(&p, 1, 0) == 1 && p.revents == (POLLIN | POLLOUT) &&
                                read(s[0], back, 2) == 2 && read(s[0], back, 8) == 1 && back[0] == 'c');
    check("shutdown",
          shutdown(s[1], SHUT_WR) == 0 && read(s[0], back, 8) == 0 && write(s[0], "x", 1) == 1 && read(s[1], back, 8) == 1);
    close(s[1]);
    check("nobody there", send(s[0], "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE && read(s[0], back, 8) == 0);
    close(s[0]);
    check("no socket", send(1, "x", 1, 0) == -1 && errno == ENOTSOCK && shutdown(s[0], SHUT_RD) == -1 && errno == EBADF);
    check("other pairs", socketpair(AF_INET, SOCK_STREAM, 0, t) == -1);
    check("one that does not wait",
          socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, t) == 0 && read(t[0], back, 1) == -1 && errno == EAGAIN);
    close(t[0]);
    close(t[1]);
}

/* A file in memory: length, contents, a mapping that goes back to it. */
static void memory_files(void)
{
    char back[8] = {0};
    const int fd = memfd_create("name", MFD_CLOEXEC);
    check("memfd_create", fd >= 0 && ftruncate(fd, 65536) == 0 && lseek(fd, 0, SEEK_END) == 65536);
    char *const at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check("a mapping of it", at != MAP_FAILED && at[65535] == 0);
    strcpy(at + 100, "hello");
    check("what was mapped", munmap(at, 65536) == 0 && pread(fd, back, 6, 100) == 6 && strcmp(back, "hello") == 0);
    check("written", pwrite(fd, "bye", 4, 70000) == 4 && lseek(fd, 0, SEEK_END) == 70004);
    check("unknown flags", memfd_create("name", 0x8000) == -1 && errno == EINVAL);
    close(fd);
}

/* With an argument: a folder that may be written. */
static void files(const char *folder)
{
    char path[200], back[16] = {0};
    const struct timespec now[2] = {{1, 0}, {1, 0}};
    off_t at = 2;
    snprintf(path, sizeof path, "%s/calls", folder);
    check("times of a file that is not there", utimensat(AT_FDCWD, path, now, 0) == -1 && errno == ENOENT);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    check("write", write(fd, "0123456789", 10) == 10);
    check("times and permissions", utimensat(AT_FDCWD, path, now, 0) == 0 && chmod(path, 0600) == 0);
    strcat(path, "2");
    const int copy = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    check("sendfile", sendfile(copy, fd, &at, 5) == 5 && at == 7 && pread(copy, back, 15, 0) == 5 && strcmp(back, "23456") == 0);
    check("copy_file_range", lseek(fd, 8, SEEK_SET) == 8 && copy_file_range(fd, NULL, copy, NULL, 100, 0) == 2 &&
                                 pread(copy, back, 15, 0) == 7 && strcmp(back, "2345689") == 0);
    check("truncate", truncate(path, 3) == 0 && pread(copy, back, 15, 0) == 3 && truncate("/nowhere", 1) == -1);
    check("attributes", getxattr(path, "user.x", back, 1) == -1 && errno == EOPNOTSUPP);
    unlink(path);
    path[strlen(path) - 1] = 0;
    unlink(path);
}

static jmp_buf back_to;
static void on_trap(int signal)
{
    (void)signal;
    longjmp(back_to, 1);
}

int main(int argc, char **argv)
{
    timer_files();
    mappings();
    identity();
    sockets();
    memory_files();
    if (argc > 1)
        files(argv[1]);
    signal(SIGTRAP, on_trap);
    puts("done");
    fflush(stdout);
    if (setjmp(back_to) == 0)
        abort(); /* ends the program: no other signal's handler takes it */
    puts("came back");
    return 1;
}
