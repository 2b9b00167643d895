/* The fast path: what each instruction does besides its arithmetic. Loads fill fresh slots, plain outer products are
 * queued, everything else settles first and runs on the plain implementation. */
#include "units/amx/amx_core_state.h"

/* Operand bits that name registers in a plain outer product: X and Y register, accumulator. matfp and matint keep
 * other fields above their shorter accumulator number. */
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

static void remember_shape(struct amx_core *core, const struct amx_decoded *d, enum amx_outer kind, uint32_t key)
{
    struct amx_shape *shape = &core->shape[d->op];
    shape->fixed_bits = ~register_bits(d->op);
    shape->operand = d->operand & shape->fixed_bits;
    shape->accumulator_mask = amx_outer_accumulators(kind) - 1;
    shape->key = key;
}

static void run_settled(struct amx_core *core, const struct amx_decoded *d)
{
    amx_core_settle(core);
    const struct amx_regs regs = amx_core_regs(core);
    d->run(&regs, d);
}

static __attribute__((noinline)) bool compute_decoded(struct amx_core *core, unsigned op, uint64_t operand)
{
    const struct amx_decoded *d = amx_core_decode(core, op, operand);
    if (!d->run)
        return true;
    unsigned flags = 0;
    const enum amx_outer kind = amx_outer_kind(d, &flags);
    if (kind == AMX_OUTER_NONE || !core->kernels->outer[kind]) {
        run_settled(core, d);
        return true;
    }
    const uint32_t key = amx_outer_key(kind, flags);
    if (core->pending_key != key) {
        amx_queue_finish(core);
        core->pending_key = key;
    }
    if (amx_outer_is_plain(d))
        remember_shape(core, d, kind, key);
    amx_outer_execute(core, d, kind, flags);
    return true;
}

static bool fast_outer(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    (void)fault;
    const struct amx_shape *shape = &core->shape[op];
    if (__builtin_expect((operand & shape->fixed_bits) != shape->operand || shape->key != core->pending_key, 0))
        return compute_decoded(core, op, operand);
    const unsigned accumulator = (unsigned)(operand >> 20) & shape->accumulator_mask;
    const unsigned n = core->queued[accumulator];
    core->queue[accumulator][n] =
        (struct amx_pair){core->x.slot[(operand >> 16) & 7], core->y.slot[(operand >> 6) & 7]};
    core->queued[accumulator] = (uint8_t)(n + 1);
    if (__builtin_expect(n + 1 == AMX_QUEUE_LIMIT, 0))
        amx_queue_run(core, accumulator);
    return true;
}

/* vecfp, vecint, extr*, genlut: no outer form. */
static bool fast_other(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    (void)fault;
    const struct amx_decoded *d = amx_core_decode(core, op, operand);
    if (d->run)
        run_settled(core, d);
    return true;
}

/* --- loads and stores --- */

static __attribute__((noinline)) bool load_several(struct amx_core *core, struct amx_ring *ring, unsigned op,
                                                   uint64_t operand, struct unit_fault *fault)
{
    struct amx_transfer transfer;
    if (!amx_transfer_prepare(&transfer, core->space, op, operand, core->gen, fault))
        return false;
    uint32_t slot = amx_ring_take(core, ring, transfer.count);
    memcpy(ring->bytes + slot, transfer.host, (size_t)AMX_ROW_BYTES * transfer.count);
    for (unsigned k = 0; k < transfer.count; k++, slot += AMX_ROW_BYTES)
        ring->slot[amx_transfer_register(&transfer, k)] = slot;
    return true;
}

/* Bits that must be 0 in a load of one register, and in a load of a consecutive pair, to be done here. */
#define SEVERAL_BITS (AMX_PAIR_BIT | UINT64_C(1) << 61 | UINT64_C(1) << 60)

static inline __attribute__((always_inline)) bool load_pool(struct amx_core *core, struct amx_ring *ring, unsigned op,
                                                            uint64_t operand, struct unit_fault *fault)
{
    const uint64_t address = operand & AMX_ADDRESS_MASK;
    const unsigned n = (unsigned)(operand >> 56) & 7;
    if (!(operand & AMX_PAIR_BIT)) {
        const uint8_t *from = mem_at(core->space, address, 64, MEM_READ);
        if (__builtin_expect(from != NULL, 1)) {
            const uint32_t slot = amx_ring_take(core, ring, 1);
            memcpy(ring->bytes + slot, from, 64);
            ring->slot[n] = slot;
            return true;
        }
    } else if ((operand & SEVERAL_BITS) == AMX_PAIR_BIT && address % 128 == 0) {
        const uint8_t *from = mem_at(core->space, address, 128, MEM_READ);
        if (__builtin_expect(from != NULL, 1)) {
            const uint32_t slot = amx_ring_take(core, ring, 2);
            memcpy(ring->bytes + slot, from, 128);
            ring->slot[n] = slot;
            ring->slot[(n + 1) & 7] = slot + AMX_ROW_BYTES;
            return true;
        }
    }
    return load_several(core, ring, op, operand, fault);
}

static bool fast_ldx(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    return load_pool(core, &core->x, op, operand, fault);
}

static bool fast_ldy(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    return load_pool(core, &core->y, op, operand, fault);
}

static bool fast_store_pool(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    const struct amx_ring *ring = op == AMX_STX ? &core->x : &core->y;
    struct amx_transfer transfer;
    if (!amx_transfer_prepare(&transfer, core->space, op, operand, core->gen, fault))
        return false;
    for (unsigned k = 0; k < transfer.count; k++)
        memcpy(transfer.host + AMX_ROW_BYTES * k, ring->bytes + ring->slot[amx_transfer_register(&transfer, k)],
               AMX_ROW_BYTES);
    return true;
}

/* Transfers of Z need no X or Y, only what is queued on Z. */
static bool fast_z(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    struct amx_transfer transfer;
    if (!amx_transfer_prepare(&transfer, core->space, op, operand, core->gen, fault))
        return false;
    amx_queue_finish(core);
    const struct amx_regs regs = amx_core_regs(core);
    amx_transfer_run(&transfer, &regs, op, operand);
    return true;
}

amx_handler *const amx_fast_handlers[AMX_OP_COUNT] = {
    [AMX_LDX] = fast_ldx,
    [AMX_LDY] = fast_ldy,
    [AMX_STX] = fast_store_pool,
    [AMX_STY] = fast_store_pool,
    [AMX_LDZ ... AMX_STZI] = fast_z,
    [AMX_EXTRX] = fast_other,
    [AMX_EXTRY] = fast_other,
    [AMX_FMA64 ... AMX_FMS16] = fast_outer,
    [AMX_SETCLR] = amx_core_setclr,
    [AMX_VECINT] = fast_other,
    [AMX_VECFP] = fast_other,
    [AMX_MATINT] = fast_outer,
    [AMX_MATFP] = fast_outer,
    [AMX_GENLUT] = fast_other,
};
