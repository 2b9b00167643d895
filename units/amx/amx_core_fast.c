/* The parts of the fast path that do not decide its speed: instructions seen for the first time, transfers of several registers,
 * Z, and everything that settles first and then runs on the plain implementation. The hot half is amx_core_dispatch.h. */
#include "units/amx/amx_core_state.h"

/* Operand bits that name registers in a plain outer product: X register, Y register, accumulator. In matfp and matint, the
 * accumulator number is shorter and other fields follow above it. */
#define REGISTER_BITS ((UINT64_C(7) << 6) | (UINT64_C(7) << 16))

static uint64_t register_bits(unsigned op)
{
    switch (op) {
    case AMX_MATFP: return REGISTER_BITS | UINT64_C(7) << 20;
    case AMX_MATINT: return REGISTER_BITS | UINT64_C(3) << 20;
    default: return REGISTER_BITS | UINT64_C(63) << 20;
    }
}

/* --- outer products --- */

static void remember_shape(struct amx_core *core, const struct amx_decoded *d, enum amx_outer kind)
{
    struct amx_shape *shape = &core->shape[d->op];
    shape->fixed_bits = ~register_bits(d->op);
    shape->operand = d->operand & shape->fixed_bits;
    shape->accumulator_mask = amx_outer_accumulators(kind) - 1;
}

static void run_alone(struct amx_core *core, const struct amx_decoded *d)
{
    if (amx_pointwise_execute(core, d))
        return;
    amx_core_settle(core);
    const struct amx_regs regs = amx_core_regs(core);
    d->run(&regs, d);
}

bool amx_fast_outer_new(struct amx_core *core, unsigned op, uint64_t operand)
{
    const struct amx_decoded *d = amx_core_decode(core, op, operand);
    if (!d->run)
        return true;
    unsigned flags = 0;
    const enum amx_outer kind = amx_outer_kind(d, &flags);
    if (kind == AMX_OUTER_NONE || !core->kernels->outer[kind]) {
        run_alone(core, d);
        return true;
    }
    const uint32_t key = amx_outer_key(kind, flags);
    if (core->pending_key != key)
        amx_queue_set_kind(core, key);
    if (amx_outer_is_plain(d))
        remember_shape(core, d, kind);
    amx_outer_execute(core, d, kind, flags);
    return true;
}

/* vecfp, vecint, extr*, genlut, which have no outer form. */
bool amx_fast_other(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    (void)fault;
    const struct amx_decoded *d = amx_core_decode(core, op, operand);
    if (d->run)
        run_alone(core, d);
    return true;
}

/* --- loads and stores --- */

bool amx_fast_load(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    struct amx_ring *ring = op == AMX_LDX ? &core->x : &core->y;
    struct amx_transfer transfer;
    if (!amx_transfer_prepare(&transfer, core->space, op, operand, core->gen, fault))
        return false;
    uint8_t *slot = amx_ring_take(core, ring, transfer.count);
    memcpy(slot, transfer.host, (size_t)AMX_ROW_BYTES * transfer.count);
    for (unsigned k = 0; k < transfer.count; k++, slot += AMX_ROW_BYTES)
        ring->slot[amx_transfer_register(&transfer, k)] = slot;
    return true;
}

bool amx_fast_store(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    const struct amx_ring *ring = op == AMX_STX ? &core->x : &core->y;
    struct amx_transfer transfer;
    if (!amx_transfer_prepare(&transfer, core->space, op, operand, core->gen, fault))
        return false;
    for (unsigned k = 0; k < transfer.count; k++)
        memcpy(transfer.host + AMX_ROW_BYTES * k, ring->slot[amx_transfer_register(&transfer, k)], AMX_ROW_BYTES);
    return true;
}

/* Transfers of Z need neither X nor Y, only what is queued on Z. */
bool amx_fast_z(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    struct amx_transfer transfer;
    if (!amx_transfer_prepare(&transfer, core->space, op, operand, core->gen, fault))
        return false;
    amx_queue_finish(core);
    const struct amx_regs regs = amx_core_regs(core);
    amx_transfer_run(&transfer, &regs, op, operand);
    return true;
}
