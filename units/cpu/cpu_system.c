/* The simulated Linux: its table of calls, how a call runs, and what the handlers share. */
#include "units/cpu/cpu_system.h"
#include "isa/array_count.h"
#include "units/cpu/cpu_system_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint8_t *cpu_linux_readable(const struct cpu_linux_call *c, uint64_t addr, uint64_t bytes)
{
    return mem_at(c->system->space, addr, bytes, MEM_READ);
}

int64_t cpu_linux_give(const struct cpu_linux_call *c, uint64_t addr, const void *from, size_t bytes)
{
    uint8_t *host = mem_at(c->system->space, addr, bytes, MEM_WRITE);
    if (!host)
        return -L_EFAULT;
    memcpy(host, from, bytes);
    return 0;
}

uint64_t cpu_linux_now_ns(const struct cpu_linux_call *c)
{
    return cpu_core_now_ns(c->core) + c->system->slept_ns;
}

static const struct entry {
    uint16_t number;
    int64_t (*run)(struct cpu_linux_call *c);
} calls[] = {
#define CALL(number, name, handler) {number, handler},
#include "units/cpu/cpu_system_calls.inc"
#undef CALL
};

static const struct entry *find_call(uint64_t number)
{
    for (size_t i = 0; i < ARRAY_COUNT(calls); i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

static bool run_call(void *context, struct cpu_core *core, int *exit_code, struct unit_fault *fault)
{
    struct cpu_linux_call c = {.system = context, .core = core, .fault = fault};
    const uint64_t number = cpu_core_x(core, 8);
    const struct entry *entry = find_call(number);
    fault->kind = UNIT_FAULT_NONE;
    if (!entry) {
        fault->kind = UNIT_FAULT_TRAP;
        snprintf(fault->text, sizeof fault->text, "system call %" PRIu64 " is not one of the simulated Linux", number);
        return false;
    }
    for (unsigned i = 0; i < 6; i++)
        c.arg[i] = cpu_core_x(core, i);
    const int64_t result = entry->run(&c);
    if (c.stop) {
        *exit_code = c.exit_code;
        return false;
    }
    cpu_core_set_x(core, 0, (uint64_t)result);
    return true;
}

struct cpu_linux *cpu_linux_create(struct mem_space *space, const struct cpu_linux_params *params)
{
    struct cpu_linux *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    *l = (struct cpu_linux){.space = space,
                            .params = *params,
                            .hook = {run_call, l},
                            .brk = params->heap_start,
                            .heap_mapped = params->heap_start,
                            .mmap_hint = params->map_top ? params->map_top : space->bytes,
                            .random_state = params->seed};
    l->owned = calloc(space->bytes >> MEM_PAGE_SHIFT, 1);
    if (!l->owned) {
        free(l);
        return NULL;
    }
    return l;
}

void cpu_linux_free(struct cpu_linux *linux_system)
{
    if (linux_system)
        free(linux_system->owned);
    free(linux_system);
}

const struct cpu_system *cpu_linux_hook(const struct cpu_linux *linux_system)
{
    return &linux_system->hook;
}
