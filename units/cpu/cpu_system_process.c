/* Calls of the simulated Linux that concern the process, its signals and the machine it runs on. */
#include "units/cpu/cpu_random.h"
#include "units/cpu/cpu_system_internal.h"

#include <stdio.h>
#include <string.h>

#define STACK_LIMIT_BYTES (UINT64_C(8) << 20)
enum { L_RLIMIT_STACK = 3, L_RLIMIT_CORE = 4, L_RLIMIT_NOFILE = 7 };

int64_t cpu_linux_accept(struct cpu_linux_call *c) /* accepted, without effect */
{
    (void)c;
    return 0;
}

int64_t cpu_linux_not_implemented(struct cpu_linux_call *c)
{
    (void)c;
    return -L_ENOSYS;
}

int64_t cpu_linux_process_id(struct cpu_linux_call *c)
{
    (void)c;
    return CPU_PROCESS_ID;
}

int64_t cpu_linux_parent_id(struct cpu_linux_call *c)
{
    (void)c;
    return 1;
}

int64_t cpu_linux_user_id(struct cpu_linux_call *c)
{
    (void)c;
    return CPU_USER_ID;
}

int64_t cpu_linux_uname(struct cpu_linux_call *c)
{
    enum { FIELD = 65, FIELDS = 6 };
    static const char *const text[FIELDS] = {"Linux", "orchard", "6.1.0", "#1", "aarch64", "(none)"};
    char names[FIELDS][FIELD] = {{0}};
    for (int i = 0; i < FIELDS; i++)
        memcpy(names[i], text[i], strlen(text[i]));
    return cpu_linux_give(c, c->arg[0], names, sizeof names);
}

static int64_t give_limit(const struct cpu_linux_call *c, uint64_t resource, uint64_t addr)
{
    const uint64_t limit = resource == L_RLIMIT_STACK    ? STACK_LIMIT_BYTES
                           : resource == L_RLIMIT_NOFILE ? CPU_FILES_MOST
                           : resource == L_RLIMIT_CORE   ? 0
                                                         : UINT64_MAX;
    const uint64_t pair[2] = {limit, limit};
    return addr ? cpu_linux_give(c, addr, pair, sizeof pair) : 0;
}

int64_t cpu_linux_prlimit64(struct cpu_linux_call *c)
{
    return give_limit(c, c->arg[1], c->arg[3]);
}

int64_t cpu_linux_getrlimit(struct cpu_linux_call *c)
{
    return give_limit(c, c->arg[0], c->arg[1]);
}

/* C libraries choose their sort buffers by this. struct sysinfo has 112 bytes, with totalram at 32, freeram at 40 and mem_unit at
 * 104. */
int64_t cpu_linux_sysinfo(struct cpu_linux_call *c)
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
    return cpu_linux_give(c, c->arg[0], info, sizeof info);
}

int64_t cpu_linux_getrusage(struct cpu_linux_call *c)
{
    enum { RUSAGE_WORDS = 18 };
    const uint64_t us = cpu_linux_now_ns(c) / 1000;
    uint64_t usage[RUSAGE_WORDS] = {us / 1000000, us % 1000000};
    return cpu_linux_give(c, c->arg[1], usage, sizeof usage);
}

int64_t cpu_linux_getrandom(struct cpu_linux_call *c)
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

/* ---- processors ---- */

static unsigned processors(const struct cpu_linux_call *c)
{
    return c->system->params.cores ? c->system->params.cores : 1;
}

/* The cores of the whole program, as bits. */
static uint64_t all_processors(const struct cpu_linux_call *c)
{
    const unsigned count = processors(c);
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static struct cpu_thread *thread_named(const struct cpu_linux_call *c, uint64_t id)
{
    return (int32_t)id == 0 ? c->thread : cpu_linux_thread(c->system, (int)(int32_t)id);
}

int64_t cpu_linux_sched_getaffinity(struct cpu_linux_call *c)
{
    const struct cpu_thread *const t = thread_named(c, c->arg[0]);
    if (!t)
        return -L_ESRCH;
    const uint64_t set = t->cores ? t->cores : all_processors(c);
    if (c->arg[1] < sizeof set)
        return -L_EINVAL;
    const int64_t error = cpu_linux_give(c, c->arg[2], &set, sizeof set);
    return error ? error : (int64_t)sizeof set;
}

/* The wish is remembered, so that it can be read back; threads go where a core is free, as on macOS, which knows no such wish. */
int64_t cpu_linux_sched_setaffinity(struct cpu_linux_call *c)
{
    struct cpu_thread *const t = thread_named(c, c->arg[0]);
    uint64_t set = 0;
    if (!t)
        return -L_ESRCH;
    if (c->arg[1] && cpu_linux_take(c, c->arg[2], &set, c->arg[1] < sizeof set ? c->arg[1] : sizeof set))
        return -L_EFAULT;
    if (!(set & all_processors(c)))
        return -L_EINVAL;
    t->cores = set & all_processors(c);
    return 0;
}

/* The core that the thread runs on, counted in the order in which the program came to use them. */
int64_t cpu_linux_getcpu(struct cpu_linux_call *c)
{
    const uint32_t number = c->thread->core, node = 0;
    if ((c->arg[0] && cpu_linux_give(c, c->arg[0], &number, sizeof number)) ||
        (c->arg[1] && cpu_linux_give(c, c->arg[1], &node, sizeof node)))
        return -L_EFAULT;
    return 0;
}

/* Every store is seen by all cores when the next stretch of another one begins: there is nothing to wait for. */
int64_t cpu_linux_membarrier(struct cpu_linux_call *c)
{
    enum { QUERY = 0, EXPEDITED = 8, REGISTER = 16 };
    return c->arg[0] == QUERY ? EXPEDITED | REGISTER : c->arg[0] == EXPEDITED || c->arg[0] == REGISTER ? 0 : -L_EINVAL;
}

int64_t cpu_linux_sched_yield(struct cpu_linux_call *c)
{
    if (c->system->alive > 1)
        cpu_core_pause(c->core);
    return 0;
}

int64_t cpu_linux_sched_getparam(struct cpu_linux_call *c)
{
    const int32_t priority = 0;
    return cpu_linux_give(c, c->arg[1], &priority, sizeof priority);
}

static int64_t set_name(const struct cpu_linux_call *c)
{
    for (size_t i = 0; i + 1 < sizeof c->thread->name; i++) {
        const int64_t error = cpu_linux_take(c, c->arg[1] + i, &c->thread->name[i], 1);
        if (error || !c->thread->name[i])
            return error;
    }
    return 0; /* what is longer is cut */
}

/* A thread that has no name yet has that of the program. */
static int64_t give_name(const struct cpu_linux_call *c)
{
    char name[sizeof c->thread->name] = {0};
    const char *const path = c->system->params.name ? c->system->params.name : "program", *const slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%.15s", c->thread->name[0] ? c->thread->name : slash ? slash + 1 : path);
    return cpu_linux_give(c, c->arg[1], name, sizeof name);
}

/* The rest is refused as by a kernel without it. */
int64_t cpu_linux_prctl(struct cpu_linux_call *c)
{
    enum { SET_DEATH_SIGNAL = 1, GET_DUMPABLE = 3, SET_DUMPABLE = 4, SET_NAME = 15, GET_NAME = 16, SET_VMA = 0x53564d41 };
    enum { SET_TIMER_SLACK = 29, SET_NO_NEW_PRIVILEGES = 38, GET_NO_NEW_PRIVILEGES = 39, SET_THP_DISABLE = 41 };
    switch (c->arg[0]) {
    case SET_DEATH_SIGNAL:
    case SET_DUMPABLE:
    case SET_TIMER_SLACK:
    case SET_NO_NEW_PRIVILEGES:
    case SET_THP_DISABLE:
    case SET_VMA: return 0;
    case GET_DUMPABLE:
    case GET_NO_NEW_PRIVILEGES: return 1;
    case SET_NAME: return set_name(c);
    case GET_NAME: return give_name(c);
    default: return -L_EINVAL;
    }
}

int64_t cpu_linux_umask(struct cpu_linux_call *c)
{
    const uint32_t before = c->system->umask;
    c->system->umask = c->arg[0] & 0777;
    return before;
}

int64_t cpu_linux_getgroups(struct cpu_linux_call *c)
{
    (void)c;
    return 0;
}

int64_t cpu_linux_getresuid(struct cpu_linux_call *c)
{
    const uint32_t id = CPU_USER_ID;
    for (int i = 0; i < 3; i++)
        if (cpu_linux_give(c, c->arg[i], &id, sizeof id))
            return -L_EFAULT;
    return 0;
}

int64_t cpu_linux_times(struct cpu_linux_call *c)
{
    const uint64_t ticks = cpu_linux_now_ns(c) / 10000000, words[4] = {ticks, 0, 0, 0};
    return c->arg[0] && cpu_linux_give(c, c->arg[0], words, sizeof words) ? -L_EFAULT : (int64_t)ticks;
}

/* There are no children to wait for. */
int64_t cpu_linux_wait4(struct cpu_linux_call *c)
{
    enum { L_ECHILD = 10 };
    (void)c;
    return -L_ECHILD;
}

int64_t cpu_linux_no_network(struct cpu_linux_call *c)
{
    enum { L_EAFNOSUPPORT = 97 };
    (void)c;
    return -L_EAFNOSUPPORT;
}

/* Files have neither extended attributes nor handles. */
int64_t cpu_linux_no_attribute(struct cpu_linux_call *c)
{
    enum { L_EOPNOTSUPP = 95 };
    (void)c;
    return -L_EOPNOTSUPP;
}

/* ---- who runs the program ---- */

/* setuid and its kin: a user without privileges may only become who he is; -1 leaves an identity as it is. */
static int64_t set_ids(const struct cpu_linux_call *c, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if ((uint32_t)c->arg[i] != CPU_USER_ID && !(count > 1 && (uint32_t)c->arg[i] == UINT32_MAX))
            return -L_EPERM;
    return 0;
}

int64_t cpu_linux_set_id(struct cpu_linux_call *c)
{
    return set_ids(c, 1);
}

int64_t cpu_linux_set_two_ids(struct cpu_linux_call *c)
{
    return set_ids(c, 2);
}

int64_t cpu_linux_set_three_ids(struct cpu_linux_call *c)
{
    return set_ids(c, 3);
}

/* The only personality is that of Linux, 0; UINT32_MAX asks for it. */
int64_t cpu_linux_personality(struct cpu_linux_call *c)
{
    return (uint32_t)c->arg[0] == 0 || (uint32_t)c->arg[0] == UINT32_MAX ? 0 : -L_EINVAL;
}

/* No capabilities at all. The header holds a version and a process; versions 2 and 3 have two sets of three words. */
int64_t cpu_linux_capget(struct cpu_linux_call *c)
{
    const uint32_t version_1 = 0x19980330, version_3 = 0x20080522, none[6] = {0};
    uint32_t version;
    if (cpu_linux_take(c, c->arg[0], &version, sizeof version))
        return -L_EFAULT;
    if (version != version_1 && version != 0x20071026 && version != version_3)
        return cpu_linux_give(c, c->arg[0], &version_3, sizeof version_3) ? -L_EFAULT : c->arg[1] ? -L_EINVAL : 0;
    const size_t bytes = version == version_1 ? sizeof none / 2 : sizeof none;
    return c->arg[1] ? cpu_linux_give(c, c->arg[1], none, bytes) : 0;
}
