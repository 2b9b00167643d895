/* futex: waiting until a word of the program's memory changes. There is one process, so private futexes and shared ones are the
 * same. */
#include "units/cpu/cpu_system_internal.h"

#include <stdio.h>

enum {
    F_WAIT = 0,
    F_WAKE = 1,
    F_REQUEUE = 3,
    F_CMP_REQUEUE = 4,
    F_WAKE_OP = 5,
    F_LOCK_PI = 6,
    F_UNLOCK_PI = 7,
    F_TRYLOCK_PI = 8,
    F_WAIT_BITSET = 9,
    F_WAKE_BITSET = 10,
    F_LOCK_PI2 = 13,
    F_OPERATION = 0x7f,
    F_CLOCK_REALTIME = 0x100
};
#define WALL_CLOCK_START_NS (UINT64_C(1704067200) * 1000000000)
#define NS_PER_S            UINT64_C(1000000000)

unsigned cpu_linux_futex_wake(struct cpu_linux *l, uint64_t addr, uint64_t count, uint32_t bitset, uint64_t now_ns)
{
    unsigned woken = 0;
    while (woken < count) {
        struct cpu_thread *best = NULL; /* who waits for longest */
        for (unsigned i = 0; i < l->threads; i++) {
            struct cpu_thread *const t = l->thread[i];
            if (t->state == CPU_THREAD_WAITS && t->wait.kind == CPU_WAIT_FUTEX && t->wait.key == addr &&
                t->wait.bitset & bitset && (!best || t->turn < best->turn))
                best = t;
        }
        if (!best)
            break;
        cpu_linux_wake(l, best, now_ns, 0);
        woken++;
    }
    return woken;
}

static unsigned requeue(struct cpu_linux *l, uint64_t from, uint64_t to, uint64_t count)
{
    unsigned moved = 0;
    for (unsigned i = 0; i < l->threads && moved < count; i++) {
        struct cpu_thread *const t = l->thread[i];
        if (t->state != CPU_THREAD_WAITS || t->wait.kind != CPU_WAIT_FUTEX || t->wait.key != from)
            continue;
        t->wait.key = to;
        moved++;
    }
    return moved;
}

int64_t cpu_linux_futex_deadline(const struct cpu_linux_call *c, bool absolute, bool wall, uint64_t *deadline_ns)
{
    int64_t spec[2];
    *deadline_ns = CPU_NEVER;
    if (!c->arg[3])
        return 0;
    if (cpu_linux_take(c, c->arg[3], spec, sizeof spec))
        return -L_EFAULT;
    if (spec[0] < 0 || spec[1] < 0 || spec[1] >= (int64_t)NS_PER_S)
        return -L_EINVAL;
    if ((uint64_t)spec[0] > CPU_NEVER / NS_PER_S / 2)
        return 0;
    const uint64_t ns = (uint64_t)spec[0] * NS_PER_S + (uint64_t)spec[1];
    if (!absolute)
        *deadline_ns = cpu_linux_now_ns(c) + ns;
    else
        *deadline_ns = !wall ? ns : ns > WALL_CLOCK_START_NS ? ns - WALL_CLOCK_START_NS : 0;
    return 0;
}

static int64_t wait_for(struct cpu_linux_call *c, uint32_t bitset, bool absolute)
{
    struct cpu_wait w = {.kind = CPU_WAIT_FUTEX, .key = c->arg[0], .bitset = bitset, .late = -L_ETIMEDOUT};
    uint32_t word;
    if (bitset == 0)
        return -L_EINVAL;
    if (cpu_linux_take(c, c->arg[0], &word, sizeof word))
        return -L_EFAULT;
    if (word != (uint32_t)c->arg[2])
        return -L_EAGAIN;
    const int64_t error = cpu_linux_futex_deadline(c, absolute, c->arg[1] & F_CLOCK_REALTIME, &w.deadline_ns);
    if (error)
        return error;
    if (w.deadline_ns <= cpu_linux_now_ns(c))
        return -L_ETIMEDOUT;
    c->thread->turn = c->system->turns++;
    return cpu_linux_wait(c, &w);
}

static uint32_t combine(unsigned operation, uint32_t old, uint32_t arg)
{
    switch (operation) {
    case 0: return arg;
    case 1: return old + arg;
    case 2: return old | arg;
    case 3: return old & ~arg;
    default: return old ^ arg;
    }
}

static bool compare(unsigned how, int32_t old, int32_t arg)
{
    switch (how) {
    case 0: return old == arg;
    case 1: return old != arg;
    case 2: return old < arg;
    case 3: return old <= arg;
    case 4: return old > arg;
    default: return old >= arg;
    }
}

/* Changes a second word and wakes by what it was. */
static int64_t wake_by_operation(struct cpu_linux_call *c)
{
    const uint32_t code = (uint32_t)c->arg[5];
    const unsigned operation = code >> 28 & 7, how = code >> 24 & 15;
    const int32_t set = (int32_t)(code << 8) >> 20, against = (int32_t)(code << 20) >> 20;
    const uint32_t arg = code >> 31 ? UINT32_C(1) << (set & 31) : (uint32_t)set;
    uint32_t old;
    if (operation > 4 || how > 5)
        return -L_ENOSYS;
    if (cpu_linux_take(c, c->arg[4], &old, sizeof old))
        return -L_EFAULT;
    const uint32_t next = combine(operation, old, arg);
    if (cpu_linux_give(c, c->arg[4], &next, sizeof next))
        return -L_EFAULT;
    const uint64_t now = cpu_linux_now_ns(c);
    int64_t woken = cpu_linux_futex_wake(c->system, c->arg[0], (uint32_t)c->arg[2], UINT32_MAX, now);
    if (compare(how, (int32_t)old, against))
        woken += cpu_linux_futex_wake(c->system, c->arg[4], (uint32_t)c->arg[3], UINT32_MAX, now);
    return woken;
}

static int64_t wake_and_requeue(struct cpu_linux_call *c, bool compares)
{
    uint32_t word;
    if (compares && cpu_linux_take(c, c->arg[0], &word, sizeof word))
        return -L_EFAULT;
    if (compares && word != (uint32_t)c->arg[5])
        return -L_EAGAIN;
    const int64_t woken = cpu_linux_futex_wake(c->system, c->arg[0], (uint32_t)c->arg[2], UINT32_MAX, cpu_linux_now_ns(c));
    const int64_t moved = requeue(c->system, c->arg[0], c->arg[4], (uint32_t)c->arg[3]);
    return compares ? woken + moved : woken;
}

static int64_t refuse(struct cpu_linux_call *c, unsigned operation)
{
    static const char *const names[] = {[2] = "FUTEX_FD", [11] = "FUTEX_WAIT_REQUEUE_PI", [12] = "FUTEX_CMP_REQUEUE_PI"};
    char text[120];
    if (operation >= sizeof names / sizeof names[0] || !names[operation])
        return -L_ENOSYS;
    snprintf(text, sizeof text, "%s is not modelled: C libraries do without", names[operation]);
    return cpu_linux_refuse(c, text);
}

int64_t cpu_linux_futex(struct cpu_linux_call *c)
{
    const unsigned operation = (unsigned)c->arg[1] & F_OPERATION;
    if (c->arg[0] % 4)
        return -L_EINVAL;
    switch (operation) {
    case F_WAIT: return wait_for(c, UINT32_MAX, false);
    case F_WAIT_BITSET: return wait_for(c, (uint32_t)c->arg[5], true);
    case F_WAKE:
    case F_WAKE_BITSET: {
        const uint32_t bitset = operation == F_WAKE ? UINT32_MAX : (uint32_t)c->arg[5];
        if (!bitset)
            return -L_EINVAL;
        return cpu_linux_futex_wake(c->system, c->arg[0], (uint32_t)c->arg[2], bitset, cpu_linux_now_ns(c));
    }
    case F_REQUEUE: return wake_and_requeue(c, false);
    case F_CMP_REQUEUE: return wake_and_requeue(c, true);
    case F_WAKE_OP: return wake_by_operation(c);
    case F_LOCK_PI: return cpu_linux_futex_lock(c, true);
    case F_LOCK_PI2: return cpu_linux_futex_lock(c, c->arg[1] & F_CLOCK_REALTIME);
    case F_TRYLOCK_PI: return cpu_linux_futex_try_lock(c);
    case F_UNLOCK_PI: return cpu_linux_futex_unlock(c);
    default: return refuse(c, operation);
    }
}
