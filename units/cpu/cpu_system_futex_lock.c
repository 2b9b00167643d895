/* Futexes that are locks (FUTEX_LOCK_PI and its kin): their word holds the thread that owns them. All threads have one priority,
 * so there is none to inherit; what is left is that the kernel hands a lock over to who waits for it longest.
 */
#include "units/cpu/cpu_system_internal.h"

#define WAITERS    (UINT32_C(1) << 31)
#define OWNER_DIED (UINT32_C(1) << 30)
#define OWNER      (OWNER_DIED - 1)

/* Who waits for the lock longest; *more says whether others do. */
static struct cpu_thread *first_waiter(const struct cpu_linux *l, uint64_t addr, bool *more)
{
    struct cpu_thread *best = NULL;
    unsigned count = 0;
    for (unsigned i = 0; i < l->threads; i++) {
        struct cpu_thread *const t = l->thread[i];
        if (t->state != CPU_THREAD_WAITS || t->wait.kind != CPU_WAIT_LOCK || t->wait.key != addr)
            continue;
        count++;
        if (!best || t->turn < best->turn)
            best = t;
    }
    *more = count > 1;
    return best;
}

/* Takes the lock if nobody has it: 0. 1: another thread has it. */
static int64_t take_lock(struct cpu_linux_call *c, uint32_t *word)
{
    const uint32_t own = (uint32_t)c->thread->id;
    if (cpu_linux_take(c, c->arg[0], word, sizeof *word))
        return -L_EFAULT;
    if ((*word & OWNER) == own)
        return -L_EDEADLK;
    if (*word & OWNER)
        return cpu_linux_thread(c->system, (int)(*word & OWNER)) ? 1 : -L_ESRCH;
    const uint32_t next = (*word & (WAITERS | OWNER_DIED)) | own;
    return cpu_linux_give(c, c->arg[0], &next, sizeof next);
}

int64_t cpu_linux_futex_try_lock(struct cpu_linux_call *c)
{
    uint32_t word;
    const int64_t taken = take_lock(c, &word);
    return taken == 1 ? -L_EAGAIN : taken;
}

int64_t cpu_linux_futex_lock(struct cpu_linux_call *c, bool wall)
{
    struct cpu_wait w = {.kind = CPU_WAIT_LOCK, .key = c->arg[0], .late = -L_ETIMEDOUT};
    uint32_t word;
    const int64_t taken = take_lock(c, &word);
    if (taken != 1)
        return taken;
    const int64_t error = cpu_linux_futex_deadline(c, true, wall, &w.deadline_ns);
    if (error)
        return error;
    const uint32_t next = word | WAITERS;
    if (cpu_linux_give(c, c->arg[0], &next, sizeof next))
        return -L_EFAULT;
    if (w.deadline_ns <= cpu_linux_now_ns(c))
        return -L_ETIMEDOUT;
    c->thread->turn = c->system->turns++;
    return cpu_linux_wait(c, &w);
}

int64_t cpu_linux_futex_hand_over(struct cpu_linux_call *c, uint64_t addr, bool died)
{
    bool more;
    struct cpu_thread *const next = first_waiter(c->system, addr, &more);
    const uint32_t word = (next ? (uint32_t)next->id : 0) | (next && more ? WAITERS : 0) | (died ? OWNER_DIED : 0);
    if (cpu_linux_give(c, addr, &word, sizeof word))
        return -L_EFAULT;
    if (next)
        cpu_linux_wake(c->system, next, cpu_linux_now_ns(c), 0);
    return 0;
}

int64_t cpu_linux_futex_unlock(struct cpu_linux_call *c)
{
    uint32_t word;
    if (cpu_linux_take(c, c->arg[0], &word, sizeof word))
        return -L_EFAULT;
    return (word & OWNER) == (uint32_t)c->thread->id ? cpu_linux_futex_hand_over(c, c->arg[0], false) : -L_EPERM;
}
