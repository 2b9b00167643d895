/* Finds loops in a batch of instructions: a period that repeats while its operands advance by constant steps. */
#include "units/amx/amx_timing_loop.h"

#include <string.h>

static bool is_load(unsigned op)
{
    return op == AMX_LDX || op == AMX_LDY;
}

static bool is_compute(unsigned op)
{
    return op > AMX_STZI && op != AMX_SETCLR;
}

/* Distance to the next occurrence of the first arithmetic instruction; 0 when there is none. */
static uint32_t find_period(const struct amx_batch *b, uint32_t from)
{
    uint32_t c = from;
    while (c < b->count && is_load(b->op[c]))
        c++;
    if (c >= b->count || !is_compute(b->op[c]))
        return 0;
    for (uint32_t p = 1; p <= AMX_PERIOD_MAX && c + p < b->count; p++) {
        if (b->operand[c + p] == b->operand[c] && b->op[c + p] == b->op[c])
            return p;
        if (!is_compute(b->op[c + p]) && !is_load(b->op[c + p]))
            return 0;
    }
    return 0;
}

bool amx_loop_find_loads(struct amx_loop *l)
{
    for (uint32_t i = 0; i < l->pass.length; i++)
        if (is_load(l->pass.op[i]))
            l->load_at[l->loads++] = (uint8_t)i;
        else if (!is_compute(l->pass.op[i]))
            return false;
    return true;
}

/* Counts the periods that follow one another without a gap. */
static uint32_t count_periods(const struct amx_loop *l, const struct amx_batch *b, uint32_t from)
{
    const uint32_t p = l->pass.length, most = (b->count - from) / p;
    uint32_t n = 1;
    for (; n < most; n++) {
        const uint8_t *op = b->op + from + n * p;
        const uint64_t *operand = b->operand + from + n * p, *before = operand - p;
        uint64_t differ = 0;
        for (uint32_t i = 0; i < p; i++)
            differ |= (operand[i] - before[i]) ^ l->pass.step[i];
        if (differ || memcmp(op, op - p, p) != 0)
            break;
    }
    return n;
}

bool amx_loop_find(struct amx_loop *l, const struct amx_batch *b, uint32_t from)
{
    const uint32_t period = find_period(b, from);
    if (period == 0 || b->count - from < AMX_PERIODS_MIN * period ||
        !amx_passes_of(&l->pass, b->op + from, b->operand + from, period, (b->count - from) / period) || !amx_loop_find_loads(l))
        return false;
    l->pass.passes = count_periods(l, b, from);
    return l->pass.passes >= AMX_PERIODS_MIN;
}
