/* The sandbox as somebody would attack it who may use every call, and who has a friend outside that moves things about. */
#define _GNU_SOURCE
#include "tests/support/suite.h"
#include "units/cpu/cpu_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char top[64];

static const char *in_top(const char *name)
{
    static char path[4][256];
    static int next;
    char *const p = path[next++ & 3];
    snprintf(p, sizeof path[0], "%s/%s", top, name);
    return p;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in_top(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

/* top/inside is mounted, top/outside holds the secret. */
static struct cpu_sandbox *set_up(bool writable)
{
    char why[256];
    snprintf(top, sizeof top, "/tmp/orchard_sandbox_XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
    CU_ASSERT(mkdir(in_top("inside"), 0700) == 0 && mkdir(in_top("outside"), 0700) == 0);
    CU_ASSERT(mkdir(in_top("inside/folder"), 0700) == 0);
    put("outside/secret", "secret");
    put("inside/secret", "public");
    put("inside/folder/secret", "public");
    const char *const host = in_top("inside");
    const struct cpu_mount mount = {host, "/m", writable};
    struct cpu_sandbox *s = cpu_sandbox_create(&mount, 1, why, sizeof why);
    CHECK(s != NULL, "%s", why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

static void tear_down(struct cpu_sandbox *s)
{
    cpu_sandbox_free(s);
    CU_ASSERT(suite_remove(top));
}

/* 1: the secret, 0: something else, or an error. */
static int reads_secret(struct cpu_sandbox *s, const char *path)
{
    char normal[CPU_PATH_BYTES], text[16] = {0};
    if (!cpu_path_join("/m", path, normal))
        return -ENAMETOOLONG;
    const int fd = cpu_sandbox_open(s, normal, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 && strcmp(text, "secret") == 0;
}

static void test_paths(void)
{
    static const struct {
        const char *from, *path, *joined;
    } cases[] = {{"/", "a", "/a"},
                 {"/a/b", "../c", "/a/c"},
                 {"/a", "../../../x", "/x"},
                 {"/a", "/b//c/./d/..", "/b/c"},
                 {"/", "..", "/"},
                 {"/a/b", ".", "/a/b"},
                 {"/a", "b/../../..", "/"},
                 {"/", "...", "/..."},
                 {"/a", "..b/c..", "/a/..b/c.."}};
    char joined[CPU_PATH_BYTES], long_path[CPU_PATH_BYTES + 10];
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        CHECK(cpu_path_join(cases[i].from, cases[i].path, joined) && strcmp(joined, cases[i].joined) == 0, "%s + %s: %s",
              cases[i].from, cases[i].path, joined);
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = 0;
    CU_ASSERT_FALSE(cpu_path_join("/", long_path, joined));
    CU_ASSERT_FALSE(cpu_path_join("/", "", joined));
}

static void test_links(void)
{
    struct cpu_sandbox *s = set_up(true);
    static const char *const targets[] = {"/etc/passwd", "../outside/secret", "../../../../../../etc/passwd", "/proc/self/root",
                                          "/m/secret",   "/proc/self/fd/3",   "folder/../../outside/secret"};
    char name[32], outside[300];
    snprintf(outside, sizeof outside, "%s/outside/secret", top);
    CU_ASSERT(symlink(outside, in_top("inside/direct")) == 0);
    CU_ASSERT(symlink("../outside", in_top("inside/way")) == 0);
    CU_ASSERT(symlink("loop", in_top("inside/loop")) == 0);
    for (size_t i = 0; i < ARRAY_COUNT(targets); i++) {
        snprintf(name, sizeof name, "inside/link%zu", i);
        CU_ASSERT(symlink(targets[i], in_top(name)) == 0);
        snprintf(name, sizeof name, "link%zu", i);
        CHECK(reads_secret(s, name) != 1 && reads_secret(s, name) < 0, "%s leads out", targets[i]);
    }
    CU_ASSERT(reads_secret(s, "direct") < 0 && reads_secret(s, "way/secret") < 0);
    CU_ASSERT_EQUAL(reads_secret(s, "loop"), -ELOOP);
    CU_ASSERT_EQUAL(reads_secret(s, outside), -ENOENT);
    CU_ASSERT_EQUAL(reads_secret(s, "../outside/secret"), -ENOENT);
    CU_ASSERT_EQUAL(reads_secret(s, "secret"), 0);
    /* Neither making, removing nor renaming follows them. */
    CU_ASSERT(cpu_sandbox_open(s, "/m/way/made", O_CREAT | O_WRONLY, 0600) < 0);
    CU_ASSERT(cpu_sandbox_unlink(s, "/m/way/secret", false) < 0);
    CU_ASSERT(cpu_sandbox_mkdir(s, "/m/way/sub", 0700) < 0);
    CU_ASSERT(cpu_sandbox_rename(s, "/m/way/secret", "/m/stolen", 0) < 0);
    CU_ASSERT(cpu_sandbox_rename(s, "/m/secret", "/m/way/given", 0) < 0);
    CU_ASSERT(cpu_sandbox_rename(s, "/m/secret", "/secret", 0) < 0);
    CU_ASSERT(access(in_top("outside/made"), F_OK) != 0 && access(in_top("outside/secret"), F_OK) == 0);
    tear_down(s);
}

static void test_kinds(void)
{
    struct cpu_sandbox *s = set_up(false);
    CU_ASSERT(mkfifo(in_top("inside/pipe"), 0600) == 0);
    CU_ASSERT_EQUAL(cpu_sandbox_open(s, "/m/pipe", O_RDONLY, 0), -EACCES); /* and does not wait */
    CU_ASSERT_EQUAL(cpu_sandbox_open(s, "/m/secret", O_RDWR, 0), -EROFS);
    CU_ASSERT_EQUAL(cpu_sandbox_open(s, "/m/secret", O_RDONLY | O_TRUNC, 0), -EROFS);
    CU_ASSERT_EQUAL(cpu_sandbox_open(s, "/m/new", O_RDONLY | O_CREAT, 0600), -EROFS);
    CU_ASSERT_EQUAL(cpu_sandbox_unlink(s, "/m/secret", false), -EROFS);
    CU_ASSERT_EQUAL(cpu_sandbox_mkdir(s, "/m/sub", 0700), -EROFS);
    CU_ASSERT_EQUAL(cpu_sandbox_rename(s, "/m/secret", "/m/x", 0), -EROFS);
    CU_ASSERT_EQUAL(cpu_sandbox_access(s, "/m/secret", W_OK), -EROFS);
    CU_ASSERT_EQUAL(cpu_sandbox_access(s, "/m/secret", R_OK), 0);
    CU_ASSERT_EQUAL(cpu_sandbox_unlink(s, "/m", true), -EBUSY);
    struct stat st;
    CU_ASSERT(cpu_sandbox_stat(s, "/", true, &st) == 0 && S_ISDIR(st.st_mode));
    CU_ASSERT_EQUAL(cpu_sandbox_stat(s, "/etc", true, &st), -ENOENT);
    tear_down(s);
}

/* Somebody outside swaps a folder of the mount with a link that leads out, as fast as possible. */
static atomic_bool over;

static void *swap(void *unused)
{
    char folder[256], link[256];
    snprintf(folder, sizeof folder, "%s", in_top("inside/folder"));
    snprintf(link, sizeof link, "%s", in_top("inside/other"));
    while (!atomic_load(&over))
        renameat2(AT_FDCWD, folder, AT_FDCWD, link, RENAME_EXCHANGE);
    return unused;
}

static void test_race(void)
{
    enum { TRIES = 20000 };
    struct cpu_sandbox *s = set_up(true);
    pthread_t thread;
    unsigned reached = 0, good = 0, made = 0;
    CU_ASSERT(symlink("../outside", in_top("inside/other")) == 0);
    atomic_store(&over, false);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, swap, NULL) == 0);
    for (int i = 0; i < TRIES; i++) {
        const int got = reads_secret(s, "folder/secret");
        reached += got == 1;
        good += got == 0;
        const int fd = cpu_sandbox_open(s, "/m/folder/new", O_CREAT | O_WRONLY, 0600);
        made += fd >= 0;
        if (fd >= 0)
            close(fd);
        cpu_sandbox_unlink(s, "/m/folder/secret_", false);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    CHECK(reached == 0, "the secret was read %u times of %d", reached, TRIES);
    CHECK(good > 0 && made > 0, "the folder itself was read %u times", good);
    CU_ASSERT(access(in_top("outside/new"), F_OK) != 0);
    tear_down(s);
}

static const struct suite_test tests[] = {
    {"paths become absolute and normal", test_paths},
    {"links do not lead out", test_links},
    {"only files and folders are opened, as the mount allows", test_kinds},
    {"races do not lead out", test_race},
};
SUITE_MAIN("cpu-sandbox", tests)
