/* The cache of compiled kernels: what names an entry, damage, limits, several writers, writers that are killed. */
#include "sim/compile/compile_cache.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DAY = 86400 };

static char cache[] = "/tmp/orchard-cache-test-XXXXXX";
static char source[1 << 15]; /* two kernels: scale, count */
static size_t source_bytes;

static bool compile(const char *entry, struct compile_result *r)
{
    const struct compile_request q = {
        .path = "two.ll", .text = source, .text_bytes = source_bytes, .entry = entry, .optimise = 2};
    struct orch_error error = {0};
    const bool ok = compile_source(&q, r, &error);
    CHECK(ok, "%s", error.text);
    return ok;
}

/* The name of the only entry that a pattern matches. */
static const char *only(const char *pattern)
{
    static char name[300];
    glob_t found;
    snprintf(name, sizeof name, "%s/orchard/compile/%s", cache, pattern);
    CU_ASSERT_EQUAL_FATAL(glob(name, 0, NULL, &found), 0);
    CU_ASSERT_EQUAL_FATAL(found.gl_pathc, 1);
    snprintf(name, sizeof name, "%s", found.gl_pathv[0]);
    globfree(&found);
    return name;
}

static void test_begins(void)
{
    FILE *const f = fopen(suite_golden("agx/source/two.ll"), "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    source_bytes = fread(source, 1, sizeof source - 1, f);
    fclose(f);
    CU_ASSERT_FATAL(source_bytes > 100 && source_bytes < sizeof source - 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(cache));
    setenv("XDG_CACHE_HOME", cache, 1);
}

/* The language, for the same text. */
static void test_languages(void)
{
    const struct compile_request q = {.optimise = 2};
    char first[CONTENT_HASH_SIZE], second[CONTENT_HASH_SIZE];
    compile_cache_key(&q, COMPILE_OPENCL, "clang 16", "text", 4, first);
    compile_cache_key(&q, COMPILE_METAL, "clang 16", "text", 4, second);
    CU_ASSERT_STRING_NOT_EQUAL(first, second);
}

/* Whatever byte of an entry is another, the entry counts as none and the answer is the same. */
static void test_damage(void)
{
    static char was[1 << 16], now[1 << 16];
    struct compile_result right, r;
    if (!compile("scale", &right))
        return;
    const char *const path = only("*.json");
    FILE *f = fopen(path, "rb");
    const size_t bytes = fread(was, 1, sizeof was, f);
    fclose(f);
    CU_ASSERT_FATAL(bytes > 500 && bytes < sizeof was);
    for (size_t at = 0; at < bytes; at += bytes / 97) {
        memcpy(now, was, bytes);
        now[at] ^= 1 << at % 7;
        f = fopen(path, "wb");
        fwrite(now, 1, at % 2 ? bytes : bytes - at / 2, f); /* every other time its end is missing, too */
        fclose(f);
        if (!compile("scale", &r))
            return;
        CHECK(!r.cached && r.kernel.hash == right.kernel.hash, "byte %zu", at);
        CHECK(r.kernel.code_bytes == right.kernel.code_bytes &&
                  memcmp(r.kernel.code, right.kernel.code, right.kernel.code_bytes) == 0,
              "byte %zu", at);
        compile_result_free(&r);
    }
    compile_result_free(&right);
    CHECK(compile("scale", &r) && r.cached, "it was written anew");
    compile_result_free(&r);
}

static void make_entry(const char *name, size_t bytes, int64_t used)
{
    char path[300];
    const struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = used}};
    snprintf(path, sizeof path, "%s/orchard/compile/%s", cache, name);
    FILE *const f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    for (size_t i = 0; i < bytes; i++)
        fputc('x', f);
    fclose(f);
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_there(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/orchard/compile/%s", cache, name);
    return access(path, F_OK) == 0;
}

static void test_limits(void)
{
    char folder[4096];
    struct compile_cache_size size;
    const int64_t now = time(NULL);
    compile_cache_prune(now, 0); /* nothing may stay */
    CU_ASSERT_TRUE(compile_cache_survey(folder, &size));
    CHECK(size.entries == 0 && strncmp(folder, cache, strlen(cache)) == 0, "%lu entries", size.entries);
    make_entry("old.json", 10, now - (COMPILE_CACHE_DAYS + 1) * (int64_t)DAY);
    make_entry("a.json", 1000, now - 3 * DAY);
    make_entry("b.json", 1000, now - 2 * DAY);
    make_entry("c.json", 1000, now - 1 * DAY);
    make_entry("d.json", 1000, now);
    make_entry("x.json.part0123456789abcdef", 10, now - 2 * 3600);
    make_entry("y.json.part0123456789abcdef", 10, now - 60);
    make_entry("note.txt", 10, now - 1000 * (int64_t)DAY);
    compile_cache_prune(now, 5000);
    CHECK(!is_there("old.json") && is_there("a.json"), "age");
    CHECK(!is_there("x.json.part0123456789abcdef") && is_there("y.json.part0123456789abcdef"), "what writers left");
    CHECK(is_there("note.txt"), "a foreign file");
    compile_cache_prune(now, 3999); /* down to 2999 */
    CHECK(!is_there("a.json") && !is_there("b.json") && is_there("c.json") && is_there("d.json"), "size");
    CU_ASSERT_TRUE(compile_cache_survey(folder, &size));
    CHECK(size.entries == 2 && size.bytes == 2000, "%lu entries, %lu bytes", size.entries, size.bytes);
}

/* An entry that is used stays young. */
static void test_use(void)
{
    struct compile_result r;
    struct stat st;
    const time_t now = time(NULL);
    compile_cache_prune(now, 0);
    if (!compile("count", &r))
        return;
    compile_result_free(&r);
    const char *const path = only("*.json");
    const struct timespec times[2] = {{.tv_sec = now - 50 * DAY}, {.tv_sec = now - 50 * DAY}};
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, times, 0), 0);
    CHECK(compile("count", &r) && r.cached, "it is there");
    compile_result_free(&r);
    CHECK(stat(path, &st) == 0 && st.st_mtime >= now, "its time is not that of its use");
}

/* Of several who want the same at the same time, one compiles. */
static void test_several(void)
{
    enum { PROCESSES = 6 };
    pid_t child[PROCESSES];
    int compiled = 0, failed = 0;
    compile_cache_prune(time(NULL), 0);
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            struct compile_result r;
            _exit(compile("scale", &r) ? r.cached : 2);
        }
        CU_ASSERT_FATAL(child[i] > 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        waitpid(child[i], &status, 0);
        compiled += WIFEXITED(status) && WEXITSTATUS(status) == 0;
        failed += !WIFEXITED(status) || WEXITSTATUS(status) > 1;
    }
    CHECK(compiled == 1 && failed == 0, "%d compiled, %d failed", compiled, failed);
}

/* Writers that are killed at any time leave nothing that is wrong, and no lock. */
static void test_killed(void)
{
    struct compile_result right, r;
    if (!compile("scale", &right))
        return;
    for (int i = 0; i < 40; i++) {
        const struct timespec some = {.tv_nsec = i * 150000};
        const pid_t child = fork();
        if (child == 0)
            for (;;) {
                compile_cache_prune(time(NULL), 0);
                if (!compile("scale", &r))
                    _exit(1);
                compile_result_free(&r);
            }
        CU_ASSERT_FATAL(child > 0);
        nanosleep(&some, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (!compile("scale", &r))
            break;
        CHECK(r.kernel.hash == right.kernel.hash, "after kill %d", i);
        compile_result_free(&r);
    }
    compile_result_free(&right);
}

static void test_no_place(void)
{
    struct compile_result r;
    char *const home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    CHECK(compile("scale", &r) && !r.cached, "a cache that cannot be written");
    compile_result_free(&r);
    setenv("XDG_CACHE_HOME", "relative", 1);
    unsetenv("HOME");
    CHECK(compile("scale", &r) && !r.cached, "no place for a cache");
    compile_result_free(&r);
    if (home)
        setenv("HOME", home, 1);
    free(home);
    CU_ASSERT_TRUE(suite_remove(cache));
}

static const struct suite_test tests[] = {
    {"a private folder", test_begins},
    {"languages differ", test_languages},
    {"damage", test_damage},
    {"age, size, what is left", test_limits},
    {"use", test_use},
    {"several at once", test_several},
    {"killed writers", test_killed},
    {"no place", test_no_place},
};
SUITE_MAIN("compile cache", tests)
