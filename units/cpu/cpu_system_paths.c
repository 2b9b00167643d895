/* Calls of the simulated Linux that name files: all of them go through the sandbox. */
#define _GNU_SOURCE
#include "units/cpu/cpu_system_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { L_AT_FDCWD = -100, L_AT_SYMLINK_NOFOLLOW = 0x100, L_AT_REMOVEDIR = 0x200, L_AT_EMPTY_PATH = 0x1000 };
enum {
    L_O_ACCMODE = 3,
    L_O_CREAT = 0100,
    L_O_EXCL = 0200,
    L_O_TRUNC = 01000,
    L_O_APPEND = 02000,
    L_O_DIRECTORY = 040000,
    L_O_NOFOLLOW = 0100000,
    L_O_CLOEXEC = 02000000,
    L_O_TMPFILE = 020000000
};
#define SELF_PROGRAM "/proc/self/exe"

/* ---- which file ---- */

int64_t cpu_linux_path(const struct cpu_linux_call *c, uint64_t folder, uint64_t addr, char path[CPU_PATH_BYTES])
{
    char text[CPU_PATH_BYTES];
    const char *from = c->system->folder;
    const int64_t error = cpu_linux_take_text(c, addr, text);
    if (error)
        return error;
    if (!text[0])
        return -L_ENOENT;
    if (text[0] != '/' && (int32_t)folder != L_AT_FDCWD) {
        const struct cpu_file *const f = cpu_linux_file(c->system, folder);
        if (!f)
            return -L_EBADF;
        if (f->kind != CPU_FILE_FOLDER && f->kind != CPU_FILE_WAY)
            return -L_ENOTDIR;
        from = f->path;
    }
    return cpu_path_join(from, text, path) ? 0 : -L_ENAMETOOLONG;
}

/* Runtimes look for much that need not be there; what a program itself misses is remembered, once. */
static int64_t missed(struct cpu_linux *l, const char *path, int64_t error)
{
    static const char *const looked_at[] = {"/proc", "/sys", "/dev", "/etc", "/usr/share/zoneinfo", "/usr/lib/locale"};
    if (error != -L_ENOENT || l->missed || cpu_sandbox_mounted(l->sandbox, path))
        return error;
    for (size_t i = 0; i < sizeof looked_at / sizeof looked_at[0]; i++)
        if (strncmp(path, looked_at[i], strlen(looked_at[i])) == 0)
            return error;
    l->missed = true;
    snprintf(l->missing, sizeof l->missing, "%s", path);
    return error;
}

/* Devices that have nothing to do with the host. */
static bool is_device(const struct cpu_linux *l, const char *path, enum cpu_file_kind *kind)
{
    static const struct {
        const char *path;
        enum cpu_file_kind kind;
    } devices[] = {{"/dev/null", CPU_FILE_NULL},
                   {"/dev/zero", CPU_FILE_ZERO},
                   {"/dev/urandom", CPU_FILE_RANDOM},
                   {"/dev/random", CPU_FILE_RANDOM}};
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (strcmp(path, devices[i].path) == 0 && !cpu_sandbox_mounted(l->sandbox, path)) {
            *kind = devices[i].kind;
            return true;
        }
    return false;
}

/* ---- opening ---- */

static int host_flags(uint64_t flags)
{
    return (int)(flags & (L_O_ACCMODE | L_O_CREAT | L_O_EXCL | L_O_TRUNC | L_O_APPEND)) |
           (flags & L_O_DIRECTORY ? O_DIRECTORY : 0) | (flags & L_O_NOFOLLOW ? O_NOFOLLOW : 0);
}

static int64_t keep(struct cpu_linux_call *c, enum cpu_file_kind kind, const char *path, int host, uint64_t flags)
{
    struct cpu_file *const f = cpu_linux_file_make(kind, path);
    if (!f) {
        if (host >= 0)
            close(host);
        return -L_ENOMEM;
    }
    f->host = host;
    f->flags = (uint32_t)(flags & (L_O_ACCMODE | L_O_APPEND));
    return cpu_linux_file_add(c->system, f, 0, flags & L_O_CLOEXEC);
}

static int64_t open_path(struct cpu_linux_call *c, const char *path, uint64_t flags, unsigned mode)
{
    struct cpu_linux *const l = c->system;
    enum cpu_file_kind kind;
    struct stat st;
    if ((flags & L_O_TMPFILE) == L_O_TMPFILE || (flags & L_O_ACCMODE) == L_O_ACCMODE)
        return -L_EINVAL;
    if (is_device(l, path, &kind))
        return flags & L_O_DIRECTORY ? -L_ENOTDIR : keep(c, kind, path, -1, flags);
    if (cpu_sandbox_is_way(l->sandbox, path))
        return flags & L_O_ACCMODE ? -L_EISDIR : flags & L_O_CREAT ? -L_EISDIR : keep(c, CPU_FILE_WAY, path, -1, flags);
    const int host = cpu_sandbox_open(l->sandbox, path, host_flags(flags), mode);
    if (host < 0)
        return missed(l, path, host);
    const bool folder = fstat(host, &st) == 0 && S_ISDIR(st.st_mode);
    return keep(c, folder ? CPU_FILE_FOLDER : CPU_FILE_HOST, path, host, flags);
}

int64_t cpu_linux_openat(struct cpu_linux_call *c)
{
    char path[CPU_PATH_BYTES];
    const int64_t error = cpu_linux_path(c, c->arg[0], c->arg[1], path);
    return error ? error : open_path(c, path, c->arg[2], (unsigned)c->arg[3]);
}

/* ---- what a file is ---- */

static void stream_stat(const struct cpu_file *f, struct stat *st)
{
    const bool pipe = f->kind == CPU_FILE_READER || f->kind == CPU_FILE_WRITER;
    const mode_t mode = f->kind == CPU_FILE_PAIR ? S_IFSOCK | 0777 : pipe ? S_IFIFO | 0600 : S_IFCHR | 0666;
    *st = (struct stat){.st_mode = mode, .st_nlink = 1, .st_blksize = 4096};
}

static int64_t file_stat(const struct cpu_linux *l, const struct cpu_file *f, struct stat *st)
{
    if (f->kind == CPU_FILE_WAY)
        return cpu_sandbox_stat(l->sandbox, f->path, true, st);
    if (f->host >= 0)
        return fstat(f->host, st) == 0 ? 0 : -L_EIO;
    stream_stat(f, st);
    return 0;
}

static int64_t path_stat(struct cpu_linux *l, const char *path, bool follow, struct stat *st)
{
    enum cpu_file_kind kind;
    if (is_device(l, path, &kind)) {
        stream_stat(&(struct cpu_file){.kind = kind}, st);
        return 0;
    }
    return missed(l, path, cpu_sandbox_stat(l->sandbox, path, follow, st));
}

/* What a call names by folder, text and flags. */
static int64_t find_stat(struct cpu_linux_call *c, uint64_t folder, uint64_t addr, uint64_t flags, struct stat *st)
{
    char path[CPU_PATH_BYTES];
    const uint8_t *const text = cpu_linux_readable(c, addr, 1);
    if (!text)
        return -L_EFAULT;
    if (!text[0] && flags & L_AT_EMPTY_PATH && (int32_t)folder != L_AT_FDCWD) {
        const struct cpu_file *const f = cpu_linux_file(c->system, folder);
        return f ? file_stat(c->system, f, st) : -L_EBADF;
    }
    const int64_t error = cpu_linux_path(c, folder, addr, path);
    return error ? error : path_stat(c->system, path, !(flags & L_AT_SYMLINK_NOFOLLOW), st);
}

static void set(uint8_t *at, uint64_t value, size_t bytes)
{
    memcpy(at, &value, bytes);
}

/* struct stat of asm-generic has 128 bytes. Users, devices and the time of the last access are not the host's. */
static int64_t give_stat(struct cpu_linux_call *c, uint64_t addr, const struct stat *st)
{
    uint8_t to[128] = {0};
    set(to + 8, st->st_ino, 8);
    set(to + 16, st->st_mode, 4);
    set(to + 20, st->st_nlink, 4);
    set(to + 24, S_ISCHR(st->st_mode) ? 0 : CPU_USER_ID, 4);
    set(to + 28, S_ISCHR(st->st_mode) ? 0 : CPU_USER_ID, 4);
    set(to + 48, (uint64_t)st->st_size, 8);
    set(to + 56, (uint64_t)st->st_blksize, 4);
    set(to + 64, (uint64_t)st->st_blocks, 8);
    for (int i = 0; i < 3; i++) {
        set(to + 72 + 16 * i, (uint64_t)st->st_mtim.tv_sec, 8);
        set(to + 80 + 16 * i, (uint64_t)st->st_mtim.tv_nsec, 8);
    }
    return cpu_linux_give(c, addr, to, sizeof to);
}

int64_t cpu_linux_fstat(struct cpu_linux_call *c)
{
    const struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    struct stat st;
    const int64_t error = f ? file_stat(c->system, f, &st) : -L_EBADF;
    return error ? error : give_stat(c, c->arg[1], &st);
}

int64_t cpu_linux_newfstatat(struct cpu_linux_call *c)
{
    struct stat st;
    const int64_t error = find_stat(c, c->arg[0], c->arg[1], c->arg[3], &st);
    return error ? error : give_stat(c, c->arg[2], &st);
}

int64_t cpu_linux_statx(struct cpu_linux_call *c)
{
    enum { BASIC = 0x7ff };
    uint8_t to[256] = {0};
    struct stat st;
    const int64_t error = find_stat(c, c->arg[0], c->arg[1], c->arg[2], &st);
    if (error)
        return error;
    set(to, BASIC, 4);
    set(to + 4, (uint64_t)st.st_blksize, 4);
    set(to + 16, st.st_nlink, 4);
    set(to + 20, CPU_USER_ID, 4);
    set(to + 24, CPU_USER_ID, 4);
    set(to + 28, st.st_mode, 2);
    set(to + 32, st.st_ino, 8);
    set(to + 40, (uint64_t)st.st_size, 8);
    set(to + 48, (uint64_t)st.st_blocks, 8);
    for (int i = 0; i < 4; i++) {
        set(to + 64 + 16 * i, (uint64_t)st.st_mtim.tv_sec, 8);
        set(to + 72 + 16 * i, (uint64_t)st.st_mtim.tv_nsec, 4);
    }
    return cpu_linux_give(c, c->arg[4], to, sizeof to);
}

static int64_t give_statfs(struct cpu_linux_call *c, uint64_t addr)
{
    const uint64_t words[15] = {0x858458f6, 4096, 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, 0, 255, 4096};
    return cpu_linux_give(c, addr, words, sizeof words);
}

int64_t cpu_linux_statfs(struct cpu_linux_call *c)
{
    char path[CPU_PATH_BYTES];
    struct stat st;
    int64_t error = cpu_linux_path(c, (uint64_t)L_AT_FDCWD, c->arg[0], path);
    error = error ? error : path_stat(c->system, path, true, &st);
    return error ? error : give_statfs(c, c->arg[1]);
}

int64_t cpu_linux_fstatfs(struct cpu_linux_call *c)
{
    return cpu_linux_file(c->system, c->arg[0]) ? give_statfs(c, c->arg[1]) : -L_EBADF;
}

int64_t cpu_linux_faccessat(struct cpu_linux_call *c)
{
    char path[CPU_PATH_BYTES];
    enum cpu_file_kind kind;
    const int64_t error = cpu_linux_path(c, c->arg[0], c->arg[1], path);
    if (error)
        return error;
    if (is_device(c->system, path, &kind))
        return 0;
    return missed(c->system, path, cpu_sandbox_access(c->system->sandbox, path, (unsigned)c->arg[2] & 7));
}

int64_t cpu_linux_readlinkat(struct cpu_linux_call *c)
{
    char path[CPU_PATH_BYTES], text[CPU_PATH_BYTES];
    const char *const name = c->system->params.name ? c->system->params.name : "/program";
    const int64_t error = cpu_linux_path(c, c->arg[0], c->arg[1], path);
    if (error)
        return error;
    if ((int64_t)c->arg[3] <= 0)
        return -L_EINVAL;
    int64_t n = strcmp(path, SELF_PROGRAM) == 0 ? snprintf(text, sizeof text, "%s%s", name[0] == '/' ? "" : "/", name)
                                                : cpu_sandbox_readlink(c->system->sandbox, path, text, sizeof text);
    if (n < 0)
        return missed(c->system, path, n);
    n = n < (int64_t)c->arg[3] ? n : (int64_t)c->arg[3];
    return n && cpu_linux_give(c, c->arg[2], text, (size_t)n) ? -L_EFAULT : n;
}

/* ---- changing what a file is ---- */

int64_t cpu_linux_truncate(struct cpu_linux_call *c)
{
    char path[CPU_PATH_BYTES];
    int64_t error = cpu_linux_path(c, (uint64_t)L_AT_FDCWD, c->arg[0], path);
    if (error)
        return error;
    const int host = cpu_sandbox_open(c->system->sandbox, path, O_WRONLY, 0);
    if (host < 0)
        return missed(c->system, path, host);
    error = ftruncate(host, (off_t)c->arg[1]) == 0 ? 0 : -errno;
    close(host);
    return error;
}

/* Times stay those of the host: what is told is whether there is such a file, which programs ask before they make it. */
int64_t cpu_linux_utimensat(struct cpu_linux_call *c)
{
    struct stat st;
    if (!c->arg[1])
        return cpu_linux_file(c->system, c->arg[0]) ? 0 : -L_EBADF;
    return find_stat(c, c->arg[0], c->arg[1], c->arg[3], &st);
}

/* So do permissions. */
int64_t cpu_linux_fchmodat(struct cpu_linux_call *c)
{
    struct stat st;
    return find_stat(c, c->arg[0], c->arg[1], 0, &st);
}

/* ---- changing folders ---- */

int64_t cpu_linux_unlinkat(struct cpu_linux_call *c)
{
    char path[CPU_PATH_BYTES];
    const int64_t error = cpu_linux_path(c, c->arg[0], c->arg[1], path);
    return error ? error : missed(c->system, path, cpu_sandbox_unlink(c->system->sandbox, path, c->arg[2] & L_AT_REMOVEDIR));
}

int64_t cpu_linux_mkdirat(struct cpu_linux_call *c)
{
    char path[CPU_PATH_BYTES];
    const int64_t error = cpu_linux_path(c, c->arg[0], c->arg[1], path);
    return error ? error : missed(c->system, path, cpu_sandbox_mkdir(c->system->sandbox, path, (unsigned)c->arg[2]));
}

static int64_t rename_with(struct cpu_linux_call *c, unsigned flags)
{
    char from[CPU_PATH_BYTES], to[CPU_PATH_BYTES];
    int64_t error = cpu_linux_path(c, c->arg[0], c->arg[1], from);
    error = error ? error : cpu_linux_path(c, c->arg[2], c->arg[3], to);
    return error ? error : missed(c->system, from, cpu_sandbox_rename(c->system->sandbox, from, to, flags));
}

int64_t cpu_linux_renameat(struct cpu_linux_call *c)
{
    return rename_with(c, 0);
}

int64_t cpu_linux_renameat2(struct cpu_linux_call *c)
{
    return c->arg[4] > 3 ? -L_EINVAL : rename_with(c, (unsigned)c->arg[4]);
}

/* Programs make no links, devices or other users' files. */
int64_t cpu_linux_not_permitted(struct cpu_linux_call *c)
{
    (void)c;
    return -L_EPERM;
}

/* ---- the working directory ---- */

int64_t cpu_linux_getcwd(struct cpu_linux_call *c)
{
    const size_t bytes = strlen(c->system->folder) + 1;
    if (c->arg[1] < bytes)
        return -L_ERANGE;
    const int64_t error = cpu_linux_give(c, c->arg[0], c->system->folder, bytes);
    return error ? error : (int64_t)bytes;
}

static int64_t go_to(struct cpu_linux_call *c, const char *path)
{
    struct stat st;
    const int64_t error = path_stat(c->system, path, true, &st);
    if (error)
        return error;
    if (!S_ISDIR(st.st_mode))
        return -L_ENOTDIR;
    snprintf(c->system->folder, sizeof c->system->folder, "%s", path);
    return 0;
}

int64_t cpu_linux_chdir(struct cpu_linux_call *c)
{
    char path[CPU_PATH_BYTES];
    const int64_t error = cpu_linux_path(c, (uint64_t)L_AT_FDCWD, c->arg[0], path);
    return error ? error : go_to(c, path);
}

int64_t cpu_linux_fchdir(struct cpu_linux_call *c)
{
    const struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    return f ? go_to(c, f->path) : -L_EBADF;
}
