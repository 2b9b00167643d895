#include "units/cpu/cpu_system.h"
#include "isa/array_count.h"
#include "units/cpu/cpu_random.h"
#include "units/cpu/cpu_system_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2024-01-01 00:00:00 UTC: any fixed date makes runs repeatable. */
#define WALL_CLOCK_START_S 1704067200
#define NS_PER_S           UINT64_C(1000000000)
#define STACK_LIMIT_BYTES  (UINT64_C(8) << 20)
enum { PROCESS_ID = 1000, USER_ID = 1000 };
enum { L_CLOCK_REALTIME = 0, L_CLOCK_REALTIME_COARSE = 5, L_CLOCK_COUNT = 12 };
enum { L_RLIMIT_STACK = 3 };
enum { L_AT_EMPTY_PATH = 0x1000 };

static uint8_t *readable(const struct cpu_linux_call *c, uint64_t addr, uint64_t bytes)
{
    return mem_at(c->system->space, addr, bytes, MEM_READ);
}

/* Copies to the program's memory; bytes must be at least 1. */
static bool give(const struct cpu_linux_call *c, uint64_t addr, const void *from, size_t bytes)
{
    uint8_t *host = mem_at(c->system->space, addr, bytes, MEM_WRITE);
    if (host)
        memcpy(host, from, bytes);
    return host != NULL;
}

static int64_t give_or_fault(const struct cpu_linux_call *c, uint64_t addr, const void *from, size_t bytes)
{
    return give(c, addr, from, bytes) ? 0 : -L_EFAULT;
}

static bool is_stream(uint64_t fd)
{
    return (uint32_t)fd <= 2;
}

static uint64_t now_ns(const struct cpu_linux_call *c)
{
    return cpu_core_now_ns(c->core) + c->system->slept_ns;
}

/* ---- output and files ---- */

static int64_t put(struct cpu_linux_call *c, uint64_t fd, uint64_t addr, uint64_t bytes)
{
    if ((uint32_t)fd != 1 && (uint32_t)fd != 2)
        return -L_EBADF;
    if (bytes == 0)
        return 0;
    const uint8_t *host_bytes = readable(c, addr, bytes);
    if (!host_bytes)
        return -L_EFAULT;
    const struct cpu_host *host = cpu_core_host(c->core);
    if (host && host->write && !host->write(host->context, (int)(uint32_t)fd, host_bytes, bytes))
        return -L_EIO;
    return (int64_t)bytes;
}

static int64_t call_write(struct cpu_linux_call *c)
{
    return put(c, c->arg[0], c->arg[1], c->arg[2]);
}

static int64_t call_writev(struct cpu_linux_call *c)
{
    enum { VECTORS_LIMIT = 1024 };
    int64_t total = 0;
    if (c->arg[2] > VECTORS_LIMIT)
        return -L_EINVAL;
    for (uint64_t i = 0; i < c->arg[2]; i++) {
        uint64_t pair[2];
        const uint8_t *host = readable(c, c->arg[1] + i * sizeof pair, sizeof pair);
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

static int64_t call_read(struct cpu_linux_call *c) /* standard input is empty */
{
    return (uint32_t)c->arg[0] == 0 ? 0 : -L_EBADF;
}

static int64_t call_close(struct cpu_linux_call *c)
{
    return is_stream(c->arg[0]) ? 0 : -L_EBADF;
}

static int64_t call_lseek(struct cpu_linux_call *c)
{
    return is_stream(c->arg[0]) ? -L_ESPIPE : -L_EBADF;
}

static int64_t call_fcntl(struct cpu_linux_call *c)
{
    enum { L_F_GETFL = 3, L_O_RDWR = 2 };
    if (!is_stream(c->arg[0]))
        return -L_EBADF;
    return c->arg[1] == L_F_GETFL ? L_O_RDWR : 0;
}

static int64_t call_ioctl(struct cpu_linux_call *c)
{
    return is_stream(c->arg[0]) ? -L_ENOTTY : -L_EBADF;
}

static int64_t no_such_file(struct cpu_linux_call *c)
{
    (void)c;
    return -L_ENOENT;
}

/* The standard streams look like a character device that is no terminal. struct stat of asm-generic: 128 bytes. */
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
    return give_or_fault(c, addr, stat, sizeof stat);
}

static int64_t call_fstat(struct cpu_linux_call *c)
{
    return give_stat(c, c->arg[0], c->arg[1]);
}

static int64_t call_newfstatat(struct cpu_linux_call *c)
{
    const uint8_t *path = readable(c, c->arg[1], 1);
    if (!path)
        return -L_EFAULT;
    return path[0] == 0 && (c->arg[3] & L_AT_EMPTY_PATH) ? give_stat(c, c->arg[0], c->arg[2]) : -L_ENOENT;
}

static int64_t call_getcwd(struct cpu_linux_call *c)
{
    if (c->arg[1] < 2)
        return -L_ERANGE;
    return give(c, c->arg[0], "/", 2) ? 2 : -L_EFAULT;
}

/* ---- time ---- */

static int64_t give_time(struct cpu_linux_call *c, uint64_t addr, uint64_t ns, bool wall)
{
    const int64_t spec[2] = {(int64_t)(ns / NS_PER_S) + (wall ? WALL_CLOCK_START_S : 0), (int64_t)(ns % NS_PER_S)};
    return give_or_fault(c, addr, spec, sizeof spec);
}

static int64_t call_clock_gettime(struct cpu_linux_call *c)
{
    if ((int32_t)c->arg[0] >= L_CLOCK_COUNT)
        return -L_EINVAL;
    const bool wall = c->arg[0] == L_CLOCK_REALTIME || c->arg[0] == L_CLOCK_REALTIME_COARSE;
    return give_time(c, c->arg[1], now_ns(c), wall);
}

static int64_t call_clock_getres(struct cpu_linux_call *c)
{
    return c->arg[1] ? give_time(c, c->arg[1], 1, false) : 0;
}

static int64_t call_gettimeofday(struct cpu_linux_call *c)
{
    const uint64_t us = now_ns(c) / 1000;
    const int64_t value[2] = {(int64_t)(us / 1000000) + WALL_CLOCK_START_S, (int64_t)(us % 1000000)};
    return c->arg[0] ? give_or_fault(c, c->arg[0], value, sizeof value) : 0;
}

/* Sleeping takes no work: the program's clock jumps. */
static int64_t sleep_for(struct cpu_linux_call *c, uint64_t addr)
{
    int64_t spec[2];
    const uint8_t *host = readable(c, addr, sizeof spec);
    if (!host)
        return -L_EFAULT;
    memcpy(spec, host, sizeof spec);
    if (spec[0] < 0 || spec[1] < 0 || spec[1] >= (int64_t)NS_PER_S)
        return -L_EINVAL;
    c->system->slept_ns += (uint64_t)spec[0] * NS_PER_S + (uint64_t)spec[1];
    return 0;
}

static int64_t call_nanosleep(struct cpu_linux_call *c)
{
    return sleep_for(c, c->arg[0]);
}

static int64_t call_clock_nanosleep(struct cpu_linux_call *c)
{
    return c->arg[1] ? -L_EINVAL : sleep_for(c, c->arg[2]); /* absolute times are not kept */
}

/* ---- the process and the machine ---- */

static int64_t call_exit(struct cpu_linux_call *c)
{
    c->stop = true;
    c->exit_code = (int)(c->arg[0] & 0xff);
    return 0;
}

static int64_t raise_signal(struct cpu_linux_call *c, uint64_t signal)
{
    enum { L_SIGABRT = 6 };
    if (signal == 0)
        return 0;
    c->stop = true;
    c->fault->kind = UNIT_FAULT_TRAP;
    snprintf(c->fault->text, sizeof c->fault->text, "the program %s itself signal %" PRIu64 "%s",
             signal == L_SIGABRT ? "aborted: it sent" : "sent", signal, signal == L_SIGABRT ? " (SIGABRT)" : "");
    return 0;
}

static int64_t call_kill(struct cpu_linux_call *c) /* kill and tkill: target, signal */
{
    return raise_signal(c, c->arg[1]);
}

static int64_t call_tgkill(struct cpu_linux_call *c)
{
    return raise_signal(c, c->arg[2]);
}

static int64_t done(struct cpu_linux_call *c) /* accepted, without effect */
{
    (void)c;
    return 0;
}

static int64_t not_there(struct cpu_linux_call *c)
{
    (void)c;
    return -L_ENOSYS;
}

static int64_t no_memory(struct cpu_linux_call *c)
{
    (void)c;
    return -L_ENOMEM;
}

static int64_t process_id(struct cpu_linux_call *c)
{
    (void)c;
    return PROCESS_ID;
}

static int64_t parent_id(struct cpu_linux_call *c)
{
    (void)c;
    return 1;
}

static int64_t user_id(struct cpu_linux_call *c)
{
    (void)c;
    return USER_ID;
}

static int64_t call_uname(struct cpu_linux_call *c)
{
    enum { FIELD = 65, FIELDS = 6 };
    static const char *const text[FIELDS] = {"Linux", "orchard", "6.1.0", "#1", "aarch64", "(none)"};
    char names[FIELDS][FIELD] = {{0}};
    for (int i = 0; i < FIELDS; i++)
        memcpy(names[i], text[i], strlen(text[i]));
    return give_or_fault(c, c->arg[0], names, sizeof names);
}

static int64_t call_prlimit64(struct cpu_linux_call *c)
{
    const uint64_t limit = c->arg[1] == L_RLIMIT_STACK ? STACK_LIMIT_BYTES : UINT64_MAX;
    const uint64_t pair[2] = {limit, limit};
    return c->arg[3] ? give_or_fault(c, c->arg[3], pair, sizeof pair) : 0;
}

/* C libraries size their sort buffers by this. struct sysinfo: 112 bytes, totalram at 32, freeram at 40, mem_unit at 104. */
static int64_t call_sysinfo(struct cpu_linux_call *c)
{
    enum { SYSINFO_BYTES = 112, TOTAL_AT = 32, FREE_AT = 40, PROCESSES_AT = 80, UNIT_AT = 104 };
    uint8_t info[SYSINFO_BYTES] = {0};
    const uint64_t total = c->system->space->bytes, unused = total - c->system->space->mapped_bytes;
    const uint16_t processes = 1;
    const uint32_t unit = 1;
    memcpy(info + TOTAL_AT, &total, sizeof total);
    memcpy(info + FREE_AT, &unused, sizeof unused);
    memcpy(info + PROCESSES_AT, &processes, sizeof processes);
    memcpy(info + UNIT_AT, &unit, sizeof unit);
    return give_or_fault(c, c->arg[0], info, sizeof info);
}

static int64_t call_getrusage(struct cpu_linux_call *c)
{
    enum { RUSAGE_WORDS = 18 };
    const uint64_t us = now_ns(c) / 1000;
    uint64_t usage[RUSAGE_WORDS] = {us / 1000000, us % 1000000};
    return give_or_fault(c, c->arg[1], usage, sizeof usage);
}

static int64_t call_getrandom(struct cpu_linux_call *c)
{
    uint8_t *host = c->arg[1] ? mem_at(c->system->space, c->arg[0], c->arg[1], MEM_WRITE) : NULL;
    if (c->arg[1] == 0)
        return 0;
    if (!host)
        return -L_EFAULT;
    for (uint64_t at = 0; at < c->arg[1]; at += 8) {
        const uint64_t word = cpu_random(&c->system->random_state), left = c->arg[1] - at;
        memcpy(host + at, &word, left < sizeof word ? left : sizeof word);
    }
    return (int64_t)c->arg[1];
}

static int64_t call_sched_getaffinity(struct cpu_linux_call *c)
{
    const uint64_t one_processor = 1;
    if (c->arg[1] < sizeof one_processor)
        return -L_EINVAL;
    return give(c, c->arg[2], &one_processor, sizeof one_processor) ? (int64_t)sizeof one_processor : -L_EFAULT;
}

static int64_t call_rt_sigprocmask(struct cpu_linux_call *c)
{
    const uint64_t none = 0;
    return c->arg[2] ? give_or_fault(c, c->arg[2], &none, sizeof none) : 0;
}

static int64_t call_rt_sigaction(struct cpu_linux_call *c) /* the old action is always the default one */
{
    const uint64_t action[4] = {0};
    return c->arg[2] ? give_or_fault(c, c->arg[2], action, sizeof action) : 0;
}

/* Numbers: Linux include/uapi/asm-generic/unistd.h. */
static const struct entry {
    uint16_t number;
    const char *name;
    int64_t (*run)(struct cpu_linux_call *c);
} calls[] = {
    {17, "getcwd", call_getcwd},
    {25, "fcntl", call_fcntl},
    {29, "ioctl", call_ioctl},
    {48, "faccessat", no_such_file},
    {56, "openat", no_such_file},
    {57, "close", call_close},
    {62, "lseek", call_lseek},
    {63, "read", call_read},
    {64, "write", call_write},
    {66, "writev", call_writev},
    {78, "readlinkat", no_such_file},
    {79, "newfstatat", call_newfstatat},
    {80, "fstat", call_fstat},
    {93, "exit", call_exit},
    {94, "exit_group", call_exit},
    {96, "set_tid_address", process_id},
    {98, "futex", done},
    {99, "set_robust_list", done},
    {101, "nanosleep", call_nanosleep},
    {113, "clock_gettime", call_clock_gettime},
    {114, "clock_getres", call_clock_getres},
    {115, "clock_nanosleep", call_clock_nanosleep},
    {118, "sched_setparam", done},
    {119, "sched_setscheduler", done},
    {120, "sched_getscheduler", done},
    {122, "sched_setaffinity", done},
    {123, "sched_getaffinity", call_sched_getaffinity},
    {124, "sched_yield", done},
    {125, "sched_get_priority_max", done},
    {126, "sched_get_priority_min", done},
    {129, "kill", call_kill},
    {130, "tkill", call_kill},
    {131, "tgkill", call_tgkill},
    {132, "sigaltstack", done},
    {134, "rt_sigaction", call_rt_sigaction},
    {135, "rt_sigprocmask", call_rt_sigprocmask},
    {160, "uname", call_uname},
    {165, "getrusage", call_getrusage},
    {167, "prctl", done},
    {169, "gettimeofday", call_gettimeofday},
    {172, "getpid", process_id},
    {173, "getppid", parent_id},
    {174, "getuid", user_id},
    {175, "geteuid", user_id},
    {176, "getgid", user_id},
    {177, "getegid", user_id},
    {178, "gettid", process_id},
    {179, "sysinfo", call_sysinfo},
    {214, "brk", cpu_linux_brk},
    {215, "munmap", cpu_linux_munmap},
    {216, "mremap", no_memory}, /* C libraries then allocate, copy and free */
    {222, "mmap", cpu_linux_mmap},
    {226, "mprotect", cpu_linux_mprotect},
    {233, "madvise", cpu_linux_madvise},
    {261, "prlimit64", call_prlimit64},
    {278, "getrandom", call_getrandom},
    {291, "statx", not_there}, /* C libraries then use newfstatat */
    {293, "rseq", not_there},
    {439, "faccessat2", no_such_file},
};

static const struct entry *find_call(uint64_t number)
{
    for (size_t i = 0; i < ARRAY_COUNT(calls); i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

const char *cpu_linux_call_name(uint64_t number)
{
    const struct entry *entry = find_call(number);
    return entry ? entry->name : NULL;
}

static bool run_call(void *context, struct cpu_core *core, int *exit_code, struct unit_fault *fault)
{
    struct cpu_linux_call c = {.system = context, .core = core, .fault = fault};
    const uint64_t number = cpu_core_x(core, 8);
    const struct entry *entry = find_call(number);
    fault->kind = UNIT_FAULT_NONE;
    if (!entry) {
        fault->kind = UNIT_FAULT_TRAP;
        snprintf(fault->text, sizeof fault->text, "system call %" PRIu64 " is not one of the simulated Linux", number);
        return false;
    }
    for (unsigned i = 0; i < 6; i++)
        c.arg[i] = cpu_core_x(core, i);
    const int64_t result = entry->run(&c);
    if (c.stop) {
        *exit_code = c.exit_code;
        return false;
    }
    cpu_core_set_x(core, 0, (uint64_t)result);
    return true;
}

struct cpu_linux *cpu_linux_create(struct mem_space *space, const struct cpu_linux_params *params)
{
    struct cpu_linux *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    *l = (struct cpu_linux){.space = space,
                            .params = *params,
                            .hook = {run_call, l},
                            .brk = params->heap_start,
                            .heap_mapped = params->heap_start,
                            .mmap_hint = params->map_top ? params->map_top : space->bytes,
                            .random_state = params->seed};
    l->owned = calloc(space->bytes >> MEM_PAGE_SHIFT, 1);
    if (!l->owned) {
        free(l);
        return NULL;
    }
    return l;
}

void cpu_linux_free(struct cpu_linux *linux_system)
{
    if (linux_system)
        free(linux_system->owned);
    free(linux_system);
}

const struct cpu_system *cpu_linux_hook(const struct cpu_linux *linux_system)
{
    return &linux_system->hook;
}
