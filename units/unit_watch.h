/* Somebody who wants to see each instruction as the timing models place it. Without one nothing is reported and nothing costs
 * time; with one they place every instruction one by one instead of remembering blocks and loops, which gives the same times. */
#ifndef ORCHARD_UNITS_UNIT_WATCH_H
#define ORCHARD_UNITS_UNIT_WATCH_H

#include <stdint.h>

struct unit_instruction {
    uint64_t pc; /* 0 = not known: kernels that run in-process */
    uint32_t word;
    uint64_t operand; /* AMX: the operand register; loads and stores of the CPU: the address; GPU: see below */
    double issued_ns, done_ns;
};

struct unit_watch {
    /* `core` is the number of the core that issued it. */
    void (*cpu)(void *context, unsigned core, const struct unit_instruction *instruction);
    void (*amx)(void *context, unsigned core, const struct unit_instruction *instruction);
    /* Of a simdgroup: pc from the beginning of the code, where its bytes are (word 0); operand = active lanes, and the place of
     * the simdgroup in its core from bit 8 on. */
    void (*gpu)(void *context, unsigned core, const struct unit_instruction *instruction);
    void *context;
};

#endif
