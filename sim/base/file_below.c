#include "sim/base/file_below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *const slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (!slash)
        return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (length >= sizeof folder)
        return -1;
    memcpy(folder, path, length);
    folder[length] = 0;
    return open(length ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Opens one part of the path below a folder, which is closed. */
static int descend(int folder, const char *part, size_t length, bool last, struct orch_error *error)
{
    char name[NAME_MAX + 1];
    int next = -1;
    if (length == 0 || length > NAME_MAX || (length == 2 && memcmp(part, "..", 2) == 0)) {
        orch_fail(error, ORCH_USAGE, "external data must lie in the folder of the model");
    } else {
        memcpy(name, part, length);
        name[length] = 0;
        next = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
        if (next < 0)
            orch_fail(error, ORCH_USAGE, "external data '%.80s': %s", name,
                      errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    }
    close(folder);
    return next;
}

static int open_inside(const char *path, const char *location, struct orch_error *error)
{
    int at = open_folder(path);
    if (at < 0) {
        orch_fail(error, ORCH_USAGE, "the folder of the model cannot be opened: %s", strerror(errno));
        return -1;
    }
    while (at >= 0) {
        const char *const slash = strchr(location, '/');
        const size_t length = slash ? (size_t)(slash - location) : strlen(location);
        at = descend(at, location, length, !slash, error);
        if (!slash)
            break;
        location = slash + 1;
    }
    return at;
}

bool file_below_length(const char *path, const char *location, uint64_t *bytes, struct orch_error *error)
{
    struct stat st;
    const int file = open_inside(path, location, error);
    if (file < 0)
        return false;
    const bool ok = fstat(file, &st) == 0 && S_ISREG(st.st_mode);
    *bytes = ok ? (uint64_t)st.st_size : 0;
    close(file);
    return ok || orch_fail(error, ORCH_USAGE, "external data '%.80s' is no file", location);
}

bool file_below_read(const char *path, const char *location, uint64_t offset, uint8_t *to, size_t bytes, struct orch_error *error)
{
    struct stat st;
    const int file = open_inside(path, location, error);
    if (file < 0)
        return false;
    bool ok = fstat(file, &st) == 0 && S_ISREG(st.st_mode);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "external data '%.80s' is no file", location);
    else if ((uint64_t)st.st_size < offset || (uint64_t)st.st_size - offset < bytes)
        ok = orch_fail(error, ORCH_USAGE, "external data '%.80s' has %lld bytes; %zu from %llu on are wanted", location,
                       (long long)st.st_size, bytes, (unsigned long long)offset);
    for (size_t done = 0; ok && done < bytes;) {
        const ssize_t got = pread(file, to + done, bytes - done, (off_t)(offset + done));
        if (got <= 0 && errno != EINTR)
            ok = orch_fail(error, ORCH_USAGE, "external data '%.80s' cannot be read", location);
        done += got > 0 ? (size_t)got : 0;
    }
    close(file);
    return ok;
}
