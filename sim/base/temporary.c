#include "sim/base/temporary.h"

#include "isa/array_count.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* An entry goes FREE -> FILLING -> LIVE -> FREE. The handler turns LIVE into TAKEN before it deletes the file, and nobody uses a
 * TAKEN entry again: its path stays readable while the handler needs it. */
enum { FREE, FILLING, LIVE, TAKEN };

struct temporary {
    atomic_int state;
    pid_t owner;
    char path[PATH_MAX];
};

/* The one global table: a signal handler has no other way to find what must be deleted. */
static struct temporary table[TEMPORARY_MAX];
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler needs atomics without locks");

static struct temporary *claim(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&table[i].state, &expected, FILLING))
            return &table[i];
    }
    errno = EMFILE;
    return NULL;
}

static bool release(struct temporary *t)
{
    int expected = LIVE;
    return t->owner == getpid() && atomic_compare_exchange_strong(&t->state, &expected, FREE);
}

/* Makes "PATH.part0123456789abcdef". A base name that leaves no room for the suffix is left out. */
static bool make_name(char name[PATH_MAX], const char *path)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    char suffix[32];
    const int length = snprintf(suffix, sizeof suffix, ".part%016" PRIx64, random);
    const char *const slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    const size_t kept = strlen(path + folder) + (size_t)length <= NAME_MAX ? strlen(path) : folder;
    if (kept + (size_t)length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(name, path, kept);
    memcpy(name + kept, suffix, (size_t)length + 1);
    return true;
}

int temporary_create(const char *path, mode_t mode, struct temporary **temporary)
{
    struct temporary *const t = claim();
    if (!t)
        return -1;
    t->owner = getpid();
    if (!make_name(t->path, path)) {
        atomic_store(&t->state, FREE);
        return -1;
    }
    /* The entry is LIVE before the file exists: a signal in between finds nothing to delete. The other way round, it would leave
     * the file. */
    atomic_store(&t->state, LIVE);
    const int file = open(t->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0)
        release(t);
    else
        *temporary = t;
    return file;
}

struct temporary *temporary_adopt(const char *path)
{
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    struct temporary *const t = claim();
    if (!t)
        return NULL;
    t->owner = getpid();
    memcpy(t->path, path, strlen(path) + 1);
    atomic_store(&t->state, LIVE);
    return t;
}

const char *temporary_path(const struct temporary *t)
{
    return t->path;
}

bool temporary_rename(struct temporary *t, const char *path)
{
    if (rename(t->path, path) != 0)
        return false;
    release(t);
    return true;
}

void temporary_remove(struct temporary *t)
{
    if (!t || t->owner != getpid())
        return;
    unlink(t->path);
    release(t);
}

void temporary_keep(struct temporary *t)
{
    if (t)
        release(t);
}

void temporary_remove_all(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        int expected = LIVE;
        if (atomic_compare_exchange_strong(&table[i].state, &expected, TAKEN) && table[i].owner == getpid())
            unlink(table[i].path);
    }
}
