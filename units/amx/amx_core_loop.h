/* Loops in a list of instructions: a body of loads and plain outer products that repeats with the same register fields and with
 * addresses that advance by a fixed step. Included once per host instruction set, like amx_core_dispatch.h.
 *
 * A body writes no memory, and nothing in it reads Z. The operands of all its outer products are therefore known as places in
 * simulated memory, and the products of one accumulator may run over many passes in one go. The order per accumulator, which
 * alone decides the bits, is kept. amx_core_loop.c makes the plan.
 */
#ifndef ORCHARD_UNITS_AMX_AMX_CORE_LOOP_H
#define ORCHARD_UNITS_AMX_AMX_CORE_LOOP_H

#include "units/amx/amx_core_state.h"

#define LOOP_INLINE       static inline __attribute__((always_inline))
#define LOOP_LANES        8
#define LOOP_LEAST_PASSES 4

typedef uint64_t loop_u64x8 __attribute__((vector_size(8 * LOOP_LANES)));

#ifndef LOOP_ANY /* non-zero when any lane is */
LOOP_INLINE uint64_t loop_any(loop_u64x8 v)
{
    return (v[0] | v[1] | v[2] | v[3]) | (v[4] | v[5] | v[6] | v[7]);
}
#define LOOP_ANY loop_any
#endif

LOOP_INLINE bool is_register_load(unsigned op)
{
    return op == AMX_LDX || op == AMX_LDY;
}

/* True when instruction `n` may be instruction 0 a pass later: same op, same fields except a load's address. */
LOOP_INLINE bool repeats(const uint8_t *op, const uint64_t *operand, size_t n)
{
    if (op[n] != op[0])
        return false;
    const uint64_t changed = operand[n] ^ operand[0];
    return is_register_load(op[0]) ? changed >> 56 == 0 : changed == 0;
}

/* True when the instruction may be part of a body: a load of X or Y, or an outer product of the queued kind. */
LOOP_INLINE bool is_loop_part(const struct amx_core *core, unsigned op, uint64_t operand)
{
    if (op >= AMX_OP_COUNT)
        return false;
    const struct amx_shape *shape = &core->shape[op];
    return is_register_load(op) || (operand & shape->fixed_bits) == shape->operand;
}

LOOP_INLINE bool is_loop_body(const struct amx_core *core, const uint8_t *op, const uint64_t *operand, unsigned length)
{
    for (unsigned n = 0; n < length; n++)
        if (!is_loop_part(core, op[n], operand[n]))
            return false;
    return true;
}

/* Finds the steps from one pass to the next. False when a body of this length does not repeat or contains other instructions. */
LOOP_INLINE bool loop_steps(const struct amx_core *core, const uint8_t *op, const uint64_t *operand, unsigned length,
                            struct amx_loop *loop)
{
    for (unsigned n = 0; n < length; n++) {
        if (!repeats(op + n, operand + n, length) || !is_loop_part(core, op[n], operand[n]))
            return false;
        loop->step[n] = operand[n + length] - operand[n];
    }
    for (unsigned n = 0; n < LOOP_LANES; n++)
        loop->step[length + n] = loop->step[n % length];
    loop->length = length;
    return true;
}

/* Counts the instructions, from the first one on, that match the one a pass later. */
LOOP_INLINE size_t loop_reach(const uint8_t *op, const uint64_t *operand, size_t count, const struct amx_loop *loop)
{
    const size_t limit = count - loop->length;
    size_t n = 0;
    unsigned phase = 0;
    for (; n + LOOP_LANES <= limit; n += LOOP_LANES) {
        uint64_t ops, later_ops;
        loop_u64x8 now, later, step;
        memcpy(&ops, op + n, sizeof ops);
        memcpy(&later_ops, op + n + loop->length, sizeof later_ops);
        memcpy(&now, operand + n, sizeof now);
        memcpy(&later, operand + n + loop->length, sizeof later);
        memcpy(&step, loop->step + phase, sizeof step);
        if (LOOP_ANY((later - now) ^ step) || ops != later_ops)
            break;
        for (phase += LOOP_LANES; phase >= loop->length;)
            phase -= loop->length;
    }
    for (; n < limit; n++, phase = phase + 1 == loop->length ? 0 : phase + 1)
        if (op[n + loop->length] != op[n] || operand[n + loop->length] - operand[n] != loop->step[phase])
            break;
    return n;
}

/* Finds the shortest body that starts here and repeats often enough to pay. */
LOOP_INLINE bool find_loop(const struct amx_core *core, const uint8_t *op, const uint64_t *operand, size_t count,
                           struct amx_loop *loop)
{
    const size_t most = count / LOOP_LEAST_PASSES < AMX_LOOP_LENGTH ? count / LOOP_LEAST_PASSES : AMX_LOOP_LENGTH;
    for (unsigned length = 1; length <= most; length++) {
        if (!repeats(op, operand, length) || !loop_steps(core, op, operand, length, loop))
            continue;
        loop->passes = 1 + loop_reach(op, operand, count, loop) / length;
        if (loop->passes >= LOOP_LEAST_PASSES)
            return true;
    }
    return false;
}

#endif
