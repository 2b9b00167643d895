/* Timers of the simulated Linux: setitimer, alarm, POSIX timers and timerfd. Their signals come between two stretches of a
 * program, or behind a system call.
 */
#include "units/cpu/cpu_system_internal.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_S            UINT64_C(1000000000)
#define WALL_CLOCK_START_NS (UINT64_C(1704067200) * NS_PER_S)
enum { L_SI_TIMER = -2, L_SI_KERNEL = 0x80, TIMERS = CPU_TIMERS_INTERVAL + CPU_TIMERS_MOST };

/* A timer whose file the program has closed goes on counting for nobody. */
static bool is_heard(const struct cpu_timer *t)
{
    return t->used && (!t->file || t->file->refs > 1);
}

static uint64_t next_due(const struct cpu_linux *l, bool files)
{
    uint64_t due = CPU_NEVER;
    for (int i = 0; i < TIMERS; i++)
        if (is_heard(&l->timer[i]) && (files || !l->timer[i].file) && l->timer[i].due_ns < due)
            due = l->timer[i].due_ns;
    return due;
}

uint64_t cpu_linux_next_timer(const struct cpu_linux *l)
{
    return next_due(l, true);
}

uint64_t cpu_linux_next_signal(const struct cpu_linux *l)
{
    return next_due(l, false);
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
        if (t->file) {
            t->file->at += missed + 1;
            cpu_linux_file_news(l, now_ns);
        }
    }
    return true;
}

void cpu_linux_timers_end(struct cpu_linux *l)
{
    for (int i = 0; i < TIMERS; i++)
        if (l->timer[i].used)
            cpu_linux_file_drop(l->timer[i].file);
}

/* A free place among those that programs make; NULL = none. */
static struct cpu_timer *free_timer(struct cpu_linux *l, int32_t *id)
{
    for (*id = 0; *id < CPU_TIMERS_MOST; ++*id) {
        struct cpu_timer *const t = &l->timer[CPU_TIMERS_INTERVAL + *id];
        if (is_heard(t))
            continue;
        if (t->used)
            cpu_linux_file_drop(t->file);
        *t = (struct cpu_timer){.used = false};
        return t;
    }
    return NULL;
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
    return t && t->used && !t->file ? t : NULL;
}

int64_t cpu_linux_timer_create(struct cpu_linux_call *c)
{
    enum { SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD, SIGEV_THREAD_ID = 4, EVENT_BYTES = 64 };
    uint8_t event[EVENT_BYTES] = {0};
    int32_t id = 0, words[3] = {14, SIGEV_SIGNAL, 0}; /* signal, how, thread */
    uint64_t value = 0;
    struct cpu_timer *const t = free_timer(c->system, &id);
    if (!t)
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
    *t = (struct cpu_timer){.used = true,
                            .due_ns = CPU_NEVER,
                            .signal = words[1] == SIGEV_NONE ? 0 : words[0],
                            .thread = words[1] == SIGEV_THREAD_ID ? words[2] : 0,
                            .value = c->arg[1] ? value : (uint64_t)id};
    return 0;
}

/* Sets a timer as arguments 1 (absolute or not), 2 (the new times) and 3 (where the old ones go) say. */
static int64_t set_timer(struct cpu_linux_call *c, struct cpu_timer *t)
{
    enum { ABSOLUTE = 1 };
    uint64_t ns[2];
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

int64_t cpu_linux_timer_settime(struct cpu_linux_call *c)
{
    struct cpu_timer *const t = posix_timer(c);
    return t ? set_timer(c, t) : -L_EINVAL;
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

/* ---- timers that are files ---- */

int64_t cpu_linux_timerfd_create(struct cpu_linux_call *c)
{
    enum { L_O_NONBLOCK = 04000, L_O_CLOEXEC = 02000000, L_CLOCKS = 10 };
    int32_t id;
    if (c->arg[0] >= L_CLOCKS || c->arg[1] & ~(uint64_t)(L_O_NONBLOCK | L_O_CLOEXEC))
        return -L_EINVAL;
    struct cpu_timer *const t = free_timer(c->system, &id);
    struct cpu_file *const f = t ? cpu_linux_file_make(CPU_FILE_TIMER, "timerfd") : NULL;
    if (!f)
        return t ? -L_ENOMEM : -L_EMFILE;
    f->flags = (uint32_t)(c->arg[1] & L_O_NONBLOCK);
    f->refs++;
    *t = (struct cpu_timer){.used = true, .due_ns = CPU_NEVER, .file = f};
    return cpu_linux_file_add(c->system, f, 0, c->arg[1] & L_O_CLOEXEC);
}

static struct cpu_timer *file_timer(const struct cpu_linux_call *c, int64_t *error)
{
    const struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    *error = !f ? -L_EBADF : -L_EINVAL;
    for (int i = 0; f && f->kind == CPU_FILE_TIMER && i < TIMERS; i++)
        if (c->system->timer[i].used && c->system->timer[i].file == f)
            return &c->system->timer[i];
    return NULL;
}

int64_t cpu_linux_timerfd_settime(struct cpu_linux_call *c)
{
    int64_t error;
    struct cpu_timer *const t = file_timer(c, &error);
    error = t ? set_timer(c, t) : error;
    if (t && !error)
        t->file->at = 0;
    return error;
}

int64_t cpu_linux_timerfd_gettime(struct cpu_linux_call *c)
{
    int64_t error;
    const struct cpu_timer *const t = file_timer(c, &error);
    return t ? give_interval(c, c->arg[1], t, 1) : error;
}
