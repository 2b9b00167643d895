/* A loop written down once: instructions that repeat while their pointers advance by constant steps. */
#ifndef ORCHARD_UNITS_AMX_AMX_PASSES_H
#define ORCHARD_UNITS_AMX_AMX_PASSES_H

#include <stdbool.h>
#include <stdint.h>

#define AMX_PASS_MAX 64 /* instructions */

struct amx_passes {
    uint32_t length, passes;
    uint8_t op[AMX_PASS_MAX];
    uint64_t operand[AMX_PASS_MAX]; /* of the first pass */
    uint64_t step[AMX_PASS_MAX];    /* added from one pass to the next; 0 except for the pointers of ldx and ldy */
};

/* Makes the pass that lies `passes` later the first one. */
static inline void amx_passes_advance(struct amx_passes *p, uint32_t passes)
{
    for (uint32_t i = 0; i < p->length; i++)
        p->operand[i] += p->step[i] * passes;
}

/* Writes down `passes` passes, of which two follow one another in the arguments. False when they are no such loop. */
bool amx_passes_of(struct amx_passes *p, const uint8_t *op, const uint64_t *operand, uint32_t length, uint32_t passes);

#endif
