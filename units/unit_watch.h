/* An observer that sees each instruction as the timing models place it. Without one, nothing is reported and no time is lost.
 * With one, the models place every instruction by itself instead of remembering blocks and loops; the times are the same. */
#ifndef ORCHARD_UNITS_UNIT_WATCH_H
#define ORCHARD_UNITS_UNIT_WATCH_H

#include <stdint.h>

struct unit_instruction {
    uint64_t pc; /* 0 = unknown (kernels that run in-process) */
    uint32_t word;
    uint64_t operand; /* AMX: the operand register; loads and stores of the CPU: the address; GPU: see below */
    double issued_ns, done_ns;
};

struct unit_watch {
    /* `core` is the number of the core that issued the instruction. */
    void (*cpu)(void *context, unsigned core, const struct unit_instruction *instruction);
    void (*amx)(void *context, unsigned core, const struct unit_instruction *instruction);
    /* An instruction of a simdgroup. pc counts from the beginning of the code (word is 0: the bytes are there); operand holds the
     * active lanes, and from bit 8 on the place of the simdgroup in its core. */
    void (*gpu)(void *context, unsigned core, const struct unit_instruction *instruction);
    void *context;
};

#endif
