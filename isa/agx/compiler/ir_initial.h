/* The bytes that a variable of the module begins with. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_INITIAL_H
#define ORCHARD_ISA_AGX_COMPILER_IR_INITIAL_H

#include "isa/agx/compiler/ir.h"

/* Writes them to `bytes`, which has room for as many as the variable's type takes and holds zeros; what is undefined stays. False
 * when an address stands in it, whose bytes nobody knows before the launch. */
bool ir_initial_bytes(const struct ir_value *global, uint8_t *bytes);

#endif
