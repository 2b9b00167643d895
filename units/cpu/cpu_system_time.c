/* Clocks and sleeping in the simulated Linux. */
#include "units/cpu/cpu_system_internal.h"

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

/* Sleeping costs no work: the clock of a program of one thread jumps. */
static int64_t sleep_until(struct cpu_linux_call *c, uint64_t deadline_ns, uint64_t rest)
{
    const uint64_t now = cpu_linux_now_ns(c);
    const struct cpu_wait w = {.kind = CPU_WAIT_TIME, .deadline_ns = deadline_ns};
    const int64_t spec[2] = {0, 0};
    if (deadline_ns <= now)
        return 0;
    const int64_t result = cpu_linux_wait(c, &w);
    return result == -L_EINTR && rest && cpu_linux_give(c, rest, spec, sizeof spec) ? -L_EFAULT : result;
}

static int64_t take_time(const struct cpu_linux_call *c, uint64_t addr, uint64_t *ns)
{
    int64_t spec[2];
    if (cpu_linux_take(c, addr, spec, sizeof spec))
        return -L_EFAULT;
    if (spec[0] < 0 || spec[1] < 0 || spec[1] >= (int64_t)NS_PER_S)
        return -L_EINVAL;
    const uint64_t most = INT64_MAX / NS_PER_S;
    *ns = ((uint64_t)spec[0] < most ? (uint64_t)spec[0] : most) * NS_PER_S + (uint64_t)spec[1];
    return 0;
}

int64_t cpu_linux_nanosleep(struct cpu_linux_call *c)
{
    uint64_t ns;
    const int64_t error = take_time(c, c->arg[0], &ns);
    return error ? error : sleep_until(c, cpu_linux_now_ns(c) + ns, c->arg[1]);
}

int64_t cpu_linux_clock_nanosleep(struct cpu_linux_call *c)
{
    enum { ABSOLUTE = 1 };
    uint64_t ns;
    if (c->arg[0] >= L_CLOCK_COUNT || c->arg[1] > ABSOLUTE)
        return -L_EINVAL;
    const int64_t error = take_time(c, c->arg[2], &ns);
    if (error)
        return error;
    if (!c->arg[1])
        return sleep_until(c, cpu_linux_now_ns(c) + ns, c->arg[3]);
    const uint64_t start = c->arg[0] == L_CLOCK_REALTIME ? WALL_CLOCK_START_S * NS_PER_S : 0;
    return sleep_until(c, ns > start ? ns - start : 0, 0);
}
