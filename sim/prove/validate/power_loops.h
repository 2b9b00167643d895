/* Loops with the instruction mix of programs whose power is published: the power of a core follows from the mix. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_POWER_LOOPS_H
#define ORCHARD_SIM_PROVE_VALIDATE_POWER_LOOPS_H

#include "isa/a64/a64_emit.h"

enum power_loop {
    POWER_LOOP_RENDERER, /* a ray tracer: Cinebench */
    POWER_LOOP_COREMARK, /* CoreMark: lists, small matrices, a state machine, CRC */
};

/* Emits a whole program that ends with exit(0); its data, power_loop_data_bytes of them, lie at data_addr. */
void power_loop_emit(struct emit *e, enum power_loop loop, uint64_t data_addr);
uint64_t power_loop_data_bytes(void);
/* Description of the loop for the row's note. */
const char *power_loop_about(enum power_loop loop);

#endif
