/* Loops with the instruction mix of programs whose power is published: what a core burns follows from the mix, not from the name.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_POWER_LOOPS_H
#define ORCHARD_SIM_PROVE_VALIDATE_POWER_LOOPS_H

#include "isa/a64/a64_emit.h"

enum power_loop {
    POWER_LOOP_RENDERER, /* a ray tracer: Cinebench */
    POWER_LOOP_COREMARK, /* CoreMark: lists, small matrices, a state machine, CRC */
};

/* A whole program, data at data_addr (power_loop_data_bytes of them), ends with exit(0). */
void power_loop_emit(struct emit *e, enum power_loop loop, uint64_t data_addr);
uint64_t power_loop_data_bytes(void);
/* What to tell about it. */
const char *power_loop_about(enum power_loop loop);

#endif
