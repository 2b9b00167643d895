/* Files without a name: pairs of sockets of one process, and files in memory. */
#define _GNU_SOURCE
#include "units/cpu/cpu_system_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { L_O_RDWR = 2, L_O_NONBLOCK = 04000, L_O_CLOEXEC = 02000000 };
enum { L_EFBIG = 27, L_ENOTSOCK = 88, L_EOPNOTSUPP = 95, L_EAFNOSUPPORT = 97, L_ESOCKTNOSUPPORT = 94, L_EISCONN = 106 };

/* ---- pairs of sockets: a pipe for each direction ---- */

static void drop_way(struct cpu_pipe **pipe, bool writes)
{
    struct cpu_pipe *const p = *pipe;
    *pipe = NULL;
    if (!p)
        return;
    *(writes ? &p->writers : &p->readers) -= 1;
    if (p->readers + p->writers == 0)
        free(p);
}

void cpu_linux_pair_drop(struct cpu_file *f)
{
    drop_way(&f->pipe, false);
    drop_way(&f->out, true);
}

static struct cpu_pipe *make_way(void)
{
    struct cpu_pipe *const p = calloc(1, sizeof *p);
    if (p)
        p->readers = p->writers = 1;
    return p;
}

/* Two files that lead to each other; false when memory is out. */
static bool make_pair(struct cpu_file *file[2], uint32_t flags)
{
    struct cpu_pipe *const way[2] = {make_way(), make_way()};
    for (unsigned i = 0; i < 2; i++)
        file[i] = cpu_linux_file_make(CPU_FILE_PAIR, "socket");
    if (!way[0] || !way[1] || !file[0] || !file[1]) {
        free(way[0]);
        free(way[1]);
        cpu_linux_file_drop(file[0]);
        cpu_linux_file_drop(file[1]);
        return false;
    }
    for (unsigned i = 0; i < 2; i++) {
        file[i]->pipe = way[i];
        file[i]->out = way[1 - i];
        file[i]->flags = flags;
    }
    return true;
}

int64_t cpu_linux_socketpair(struct cpu_linux_call *c)
{
    enum { UNIX = 1, STREAM = 1, TYPE = 0xf };
    struct cpu_file *file[2];
    if ((uint32_t)c->arg[0] != UNIX)
        return -L_EAFNOSUPPORT;
    if ((c->arg[1] & TYPE) != STREAM) /* of packets, which keep their limits */
        return -L_ESOCKTNOSUPPORT;
    if (!make_pair(file, L_O_RDWR | (uint32_t)(c->arg[1] & L_O_NONBLOCK)))
        return -L_ENOMEM;
    const int32_t first = (int32_t)cpu_linux_file_add(c->system, file[0], 0, c->arg[1] & L_O_CLOEXEC);
    const int32_t second = (int32_t)cpu_linux_file_add(c->system, file[1], 0, c->arg[1] & L_O_CLOEXEC);
    const int32_t pair[2] = {first, second};
    if (first >= 0 && second >= 0)
        return cpu_linux_give(c, c->arg[3], pair, sizeof pair);
    if (first >= 0) {
        c->system->fd[first].file = NULL;
        cpu_linux_file_drop(file[0]);
    }
    return -L_EMFILE;
}

/* The socket of a call, or NULL with *error. */
static struct cpu_file *socket_of(const struct cpu_linux_call *c, int64_t *error)
{
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    *error = !f ? -L_EBADF : f->kind != CPU_FILE_PAIR ? -L_ENOTSOCK : 0;
    return *error ? NULL : f;
}

enum { MSG_DONTWAIT = 0x40, MSG_NOSIGNAL = 0x4000 };

/* Sets the file not to wait for one call; returns what its flags were. */
static uint32_t do_not_wait(struct cpu_file *f, uint64_t flags)
{
    const uint32_t before = f->flags;
    f->flags |= flags & MSG_DONTWAIT ? (uint32_t)L_O_NONBLOCK : 0u;
    return before;
}

int64_t cpu_linux_sendto(struct cpu_linux_call *c)
{
    int64_t error;
    struct cpu_file *const f = socket_of(c, &error);
    if (!f)
        return error;
    if (c->arg[3] & ~(uint64_t)(MSG_DONTWAIT | MSG_NOSIGNAL))
        return -L_EOPNOTSUPP;
    if (c->arg[4])
        return -L_EISCONN;
    if (c->arg[3] & MSG_NOSIGNAL && (!f->out || !f->out->readers))
        return -L_EPIPE;
    const uint8_t *const from = c->arg[2] ? cpu_linux_readable(c, c->arg[1], c->arg[2]) : NULL;
    if (!from)
        return c->arg[2] ? -L_EFAULT : 0;
    const uint32_t before = do_not_wait(f, c->arg[3]);
    const int64_t sent = cpu_linux_file_write(c, f, from, c->arg[2], -1);
    f->flags = before;
    return sent;
}

int64_t cpu_linux_recvfrom(struct cpu_linux_call *c)
{
    const uint32_t no_address = 0;
    int64_t error;
    struct cpu_file *const f = socket_of(c, &error);
    if (!f)
        return error;
    if (c->arg[3] & ~(uint64_t)(MSG_DONTWAIT | MSG_NOSIGNAL))
        return -L_EOPNOTSUPP;
    if (c->arg[4] && c->arg[5] && cpu_linux_give(c, c->arg[5], &no_address, sizeof no_address))
        return -L_EFAULT;
    uint8_t *const to = c->arg[2] ? cpu_linux_writable(c, c->arg[1], c->arg[2]) : NULL;
    if (!to)
        return c->arg[2] ? -L_EFAULT : 0;
    const uint32_t before = do_not_wait(f, c->arg[3]);
    const int64_t got = cpu_linux_file_read(c, f, to, c->arg[2], -1);
    f->flags = before;
    return got;
}

int64_t cpu_linux_shutdown(struct cpu_linux_call *c)
{
    enum { READ = 0, WRITE = 1, BOTH = 2 };
    int64_t error;
    struct cpu_file *const f = socket_of(c, &error);
    if (!f || c->arg[1] > BOTH)
        return f ? -L_EINVAL : error;
    if (c->arg[1] != WRITE)
        drop_way(&f->pipe, false);
    if (c->arg[1] != READ)
        drop_way(&f->out, true);
    cpu_linux_file_news(c->system, cpu_linux_now_ns(c));
    return 0;
}

/* Other calls of sockets: what they are given is a pair, another file or none. */
int64_t cpu_linux_no_socket(struct cpu_linux_call *c)
{
    int64_t error;
    return socket_of(c, &error) ? -L_EOPNOTSUPP : error;
}

/* ---- files in memory: the host's, which has no name there either ---- */

int64_t cpu_linux_memfd_create(struct cpu_linux_call *c)
{
    enum { CLOSE_ON_EXEC = 1, ALLOW_SEALS = 2, KNOWN = CLOSE_ON_EXEC | ALLOW_SEALS };
    char name[CPU_PATH_BYTES];
    const int64_t error = cpu_linux_take_text(c, c->arg[0], name);
    if (error || c->arg[1] & ~(uint64_t)KNOWN)
        return error ? error : -L_EINVAL;
    struct cpu_file *const f = cpu_linux_file_make(CPU_FILE_HOST, "/memfd");
    if (!f)
        return -L_ENOMEM;
    f->host = memfd_create("orchard", MFD_CLOEXEC);
    if (f->host < 0) {
        cpu_linux_file_drop(f);
        return -L_ENOMEM;
    }
    f->flags = L_O_RDWR;
    f->in_memory = true;
    return cpu_linux_file_add(c->system, f, 0, c->arg[1] & CLOSE_ON_EXEC);
}

/* They take memory of the host that the program's own limit does not know. */
#define IN_MEMORY_MOST (UINT64_C(64) << 20)

int64_t cpu_linux_fits_memory(const struct cpu_file *f, int64_t at, uint64_t bytes)
{
    if (!f->in_memory)
        return 0;
    const int64_t from = at < 0 ? lseek(f->host, 0, SEEK_CUR) : at;
    return from < 0 || (uint64_t)from > IN_MEMORY_MOST || bytes > IN_MEMORY_MOST - (uint64_t)from ? -L_EFBIG : 0;
}

/* Shared mappings are copies, which is the same as long as there is one of them. */
int64_t cpu_linux_map_memory(struct cpu_linux_call *c, struct cpu_file *f)
{
    if (!f->in_memory)
        return 0;
    if (f->mapped)
        return cpu_linux_refuse(c, "a second shared mapping of a file in memory would be another copy");
    f->mapped = true;
    return 0;
}
