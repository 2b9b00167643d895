#include "sim/compile/compile_cache.h"

#include "sim/base/file_read.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"
#include "sim/compile/compile_cache_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* By the Makefile: of all sources that turn text into code. */
#ifndef ORCHARD_COMPILER_HASH
#define ORCHARD_COMPILER_HASH "unknown"
#endif

enum { ENTRY_BYTES_MAX = 1 << 24, DAY_S = 86400, LOCK_STEPS = 6000, LOCK_STEP_NS = 20000000 };

void compile_cache_key(const struct compile_request *q, enum compile_language language, const char *clang, const char *text,
                       size_t bytes, char key[CONTENT_HASH_SIZE])
{
    struct content_hash h;
    content_hash_begin(&h);
    content_hash_add_text(&h, ORCHARD_VERSION "+" ORCHARD_COMPILER_HASH);
    content_hash_add_integer(&h, language);
    content_hash_add_text(&h, clang);
    content_hash_add_text(&h, q->entry);
    for (size_t i = 0; i < q->constants; i++)
        content_hash_add_text(&h, q->constant[i]);
    content_hash_add_integer(&h, q->constants);
    content_hash_add_integer(&h, q->optimise);
    content_hash_add_integer(&h, q->fast_math);
    content_hash_add_integer(&h, bytes);
    content_hash_add_bytes(&h, text, bytes);
    content_hash_end(&h, key);
}

/* ---- places ---- */

bool compile_cache_folder(char path[COMPILE_CACHE_PATH])
{
    const char *const cache = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    const bool stated = cache && cache[0] == '/'; /* relative paths are invalid (XDG base directory specification) */
    if (!stated && !(home && home[0] == '/'))
        return false;
    const int length = snprintf(path, COMPILE_CACHE_PATH, "%s%s/orchard/compile", stated ? cache : home, stated ? "" : "/.cache");
    return length < COMPILE_CACHE_PATH - COMPILE_CACHE_NAME;
}

/* A file in the folder; the folders above it are made when `make`. False without a place for caches. */
static bool entry_path(const char *name, const char *suffix, bool make, char path[COMPILE_CACHE_PATH])
{
    if (!compile_cache_folder(path))
        return false;
    const size_t length = strlen(path);
    snprintf(path + length, COMPILE_CACHE_PATH - length, "/%s%s", name, suffix);
    for (char *slash = strchr(path + 1, '/'); make && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

/* ---- entries: a document, and behind it a line with its hash ---- */

static void hash_text(const char *text, size_t bytes, char hash[CONTENT_HASH_SIZE])
{
    struct content_hash h;
    content_hash_begin(&h);
    content_hash_add_bytes(&h, text, bytes);
    content_hash_end(&h, hash);
}

/* Bytes of the document; 0 when it is not what was written. */
static size_t check_entry(char *text, size_t bytes)
{
    char hash[CONTENT_HASH_SIZE];
    const size_t tail = CONTENT_HASH_SIZE; /* a line feed and the digits */
    if (bytes <= tail || text[bytes - tail] != '\n')
        return 0;
    hash_text(text, bytes - tail, hash);
    if (memcmp(text + bytes - tail + 1, hash, CONTENT_HASH_SIZE - 1) != 0)
        return 0;
    text[bytes - tail] = 0;
    return bytes - tail;
}

/* The time of a file is that of its last use, as exact as a day. */
static void note_use(FILE *f)
{
    struct stat st;
    if (fstat(fileno(f), &st) == 0 && time(NULL) - st.st_mtime > DAY_S)
        futimens(fileno(f), NULL);
}

bool compile_cache_find(const char *key, struct compile_result *result)
{
    char path[COMPILE_CACHE_PATH];
    uint8_t *text;
    size_t bytes;
    *result = (struct compile_result){.lines = 0};
    FILE *const f = entry_path(key, COMPILE_CACHE_SUFFIX, false, path) ? fopen(path, "rb") : NULL;
    if (!f)
        return false;
    bool ok = file_read_all(f, ENTRY_BYTES_MAX, &text, &bytes);
    if (ok)
        note_use(f);
    fclose(f);
    if (!ok)
        return false;
    bytes = check_entry((char *)text, bytes);
    ok = bytes && compile_from_json((const char *)text, bytes, key, result);
    free(text);
    if (!ok)
        compile_result_free(result);
    result->cached = ok;
    return ok;
}

static void write_entry(const char *path, const char *text)
{
    const size_t bytes = strlen(text);
    char *const whole = malloc(bytes + CONTENT_HASH_SIZE + 1), hash[CONTENT_HASH_SIZE];
    struct orch_error unused;
    if (!whole)
        return;
    hash_text(text, bytes, hash);
    memcpy(whole, text, bytes);
    whole[bytes] = '\n';
    memcpy(whole + bytes + 1, hash, CONTENT_HASH_SIZE);
    output_file_write(path, whole, bytes + CONTENT_HASH_SIZE, &unused);
    free(whole);
}

void compile_cache_keep(const char *key, const struct compile_result *result)
{
    char path[COMPILE_CACHE_PATH];
    json_object *const document = compile_to_json(result, key);
    char *const text = document ? json_line(document) : NULL;
    if (text && entry_path(key, COMPILE_CACHE_SUFFIX, true, path)) {
        write_entry(path, text);
        if (strtoul(key + CONTENT_HASH_SIZE - 3, NULL, 16) % COMPILE_CACHE_TURN == 0)
            compile_cache_prune(time(NULL), (uint64_t)COMPILE_CACHE_MIB << 20);
    }
    free(text);
}

/* ---- locks: one file for all keys that begin with the same digits, so that there are never many ---- */

int compile_cache_lock(const char *key)
{
    char path[COMPILE_CACHE_PATH], name[3];
    snprintf(name, sizeof name, "%.2s", key);
    const int file = entry_path(name, ".lock", true, path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (file < 0)
        return -1;
    for (int i = 0; i < LOCK_STEPS; i++) {
        const struct timespec step = {.tv_nsec = LOCK_STEP_NS};
        if (flock(file, LOCK_EX | LOCK_NB) == 0)
            return file;
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        nanosleep(&step, NULL);
    }
    close(file);
    return -1;
}

void compile_cache_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
