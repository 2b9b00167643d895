/* Signals of the simulated Linux: sending them, and handlers. A handler runs when its thread would go on: behind a system call,
 * or before the next stretch. Its frame on the stack is that of Linux for AArch64 (arch/arm64/include/uapi/asm/sigcontext.h).
 */
#include "units/cpu/cpu_system_internal.h"

#include <stdio.h>
#include <string.h>

enum { L_SIGKILL = 9, L_SIGSTOP = 19, L_SIGABRT = 6, L_SIGCHLD = 17, L_SIGCONT = 18, L_SIGURG = 23, L_SIGWINCH = 28 };
enum { L_SIGILL = 4, L_SIGTRAP = 5, L_SIGBUS = 7, L_SIGSEGV = 11, L_SIGFPE = 8 };
enum { L_SIG_DFL = 0, L_SIG_IGN = 1 };
enum {
    L_SA_RESTORER = 0x04000000,
    L_SA_ONSTACK = 0x08000000,
    L_SA_RESTART = 0x10000000,
    L_SA_NODEFER = 0x40000000,
    L_SI_USER = 0,
    L_SI_TKILL = -6
};
#define L_SA_RESETHAND UINT64_C(0x80000000)

/* Offsets in the frame: siginfo, ucontext with sigcontext, its FP record. */
enum {
    FRAME_INFO = 0,
    FRAME_CONTEXT = 128,
    CONTEXT_STACK = FRAME_CONTEXT + 16,
    CONTEXT_MASK = FRAME_CONTEXT + 40,
    CONTEXT_FAULT = FRAME_CONTEXT + 176,
    CONTEXT_REGS = CONTEXT_FAULT + 8,
    CONTEXT_SP = CONTEXT_REGS + 31 * 8,
    CONTEXT_PC = CONTEXT_SP + 8,
    CONTEXT_PSTATE = CONTEXT_PC + 8,
    CONTEXT_FP = FRAME_CONTEXT + 464,
    FRAME_BYTES = CONTEXT_FP + 4096,
    RECORD_BYTES = 16,
    FP_MAGIC = 0x46508001,
    FP_BYTES = 528
};

static uint64_t bit(int signal)
{
    return UINT64_C(1) << (signal - 1);
}

#define NEVER_MASKED (bit(L_SIGKILL) | bit(L_SIGSTOP))

const char *cpu_linux_signal_name(int signal)
{
    static const char *const names[] = {"",        "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
                                        "SIGFPE",  "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
                                        "",        "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
                                        "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};
    return signal > 0 && signal < (int)(sizeof names / sizeof names[0]) ? names[signal] : "";
}

static bool ignored(const struct cpu_linux *l, int signal)
{
    const uint64_t handler = l->action[signal - 1].handler;
    return handler == L_SIG_IGN ||
           (handler == L_SIG_DFL && (signal == L_SIGCHLD || signal == L_SIGCONT || signal == L_SIGURG || signal == L_SIGWINCH));
}

/* ---- sending ---- */

/* A thread that waits is woken by a signal that it takes. */
static void interrupt(struct cpu_linux *l, struct cpu_thread *t, int signal, uint64_t now_ns)
{
    const bool restart = l->action[signal - 1].flags & L_SA_RESTART && t->wait.kind != CPU_WAIT_TIME &&
                         t->wait.kind != CPU_WAIT_SIGNAL && l->action[signal - 1].handler > L_SIG_IGN;
    if (t->state != CPU_THREAD_WAITS || t->mask & bit(signal) || ignored(l, signal))
        return;
    if (restart && !t->wait.again) {
        const uint64_t first = t->context.x[0];
        cpu_linux_wake(l, t, now_ns, (int64_t)first);
        t->context.pc -= 4;
    } else {
        cpu_linux_wake(l, t, now_ns, restart ? 0 : -L_EINTR);
    }
}

/* A thread that waits for just this signal (sigwait). */
static struct cpu_thread *waits_for(const struct cpu_linux *l, struct cpu_thread *t, int signal)
{
    for (unsigned i = 0; i < l->threads; i++) {
        struct cpu_thread *const each = l->thread[i];
        if ((!t || t == each) && each->state == CPU_THREAD_WAITS && each->wait.kind == CPU_WAIT_SIGNAL && each->wait.again &&
            each->wait.key & bit(signal))
            return each;
    }
    return NULL;
}

void cpu_linux_post(struct cpu_linux *l, struct cpu_thread *t, int signal, const struct cpu_signal *info, uint64_t now_ns)
{
    struct cpu_thread *const taker = waits_for(l, t, signal);
    if (!taker && ignored(l, signal))
        return;
    l->news = true;
    t = taker ? taker : t;
    if (t) {
        t->pending |= bit(signal);
        t->info[signal - 1] = *info;
    }
    if (taker)
        cpu_linux_wake(l, t, now_ns, 0);
    else if (t)
        interrupt(l, t, signal, now_ns);
    if (t)
        return;
    l->pending |= bit(signal);
    l->info[signal - 1] = *info;
    for (unsigned i = 0; i < l->threads; i++) {
        struct cpu_thread *const each = l->thread[i];
        if (each->state == CPU_THREAD_ENDED || each->mask & bit(signal))
            continue;
        interrupt(l, each, signal, now_ns);
        return;
    }
}

/* ---- handlers ---- */

/* The page with the code that returns from handlers: mov x8, #139; svc #0. */
static bool make_return_code(struct cpu_linux *l)
{
    static const uint32_t words[] = {0xd2801168, 0xd4000001};
    uint64_t page = l->mmap_hint;
    if (l->return_code)
        return true;
    do {
        page -= MEM_PAGE_BYTES;
        if (page <= MEM_PAGE_BYTES)
            return false;
    } while (l->owned[page >> MEM_PAGE_SHIFT] || mem_at(l->space, page, 1, MEM_READ));
    if (!mem_space_map(l->space, page, MEM_PAGE_BYTES, MEM_READ | MEM_WRITE))
        return false;
    memcpy(l->space->host + page, words, sizeof words);
    mem_space_protect(l->space, page, MEM_PAGE_BYTES, MEM_READ | MEM_EXEC);
    l->owned[page >> MEM_PAGE_SHIFT] = 0xff;
    l->return_code = page;
    return true;
}

static void put(uint8_t *frame, size_t at, uint64_t value)
{
    memcpy(frame + at, &value, sizeof value);
}

static void put_half(uint8_t *frame, size_t at, uint32_t value)
{
    memcpy(frame + at, &value, sizeof value);
}

static void write_frame(uint8_t *frame, const struct cpu_context *now, const struct cpu_thread *t, uint64_t mask, int signal,
                        const struct cpu_signal *info)
{
    memset(frame, 0, FRAME_BYTES);
    put_half(frame, FRAME_INFO, (uint32_t)signal);
    put_half(frame, FRAME_INFO + 8, (uint32_t)info->code);
    if (info->code == L_SI_USER || info->code == L_SI_TKILL)
        put(frame, FRAME_INFO + 16, (uint64_t)CPU_USER_ID << 32 | CPU_PROCESS_ID);
    else if (info->code > 0)
        put(frame, FRAME_INFO + 16, info->value);
    if (info->code <= 0)
        put(frame, FRAME_INFO + 24, info->value);
    put(frame, CONTEXT_STACK, t->stack);
    put_half(frame, CONTEXT_STACK + 8, t->stack_bytes ? 0 : 2);
    put(frame, CONTEXT_STACK + 16, t->stack_bytes);
    put(frame, CONTEXT_MASK, mask);
    put(frame, CONTEXT_FAULT, info->code > 0 ? info->value : 0);
    memcpy(frame + CONTEXT_REGS, now->x, 31 * sizeof now->x[0]);
    put(frame, CONTEXT_SP, now->x[31]);
    put(frame, CONTEXT_PC, now->pc);
    put(frame, CONTEXT_PSTATE, now->nzcv);
    put_half(frame, CONTEXT_FP, FP_MAGIC);
    put_half(frame, CONTEXT_FP + 4, FP_BYTES);
    put_half(frame, CONTEXT_FP + 8, now->fpsr);
    put_half(frame, CONTEXT_FP + 12, now->fpcr);
    memcpy(frame + CONTEXT_FP + 16, now->v, sizeof now->v);
}

static bool on_own_stack(const struct cpu_thread *t, uint64_t sp)
{
    return t->stack_bytes && sp > t->stack && sp - t->stack <= t->stack_bytes;
}

/* Makes the core go on in the handler. False when there is no room for the frame. */
static bool enter_handler(struct cpu_linux *l, struct cpu_core *core, struct cpu_thread *t, int signal,
                          const struct cpu_signal *info)
{
    struct cpu_action *const action = &l->action[signal - 1];
    struct cpu_context now;
    cpu_core_save(core, &now);
    uint64_t sp = now.x[31];
    if (action->flags & L_SA_ONSTACK && t->stack_bytes && !on_own_stack(t, sp))
        sp = t->stack + t->stack_bytes;
    const uint64_t record = (sp & ~UINT64_C(15)) - RECORD_BYTES, at = record - FRAME_BYTES;
    uint8_t *const frame = mem_at(l->space, at, FRAME_BYTES + RECORD_BYTES, MEM_WRITE);
    if (!frame || !make_return_code(l))
        return false;
    write_frame(frame, &now, t, t->restores ? t->saved_mask : t->mask, signal, info);
    put(frame, FRAME_BYTES, now.x[29]);
    put(frame, FRAME_BYTES + 8, now.x[30]);
    t->restores = false;
    t->mask |= action->mask | (action->flags & L_SA_NODEFER ? 0 : bit(signal));
    t->mask &= ~NEVER_MASKED;
    now.x[0] = (uint64_t)signal;
    now.x[1] = at + FRAME_INFO;
    now.x[2] = at + FRAME_CONTEXT;
    now.x[29] = record;
    now.x[30] = action->flags & L_SA_RESTORER ? action->restorer : l->return_code;
    now.x[31] = at;
    now.pc = action->handler;
    if (action->flags & L_SA_RESETHAND)
        action->handler = L_SIG_DFL;
    cpu_core_load(core, &now);
    return true;
}

static bool end_by(struct cpu_linux *l, int signal, const struct cpu_signal *info, struct unit_fault *fault)
{
    const char *const name = cpu_linux_signal_name(signal);
    *fault = (struct unit_fault){.kind = UNIT_FAULT_TRAP};
    l->ended = true;
    if (info->code != L_SI_USER && info->code != L_SI_TKILL)
        snprintf(fault->text, sizeof fault->text, "signal %d (%s) ended the program, which does not handle it", signal, name);
    else
        snprintf(fault->text, sizeof fault->text, "the program %s itself signal %d%s",
                 signal == L_SIGABRT ? "aborted: it sent" : "sent", signal, signal == L_SIGABRT ? " (SIGABRT)" : "");
    return false;
}

static void look_for_news(struct cpu_linux *l)
{
    l->news = l->pending != 0;
    for (unsigned i = 0; i < l->threads && !l->news; i++)
        l->news = l->thread[i]->state != CPU_THREAD_ENDED && l->thread[i]->pending;
}

bool cpu_linux_take_signals(struct cpu_linux *l, struct cpu_core *core, struct cpu_thread *t, struct unit_fault *fault)
{
    uint64_t ready;
    while (l->news && (ready = (t->pending | l->pending) & ~t->mask)) {
        const int signal = __builtin_ctzll(ready) + 1;
        const bool own = t->pending & bit(signal);
        const struct cpu_signal info = own ? t->info[signal - 1] : l->info[signal - 1];
        if (own)
            t->pending &= ~bit(signal);
        else
            l->pending &= ~bit(signal);
        look_for_news(l);
        if (ignored(l, signal))
            continue;
        if (l->action[signal - 1].handler == L_SIG_DFL)
            return end_by(l, signal, &info, fault);
        if (enter_handler(l, core, t, signal, &info))
            continue;
        *fault = (struct unit_fault){.kind = UNIT_FAULT_UNMAPPED, .address = cpu_core_x(core, 31)};
        snprintf(fault->text, sizeof fault->text, "the stack has no room for the frame of a handler of signal %d", signal);
        return false;
    }
    return true;
}

bool cpu_linux_handle_fault(struct cpu_linux *l, struct cpu_core *core, const struct unit_fault *fault)
{
    enum { L_SEGV_MAPERR = 1, L_SEGV_ACCERR = 2 };
    struct cpu_thread *const t = cpu_linux_thread_of(l, core);
    const int signal = fault->kind == UNIT_FAULT_UNMAPPED || fault->kind == UNIT_FAULT_PERMISSION ? L_SIGSEGV
                       : fault->kind == UNIT_FAULT_ALIGNMENT                                      ? L_SIGBUS
                       : fault->kind == UNIT_FAULT_UNDEFINED                                      ? L_SIGILL
                       : fault->kind == UNIT_FAULT_TRAP                                           ? L_SIGTRAP
                                                                                                  : 0;
    if (l->ended || !signal || l->action[signal - 1].handler <= L_SIG_IGN || t->mask & bit(signal))
        return false;
    const bool of_data = signal == L_SIGSEGV || signal == L_SIGBUS;
    const struct cpu_signal info = {fault->kind == UNIT_FAULT_PERMISSION ? L_SEGV_ACCERR : L_SEGV_MAPERR,
                                    of_data ? fault->address : fault->pc};
    return enter_handler(l, core, t, signal, &info);
}

int64_t cpu_linux_rt_sigreturn(struct cpu_linux_call *c)
{
    const uint8_t *const frame = cpu_linux_readable(c, cpu_core_x(c->core, 31), FRAME_BYTES);
    struct cpu_context then;
    uint32_t magic, nzcv;
    if (!frame) {
        c->stop = true;
        c->fault->kind = UNIT_FAULT_UNMAPPED;
        snprintf(c->fault->text, sizeof c->fault->text, "the frame of a signal handler is gone from the stack");
        return 0;
    }
    cpu_core_save(c->core, &then);
    memcpy(&magic, frame + CONTEXT_FP, sizeof magic);
    memcpy(&nzcv, frame + CONTEXT_PSTATE, sizeof nzcv);
    memcpy(then.x, frame + CONTEXT_REGS, 32 * sizeof then.x[0]); /* sp follows x30 */
    memcpy(&then.pc, frame + CONTEXT_PC, sizeof then.pc);
    then.nzcv = nzcv & UINT32_C(0xf0000000);
    if (magic == FP_MAGIC) {
        memcpy(&then.fpsr, frame + CONTEXT_FP + 8, sizeof then.fpsr);
        memcpy(&then.fpcr, frame + CONTEXT_FP + 12, sizeof then.fpcr);
        memcpy(then.v, frame + CONTEXT_FP + 16, sizeof then.v);
    }
    memcpy(&c->thread->mask, frame + CONTEXT_MASK, sizeof c->thread->mask);
    c->thread->mask &= ~NEVER_MASKED;
    cpu_core_load(c->core, &then);
    c->kept = true;
    return 0;
}

/* ---- calls ---- */

static int64_t send(struct cpu_linux_call *c, struct cpu_thread *to, uint64_t signal, int32_t code)
{
    const struct cpu_signal info = {code, 0};
    if (signal > CPU_SIGNALS)
        return -L_EINVAL;
    if (signal)
        cpu_linux_post(c->system, to, (int)signal, &info, cpu_linux_now_ns(c));
    return 0;
}

int64_t cpu_linux_kill(struct cpu_linux_call *c)
{
    const int32_t target = (int32_t)c->arg[0];
    return target == CPU_PROCESS_ID || target == 0 || target == -1 ? send(c, NULL, c->arg[1], L_SI_USER) : -L_ESRCH;
}

int64_t cpu_linux_tkill(struct cpu_linux_call *c)
{
    struct cpu_thread *const to = cpu_linux_thread(c->system, (int)c->arg[0]);
    return to ? send(c, to, c->arg[1], L_SI_TKILL) : -L_ESRCH;
}

int64_t cpu_linux_tgkill(struct cpu_linux_call *c)
{
    struct cpu_thread *const to = cpu_linux_thread(c->system, (int)c->arg[1]);
    return to && (int)c->arg[0] == CPU_PROCESS_ID ? send(c, to, c->arg[2], L_SI_TKILL) : -L_ESRCH;
}

int64_t cpu_linux_rt_sigaction(struct cpu_linux_call *c)
{
    const uint64_t signal = c->arg[0];
    uint64_t words[4];
    if (signal < 1 || signal > CPU_SIGNALS || (c->arg[1] && bit((int)signal) & NEVER_MASKED))
        return -L_EINVAL;
    struct cpu_action *const action = &c->system->action[signal - 1];
    const uint64_t old[4] = {action->handler, action->flags, action->restorer, action->mask};
    if (c->arg[1]) {
        if (cpu_linux_take(c, c->arg[1], words, sizeof words))
            return -L_EFAULT;
        *action = (struct cpu_action){words[0], words[1], words[2], words[3]};
    }
    return c->arg[2] ? cpu_linux_give(c, c->arg[2], old, sizeof old) : 0;
}

int64_t cpu_linux_rt_sigprocmask(struct cpu_linux_call *c)
{
    enum { BLOCK, UNBLOCK, SET };
    uint64_t *const mask = &c->thread->mask, old = *mask, set;
    if (c->arg[1]) {
        if (cpu_linux_take(c, c->arg[1], &set, sizeof set))
            return -L_EFAULT;
        if (c->arg[0] > SET)
            return -L_EINVAL;
        *mask = c->arg[0] == BLOCK ? old | set : c->arg[0] == UNBLOCK ? old & ~set : set;
        *mask &= ~NEVER_MASKED;
    }
    return c->arg[2] ? cpu_linux_give(c, c->arg[2], &old, sizeof old) : 0;
}

int64_t cpu_linux_rt_sigpending(struct cpu_linux_call *c)
{
    const uint64_t pending = (c->thread->pending | c->system->pending) & c->thread->mask;
    return cpu_linux_give(c, c->arg[0], &pending, sizeof pending);
}

int64_t cpu_linux_rt_sigsuspend(struct cpu_linux_call *c)
{
    const struct cpu_wait w = {.kind = CPU_WAIT_SIGNAL, .deadline_ns = CPU_NEVER, .late = -L_EINTR};
    uint64_t mask;
    if (cpu_linux_take(c, c->arg[0], &mask, sizeof mask))
        return -L_EFAULT;
    c->thread->saved_mask = c->thread->mask;
    c->thread->restores = true;
    c->thread->mask = mask & ~NEVER_MASKED;
    if ((c->thread->pending | c->system->pending) & ~c->thread->mask)
        return -L_EINTR;
    return cpu_linux_wait(c, &w);
}

/* Takes a signal without a handler (sigwait, sigtimedwait). */
int64_t cpu_linux_rt_sigtimedwait(struct cpu_linux_call *c)
{
    uint64_t wanted;
    int64_t spec[2] = {0, 0};
    if (cpu_linux_take(c, c->arg[0], &wanted, sizeof wanted) || (c->arg[2] && cpu_linux_take(c, c->arg[2], spec, sizeof spec)))
        return -L_EFAULT;
    const uint64_t there = (c->thread->pending | c->system->pending) & wanted;
    if (there) {
        const int signal = __builtin_ctzll(there) + 1;
        const uint32_t info[32] = {(uint32_t)signal};
        c->thread->pending &= ~bit(signal);
        c->system->pending &= ~bit(signal);
        return c->arg[1] && cpu_linux_give(c, c->arg[1], info, sizeof info) ? -L_EFAULT : signal;
    }
    const uint64_t ns = c->arg[2] ? (uint64_t)spec[0] * UINT64_C(1000000000) + (uint64_t)spec[1] : CPU_NEVER;
    const struct cpu_wait w = {.kind = CPU_WAIT_SIGNAL, .key = wanted, .deadline_ns = cpu_linux_deadline(c, ns), .again = true};
    if (w.deadline_ns <= cpu_linux_now_ns(c))
        return -L_EAGAIN;
    return cpu_linux_wait(c, &w);
}

int64_t cpu_linux_sigaltstack(struct cpu_linux_call *c)
{
    enum { L_SS_ONSTACK = 1, L_SS_DISABLE = 2, LEAST = 5120 };
    struct cpu_thread *const t = c->thread;
    const bool busy = on_own_stack(t, cpu_core_x(c->core, 31));
    const uint64_t old[3] = {t->stack, busy ? L_SS_ONSTACK : t->stack_bytes ? 0 : L_SS_DISABLE, t->stack_bytes};
    uint64_t next[3];
    if (c->arg[0]) {
        if (cpu_linux_take(c, c->arg[0], next, sizeof next))
            return -L_EFAULT;
        if (busy)
            return -L_EPERM;
        const bool none = (uint32_t)next[1] & L_SS_DISABLE;
        if (!none && next[2] < LEAST)
            return -L_ENOMEM;
        t->stack = none ? 0 : next[0];
        t->stack_bytes = none ? 0 : next[2];
    }
    return c->arg[1] ? cpu_linux_give(c, c->arg[1], old, sizeof old) : 0;
}
