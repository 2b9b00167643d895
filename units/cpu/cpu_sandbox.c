#define _GNU_SOURCE
#include "units/cpu/cpu_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct mount {
    char *guest;  /* normal */
    size_t bytes; /* of guest; 0 for "/" */
    int fd;       /* O_PATH */
    bool folder, writable;
};

struct cpu_sandbox {
    struct mount *mount;
    size_t count;
};

/* ---- paths ---- */

/* Appends the components of `path` to the normal path of `used` bytes, which grows and shrinks. */
static bool append(char joined[CPU_PATH_BYTES], size_t *used, const char *path)
{
    while (*path) {
        const size_t n = strcspn(path, "/");
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            while (*used && joined[*used - 1] != '/')
                --*used;
            *used -= *used > 0;
        } else if (n && !(n == 1 && path[0] == '.')) {
            if (*used + n + 2 > CPU_PATH_BYTES)
                return false;
            joined[(*used)++] = '/';
            memcpy(joined + *used, path, n);
            *used += n;
        }
        path += n + (path[n] == '/');
    }
    return true;
}

bool cpu_path_join(const char *from, const char *path, char joined[CPU_PATH_BYTES])
{
    size_t used = 0;
    const bool ok = path[0] && (path[0] == '/' || append(joined, &used, from)) && append(joined, &used, path);
    if (!used)
        joined[used++] = '/';
    joined[used] = 0;
    return ok;
}

/* What follows the mount in a path below it: "" for the mount itself; NULL when the path is elsewhere. */
static const char *rest_of(const struct mount *m, const char *path)
{
    if (strncmp(path, m->guest, m->bytes) != 0 || (path[m->bytes] && path[m->bytes] != '/'))
        return NULL;
    return path + m->bytes + (path[m->bytes] == '/');
}

/* The innermost mount of a path. */
static const struct mount *mount_of(const struct cpu_sandbox *s, const char *path, const char **rest)
{
    const struct mount *best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const char *const r = rest_of(&s->mount[i], path);
        if (!r || (best && best->bytes >= s->mount[i].bytes))
            continue;
        best = &s->mount[i];
        *rest = r;
    }
    return best;
}

bool cpu_sandbox_mounted(const struct cpu_sandbox *s, const char *path)
{
    const char *rest;
    return mount_of(s, path, &rest) != NULL;
}

/* ---- mounts ---- */

static int open_below(int fd, const char *path, int flags, unsigned mode)
{
    const struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                                 .mode = flags & O_CREAT ? mode & 0777 : 0,
                                 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    const long got = syscall(SYS_openat2, fd, path, &how, sizeof how);
    return got < 0 ? -errno : (int)got;
}

static bool refuse(char *why, size_t bytes, const struct cpu_mount *from, const char *what)
{
    snprintf(why, bytes, "%s:%s: %s", from->host, from->guest, what);
    return false;
}

static bool open_mount(struct mount *m, const struct cpu_mount *from, char *why, size_t why_bytes)
{
    char normal[CPU_PATH_BYTES];
    struct stat st;
    if (from->guest[0] != '/' || !cpu_path_join("/", from->guest, normal))
        return refuse(why, why_bytes, from, "the program's path must be absolute");
    m->guest = strdup(normal);
    m->bytes = strcmp(normal, "/") == 0 ? 0 : strlen(normal);
    m->writable = from->writable;
    m->fd = open(from->host, O_PATH | O_CLOEXEC);
    if (!m->guest)
        return false;
    if (m->fd < 0 || fstat(m->fd, &st) != 0)
        return refuse(why, why_bytes, from, strerror(errno));
    m->folder = S_ISDIR(st.st_mode);
    if (!m->folder && !S_ISREG(st.st_mode))
        return refuse(why, why_bytes, from, "neither a file nor a folder");
    if (!m->folder && !m->bytes)
        return refuse(why, why_bytes, from, "a file cannot be mounted as /");
    const int probe = m->folder ? open_below(m->fd, ".", O_PATH, 0) : 0;
    if (probe < 0)
        return refuse(why, why_bytes, from, probe == -ENOSYS ? "mounts need Linux 5.6 (openat2)" : strerror(-probe));
    if (m->folder)
        close(probe);
    return true;
}

struct cpu_sandbox *cpu_sandbox_create(const struct cpu_mount *mounts, size_t count, char *why, size_t why_bytes)
{
    struct cpu_sandbox *s = calloc(1, sizeof *s);
    if (why_bytes)
        why[0] = 0;
    if (!s)
        return NULL;
    s->mount = calloc(count + 1, sizeof *s->mount);
    bool ok = s->mount != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        s->mount[i].fd = -1;
        s->count++;
        ok = open_mount(&s->mount[i], &mounts[i], why, why_bytes);
        for (size_t k = 0; ok && k < i; k++)
            if (strcmp(s->mount[k].guest, s->mount[i].guest) == 0)
                ok = refuse(why, why_bytes, &mounts[i], "two mounts have this path of the program");
    }
    if (ok)
        return s;
    cpu_sandbox_free(s);
    return NULL;
}

void cpu_sandbox_free(struct cpu_sandbox *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        if (s->mount[i].fd >= 0)
            close(s->mount[i].fd);
        free(s->mount[i].guest);
    }
    free(s->mount);
    free(s);
}

/* ---- ways to mounts ---- */

static size_t way_bytes(const char *path)
{
    return strcmp(path, "/") == 0 ? 0 : strlen(path);
}

/* What a mount has below the folder `path`, or NULL. */
static const char *below(const struct mount *m, const char *path)
{
    const size_t n = way_bytes(path);
    return m->bytes > n && strncmp(m->guest, path, n) == 0 && m->guest[n] == '/' ? m->guest + n + 1 : NULL;
}

bool cpu_sandbox_is_way(const struct cpu_sandbox *s, const char *path)
{
    const char *rest;
    if (mount_of(s, path, &rest))
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (below(&s->mount[i], path))
            return true;
    return strcmp(path, "/") == 0;
}

const char *cpu_sandbox_way_entry(const struct cpu_sandbox *s, const char *path, size_t index, size_t *bytes)
{
    for (size_t i = 0; i < s->count; i++) {
        const char *const name = below(&s->mount[i], path);
        bool seen = false;
        if (!name)
            continue;
        *bytes = strcspn(name, "/");
        for (size_t k = 0; k < i && !seen; k++) {
            const char *const other = below(&s->mount[k], path);
            seen = other && strcspn(other, "/") == *bytes && strncmp(other, name, *bytes) == 0;
        }
        if (!seen && index-- == 0)
            return name;
    }
    return NULL;
}

/* ---- accesses ---- */

/* A descriptor (O_PATH) of what is at the path. */
static int find(const struct cpu_sandbox *s, const char *path, bool follow, const struct mount **mount)
{
    const char *rest;
    const struct mount *const m = *mount = mount_of(s, path, &rest);
    if (!m)
        return -ENOENT;
    if (!m->folder)
        return *rest ? -ENOTDIR : fcntl(m->fd, F_DUPFD_CLOEXEC, 3);
    return open_below(m->fd, *rest ? rest : ".", O_PATH | (follow ? 0 : O_NOFOLLOW), 0);
}

/* Opens what a descriptor stands for: nobody can put something else in its place meanwhile. */
static int open_found(int found, int flags)
{
    struct stat st;
    char self[40];
    if (fstat(found, &st) != 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return -ELOOP;
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return -EACCES;
    snprintf(self, sizeof self, "/proc/self/fd/%d", found);
    const int fd = open(self, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd < 0 ? -errno : fd;
}

static int create(const struct cpu_sandbox *s, const char *path, int flags, unsigned mode)
{
    const char *rest;
    const struct mount *const m = mount_of(s, path, &rest);
    if (!m || !m->folder)
        return -ENOENT;
    return m->writable ? open_below(m->fd, rest, flags | O_CREAT | O_EXCL, mode) : -EROFS;
}

int cpu_sandbox_open(struct cpu_sandbox *s, const char *path, int flags, unsigned mode)
{
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    const struct mount *m;
    for (int attempt = 0; attempt < 2; attempt++) {
        const int found = find(s, path, !(flags & O_NOFOLLOW), &m);
        if (found == -ENOENT && flags & O_CREAT) {
            const int made = create(s, path, flags, mode);
            if (made != -EEXIST || flags & O_EXCL)
                return made;
            continue; /* somebody else has made it */
        }
        if (found < 0)
            return found;
        const int got = flags & O_CREAT && flags & O_EXCL ? -EEXIST : writes && !m->writable ? -EROFS : open_found(found, flags);
        close(found);
        return got;
    }
    return -ENOENT;
}

static void way_stat(const char *path, struct stat *st)
{
    *st = (struct stat){.st_mode = S_IFDIR | 0555, .st_nlink = 2, .st_ino = 1 + way_bytes(path), .st_blksize = 4096};
}

int cpu_sandbox_stat(struct cpu_sandbox *s, const char *path, bool follow, struct stat *st)
{
    const struct mount *m;
    const int found = find(s, path, follow, &m);
    if (found < 0 && cpu_sandbox_is_way(s, path)) {
        way_stat(path, st);
        return 0;
    }
    if (found < 0)
        return found;
    const int got = fstat(found, st) == 0 ? 0 : -errno;
    if (!m->writable)
        st->st_mode &= ~(mode_t)0222;
    close(found);
    return got;
}

int cpu_sandbox_access(struct cpu_sandbox *s, const char *path, unsigned how)
{
    struct stat st;
    const char *rest;
    const int error = cpu_sandbox_stat(s, path, true, &st);
    if (error)
        return error;
    const struct mount *const m = mount_of(s, path, &rest);
    if (how & W_OK && (!m || !m->writable))
        return -EROFS;
    const unsigned any = (st.st_mode | st.st_mode >> 3 | st.st_mode >> 6) & 7;
    return how & ~any & 7 ? -EACCES : 0;
}

int cpu_sandbox_readlink(struct cpu_sandbox *s, const char *path, char *text, size_t bytes)
{
    const struct mount *m;
    const int found = find(s, path, false, &m);
    if (found < 0)
        return found == -ENOENT && cpu_sandbox_is_way(s, path) ? -EINVAL : found;
    const ssize_t got = readlinkat(found, "", text, bytes);
    const int error = errno == ENOENT ? EINVAL : errno; /* an O_PATH descriptor of something else */
    close(found);
    return got < 0 ? -error : (int)got;
}

/* A descriptor of the folder that holds the path, in a writable mount; *name is what the path is called there. */
static int parent_of(const struct cpu_sandbox *s, const char *path, const char **name)
{
    const char *rest;
    const struct mount *const m = mount_of(s, path, &rest);
    char folder[CPU_PATH_BYTES];
    if (!m)
        return -ENOENT;
    if (!*rest)
        return -EBUSY; /* the mount itself */
    if (!m->folder)
        return -ENOTDIR;
    if (!m->writable)
        return -EROFS;
    const char *const slash = strrchr(rest, '/');
    *name = slash ? slash + 1 : rest;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - rest) : 1, slash ? rest : ".");
    return open_below(m->fd, folder, O_PATH | O_DIRECTORY, 0);
}

int cpu_sandbox_unlink(struct cpu_sandbox *s, const char *path, bool folder)
{
    const char *name;
    const int parent = parent_of(s, path, &name);
    if (parent < 0)
        return parent;
    const int got = unlinkat(parent, name, folder ? AT_REMOVEDIR : 0) == 0 ? 0 : -errno;
    close(parent);
    return got;
}

int cpu_sandbox_mkdir(struct cpu_sandbox *s, const char *path, unsigned mode)
{
    const char *name;
    const int parent = parent_of(s, path, &name);
    if (parent < 0)
        return parent == -EBUSY ? -EEXIST : parent;
    const int got = mkdirat(parent, name, mode & 0777) == 0 ? 0 : -errno;
    close(parent);
    return got;
}

int cpu_sandbox_rename(struct cpu_sandbox *s, const char *from, const char *to, unsigned flags)
{
    const char *old_name, *new_name, *unused;
    const int old = parent_of(s, from, &old_name);
    if (old < 0)
        return old;
    const int new = parent_of(s, to, &new_name);
    int got = new < 0 ? new : -EXDEV;
    if (new >= 0 && mount_of(s, from, &unused) == mount_of(s, to, &unused))
        got = renameat2(old, old_name, new, new_name, flags) == 0 ? 0 : -errno;
    close(old);
    if (new >= 0)
        close(new);
    return got;
}
