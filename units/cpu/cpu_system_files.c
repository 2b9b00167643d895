/* File calls of the simulated Linux: there are the three standard streams and no other files. */
#include "units/cpu/cpu_system_internal.h"

#include <string.h>

enum { L_AT_EMPTY_PATH = 0x1000 };

static bool is_stream(uint64_t fd)
{
    return (uint32_t)fd <= 2;
}

static int64_t put(struct cpu_linux_call *c, uint64_t fd, uint64_t addr, uint64_t bytes)
{
    if ((uint32_t)fd != 1 && (uint32_t)fd != 2)
        return -L_EBADF;
    if (bytes == 0)
        return 0;
    const uint8_t *host_bytes = cpu_linux_readable(c, addr, bytes);
    if (!host_bytes)
        return -L_EFAULT;
    const struct cpu_host *host = cpu_core_host(c->core);
    if (host && host->write && !host->write(host->context, (int)(uint32_t)fd, host_bytes, bytes))
        return -L_EIO;
    return (int64_t)bytes;
}

int64_t cpu_linux_write(struct cpu_linux_call *c)
{
    return put(c, c->arg[0], c->arg[1], c->arg[2]);
}

int64_t cpu_linux_writev(struct cpu_linux_call *c)
{
    enum { VECTORS_LIMIT = 1024 };
    int64_t total = 0;
    if (c->arg[2] > VECTORS_LIMIT)
        return -L_EINVAL;
    for (uint64_t i = 0; i < c->arg[2]; i++) {
        uint64_t pair[2];
        const uint8_t *host = cpu_linux_readable(c, c->arg[1] + i * sizeof pair, sizeof pair);
        if (!host)
            return total ? total : -L_EFAULT;
        memcpy(pair, host, sizeof pair);
        const int64_t put_bytes = put(c, c->arg[0], pair[0], pair[1]);
        if (put_bytes < 0)
            return total ? total : put_bytes;
        total += put_bytes;
    }
    return total;
}

int64_t cpu_linux_read(struct cpu_linux_call *c) /* standard input is empty */
{
    return (uint32_t)c->arg[0] == 0 ? 0 : -L_EBADF;
}

int64_t cpu_linux_close(struct cpu_linux_call *c)
{
    return is_stream(c->arg[0]) ? 0 : -L_EBADF;
}

int64_t cpu_linux_lseek(struct cpu_linux_call *c)
{
    return is_stream(c->arg[0]) ? -L_ESPIPE : -L_EBADF;
}

int64_t cpu_linux_fcntl(struct cpu_linux_call *c)
{
    enum { L_F_GETFL = 3, L_O_RDWR = 2 };
    if (!is_stream(c->arg[0]))
        return -L_EBADF;
    return c->arg[1] == L_F_GETFL ? L_O_RDWR : 0;
}

int64_t cpu_linux_ioctl(struct cpu_linux_call *c)
{
    return is_stream(c->arg[0]) ? -L_ENOTTY : -L_EBADF;
}

int64_t cpu_linux_no_such_file(struct cpu_linux_call *c)
{
    (void)c;
    return -L_ENOENT;
}

/* The standard streams look like a character device that is not a terminal. struct stat of asm-generic has 128 bytes. */
static int64_t give_stat(struct cpu_linux_call *c, uint64_t fd, uint64_t addr)
{
    enum { STAT_BYTES = 128, MODE_AT = 16, LINKS_AT = 20, BLOCK_AT = 56, CHARACTER_DEVICE_RW = 0020666, BLOCK = 4096 };
    uint8_t stat[STAT_BYTES] = {0};
    const uint32_t mode = CHARACTER_DEVICE_RW, links = 1, block = BLOCK;
    if (!is_stream(fd))
        return -L_EBADF;
    memcpy(stat + MODE_AT, &mode, sizeof mode);
    memcpy(stat + LINKS_AT, &links, sizeof links);
    memcpy(stat + BLOCK_AT, &block, sizeof block);
    return cpu_linux_give(c, addr, stat, sizeof stat);
}

int64_t cpu_linux_fstat(struct cpu_linux_call *c)
{
    return give_stat(c, c->arg[0], c->arg[1]);
}

int64_t cpu_linux_newfstatat(struct cpu_linux_call *c)
{
    const uint8_t *path = cpu_linux_readable(c, c->arg[1], 1);
    if (!path)
        return -L_EFAULT;
    return path[0] == 0 && (c->arg[3] & L_AT_EMPTY_PATH) ? give_stat(c, c->arg[0], c->arg[2]) : -L_ENOENT;
}

int64_t cpu_linux_getcwd(struct cpu_linux_call *c)
{
    if (c->arg[1] < 2)
        return -L_ERANGE;
    const int64_t error = cpu_linux_give(c, c->arg[0], "/", 2);
    return error ? error : 2;
}
