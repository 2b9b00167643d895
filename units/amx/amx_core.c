#include "units/amx/amx_core_state.h"

#include <stdio.h>
#include <stdlib.h>

static bool undefined(struct unit_fault *fault, const char *text)
{
    fault->kind = UNIT_FAULT_UNDEFINED;
    fault->pc = 0;
    fault->address = 0;
    snprintf(fault->text, sizeof fault->text, "%s", text);
    return false;
}

struct amx_decoded *amx_core_decode(struct amx_core *core, unsigned op, uint64_t operand)
{
    /* Multiplicative hashing (Knuth): register and mask fields may be anywhere in the operand. */
    const uint64_t hash = (operand ^ (uint64_t)op << 59) * UINT64_C(0x9e3779b97f4a7c15);
    struct amx_decoded *d = &core->decoded[hash >> 56];
    if (!d->filled || d->operand != operand || d->op != op)
        amx_decode(d, op, operand, core->gen);
    return d;
}
_Static_assert(AMX_DECODE_ENTRIES == 1 << (64 - 56), "the hash keeps as many bits as the cache has entries");

/* --- set and clr --- */

static void clear_registers(struct amx_core *core)
{
    for (unsigned a = 0; a < AMX_ACCUMULATORS; a++)
        amx_queue_drop(core, a); /* its results would be overwritten */
    amx_core_settle(core);
    memset(core->x_bytes, 0, AMX_POOL_BYTES);
    memset(core->y_bytes, 0, AMX_POOL_BYTES);
    memset(core->z, 0, sizeof core->z);
}

static const struct amx_dispatch dispatch_reference, dispatch_disabled;

/* Which handlers are installed is the only test of "enabled". */
static void enable(struct amx_core *core, bool on)
{
    const struct amx_dispatch *active = core->kernels ? core->kernels->dispatch : &dispatch_reference;
    core->enabled = on;
    core->dispatch = on ? active : &dispatch_disabled;
    amx_queue_set_kind(core, 0); /* no outer product is known while disabled */
}

static bool execute_setclr(struct amx_core *core, uint64_t immediate, struct unit_fault *fault)
{
    if (immediate > 1) {
        char text[80];
        snprintf(text, sizeof text, "AMX instruction 17 has no immediate %u (0 = set, 1 = clr)", (unsigned)(immediate & 31));
        return undefined(fault, text);
    }
    if (immediate == 0 && core->enabled)
        return undefined(fault, "set while AMX is already enabled");
    if (immediate == 1 && !core->enabled)
        return undefined(fault, "clr while AMX is not enabled: set must come first");
    if (immediate == 0)
        clear_registers(core);
    else
        amx_queue_finish(core);
    enable(core, immediate == 0);
    return true;
}

bool amx_core_setclr(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    (void)op;
    return execute_setclr(core, operand, fault);
}

static bool handle_disabled(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    (void)core;
    char text[80];
    snprintf(text, sizeof text, "%s while AMX is not enabled: set must come first", amx_op_name(op, operand));
    return undefined(fault, text);
}

/* Runs a list through the handler of each op. */
static size_t run_list(struct amx_core *core, const uint8_t *op, const uint64_t *operand, size_t count, struct unit_fault *fault)
{
    for (size_t n = 0; n < count; n++)
        if (!amx_core_execute(core, op[n], operand[n], fault))
            return n;
    return count;
}

static bool run_no_passes(struct amx_core *core, const struct amx_passes *passes)
{
    (void)core;
    (void)passes;
    return false;
}

static const struct amx_dispatch dispatch_disabled = {
    .handlers = {[0 ... AMX_SETCLR - 1] = handle_disabled,
                 [AMX_SETCLR] = amx_core_setclr,
                 [AMX_SETCLR + 1 ... AMX_OP_COUNT - 1] = handle_disabled},
    .run_list = run_list,
    .run_passes = run_no_passes,
};

/* --- the reference path: one instruction at a time on settled pools --- */

static bool reference_transfer(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    struct amx_transfer transfer;
    if (!amx_transfer_prepare(&transfer, core->space, op, operand, core->gen, fault))
        return false;
    const struct amx_regs regs = amx_core_regs(core);
    amx_transfer_run(&transfer, &regs, op, operand);
    return true;
}

static bool reference_compute(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    (void)fault;
    const struct amx_decoded *d = amx_core_decode(core, op, operand);
    const struct amx_regs regs = amx_core_regs(core);
    if (d->run)
        d->run(&regs, d);
    return true;
}

static const struct amx_dispatch dispatch_reference = {
    .handlers = {[AMX_LDX... AMX_STZI] = reference_transfer,
                 [AMX_EXTRX... AMX_FMS16] = reference_compute,
                 [AMX_SETCLR] = amx_core_setclr,
                 [AMX_VECINT... AMX_GENLUT] = reference_compute},
    .run_list = run_list,
    .run_passes = run_no_passes,
};

/* --- interface --- */

static const struct amx_kernel_set *kernels_of(enum amx_path path)
{
    switch (path) {
    case AMX_PATH_FAST: return amx_kernel_set_best();
    case AMX_PATH_PORTABLE: return amx_kernel_set_portable();
    default: return NULL;
    }
}

static struct amx_core *create(enum amx_gen gen, struct mem_space *space, const struct amx_kernel_set *kernels)
{
    struct amx_core *core = aligned_alloc(_Alignof(struct amx_core), sizeof *core);
    if (!core)
        return NULL;
    memset(core, 0, sizeof *core);
    core->gen = gen;
    core->space = space;
    core->kernels = kernels;
    core->x.bytes = core->x_bytes;
    core->y.bytes = core->y_bytes;
    for (unsigned n = 0; n < 8; n++) {
        core->x.slot[n] = core->x_bytes + n * AMX_ROW_BYTES;
        core->y.slot[n] = core->y_bytes + n * AMX_ROW_BYTES;
    }
    core->x.next = core->x_bytes + AMX_POOL_BYTES;
    core->y.next = core->y_bytes + AMX_POOL_BYTES;
    for (unsigned a = 0; a < AMX_ACCUMULATORS; a++)
        amx_queue_drop(core, a);
    enable(core, false);
    return core;
}

struct amx_core *amx_core_create(enum amx_gen gen, struct mem_space *space, enum amx_path path)
{
    return create(gen, space, kernels_of(path));
}

struct amx_core *amx_core_create_named(enum amx_gen gen, struct mem_space *space, const char *kernel_set)
{
    const struct amx_kernel_set *kernels = amx_kernel_set_named(kernel_set);
    return kernels ? create(gen, space, kernels) : NULL;
}

void amx_core_free(struct amx_core *core)
{
    free(core);
}

/* Kept apart from amx_core_execute, which without it is nothing but a jump. */
static __attribute__((noinline)) bool no_such_op(unsigned op, struct unit_fault *fault)
{
    char text[80];
    snprintf(text, sizeof text, "AMX instruction %u does not exist (0..%u do)", op, AMX_OP_COUNT - 1);
    return undefined(fault, text);
}

bool amx_core_execute(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    if (__builtin_expect(op < AMX_OP_COUNT, 1))
        return core->dispatch->handlers[op](core, op, operand, fault);
    return no_such_op(op, fault);
}

size_t amx_core_execute_list(struct amx_core *core, const uint8_t *op, const uint64_t *operand, size_t count,
                             struct unit_fault *fault)
{
    return core->dispatch->run_list(core, op, operand, count, fault);
}

/* Executes a loop as lists, a piece at a time. */
static bool execute_as_lists(struct amx_core *core, const struct amx_passes *passes, struct unit_fault *fault)
{
    struct amx_passes next = *passes;
    uint8_t op[16 * AMX_PASS_MAX];
    uint64_t operand[16 * AMX_PASS_MAX];
    while (next.passes > 0) {
        const uint32_t together = next.passes < 16 ? next.passes : 16;
        const size_t count = (size_t)together * next.length;
        for (uint32_t n = 0; n < together; n++, amx_passes_advance(&next, 1)) {
            memcpy(op + (size_t)n * next.length, next.op, next.length);
            memcpy(operand + (size_t)n * next.length, next.operand, next.length * sizeof operand[0]);
        }
        if (amx_core_execute_list(core, op, operand, count, fault) < count)
            return false;
        next.passes -= together;
    }
    return true;
}

bool amx_core_execute_passes(struct amx_core *core, const struct amx_passes *passes, struct unit_fault *fault)
{
    return core->dispatch->run_passes(core, passes) || execute_as_lists(core, passes, fault);
}

bool amx_core_enabled(const struct amx_core *core)
{
    return core->enabled;
}

void amx_core_finish(struct amx_core *core)
{
    amx_core_settle(core);
}

void amx_core_read_state(struct amx_core *core, struct amx_state *out)
{
    amx_core_settle(core);
    memcpy(out->x, core->x_bytes, sizeof out->x);
    memcpy(out->y, core->y_bytes, sizeof out->y);
    memcpy(out->z, core->z, sizeof out->z);
}

void amx_core_write_state(struct amx_core *core, const struct amx_state *in)
{
    clear_registers(core);
    memcpy(core->x_bytes, in->x, sizeof in->x);
    memcpy(core->y_bytes, in->y, sizeof in->y);
    memcpy(core->z, in->z, sizeof in->z);
    enable(core, true);
}

const char *amx_core_path_name(const struct amx_core *core)
{
    return core->kernels ? core->kernels->name : "reference";
}
