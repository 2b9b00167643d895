/* Files as a program sees them: what is mounted, and nothing else. Prints one line for each thing it tries. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void tell(const char *what, int ok)
{
    printf("%s: %s\n", what, ok ? "yes" : strerror(errno));
}

static int contains(const char *path, const char *text)
{
    char have[256] = {0};
    const int fd = open(path, O_RDONLY);
    if (fd < 0)
        return 0;
    const ssize_t n = read(fd, have, sizeof have - 1);
    close(fd);
    return n >= 0 && strcmp(have, text) == 0;
}

static void use(void)
{
    struct stat st;
    char where[64], three[4] = {0};
    FILE *f = fopen("/data/in.txt", "r");
    char line[64] = "";
    tell("read", f && fgets(line, sizeof line, f) && strcmp(line, "first\n") == 0);
    if (f)
        fclose(f);
    const int fd = open("/data/in.txt", O_RDONLY);
    tell("seek", lseek(fd, 6, SEEK_SET) == 6 && read(fd, three, 3) == 3 && strcmp(three, "sec") == 0);
    tell("pread", pread(fd, three, 3, 0) == 3 && strcmp(three, "fir") == 0 && lseek(fd, 0, SEEK_CUR) == 9);
    tell("size", fstat(fd, &st) == 0 && st.st_size == 13 && S_ISREG(st.st_mode));
    const char *map = mmap(NULL, 13, PROT_READ, MAP_PRIVATE, fd, 0);
    tell("map", map != MAP_FAILED && memcmp(map, "first\nsecond\n", 13) == 0);
    tell("write to what is read-only", open("/data/in.txt", O_RDWR) >= 0);
    tell("make in what is read-only", open("/data/new", O_CREAT | O_WRONLY, 0600) >= 0);
    tell("remove from what is read-only", unlink("/data/in.txt") == 0);
    tell("change", chdir("/out") == 0 && getcwd(where, sizeof where) && strcmp(where, "/out") == 0);
    tell("folder", mkdir("sub", 0700) == 0 && stat("/out/sub", &st) == 0 && S_ISDIR(st.st_mode));
    f = fopen("sub/a.txt", "w");
    tell("make", f && fputs("hello", f) >= 0 && fclose(f) == 0);
    tell("again", contains("/out/../out/./sub//a.txt", "hello"));
    tell("rename", rename("sub/a.txt", "b.txt") == 0 && contains("b.txt", "hello") && access("sub/a.txt", F_OK) == -1);
    const int both = open("b.txt", O_RDWR);
    char *shared = mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, both, 0);
    if (shared != MAP_FAILED)
        shared[0] = 'j';
    tell("shared map", shared != MAP_FAILED && munmap(shared, 5) == 0 && contains("b.txt", "jello"));
    tell("shorten", ftruncate(both, 4) == 0 && contains("b.txt", "jell"));
    tell("append", open("b.txt", O_WRONLY | O_APPEND) >= 0);
    tell("two names", dup2(both, 20) == 20 && fcntl(20, F_GETFL) == O_RDWR);
    tell("remove folder", rmdir("sub") == 0 && rmdir("sub") == -1);
    DIR *folder = opendir("/");
    printf("at the top:");
    for (struct dirent *e; folder && (e = readdir(folder));)
        printf(" %s", e->d_name);
    printf("\nterminal: %d\n", isatty(1));
}

/* What somebody would try who wants out. */
static void escape(int argc, char **argv)
{
    static const char *const paths[] = {"/etc/passwd",
                                        "/data/../../../../etc/passwd",
                                        "/out/link_to_etc/passwd",
                                        "/out/link_up/../../../etc/passwd",
                                        "/out/link_absolute",
                                        "/out/link_chain",
                                        "/proc/self/root/etc/passwd",
                                        "/proc/self/fd/3",
                                        "/dev/mem",
                                        "/out/pipe",
                                        "//etc//passwd",
                                        "/out/link_proc"};
    char text[32];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const int fd = open(paths[i], O_RDONLY);
        printf("%s %s\n", paths[i], fd >= 0 && read(fd, text, sizeof text) > 0 ? "REACHED" : "no");
    }
    for (int i = 2; i < argc; i++) { /* the host's own path of the secret */
        const int top = open("/out", O_RDONLY | O_DIRECTORY), fd = openat(top, argv[i], O_RDONLY);
        printf("host path %s\n", fd >= 0 ? "REACHED" : "no");
    }
    printf("make through a link %s\n", open("/out/link_to_etc/made", O_CREAT | O_WRONLY, 0600) >= 0 ? "INSIDE" : "no");
    printf("rename out %s\n", rename("/out/kept", "/kept") == 0 ? "REACHED" : "no");
    printf("link %s\n", symlink("/etc", "/out/mine") == 0 ? "REACHED" : "no");
}

static volatile int *volatile nowhere;

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "escape") == 0) {
        escape(argc, argv);
    } else if (argc > 1 && strcmp(argv[1], "stdin") == 0) {
        char line[64];
        while (fgets(line, sizeof line, stdin))
            printf("got %s", line);
        printf("env %s %d\n", getenv("WHAT") ? getenv("WHAT") : "none", getenv("HOME") != NULL);
    } else if (argc > 1 && strcmp(argv[1], "status") == 0) {
        puts("about to end");
        return 42;
    } else if (argc > 1 && strcmp(argv[1], "crash") == 0) {
        puts("about to crash");
        fflush(stdout);
        *nowhere = 1;
    } else {
        use();
    }
    return 0;
}
