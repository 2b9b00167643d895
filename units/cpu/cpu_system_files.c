/* Files of the simulated Linux: the table of descriptors, and what is done to an open file. */
#define _GNU_SOURCE
#include "units/cpu/cpu_system_internal.h"
#include "units/cpu/cpu_random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VECTORS_LIMIT = 1024, L_O_ACCMODE = 3, L_O_WRONLY = 1, L_O_RDWR = 2, L_O_APPEND = 02000, L_O_NONBLOCK = 04000 };
#define TRANSFER_MOST UINT64_C(0x7ffff000) /* of one call, as on Linux */

/* ---- the table ---- */

struct cpu_file *cpu_linux_file_make(enum cpu_file_kind kind, const char *path)
{
    struct cpu_file *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->kind = kind;
    f->refs = 1;
    f->host = -1;
    f->path = strdup(path);
    if (f->path)
        return f;
    free(f);
    return NULL;
}

static void drop_pipe(struct cpu_file *f)
{
    if (f->kind == CPU_FILE_PAIR)
        cpu_linux_pair_drop(f);
    if (!f->pipe)
        return;
    f->pipe->readers -= f->kind == CPU_FILE_READER;
    f->pipe->writers -= f->kind == CPU_FILE_WRITER;
    if (f->pipe->readers + f->pipe->writers == 0)
        free(f->pipe);
}

void cpu_linux_file_drop(struct cpu_file *f)
{
    if (!f || --f->refs)
        return;
    if (f->host >= 0)
        close(f->host);
    drop_pipe(f);
    for (size_t i = 0; i < f->entries; i++)
        free(f->entry[i]);
    free(f->entry);
    free(f->poll);
    free(f->path);
    free(f);
}

struct cpu_file *cpu_linux_file(const struct cpu_linux *l, uint64_t fd)
{
    return (uint32_t)fd < CPU_FILES_MOST ? l->fd[(uint32_t)fd].file : NULL;
}

int64_t cpu_linux_file_add(struct cpu_linux *l, struct cpu_file *file, unsigned least, bool close_on_exec)
{
    for (unsigned i = least; i < CPU_FILES_MOST; i++)
        if (!l->fd[i].file) {
            l->fd[i] = (struct cpu_descriptor){file, close_on_exec};
            return i;
        }
    cpu_linux_file_drop(file);
    return -L_EMFILE;
}

bool cpu_linux_files_begin(struct cpu_linux *l)
{
    for (int i = 0; i < 3; i++) {
        struct cpu_file *f = cpu_linux_file_make(i ? CPU_FILE_OUTPUT : CPU_FILE_INPUT, i ? "/dev/stdout" : "/dev/stdin");
        if (!f)
            return false;
        f->stream = i;
        f->flags = L_O_RDWR;
        l->fd[i].file = f;
    }
    return true;
}

void cpu_linux_files_end(struct cpu_linux *l)
{
    cpu_linux_write_back(l, 0, UINT64_MAX, true);
    free(l->shared);
    cpu_linux_timers_end(l);
    for (unsigned i = 0; i < CPU_FILES_MOST; i++)
        cpu_linux_file_drop(l->fd[i].file);
}

/* ---- reading ---- */

static int64_t read_input(const struct cpu_linux *l, struct cpu_file *f, uint8_t *to, uint64_t bytes)
{
    const uint64_t left = f->at < l->params.input_bytes ? l->params.input_bytes - f->at : 0;
    const uint64_t n = bytes < left ? bytes : left;
    if (n)
        memcpy(to, (const uint8_t *)l->params.input + f->at, n);
    f->at += n;
    return (int64_t)n;
}

static int64_t read_random(struct cpu_linux *l, uint8_t *to, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += 8) {
        const uint64_t word = cpu_random(&l->random_state);
        memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
    return (int64_t)bytes;
}

static int64_t read_event(struct cpu_linux_call *c, struct cpu_file *f, uint8_t *to, uint64_t bytes)
{
    const struct cpu_wait w = {.kind = CPU_WAIT_FILE, .deadline_ns = CPU_NEVER, .again = true};
    const uint64_t one = 1;
    if (bytes < 8)
        return -L_EINVAL;
    if (!f->at)
        return f->flags & L_O_NONBLOCK ? -L_EAGAIN : cpu_linux_wait(c, &w);
    memcpy(to, f->stream ? &one : &f->at, 8); /* stream 1: a semaphore */
    f->at = f->stream ? f->at - 1 : 0;
    cpu_linux_file_news(c->system, cpu_linux_now_ns(c));
    return 8;
}

static int64_t read_host(const struct cpu_file *f, uint8_t *to, uint64_t bytes, int64_t at)
{
    const ssize_t n = at < 0 ? read(f->host, to, bytes) : pread(f->host, to, bytes, at);
    return n < 0 ? -errno : n;
}

int64_t cpu_linux_file_read(struct cpu_linux_call *c, struct cpu_file *f, uint8_t *to, uint64_t bytes, int64_t at)
{
    if (at >= 0 && f->kind != CPU_FILE_HOST && f->kind != CPU_FILE_ZERO)
        return -L_ESPIPE;
    if ((f->flags & L_O_ACCMODE) == L_O_WRONLY)
        return -L_EBADF;
    switch (f->kind) {
    case CPU_FILE_INPUT: return read_input(c->system, f, to, bytes);
    case CPU_FILE_HOST: return read_host(f, to, bytes, at);
    case CPU_FILE_FOLDER:
    case CPU_FILE_WAY: return -L_EISDIR;
    case CPU_FILE_ZERO: memset(to, 0, bytes); return (int64_t)bytes;
    case CPU_FILE_NULL: return 0;
    case CPU_FILE_RANDOM: return read_random(c->system, to, bytes);
    case CPU_FILE_READER:
    case CPU_FILE_PAIR: return cpu_linux_pipe_read(c, f, to, bytes);
    case CPU_FILE_EVENT:
    case CPU_FILE_TIMER: return read_event(c, f, to, bytes);
    case CPU_FILE_OUTPUT: return -L_EIO; /* a terminal that nobody types at */
    case CPU_FILE_WRITER:
    case CPU_FILE_POLL: break;
    }
    return -L_EBADF;
}

static int64_t get(struct cpu_linux_call *c, uint64_t fd, uint64_t addr, uint64_t bytes, int64_t at)
{
    struct cpu_file *const f = cpu_linux_file(c->system, fd);
    if (!f)
        return -L_EBADF;
    if (bytes == 0)
        return 0;
    bytes = bytes < TRANSFER_MOST ? bytes : TRANSFER_MOST;
    uint8_t *const host = cpu_linux_writable(c, addr, bytes);
    return host ? cpu_linux_file_read(c, f, host, bytes, at) : -L_EFAULT;
}

/* ---- writing ---- */

static int64_t write_output(struct cpu_linux_call *c, const struct cpu_file *f, const uint8_t *from, uint64_t bytes)
{
    const struct cpu_host *host = cpu_core_host(c->core);
    return host && host->write && !host->write(host->context, f->stream, from, bytes) ? -L_EIO : (int64_t)bytes;
}

static int64_t write_event(struct cpu_linux_call *c, struct cpu_file *f, const uint8_t *from, uint64_t bytes)
{
    uint64_t add;
    if (bytes < 8)
        return -L_EINVAL;
    memcpy(&add, from, 8);
    if (add == UINT64_MAX || add > UINT64_MAX - 1 - f->at)
        return -L_EINVAL;
    f->at += add;
    cpu_linux_file_news(c->system, cpu_linux_now_ns(c));
    return 8;
}

static int64_t write_host(const struct cpu_file *f, const uint8_t *from, uint64_t bytes, int64_t at)
{
    const int64_t error = cpu_linux_fits_memory(f, at, bytes);
    if (error)
        return error;
    const ssize_t n = at < 0 ? write(f->host, from, bytes) : pwrite(f->host, from, bytes, at);
    return n < 0 ? -errno : n;
}

int64_t cpu_linux_file_write(struct cpu_linux_call *c, struct cpu_file *f, const uint8_t *from, uint64_t bytes, int64_t at)
{
    if (at >= 0 && f->kind != CPU_FILE_HOST)
        return -L_ESPIPE;
    if ((f->flags & L_O_ACCMODE) == 0 && f->kind != CPU_FILE_WRITER && f->kind != CPU_FILE_EVENT)
        return -L_EBADF;
    switch (f->kind) {
    case CPU_FILE_OUTPUT: return write_output(c, f, from, bytes);
    case CPU_FILE_HOST: return write_host(f, from, bytes, at);
    case CPU_FILE_ZERO:
    case CPU_FILE_NULL:
    case CPU_FILE_RANDOM: return (int64_t)bytes;
    case CPU_FILE_WRITER:
    case CPU_FILE_PAIR: return cpu_linux_pipe_write(c, f, from, bytes);
    case CPU_FILE_EVENT: return write_event(c, f, from, bytes);
    default: return -L_EBADF;
    }
}

static int64_t put(struct cpu_linux_call *c, uint64_t fd, uint64_t addr, uint64_t bytes, int64_t at)
{
    struct cpu_file *const f = cpu_linux_file(c->system, fd);
    if (!f || f->kind == CPU_FILE_INPUT)
        return -L_EBADF;
    if (bytes == 0)
        return 0;
    const uint8_t *host = cpu_linux_readable(c, addr, bytes);
    return host ? cpu_linux_file_write(c, f, host, bytes < TRANSFER_MOST ? bytes : TRANSFER_MOST, at) : -L_EFAULT;
}

int64_t cpu_linux_read(struct cpu_linux_call *c)
{
    return get(c, c->arg[0], c->arg[1], c->arg[2], -1);
}

int64_t cpu_linux_write(struct cpu_linux_call *c)
{
    return put(c, c->arg[0], c->arg[1], c->arg[2], -1);
}

int64_t cpu_linux_pread64(struct cpu_linux_call *c)
{
    return (int64_t)c->arg[3] < 0 ? -L_EINVAL : get(c, c->arg[0], c->arg[1], c->arg[2], (int64_t)c->arg[3]);
}

int64_t cpu_linux_pwrite64(struct cpu_linux_call *c)
{
    return (int64_t)c->arg[3] < 0 ? -L_EINVAL : put(c, c->arg[0], c->arg[1], c->arg[2], (int64_t)c->arg[3]);
}

typedef int64_t move(struct cpu_linux_call *c, uint64_t fd, uint64_t addr, uint64_t bytes, int64_t at);

/* One vector after another until one is not moved as a whole. */
static int64_t move_vectors(struct cpu_linux_call *c, move *each, int64_t at)
{
    int64_t total = 0;
    if (c->arg[2] > VECTORS_LIMIT)
        return -L_EINVAL;
    for (uint64_t i = 0; i < c->arg[2]; i++) {
        uint64_t pair[2];
        const int64_t error = cpu_linux_take(c, c->arg[1] + i * sizeof pair, pair, sizeof pair);
        const int64_t moved = error ? error : each(c, c->arg[0], pair[0], pair[1], at < 0 ? at : at + total);
        if (c->kept || (moved < 0 && !total))
            return moved;
        total += moved > 0 ? moved : 0;
        if (moved < 0 || (uint64_t)moved < pair[1])
            break;
    }
    return total;
}

int64_t cpu_linux_readv(struct cpu_linux_call *c)
{
    return move_vectors(c, get, -1);
}

int64_t cpu_linux_writev(struct cpu_linux_call *c)
{
    return move_vectors(c, put, -1);
}

int64_t cpu_linux_preadv(struct cpu_linux_call *c)
{
    return (int64_t)c->arg[3] < 0 ? -L_EINVAL : move_vectors(c, get, (int64_t)c->arg[3]);
}

int64_t cpu_linux_pwritev(struct cpu_linux_call *c)
{
    return (int64_t)c->arg[3] < 0 ? -L_EINVAL : move_vectors(c, put, (int64_t)c->arg[3]);
}

/* ---- positions, sizes ---- */

int64_t cpu_linux_lseek(struct cpu_linux_call *c)
{
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    if (!f)
        return -L_EBADF;
    if (f->kind == CPU_FILE_FOLDER || f->kind == CPU_FILE_WAY) {
        if (c->arg[2] != SEEK_SET)
            return -L_EINVAL;
        f->at = c->arg[1];
        return (int64_t)c->arg[1];
    }
    if (f->kind != CPU_FILE_HOST)
        return f->kind == CPU_FILE_ZERO || f->kind == CPU_FILE_NULL ? 0 : -L_ESPIPE;
    if (c->arg[2] > SEEK_END)
        return -L_EINVAL;
    const off_t at = lseek(f->host, (off_t)c->arg[1], (int)c->arg[2]);
    return at < 0 ? -errno : at;
}

static const struct cpu_file *written_file(const struct cpu_linux_call *c, int64_t *error)
{
    const struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    *error = !f ? -L_EBADF : f->kind != CPU_FILE_HOST || (f->flags & L_O_ACCMODE) == 0 ? -L_EINVAL : 0;
    return f;
}

int64_t cpu_linux_ftruncate(struct cpu_linux_call *c)
{
    int64_t error;
    const struct cpu_file *const f = written_file(c, &error);
    error = error ? error : cpu_linux_fits_memory(f, 0, c->arg[1]);
    return error ? error : ftruncate(f->host, (off_t)c->arg[1]) == 0 ? 0 : -errno;
}

int64_t cpu_linux_fallocate(struct cpu_linux_call *c)
{
    int64_t error;
    const struct cpu_file *const f = written_file(c, &error);
    error = error ? error : cpu_linux_fits_memory(f, (int64_t)c->arg[2], c->arg[3]);
    if (error)
        return error;
    const int failed = c->arg[1] ? L_EINVAL : posix_fallocate(f->host, (off_t)c->arg[2], (off_t)c->arg[3]);
    return -failed;
}

/* What the program wrote is in the host's file already. */
int64_t cpu_linux_fsync(struct cpu_linux_call *c)
{
    const struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    return !f ? -L_EBADF : f->kind == CPU_FILE_HOST || f->kind == CPU_FILE_FOLDER || f->kind == CPU_FILE_WAY ? 0 : -L_EINVAL;
}

int64_t cpu_linux_fadvise64(struct cpu_linux_call *c)
{
    return cpu_linux_file(c->system, c->arg[0]) ? 0 : -L_EBADF;
}

/* ---- descriptors ---- */

int64_t cpu_linux_close(struct cpu_linux_call *c)
{
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    if (!f)
        return -L_EBADF;
    c->system->fd[(uint32_t)c->arg[0]].file = NULL;
    cpu_linux_file_drop(f);
    cpu_linux_file_news(c->system, cpu_linux_now_ns(c)); /* the other end of a pipe */
    return 0;
}

int64_t cpu_linux_close_range(struct cpu_linux_call *c)
{
    const uint32_t last = (uint32_t)c->arg[1] < CPU_FILES_MOST ? (uint32_t)c->arg[1] : CPU_FILES_MOST - 1;
    if ((uint32_t)c->arg[0] > (uint32_t)c->arg[1] || c->arg[2])
        return -L_EINVAL;
    for (uint32_t fd = (uint32_t)c->arg[0]; fd <= last; fd++) {
        cpu_linux_file_drop(c->system->fd[fd].file);
        c->system->fd[fd].file = NULL;
    }
    cpu_linux_file_news(c->system, cpu_linux_now_ns(c));
    return 0;
}

static int64_t duplicate(struct cpu_linux_call *c, struct cpu_file *f, unsigned least, bool close_on_exec)
{
    f->refs++;
    return cpu_linux_file_add(c->system, f, least, close_on_exec);
}

int64_t cpu_linux_dup(struct cpu_linux_call *c)
{
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    return f ? duplicate(c, f, 0, false) : -L_EBADF;
}

int64_t cpu_linux_dup3(struct cpu_linux_call *c)
{
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    const uint32_t to = (uint32_t)c->arg[1];
    if (!f || to >= CPU_FILES_MOST)
        return -L_EBADF;
    if ((uint32_t)c->arg[0] == to)
        return -L_EINVAL;
    f->refs++;
    cpu_linux_file_drop(c->system->fd[to].file);
    c->system->fd[to] = (struct cpu_descriptor){f, c->arg[2] != 0};
    return to;
}

int64_t cpu_linux_fcntl(struct cpu_linux_call *c)
{
    enum { DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW, DUPFD_CLOEXEC = 1030, UNLOCKED = 2 };
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    if (!f)
        return -L_EBADF;
    struct cpu_descriptor *const d = &c->system->fd[(uint32_t)c->arg[0]];
    const int16_t unlocked = UNLOCKED;
    switch (c->arg[1]) {
    case DUPFD:
    case DUPFD_CLOEXEC:
        return c->arg[2] < CPU_FILES_MOST ? duplicate(c, f, (unsigned)c->arg[2], c->arg[1] == DUPFD_CLOEXEC) : -L_EINVAL;
    case GETFD: return d->close_on_exec;
    case SETFD: d->close_on_exec = c->arg[2] & 1; return 0;
    case GETFL: return f->flags;
    case SETFL:
        f->flags = (f->flags & ~(uint32_t)(L_O_APPEND | L_O_NONBLOCK)) | ((uint32_t)c->arg[2] & (L_O_APPEND | L_O_NONBLOCK));
        return 0;
    case GETLK: return cpu_linux_give(c, c->arg[2], &unlocked, sizeof unlocked);
    case SETLK:
    case SETLKW: return 0; /* there is one process */
    default: return -L_EINVAL;
    }
}

/* No file is a terminal. */
int64_t cpu_linux_ioctl(struct cpu_linux_call *c)
{
    enum { L_FIONBIO = 0x5421 };
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    int32_t on;
    if (!f)
        return -L_EBADF;
    if (c->arg[1] != L_FIONBIO)
        return -L_ENOTTY;
    if (cpu_linux_take(c, c->arg[2], &on, sizeof on))
        return -L_EFAULT;
    f->flags = on ? f->flags | L_O_NONBLOCK : f->flags & ~(uint32_t)L_O_NONBLOCK;
    return 0;
}
