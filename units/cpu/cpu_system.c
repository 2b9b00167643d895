/* The simulated Linux: its table of calls, how a call runs, and what the handlers share. */
#include "units/cpu/cpu_system.h"
#include "isa/array_count.h"
#include "units/cpu/cpu_system_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const uint8_t *cpu_linux_readable(const struct cpu_linux_call *c, uint64_t addr, uint64_t bytes)
{
    return mem_at(c->system->space, addr, bytes, MEM_READ);
}

uint8_t *cpu_linux_writable(const struct cpu_linux_call *c, uint64_t addr, uint64_t bytes)
{
    uint8_t *host = mem_at(c->system->space, addr, bytes, MEM_WRITE);
    if (host && mem_at(c->system->space, addr, 1, MEM_EXEC))
        cpu_core_forget_code(c->core, addr, bytes);
    return host;
}

int64_t cpu_linux_give(const struct cpu_linux_call *c, uint64_t addr, const void *from, size_t bytes)
{
    uint8_t *host = cpu_linux_writable(c, addr, bytes);
    if (!host)
        return -L_EFAULT;
    memcpy(host, from, bytes);
    return 0;
}

int64_t cpu_linux_take(const struct cpu_linux_call *c, uint64_t addr, void *to, size_t bytes)
{
    const uint8_t *host = cpu_linux_readable(c, addr, bytes);
    if (!host)
        return -L_EFAULT;
    memcpy(to, host, bytes);
    return 0;
}

int64_t cpu_linux_take_text(const struct cpu_linux_call *c, uint64_t addr, char text[CPU_PATH_BYTES])
{
    for (size_t i = 0; i < CPU_PATH_BYTES; i++) {
        const uint8_t *host = cpu_linux_readable(c, addr + i, 1);
        if (!host)
            return -L_EFAULT;
        text[i] = (char)*host;
        if (!text[i])
            return 0;
    }
    return -L_ENAMETOOLONG;
}

uint64_t cpu_linux_now_ns(const struct cpu_linux_call *c)
{
    return cpu_core_now_ns(c->core) + c->system->slept_ns;
}

int64_t cpu_linux_refuse(struct cpu_linux_call *c, const char *why)
{
    c->stop = true;
    c->fault->kind = UNIT_FAULT_UNMODELLED;
    snprintf(c->fault->text, sizeof c->fault->text, "system call %s: %s", c->name, why);
    return 0;
}

static const struct entry {
    uint16_t number;
    const char *name;
    int64_t (*run)(struct cpu_linux_call *c);
} calls[] = {
#define CALL(number, name, handler) {number, #name, handler},
#include "units/cpu/cpu_system_calls.inc"
#undef CALL
};

static const struct cpu_linux_call_row rows[] = {
#define CALL(number, name, handler) {number, #name, #handler},
#include "units/cpu/cpu_system_calls.inc"
#undef CALL
};

const struct cpu_linux_call_row *cpu_linux_calls(size_t *count)
{
    *count = ARRAY_COUNT(rows);
    return rows;
}

static const struct entry *find_call(uint64_t number)
{
    for (size_t i = 0; i < ARRAY_COUNT(calls); i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

static bool unknown_call(uint64_t number, struct unit_fault *fault)
{
    fault->kind = UNIT_FAULT_TRAP;
    snprintf(fault->text, sizeof fault->text,
             "system call %" PRIu64 " is not one of the simulated Linux (units/cpu/SYSTEM_CALLS.md lists them)", number);
    return false;
}

static bool make_call(struct cpu_linux *l, struct cpu_core *core, int *exit_code, struct unit_fault *fault)
{
    struct cpu_linux_call c = {.system = l, .core = core, .thread = cpu_linux_thread_of(l, core), .fault = fault};
    const uint64_t number = cpu_core_x(core, 8);
    const struct entry *entry = find_call(number);
    fault->kind = UNIT_FAULT_NONE;
    if (!entry)
        return unknown_call(number, fault);
    for (unsigned i = 0; i < 6; i++)
        c.arg[i] = cpu_core_x(core, i);
    c.name = entry->name;
    const int64_t result = entry->run(&c);
    if (c.stop) {
        *exit_code = c.exit_code;
        return false;
    }
    if (l->woke)
        cpu_core_pause(core);
    l->woke = false;
    if (c.thread->state != CPU_THREAD_RUNS) {
        cpu_core_pause(core);
        return true;
    }
    if (!c.kept) {
        cpu_core_set_x(core, 0, (uint64_t)result);
        c.thread->repeats = false;
    }
    return cpu_linux_fire_timers(l, cpu_linux_now_ns(&c), fault) && cpu_linux_take_signals(l, core, c.thread, fault);
}

static bool run_call(void *context, struct cpu_core *core, int *exit_code, struct unit_fault *fault)
{
    struct cpu_linux *const l = context;
    const bool goes_on = make_call(l, core, exit_code, fault);
    l->ended = !goes_on;
    return goes_on;
}

static size_t owned_bytes(const struct cpu_linux *l)
{
    return (size_t)(l->space->bytes >> MEM_PAGE_SHIFT);
}

/* Pages of the host that are zero until they are touched: a program uses few of its million pages, and calloc would clear the
 * memory of the program before it. */
static void *zeros(size_t bytes)
{
    void *const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

struct cpu_linux *cpu_linux_create(struct mem_space *space, const struct cpu_linux_params *params, char *why, size_t why_bytes)
{
    struct cpu_linux *l = calloc(1, sizeof *l);
    if (why_bytes)
        why[0] = 0;
    if (!l)
        return NULL;
    l->space = space;
    l->params = *params;
    l->hook = (struct cpu_system){run_call, l};
    l->brk = l->heap_mapped = params->heap_start;
    l->mmap_hint = params->map_top ? params->map_top : space->bytes;
    l->random_state = params->seed;
    l->folder[0] = '/';
    l->umask = 022;
    l->owned = zeros(owned_bytes(l));
    l->sandbox = l->owned ? cpu_sandbox_create(params->mounts, params->mount_count, why, why_bytes) : NULL;
    struct cpu_thread *const first = l->sandbox ? cpu_linux_add_thread(l) : NULL;
    if (!first || !cpu_linux_files_begin(l)) {
        cpu_linux_free(l);
        return NULL;
    }
    first->state = CPU_THREAD_RUNS;
    return l;
}

void cpu_linux_free(struct cpu_linux *l)
{
    if (!l)
        return;
    cpu_linux_files_end(l);
    cpu_sandbox_free(l->sandbox);
    for (unsigned i = 0; i < l->threads; i++)
        free(l->thread[i]);
    free(l->thread);
    if (l->owned)
        munmap(l->owned, owned_bytes(l));
    free(l);
}

const struct cpu_system *cpu_linux_hook(const struct cpu_linux *linux_system)
{
    return &linux_system->hook;
}

const char *cpu_linux_missing(const struct cpu_linux *l)
{
    return l->missed ? l->missing : NULL;
}
