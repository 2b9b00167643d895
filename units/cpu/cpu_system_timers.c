/* Timers of the simulated Linux: setitimer, alarm and POSIX timers. Their signals come between two stretches of a program, or
 * behind a system call.
 */
#include "units/cpu/cpu_system_internal.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_S            UINT64_C(1000000000)
#define WALL_CLOCK_START_NS (UINT64_C(1704067200) * NS_PER_S)
enum { L_SI_TIMER = -2, L_SI_KERNEL = 0x80, TIMERS = CPU_TIMERS_INTERVAL + CPU_TIMERS_MOST };

uint64_t cpu_linux_next_timer(const struct cpu_linux *l)
{
    uint64_t due = CPU_NEVER;
    for (int i = 0; i < TIMERS; i++)
        if (l->timer[i].used && l->timer[i].due_ns < due)
            due = l->timer[i].due_ns;
    return due;
}

bool cpu_linux_fire_timers(struct cpu_linux *l, uint64_t now_ns, struct unit_fault *fault)
{
    (void)fault; /* a signal that ends the program does so when a thread takes it */
    for (int i = 0; i < TIMERS; i++) {
        struct cpu_timer *const t = &l->timer[i];
        if (!t->used || t->due_ns > now_ns)
            continue;
        const struct cpu_signal info = {i < CPU_TIMERS_INTERVAL ? L_SI_KERNEL : L_SI_TIMER, t->value};
        const uint64_t missed = t->period_ns ? (now_ns - t->due_ns) / t->period_ns : 0;
        t->due_ns = t->period_ns ? t->due_ns + (missed + 1) * t->period_ns : CPU_NEVER;
        if (t->signal)
            cpu_linux_post(l, t->thread ? cpu_linux_thread(l, t->thread) : NULL, t->signal, &info, now_ns);
    }
    return true;
}

/* ---- setitimer ---- */

static void left_of(const struct cpu_timer *t, uint64_t now_ns, uint64_t *left_ns)
{
    *left_ns = !t->used || t->due_ns == CPU_NEVER ? 0 : t->due_ns > now_ns ? t->due_ns - now_ns : 1;
}

static int64_t give_interval(struct cpu_linux_call *c, uint64_t addr, const struct cpu_timer *t, uint64_t unit_ns)
{
    uint64_t left;
    left_of(t, cpu_linux_now_ns(c), &left);
    const uint64_t words[4] = {t->period_ns / NS_PER_S, t->period_ns % NS_PER_S / unit_ns, left / NS_PER_S,
                               (left % NS_PER_S + unit_ns - 1) / unit_ns};
    return cpu_linux_give(c, addr, words, sizeof words);
}

/* Interval and first time, in seconds and units of unit_ns. */
static int64_t take_interval(const struct cpu_linux_call *c, uint64_t addr, uint64_t unit_ns, uint64_t ns[2])
{
    int64_t words[4];
    if (cpu_linux_take(c, addr, words, sizeof words))
        return -L_EFAULT;
    for (int i = 0; i < 2; i++) {
        if (words[2 * i] < 0 || words[2 * i] > INT32_MAX || words[2 * i + 1] < 0 ||
            words[2 * i + 1] >= (int64_t)(NS_PER_S / unit_ns))
            return -L_EINVAL;
        ns[i] = (uint64_t)words[2 * i] * NS_PER_S + (uint64_t)words[2 * i + 1] * unit_ns;
    }
    return 0;
}

int64_t cpu_linux_setitimer(struct cpu_linux_call *c)
{
    static const int signals[CPU_TIMERS_INTERVAL] = {14, 26, 27}; /* SIGALRM, SIGVTALRM, SIGPROF */
    uint64_t ns[2];
    if (c->arg[0] >= CPU_TIMERS_INTERVAL)
        return -L_EINVAL;
    struct cpu_timer *const t = &c->system->timer[c->arg[0]];
    const struct cpu_timer before = *t;
    c->system->woke = true; /* the caller has to know when it is due */
    const int64_t error = c->arg[1] ? take_interval(c, c->arg[1], 1000, ns) : -L_EFAULT;
    if (error)
        return error;
    *t = (struct cpu_timer){.used = true,
                            .due_ns = ns[1] ? cpu_linux_now_ns(c) + ns[1] : CPU_NEVER,
                            .period_ns = ns[0],
                            .signal = signals[c->arg[0]]};
    return c->arg[2] ? give_interval(c, c->arg[2], &before, 1000) : 0;
}

int64_t cpu_linux_getitimer(struct cpu_linux_call *c)
{
    return c->arg[0] < CPU_TIMERS_INTERVAL ? give_interval(c, c->arg[1], &c->system->timer[c->arg[0]], 1000) : -L_EINVAL;
}

/* ---- POSIX timers ---- */

static struct cpu_timer *posix_timer(const struct cpu_linux_call *c)
{
    struct cpu_timer *const t = c->arg[0] < CPU_TIMERS_MOST ? &c->system->timer[CPU_TIMERS_INTERVAL + c->arg[0]] : NULL;
    return t && t->used ? t : NULL;
}

int64_t cpu_linux_timer_create(struct cpu_linux_call *c)
{
    enum { SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD, SIGEV_THREAD_ID = 4, EVENT_BYTES = 64 };
    uint8_t event[EVENT_BYTES] = {0};
    int32_t id = 0, words[3] = {14, SIGEV_SIGNAL, 0}; /* signal, how, thread */
    uint64_t value = 0;
    while (id < CPU_TIMERS_MOST && c->system->timer[CPU_TIMERS_INTERVAL + id].used)
        id++;
    if (id == CPU_TIMERS_MOST)
        return -L_EAGAIN;
    if (c->arg[1]) {
        if (cpu_linux_take(c, c->arg[1], event, sizeof event))
            return -L_EFAULT;
        memcpy(&value, event, sizeof value);
        memcpy(words, event + 8, sizeof words);
    }
    if (words[1] != SIGEV_NONE && (words[0] < 1 || words[0] > CPU_SIGNALS))
        return -L_EINVAL;
    if (cpu_linux_give(c, c->arg[2], &id, sizeof id))
        return -L_EFAULT;
    c->system->timer[CPU_TIMERS_INTERVAL + id] = (struct cpu_timer){.used = true,
                                                                    .due_ns = CPU_NEVER,
                                                                    .signal = words[1] == SIGEV_NONE ? 0 : words[0],
                                                                    .thread = words[1] == SIGEV_THREAD_ID ? words[2] : 0,
                                                                    .value = c->arg[1] ? value : (uint64_t)id};
    return 0;
}

int64_t cpu_linux_timer_settime(struct cpu_linux_call *c)
{
    enum { ABSOLUTE = 1 };
    struct cpu_timer *const t = posix_timer(c);
    uint64_t ns[2];
    if (!t)
        return -L_EINVAL;
    const struct cpu_timer before = *t;
    c->system->woke = true; /* the caller has to know when it is due */
    const int64_t error = take_interval(c, c->arg[2], 1, ns);
    if (error)
        return error;
    t->period_ns = ns[0];
    /* An absolute time that lies beyond 2024 is one of the wall clock. */
    const uint64_t absolute = ns[1] > WALL_CLOCK_START_NS ? ns[1] - WALL_CLOCK_START_NS : ns[1];
    t->due_ns = !ns[1] ? CPU_NEVER : c->arg[1] & ABSOLUTE ? absolute : cpu_linux_now_ns(c) + ns[1];
    return c->arg[3] ? give_interval(c, c->arg[3], &before, 1) : 0;
}

int64_t cpu_linux_timer_gettime(struct cpu_linux_call *c)
{
    const struct cpu_timer *const t = posix_timer(c);
    return t ? give_interval(c, c->arg[1], t, 1) : -L_EINVAL;
}

int64_t cpu_linux_timer_getoverrun(struct cpu_linux_call *c)
{
    return posix_timer(c) ? 0 : -L_EINVAL;
}

int64_t cpu_linux_timer_delete(struct cpu_linux_call *c)
{
    struct cpu_timer *const t = posix_timer(c);
    if (!t)
        return -L_EINVAL;
    t->used = false;
    return 0;
}
