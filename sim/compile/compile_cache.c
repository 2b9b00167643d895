#include "sim/compile/compile_cache.h"

#include "sim/base/file_read.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* By the Makefile: of all sources that turn text into code. */
#ifndef ORCHARD_COMPILER_HASH
#define ORCHARD_COMPILER_HASH "unknown"
#endif

enum { ENTRY_BYTES_MAX = 1 << 24 };

void compile_cache_key(const struct compile_request *q, const char *clang, const char *text, size_t bytes,
                       char key[CONTENT_HASH_SIZE])
{
    struct content_hash h;
    content_hash_begin(&h);
    content_hash_add_text(&h, ORCHARD_VERSION "+" ORCHARD_COMPILER_HASH);
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

/* The file of an entry; the folders above it are made when `make`. False without a place for caches. */
static bool entry_path(const char *key, bool make, char path[PATH_MAX])
{
    const char *const cache = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    const bool stated = cache && cache[0] == '/'; /* relative paths are invalid (XDG base directory specification) */
    if (!stated && !(home && home[0] == '/'))
        return false;
    const int length =
        snprintf(path, PATH_MAX, "%s%s/orchard/compile/%s.json", stated ? cache : home, stated ? "" : "/.cache", key);
    if (length >= PATH_MAX)
        return false;
    for (char *slash = strchr(path + 1, '/'); make && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

bool compile_cache_find(const char *key, struct compile_result *result)
{
    char path[PATH_MAX];
    uint8_t *text;
    size_t bytes;
    *result = (struct compile_result){.lines = 0};
    FILE *const f = entry_path(key, false, path) ? fopen(path, "rb") : NULL;
    if (!f)
        return false;
    bool ok = file_read_all(f, ENTRY_BYTES_MAX, &text, &bytes);
    fclose(f);
    if (!ok)
        return false;
    ok = compile_from_json((const char *)text, bytes, key, result);
    free(text);
    if (!ok)
        compile_result_free(result);
    result->cached = ok;
    return ok;
}

void compile_cache_keep(const char *key, const struct compile_result *result)
{
    char path[PATH_MAX];
    struct orch_error unused;
    json_object *const document = compile_to_json(result, key);
    char *const text = document ? json_line(document) : NULL;
    if (text && entry_path(key, true, path))
        output_file_write(path, text, strlen(text), &unused);
    free(text);
}
