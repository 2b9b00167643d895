/* Calls of the simulated Linux that concern the process, its signals and the machine it runs on. */
#include "units/cpu/cpu_random.h"
#include "units/cpu/cpu_system_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STACK_LIMIT_BYTES (UINT64_C(8) << 20)
enum { PROCESS_ID = 1000, USER_ID = 1000 };
enum { L_RLIMIT_STACK = 3 };

int64_t cpu_linux_exit(struct cpu_linux_call *c)
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

int64_t cpu_linux_kill(struct cpu_linux_call *c) /* kill and tkill: target, signal */
{
    return raise_signal(c, c->arg[1]);
}

int64_t cpu_linux_tgkill(struct cpu_linux_call *c)
{
    return raise_signal(c, c->arg[2]);
}

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
    return PROCESS_ID;
}

int64_t cpu_linux_parent_id(struct cpu_linux_call *c)
{
    (void)c;
    return 1;
}

int64_t cpu_linux_user_id(struct cpu_linux_call *c)
{
    (void)c;
    return USER_ID;
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

int64_t cpu_linux_sched_getaffinity(struct cpu_linux_call *c)
{
    const uint64_t one_processor = 1;
    if (c->arg[1] < sizeof one_processor)
        return -L_EINVAL;
    const int64_t error = cpu_linux_give(c, c->arg[2], &one_processor, sizeof one_processor);
    return error ? error : (int64_t)sizeof one_processor;
}

int64_t cpu_linux_rt_sigprocmask(struct cpu_linux_call *c)
{
    const uint64_t none = 0;
    return c->arg[2] ? cpu_linux_give(c, c->arg[2], &none, sizeof none) : 0;
}

int64_t cpu_linux_rt_sigaction(struct cpu_linux_call *c) /* the old action is always the default */
{
    const uint64_t action[4] = {0};
    return c->arg[2] ? cpu_linux_give(c, c->arg[2], action, sizeof action) : 0;
}
