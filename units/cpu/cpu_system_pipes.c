/* Pipes, events, poll and epoll of the simulated Linux. A call that has to wait is made again when something changed. */
#include "isa/list_grow.h"
#include "units/cpu/cpu_system_internal.h"

#include <stdlib.h>
#include <string.h>

enum { L_O_NONBLOCK = 04000, L_O_CLOEXEC = 02000000, L_O_WRONLY = 1, L_O_RDWR = 2, SIGPIPE_NUMBER = 13 };
enum { IN = 1, OUT = 4, ERR = 8, HUP = 16, NVAL = 32 };
enum { PIPE_BYTES = sizeof((struct cpu_pipe *)0)->bytes };
#define NS_PER_S UINT64_C(1000000000)

static const struct cpu_wait file_wait = {.kind = CPU_WAIT_FILE, .deadline_ns = CPU_NEVER, .again = true};

/* ---- pipes ---- */

int64_t cpu_linux_pipe_read(struct cpu_linux_call *c, struct cpu_file *f, uint8_t *to, uint64_t bytes)
{
    struct cpu_pipe *const p = f->pipe;
    const size_t n = !p ? 0 : bytes < p->used ? bytes : p->used;
    if (!p)
        return 0;
    if (!p->used && p->writers)
        return f->flags & L_O_NONBLOCK ? -L_EAGAIN : cpu_linux_wait(c, &file_wait);
    for (size_t i = 0; i < n; i++)
        to[i] = p->bytes[(p->first + i) % PIPE_BYTES];
    p->first = (p->first + n) % PIPE_BYTES;
    p->used -= n;
    if (n)
        cpu_linux_file_news(c->system, cpu_linux_now_ns(c));
    return (int64_t)n;
}

int64_t cpu_linux_pipe_write(struct cpu_linux_call *c, struct cpu_file *f, const uint8_t *from, uint64_t bytes)
{
    enum { WHOLE = 4096 }; /* so much is written in one piece */
    struct cpu_pipe *const p = f->kind == CPU_FILE_PAIR ? f->out : f->pipe;
    const size_t room = p ? PIPE_BYTES - p->used : 0, n = bytes < room ? bytes : room;
    const struct cpu_signal info = {0, 0};
    if (!p || !p->readers) {
        cpu_linux_post(c->system, c->thread, SIGPIPE_NUMBER, &info, cpu_linux_now_ns(c));
        return -L_EPIPE;
    }
    if (room == 0 || (bytes <= WHOLE && n < bytes))
        return f->flags & L_O_NONBLOCK ? -L_EAGAIN : cpu_linux_wait(c, &file_wait);
    for (size_t i = 0; i < n; i++)
        p->bytes[(p->first + p->used + i) % PIPE_BYTES] = from[i];
    p->used += n;
    cpu_linux_file_news(c->system, cpu_linux_now_ns(c));
    return (int64_t)n;
}

int64_t cpu_linux_pipe2(struct cpu_linux_call *c)
{
    struct cpu_pipe *const p = calloc(1, sizeof *p);
    struct cpu_file *const reader = cpu_linux_file_make(CPU_FILE_READER, "pipe"), *const writer = cpu_linux_file_make(
                                                                                      CPU_FILE_WRITER, "pipe");
    if (!p || !reader || !writer) {
        cpu_linux_file_drop(reader);
        cpu_linux_file_drop(writer);
        free(p);
        return -L_ENOMEM;
    }
    p->readers = p->writers = 1;
    reader->pipe = writer->pipe = p;
    reader->flags = (uint32_t)(c->arg[1] & L_O_NONBLOCK);
    writer->flags = (uint32_t)(c->arg[1] & L_O_NONBLOCK) | L_O_WRONLY;
    const bool close_on_exec = c->arg[1] & L_O_CLOEXEC;
    const int32_t from = (int32_t)cpu_linux_file_add(c->system, reader, 0, close_on_exec);
    const int32_t to = (int32_t)cpu_linux_file_add(c->system, writer, 0, close_on_exec);
    const int32_t pair[2] = {from, to};
    if (from >= 0 && to >= 0)
        return cpu_linux_give(c, c->arg[0], pair, sizeof pair);
    if (from >= 0) {
        c->system->fd[from].file = NULL;
        cpu_linux_file_drop(reader);
    }
    return -L_EMFILE;
}

int64_t cpu_linux_eventfd2(struct cpu_linux_call *c)
{
    enum { SEMAPHORE = 1 };
    struct cpu_file *const f = cpu_linux_file_make(CPU_FILE_EVENT, "eventfd");
    if (!f)
        return -L_ENOMEM;
    f->at = (uint32_t)c->arg[0];
    f->stream = c->arg[1] & SEMAPHORE;
    f->flags = L_O_RDWR | (uint32_t)(c->arg[1] & L_O_NONBLOCK);
    return cpu_linux_file_add(c->system, f, 0, c->arg[1] & L_O_CLOEXEC);
}

/* ---- poll ---- */

static uint32_t pair_events(const struct cpu_file *f)
{
    const bool ended = !f->pipe || !f->pipe->writers, closed = !f->out || !f->out->readers;
    return (ended || f->pipe->used ? IN : 0u) | (closed || f->out->used < PIPE_BYTES ? OUT : 0u) | (ended && closed ? HUP : 0u);
}

uint32_t cpu_linux_file_events(const struct cpu_linux *l, const struct cpu_file *f)
{
    uint32_t events = 0;
    switch (f->kind) {
    case CPU_FILE_READER: return (f->pipe->used ? IN : 0u) | (f->pipe->writers ? 0u : HUP);
    case CPU_FILE_WRITER: return (f->pipe->used < PIPE_BYTES ? OUT : 0u) | (f->pipe->readers ? 0u : ERR);
    case CPU_FILE_PAIR: return pair_events(f);
    case CPU_FILE_EVENT: return (f->at ? IN : 0u) | OUT;
    case CPU_FILE_TIMER: return f->at ? IN : 0u;
    case CPU_FILE_POLL:
        for (size_t i = 0; i < f->polls; i++) {
            const struct cpu_file *const of = cpu_linux_file(l, (uint64_t)f->poll[i].fd);
            if (of && of->kind != CPU_FILE_POLL && cpu_linux_file_events(l, of) & (f->poll[i].events | ERR | HUP))
                events = IN;
        }
        return events;
    case CPU_FILE_OUTPUT: return OUT;
    case CPU_FILE_INPUT: return IN;
    default: return IN | OUT;
    }
}

static int64_t take_timeout(const struct cpu_linux_call *c, uint64_t addr, uint64_t *ns)
{
    int64_t spec[2];
    *ns = CPU_NEVER;
    if (!addr)
        return 0;
    if (cpu_linux_take(c, addr, spec, sizeof spec))
        return -L_EFAULT;
    if (spec[0] < 0 || spec[1] < 0 || spec[1] >= (int64_t)NS_PER_S)
        return -L_EINVAL;
    if ((uint64_t)spec[0] < CPU_NEVER / NS_PER_S / 2)
        *ns = (uint64_t)spec[0] * NS_PER_S + (uint64_t)spec[1];
    return 0;
}

/* Returns `ready` if it is not 0 or the time is over, or waits for that. */
static int64_t ready_or_wait(struct cpu_linux_call *c, int64_t ready, uint64_t timeout_ns)
{
    const struct cpu_wait w = {.kind = CPU_WAIT_FILE, .deadline_ns = cpu_linux_deadline(c, timeout_ns), .again = true};
    return ready || timeout_ns == 0 || w.deadline_ns <= cpu_linux_now_ns(c) ? ready : cpu_linux_wait(c, &w);
}

int64_t cpu_linux_ppoll(struct cpu_linux_call *c)
{
    struct entry {
        int32_t fd;
        int16_t events, result;
    } e;
    uint64_t timeout_ns;
    int64_t ready = 0;
    if (c->arg[1] > CPU_FILES_MOST)
        return -L_EINVAL;
    const int64_t error = take_timeout(c, c->arg[2], &timeout_ns);
    if (error)
        return error;
    for (uint64_t i = 0; i < c->arg[1]; i++) {
        if (cpu_linux_take(c, c->arg[0] + i * sizeof e, &e, sizeof e))
            return -L_EFAULT;
        const struct cpu_file *const f = e.fd < 0 ? NULL : cpu_linux_file(c->system, (uint64_t)e.fd);
        const uint32_t events = f ? cpu_linux_file_events(c->system, f) : e.fd < 0 ? 0 : NVAL;
        e.result = (int16_t)(events & ((uint32_t)e.events | ERR | HUP | NVAL));
        ready += e.result != 0;
        if (cpu_linux_give(c, c->arg[0] + i * sizeof e, &e, sizeof e))
            return -L_EFAULT;
    }
    return ready_or_wait(c, ready, timeout_ns);
}

int64_t cpu_linux_pselect6(struct cpu_linux_call *c)
{
    enum { WORDS = CPU_FILES_MOST / 64 };
    uint64_t set[3][WORDS] = {{0}}, timeout_ns;
    const size_t bytes = (c->arg[0] + 63) / 64 * 8;
    int64_t ready = 0;
    if (c->arg[0] > CPU_FILES_MOST)
        return -L_EINVAL;
    const int64_t error = take_timeout(c, c->arg[4], &timeout_ns);
    if (error)
        return error;
    for (unsigned k = 0; k < 3; k++)
        if (c->arg[1 + k] && bytes && cpu_linux_take(c, c->arg[1 + k], set[k], bytes))
            return -L_EFAULT;
    for (uint64_t fd = 0; fd < c->arg[0]; fd++) {
        const uint64_t one = UINT64_C(1) << (fd % 64);
        const bool asked = (set[0][fd / 64] | set[1][fd / 64] | set[2][fd / 64]) & one;
        const struct cpu_file *const f = cpu_linux_file(c->system, fd);
        if (asked && !f)
            return -L_EBADF;
        const uint32_t events = asked ? cpu_linux_file_events(c->system, f) : 0;
        set[0][fd / 64] &= events & (IN | HUP | ERR) ? UINT64_MAX : ~one;
        set[1][fd / 64] &= events & (OUT | ERR) ? UINT64_MAX : ~one;
        set[2][fd / 64] &= ~one;
        ready += ((set[0][fd / 64] & one) != 0) + ((set[1][fd / 64] & one) != 0);
    }
    const int64_t result = ready_or_wait(c, ready, timeout_ns);
    for (unsigned k = 0; !c->kept && k < 3; k++)
        if (c->arg[1 + k] && bytes && cpu_linux_give(c, c->arg[1 + k], set[k], bytes))
            return -L_EFAULT;
    return result;
}

/* ---- epoll ---- */

struct poll_event { /* of AArch64: not packed */
    uint32_t events, pad;
    uint64_t data;
};

int64_t cpu_linux_epoll_create1(struct cpu_linux_call *c)
{
    struct cpu_file *const f = cpu_linux_file_make(CPU_FILE_POLL, "epoll");
    return f ? cpu_linux_file_add(c->system, f, 0, c->arg[0] & L_O_CLOEXEC) : -L_ENOMEM;
}

int64_t cpu_linux_epoll_ctl(struct cpu_linux_call *c)
{
    enum { ADD = 1, DELETE = 2, MODIFY = 3 };
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]), *const of = cpu_linux_file(c->system, c->arg[2]);
    struct poll_event event = {0};
    size_t at = 0, capacity;
    if (!f || !of)
        return -L_EBADF;
    if (f->kind != CPU_FILE_POLL || of->kind == CPU_FILE_POLL)
        return -L_EINVAL;
    if (of->kind == CPU_FILE_HOST || of->kind == CPU_FILE_FOLDER || of->kind == CPU_FILE_WAY)
        return -L_EPERM;
    if (c->arg[1] != DELETE && cpu_linux_take(c, c->arg[3], &event, sizeof event))
        return -L_EFAULT;
    while (at < f->polls && f->poll[at].fd != (int)c->arg[2])
        at++;
    if ((c->arg[1] == ADD) == (at < f->polls))
        return c->arg[1] == ADD ? -L_EEXIST : -L_ENOENT;
    if (c->arg[1] == DELETE) {
        f->poll[at] = f->poll[--f->polls];
        return 0;
    }
    if (c->arg[1] == ADD) {
        capacity = f->polls; /* grows by one each time: there are few */
        struct cpu_poll_entry *const list = list_grow(f->poll, f->polls, &capacity, sizeof *list);
        if (!list)
            return -L_ENOMEM;
        f->poll = list;
        f->polls++;
    }
    f->poll[at] = (struct cpu_poll_entry){(int)c->arg[2], event.events, event.data};
    cpu_linux_file_news(c->system, cpu_linux_now_ns(c));
    return 0;
}

/* Every event is told as long as it lasts; one that was asked for once or by edge is told once. */
int64_t cpu_linux_epoll_pwait(struct cpu_linux_call *c)
{
    const uint32_t once = UINT32_C(1) << 30, edge = UINT32_C(1) << 31;
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    const int32_t most = (int32_t)c->arg[2], timeout_ms = (int32_t)c->arg[3];
    int64_t ready = 0;
    if (!f || f->kind != CPU_FILE_POLL || most <= 0)
        return f ? -L_EINVAL : -L_EBADF;
    for (size_t i = 0; i < f->polls && ready < most; i++) {
        const struct cpu_file *const of = cpu_linux_file(c->system, (uint64_t)f->poll[i].fd);
        const uint32_t events = of ? cpu_linux_file_events(c->system, of) & (f->poll[i].events | ERR | HUP) : 0;
        const struct poll_event event = {.events = events, .data = f->poll[i].data};
        if (!events)
            continue;
        if (cpu_linux_give(c, c->arg[1] + (uint64_t)ready * sizeof event, &event, sizeof event))
            return -L_EFAULT;
        if (f->poll[i].events & once || (f->poll[i].events & edge && of->kind == CPU_FILE_WRITER))
            f->poll[i].events = 0;
        ready++;
    }
    return ready_or_wait(c, ready, timeout_ms < 0 ? CPU_NEVER : (uint64_t)timeout_ms * 1000000);
}
