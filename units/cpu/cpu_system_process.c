/* Calls of the simulated Linux that concern the process, its signals and the machine it runs on. */
#include "units/cpu/cpu_random.h"
#include "units/cpu/cpu_system_internal.h"

#include <string.h>

#define STACK_LIMIT_BYTES (UINT64_C(8) << 20)
enum { L_RLIMIT_STACK = 3 };

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

int64_t cpu_linux_no_memory(struct cpu_linux_call *c)
{
    (void)c;
    return -L_ENOMEM;
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

int64_t cpu_linux_prlimit64(struct cpu_linux_call *c)
{
    const uint64_t limit = c->arg[1] == L_RLIMIT_STACK ? STACK_LIMIT_BYTES : UINT64_MAX;
    const uint64_t pair[2] = {limit, limit};
    return c->arg[3] ? cpu_linux_give(c, c->arg[3], pair, sizeof pair) : 0;
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

int64_t cpu_linux_sched_getaffinity(struct cpu_linux_call *c)
{
    const unsigned count = processors(c);
    const uint64_t set = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    if (c->arg[1] < sizeof set)
        return -L_EINVAL;
    const int64_t error = cpu_linux_give(c, c->arg[2], &set, sizeof set);
    return error ? error : (int64_t)sizeof set;
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

/* Names of threads are kept for nobody; the rest is refused as by a kernel without it. */
int64_t cpu_linux_prctl(struct cpu_linux_call *c)
{
    enum { SET_NAME = 15, GET_NAME = 16, GET_DUMPABLE = 3, SET_DUMPABLE = 4, SET_VMA = 0x53564d41 };
    const char name[16] = "program";
    switch (c->arg[0]) {
    case SET_NAME:
    case SET_DUMPABLE:
    case SET_VMA: return 0;
    case GET_DUMPABLE: return 1;
    case GET_NAME: return cpu_linux_give(c, c->arg[1], name, sizeof name);
    default: return -L_EINVAL;
    }
}

int64_t cpu_linux_umask(struct cpu_linux_call *c)
{
    (void)c;
    return 022;
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
