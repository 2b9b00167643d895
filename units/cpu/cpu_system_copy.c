/* Calls of the simulated Linux that copy from one file to another without the program's memory. */
#include "units/cpu/cpu_system_internal.h"

enum { CHUNK_BYTES = 65536 };

/* Where a copy reads or writes: at a position that the program keeps, or where the file stands (addr 0). */
struct place {
    struct cpu_file *file;
    uint64_t addr; /* of the position */
    int64_t at;    /* -1: where the file stands */
};

static int64_t find_place(const struct cpu_linux_call *c, uint64_t fd, uint64_t addr, struct place *p)
{
    *p = (struct place){cpu_linux_file(c->system, fd), addr, -1};
    if (!p->file)
        return -L_EBADF;
    if (addr && cpu_linux_take(c, addr, &p->at, sizeof p->at))
        return -L_EFAULT;
    return addr && p->at < 0 ? -L_EINVAL : 0;
}

static void advance(struct place *p, int64_t bytes)
{
    p->at = p->at < 0 ? -1 : p->at + bytes;
}

/* One chunk, which goes to the output whole: a pipe that is full or a file that cannot be written ends the copy before it. */
static int64_t copy_chunk(struct cpu_linux_call *c, struct place *from, struct place *to, uint64_t bytes)
{
    uint8_t chunk[CHUNK_BYTES];
    const int64_t got = cpu_linux_file_read(c, from->file, chunk, bytes < sizeof chunk ? bytes : sizeof chunk, from->at);
    if (got <= 0)
        return got;
    const int64_t put = cpu_linux_file_write(c, to->file, chunk, (uint64_t)got, to->at);
    if (put > 0) {
        advance(from, put);
        advance(to, put);
    }
    return put;
}

static int64_t copy(struct cpu_linux_call *c, struct place *from, struct place *to, uint64_t bytes)
{
    uint64_t total = 0;
    while (total < bytes) {
        const int64_t n = copy_chunk(c, from, to, bytes - total);
        if (n < 0 && !total)
            return n;
        if (n <= 0)
            break;
        total += (uint64_t)n;
    }
    if ((from->addr && cpu_linux_give(c, from->addr, &from->at, sizeof from->at)) ||
        (to->addr && cpu_linux_give(c, to->addr, &to->at, sizeof to->at)))
        return -L_EFAULT;
    return (int64_t)total;
}

/* Only regular files and the program's output take part: neither ever makes a call wait half way. */
int64_t cpu_linux_sendfile(struct cpu_linux_call *c)
{
    struct place from, to;
    int64_t error = find_place(c, c->arg[1], c->arg[2], &from);
    error = error ? error : find_place(c, c->arg[0], 0, &to);
    if (error)
        return error;
    if (from.file->kind != CPU_FILE_HOST || (to.file->kind != CPU_FILE_HOST && to.file->kind != CPU_FILE_OUTPUT))
        return -L_EINVAL;
    return copy(c, &from, &to, c->arg[3]);
}

int64_t cpu_linux_copy_file_range(struct cpu_linux_call *c)
{
    struct place from, to;
    int64_t error = find_place(c, c->arg[0], c->arg[1], &from);
    error = error ? error : find_place(c, c->arg[2], c->arg[3], &to);
    if (error)
        return error;
    if (from.file->kind != CPU_FILE_HOST || to.file->kind != CPU_FILE_HOST || from.file == to.file || c->arg[5])
        return -L_EINVAL;
    return copy(c, &from, &to, c->arg[4]);
}
