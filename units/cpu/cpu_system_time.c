/* Clocks and sleeping in the simulated Linux. */
#include "units/cpu/cpu_system_internal.h"

#include <string.h>

/* 2024-01-01 00:00:00 UTC: any fixed date makes runs repeatable. */
#define WALL_CLOCK_START_S 1704067200
#define NS_PER_S           UINT64_C(1000000000)
enum { L_CLOCK_REALTIME = 0, L_CLOCK_REALTIME_COARSE = 5, L_CLOCK_COUNT = 12 };

static int64_t give_time(struct cpu_linux_call *c, uint64_t addr, uint64_t ns, bool wall)
{
    const int64_t spec[2] = {(int64_t)(ns / NS_PER_S) + (wall ? WALL_CLOCK_START_S : 0), (int64_t)(ns % NS_PER_S)};
    return cpu_linux_give(c, addr, spec, sizeof spec);
}

int64_t cpu_linux_clock_gettime(struct cpu_linux_call *c)
{
    if ((int32_t)c->arg[0] >= L_CLOCK_COUNT)
        return -L_EINVAL;
    const bool wall = c->arg[0] == L_CLOCK_REALTIME || c->arg[0] == L_CLOCK_REALTIME_COARSE;
    return give_time(c, c->arg[1], cpu_linux_now_ns(c), wall);
}

int64_t cpu_linux_clock_getres(struct cpu_linux_call *c)
{
    return c->arg[1] ? give_time(c, c->arg[1], 1, false) : 0;
}

int64_t cpu_linux_gettimeofday(struct cpu_linux_call *c)
{
    const uint64_t us = cpu_linux_now_ns(c) / 1000;
    const int64_t value[2] = {(int64_t)(us / 1000000) + WALL_CLOCK_START_S, (int64_t)(us % 1000000)};
    return c->arg[0] ? cpu_linux_give(c, c->arg[0], value, sizeof value) : 0;
}

/* Sleeping costs no work: the program's clock jumps. */
static int64_t sleep_for(struct cpu_linux_call *c, uint64_t addr)
{
    int64_t spec[2];
    const uint8_t *host = cpu_linux_readable(c, addr, sizeof spec);
    if (!host)
        return -L_EFAULT;
    memcpy(spec, host, sizeof spec);
    if (spec[0] < 0 || spec[1] < 0 || spec[1] >= (int64_t)NS_PER_S)
        return -L_EINVAL;
    c->system->slept_ns += (uint64_t)spec[0] * NS_PER_S + (uint64_t)spec[1];
    return 0;
}

int64_t cpu_linux_nanosleep(struct cpu_linux_call *c)
{
    return sleep_for(c, c->arg[0]);
}

int64_t cpu_linux_clock_nanosleep(struct cpu_linux_call *c)
{
    return c->arg[1] ? -L_EINVAL : sleep_for(c, c->arg[2]); /* absolute times are not supported */
}
