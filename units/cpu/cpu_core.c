#include "units/cpu/cpu_core.h"
#include "units/cpu/cpu_exec.h"
#include "units/cpu/cpu_exec_float.h"

#include <stdlib.h>
#include <string.h>

struct cpu_core *cpu_core_create(struct mem_space *space)
{
    struct cpu_core *core = aligned_alloc(64, (sizeof *core + 63) / 64 * 64);
    if (!core)
        return NULL;
    memset(core, 0, sizeof *core);
    core->space = space;
    core->fast_limit = space->bytes;
    core->flags.z = 1;
    core->peer = core;
    return core;
}

void cpu_core_free(struct cpu_core *core)
{
    if (!core)
        return;
    struct cpu_core *before = core->peer;
    while (before->peer != core)
        before = before->peer;
    before->peer = core->peer;
    cpu_code_free(core);
    free(core);
}

void cpu_core_set_coprocessor(struct cpu_core *core, const struct cpu_coprocessor *coprocessor)
{
    cpu_coprocessor_settle(core);
    core->coprocessor = coprocessor ? *coprocessor : (struct cpu_coprocessor){0};
}

void cpu_core_set_host(struct cpu_core *core, const struct cpu_host *host)
{
    core->host = host ? *host : (struct cpu_host){0};
}

const struct cpu_host *cpu_core_host(const struct cpu_core *core)
{
    return &core->host;
}

void cpu_core_set_system(struct cpu_core *core, const struct cpu_system *system)
{
    core->system = system ? *system : (struct cpu_system){0};
}

uint64_t cpu_core_x(const struct cpu_core *core, unsigned n)
{
    return core->x[n & 31];
}

void cpu_core_set_x(struct cpu_core *core, unsigned n, uint64_t value)
{
    core->x[n & 31] = value;
}

void cpu_core_v(const struct cpu_core *core, unsigned n, uint8_t bytes[16])
{
    memcpy(bytes, &core->v[n & 31], 16);
}

void cpu_core_set_v(struct cpu_core *core, unsigned n, const uint8_t bytes[16])
{
    memcpy(&core->v[n & 31], bytes, 16);
}

void cpu_core_set_v86(struct cpu_core *core, bool has_v86)
{
    core->has_v86 = has_v86;
}

void cpu_core_steer(struct cpu_core *core)
{
    core->steers = true;
}

bool cpu_core_strayed(const struct cpu_core *core)
{
    return core->strayed;
}

uint64_t cpu_core_pc(const struct cpu_core *core)
{
    return core->pc;
}

void cpu_core_set_pc(struct cpu_core *core, uint64_t pc)
{
    core->pc = pc;
}

uint32_t cpu_core_nzcv(const struct cpu_core *core)
{
    return cpu_flags_pack(&core->flags);
}

void cpu_core_set_nzcv(struct cpu_core *core, uint32_t nzcv)
{
    cpu_flags_unpack(&core->flags, nzcv);
}

uint32_t cpu_core_fpcr(const struct cpu_core *core)
{
    return core->fpcr;
}

void cpu_core_set_fpcr(struct cpu_core *core, uint32_t fpcr)
{
    cpu_float_set_control(core, fpcr);
}

uint64_t cpu_core_tls(const struct cpu_core *core)
{
    return core->tls;
}

void cpu_core_set_tls(struct cpu_core *core, uint64_t tls)
{
    core->tls = tls;
}

void cpu_core_save(struct cpu_core *core, struct cpu_context *context)
{
    memcpy(context->x, core->x, sizeof context->x);
    memcpy(context->v, core->v, sizeof context->v);
    context->pc = core->pc;
    context->tls = core->tls;
    context->nzcv = cpu_flags_pack(&core->flags);
    context->fpcr = core->fpcr;
    context->fpsr = core->running ? cpu_float_status(core) : core->fpsr;
}

void cpu_core_load(struct cpu_core *core, const struct cpu_context *context)
{
    memcpy(core->x, context->x, sizeof context->x);
    memcpy(core->v, context->v, sizeof context->v);
    core->pc = context->pc;
    core->tls = context->tls;
    cpu_flags_unpack(&core->flags, context->nzcv);
    cpu_float_set_control(core, context->fpcr);
    if (core->running)
        cpu_float_set_status(core, context->fpsr);
    else
        core->fpsr = context->fpsr;
    core->exclusive_bytes = 0;
}

void cpu_core_pause(struct cpu_core *core)
{
    core->pauses = true;
}

void cpu_core_clear_exclusive(struct cpu_core *core)
{
    core->exclusive_bytes = 0;
}

void cpu_core_join(struct cpu_core *core, struct cpu_core *other)
{
    core->peer = other->peer;
    other->peer = core;
}

void cpu_core_set_clock(struct cpu_core *core, const struct cpu_clock *clock)
{
    core->clock = *clock;
}

uint64_t cpu_core_now_ns(const struct cpu_core *core)
{
    return core->clock.now_ns ? core->clock.now_ns(core->clock.context) : core->instructions;
}

void cpu_core_forget_code(struct cpu_core *core, uint64_t addr, uint64_t bytes)
{
    cpu_code_written(core, addr, bytes);
}

enum cpu_stop cpu_core_run(struct cpu_core *core, uint64_t budget, struct cpu_trace *trace, struct unit_fault *fault)
{
    core->fault = (struct unit_fault){0};
    cpu_float_enter(core);
    const enum cpu_stop stop = cpu_exec_run(core, budget, trace);
    cpu_float_leave(core);
    if (fault)
        *fault = stop == CPU_STOP_FAULT ? core->fault : (struct unit_fault){0};
    return stop;
}

uint64_t cpu_core_instructions(const struct cpu_core *core)
{
    return core->instructions;
}

int cpu_core_exit_code(const struct cpu_core *core)
{
    return core->exit_code;
}

const struct cpu_block *cpu_core_block(const struct cpu_core *core, uint32_t id)
{
    return id < core->code_count ? &core->code[id]->block : NULL;
}

uint32_t cpu_core_block_count(const struct cpu_core *core)
{
    return core->code_count;
}
