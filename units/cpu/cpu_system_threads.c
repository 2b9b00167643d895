/* Threads of the simulated Linux: making and ending them, waiting, and which one is next. */
#include "isa/list_grow.h"
#include "units/cpu/cpu_system_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    L_CLONE_VM = 0x100,
    L_CLONE_VFORK = 0x4000,
    L_CLONE_SIGHAND = 0x800,
    L_CLONE_THREAD = 0x10000,
    L_CLONE_SETTLS = 0x80000,
    L_CLONE_PARENT_SETTID = 0x100000,
    L_CLONE_CHILD_CLEARTID = 0x200000,
    L_CLONE_CHILD_SETTID = 0x1000000
};
enum { THREADS_MOST = 4096 };

struct cpu_thread *cpu_linux_add_thread(struct cpu_linux *l)
{
    size_t capacity = l->thread_capacity;
    struct cpu_thread **list = list_grow(l->thread, l->threads, &capacity, sizeof *list);
    struct cpu_thread *t = list ? calloc(1, sizeof *t) : NULL;
    if (list) {
        l->thread = list;
        l->thread_capacity = (unsigned)capacity;
    }
    if (!t)
        return NULL;
    t->id = CPU_PROCESS_ID + (int)l->threads;
    l->thread[l->threads++] = t;
    l->alive++;
    return t;
}

static int number_of(const struct cpu_linux *l, const struct cpu_core *core)
{
    for (unsigned i = 0; i < l->cores; i++)
        if (l->core[i] == core)
            return (int)i;
    return -1;
}

struct cpu_thread *cpu_linux_thread_of(struct cpu_linux *l, const struct cpu_core *core)
{
    const int number = number_of(l, core);
    return number >= 0 && l->on[number] ? l->on[number] : l->thread[0];
}

struct cpu_thread *cpu_linux_thread(const struct cpu_linux *l, int id)
{
    const unsigned index = (unsigned)(id - CPU_PROCESS_ID);
    return id >= CPU_PROCESS_ID && index < l->threads && l->thread[index]->state != CPU_THREAD_ENDED ? l->thread[index] : NULL;
}

/* ---- making threads ---- */

struct clone {
    uint64_t flags, stack, tls, parent_id, child_id;
};

static int64_t clone_thread(struct cpu_linux_call *c, const struct clone *k)
{
    enum { NEEDED = L_CLONE_VM | L_CLONE_SIGHAND | L_CLONE_THREAD };
    struct cpu_linux *const l = c->system;
    if ((k->flags & NEEDED) != NEEDED)
        return cpu_linux_refuse(c, k->flags & L_CLONE_VFORK
                                       ? "another process (vfork, posix_spawn, system): there is one process, "
                                         "with threads; run the other program by itself"
                                       : "another process (fork): there is one process, with threads");
    if (l->alive >= THREADS_MOST)
        return -L_EAGAIN;
    struct cpu_thread *const t = cpu_linux_add_thread(l);
    if (!t)
        return -L_ENOMEM;
    cpu_core_save(c->core, &t->context);
    t->context.x[0] = 0;
    if (k->stack)
        t->context.x[31] = k->stack;
    if (k->flags & L_CLONE_SETTLS)
        t->context.tls = k->tls;
    t->mask = c->thread->mask;
    t->clear_id = k->flags & L_CLONE_CHILD_CLEARTID ? k->child_id : 0;
    t->core = c->thread->core;
    t->cores = c->thread->cores;
    memcpy(t->name, c->thread->name, sizeof t->name);
    const int32_t id = t->id;
    if ((k->flags & L_CLONE_PARENT_SETTID && cpu_linux_give(c, k->parent_id, &id, sizeof id)) ||
        (k->flags & L_CLONE_CHILD_SETTID && cpu_linux_give(c, k->child_id, &id, sizeof id))) {
        t->state = CPU_THREAD_ENDED;
        l->alive--;
        return -L_EFAULT;
    }
    t->state = CPU_THREAD_READY;
    t->ready_ns = cpu_linux_now_ns(c);
    t->turn = l->turns++;
    cpu_core_pause(c->core); /* so that it can start now */
    return id;
}

int64_t cpu_linux_clone(struct cpu_linux_call *c)
{
    const struct clone k = {
        .flags = c->arg[0], .stack = c->arg[1], .parent_id = c->arg[2], .tls = c->arg[3], .child_id = c->arg[4]};
    return clone_thread(c, &k);
}

int64_t cpu_linux_clone3(struct cpu_linux_call *c)
{
    enum { FLAGS, PID_FD, CHILD_ID, PARENT_ID, SIGNAL, STACK, STACK_BYTES, TLS, WORDS };
    uint64_t args[WORDS];
    if (c->arg[1] < sizeof args)
        return -L_EINVAL;
    if (cpu_linux_take(c, c->arg[0], args, sizeof args))
        return -L_EFAULT;
    const struct clone k = {args[FLAGS], args[STACK] ? args[STACK] + args[STACK_BYTES] : 0, args[TLS], args[PARENT_ID],
                            args[CHILD_ID]};
    return clone_thread(c, &k);
}

int64_t cpu_linux_no_process(struct cpu_linux_call *c)
{
    return cpu_linux_refuse(c, "there is one program and one process; run the other program by itself");
}

/* ---- ending threads ---- */

/* A futex of a list of robust ones that the thread holds tells the next owner that this one has ended. Bit 0 of its link says
 * that it is a lock. */
static void release_futex(struct cpu_linux_call *c, uint64_t addr, bool is_lock)
{
    const uint32_t waiters = UINT32_C(1) << 31, ended = UINT32_C(1) << 30, id_bits = ended - 1;
    uint32_t word;
    if (addr % 4 || cpu_linux_take(c, addr, &word, sizeof word) || (word & id_bits) != (uint32_t)c->thread->id)
        return;
    const uint32_t next = (word & waiters) | ended;
    if (is_lock) {
        cpu_linux_futex_hand_over(c, addr, true);
        return;
    }
    if (cpu_linux_give(c, addr, &next, sizeof next) == 0 && word & waiters)
        cpu_linux_futex_wake(c->system, addr, 1, UINT32_MAX, cpu_linux_now_ns(c));
}

static void release_futexes(struct cpu_linux_call *c)
{
    enum { NEXT, OFFSET, PENDING, WORDS, MOST = 2048 };
    uint64_t head[WORDS], at;
    if (!c->thread->robust || cpu_linux_take(c, c->thread->robust, head, sizeof head))
        return;
    at = head[NEXT];
    for (int i = 0; i < MOST && at != c->thread->robust; i++) {
        if (at != head[PENDING])
            release_futex(c, (at & ~UINT64_C(1)) + head[OFFSET], at & 1);
        if (cpu_linux_take(c, at & ~UINT64_C(1), &at, sizeof at))
            return;
    }
    if (head[PENDING])
        release_futex(c, (head[PENDING] & ~UINT64_C(1)) + head[OFFSET], head[PENDING] & 1);
}

int64_t cpu_linux_exit(struct cpu_linux_call *c)
{
    struct cpu_linux *const l = c->system;
    const uint32_t none = 0;
    if (l->alive == 1)
        return cpu_linux_exit_group(c);
    release_futexes(c);
    if (c->thread->clear_id && cpu_linux_give(c, c->thread->clear_id, &none, sizeof none) == 0)
        cpu_linux_futex_wake(l, c->thread->clear_id, 1, UINT32_MAX, cpu_linux_now_ns(c));
    c->thread->state = CPU_THREAD_ENDED;
    l->alive--;
    return 0;
}

int64_t cpu_linux_exit_group(struct cpu_linux_call *c)
{
    c->stop = true;
    c->exit_code = (int)(c->arg[0] & 0xff);
    return 0;
}

int64_t cpu_linux_set_tid_address(struct cpu_linux_call *c)
{
    c->thread->clear_id = c->arg[0];
    return c->thread->id;
}

int64_t cpu_linux_set_robust_list(struct cpu_linux_call *c)
{
    c->thread->robust = c->arg[0];
    return 0;
}

int64_t cpu_linux_gettid(struct cpu_linux_call *c)
{
    return c->thread->id;
}

/* ---- waiting ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The only thread does not wait: its clock jumps to what ends the wait. */
static int64_t wait_alone(struct cpu_linux_call *c, const struct cpu_wait *w)
{
    struct cpu_linux *const l = c->system;
    const uint64_t timer_ns = w->kind == CPU_WAIT_FILE ? cpu_linux_next_timer(l) : cpu_linux_next_signal(l);
    const uint64_t until = earlier(w->deadline_ns, timer_ns), now = cpu_linux_now_ns(c);
    if (until == CPU_NEVER) {
        c->thread->wait = *w;
        c->thread->state = CPU_THREAD_WAITS;
        cpu_core_save(c->core, &c->thread->context);
        cpu_linux_explain_deadlock(l, c->fault);
        l->stuck = c->stop = true;
        return 0;
    }
    if (until > now) {
        l->slept_ns += until - now;
        cpu_core_pause(c->core); /* so that the time can go by before the next instruction */
    }
    if (w->deadline_ns <= until && !w->again)
        return w->late;
    if (w->deadline_ns > until && cpu_linux_next_signal(l) == until)
        return -L_EINTR; /* a timer's signal */
    c->thread->wait = *w;
    c->thread->repeats = c->kept = true;
    cpu_core_set_pc(c->core, cpu_core_pc(c->core) - 4);
    return 0;
}

int64_t cpu_linux_wait(struct cpu_linux_call *c, const struct cpu_wait *w)
{
    if (c->system->alive == 1)
        return wait_alone(c, w);
    c->thread->wait = *w;
    c->thread->state = CPU_THREAD_WAITS;
    c->kept = true;
    if (w->again)
        cpu_core_set_pc(c->core, cpu_core_pc(c->core) - 4);
    return 0;
}

uint64_t cpu_linux_deadline(const struct cpu_linux_call *c, uint64_t from_now_ns)
{
    const uint64_t now = cpu_linux_now_ns(c);
    return c->thread->repeats ? c->thread->wait.deadline_ns : from_now_ns >= CPU_NEVER - now ? CPU_NEVER : now + from_now_ns;
}

void cpu_linux_wake(struct cpu_linux *l, struct cpu_thread *t, uint64_t now_ns, int64_t result)
{
    t->repeats = t->wait.again && result != -L_EINTR;
    if (t->wait.again && result == -L_EINTR)
        t->context.pc += 4; /* it is not made again */
    if (!t->repeats)
        t->context.x[0] = (uint64_t)result;
    t->wait.kind = CPU_WAIT_NONE;
    t->state = CPU_THREAD_READY;
    t->ready_ns = now_ns;
    t->turn = l->turns++;
    l->woke = true;
}

void cpu_linux_file_news(struct cpu_linux *l, uint64_t now_ns)
{
    for (unsigned i = 0; l->alive > 1 && i < l->threads; i++)
        if (l->thread[i]->state == CPU_THREAD_WAITS && l->thread[i]->wait.kind == CPU_WAIT_FILE)
            cpu_linux_wake(l, l->thread[i], now_ns, 0);
}

/* ---- what the caller asks ---- */

unsigned cpu_linux_add_core(struct cpu_linux *l, struct cpu_core *core)
{
    if (l->cores == 0)
        l->on[0] = l->thread[0];
    else
        cpu_core_join(core, l->core[0]);
    l->core[l->cores] = core;
    return l->cores++;
}

unsigned cpu_linux_alive(const struct cpu_linux *l)
{
    return l->alive;
}

unsigned cpu_linux_started(const struct cpu_linux *l)
{
    return l->threads;
}

int cpu_linux_on(const struct cpu_linux *l, unsigned core)
{
    return l->on[core] ? l->on[core]->id : 0;
}

void **cpu_linux_unit(struct cpu_linux *l, unsigned core)
{
    return &l->on[core]->unit;
}

void *cpu_linux_unit_at(struct cpu_linux *l, unsigned index, bool *more)
{
    *more = index < l->threads;
    return *more ? l->thread[index]->unit : NULL;
}

static void leave(struct cpu_linux *l, unsigned core)
{
    cpu_core_save(l->core[core], &l->on[core]->context);
    l->on[core]->core = core;
    l->on[core] = NULL;
}

void cpu_linux_settle(struct cpu_linux *l, unsigned core)
{
    if (l->on[core] && l->on[core]->state != CPU_THREAD_RUNS)
        leave(l, core);
}

void cpu_linux_preempt(struct cpu_linux *l, unsigned core, uint64_t now_ns)
{
    struct cpu_thread *const t = l->on[core];
    t->state = CPU_THREAD_READY;
    t->ready_ns = now_ns + l->slept_ns;
    t->turn = l->turns++;
    leave(l, core);
}

/* The one that is ready for longest. */
static struct cpu_thread *next_thread(const struct cpu_linux *l)
{
    struct cpu_thread *best = NULL;
    for (unsigned i = 0; i < l->threads; i++)
        if (l->thread[i]->state == CPU_THREAD_READY && (!best || l->thread[i]->turn < best->turn))
            best = l->thread[i];
    return best;
}

bool cpu_linux_next(const struct cpu_linux *l, uint64_t *since_ns, unsigned *last_core)
{
    const struct cpu_thread *const t = next_thread(l);
    if (!t)
        return false;
    *since_ns = t->ready_ns > l->slept_ns ? t->ready_ns - l->slept_ns : 0;
    *last_core = t->core;
    return true;
}

void cpu_linux_enter(struct cpu_linux *l, unsigned core)
{
    struct cpu_thread *const t = next_thread(l);
    if (!t)
        return;
    t->state = CPU_THREAD_RUNS;
    t->core = core;
    l->on[core] = t;
    cpu_core_load(l->core[core], &t->context);
}

uint64_t cpu_linux_due_ns(const struct cpu_linux *l)
{
    uint64_t due = cpu_linux_next_timer(l);
    for (unsigned i = 0; l->alive > 1 && i < l->threads; i++)
        if (l->thread[i]->state == CPU_THREAD_WAITS)
            due = earlier(due, l->thread[i]->wait.deadline_ns);
    return due == CPU_NEVER ? due : due > l->slept_ns ? due - l->slept_ns : 0;
}

uint64_t cpu_linux_slept_ns(const struct cpu_linux *l)
{
    return l->slept_ns;
}

bool cpu_linux_pass(struct cpu_linux *l, uint64_t now_ns, struct unit_fault *fault)
{
    const uint64_t now = now_ns + l->slept_ns;
    for (unsigned i = 0; l->alive > 1 && i < l->threads; i++) {
        struct cpu_thread *const t = l->thread[i];
        if (t->state == CPU_THREAD_WAITS && t->wait.deadline_ns <= now)
            cpu_linux_wake(l, t, t->wait.deadline_ns, t->wait.late);
    }
    return cpu_linux_fire_timers(l, now, fault);
}

bool cpu_linux_signals(struct cpu_linux *l, unsigned core, struct unit_fault *fault)
{
    return !l->news || cpu_linux_take_signals(l, l->core[core], l->on[core], fault);
}

/* ---- deadlocks ---- */

static int tell_wait(const struct cpu_thread *t, char *text, size_t bytes)
{
    switch (t->wait.kind) {
    case CPU_WAIT_FUTEX: return snprintf(text, bytes, "%d for the futex at 0x%" PRIx64, t->id, t->wait.key);
    case CPU_WAIT_LOCK: return snprintf(text, bytes, "%d for the lock at 0x%" PRIx64, t->id, t->wait.key);
    case CPU_WAIT_FILE: return snprintf(text, bytes, "%d for a pipe or event", t->id);
    case CPU_WAIT_SIGNAL: return snprintf(text, bytes, "%d for a signal", t->id);
    default: return snprintf(text, bytes, "%d", t->id);
    }
}

bool cpu_linux_waiter(const struct cpu_linux *l, unsigned index, struct cpu_linux_waiter *w)
{
    if (index >= l->threads)
        return false;
    w->waits = l->thread[index]->state == CPU_THREAD_WAITS;
    w->context = &l->thread[index]->context;
    tell_wait(l->thread[index], w->text, sizeof w->text);
    return true;
}

bool cpu_linux_stuck(const struct cpu_linux *l)
{
    return l->stuck;
}

void cpu_linux_explain_deadlock(const struct cpu_linux *l, struct unit_fault *fault)
{
    size_t used;
    *fault = (struct unit_fault){.kind = UNIT_FAULT_TRAP};
    used = (size_t)snprintf(fault->text, sizeof fault->text,
                            l->alive > 1 ? "deadlock: all %u threads wait: " : "deadlock: the only thread waits: ", l->alive);
    bool first = true;
    for (unsigned i = 0; i < l->threads && used + 4 < sizeof fault->text; i++) {
        if (l->thread[i]->state != CPU_THREAD_WAITS)
            continue;
        char one[80];
        tell_wait(l->thread[i], one, sizeof one);
        used += (size_t)snprintf(fault->text + used, sizeof fault->text - used, "%s%s", first ? "" : ", ", one);
        if (first)
            fault->pc = l->thread[i]->context.pc;
        first = false;
    }
}
