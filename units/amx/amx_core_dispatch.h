/* The hot half of the fast path: plain outer products are queued, loads fill fresh slots, everything else goes to
 * amx_core_fast.c. Included once per host instruction set, which decides how 64 bytes are copied.
 */
#ifndef ORCHARD_UNITS_AMX_AMX_CORE_DISPATCH_H
#define ORCHARD_UNITS_AMX_AMX_CORE_DISPATCH_H

#include "units/amx/amx_core_loop.h"

#define DISPATCH_INLINE static inline __attribute__((always_inline))

/* True when the operand has the shape that is being queued; queues it. */
DISPATCH_INLINE bool queue_plain(struct amx_core *core, unsigned op, uint64_t operand)
{
    const struct amx_shape *shape = &core->shape[op];
    if (__builtin_expect((operand & shape->fixed_bits) != shape->operand, 0))
        return false;
    amx_queue_add(core, (operand >> 20) & shape->accumulator_mask,
                  (struct amx_pair){core->x.slot[(operand >> 16) & 7], core->y.slot[(operand >> 6) & 7]});
    return true;
}

static bool handle_outer(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    (void)fault;
    return queue_plain(core, op, operand) || amx_fast_outer_new(core, op, operand);
}

/* Bits 60 and 61 select other pairs; they and the alignment matter only in transfers of several registers. */
#define ODD_PAIR_BITS (UINT64_C(3) << 60 | 127)

/* Loads 64 or 128 bytes to fresh slots. False when the load is not that simple, the ring is full or the access faults. Calls
 * nothing, so that the compiler need not save registers. */
DISPATCH_INLINE bool load_simple(struct amx_core *core, struct amx_ring *ring, uint64_t operand)
{
    const uint64_t address = operand & AMX_ADDRESS_MASK;
    const unsigned n = (unsigned)(operand >> 56) & 7;
    uint8_t *to = ring->next;
    if (__builtin_expect(!amx_ring_has(ring, 2), 0))
        return false;
    if (operand & AMX_PAIR_BIT) {
        if (operand & ODD_PAIR_BITS)
            return false;
        const uint8_t *from = mem_at(core->space, address, 2 * AMX_ROW_BYTES, MEM_READ);
        if (!from)
            return false;
        memcpy(to, from, 2 * AMX_ROW_BYTES);
        ring->slot[n] = to;
        ring->slot[(n + 1) & 7] = to + AMX_ROW_BYTES;
        ring->next = to + 2 * AMX_ROW_BYTES;
        return true;
    }
    const uint8_t *from = mem_at(core->space, address, AMX_ROW_BYTES, MEM_READ);
    if (!from)
        return false;
    memcpy(to, from, AMX_ROW_BYTES);
    ring->slot[n] = to;
    ring->next = to + AMX_ROW_BYTES;
    return true;
}

static bool handle_ldx(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    return load_simple(core, &core->x, operand) || amx_fast_load(core, op, operand, fault);
}

static bool handle_ldy(struct amx_core *core, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    return load_simple(core, &core->y, operand) || amx_fast_load(core, op, operand, fault);
}

#ifndef HAVE_QUEUE_FOUR
/* Queues four operands of one op at once. False, without doing anything, unless all have its shape. */
DISPATCH_INLINE bool queue_four_operands(struct amx_core *core, const struct amx_shape *shape, const uint64_t *operand)
{
    (void)core;
    (void)shape;
    (void)operand;
    return false; /* not faster here than one at a time */
}
#endif

DISPATCH_INLINE bool queue_four(struct amx_core *core, const uint8_t *op, const uint64_t *operand)
{
    uint32_t ops;
    memcpy(&ops, op, sizeof ops);
    return ops == op[0] * UINT32_C(0x01010101) && op[0] >= AMX_FMA64 && op[0] < AMX_OP_COUNT &&
           queue_four_operands(core, &core->shape[op[0]], operand);
}

/* Executes what needs no code outside the loop. The unit is enabled; for ops that are no outer products, no shape agrees. */
DISPATCH_INLINE bool run_hot(struct amx_core *core, unsigned op, uint64_t operand)
{
    if (op == AMX_LDX)
        return load_simple(core, &core->x, operand);
    if (op == AMX_LDY)
        return load_simple(core, &core->y, operand);
    return op < AMX_OP_COUNT && queue_plain(core, op, operand);
}

#define LOOP_LEAST_INSTRUCTIONS 48 /* fewer are not worth looking for loops */

static __attribute__((noinline)) size_t run_loop(struct amx_core *core, const uint8_t *op, const uint64_t *operand, size_t count)
{
    struct amx_loop loop;
    return find_loop(core, op, operand, count, &loop) ? amx_loop_run(core, op, operand, &loop) : 0;
}

static size_t run_list(struct amx_core *core, const uint8_t *op, const uint64_t *operand, size_t count, struct unit_fault *fault)
{
    size_t look_at = 0; /* looking for a loop at every instruction would cost more than it saves */
    for (size_t n = 0; n < count; n++) {
        if (n >= look_at && count - n >= LOOP_LEAST_INSTRUCTIONS) {
            const size_t done = run_loop(core, op + n, operand + n, count - n);
            n += done;
            look_at = done ? n + 1 : n + LOOP_LEAST_INSTRUCTIONS;
            if (n == count)
                break;
        }
        while (n + 4 < count && queue_four(core, op + n, operand + n))
            n += 4;
        if (run_hot(core, op[n], operand[n]))
            continue;
        if (!amx_core_execute(core, op[n], operand[n], fault))
            return n;
        if (!core->enabled) /* it was clr: the rest belongs to the handlers of a disabled unit */
            return n + 1 + core->dispatch->run_list(core, op + n + 1, operand + n + 1, count - n - 1, fault);
    }
    return count;
}

static bool run_passes(struct amx_core *core, const struct amx_passes *p)
{
    struct amx_loop loop = {.length = p->length, .passes = p->passes};
    return core->enabled && p->passes >= LOOP_LEAST_PASSES && is_loop_body(core, p->op, p->operand, p->length) &&
           memcpy(loop.step, p->step, p->length * sizeof p->step[0]) && amx_loop_run(core, p->op, p->operand, &loop) != 0;
}

#define DISPATCH_TABLE                                                                                                           \
    {                                                                                                                            \
        .handlers = {[AMX_LDX] = handle_ldx,                                                                                     \
                     [AMX_LDY] = handle_ldy,                                                                                     \
                     [AMX_STX... AMX_STY] = amx_fast_store,                                                                      \
                     [AMX_LDZ... AMX_STZI] = amx_fast_z,                                                                         \
                     [AMX_EXTRX... AMX_EXTRY] = amx_fast_other,                                                                  \
                     [AMX_FMA64... AMX_FMS16] = handle_outer,                                                                    \
                     [AMX_SETCLR] = amx_core_setclr,                                                                             \
                     [AMX_VECINT... AMX_VECFP] = amx_fast_other,                                                                 \
                     [AMX_MATINT... AMX_MATFP] = handle_outer,                                                                   \
                     [AMX_GENLUT] = amx_fast_other},                                                                             \
        .run_list = run_list, .run_passes = run_passes,                                                                          \
    }

#endif
