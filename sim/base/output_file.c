#define _GNU_SOURCE /* fopencookie, O_TMPFILE */
#include "sim/base/output_file.h"

#include "sim/base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16 };

enum way {
    RENAMED, /* written to a temporary, which gets the name */
    COPIED,  /* written to a file without a name, copied into the file behind a symbolic link */
    THROUGH, /* written where it belongs as the bytes come */
};

struct output_file {
    char *path;
    FILE *stream;
    enum way way;
    bool durable;
    int file;                    /* what the stream writes to */
    int target;                  /* COPIED: the linked file; else -1 */
    struct temporary *temporary; /* RENAMED; THROUGH: a file that the open call has created behind a link; else NULL */
    int trouble;                 /* errno of the first write that failed; 0 = none. Nothing is written after it. */
    char buffer[BUFFER_BYTES];
};

static bool cannot(const char *path, const char *what, int reason, struct orch_error *error)
{
    return orch_fail(error, ORCH_USAGE, "%.400s: cannot be %s: %s", path, what, strerror(reason));
}

/* ---- writing ---- */

static int write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(file, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        bytes += n;
        size -= (size_t)n;
    }
    return 0;
}

/* The error flag of a stream does not say why; so the reason is kept here. */
static ssize_t write_to(void *cookie, const char *bytes, size_t size)
{
    struct output_file *const f = cookie;
    if (!f->trouble)
        f->trouble = write_all(f->file, bytes, size);
    if (!f->trouble)
        return (ssize_t)size;
    errno = f->trouble;
    return 0;
}

static bool open_stream(struct output_file *f)
{
    f->stream = fopencookie(f, "wb", (cookie_io_functions_t){.write = write_to});
    return f->stream && setvbuf(f->stream, f->buffer, _IOFBF, sizeof f->buffer) == 0;
}

/* ---- opening: each returns 0 or an errno ---- */

/* The mode is set before the first byte is written, so that nobody reads what the old file would not have shown. A foreign owner
 * is kept where that is allowed; set-user and set-group bits only with their owner. */
static int like_before(int file, const struct stat *before)
{
    struct stat now;
    mode_t mode = before->st_mode & 07777;
    if (fstat(file, &now) != 0)
        return errno;
    const bool foreign = now.st_uid != before->st_uid || now.st_gid != before->st_gid;
    if (foreign && fchown(file, before->st_uid, before->st_gid) != 0 && fchown(file, (uid_t)-1, before->st_gid) != 0)
        mode &= 0777;
    return fchmod(file, mode) == 0 ? 0 : errno;
}

/* `before` is NULL for a new file. */
static int open_beside(struct output_file *f, const struct stat *before)
{
    /* Renaming needs no permission on the old file: what may not be written is not to be replaced either. */
    if (before && faccessat(AT_FDCWD, f->path, W_OK, AT_EACCESS) != 0)
        return errno;
    f->way = RENAMED;
    f->file = temporary_create(f->path, before ? 0600 : 0666, &f->temporary);
    if (f->file < 0)
        return errno;
    return before ? like_before(f->file, before) : 0;
}

static int connect_socket(struct output_file *f)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(f->path) >= sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy(address.sun_path, f->path, strlen(f->path));
    f->file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return f->file < 0 || connect(f->file, (const struct sockaddr *)&address, sizeof address) != 0 ? errno : 0;
}

static int open_through(struct output_file *f, mode_t mode)
{
    f->way = THROUGH;
    if (S_ISDIR(mode))
        return EISDIR;
    if (S_ISSOCK(mode))
        return connect_socket(f);
    f->file = open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return f->file < 0 ? errno : 0;
}

/* A file without a name, for reading and writing; beside the linked file, where there should be room for it, or else in /tmp. */
static int open_nameless(const char *path)
{
    char elsewhere[] = P_tmpdir "/orchardXXXXXX";
    char *const linked = realpath(path, NULL), *const slash = linked ? strrchr(linked, '/') : NULL;
    int file = -1;
    if (slash) {
        slash[slash == linked] = 0;
        file = open(linked, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    }
    free(linked);
    if (file < 0 && (file = mkostemp(elsewhere, O_CLOEXEC)) >= 0)
        unlink(elsewhere);
    return file;
}

/* The path is a link to a regular file. */
static int open_linked(struct output_file *f)
{
    f->way = COPIED;
    f->target = open(f->path, O_WRONLY | O_CLOEXEC);
    f->file = f->target < 0 ? -1 : open_nameless(f->path);
    return f->file < 0 ? errno : 0;
}

/* The path is a link to nothing: the linked file is created at once, and deleted unless it is completed. */
static int open_dangling(struct output_file *f)
{
    f->way = THROUGH;
    f->file = open(f->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (f->file < 0)
        return errno;
    char *const created = realpath(f->path, NULL);
    f->temporary = created ? temporary_adopt(created) : NULL;
    const int reason = errno;
    free(created);
    return f->temporary ? 0 : reason;
}

static int open_any(struct output_file *f)
{
    struct stat named, linked;
    if (*f->path == 0)
        return ENOENT;
    if (lstat(f->path, &named) != 0)
        return errno == ENOENT ? open_beside(f, NULL) : errno;
    if (S_ISREG(named.st_mode))
        return open_beside(f, &named);
    if (!S_ISLNK(named.st_mode))
        return open_through(f, named.st_mode);
    if (stat(f->path, &linked) != 0)
        return errno == ENOENT ? open_dangling(f) : errno;
    return S_ISREG(linked.st_mode) ? open_linked(f) : open_through(f, linked.st_mode);
}

struct output_file *output_file_open(const char *path, enum output_durability durability, struct orch_error *error)
{
    struct output_file *const f = calloc(1, sizeof *f);
    if (!f) {
        orch_no_memory(error);
        return NULL;
    }
    f->file = f->target = -1;
    f->durable = durability == OUTPUT_DURABLE;
    f->path = strdup(path);
    const int reason = f->path ? open_any(f) : 0;
    if (f->path && reason == 0 && open_stream(f))
        return f;
    if (reason)
        cannot(path, "created", reason, error);
    else
        orch_no_memory(error);
    output_file_discard(f);
    return NULL;
}

FILE *output_file_stream(struct output_file *f)
{
    return f->stream;
}

/* ---- completing ---- */

bool output_file_flush(struct output_file *f, struct orch_error *error)
{
    if (fflush(f->stream) == 0 && !f->trouble)
        return true;
    return cannot(f->path, "written", f->trouble ? f->trouble : errno, error);
}

/* Closes a descriptor once; 0 or the errno of the close call, which may report a write that failed late. */
static int shut(int *file)
{
    const int open_file = *file;
    *file = -1;
    return open_file < 0 || close(open_file) == 0 ? 0 : errno;
}

static int sync_file(const struct output_file *f, int file)
{
    return !f->durable || fsync(file) == 0 || errno == EINVAL ? 0 : errno;
}

/* Reserves the room by which the linked file must grow. When that fails, the file keeps its old size and content. */
static int reserve(int target, off_t from, off_t to)
{
    const int reason = from < to ? posix_fallocate(target, from, to - from) : 0;
    if (reason == 0 || reason == EOPNOTSUPP || reason == EINVAL)
        return 0;
    return ftruncate(target, from) == 0 ? reason : errno;
}

static int copy_all(struct output_file *f, off_t size)
{
    for (off_t at = 0; at < size;) {
        const ssize_t n = pread(f->file, f->buffer, sizeof f->buffer, at);
        if (n <= 0)
            return n < 0 ? errno : EIO;
        const int reason = write_all(f->target, f->buffer, (size_t)n);
        if (reason)
            return reason;
        at += n;
    }
    return ftruncate(f->target, size) == 0 ? 0 : errno;
}

/* Signals that would end the process wait until the linked file is whole. The stream is closed already, so its buffer is free. */
static int copy_to_target(struct output_file *f)
{
    struct stat before;
    sigset_t endings, old;
    const off_t size = lseek(f->file, 0, SEEK_END);
    if (size < 0 || fstat(f->target, &before) != 0)
        return errno;
    int reason = reserve(f->target, before.st_size, size);
    if (reason)
        return reason;
    sigemptyset(&endings);
    sigaddset(&endings, SIGINT);
    sigaddset(&endings, SIGTERM);
    sigaddset(&endings, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &endings, &old);
    reason = copy_all(f, size);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return reason ? reason : sync_file(f, f->target);
}

/* 0 or an errno. */
static int complete(struct output_file *f)
{
    int reason = f->way == COPIED ? copy_to_target(f) : f->way == RENAMED ? sync_file(f, f->file) : 0;
    const int closed = shut(&f->file), closed_target = shut(&f->target);
    reason = reason ? reason : closed ? closed : closed_target;
    if (reason)
        return reason;
    if (f->way == RENAMED && !temporary_rename(f->temporary, f->path))
        return errno;
    if (f->way == THROUGH)
        temporary_keep(f->temporary);
    f->temporary = NULL;
    return 0;
}

bool output_file_commit(struct output_file *f, struct orch_error *error)
{
    bool ok = output_file_flush(f, error);
    if (ok) {
        fclose(f->stream);
        f->stream = NULL;
        const int reason = complete(f);
        ok = reason == 0 || cannot(f->path, "written", reason, error);
    }
    output_file_discard(f);
    return ok;
}

void output_file_discard(struct output_file *f)
{
    if (!f)
        return;
    if (!f->trouble)
        f->trouble = ECANCELED; /* what is still in the buffer goes nowhere */
    if (f->stream)
        fclose(f->stream);
    shut(&f->file);
    shut(&f->target);
    temporary_remove(f->temporary);
    free(f->path);
    free(f);
}

bool output_file_write(const char *path, const void *bytes, size_t size, struct orch_error *error)
{
    struct output_file *const f = output_file_open(path, OUTPUT_PLAIN, error);
    if (!f)
        return false;
    /* The commit reports a write that failed. */
    if (size > 0)
        fwrite(bytes, 1, size, f->stream);
    return output_file_commit(f, error);
}
