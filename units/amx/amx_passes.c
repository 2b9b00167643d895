#include "units/amx/amx_passes.h"

#include "isa/amx/amx_isa.h"

#include <string.h>

#define ADDRESS_BITS 56

/* True when, however long the loop, a pointer does not reach the fields above it. */
static bool keeps_fields(uint64_t operand, uint64_t step, uint32_t passes)
{
    return step >> 32 == 0 && (operand + step * passes) >> ADDRESS_BITS == operand >> ADDRESS_BITS;
}

bool amx_passes_of(struct amx_passes *p, const uint8_t *op, const uint64_t *operand, uint32_t length, uint32_t passes)
{
    if (length == 0 || length > AMX_PASS_MAX || passes >> 20 || memcmp(op, op + length, length) != 0)
        return false;
    for (uint32_t i = 0; i < length; i++) {
        const uint64_t step = operand[length + i] - operand[i];
        const bool load = op[i] == AMX_LDX || op[i] == AMX_LDY;
        if ((step && !load) || !keeps_fields(operand[i], step, passes))
            return false;
        p->step[i] = step;
    }
    p->length = length;
    p->passes = passes;
    memcpy(p->op, op, length);
    memcpy(p->operand, operand, length * sizeof operand[0]);
    return true;
}
