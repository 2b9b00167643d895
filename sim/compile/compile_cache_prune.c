/* What the cache takes, and keeping it within its limits. Others may write and delete at the same time: a file that is gone is as
 * good as one that was deleted here, and whoever misses an entry compiles again. */
#include "sim/compile/compile_cache.h"
#include "sim/compile/compile_cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAY_S = 86400, TEMPORARY_S = 3600 };

struct entry {
    char name[COMPILE_CACHE_NAME];
    int64_t used; /* seconds */
    uint64_t bytes;
};

struct survey {
    struct entry *entry;
    size_t count, room;
    uint64_t bytes;
};

static bool ends_in(const char *name, const char *suffix)
{
    const size_t n = strlen(name), s = strlen(suffix);
    return n > s && strcmp(name + n - s, suffix) == 0;
}

static bool add(struct survey *s, const char *name, const struct stat *st)
{
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 256;
        struct entry *const grown = realloc(s->entry, room * sizeof *grown);
        if (!grown)
            return false;
        s->entry = grown;
        s->room = room;
    }
    struct entry *const e = &s->entry[s->count++];
    *e = (struct entry){.used = st->st_mtime, .bytes = (uint64_t)st->st_size};
    memcpy(e->name, name, strlen(name) + 1);
    s->bytes += e->bytes;
    return true;
}

/* Entries of the folder. What writers left that were killed goes when `now` is not 0 and nobody can be writing it any more. */
static void survey(DIR *folder, int64_t now, struct survey *s)
{
    struct stat st;
    for (const struct dirent *d; (d = readdir(folder));) {
        if (strlen(d->d_name) >= COMPILE_CACHE_NAME || fstatat(dirfd(folder), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        if (ends_in(d->d_name, COMPILE_CACHE_SUFFIX)) {
            if (!add(s, d->d_name, &st))
                return;
        } else if (now && strstr(d->d_name, COMPILE_CACHE_SUFFIX ".part") && now - st.st_mtime > TEMPORARY_S) {
            unlinkat(dirfd(folder), d->d_name, 0);
        }
    }
}

static int by_use(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;
    return x->used != y->used ? (x->used < y->used ? -1 : 1) : strcmp(x->name, y->name);
}

bool compile_cache_survey(char folder[4096], struct compile_cache_size *size)
{
    struct survey s = {.count = 0};
    *size = (struct compile_cache_size){.entries = 0};
    if (!compile_cache_folder(folder))
        return false;
    DIR *const d = opendir(folder);
    if (d) {
        survey(d, 0, &s);
        closedir(d);
    }
    *size = (struct compile_cache_size){s.count, s.bytes};
    free(s.entry);
    return true;
}

void compile_cache_prune(int64_t now, uint64_t bytes_max)
{
    char folder[COMPILE_CACHE_PATH];
    struct survey s = {.count = 0};
    DIR *const d = compile_cache_folder(folder) ? opendir(folder) : NULL;
    if (!d)
        return;
    survey(d, now, &s);
    if (s.count)
        qsort(s.entry, s.count, sizeof *s.entry, by_use);
    const bool too_much = s.bytes > bytes_max;
    for (size_t i = 0; i < s.count; i++) {
        const bool old = now - s.entry[i].used > (int64_t)COMPILE_CACHE_DAYS * DAY_S;
        if (!old && !(too_much && s.bytes > bytes_max / 4 * 3))
            break;
        unlinkat(dirfd(d), s.entry[i].name, 0);
        s.bytes -= s.entry[i].bytes;
    }
    closedir(d);
    free(s.entry);
}
